"""Events: when they happen, what they change, and the derivatives by all that moves them.

The oracles are closed forms.
"""

import math
from collections import namedtuple

import numba
import numpy as np
import pytest

import numbad as nd

close = dict(rtol=2e-8, atol=1e-8)
tight = dict(rtol=1e-10, atol=1e-12)


def falling(t, y, gravity):
    return y[1], -gravity


def floor(t, y, gravity):
    return y[0]


def bounced(t, y, gravity):
    return y[0], -0.9 * y[1]


@pytest.fixture(scope="module")
def ball():
    """A ball that keeps nine tenths of its speed where it meets the floor; states are (height, speed)."""
    bounce = nd.ode.event(floor, direction=-1, change=bounced)
    return nd.ode.solver(falling, events=bounce, **tight)


@pytest.mark.dear
def test_functions_that_numba_would_inline(ball):
    of = numba.njit(inline="always", error_model="numpy")
    bounce = nd.ode.event(of(floor), direction=-1, change=of(bounced))
    inlined = nd.ode.solver(of(falling), events=bounce, **tight)
    given = (5.0, 0.0), (0.0, 0.5, 2.5), 10.0
    assert (inlined(*given) == ball(*given)).all()


def height_after_bounce(start, gravity, t):
    first = math.sqrt(2.0 * start / gravity)
    return 0.9 * gravity * first * (t - first) - 0.5 * gravity * (t - first) ** 2


def by_start(start, gravity, t):
    first = math.sqrt(2.0 * start / gravity)
    by_first = 0.9 * gravity * (t - 2.0 * first) + gravity * (t - first)
    return by_first * first / (2.0 * start)


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_bouncing_ball_and_its_derivative_by_the_start(ball, mode):
    def height(start):
        return ball((start, 0.0), (0.0, 0.3, 1.4), 9.0)[-1, 0]

    value, slope = nd.value_and_grad(height, mode=mode)(4.0)
    np.testing.assert_allclose(value, height_after_bounce(4.0, 9.0, 1.4), **close)
    np.testing.assert_allclose(slope, by_start(4.0, 9.0, 1.4), **close)


@pytest.mark.dear
@pytest.mark.dear
def test_bounces_follow_each_other(ball):
    """Each flight takes nine tenths of the time of the one before."""
    first = math.sqrt(2.0 * 5.0 / 10.0)
    third = first * (1.0 + 2.0 * 0.9 + 2.0 * 0.9**2)
    top = third + first * 0.9**3
    got = ball((5.0, 0.0), (0.0, third - 1e-6, top), 10.0)
    np.testing.assert_allclose(got[1:, 0], [1e-6 * 10.0 * 0.81 * first, 5.0 * 0.9**6], **close)


@pytest.mark.dear
def test_infinitely_many_bounces_end_in_an_error(ball):
    """After 19 times that of the first fall the ball lies still."""
    with pytest.raises(nd.IntegrationError, match="follow each other without end.* at t = 18.99"):
        ball((5.0, 0.0), (0.0, 25.0), 10.0)


@pytest.mark.deep
def test_the_end_of_bounces_is_not_passed_by_rounding():
    """Each takes half of the time: the last ones are less than the spacing of numbers after 50 of them."""
    bounce = nd.ode.event(lambda t, y: y[0], change=lambda t, y: (0.0, -0.5 * y[1]), direction=-1)
    solve = nd.ode.solver(lambda t, y: (y[1], -10.0), events=bounce, max_steps=2000)
    with pytest.raises(
        nd.IntegrationError, match="follow each other without end.* at t = 1.341640"
    ):
        solve((1.0, 0.0), (0.0, 2.0))


@pytest.fixture(scope="module")
def body():
    """A first-order elimination with doses."""
    doses = nd.ode.at_times(
        lambda rate, times, amounts: times,
        change=lambda t, y, k, rate, times, amounts: y + amounts[k],
    )
    return nd.ode.solver(lambda t, y, rate, times, amounts: -rate * y, events=doses, **tight)


