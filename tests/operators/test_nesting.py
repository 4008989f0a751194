"""Operators on operators: no perturbation is taken for another.

The examples are those of Siskind & Pearlmutter, "Perturbation confusion and referential
transparency" (2005), and their kin, with the outer variable passed as an argument.
"""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd


@njit
def add(y, x):
    return x + y


@njit
def multiply(y, x):
    return x * y


add_slope = nd.derivative(add)
multiply_slope = nd.derivative(multiply)


def test_a_sum_within_a_product():
    assert nd.derivative(lambda x: x * add_slope(1.0, x))(1.0) == 1.0


def test_a_product_within_a_product():
    assert nd.derivative(lambda x: x * multiply_slope(2.0, x))(3.0) == 6.0


def test_the_same_variable_at_both_levels():
    square = nd.derivative(lambda y, x: x * y * y)
    # d/dx [x * d/dy (x y^2) at y = x] = d/dx [2 x^3]
    assert nd.derivative(lambda x: x * square(x, x))(2.0) == 24.0


def test_three_levels():
    inner = nd.derivative(lambda z, y, x: x * y * z * z)
    middle = nd.derivative(lambda y, x: y * inner(x, y, x))
    # inner at z = x: 2 x^2 y; middle: d/dy (2 x^2 y^2) = 4 x^2 y; at y = x: 4 x^3
    assert nd.derivative(lambda x: middle(x, x))(2.0) == 48.0


@pytest.mark.parametrize("x", [-0.8, 0.4, 2.0])
def test_fourth_derivative(x):
    f = nd.derivative(nd.derivative(nd.derivative(nd.derivative(lambda x: math.sin(x) * x))))
    # (x sin x)'''' = x sin x - 4 cos x
    assert f(x) == pytest.approx(x * math.sin(x) - 4 * math.cos(x), rel=1e-14)


@pytest.mark.dear
def test_third_derivatives_of_an_array_function():
    @njit
    def f(a):
        return a[0] ** 3 * a[1] ** 2

    a = np.array([2.0, 3.0])
    third = nd.jacobian(nd.hessian(f))(a)
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0] = 6 * 9.0
    for index in [(0, 0, 1), (0, 1, 0), (1, 0, 0)]:
        expected[index] = 6 * 2.0 * 2 * 3.0
    for index in [(0, 1, 1), (1, 0, 1), (1, 1, 0)]:
        expected[index] = 3 * 4.0 * 2
    np.testing.assert_allclose(third, expected, rtol=1e-14)


def test_a_gradient_of_a_function_that_takes_a_jacobian():
    @njit
    def rotated(v, angle):
        c, s = math.cos(angle), math.sin(angle)
        out = np.empty(2)
        out[0] = c * v[0] - s * v[1]
        out[1] = s * v[0] + c * v[1]
        return out

    jacobian = nd.jacobian(rotated)

    @njit
    def entry(angle):
        return jacobian(np.array([1.0, 2.0]), angle)[1, 0]  # sin(angle)

    assert nd.grad(entry)(0.3) == pytest.approx(math.cos(0.3), rel=1e-15)


def test_a_newton_iteration_is_differentiated_through():
    @njit
    def g(x, a):
        return x * x * x - a

    slope = nd.derivative(g)

    @njit
    def cube_root(a):
        x = 1.0
        for _ in range(60):
            x = x - g(x, a) / slope(x, a)
        return x

    assert cube_root(8.0) == pytest.approx(2.0, rel=1e-15)
    assert nd.derivative(cube_root)(8.0) == pytest.approx(1 / 12, rel=1e-14)
    assert nd.derivative(nd.derivative(cube_root))(8.0) == pytest.approx(-1 / 144, rel=1e-13)
