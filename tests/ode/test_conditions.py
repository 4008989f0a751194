"""Conditions of events: what they may take, and what is none."""

import math

import numpy as np
import pytest

import numbad as nd
from tests.ode.test_events import still


@pytest.mark.deep
def test_a_condition_that_is_nan_is_no_event_that_never_happens():
    """1 - y meets 1/4 only where its square root is no longer told."""
    undefined = nd.ode.event(
        lambda t, y: math.sqrt(1.0 - y[0]) - 0.5 + (math.nan if y[0] > 0.5 else 0.0)
    )
    solve = nd.ode.solver(lambda t, y: (1.0,), events=undefined)
    with pytest.raises(nd.IntegrationError, match="the condition of an event is NaN"):
        solve((0.0,), (0.0, 2.0))
    found = nd.ode.solve_ivp(lambda t, y: (1.0,), (0.0, 2.0), [0.0], events=undefined)
    assert found.status == -1
    assert "the condition of an event is NaN" in found.message


@pytest.mark.deep
def test_conditions_and_changes_may_take_what_arguments_there_are():
    """dy/dt = -rate, set back to 1 where it meets 0."""
    again = nd.ode.event(lambda t, y, *args: y[0], change=lambda t, y, *args: (1.0,))
    solve = nd.ode.solver(lambda t, y, rate: (-rate,), events=again)
    assert abs(solve((1.0,), (0.0, 1.3), (2.0,))[-1, 0] - 0.4) < 1e-9


@pytest.mark.dear
@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        (lambda t, y: y[1] > 0.5, nd.ModelError, "returns bool"),
        (
            lambda t, y: np.floor(y[1]) - 0.5,
            nd.IntegrationError,
            "does not change where it is zero",
        ),
        (lambda t, y: y[7], nd.ModelError, "Numba cannot compile"),
    ],
)
def test_conditions_that_are_none(condition, error, message):
    solve = nd.ode.solver(still, events=nd.ode.event(condition))
    with pytest.raises(error, match=message):
        solve((0.0, 0.0), (0.0, 2.0))


def few(t, y):
    return y + 1.0


def without_number(t, y, rate):
    return y + 1.0


@pytest.mark.parametrize(
    ("told", "happening"),
    [
        (
            r"few\(t, y\) is called with 3 arguments",
            nd.ode.event(lambda t, y, rate: y - 0.5, change=few),
        ),
        (r"few\(t, y\) is called with 1 arguments", nd.ode.at_times(few)),
        (
            r"with the number of the time, too, as change\(t, y, k, .*Way out: k after the state",
            nd.ode.at_times(1.0, change=without_number),
        ),
    ],
)
def test_what_happens_takes_the_arguments_of_the_solver(told, happening):
    solve = nd.ode.solver(lambda t, y, rate: -rate * y, events=happening)
    with pytest.raises(nd.ModelError, match=told):
        solve(1.0, (0.0, 2.0), (0.5,))