def amounts_left(t, rate, times, amounts):
    return sum(
        a * math.exp(-rate * (t - at)) for at, a in zip(times, amounts, strict=True) if at < t
    )


@pytest.mark.dear
def test_doses_at_the_start_at_an_output_together_and_out_of_order(body):
    times, amounts = (3.0, 0.0, 1.0, 1.0, 9.0), (1.0, 2.0, 4.0, 8.0, 16.0)
    outputs = np.array([0.0, 0.5, 1.0, 1.0000001, 3.0, 4.0])
    got = body(0.0, outputs, (0.3, times, amounts))[:, 0]
    wanted = [amounts_left(t, 0.3, times, amounts) for t in outputs]
    np.testing.assert_allclose(got, wanted, **close)


both_modes = pytest.mark.parametrize(
    "mode", [pytest.param("forward", marks=pytest.mark.deep), "reverse"]
)


@pytest.mark.dear
@both_modes
def test_derivatives_by_times_and_amounts_of_doses(body, mode):
    def left(rate, times, amounts):
        return body(1.0, (0.0, 2.0, 5.0), (rate, times, amounts))[-1, 0]

    rate, times, amounts = 0.4, np.array([1.0, 2.5, 7.0]), np.array([3.0, 2.0, 1.0])
    got = nd.grad(left, argnums=(0, 1, 2), mode=mode)(rate, times, amounts)
    kept = np.exp(-rate * (5.0 - times)) * (times < 5.0)
    by_rate = -5.0 * math.exp(-2.0) - ((5.0 - times) * kept) @ amounts
    for found, wanted in zip(got, (by_rate, rate * kept * amounts, kept), strict=True):
        np.testing.assert_allclose(found, wanted, **close)


@pytest.mark.deep
def test_second_derivative_by_the_time_of_a_dose(body):
    def left(at):
        return body(1.0, (0.0, 5.0), (0.4, (1.0, at), (3.0, 2.0)))[-1, 0]

    found = nd.derivative(nd.derivative(left))(2.5)
    np.testing.assert_allclose(found, 0.4**2 * 2.0 * math.exp(-0.4 * 2.5), **close)


@pytest.mark.dear
def test_a_declared_switch_in_time_is_exact_and_says_nothing():
    """dy/dt = 1 after t1: y(3) = 3 - t1. Warnings are errors here."""
    solve = nd.ode.solver(lambda t, y, t1: 1.0 if t > t1 else 0.0, tstops=lambda t1: t1)

    def end(t1):
        return solve(0.0, (0.0, 3.0), t1)[-1, 0]

    value, slope = nd.value_and_grad(end)(1.1)
    assert abs(value - 1.9) < 1e-14
    assert slope == pytest.approx(-1.0, abs=1e-14)


@pytest.mark.deep
def test_a_declared_switch_in_the_state():
    """dy/dt = 1 below c and y above it: y(3) = c exp(3 - c) from y(0) = 0."""
    crossing = nd.ode.event(lambda t, y, c: y[0] - c)
    solve = nd.ode.solver(
        lambda t, y, c: (y[0] if y[0] > c else 1.0,), events=[crossing], rtol=1e-11, atol=1e-12
    )

    def end(c):
        return solve((0.0,), (0.0, 3.0), (c,))[-1, 0]

    np.testing.assert_allclose(end(1.2), 1.2 * math.exp(1.8), rtol=1e-7)
    np.testing.assert_allclose(nd.derivative(end)(1.2), (1.0 - 1.2) * math.exp(1.8), rtol=1e-6)


State = namedtuple("State", "height speed")


