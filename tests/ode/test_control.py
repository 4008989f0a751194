"""Steps far from time zero, where the times of floats are as far apart as 2.4e-7: seconds since 1970."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.ode.control import EVEN_STRETCH, STRETCH, aimed

EPOCH = 1.7e9
SPACING = np.spacing(EPOCH)


def decay(t, y, k):
    return -k * y


@pytest.mark.parametrize("h", [0.3, -0.3, 1e-4, 12.5, 1e-9])
def test_the_step_is_as_long_as_the_times_say(h):
    t = EPOCH + 0.25
    t_new, taken = aimed.py_func(t, h, t + 1e3 * h if abs(h) > 1e-8 else t + 1.0, STRETCH)
    assert t_new - t == taken != 0.0
    assert abs(taken - h) <= SPACING


def test_near_zero_the_step_is_what_it_was():
    assert aimed.py_func(0.2, 0.1, 5.0, STRETCH) == (0.2 + 0.1, 0.1)
    assert aimed.py_func(0.2, 0.1, 0.3 + 1e-8, EVEN_STRETCH) == (0.3 + 1e-8, 0.3 + 1e-8 - 0.2)


@pytest.mark.parametrize(
    ("method", "options", "most"),
    [
        ("Tsit5", {}, 1e-11),
        ("RK4", {"first_step": 1e-3}, 1e-11),
        ("Rodas5P", {}, 1e-11),
        ("RadauIIA5", {}, 1e-10),
        ("BDF", {"rtol": 1e-6}, 1e-5),
    ],
)
def test_solutions_are_as_near_as_at_zero(method, options, most):
    solve = nd.ode.solver(decay, method=method, **{"rtol": 1e-10, "atol": 1e-13} | options)
    times = EPOCH + np.array([0.0, 0.3, 1.0])
    found = solve(1.0, times, 2.0)[:, 0]
    np.testing.assert_allclose(found, np.exp(-2.0 * (times - EPOCH)), rtol=most)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_so_are_derivatives(mode):
    solve = nd.ode.solver(decay, rtol=1e-10, atol=1e-13)

    def last(k):
        return solve(1.0, (EPOCH, EPOCH + 1.0), k)[-1, 0]

    assert nd.grad(last, mode=mode)(2.0) == pytest.approx(-math.exp(-2.0), rel=1e-9)


def test_events_happen_at_their_times():
    falls = nd.ode.event(lambda t, y: y[0], direction=-1, terminal=True)
    solution = nd.ode.solve_ivp(
        lambda t, y: (y[1], -9.81), (EPOCH, EPOCH + 10.0), (10.0, 0.0), events=falls, rtol=1e-10
    )
    assert solution.t_events[0][0] - EPOCH == pytest.approx(
        math.sqrt(20.0 / 9.81), abs=2.0 * SPACING
    )
