"""Reverse mode keeps solutions from the forward sweep: nothing is searched for a second time."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd


@njit
def noisy(x, a):
    print("evaluated")
    return math.exp(-a * x)


@njit
def solved(a):
    return nd.fixed_point(noisy, 0.5, (a,))


def _evaluations(f, capfd):
    capfd.readouterr()
    f()
    return capfd.readouterr().out.count("evaluated")


def test_evaluations(capfd):
    gradient = nd.grad(solved, mode="reverse")
    search = _evaluations(lambda: solved(1.0), capfd)
    both = _evaluations(lambda: gradient(1.0), capfd)
    assert search > 20
    assert both <= search + 6  # two slopes and one pullback, where a search would be as many again


@njit
def equations(x, a, b):
    out = np.empty(2)
    out[0] = x[0] ** 3 + 2.0 * x[0] + x[1] - a
    out[1] = math.sin(x[1]) + 2.0 * x[1] + b * x[0]
    return out


@njit
def chained(a, b):
    """Each solution is a parameter of the next, and its array is overwritten afterwards."""
    total = 0.0
    for k in range(4):
        x = nd.root(equations, np.array([1.0, 0.1]), (a, b))
        a, b = a + 0.1 * x[0] * x[1], b * x[0]
        total += (k + 1.0) * x[0] * x[1]
        x[:] = 0.0
    return total


def _five_points(f, h=1e-4):
    """The derivative at zero."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


@pytest.mark.dear
def test_solutions_in_a_loop_are_kept_each():
    a, b = 1.3, 0.4
    expected = _five_points(lambda d: chained(a + d, b)), _five_points(lambda d: chained(a, b + d))
    found = nd.grad(chained, (0, 1), mode="reverse")(a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.deep
def test_solutions_in_a_loop_are_kept_each_to_second_order():
    a, b = 1.3, 0.4
    hessian = nd.hessian(lambda v: chained(v[0], v[1]))(np.array([a, b]))
    gradient = nd.grad(chained, (0, 1), mode="forward")
    expected = [
        [_five_points(lambda d, k=k: gradient(a + d, b)[k]) for k in range(2)],
        [_five_points(lambda d, k=k: gradient(a, b + d)[k]) for k in range(2)],
    ]
    np.testing.assert_allclose(hessian, expected, rtol=1e-8)
