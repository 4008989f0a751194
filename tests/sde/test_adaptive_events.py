"""Events with adaptive steps: first passages in closed form, changes, derivatives, what is refused."""

import math

import numpy as np
import pytest
from numba import njit
from scipy.integrate import quad
from scipy.special import ndtr

import numbad as nd

KEY = nd.random.key(19)

# -- first passages ------------------------------------------------------------------------------------

_MEETS = nd.ode.event(lambda t, y, level, mu, vol: y[0] - level, terminal=True)
_WALK = nd.sde.solver(
    lambda t, y, level, mu, vol: (mu, 1.0),  # y[1] is a clock
    lambda t, y, level, mu, vol: (vol, 0.0),
    noise="additive",
    method="SRA1",
    rtol=1e-3,
    atol=1e-3,
    events=_MEETS,
)


def _chance(time, level, mu, vol):
    """Of a first passage of mu t + vol W(t) before a time: Borodin & Salminen, 2.2.0.2."""
    spread = vol * math.sqrt(time)
    back = math.exp(2.0 * mu * level / vol**2) * ndtr((-level - mu * time) / spread)
    return ndtr((mu * time - level) / spread) + back


@njit
def _passage(ys):
    return ys[-1, 1] < 1.0 - 1e-9, ys[-1, 1]


@pytest.mark.dear
@pytest.mark.parametrize("args", [(0.75, 0.0, 1.0), (0.5, 0.6, 0.2)])
def test_first_passages(args):
    """Without the bias of steps: even steps of a 64th see 0.40 of the first, in place of 0.453."""
    paths = 10_000
    found = nd.sde.ensemble(
        _WALK, (0.0, 0.0), (0.0, 1.0), args, KEY, paths, reduce=_passage, executor=2
    )
    chance = _chance(1.0, *args)
    time = 1.0 - quad(_chance, 0.0, 1.0, args=args)[0]  # the mean of a passage's time, at most 1
    assert abs(found.mean[0] - chance) < 3.0 * math.sqrt(chance * (1.0 - chance) / paths)
    assert abs(found.mean[1] - time) < 3.0 * found.error[1]
    steps = [nd.sde.taken_steps(_WALK, (0.0, 0.0), (0.0, 1.0), args, (KEY, p)) for p in range(50)]
    assert np.mean([len(s.t) for s in steps]) < 100


@pytest.mark.dear
def test_paths_stop_at_the_level():
    given = (0.0, 0.0), (0.0, 0.3, 0.6, 1.0), (0.5, 0.0, 1.0)
    every = nd.sde.ensemble(_WALK, *given, KEY, 40)
    for p, path in enumerate(every):
        np.testing.assert_array_equal(_WALK(*given, (KEY, p)), path)
        late = path[:, 1] < np.array(given[1]) - 1e-9
        np.testing.assert_allclose(path[late, 0], 0.5, rtol=1e-12)
        reached = nd.sde.taken_steps(_WALK, *given, (KEY, p)).reached
        assert abs(reached - path[-1, 1]) < 2e-3
    assert 0.2 < np.mean(every[:, -1, 1] < 0.999) < 0.8


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_noisy_crossings_have_no_slope(mode):
    def end(level):
        return _WALK((0.0, 0.0), (0.0, 1.0), (level, 4.0, 1.0), KEY)[-1, 1]

    with pytest.raises(nd.UnsupportedError, match="condition of an event has noise of its own"):
        nd.grad(end, mode=mode)(0.5)
    assert nd.grad(end, mode=mode)(50.0) == 0.0  # which no path meets


# -- changes of the state ------------------------------------------------------------------------------

_HALVED = nd.ode.event(
    lambda t, y, mu, vol: y - 2.0, direction=1, change=lambda t, y, mu, vol: 0.5 * y
)