@pytest.fixture(scope="module")
def fall():
    """A stiff method, one argument that is no tuple, a namedtuple as state, an end, a mark on the way."""
    floor = nd.ode.event(lambda t, y, gravity: y.height, direction=-1, terminal=True)
    half = nd.ode.event(lambda t, y, gravity: y.height - 2.0)
    return nd.ode.solver(
        lambda t, y, gravity: State(y.speed, -gravity),
        method="Rodas5P",
        events=[floor, half],
        keep_events=3,
        **tight,
    )


@pytest.mark.dear
def test_a_terminal_event_holds_the_state_and_tells_its_time(fall):
    ys, times, states, numbers = fall(State(4.0, 0.0), np.linspace(0.0, 3.0, 7), 8.0)
    np.testing.assert_allclose(times, [math.sqrt(0.5), 1.0, math.nan], **close)
    np.testing.assert_allclose(states[:2], [[2.0, -8.0 * math.sqrt(0.5)], [0.0, -8.0]], **close)
    assert numbers.tolist() == [1, 0, -1]
    assert np.isnan(states[2]).all()
    np.testing.assert_allclose(ys[3:, 1], -8.0, **close)


@pytest.mark.dear
@pytest.mark.deep(but=["forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_time_of_an_event_against_its_closed_form(fall, mode):
    def impact(height, gravity):
        return fall(State(height, 0.0), (0.0, 3.0), gravity)[1][1]

    found = nd.grad(impact, argnums=(0, 1), mode=mode)(4.0, 8.0)
    np.testing.assert_allclose(found, [1.0 / 8.0, -1.0 / 16.0], **close)


@pytest.mark.deep
def test_the_second_derivative_of_the_time_of_an_event(fall):
    def impact(height, gravity):
        return fall(State(height, 0.0), (0.0, 3.0), gravity)[1][1]

    _, (found,) = (
        nd.hvp(impact, argnums=(0,))((4.0, 8.0), (1.0,)),
        nd.hvp(impact, argnums=(0,))((4.0, 8.0), (1.0,)),
    )
    np.testing.assert_allclose(found, -0.25 * math.sqrt(0.25) * 4.0**-1.5, **close)


@pytest.mark.deep(but=["-1-1.0"])
@pytest.mark.parametrize(("direction", "way"), [(-1, 1.0), (0, 1.0), (0, -1.0)])
def test_a_change_that_leads_beyond_the_condition_and_back_towards_it(direction, way):
    """From 1 at speed -1 to -0.3 at a speed of its own: zero again after 0.3 / speed, from the other side."""

    def set_back(t, y, speed):
        return -0.3, speed

    there = nd.ode.event(lambda t, y, speed: y[0], direction=direction, change=set_back)
    solve = nd.ode.solver(lambda t, y, speed: (y[1], 0.0), events=there, keep_events=3, **tight)
    ys, times, *_ = solve((1.0, -way), (0.0, 2.0 * way, 5.0 * way), (0.1 * way,))
    again = 4.0 if direction == 0 else math.nan
    np.testing.assert_allclose(way * times, [1.0, again, math.nan], **close)
    np.testing.assert_allclose(ys[1:, 0], [-0.2, 0.1 - 0.3 * (direction == 0)], **close)
    last = nd.derivative(lambda speed: solve((1.0, -way), (0.0, 5.0 * way), (speed,))[0][-1, 0])
    assert last(0.1 * way) == pytest.approx(4.0 * way, rel=1e-7)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_an_event_of_a_complex_state(method):
    """Of exp(i k t) twice the value where its real part is a half: at cos(k t) = 1/2, then at 1/4."""
    doubled = nd.ode.event(lambda t, y, k: y[0].real - 0.5, change=lambda t, y, k: (2.0 * y[0],))
    options = {"method": method, "events": doubled, "rtol": 1e-9, "atol": 1e-11}
    solve = nd.ode.solver(lambda t, y, k: (1j * k * y[0],), **options)

    def end(k):
        return solve((1.0 + 0.0j,), (0.0, 1.5), (k,))[-1, 0].imag

    assert end(0.9) == pytest.approx(4.0 * math.sin(1.35), rel=1e-7)
    for mode in ("forward", "reverse"):
        slope = nd.grad(end, mode=mode)(0.9)
        assert slope == pytest.approx(6.0 * math.cos(1.35), rel=1e-6)


def test_bounces_backwards_in_time_are_those_of_a_ball_forwards():
    """The condition is for crossings in both directions; the ball falls as the time goes down."""
    bounce = nd.ode.event(floor, change=bounced)
    solve = nd.ode.solver(falling, events=bounce, **tight)
    forwards = solve((1.0, 0.0), (0.0, 1.0, 8.5), (9.81,))
    backwards = solve((1.0, 0.0), (8.5, 7.5, 0.0), (9.81,))
    np.testing.assert_allclose(backwards, forwards * [1.0, -1.0], rtol=1e-6, atol=1e-8)
    impact = math.sqrt(2.0 / 9.81)
    since, speed = 1.0 - impact, 0.9 * 9.81 * impact
    assert backwards[1, 0] == pytest.approx(since * (speed - 0.5 * 9.81 * since), rel=1e-8)
    thrown = solve((0.0, -4.0), (2.0, 1.5), (9.81,))[1]  # from the floor
    np.testing.assert_allclose(thrown, [2.0 - 0.125 * 9.81, 0.5 * 9.81 - 4.0], **close)


@pytest.mark.deep
def test_backwards_in_time_in_place_with_an_array():
    """dy/dt = y from t = 2 down to 0, halved at t = 1."""

    def grow(t, y, dy):
        dy[0] = y[0]

    halved = nd.ode.at_times(1.0, change=lambda t, y, k: 0.5 * y)
    solve = nd.ode.solver(grow, inplace=True, events=halved, method="DOP853", **tight)
    got = solve(np.array([1.0]), (2.0, 1.5, 0.0))[:, 0]
    np.testing.assert_allclose(got, [1.0, math.exp(-0.5), 0.5 * math.exp(-2.0)], **close)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nd.ode.event(1.0), "condition must be a Python function"),
        (lambda: nd.ode.event(abs_speed, direction=2), "direction must be 1, -1 or 0"),
        (lambda: nd.ode.at_times((1.0, math.nan)), "finite floats"),
        (lambda: nd.ode.at_times("soon"), "finite floats"),
        (lambda: nd.ode.solver(still, events=abs_speed), "nd.ode.event"),
        (lambda: nd.ode.solver(still, events=nd.ode.event(abs_speed), keep_events=-1), "count"),
        (lambda: nd.ode.solver(still, keep_events=1), "keeps events, of which there are none"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(nd.NumbadError, match=message):
        make()


def abs_speed(t, y):
    return abs(y[1])


@pytest.mark.deep
def test_events_of_a_complex_state_let_other_threads_run():
    turned = nd.ode.event(lambda t, y: y[0].real, terminal=True)
    solve = nd.ode.solver(lambda t, y: (1j * y[0],), events=turned, keep_events=2, **tight)
    _, times, states, _ = solve((1.0 + 0.0j,), (0.0, 4.0))
    np.testing.assert_allclose(times, [math.pi / 2.0, math.nan], **close)
    np.testing.assert_allclose(states[0], [1j], **close)
    assert solve.targetoptions["nogil"]


def still(t, y):
    return 0.0 * y[0], 1.0 + 0.0 * y[1]


def test_a_time_that_is_nan_is_told():
    doses = nd.ode.at_times(lambda times: times, change=lambda t, y, k, times: y + 1.0)
    solve = nd.ode.solver(lambda t, y, times: -y, events=doses)
    assert solve(0.0, (0.0, 1.0), (np.array([0.5, np.inf]),))[-1, 0] == pytest.approx(
        np.exp(-0.5), rel=1e-5
    )
    with pytest.raises(nd.ArgumentError, match="one of the times is NaN"):
        solve(0.0, (0.0, 1.0), (np.array([0.5, np.nan]),))
