"""`stop_gradient` in both modes."""

import numpy as np
from numba import njit

import numbad as nd
from tests.reverse.ops.test_pulled import grad


def test_stop_gradient():
    assert nd.derivative(lambda x: x * nd.stop_gradient(x))(3.0) == 3.0
    gradient = nd.grad(lambda a: (a * nd.stop_gradient(a)).sum())(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [1.0, 2.0])
    second = nd.derivative(nd.derivative(lambda x: x**3 + nd.stop_gradient(x) ** 5))
    assert second(2.0) == 12.0
    assert nd.stop_gradient(3.0) == 3.0


A = np.array([0.5, 1.5, 2.5, -0.75])


def test_stop_gradient_of_scalars_arrays_and_tuples():
    def f(x, a):
        held = nd.stop_gradient(x * x)
        b = nd.stop_gradient(a)
        p = nd.stop_gradient((x, a))
        return held * x + b[0] * a[0] * x + p[0] * p[1][1] * a[1]

    by_x, by_a = grad(f, (0, 1))(2.0, A)
    assert by_x == 4.0 + A[0] * A[0]
    np.testing.assert_allclose(by_a, [A[0] * 2.0, 2.0 * A[1], 0.0, 0.0], rtol=1e-15)


def test_stop_gradient_in_a_loop():
    def f(x, n):
        s = x
        for _ in range(n):
            s = s * nd.stop_gradient(s)
        return s

    assert grad(f)(2.0, 3) == 2.0**7  # the slope of s**7 * x, s held


def test_writing_to_a_stopped_array_does_not_leak():
    """What is written to the array behind a stopped one is seen there or not, as in the primal."""

    def f(x, a):
        b = nd.stop_gradient(a)
        b[0] = x
        return a[0] * x + b[0]

    primal, used = A.copy(), A.copy()
    value = njit(f)(2.0, primal)
    try:
        found, slope = nd.value_and_grad(f, 0, mode="reverse")(2.0, used)
    except nd.UnsupportedError:
        return
    assert found == value
    np.testing.assert_array_equal(used, primal)
    assert slope == (2 * 2.0 + 1.0 if primal[0] == 2.0 else A[0] + 1.0)