@pytest.mark.dear
@pytest.mark.parametrize(
    "method", [pytest.param("SRIW1", marks=pytest.mark.deep), "RKMil"]
)  # whole steps, halves
def test_a_population_halved_whenever_it_is_two(method):
    """Its logarithm falls by log 2 whenever the greatest so far passes another multiple of that."""
    solve = nd.sde.solver(
        lambda t, y, mu, vol: mu * y,
        lambda t, y, mu, vol: vol * y,
        method=method,
        rtol=1e-4,
        atol=1e-4,
        events=_HALVED,
    )
    ts, seen = np.linspace(0.0, 4.0, 2**13 + 1), 0
    for path in range(6):
        w, _ = nd.sde.brownian_increments((KEY, path), ts)
        logs = (0.5 - 0.5 * 0.09) * ts[1:] + 0.3 * np.cumsum(w)
        count = logs.max() / math.log(2.0)
        if abs(count - round(count)) < 0.03:  # too near to call
            continue
        seen += math.floor(count)
        end = solve(1.0, (0.0, 1.0, 4.0), (0.5, 0.3), (KEY, path))[-1, 0]
        assert end == pytest.approx(math.exp(logs[-1]) / 2.0 ** math.floor(count), rel=1e-2)
    assert seen > 5


# -- derivatives ---------------------------------------------------------------------------------------

_FLOOR = nd.ode.event(lambda t, y, noise: y[0], direction=-1, terminal=True)
_DROPPED = {"noise": "additive", "method": "SRA1", "events": _FLOOR}
_FALLING = (
    njit(lambda t, y, noise: (y[1], -10.0, 1.0)),
    njit(lambda t, y, noise: (0.0, noise, 0.0)),
)
_BALL = nd.sde.solver(*_FALLING, rtol=1e-4, atol=1e-4, **_DROPPED)


@njit
def _time_of_fall(height, noise, path):
    return _BALL((height, 0.0, 0.0), (0.0, 5.0), (noise,), (KEY, path))[-1, 2]


@pytest.mark.deep
def test_slopes_of_a_time_of_fall():
    """Exactly sqrt(height / 5) without noise; differences on the same path with it."""
    forward, reverse = (nd.grad(_time_of_fall, (0, 1), mode=m) for m in ("forward", "reverse"))
    assert _time_of_fall(5.0, 0.0, 0) == pytest.approx(1.0, abs=1e-6)
    assert forward(5.0, 0.0, 0)[0] == pytest.approx(0.1, abs=1e-4)
    at, h = (5.0, 1.5), 1e-3
    np.testing.assert_allclose(forward(*at, 3), reverse(*at, 3), rtol=1e-9)
    found = [
        (_time_of_fall(*(at + h * d), 3) - _time_of_fall(*(at - h * d), 3)) / (2.0 * h)
        for d in np.eye(2)
    ]
    np.testing.assert_allclose(forward(*at, 3), found, rtol=2e-3)


@pytest.mark.deep
def test_even_steps_on_the_same_path_fall_as_long():
    fine, times = 2.0**-10, np.arange(2**11 + 1) * 2.0**-10
    even = nd.sde.solver(*_FALLING, dt=fine, **_DROPPED)
    w, areas = np.zeros((2**11, 3)), np.zeros((2**11, 3))
    w[:, 1], areas[:, 1] = nd.sde.brownian_increments((KEY, 3), times, channel=1)
    found = even((5.0, 0.0, 0.0), (0.0, 2.0), (1.5,), (w, areas))[-1, 2]
    assert abs(found - 1.0) > 0.003
    assert _time_of_fall(5.0, 1.5, 3) == pytest.approx(found, abs=1e-4)


_LAST = njit(lambda ys: ys[-1, 0])


@pytest.mark.deep
def test_slopes_of_a_ball_that_bounces():
    """Exactly 3.25, by the height 0.05 (numbad.ode.event)."""
    solve = nd.sde.solver(
        lambda t, y, noise: (y[1], -10.0),
        lambda t, y, noise: (0.0, noise),
        noise="additive",
        method="SOSRA",
        rtol=1e-4,
        events=nd.ode.event(
            lambda t, y, noise: y[0], direction=-1, change=lambda t, y, noise: (0.0, -0.9 * y[1])
        ),
    )

    def end(height, noise):
        return solve((height, 0.0), (0.0, 1.5), (noise,), KEY)[-1, 0]

    def mean(height, noise):
        given = solve, (height, 0.0), (0.0, 1.5), (noise,), KEY, 3
        return nd.sde.ensemble(*given, reduce=_LAST).mean

    assert end(5.0, 0.0) == pytest.approx(3.25, abs=1e-4)
    assert nd.derivative(end)(5.0, 0.0) == pytest.approx(0.05, abs=1e-4)
    forward, reverse = (nd.grad(mean, (0, 1), mode=m)(5.0, 0.1) for m in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-9)


