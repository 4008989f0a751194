"""Divisors that are zero: what raises, as the function's own error model says."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.reverse.test_options import value_and_slope


def ratio(x, y):
    return x / y + x


python_ratio = njit(error_model="python")(ratio)
numpy_ratio = njit(error_model="numpy")(ratio)


def test_division_by_zero_raises_with_the_error_model_of_python():
    gradient = nd.grad(python_ratio, (0, 1), mode="reverse")
    with pytest.raises(ZeroDivisionError):
        gradient(1.0, 0.0)
    assert gradient(1.0, 2.0) == (1.5, -0.25)


def test_division_by_zero_is_infinite_with_the_error_model_of_numpy():
    value, (by_x, by_y) = nd.value_and_grad(numpy_ratio, (0, 1), mode="reverse")(1.0, 0.0)
    assert (value, by_x, by_y) == (np.inf, np.inf, -np.inf)


@njit(error_model="numpy")
def numpy_caller(x, y):
    return python_ratio(x, y) * 2.0


@njit(error_model="python")
def python_caller(x, y):
    return numpy_ratio(x, y) * 2.0


def test_a_callee_keeps_its_own_error_model():
    with pytest.raises(ZeroDivisionError):
        numpy_caller(1.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        nd.grad(numpy_caller, mode="reverse")(1.0, 0.0)
    assert python_caller(1.0, 0.0) == np.inf
    assert value_and_slope(python_caller, 1.0, 0.0) == (np.inf, np.inf)


@njit(error_model="numpy")
def numpy_halves(x, y):
    halves = np.empty(2)
    for i in range(2):  # the quotient is needed again in the reverse sweep
        halves[i] = (x / y) * (x / y) / 2.0
    return halves


@njit(error_model="numpy")
def through_python(x, y):
    return numpy_halves(x, y) + python_ratio(x, y)


@njit
def halves_of(x, y):
    halves = numpy_halves(x, y)
    return halves[0] + halves[1] + x * (7 // max(int(y), 1))


@njit
def both_divide(x, y):
    return numpy_halves(x, 1.0)[0] + x / y


@njit
def python_in_numpy(x, y):
    return through_python(x, y)[0]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_callees_that_return_arrays_keep_their_own_error_models(mode):
    gradient = nd.value_and_grad(halves_of, mode=mode)
    assert gradient(3.0, 2.0) == (2.25 + 9.0, 1.5 + 3.0 - 0.0)
    value, slope = gradient(3.0, 0.0)
    assert (value, slope) == (np.inf, np.inf)
    assert nd.grad(both_divide, mode=mode)(3.0, 2.0) == 3.5
    assert nd.grad(python_in_numpy, mode=mode)(3.0, 2.0) == 0.75 + 1.5
    for raising in (both_divide, python_in_numpy):
        with pytest.raises(ZeroDivisionError):
            raising(3.0, 0.0)
        with pytest.raises(ZeroDivisionError):
            nd.grad(raising, mode=mode)(3.0, 0.0)


@pytest.mark.parametrize("divide", [lambda x, n: x * (7 // n), lambda x, n: x * (7 % n)])
def test_integer_division_by_zero_raises(divide):
    gradient = nd.grad(njit(divide), 0, mode="reverse")
    with pytest.raises(ZeroDivisionError):
        gradient(1.0, 0)
    assert gradient(1.0, 7) == divide(1.0, 7)
