"""`.real` and `.imag` of arrays of complex numbers where dual numbers go through them.

They are views in NumPy and copies in arrays of duals; the programs would tell the difference, or are
refused. All are polynomials of degree four or less in the real and imaginary parts, so that differences
of fourth order are exact but for rounding.
"""

import numpy as np
import pytest
from numba import complex128, float64, njit
from numba.experimental import jitclass

import numbad as nd

Z = np.array([1.0 + 2.0j, 3.0 - 1.0j, -0.5 + 0.25j])
V = np.array([0.3 - 0.2j, 1.0 + 0.5j, -0.4 + 2.0j])
RIGHT, REFUSED = [], []


def right(f):
    RIGHT.append(njit(f))
    return RIGHT[-1]


def refused(f):
    REFUSED.append(njit(f))
    return REFUSED[-1]


@right
def of_a_temporary(z):
    return (z * np.conj(z)).real.sum()


@right
def items_in_a_loop(z):
    w = z * z
    s = 0.0
    for i in range(len(w.real)):
        s += w.real[i] * w.imag[-i]
    return s


@right
def of_what_was_filled(z):
    w = np.empty(3, np.complex128)
    for i in range(3):
        w[i] = z[i] * z[0]
    return (w.real**2).sum() + np.imag(w)[1]


@right
def parts_of_a_new_array_put_in(z):
    w = np.zeros((2, 3), np.complex128)
    for i in range(3):
        w.real[0, i] = z[i].real * z[0].imag
        w.imag[1, i] = z[i].imag
    return (w * w).real.sum() + (w[0] * w[1]).imag.sum()


@right
def taken_anew_after_each_write(z):
    w = z.copy()
    s = 0.0
    for _ in range(3):
        w[0] = w[0] + 2.0 * z[1]
        r = np.real(w)
        s += (r * w.imag).sum()
    return s


@njit
def part_of_a_new_array(z):
    return (z * z).real


@right
def returned_by_a_callee(z):
    return part_of_a_new_array(z).sum() * part_of_a_new_array(z)[0]


@njit
def part_of_an_orbit(z, circle):
    orbit = z * circle
    x = np.real(orbit)
    return x, abs(z), circle, x


@right
def returned_beside_other_arrays(z):
    """As in ross's `_init_orbit`: the part in a tuple with what is no part of the array."""
    x, r, circle, again = part_of_an_orbit(z[0], z[1:])
    x[0] = 2.0 * r
    return again.sum() * x[1] + circle[0].imag


@right
def iterated(z):
    s = 0.0
    for v in z.real:
        s += v * v
    for v, u in zip(z.real[::-1], z.imag):  # noqa: B905  (Numba has no strict)
        s += u * v * u
    return s


@right
def slice_before_a_write_to_a_copy(z):
    r, q = z.real[1:], z.imag[0]
    w = z.copy()
    w[1] = 2.0
    return (r * q).sum() + w.real[1] * z[0].real * z[1].imag


@right
def mask_before_a_write(z):
    w = z.copy()
    r = w.real[np.array([True, False, True])]  # a copy in NumPy too
    w[0] = 2.0
    return (r * r).sum() + w.real[0]


@right
def assigned_to_the_array_itself(z):
    w = 1.0 * z
    w[::-1] = w.real
    return (w.real * z.imag).sum() + w.imag.sum()


@right
def in_two_dimensions(z):
    a = np.outer(z, z)
    return (a.T.real[1] * a.imag[:, 0]).sum() + a.real[1, 2] + a.imag[0].sum()


@right
def parts_of_real_arrays(z):
    x = z.real.copy()
    y = x.real
    y[0] = 3.0 * z[1].imag
    return (x * y).sum() + x.imag.sum() + np.real(x)[1]


@right
def items_written_to(z):
    w = 1.0 * z
    total = z[0].imag
    for i in range(2):
        total = total * w.real[i] + w.imag[i - 1]
        w[i] = complex(total, w.real[i])
    w.real[1] *= z[2].real
    w.imag[1] = w.real[1] + w[1].real
    return w[0].imag + w.real[1] - w.imag.sum()