# -- arrays, general noise -----------------------------------------------------------------------------


@pytest.mark.deep
def test_directions_changes_and_ends():
    """cos t = 0 upwards and downwards, counted in arrays, until a clock shows 15.03."""
    counted = [
        nd.ode.event(
            lambda t, y: y[0],
            direction=direction,
            change=lambda t, y, k=k: y + np.array([0.0, 1.0 if k == 0 else 0.0, float(k), 0.0]),
        )
        for k, direction in enumerate((1, -1))
    ]
    solve = nd.sde.solver(
        lambda t, y: np.array([-math.sin(t), 0.0, 0.0, 1.0]),
        lambda t, y: np.zeros(4),
        noise="additive",
        method="SRA1",
        rtol=1e-4,
        atol=1e-4,
        events=(*counted, nd.ode.event(lambda t, y: y[3] - 15.03, terminal=True)),
    )
    ts = np.array([0.0, 3.0, 6.0, 9.0, 14.0, 20.0, 30.0])
    ys = solve(np.array([1.0, 0.0, 0.0, 0.0]), ts, (), KEY)
    np.testing.assert_array_equal(ys[:, 1], [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    np.testing.assert_array_equal(ys[:, 2], [0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(ys[:5, 0], np.cos(ts[:5]), atol=1e-3)
    np.testing.assert_array_equal(ys[5], ys[6])
    assert ys[-1, 3] == pytest.approx(15.03, rel=1e-12)


@pytest.mark.deep
def test_general_noise_whose_rejected_ends_are_kept():
    """The greater of two Brownian motions, scaled, passes a level: the chance that not both stay below."""
    solve = nd.sde.solver(
        lambda t, y: (0.0, 0.0, 1.0),
        lambda t, y: ((0.6, 0.8), (0.8, -0.6), (0.0, 0.0)),  # independent
        noise="general",
        calculus="stratonovich",
        method="SPaRK",
        rtol=1e-3,
        atol=1e-3,
        events=nd.ode.event(lambda t, y: max(y[0], y[1]) - 0.75, terminal=True),
    )
    reduce = njit(lambda ys: ys[-1, 2] < 1.0 - 1e-9)
    paths, both = 4000, (1.0 - _chance(1.0, 0.75, 0.0, 1.0)) ** 2
    found = nd.sde.ensemble(solve, (0.0,) * 3, (0.0, 1.0), (), KEY, paths, reduce=reduce)
    assert abs(found.mean - (1.0 - both)) < 3.0 * math.sqrt(both * (1.0 - both) / paths)


# -- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dense_output": True}, "events= does not go with dense_output=True"),
        ({"jumps": nd.sde.jumps(1.0, lambda t, y, mark: y)}, "jumps= is for steps of one size"),
        ({"adjoint": "mixed"}, "adjoint='mixed' is for steps of one size"),
        ({"events": nd.ode.at_times(0.5)}, "at_times is for ODEs"),
    ],
)
def test_options(options, told):
    given = {"method": "SRIW1", "rtol": 1e-3, "events": nd.ode.event(lambda t, y: y)}
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.solver(lambda t, y: 0.0, lambda t, y: 1.0, **{**given, **options})


def test_what_does_not_take_events():
    given = (0.0, 0.0), (0.0, 1.0), (0.75, 0.0, 1.0), KEY
    with pytest.raises(nd.ArgumentError, match="multilevel does not take events"):
        nd.sde.multilevel(_WALK, *given, reduce=lambda ys: ys[-1, 0], tolerance=0.1)
    with pytest.raises(nd.ArgumentError, match="antithetic=True is for paths without events"):
        nd.sde.ensemble(_WALK, *given, 10, antithetic=True)


@pytest.mark.dear
def test_events_without_end_are_told():
    """A path that is put back to the level meets it again at once."""
    stuck = nd.sde.solver(
        lambda t, y: 0.0,
        lambda t, y: 1.0,
        noise="additive",
        method="SRA1",
        rtol=1e-3,
        max_steps=2000,
        events=nd.ode.event(lambda t, y: y - 0.5, change=lambda t, y: 0.5),
    )
    with pytest.raises(nd.IntegrationError, match="more than max_steps steps would be needed"):
        stuck(0.0, (0.0, 8.0), (), (KEY, 1))  # which meets it
