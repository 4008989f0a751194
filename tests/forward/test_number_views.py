"""Floats read as complex numbers, and complex numbers as floats: `a.view(np.complex128)`, in both modes."""

import numba
import numpy as np
import pytest

import numbad as nd

A = np.array([0.3, 0.7, 1.1, 1.9])
MODES = pytest.mark.parametrize("mode", ["forward", "reverse"])


def squares(a):
    z = a.view(np.complex128)
    s = 0.0
    for k in range(z.size):
        w = z[k] * z[k] * (1 + 2j)
        s += w.real * 2 + w.imag * (k + 1)
    return s


def pairs(a):
    z = a[::2] * a[::2] + 1j * a[1::2]
    x = z.view(np.float64)
    s = 0.0
    for k in range(x.size):
        s += x[k] ** 2 * (k + 1)
    return s


def filled_before(a):
    z = np.zeros(2, np.complex128)
    z[0] = a[0] * a[1] + 1j * a[2]
    z[1] = a[3] * 1j
    x = z.view(np.float64)
    return x[0] * x[1] + x[3] ** 2


def rows(a):
    z = a.reshape(2, 2).view(np.complex128)
    return (z.real * z.imag * 2).sum() + (z * np.conj(z)).real.sum()


def there_and_back(a):
    z = a.view(np.complex128).copy()
    z[0] = z[0] * z[1]
    return z.view(np.float64).sum() * a.view(np.float64)[1]


FUNCTIONS = [squares, pairs, filled_before, rows, there_and_back]


def slope(f, a, k):
    """A difference of fourth order of the function under the interpreter."""
    h, e = 1e-3, np.eye(a.size)[k]
    return (8 * (f(a + h * e) - f(a - h * e)) - (f(a + 2 * h * e) - f(a - 2 * h * e))) / (12 * h)


@MODES
@pytest.mark.parametrize("f", FUNCTIONS)
def test_gradient(f, mode):
    found = nd.grad(f, mode=mode)(A)
    np.testing.assert_allclose(found, [slope(f, A, k) for k in range(4)], rtol=1e-9, atol=1e-9)


@pytest.mark.deep
@pytest.mark.parametrize("f", FUNCTIONS)
def test_hessian(f):
    gradient = nd.grad(f, mode="reverse")
    exact = [slope(gradient, A, k) for k in range(4)]
    np.testing.assert_allclose(nd.hessian(f)(A), exact, rtol=1e-8, atol=1e-8)


def written_after(a):
    b = a * 2
    z = b.view(np.complex128)
    b[0] = a[1] ** 2
    return (z * z).imag.sum()


def written_through(a):
    z = np.zeros(2, np.complex128)
    x = z.view(np.float64)
    x[0] = a[0] * a[1]
    return (z * z).real.sum()


@MODES
@pytest.mark.parametrize("f", [written_after, written_through])
def test_memory_seen_as_both_is_refused(f, mode):
    with pytest.raises(nd.UnsupportedError, match=r"view\(np\.(complex128|float64)\)\.copy\(\)"):
        nd.grad(f, mode=mode)(A)


@MODES
def test_an_odd_number_of_floats(mode):
    with pytest.raises(
        ValueError, match="last axis"
    ):  # Numba's own words, or those of forward mode
        nd.grad(squares, mode=mode)(A[:3].copy())


@numba.njit
def both_parts(a):
    z = a * a * (1 + 2j)
    return z.real, z.imag


def of_both(a):
    x, y = both_parts(a)
    return (x * y).sum()


@MODES
def test_both_parts_of_a_new_array_returned(mode):
    np.testing.assert_allclose(nd.grad(of_both, mode=mode)(A), 8 * A**3, rtol=1e-14)  # 2 a^4


def weighted(x, n):
    return (np.arange(1, n + 1, dtype=np.float64) * x).sum() * x


@MODES
def test_a_range_of_floats(mode):
    """Numba's `arange` takes no `start` by its name."""
    assert nd.grad(weighted, mode=mode)(2.0, 4) == pytest.approx(40.0, rel=1e-14)
