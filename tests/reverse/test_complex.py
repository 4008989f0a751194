"""Complex arithmetic: the gradient of a real f(z) is df/dx - i df/dy, as JAX has it."""

import cmath
import math

import numba
import numpy as np
import pytest
from mpmath import mp

import numbad as nd
from numbad.source import define
from tests.reverse import oracle
from tests.reverse.oracle import Programs, check_gradient, check_second_order
from tests.rules.oracle import exact_partial, exact_point, relative_error
from tests.rules.scalar_cases import CASES

programs = Programs()
Z, W = 0.7 + 0.4j, -0.3 + 1.1j
A = np.array([0.53 + 0.2j, -1.1 + 0.7j, 0.4 - 0.9j])
C64 = np.complex64


@programs.on((Z, W), (W, Z))
def arithmetic(z, w):
    total = z * w + z / w - z
    for i in range(3):
        total = total * z + w / (total + 2.0) + i
        w = w * 0.5 + total * total * 0.1j
        z = -z + w
    return total.real * w.imag + z.real


@programs.on((Z, 0.7), (W, -1.3))
def with_reals(z, x):
    total = z * x + x
    for i in range(3):
        total = total * x + z / x - x / z + x**2 * 1j
        x = total.real * 0.3 + i + x
        z = z + x
    return total.imag * x + z.imag


@programs.on((0.7, 1.3), (-0.4, 0.2))
def made_of_reals(x, y):
    z = complex(x, y)
    for i in range(3):
        w = z * z + complex(y, 0.5)
        x, y = w.imag, w.real * x
        z = complex(x, y) * 0.7 + z
    return z.real * z.imag + abs(z) + x


@programs.on((Z, W))
def conjugates_and_parts(z, w):
    total = 0.0
    for i in range(3):
        total += (z * w.conjugate()).real + np.conj(w).imag * np.real(z) * np.imag(w)
        z = z.conjugate() * w
        w = complex(abs(z), total * 0.1) * np.conjugate(w)
    return total * abs(w) + z.imag


@programs.on((Z, W), (W, -Z))
def absolute_values(z, w):
    total = abs(z) * 1.0
    for i in range(3):
        total = total + abs(z * w) ** 2 / (1.0 + abs(w))
        z = z * z / abs(z) + w
        w = w * total * 0.2
    return total + np.abs(z)


@programs.on((Z, W))
def functions(z, w):
    for i in range(2):
        z = cmath.exp(z * 0.3) * cmath.sin(w) + cmath.sqrt(z)
        w = np.log(z) + np.tanh(w * 0.5) + np.cos(z) * cmath.cosh(w)
    return z.real * w.imag + cmath.atan(w).real


@programs.on((Z, W), (W, Z))
def powers(z, w):
    total = z**2 + z**3 + z**-1 + z**0.5
    total = total + z**w + 2**z + w**1
    return (total * z**2.0).real + total.imag


@programs.on((Z, 0.4), (W, 1.7))
def mandelbrot_distance(c, x):
    z = complex(x, 0.0)
    dz = 1.0 + 0.0j
    k = 0
    while abs(z) < 4.0 and k < 6:
        dz = 2.0 * z * dz + 1.0
        z = z * z + c
        k += 1
    return abs(z) * math.log(abs(z)) / abs(dz)


@programs.on((Z, W, 5), (Z, W, 0))
def swapped(z, w, n):
    for i in range(n):
        z, w = w, z * w + 0.5j
        if z.real > w.imag:
            z = z.conjugate()
    return z.real * w.imag + (z * w).real


@programs.on((A, Z))
def arrays(a, z):
    b = np.zeros(3, np.complex128)
    for i in range(3):
        b[i] = a[i] * b[i - 1] + z
        a[i] = b[i] * b[i].conjugate() + a[i] * 0.5j
        z = a[i] * z
    return (a[0] * b[1]).real + abs(b[2]) + (a[2] * a[1]).imag


@programs.on((A, 0.7))
def slices(a, x):
    view = a[1:]
    for k in range(2):
        view[k] = view[k] * a[k] + x
        a[:2] = a[::-1][:2] * 1.0
        view[1] = x * 1j
        a[0] *= view[0]
    return abs(a[0]) + (a[1] * a[2]).imag


