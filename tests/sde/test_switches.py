"""Drifts that switch at a time or a state: by events they are differentiated, without them told of."""

import math
import warnings

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(3)


def switched_off(t, y, rate, stop):
    return ((5.0 if t < stop else 0.0) - rate * y[0],)


def by_state(t, y, rate, level):
    return ((5.0 if y[0] < level else 1.0) - rate * y[0],)


def noise(t, y, rate, stop):
    return (0.1,)


AT_STOP = nd.ode.event(lambda t, y, rate, stop: t - stop)
AT_LEVEL = nd.ode.event(lambda t, y, rate, level: y[0] - level)
DOSE = nd.ode.event(lambda t, y, rate, when: t - when, change=lambda t, y, *_: (y[0] + 2.0,))


def decaying(t, y, rate, when):
    return (-rate * y[0],)


@pytest.mark.parametrize("dt", [0.01, 0.001])
def test_an_event_at_the_end_of_a_step_happens(dt):
    """319 dt + dt is not 320 dt: a condition must not be zero between the end of a step and the next one."""
    solve = nd.sde.solver(decaying, noise, dt=dt, events=DOSE)
    plain = nd.sde.solver(decaying, noise, dt=dt)
    without = plain((0.0,), (0.0, 5.0), (0.4, 0.0), KEY)[-1, 0]
    for when in np.arange(0.1, 5.0, 0.1):
        given = solve((0.0,), (0.0, 5.0), (0.4, when), KEY)[-1, 0]
        assert given - without == pytest.approx(2.0 * math.exp(-0.4 * (5.0 - when)), rel=3 * dt)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_slope_by_the_time_of_a_dose_has_no_noise(mode):
    """With a linear state and additive noise, that of the step falls out, wherever the dose lies."""
    solve = nd.sde.solver(decaying, noise, dt=0.01, events=DOSE)
    slope = nd.grad(lambda when: solve((0.0,), (0.0, 5.0), (0.4, when), KEY)[-1, 0], mode=mode)
    for when in (1.0, 1.1, 3.0, 3.2, 3.25, 3.2511):
        assert slope(when) == pytest.approx(0.8 * math.exp(-0.4 * (5.0 - when)), rel=0.02)


@pytest.mark.dear
@pytest.mark.deep(but=["Heun-stop"])
@pytest.mark.parametrize(
    ("drift", "event", "places"),
    [
        (switched_off, AT_STOP, (1.5, 1.51, 1.4967)),
        (by_state, AT_LEVEL, (1.5, 1.4967, 1.3, 2.0)),
    ],
    ids=["stop", "level"],
)
@pytest.mark.parametrize("method", ["EulerMaruyama", "Heun", "SRA1"])
def test_an_event_tells_of_a_switch(method, drift, event, places):
    """Without noise it is the ODE; steps of size 0.01 and 0.001, whose ends some of the switches are."""
    exact = nd.ode.solver(drift, events=event, rtol=1e-10, atol=1e-12)
    of_ode = nd.value_and_grad(
        lambda rate, place: exact((0.0,), (0.0, 3.0), (rate, place))[-1, 0], (0, 1)
    )
    still = njit(lambda t, y, rate, place: (0.0,))
    for dt in (0.01, 0.001):
        end = nd.value_and_grad(_end_of_path(drift, still, method, dt, event), (0, 1))
        for place in places:
            value, slopes = end(0.3, place)
            expected, by = of_ode(0.3, place)
            allowed = 3.0 * dt if method == "EulerMaruyama" else 2.0 * dt * dt
            np.testing.assert_allclose([value, *slopes], [expected, *by], atol=allowed)


def _end_of_path(drift, still, method, dt, event):
    solve = nd.sde.solver(drift, still, method=method, noise="additive", dt=dt, events=event)
    return lambda rate, place: solve((0.0,), (0.0, 3.0), (rate, place), KEY)[-1, 0]


def of_an_array(t, y, rate, stop):
    return np.array([(5.0 if t < stop else 0.0) - rate * y[0]])


def noise_of_an_array(t, y, rate, stop):
    return np.array([0.1])


@pytest.mark.dear
def test_a_state_in_an_array_goes_back_through_an_event():
    of_tuples = nd.sde.solver(switched_off, noise, dt=0.1, events=AT_STOP)
    of_arrays = nd.sde.solver(of_an_array, noise_of_an_array, dt=0.1, events=AT_STOP)

    def end(solve, start):
        return njit(lambda stop: solve(start(), (0.0, 2.0), (0.4, stop), KEY)[-1, 0])

    found = nd.grad(end(of_arrays, njit(lambda: np.zeros(1))), mode="reverse")(1.23)
    expected = nd.grad(end(of_tuples, njit(lambda: (0.0,))), mode="forward")(1.23)
    assert found == pytest.approx(expected, rel=1e-12)


@njit
def inflow(t, stop):
    return 5.0 if t < stop else 0.0  # switches


def by_a_helper(t, y, rate, stop):
    return (inflow(t, stop) - rate * y[0],)


def in_periods(t, y, rate, period):
    return (math.floor(t / period) - rate * y[0],)


def _told(drift, mode, by, **options):
    solve = nd.sde.solver(drift, noise, **options)

    def end(x):
        args = (x, 3.2) if by == "rate" else (0.4, x)
        return solve((0.0,), (0.0, 5.0), args, KEY)[-1, 0]

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        nd.grad(end, mode=mode)(0.4 if by == "rate" else 3.2)
    return [w for w in found if w.category is nd.ControlDependenceWarning]


@pytest.mark.deep(but=["forward-by_a_helper", "reverse-by_a_helper"])
@pytest.mark.parametrize("drift", [by_a_helper, in_periods])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_switch_that_no_event_tells_of_is_told_of(mode, drift):
    assert not _told(drift, mode, "rate", dt=0.1)
    told = _told(drift, mode, "stop", dt=0.1)
    assert told
    assert all("of an SDE compares the time" in str(w.message) for w in told)
    line = inflow.py_func.__code__.co_firstlineno + 2
    assert drift is in_periods or {w.lineno for w in told} == {line}


def test_one_that_an_event_tells_of_is_not():
    assert not _told(switched_off, "forward", "stop", dt=0.1, events=AT_STOP)


def test_the_search_for_an_event_is_not_told_of():
    dose = nd.ode.event(
        lambda t, y, rate, amount: t - 0.437, change=lambda t, y, rate, a: (y[0] + a,)
    )
    solve = nd.sde.solver(decaying, noise, method="Heun", dt=0.1, events=dose)
    with warnings.catch_warnings():
        warnings.simplefilter("error", nd.NumbadWarning)
        slope = nd.grad(lambda a: solve((0.0,), (0.0, 1.0), (0.4, a), KEY)[-1, 0], mode="forward")(
            1.0
        )
    assert slope == pytest.approx(math.exp(-0.4 * 0.563), rel=1e-3)