@right
def written_to_by_a_name_of_its_own(z):
    w = z * z
    r = w.real
    r[0] = 5.0
    return w.real.sum() * r[0] + w.imag[0]


@right
def returned_from_a_list(z):
    kept = [z * z, 2.0 * z]
    return kept[0].real[1]


@njit
def slices_written_to(z):
    w = np.outer(z, z)
    w.real[1, 1:] = 2.0 * z.imag[:2]
    w.imag[:2] = z.real
    w.real[2] = 1.5
    w.imag[-1, 0] = z[0].real
    return w.real.sum() + (w.imag * w.real)[:, 1].sum() + w.imag[0, 2]


@right
def joined(z):
    one = z.real if z[0].imag > 0 else z.imag
    both = z.real, z.imag
    return (one * both[1] * both[0]).sum()


@refused
def written_to_in_place(z):
    w = z * z
    r = w.imag
    r *= 2.0
    return w.imag[0] + r[1]


@refused
def written_to_by_one_of_two_names(z):
    w = z * z
    r = w.real if z[0].real > 0 else w.imag
    r[0] = 5.0
    return w.real.sum()


@refused
def used_after_a_write(z):
    w = z * z
    r = w.real
    w[0] = 5.0
    return r.sum()


@refused
def slice_used_after_a_write(z):
    w = z.copy()
    r = w.real[1:]
    w[1] = 2.0
    return r.sum()


@refused
def used_in_the_next_iteration(z):
    w = z.copy()
    r = w.real
    s = 0.0
    for i in range(3):
        s += r[i] * r.sum()
        w[i] = 1.0
    return s


@njit
def put(a, r):
    a[0] = 1.0
    a[1] = r[0]


@refused
def used_by_a_callee_that_writes(z):
    w = z.copy()
    put(w, w.real)
    return w.imag.sum()


@njit
def part_of_an_argument(z):
    return z.real


@refused
def returned_by_the_callee_it_was_given_to(z):
    w = z.copy()
    r = part_of_an_argument(w)
    w[0] = 5.0
    return r.sum()


@refused
def used_after_an_item_was_set(z):
    w = z.copy()
    r = w.real
    w.real[0] = 2.0
    return r.sum()


@refused
def mask_written_to(z):
    w = z.copy()
    w.real[np.array([True, False, True])] = 2.0
    return w.real.sum()


@njit
def of_two_arguments(a, b):
    r = b.real
    a[0] = 1.0
    return r.sum()


@refused
def given_for_two_arguments(z):
    w = z.copy()
    return of_two_arguments(w, w)


@njit
def part_and_row(z):
    w = z * z
    return w.real, w[1:]


@refused
def returned_beside_a_row_of_the_array(z):
    r, row = part_and_row(z)
    row[0] = 5.0
    return r.sum()


@refused
def kept_in_a_list(z):
    w = z.copy()
    kept = [w.real]
    w[0] = 3.0
    return kept[0].sum()


@refused
def kept_in_a_tuple(z):
    w = z.copy()
    kept = (w.real, w.imag)
    w[0] = 3.0
    return kept[0].sum() * kept[1].sum()


def slope(f, step=1e-2):
    """The derivative at zero of a polynomial of degree four or less."""
    first, second = (f(h) - f(-h) for h in (step, 2 * step))
    return (8 * first - second) / (12 * step)


@pytest.mark.deep(
    but=[
        "returned_by_a_callee",
        "returned_from_a_list",
        "slice_before_a_write_to_a_copy",
        "items_written_to",
    ]
)
@pytest.mark.parametrize("f", [*RIGHT, slices_written_to], ids=lambda f: f.__name__)
def test_part(f):
    value, tangent = nd.jvp(f)((Z,), (V,))
    assert value == f(Z)
    np.testing.assert_allclose(tangent, slope(lambda t: f(Z + t * V)), rtol=1e-10)


