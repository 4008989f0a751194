"""Rosenbrock methods: stiff systems, and their derivatives, against closed forms and other codes."""

import math

import numpy as np
import pytest

import numbad as nd

# At t = 40 and 1e5 to 10 digits: Mazzia & Magherini, "Test set for initial value problem solvers" (2008),
# and SciPy's Radau at rtol 1e-12.
ROBERTSON = (0.04, 3e7, 1e4)


def robertson(t, y, slow, fast, middle):
    a, b, c = y
    first, second, third = slow * a, fast * b * b, middle * b * c
    return third - first, first - second - third, second


def test_robertson_and_its_sensitivities():
    times = np.array([0.0, 40.0, 1e5])
    solve = nd.ode.solver(robertson, method="Rodas5P", rtol=1e-8, atol=1e-12)

    def end(k):
        return solve((1.0, 0.0, 0.0), times, (k[0], k[1], k[2]))

    rates = np.array(ROBERTSON)
    from scipy.integrate import solve_ivp

    def reference(rates):
        options = dict(method="Radau", rtol=1e-12, atol=1e-18, t_eval=times)
        return solve_ivp(robertson, (0.0, 1e5), [1.0, 0.0, 0.0], args=tuple(rates), **options).y.T

    np.testing.assert_allclose(end(rates), reference(rates), rtol=1e-7)
    slopes = nd.jacobian(end)(rates)
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-3 * rates[k]
        differences = [reference(rates + m * step) - reference(rates - m * step) for m in (1, 2)]
        by_hand = (8 * differences[0] - differences[1]) / (12 * step[k])
        np.testing.assert_allclose(slopes[..., k], by_hand, rtol=1e-5, atol=1e-12)


def forced(t, y, stiffness):
    """Prothero and Robinson: y = cos t, and a component that follows it."""
    return np.array([-stiffness * (y[0] - math.cos(t)) - math.sin(t), y[0] - y[1]])


def forced_in_place(t, y, dy, stiffness):
    dy[0] = -stiffness * (y[0] - math.cos(t)) - math.sin(t)
    dy[1] = y[0] - y[1]


@pytest.mark.parametrize("inplace", [False, True])
def test_arrays_and_time(inplace):
    fun = forced_in_place if inplace else forced
    solve = nd.ode.solver(fun, method="Rodas5P", rtol=1e-8, atol=1e-10, inplace=inplace)
    times = np.linspace(0.0, 3.0, 31)
    ys = solve(np.array([1.0, 0.0]), times, 1e5)
    follower = 0.5 * (np.cos(times) + np.sin(times) - np.exp(-times))
    np.testing.assert_allclose(ys, np.stack([np.cos(times), follower], axis=1), atol=1e-7)
    slope = nd.derivative(lambda start: solve(np.array([1.0, start]), times, 1e5)[-1, 1])(0.0)
    assert slope == pytest.approx(math.exp(-3.0), rel=1e-6)
