"""Outputs between steps whose ends are right however long they are, and whose error estimate sees nothing."""

import math

import numpy as np
import pytest

import numbad as nd

TIMES = np.linspace(0.0, 20.0, 201)


def sensor(t, y, k):
    return (-k * (y[0] - math.cos(t)),)


def follows(k):
    """The solution from 1 at time 0 of y' = -k (y - cos(t))."""
    slow = (k * k * np.cos(TIMES) + k * np.sin(TIMES)) / (k * k + 1.0)
    return slow + (1.0 - slow[0]) * np.exp(-k * TIMES)


@pytest.mark.parametrize("method", ["Rodas5P", "Rodas4", "RadauIIA5"])
@pytest.mark.deep(but=["Rodas5P"])
def test_what_follows_the_time_alone_is_right_between_steps(method):
    for tolerance in 1e-4, 1e-6:
        solve = nd.ode.solver(sensor, method=method, rtol=tolerance, atol=1e-2 * tolerance)
        for k in 1e3, 1e4, 1e6:
            error = np.abs(solve((1.0,), TIMES, (k,))[:, 0] - follows(k)).max()
            assert error < 20.0 * tolerance, (tolerance, k)


def test_gradients_take_the_same_steps():
    """By a gain of the sensor, of the sum of squares at the outputs: in both modes, and by arrays."""

    def scaled(t, y, dy, gain):
        dy[0] = -1e6 * (y[0] - gain * math.cos(t))

    solve = nd.ode.solver(scaled, method="Rodas5P", rtol=1e-6, atol=1e-8, inplace=True)

    def loss(gain):
        return (solve(np.array([gain]), TIMES, (gain,)) ** 2).sum()

    exact = 4.0 * (np.cos(TIMES) ** 2).sum()
    for mode in "forward", "reverse":
        assert nd.grad(loss, mode=mode)(2.0) == pytest.approx(exact, rel=1e-4)


def test_a_jump_of_what_is_followed_is_found():
    """Steps shrink to where it is, and go on."""

    def switched(t, y, start):
        return (-1e6 * (y[0] - (1.0 if t > start else 0.0)),)

    solve = nd.ode.solver(switched, method="Rodas5P", rtol=1e-6, atol=1e-8)
    found = solve((0.0,), np.array([0.0, 1.0, 1.9, 2.1, 4.0]), (2.0,))[:, 0]
    np.testing.assert_allclose(found, [0.0, 0.0, 0.0, 1.0, 1.0], atol=2e-5)


def test_steps_of_other_stiff_systems_are_as_long_as_before():
    """Robertson's reaction: what is followed is itself under the error control."""

    def reaction(t, y):
        a, b = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
        return (-a, a - b, b)

    options = {"method": "Rodas5P", "rtol": 1e-7, "atol": 1e-11}
    assert nd.ode.solve_ivp(reaction, (0.0, 1e4), (1.0, 0.0, 0.0), **options).t.size < 120