@programs.on((np.array([0.5, -1.2, 0.8]), 0.7))
def real_array_into_complex_array(a, x):
    b = np.empty(3, np.complex128)
    for i in range(3):
        b[i] = a[i]
        b[i] = b[i] * complex(x, a[i - 1])
        a[i] = b[i].imag * x + b[i].real
    return abs(b[0] * b[1] + b[2]) + a[0] * a[1]


@programs.on((C64(Z), C64(W)), rtol=1e-5)
def single_precision(z, w):
    total = z * w
    for i in range(2):
        total = total * z + w
        w = w * total
    return (total * w).real


@programs.on((A, A[::-1].copy() * 1j), (-A, A + 1.0))
def inner_product(a, b):
    total = 0j
    for u, v in zip(a, b):  # noqa: B905
        total += u.conjugate() * v
    return total.real**2 + total.imag


def parts_of_elements(a, x):
    total = x
    for i in range(3):
        total = total * a[i].real + a[i - 1].imag
        a[i] = complex(total, a[i].real)
    a[1] = complex(a[1].real * x, a[1].real * a[1].real * x)
    return total * a[0].imag + abs(a[1])


@programs.on((A, 0.7), plain=parts_of_elements)
def parts_of_arrays(a, x):
    total = x
    for i in range(3):
        total = total * a.real[i] + a.imag[i - 1]
        a[i] = complex(total, a.real[i])
    a.real[1] *= x
    a.imag[1] = a.real[1] * a[1].real / x
    return total * a[0].imag + abs(a[1])


@programs.on(((0.7, Z), 1.3))
def in_a_tuple(pair, x):
    y, z = pair
    for i in range(2):
        z = z * y + pair[1]
        y = y * x + z.imag
    return y * z.real


@programs.on((Z, 0.7))
def phases(z, x):
    r, phi = cmath.polar(z)
    w = cmath.rect(r * x, phi + x)
    return cmath.phase(w) * x + w.real * np.angle(z)


def _moduli(a, x):
    sizes = [abs(z * x) for z in a]
    return sum(r * r for r in sizes) * sizes[0] + sizes[1] * sizes[2]


@programs.on((A, 0.7), plain=_moduli)
def moduli_of_arrays(a, x):
    """Arrays of real numbers beside complex ones."""
    sizes, work = np.absolute(a * x), np.zeros(a.size)
    for k in range(a.size):
        work[k] = abs(a[k]) * x
    return np.sum(sizes * work) * sizes[0] + work[1] * sizes[2]


@programs.on((Z, W), (0.1 + 0.2j, W))
def branches(z, w):
    total = z
    for i in range(4):
        if abs(total) > 1.0:
            total = total / w
        elif total.real > 0.0:
            total = total * total + w
            continue
        if total == 0j:
            break
        total += z
    return total.real * total.imag


