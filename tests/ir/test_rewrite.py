"""What Python and NumPy allow to be said in a roundabout way: built-ins on arrays, parts, one item."""

import copy
import operator
from collections import namedtuple
from functools import reduce

import numba
import numpy as np
import pytest

import numbad as nd
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs, parts = Programs(), Programs()
A = np.array([0.53, 1.47, -2.61, 0.77, -1.19])
M = np.array([[0.53, 1.47, -2.61, 0.3], [1.27, -0.71, 0.41, -0.2], [0.9, 0.1, 1.1, 0.6]])
Z = np.array([0.5 + 0.3j, -0.2 + 1.1j, 0.7 - 0.4j])
ROWS = np.array([2, -2, 2])
Pair = namedtuple("Pair", "first second")


@numba.njit
def product_of_squares(x, y):
    return x * y * y


@programs.on((A, 0.7), (A[::-1], 0.2))
def extrema_and_sums(a, x):
    values = [x, a[1] * x, a[2]]
    least = min(a) * max(values)
    values[0] = least * x
    return least * sum(values) + sum(a[1:], x) * max(a[:2]) + sum((x, a[0] * x, a[3]))


@programs.on((A, 0.7))
def reduced_and_iterated(a, x):
    total = reduce(product_of_squares, a, x)
    for v in iter(a):
        total = total * 0.3 + v * v * x
    return total


@programs.on((Pair(0.4, 0.9), A))
def by_name(pair, a):
    operator.setitem(a, 1, getattr(pair, "first") * operator.getitem(a, 2))  # noqa: B009
    return a[1] * getattr(pair, "second") * a[0]  # noqa: B009


@programs.on((np.array([0.7]), np.array([[1.3]])))
def one_item(a, m):
    x = a.item()
    a[0] = m.item() * x
    return x * a.item() + m[0, 0] * x


@programs.on((M,), (np.asfortranarray(M),), (np.repeat(M, 2, 1)[:, ::2],))
def numbers_and_slices(m):
    picked = m[ROWS, 1:]
    columns = m[:, ROWS]
    chosen = m[1:, np.array([True, False, True, True])]
    m[2, 1] = picked[0, 0] * columns[1, 1]
    total = 0.0
    for k in range(3):
        total += picked[k, k] * columns[k, 2 - k] * (k + 1.0) + chosen[1, k] * chosen[0, k]
    return total * m[2, 1]


@programs.on((A, 0.7), (np.repeat(A, 2)[1::2], 0.7))
def sorted_arrays(a, x):
    a[2] = x * a[3]
    ordered = np.sort(a[1:])
    total = ordered[0] * a[1] + ordered[3] * x
    a[::2].sort()
    a.sort()
    return total + a[0] * a[4] * x + ordered[1] * a[2] * a[1]


@parts.on((Z, 0.7))
def parts_of_complex_elements(z, x):
    total = 0.0
    for k in range(3):
        total += z.real[k] * z.imag[-k] * x
    z.imag[1] = z.real[0] * x
    z.real[2] = z.imag[1] * z.imag[0]
    w = z[1] * z[2]
    return total * w.real + w.imag * z.imag[1]


@parts.on((np.array([Z, 2 * Z]), 0.7))
def parts_of_a_complex_matrix(z, x):
    z.imag[1, 0] = x * z.real[0, 2]
    w = z[1, 0] * z[0, 1]
    return w.real * z.imag[1, 0] + w.imag * z.imag[0, 0]


@parts.on((Z, 0.7))
def real_parts_as_a_view(z, x):
    real = z.real
    real[1] = real[0] * x
    z[0] = z[1] * z[2]
    w = z[0] * z[1]
    return real[0] * w.imag + real[1] * w.real


@pytest.mark.deep(but=["by_name", "one_item"])
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


def slopes(program, args):
    """The gradient by each argument under the interpreter, df/dx - i df/dy, in differences."""
    for k in program.wrt:
        flat = np.atleast_1d(np.asarray(args[k])).astype(complex)
        gradient = np.zeros_like(flat)
        for index in np.ndindex(flat.shape):
            for unit, sign in ((1.0, 1.0), (1j, -1j)):
                if unit == 1.0 or np.iscomplexobj(args[k]):
                    gradient[index] += sign * slope(program.f, args, k, index, unit)
        yield gradient if np.ndim(args[k]) else gradient[0].real


def slope(f, args, k, index, unit):
    """Differences of fourth order; the functions are polynomials of low degree."""
    total = 0.0
    for multiple, weight in ((1, 2 / 3), (2, -1 / 12)):
        for sign in (1, -1):
            moved = copy.deepcopy(list(args))
            step = sign * multiple * 1e-3 * unit
            if np.ndim(moved[k]):
                moved[k][index] += step
            else:
                moved[k] += step
            total += sign * weight * f(*moved) / 1e-3
    return total


@pytest.mark.deep(but=["parts_of_complex_elements"])
@parts.parametrize()
def test_gradient_of_parts(program):
    gradient = nd.grad(program.f, program.wrt, mode="reverse")
    for args in program.runs:
        found = gradient(*copy.deepcopy(args))
        for part, expected in zip(found, slopes(program, args), strict=True):
            assert np.allclose(part, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


@numba.njit
def scaled(x, scale=None):
    if not scale:
        scale = 2.0
    return x * scale


@numba.njit
def of_nothing(x, given=None, text="", members=()):
    b = bool(given)
    return x * (given or 3.0) if not (b or text or members) else x


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_truth_of_none(mode):
    def f(x):
        return scaled(x) + 10.0 * scaled(x, x) + 100.0 * of_nothing(x)

    assert nd.grad(f, mode=mode)(3.0) == 2.0 + 10.0 * 6.0 + 300.0
    assert nd.grad(scaled, mode=mode)(3.0) == 2.0