@pytest.mark.deep
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_part_second_order(f):
    gradient = nd.grad(f, mode="reverse")
    (found,) = nd.hvp(f)((Z,), (V,))
    np.testing.assert_allclose(found, slope(lambda t: gradient(Z + t * V)), rtol=1e-10, atol=1e-10)


@pytest.mark.deep(
    but=["used_after_a_write", "written_to_in_place", "kept_in_a_tuple", "given_for_two_arguments"]
)
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_part_that_must_be_a_view_is_refused(f):
    told = r'(real|imaginary) part of an array .*: File ".*_parts.py", line .*\n.*\nWay out: take a copy'
    for operator in (nd.jvp(f), nd.hvp(f)):
        with pytest.raises(nd.UnsupportedError, match=told):
            operator((Z,), (V,))


@njit
def parts_of_a_constant_array(z):
    k = np.array([1.0 + 1.0j, 3.0 - 1.0j, 0.5j])
    r = k.real
    k[0] = 5.0
    return (r * z.imag).sum()


def test_part_of_an_array_that_is_constant_is_a_view():
    value, tangent = nd.jvp(parts_of_a_constant_array)((Z,), (V,))
    assert value == parts_of_a_constant_array(Z)
    assert tangent == pytest.approx(np.array([5.0, 3.0, 0.0]) @ V.imag, rel=1e-14)


@jitclass([("real", float64[:]), ("imag", float64), ("z", complex128[:])])
class Named:
    """Fields that have the names of parts."""

    def __init__(self, real, z):
        self.real = real
        self.imag = 2.0
        self.z = z


@njit
def fields_with_the_names_of_parts(x, named):
    r = named.real
    named.real[0] = 5.0
    return x * x * r[0] * named.imag * named.z.real[0] + x * named.real[1:].sum()


def test_fields_with_the_names_of_parts():
    named = Named(np.array([1.0, 2.0]), Z)
    got = nd.grad(fields_with_the_names_of_parts, mode="forward")(3.0, named)
    assert got == pytest.approx(2.0 * 3.0 * 5.0 * 2.0 * 1.0 + 2.0, rel=1e-14)
    assert named.real[0] == 5.0


def of_any_array(z):
    w = z * z
    return (w.real * w.imag).sum()


def of_an_array_without_axes(z):
    w = np.empty((), z.dtype)
    w[()] = z[0] * z[0]
    return w.real[()] * w.imag[()]


def set_as_a_whole(z):
    w = z.copy()
    w.real[...] = 2.0 * z.imag
    w.imag[...] = 3.0
    return (w.real * w.imag).sum()


def assert_slope(f, z, by_real, by_imaginary):
    direction = (V[: z.size].reshape(z.shape) * 0.5).astype(z.dtype)
    exact = (by_real * direction.real + by_imaginary * direction.imag).sum()
    found = nd.jvp(f)((z,), (direction,))[1]
    assert found == pytest.approx(exact, rel=20 * float(np.finfo(z.dtype).eps))


ARRAYS = {
    "single precision": Z.astype(np.complex64),
    "reversed": Z[::-1],
    "two axes": Z[:2].reshape(1, 2).T,
    "no elements": Z[:0],
}


@pytest.mark.deep(but=["reversed"])
@pytest.mark.parametrize("z", ARRAYS.values(), ids=ARRAYS)
def test_parts_of_any_array(z):
    a, b = z.real, z.imag
    assert_slope(of_any_array, z, 6 * a**2 * b - 2 * b**3, 2 * a**3 - 6 * a * b**2)
    assert_slope(set_as_a_whole, z, 0 * a, 6.0 + 0 * b)


def test_parts_of_an_array_without_axes():
    (a,), (b,) = Z[:1].real, Z[:1].imag
    by_real, by_imaginary = 6 * a**2 * b - 2 * b**3, 2 * a**3 - 6 * a * b**2
    assert_slope(of_an_array_without_axes, Z[:1], by_real, by_imaginary)
