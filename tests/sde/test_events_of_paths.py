"""Events of paths: times and states in closed form, first passages, derivatives, what is refused."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(19)


@njit
def _falling(t, y, height, noise):
    return y[1], -10.0


@njit
def _shaken(t, y, height, noise):
    return 0.0, noise


_BOUNCE = nd.ode.event(
    lambda t, y, height, noise: y[0],
    direction=-1,
    change=lambda t, y, height, noise: (0.0, -0.9 * y[1]),
)
_BALL = nd.sde.solver(_falling, _shaken, noise="additive", dt=0.01, events=_BOUNCE)


@njit
def _height(height, noise):
    return _BALL((height, 0.0), (0.0, 1.5), (height, noise), KEY)[-1, 0]


@pytest.mark.deep
def test_a_ball_that_bounces():
    """Exactly 3.25, by the height 0.05 (numbad.ode.event); the path has noise in velocities alone."""
    assert _height(5.0, 0.0) == pytest.approx(3.25, abs=0.05)
    at = 5.0, 0.4
    forward, reverse = (nd.grad(_height, (0, 1), mode=m)(*at) for m in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-10)
    h = 1e-6
    found = [(_height(*(at + h * d)) - _height(*(at - h * d))) / (2.0 * h) for d in np.eye(2)]
    np.testing.assert_allclose(forward, found, rtol=1e-6)


def _falls(method):
    """The time that a ball takes to the floor, where it ends; by its height and the noise."""
    floor = nd.ode.event(lambda t, y, noise: y[0], direction=-1, terminal=True)
    solve = nd.sde.solver(
        lambda t, y, noise: (y[1], -10.0, 1.0),
        lambda t, y, noise: (0.0, noise, 0.0),
        noise="additive",
        method=method,
        dt=0.013,
        events=floor,
    )
    return njit(lambda height, noise: solve((height, 0.0, 0.0), (0.0, 5.0), (noise,), KEY)[-1, 2])


@pytest.mark.dear
def test_times_of_events_bend():
    """t = sqrt(height / 5) without noise."""
    fall = _falls("SRA1")
    second = nd.derivative(nd.derivative(lambda height: fall(height, 0.0)))
    assert fall(5.0, 0.0) == pytest.approx(1.0, rel=1e-14)
    assert second(5.0) == pytest.approx(-0.01, rel=1e-12)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["SRA1", "ShARK", "Heun", "STrapezoid"])
def test_second_derivatives_of_a_fall(method):
    fall = _falls(method)
    at, h = np.array([5.0, 0.3]), 1e-5
    gradient = nd.grad(fall, (0, 1), mode="reverse")
    np.testing.assert_allclose(gradient(*at), nd.grad(fall, (0, 1))(*at), rtol=1e-12)
    found = [
        (np.array(gradient(*(at + h * d))) - gradient(*(at - h * d))) / (2.0 * h) for d in np.eye(2)
    ]
    np.testing.assert_allclose(nd.hessian(fall, (0, 1))(*at), found, rtol=1e-6, atol=1e-8)


@pytest.mark.deep
def test_what_is_refused_of_times_of_events():
    fall = _falls("SRA1")
    third = nd.derivative(nd.derivative(nd.derivative(lambda height: fall(height, 0.0))))
    with pytest.raises(nd.UnsupportedError, match="third derivatives of the time of an event"):
        third(5.0)
    line = _falls("EulerMaruyama")
    for mode in ("forward", "reverse"):
        gradient = nd.grad(line, (0, 1), mode=mode)
        assert gradient(5.0, 0.0)[0] == pytest.approx(0.1, rel=0.02)
        with pytest.raises(nd.UnsupportedError, match="a step of this method is a line"):
            nd.derivative(lambda height, slope=gradient: slope(height, 0.0)[0])(5.0)
        never = nd.derivative(lambda height, slope=gradient: slope(height, 0.0)[0])
        assert never(500.0) == 0.0  # the floor is not reached


@pytest.mark.deep
def test_functions_that_numba_would_inline():
    of = njit(inline="always")
    given = (1.0, 0.0), (0.0, 1.5), (1.0, 0.4), KEY
    bounce = nd.ode.event(
        of(lambda t, y, height, noise: y[0]),
        direction=-1,
        change=of(lambda t, y, height, noise: (0.0, -0.9 * y[1])),
    )
    functions = of(_falling.py_func), of(_shaken.py_func)
    solve = nd.sde.solver(*functions, noise="additive", dt=0.01, events=bounce)
    assert (solve(*given) == _BALL(*given)).all()


@njit
def _passage(level, key, paths):
    """How many Brownian paths pass a level before time 1, and the latest state of one that did."""
    hits, last = 0, 0.0
    for p in range(paths):
        end = _WALK(0.0, (0.0, 1.0), (level,), (key, p))[-1, 0]
        if end == level:
            hits += 1
            last = end
    return hits, last


_WALK = nd.sde.solver(
    lambda t, y, level: 0.0,
    lambda t, y, level: 1.0,
    noise="additive",
    dt=1.0 / 64.0,
    events=nd.ode.event(lambda t, y, level: y - level, terminal=True),
)


def test_first_passages_are_late_by_what_theory_says():
    """The level seems 0.5826 sqrt(dt) higher: Broadie, Glasserman & Kou, Math. Finance 7 (1997) 325-349."""
    paths, level = 10_000, 0.75
    hits, last = _passage(level, KEY, paths)
    seen = math.erfc((level + 0.5826 / 8.0) / math.sqrt(2.0))
    assert abs(hits / paths - seen) < 3.0 * math.sqrt(seen * (1.0 - seen) / paths)
    assert last == level


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_noisy_crossings_have_no_slope(mode):
    path = next(p for p in range(50) if _WALK(0.0, (0.0, 1.0), (0.5,), (KEY, p))[-1, 0] == 0.5)

    def end(level):
        return _WALK(0.0, (0.0, 1.0), (level,), (KEY, path))[-1, 0]

    with pytest.raises(nd.UnsupportedError, match="condition of an event has noise of its own"):
        nd.grad(end, mode=mode)(0.5)
    assert nd.grad(end, mode=mode)(50.0) == 0.0  # which no path meets


@pytest.mark.dear
def test_directions_changes_and_ends():
    """cos t = 0 upwards and downwards, counted in arrays, until a clock shows 15."""
    counted = [
        nd.ode.event(
            lambda t, y: y[0],
            direction=direction,
            change=lambda t, y, k=k: y + np.array([0.0, 1.0 if k == 0 else 0.0, float(k), 0.0]),
        )
        for k, direction in enumerate((1, -1))
    ]
    end = nd.ode.event(lambda t, y: y[3] - 15.03, terminal=True)
    solve = nd.sde.solver(
        lambda t, y: np.array([-math.sin(t), 0.0, 0.0, 1.0]),
        lambda t, y: np.zeros(4),
        noise="additive",
        method="SRA1",
        dt=0.1,
        events=(*counted, end),
    )
    ts = np.array([0.0, 3.0, 6.0, 9.0, 14.0, 20.0, 30.0])
    ys = solve(np.array([1.0, 0.0, 0.0, 0.0]), ts, (), KEY)
    np.testing.assert_array_equal(ys[:, 1], [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    np.testing.assert_array_equal(ys[:, 2], [0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(ys[:5, 0], np.cos(ts[:5]), atol=5e-3)
    np.testing.assert_array_equal(ys[5], ys[6])
    assert ys[-1, 3] == pytest.approx(15.03, rel=1e-13)
    assert ys[-1, 0] == pytest.approx(math.cos(15.03), abs=5e-3)


@pytest.mark.parametrize("method", ["EulerMaruyama", "SRA1"])
def test_an_event_without_a_change_leaves_the_path(method):
    given = {"noise": "additive", "method": method, "dt": 0.1}
    walk = nd.sde.solver(lambda t, y: 0.3, lambda t, y: 1.0, **given)
    seen = nd.sde.solver(
        lambda t, y: 0.3, lambda t, y: 1.0, **given, events=nd.ode.event(lambda t, y: y)
    )
    ts = np.linspace(0.0, 5.0, 11)
    ys = walk(0.1, ts, (), KEY)
    assert ys.min() < 0.0 < ys.max()
    np.testing.assert_allclose(seen(0.1, ts, (), KEY), ys, rtol=1e-12)


_BARRIER = nd.ode.event(lambda t, y, level: y[0] - level, terminal=True)
_TIMED = nd.sde.solver(
    lambda t, y, level: (0.0, 1.0),  # y[1] is a clock
    lambda t, y, level: (1.0, 0.0),
    noise="additive",
    dt=1.0 / 64.0,
    events=_BARRIER,
)


@pytest.mark.dear
def test_passage_times_of_an_ensemble():
    """The chance of a passage before 1, with the level 0.5826 sqrt(dt) higher, as above."""
    paths, level = 4000, 0.75
    given = _TIMED, (0.0, 0.0), (0.0, 0.5, 1.0), (level,), KEY
    alone = [_TIMED(*given[1:4], (KEY, p)) for p in range(20)]
    np.testing.assert_array_equal(nd.sde.ensemble(*given, 20), alone)
    found = nd.sde.ensemble(*given, paths, reduce=njit(lambda ys: (ys[-1, 1] < 1.0, ys[-1, 1])))
    seen = math.erfc((level + 0.5826 / 8.0) / math.sqrt(2.0))
    assert abs(found.mean[0] - seen) < 3.0 * math.sqrt(seen * (1.0 - seen) / paths)
    threads = nd.sde.ensemble(*given, paths, reduce=njit(lambda ys: ys[-1, 1]), executor=2)
    assert threads.mean == found.mean[1]


@njit
def _mean_height(height, noise, key):
    solve = _BALL
    return nd.sde.ensemble(
        solve, (height, 0.0), (0.0, 1.5), (height, noise), key, 30, reduce=_last
    ).mean


@njit
def _last(ys):
    return ys[-1, 0]


@pytest.mark.deep
def test_slopes_of_an_ensemble_see_that_its_events_move():
    forward, reverse = (
        nd.grad(_mean_height, (0, 1), mode=m)(5.0, 0.4, KEY) for m in ("forward", "reverse")
    )
    h = 1e-6
    found = [
        (_mean_height(5.0 + h * a, 0.4 + h * b, KEY) - _mean_height(5.0 - h * a, 0.4 - h * b, KEY))
        / (2.0 * h)
        for a, b in np.eye(2)
    ]
    np.testing.assert_allclose(forward, reverse, rtol=1e-10)
    np.testing.assert_allclose(forward, found, rtol=1e-6)


@pytest.mark.deep
def test_an_ensemble_with_noisy_crossings_has_no_slope():
    def mean(level):
        given = _TIMED, (0.0, 0.0), (0.0, 1.0), (level,), KEY, 50
        return nd.sde.ensemble(*given, reduce=_last).mean

    with pytest.raises(nd.UnsupportedError, match="condition of an event has noise of its own"):
        nd.grad(mean, mode="reverse")(0.5)


_EVENT = nd.ode.event(lambda t, y: y)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"method": "ReversibleHeun"}, "a step of method 'ReversibleHeun' cannot be divided"),
        ({"method": "RI1"}, "a step of method 'RI1' cannot be divided"),
        ({"adjoint": "stochastic"}, "'stochastic' does not go back through events"),
        ({"events": nd.ode.at_times(0.5)}, "at_times is for ODEs"),
    ],
)
def test_options(options, told):
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.solver(
            lambda t, y: 0.0, lambda t, y: 1.0, **{"dt": 0.1, "events": _EVENT, **options}
        )


def test_what_does_not_take_events():
    given = 0.0, (0.0, 1.0), (1.0,), KEY
    with pytest.raises(nd.ArgumentError, match="multilevel does not take events"):
        nd.sde.multilevel(_WALK, *given, reduce=lambda ys: ys[-1, 0], tolerance=0.1)
    with pytest.raises(nd.ArgumentError, match="antithetic=True is for paths without events"):
        nd.sde.ensemble(_WALK, *given, 10, antithetic=True)
    solve = nd.sde.solver(
        lambda t, y: 0.0, lambda t, y: 1.0, dt=0.1, events=nd.ode.event(lambda t, y: (y, y))
    )
    with pytest.raises(nd.ModelError, match="condition of an event must return a number"):
        solve(0.0, (0.0, 1.0), (), KEY)
