"""Calls that Numba takes for recursive: of functions of which another version is being compiled."""

import math

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from scipy.integrate import dblquad

import numbad as nd


@njit
def of_corner(a):
    """The integral of exp(-a x y) below the diagonal of the unit square."""

    def along(x):
        return nd.quad(lambda y: math.exp(-a * x * y), 0.0, x)

    return nd.quad(along, 0.0, 1.0)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_integral_in_an_integral(mode):
    def moment(k):
        return dblquad(lambda y, x: (-x * y) ** k * math.exp(-1.3 * x * y), 0, 1, 0, lambda x: x)[0]

    assert of_corner(1.3) == pytest.approx(moment(0), rel=1e-9)
    assert nd.grad(of_corner, mode=mode)(1.3) == pytest.approx(moment(1), rel=1e-9)
    assert nd.hessian(of_corner, mode=mode)(1.3) == pytest.approx(moment(2), rel=1e-9)


@njit
def even(n, x):
    return x if n == 0 else 0.5 * x * odd(n - 1, x)


@njit(error_model="numpy")
def odd(n, x):
    return 1 if n == 0 else x + even(n - 1, x)


@njit
def above(n, x):
    if n == 0:
        return 1.0, x, 0
    a, b, count = below(n - 1, x)
    return a * x, b + x, count + 1


@njit
def below(n, x):
    if n == 0:
        return 2.0, 3.0, 0
    a, b, count = above(n - 1, x)
    return a + x, b * x, count + 1


def of_both(x):
    a, b, count = below(4, x)  # (x + 3 x^2, 4 x^2 + x^3, 4)
    return a + b + count


def test_functions_that_call_each_other():
    """One returns a number that is differentiated, the other a constant where it calls nobody."""

    def whole(x):
        return even(3, x)  # x / 2 (x + x / 2)

    assert nd.value_and_grad(whole, mode="forward")(0.8) == pytest.approx(
        (0.75 * 0.8**2, 1.5 * 0.8)
    )


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_that_return_tuples_and_call_each_other(mode):
    x = 0.5
    expected = x + 7.0 * x**2 + x**3 + 4.0, 1.0 + 14.0 * x + 3.0 * x**2
    assert nd.value_and_grad(of_both, mode=mode)(x) == pytest.approx(expected)


@njit
def scaled(n, x):
    return np.ones(2) if n == 0 else shifted(n - 1, x) * x


@njit
def shifted(n, x):
    return np.ones(2) if n == 0 else scaled(n - 1, x) + x


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_that_return_arrays_and_call_each_other(mode):
    gradient = nd.grad(lambda x: scaled(4, x).sum(), mode=mode)  # of 2 x^3 + 4 x^2
    assert gradient(0.7) == pytest.approx(6.0 * 0.7**2 + 8.0 * 0.7)


def test_another_type_than_was_inferred():
    """Numba alone takes the bits of the 1 for those of a float."""

    @njit
    def there(n, x):
        return 1 if n == 0 else x + back(n - 1, x)

    @njit
    def back(n, x):
        return x if n == 0 else x * there(n - 1, x)

    told = (
        "there calls a function that calls there: it returns int64 where it calls none, and float64"
    )
    with pytest.raises(nd.UnsupportedError, match=told):
        nd.grad(there, 1, mode="reverse")(3, 0.8)
    with pytest.raises(TypingError, match=told):  # `back` is still compiled with what was told
        nd.grad(lambda x: there(4, x) + back(3, x), mode="reverse")(0.8)


@njit(error_model="numpy")
def raised(n, x, y):
    return x * x if n <= 0 else lowered(n - 1, x, y) + 0.53


@njit
def lowered(n, x, y):
    return y if n <= 0 else 0.63 * x * raised(n - 1, x, y)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_with_other_options_that_call_each_other(mode):
    """Numba looks for each by a name that has the other's options in it."""
    value = 0.63 * 0.5 * 1.23
    constant = nd.grad(lambda x: x * lowered(2, 0.5, 0.7), mode=mode)
    assert constant(2.0) == pytest.approx(value)
    gradient = nd.grad(lambda x, y: lowered(2, x, y), (0, 1), mode=mode)  # of 0.63 x (y + 0.53)
    assert gradient(0.5, 0.7) == pytest.approx((0.63 * 1.23, 0.63 * 0.5))
