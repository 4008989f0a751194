"""Symplectic methods, against closed forms."""

import math

import numpy as np
import pytest

import numbad as nd

BOTH = {"VelocityVerlet": 2, "McLachlanAtela4": 4}


def driven(t, y, stiffness, strength):
    """A spring that a force shakes."""
    position, momentum = y
    return momentum, strength * math.cos(2.0 * t) - stiffness * position


def exact(t, stiffness, strength):
    """The position from rest at 0."""
    w = math.sqrt(stiffness)
    return strength / (stiffness - 4.0) * (math.cos(2.0 * t) - math.cos(w * t))


def by_stiffness(t, stiffness, strength):
    """The derivative of `exact`."""
    w, size = math.sqrt(stiffness), strength / (stiffness - 4.0)
    swing = math.cos(2.0 * t) - math.cos(w * t)
    return size * (t * math.sin(w * t) / (2.0 * w) - swing / (stiffness - 4.0))


@pytest.mark.parametrize("method", BOTH)
def test_order_of_values_and_derivatives(method):
    errors = []
    for steps in (80, 160):
        solve = nd.ode.solver(driven, method=method, first_step=2.0 / steps)

        def end(stiffness, solve=solve):
            return solve((0.0, 0.0), (0.0, 0.93, 2.0), (stiffness, 0.5))[1:, 0]

        value, slope = nd.jvp(end)((2.5,), (1.0,))
        errors.append(
            [value[k] - exact(t, 2.5, 0.5) for k, t in enumerate((0.93, 2.0))]
            + [slope[k] - by_stiffness(t, 2.5, 0.5) for k, t in enumerate((0.93, 2.0))]
        )
    found = np.log2(np.abs(np.divide(*errors)))
    np.testing.assert_allclose(found[1::2], BOTH[method], atol=0.3)
    within, at_end = np.abs(errors[1])[::2], np.abs(errors[1])[1::2]
    assert (within < 3.0 * at_end + 1e-8).all()  # a cubic through steps of 1 / 80


def kepler(t, y, dy):
    distance = (y[0] * y[0] + y[1] * y[1]) ** 1.5
    dy[0], dy[1] = y[2], y[3]
    dy[2], dy[3] = -y[0] / distance, -y[1] / distance


def energy(ys):
    return 0.5 * (ys[:, 2:] ** 2).sum(axis=1) - 1.0 / np.hypot(ys[:, 0], ys[:, 1])


@pytest.mark.dear
def test_energy_does_not_drift():
    """Over 200 orbits; RK4 loses a part of it on each."""
    start, times = np.array([0.6, 0.0, 0.0, math.sqrt(1.4 / 0.6)]), 2.0 * math.pi * np.arange(201)
    lost = {}
    for method, size in (("McLachlanAtela4", 0.05), ("RK4", 0.05)):
        solve = nd.ode.solver(kepler, method=method, inplace=True, first_step=size)
        found = energy(solve(start, times, ()))
        lost[method] = np.abs(found - found[0]).max()
    assert lost["McLachlanAtela4"] < 2e-5
    assert lost["McLachlanAtela4"] < 0.05 * lost["RK4"]


@pytest.mark.dear
def test_what_is_refused():
    def three(t, y):
        return y[1], -y[0], y[2]

    def damped(t, y):
        return y[1], -y[0] - 0.1 * y[1]

    def coupled(t, y):
        return y[1] * (1.0 + y[0]), -y[0]

    def damped_later(t, y):
        return y[1], -y[0] - (0.1 * y[1] if t > 5.0 else 0.0)

    for fun, start, told in (
        (three, (1.0, 0.0, 0.0), "two halves"),
        (damped, (1.0, 0.0), "on positions alone"),
        (coupled, (1.0, 0.0), "on momenta alone"),
        (damped_later, (1.0, 0.0), "on positions alone.* at t = 6.2"),
    ):
        with pytest.raises(nd.IntegrationError, match=told):
            nd.ode.solver(fun, method="VelocityVerlet", first_step=0.1)(start, (0.0, 9.0))
    with pytest.raises(nd.ArgumentError, match="first_step"):
        nd.ode.solver(damped, method="VelocityVerlet")
