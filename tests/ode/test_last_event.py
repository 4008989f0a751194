"""Steady states behind events, against closed forms and SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import numbad as nd
from numbad.errors import ArgumentError, ConvergenceError, IntegrationError, SingularError


def exchange(t, y, k, r, *more):
    """Two forms of a protein, whose total nothing but events changes."""
    flow = k * y[0] - r * y[1]
    return -flow, flow


made_more = nd.ode.event(
    lambda t, y, k, r, low, more, when, share: y[0] - low,
    direction=-1,
    change=lambda t, y, k, r, low, more, when, share: (y[0] + more * y[1], y[1]),
)
taken = nd.ode.at_times(
    lambda k, r, low, more, when, share: when,
    change=lambda t, y, i, k, r, low, more, when, share: ((1.0 - share) * y[0], y[1]),
)
exchanging = nd.ode.solver(
    exchange, method="Rodas5P", events=(made_more, taken), rtol=1e-11, atol=1e-12
)


def left(p):
    return nd.ode.steady_state(exchanging, (p[0], p[1]), (p[2], p[3], p[4], p[5], p[6], p[7]))[0]


def left_exactly(p):
    """The same in closed form, for complex numbers too."""
    a, b, k, r, low, more, when, share = p
    total, rest = a + b, r * (a + b) / (k + r)
    crossed = np.log((a - rest) / (low - rest)) / (k + r)
    a, total = low + more * (total - low), total + more * (total - low)
    rest = r * total / (k + r)
    a = rest + (a - rest) * np.exp(-(k + r) * (when - crossed))
    return r * (total - share * a) / (k + r)


def exact_gradient(p):
    return np.array([left_exactly(p + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(p))])


def point(when):
    """At t = 20 the state already looks steady."""
    return np.array([2.0, 1.0, 1.0, 0.5, 1.5, 2.0, when, 0.1])


@pytest.mark.dear
@pytest.mark.deep(but=["reverse-2.0", "reverse-300.0"])
@pytest.mark.parametrize("when", [2.0, 300.0])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_total_that_events_change(mode, when):
    """By initial values, rates, the threshold, what is added there, a time known beforehand, and a share."""
    p = point(when)
    value, slope = nd.value_and_grad(left, mode=mode)(p)
    assert value == pytest.approx(left_exactly(p), rel=1e-9)
    np.testing.assert_allclose(slope, exact_gradient(p), rtol=1e-7, atol=1e-10)


@pytest.mark.deep
def test_second_derivatives():
    p, steps = point(2.0), 1e-5 * np.eye(8)
    expected = [(exact_gradient(p + h) - exact_gradient(p - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(nd.hessian(left)(p), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.deep
def test_a_nonlinear_system_against_scipy():
    """Partners bind, and one is added where the complex reaches a level; slopes by differences."""

    def binding(t, y, on, off, *more):
        rate = on * y[0] * y[1] - off * y[2]
        return -rate, -rate, rate

    added = nd.ode.event(
        lambda t, y, on, off, level, dose: y[2] - level,
        direction=1,
        change=lambda t, y, on, off, level, dose: (y[0] * (1.0 + dose), y[1], y[2]),
    )
    solve = nd.ode.solver(binding, method="Rodas5P", events=added, rtol=1e-11, atol=1e-12)

    def bound(p):
        return nd.ode.steady_state(solve, (p[0], p[1], 0.0), (p[2], p[3], p[4], p[5]))[2]

    def reference(p):
        a, b, on, off, level, dose = p

        def crossing(t, y, *args):
            return y[2] - level

        crossing.terminal, crossing.direction = True, 1
        options = dict(method="LSODA", rtol=1e-12, atol=1e-13, args=(on, off))
        first = solve_ivp(binding, (0.0, 50.0), [a, b, 0.0], events=crossing, **options)
        y = first.y_events[0][0] * [1.0 + dose, 1.0, 1.0]
        return solve_ivp(binding, (0.0, 50.0), y, **options).y[2, -1]

    p = np.array([2.0, 3.0, 1.0, 2.0, 0.7, 0.5])
    value, slope = nd.value_and_grad(bound)(p)
    assert value == pytest.approx(reference(p), rel=1e-9)
    steps = 1e-4 * np.eye(len(p))
    expected = [(reference(p + h) - reference(p - h)) / 2e-4 for h in steps]
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


def relaxing(t, y, rest, threshold, back, ramp, blow):
    return rest - y + blow * y * y


reset = nd.ode.event(
    lambda t, y, rest, threshold, back, ramp, blow: y - threshold,
    direction=1,
    change=lambda t, y, rest, threshold, back, ramp, blow: back,
)
timed = nd.ode.event(lambda t, y, rest, threshold, back, ramp, blow: ramp * t - 5.0)
resetting = nd.ode.solver(relaxing, events=(reset, timed))


@pytest.mark.dear
@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((2.0, 3.0, 0.0, 0.0, 0.0), 2.0),  # nothing happens
        ((2.0, 1.0, 1.5, 0.0, 0.0), 2.0),
        ((2.0, 1.0, -3.0, 0.0, 0.0), (ConvergenceError, "1000 times, and go on doing so")),
        ((2.0, 2.0, 1.0, 0.0, 0.0), (SingularError, "condition <lambda>.* is zero at the steady")),
        ((2.0, 3.0, 0.0, 1.0, 0.0), (ArgumentError, "depends on the time t.*nd.ode.at_times")),
        ((2.0, -1.0, 0.0, 0.0, 1.0), (IntegrationError, "t = ")),
    ],
)
def test_what_is_reached_or_refused(args, told):
    """Events that end, that go on for ever, whose condition is zero at rest; and a state that blows up."""
    if isinstance(told, float):
        np.testing.assert_allclose(nd.ode.steady_state(resetting, 0.0, args), told, rtol=1e-13)
        return
    error, message = told
    with pytest.raises(error, match=message):
        nd.ode.steady_state(resetting, 0.0, args)


def decay(t, y):
    return (-y[0],)


@pytest.mark.parametrize(
    ("options", "own", "message"),
    [
        (dict(events=nd.ode.at_times(1.0, terminal=True)), {}, "terminal event"),
        (dict(method="Rodas5P", mass_matrix=[[1.0]]), {}, "mass_matrix"),
        (dict(method="RK4", first_step=0.1), {}, "steps of one size"),
        (dict(), dict(method="BDF"), "are those of the solver"),
        (dict(), dict(max_steps=10), "are those of the solver"),
    ],
)
def test_solvers_that_are_refused(options, own, message):
    with pytest.raises(ArgumentError, match=message):
        nd.ode.steady_state(nd.ode.solver(decay, **options), (1.0,), **own)


@pytest.mark.deep
def test_a_switch_at_a_known_time_in_an_array():
    """A feed that changes long after the state looks steady, which nothing of the state remembers."""

    def tank(t, y, dy, feed, loss, when):
        dy[0] = (feed if t < when else 2.0 * feed) - loss * y[0]
        dy[1] = y[0] - y[1]

    solve = nd.ode.solver(
        tank, method="BDF", inplace=True, tstops=lambda feed, loss, when: when, atol=[1e-9, 1e-8]
    )

    def level(p):
        return nd.ode.steady_state(solve, np.zeros(2), (p[0], p[1], p[2]))[1]

    p = np.array([3.0, 0.5, 1000.0])
    value, slope = nd.value_and_grad(level)(p)
    assert value == pytest.approx(2.0 * 3.0 / 0.5, rel=1e-13)
    np.testing.assert_allclose(slope, [4.0, -24.0, 0.0], rtol=1e-12)


@pytest.mark.deep
@pytest.mark.parametrize("form", [lambda a, b: (a, (b,)), lambda a, b: np.array([[a, b]])])
def test_states_of_other_forms(form):
    """The exchange, with its parts in tuples and in a matrix."""
    nested = isinstance(form(1.0, 1.0), tuple)
    if nested:

        def flows(t, y, k):
            flow = k * y[0] - y[1][0]
            return -flow, (flow,)

        def doubled(t, y, i, k):
            return 2.0 * y[0], y[1]
    else:

        def flows(t, y, k):
            flow = k * y[0, 0] - y[0, 1]
            return np.array([[-flow, flow]])

        def doubled(t, y, i, k):
            return np.array([[2.0 * y[0, 0], y[0, 1]]])

    events = nd.ode.at_times(1.0, change=doubled)
    solve = nd.ode.solver(flows, method="Rodas5P", events=events, rtol=1e-10)
    found = nd.ode.steady_state(solve, form(2.0, 1.0), (3.0,))
    before = 0.75 + (2.0 - 0.75) * np.exp(-4.0)  # the first form at t = 1
    np.testing.assert_allclose(np.ravel(found)[0], (3.0 + before) / 4.0, rtol=1e-8)
