"""Operators' results are dispatchers: whatever can call one can call them."""

import math

import numpy as np
import pytest
from numba import cfunc, njit, prange, types, vectorize
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd


@njit
def wave(x, y):
    return math.sin(x) * y


def closed_form(x, y):
    return math.cos(x) * y


by_x = nd.grad(wave)


def test_the_same_operator_on_the_same_function_is_the_same_object():
    assert isinstance(by_x, Dispatcher)
    by_first = nd.grad(wave)
    assert nd.grad(wave) is by_first
    assert nd.grad(wave, argnums=1) is not by_first


def test_from_njit():
    @njit
    def twice(x, y):
        return 2.0 * by_x(x, y)

    assert twice(0.3, 1.5) == 2.0 * by_x(0.3, 1.5)


def test_from_prange():
    @njit(parallel=True)
    def everywhere(x, out):
        for i in prange(x.size):
            out[i] = by_x(x[i], 1.5)

    x = np.linspace(0.0, 1.0, 50)
    out = np.full(50, np.nan)
    everywhere(x, out)
    np.testing.assert_allclose(out, [closed_form(xi, 1.5) for xi in x], rtol=1e-15)


def test_from_cfunc():
    @cfunc(types.float64(types.float64, types.float64))
    def callback(x, y):
        return by_x(x, y)

    assert callback.ctypes(0.3, 1.5) == by_x(0.3, 1.5)


def test_keywords_defaults_and_star_arguments():
    def power(x, n=3, scale=2.0):
        return x**n * scale

    slope = nd.grad(power)
    assert slope(2.0) == 24.0
    assert slope(2.0, scale=1.0) == 12.0
    assert nd.grad(power, argnums=(0, 2))(2.0) == (24.0, 8.0)

    def combined(f, r, *start):  # names that generated code has uses for
        return f * r * start[0] + start[1]

    assert nd.grad(combined, argnums=(0, 1))(2.0, 3.0, 4.0, 5.0) == (12.0, 8.0)


def test_functions_as_arguments():
    @njit
    def allocating(x):
        out = np.zeros(1)
        out[0] = x * x
        return out[0]

    @njit
    def apply(f, x):
        return f(x) * x

    assert nd.grad(apply, argnums=1)(allocating, 3.0) == 27.0
    assert nd.derivative(apply, 1)(allocating, 3.0) == 27.0


def test_builtin_functions():
    assert nd.derivative(math.sin)(0.0) == 1.0
    assert nd.derivative(np.exp)(0.0) == 1.0
    assert nd.grad(math.atan2, argnums=(0, 1))(1.0, 1.0) == pytest.approx((0.5, -0.5))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_made_by_vectorize(mode):
    parabola = vectorize(lambda x, y: x * x * math.exp(y) if x > 0.0 else 0.0)
    assert nd.grad(parabola, mode=mode) is nd.grad(parabola, mode=mode)
    assert nd.grad(parabola, argnums=(0, 1), mode=mode)(3.0, 0.0) == (6.0, 9.0)
    by_array = nd.jacobian(parabola, mode=mode)(np.array([3.0, -1.0]), 0.0)
    assert by_array.tolist() == [[6.0, 0.0], [0.0, 0.0]]


@njit
def math_cube(x):
    return x * x * x


@pytest.fixture
def count_allocations():
    """A function that counts the heap allocations of a call."""

    def count(function, *args):
        function(*args)
        before = rtsys.get_allocation_stats().alloc
        function(*args)
        return rtsys.get_allocation_stats().alloc - before

    _nrt_python.memsys_enable_stats()
    yield count
    _nrt_python.memsys_disable_stats()


def test_no_heap_allocation_for_scalars(count_allocations):
    assert count_allocations(nd.derivative(math_cube), 0.7) == 0
    assert count_allocations(nd.grad(wave, argnums=(0, 1)), 0.7, 1.2) == 0
    assert count_allocations(nd.derivative(nd.derivative(math_cube)), 0.7) == 0
    assert count_allocations(nd.jvp(wave), (0.7, 1.2), (1.0, 0.0)) == 0
    assert count_allocations(nd.derivative(lambda x: np.zeros(2).sum() * x), 0.7) > 0


def test_the_options_of_the_function_are_carried_over():
    @njit(error_model="numpy")
    def inverse(x):
        return 1.0 / x

    assert nd.value_and_grad(inverse)(0.0) == (math.inf, -math.inf)

    @njit
    def checked(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError):
        nd.value_and_grad(checked)(0.0)

    @njit(boundscheck=True)
    def outside(x):
        return np.zeros(2)[int(x)] * x

    with pytest.raises(IndexError):
        nd.grad(outside)(5.0)

    assert nd.grad(njit(nogil=True)(wave.py_func)).targetoptions["nogil"]


def test_exceptions_of_the_function_come_through():
    @njit
    def positive(x):
        if x < 0.0:
            raise ValueError("x must not be negative")
        return math.sqrt(x)

    with pytest.raises(ValueError, match="must not be negative"):
        nd.grad(positive)(-1.0)
    assert nd.grad(positive)(4.0) == 0.25