@pytest.mark.deep(
    but=[
        "arithmetic",
        "branches",
        "conjugates_and_parts",
        "functions",
        "parts_of_arrays",
        "inner_product",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


def test_convention_by_hand():
    def real_of_square(z):
        return (z * z).real

    def squared_modulus(z):
        return z.real * z.real + z.imag * z.imag

    def imaginary_part(z):
        return z.imag

    z = 3.0 + 4.0j
    assert nd.grad(real_of_square, mode=oracle.MODE)(z) == 6.0 + 8.0j
    assert nd.grad(squared_modulus, mode=oracle.MODE)(z) == 6.0 - 8.0j
    assert nd.grad(imaginary_part, mode=oracle.MODE)(z) == -1j


GROUP = 12
HOLOMORPHIC = [case for case in CASES if case.holomorphic]
GROUPS = [HOLOMORPHIC[i : i + GROUP] for i in range(0, len(HOLOMORPHIC), GROUP)]
WEIGHT = 0.6 - 0.8j


@pytest.mark.deep(but=["0", "3"])
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_rules(group):
    """The gradient of Re(c h(z)) is c h'(z), unconjugated."""
    cases = GROUPS[group]
    lines, namespace = ["def weighted_sum(args):", "    total = 0.0"], {"weight": WEIGHT}
    for i, case in enumerate(cases):
        arguments = ", ".join(f"args[{i}][{k}]" for k in range(len(case.domain)))
        lines.append(f"    total += (fn{i}({arguments}) * weight).real")
        namespace[f"fn{i}"] = case.fn
    f = numba.njit(define("\n".join([*lines, "    return total\n"]), namespace))
    gradient = nd.grad(f, mode=oracle.MODE)
    with mp.workdps(50):
        for row in range(3):
            args = tuple(case.complex_samples(3)[row] for case in cases)
            check_row(cases, args, gradient(args))


def check_row(cases, args, found):
    for case, point, partials in zip(cases, args, found, strict=True):
        for k, partial in enumerate(partials):
            expected = mp.mpmathify(WEIGHT) * exact_partial(case, exact_point(case, point), k)
            error = relative_error(partial, expected, case.atol)
            assert error < 1e-12, (str(case), point, k, partial, expected)


# -- the imaginary part of an array, a view that has an adjoint of its own ------------------------------

views = Programs()  # dual numbers, for second derivatives, have no such views


def _imaginary_parts(z, s):
    z = [z[0] * s + z[1], *z[1:]]
    early = [v.imag for v in z]
    total = sum(v * w.real for v, w in zip(early, z, strict=True)) + sum(early[1:]) * early[0]
    for k in range(2):
        total += sum((v * (s + k)).imag ** 2 for v in z) * (z[0] * (s + k)).real
    return total + sum(v * (w * w).imag for v, w in zip(early, z, strict=True))


@views.on((A, 0.3), (A[::-1], -0.7), plain=_imaginary_parts)
def imaginary_parts(z, s):
    z[0] = z[0] * s + z[1]
    early = z.imag
    total = (early * z.real).sum() + early[1:].sum() * early[0]
    for k in range(2):
        w = z * (s + k)
        total += (w.imag**2).sum() * w.real[0]
    kept = z.imag.copy()
    z *= z
    return total + (kept * z.imag).sum()


def _by_functions(z):
    return sum(v.imag * v.real for v in z) + (z[1] * z[1]).imag * z[0].real


@views.on((A,), plain=_by_functions)
def parts_by_functions(z):
    return (np.imag(z) * np.real(z)).sum() + np.imag(z * z)[1] * np.real(z)[0]


def _written_part(z):
    total = sum(v.imag for v in z)
    return sum(v.real**2 - (v.imag * total) ** 2 for v in z)


@views.on((A,), plain=_written_part)
def part_written_to(z):
    part = z.imag
    part *= part.sum()
    return (z * z).real.sum()


@pytest.mark.deep(but=["parts_by_functions", "part_written_to"])
@views.parametrize()
def test_imaginary_part(program):
    check_gradient(program)


def late_part(z):
    part = z.imag
    z *= 2.0
    return part[1:].sum()


def carried_part(z):
    part, total = z.imag, 0.0
    for _ in range(2):
        for v in part:
            total += v
        z *= 0.5
    return total


def late_member(z):
    parts = z.real, z.imag
    z *= 2.0
    return parts[1][1:].sum()


def written_member(z):
    parts = z.imag, z.real
    parts[0][0] = parts[1][0]
    return (z * z).real.sum()


@pytest.mark.parametrize("f", [late_part, carried_part, late_member, written_member])
def test_a_part_that_is_read_after_a_write_is_refused(f):
    with pytest.raises(nd.UnsupportedError, match="imaginary part .* read after a write"):
        nd.grad(f, mode="reverse")(A.copy())


def mismatches(x):
    """The real equations of complex ones, in the loop of an iteration."""
    total = 0.0
    for k in range(2):
        z = x * (1.0 + 2.0j) * (k + 1)
        parts = np.concatenate((z.real[1:], z.imag[1:]))
        total += (parts * parts).sum()
    return total


def test_both_parts_in_a_loop():
    x = A.real.copy()
    expected = 2 * 5 * (1 + 4) * x
    expected[0] = 0.0
    np.testing.assert_allclose(nd.grad(mismatches, mode="reverse")(x), expected, rtol=1e-14)


def test_angles_of_arrays():
    gradient = nd.grad(lambda z: np.angle(z, True)[1] + np.angle(z).sum(), mode="reverse")(A)
    by_parts = (-A.imag - 1j * A.real) / (A * A.conj()).real  # of atan2(y, x): -y, and x
    by_parts[1] *= 1.0 + 180.0 / np.pi
    np.testing.assert_allclose(gradient, by_parts, rtol=1e-14)


def test_the_modulus_of_a_number_that_may_be_none():
    def f(x, y, k):
        z = None
        if k > 0:
            z = complex(x, y)
        if z is None:
            return 0.0
        return abs(z) + np.abs(z)

    by_x, by_y = nd.grad(f, (0, 1), mode="reverse")(3.0, 4.0, 1)
    assert (by_x, by_y) == pytest.approx((1.2, 1.6))
