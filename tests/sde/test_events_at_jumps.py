"""Events beside jumps: which events a jump leads to, what it leaves out, laws of overshoots, derivatives.

Jumps of sizes that are known are counted by a solver without events, on the grid of the steps; what should
become of the state is computed from these counts.
"""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import numbad as nd

KEY = nd.random.key(23)
TOLD = "whether a jump leads to an event is decided by a comparison"
pytestmark = pytest.mark.filterwarnings(f"ignore:{TOLD}")
RATE, DT = 5.0, 0.25


@njit
def _counted(t, y, mark):
    return y + 1.0


_still = njit(lambda t, y: 0.0)
_COUNT = nd.sde.solver(_still, _still, noise="additive", dt=DT, jumps=nd.sde.jumps(RATE, _counted))


def _counts(paths, end):
    """How many jumps there are in each step, a row a path."""
    ts = np.arange(0.0, end + 0.5 * DT, DT)
    return np.diff(nd.sde.ensemble(_COUNT, 0.0, ts, (), KEY, paths)[:, :, 0], axis=1).astype(int)


def _nothing(t, y):
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


def _claimed_counted_flipped(t, y, mark):
    capital, paid, number, reached, sign, told = y
    return capital - 1.0, paid, number + 1.0, reached, -sign, told


def _paid_in(t, y):
    capital, paid, number, reached, sign, told = y
    return 0.0, paid - capital, number, reached, sign, told


def _told(change):
    return lambda t, y: (y[0], y[1], y[2], y[3], y[4], change(y[5]))


@pytest.mark.dear
def test_jumps_lead_to_events_by_their_directions():
    """States that jumps alone move: what they are after n jumps is known.

    Capital that claims of size 1 take below zero is paid in, to zero, time and again; a number is reached
    once, though it is met exactly; a sign tells each change of it, those upwards and those downwards, in the
    order of the events; all that one jump leads to happens, the end included.
    """
    events = (
        nd.ode.event(lambda t, y: y[2] - 8.5, terminal=True),
        nd.ode.event(lambda t, y: y[0], direction=-1, change=_paid_in),
        nd.ode.event(lambda t, y: y[2] - 5.0, change=lambda t, y: (*y[:3], y[3] + 1.0, y[4], y[5])),
        nd.ode.event(lambda t, y: y[4], change=_told(njit(lambda told: told + 1.0))),
        nd.ode.event(lambda t, y: y[4], direction=1, change=_told(njit(lambda told: 2.0 * told))),
        nd.ode.event(lambda t, y: y[4], direction=-1, change=_told(njit(lambda told: told - 3.0))),
    )
    jumps = nd.sde.jumps(RATE, _claimed_counted_flipped)
    solve = nd.sde.solver(_nothing, _nothing, noise="additive", dt=DT, jumps=jumps, events=events)
    counts = _counts(60, 1.5).sum(axis=1)
    assert counts.min() <= 4
    assert counts.max() > 9
    ends = nd.sde.ensemble(solve, (2.5, 0.0, 0.0, 0.0, -1.0, 0.0), (0.0, 0.5, 1.5), (), KEY, 60)[
        :, -1
    ]
    for n, found in zip(np.minimum(counts, 9), ends, strict=True):
        told = 0.0
        for k in range(n):
            told = 2.0 * (told + 1.0) if k % 2 == 0 else told + 1.0 - 3.0
        sign = -1.0 if n % 2 == 0 else 1.0
        paid = max(n - 2.5, 0.0), float(n), float(n >= 5)
        np.testing.assert_array_equal(found, (max(2.5 - n, 0.0), *paid, sign, told))


_FIRE = nd.ode.event(
    lambda t, y, slope, shot: y[0] - 1.0,
    direction=1,
    change=lambda t, y, slope, shot: (0.0, y[1] + 1.0, y[2]),
)
_STOP = nd.ode.event(lambda t, y, slope, shot: y[2] - 3.13, terminal=True)
_NEURON = nd.sde.solver(
    lambda t, y, slope, shot: (slope, 0.0, 1.0),
    lambda t, y, slope, shot: (0.0, 0.0, 0.0),
    noise="additive",
    dt=DT,
    jumps=nd.sde.jumps(RATE, lambda t, y, mark, slope, shot: (y[0] + shot, y[1], y[2])),
    events=(_FIRE, _STOP),
)


def _fired(counts, slope, shot):
    """A neuron's potential and number of spikes at time 3.13, whose jumps are known for each step."""
    v, spikes = 0.0, 0
    for k, number in enumerate(counts):
        size = min(DT, 3.13 - k * DT)
        v += slope * size
        if v >= 1.0:  # on the way: what is left of the step goes on from zero
            v, spikes = v - 1.0, spikes + 1
        for _ in range(number if size == DT else 0):  # the end comes before the jumps of its step
            v += shot
            if v >= 1.0:
                v, spikes = 0.0, spikes + 1
    return v, spikes, 3.13


def test_neurons_fire_on_the_way_and_by_shots():
    """An event before a jump, at a jump, and one that ends the path before the jumps of its step."""
    slope, shot, paths = 0.9, 0.35, 200
    given = _NEURON, (0.0, 0.0, 0.0), (0.0, 4.0), (slope, shot), KEY
    ends = nd.sde.ensemble(*given, paths)[:, -1]
    counts = _counts(paths, 3.25)
    assert counts[:, -1].max() > 0
    expected = [_fired(row, slope, shot) for row in counts]
    np.testing.assert_allclose(ends, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.dear
def test_paths_of_ensembles_are_those_of_single_solves():
    """Also where an output divides a step; in threads."""
    given, paths = (_NEURON, (0.0, 0.0, 0.0), (0.0, 1.1, 4.0), (0.9, 0.35), KEY), 300
    found = nd.sde.ensemble(*given, paths)
    alone = [_NEURON(*given[1:4], (KEY, p)) for p in range(paths)]
    np.testing.assert_array_equal(found, alone)
    spikes = njit(lambda ys: ys[-1, 1])
    one, two = (nd.sde.ensemble(*given, paths, reduce=spikes, executor=n) for n in (1, 2))
    assert one == two
    assert one.mean == found[:, -1, 1].mean()


@njit
def _claim(t, y, mark, premium, mean):
    return y[0] + mean * math.log(nd.random.uniform(mark, 0)), y[1], y[2]


_RUIN = nd.ode.event(lambda t, y, premium, mean: y[0], direction=-1, terminal=True)
_INSURER = nd.sde.solver(
    lambda t, y, premium, mean: (premium, 1.0, premium),
    lambda t, y, premium, mean: (0.0, 0.0, 0.0),
    noise="additive",
    dt=1.0 / 32.0,
    jumps=nd.sde.jumps(1.0, _claim),
    events=_RUIN,
)


@pytest.mark.dear
def test_ruin_of_an_insurer():
    """Cramer and Lundberg's model with exponential claims: the chance of ruin, and the law of the deficit.

    H. Gerber, E. Shiu, North American Actuarial Journal 2 (1998) 48-72: the deficit is exponential. A claim
    comes half a step late on average, as if the capital were higher by half of a step's premium. Of a million
    paths drawn claim by claim, 0.002 are ruined after time 40.
    """
    capital, premium, paths = 1.0, 1.5, 4000
    given = _INSURER, (capital, 0.0, 0.0), (0.0, 40.0), (premium, 1.0), KEY
    end = nd.sde.ensemble(*given, paths)[:, -1]
    ruined = end[:, 0] < 0.0
    seen = math.exp(-(capital + premium / 64.0) * (1.0 - 1.0 / premium)) / premium - 0.002
    error = math.sqrt(seen * (1.0 - seen) / paths)
    assert abs(ruined.mean() - seen) < 3.0 * error
    assert stats.kstest(-end[ruined, 0], "expon").pvalue > 0.001
    assert (end[ruined, 1] < 40.0).all()
    assert (end[~ruined, 1] > 40.0 - 1e-9).all()


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_of_a_deficit(mode):
    """capital + premium t - mean (sum of exponential numbers): the time stays."""

    @njit
    def deficit(capital, premium, mean, key):
        y = _INSURER((capital, 0.0, 0.0), (0.0, 40.0), (premium, mean), key)[-1]
        return y[0] + 10.0 * y[1]

    slopes = nd.grad(deficit, (0, 1, 2), mode=mode)
    ruined = 0
    for path in range(20):
        y, time, _ = _INSURER((1.0, 0.0, 0.0), (0.0, 40.0), (1.5, 1.0), (KEY, path))[-1]
        if y < 0.0:
            ruined += 1
            found = slopes(1.0, 1.5, 1.0, (KEY, path))
            np.testing.assert_allclose(found, (1.0, time, y - 1.0 - 1.5 * time), rtol=1e-10)
    assert ruined > 3


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_of_ensembles(mode):
    """Beside the sum over single paths, whose slopes have their tests."""
    given = (1.0, 0.0, 0.0), (0.0, 10.0)
    last = njit(lambda ys: ys[-1, 0])

    @njit
    def by_ensemble(premium, mean, key):
        return nd.sde.ensemble(
            _INSURER, given[0], given[1], (premium, mean), key, 50, reduce=last
        ).mean

    @njit
    def by_loop(premium, mean, key):
        total = 0.0
        for p in range(50):
            total += _INSURER(given[0], given[1], (premium, mean), (key, p))[-1, 0]
        return total / 50

    found = nd.value_and_grad(by_ensemble, (0, 1), mode=mode)(1.5, 1.0, KEY)
    expected = nd.value_and_grad(by_loop, (0, 1), mode=mode)(1.5, 1.0, KEY)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def _leaky(adjoint):
    """A neuron that leaks: what it is at a spike on the way depends on where that lies."""
    fire = nd.ode.event(
        lambda t, y, leak, current, shot: y[0] - 1.0,
        direction=1,
        change=lambda t, y, leak, current, shot: (0.1 * current, y[1] + t * leak + y[0]),
    )
    return nd.sde.solver(
        lambda t, y, leak, current, shot: (current - leak * y[0], y[0]),
        lambda t, y, leak, current, shot: (0.0, 0.1),
        noise="additive",
        method="SRA1",
        dt=0.05,
        adjoint=adjoint,
        events=fire,
        jumps=nd.sde.jumps(
            4.0, lambda t, y, mark, *p: (y[0] + p[2] * nd.random.uniform(mark, 0), y[1] * 0.9)
        ),
    )


@pytest.mark.dear
@pytest.mark.deep(but=["auto-4.0-reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("last", [4.0, 30.0])  # in one stretch, in three
@pytest.mark.parametrize("adjoint", ["auto", "forward"])
def test_slopes_of_a_leaky_neuron(adjoint, last, mode):
    """Beside differences of a path that keeps its events, on the way and at jumps."""
    solve = _leaky(adjoint)
    given = (0.0, 0.0), (0.0, last)

    @njit
    def end(leak, current, shot, path):
        y = solve(given[0], given[1], (leak, current, shot), (KEY, path))[-1]
        return y[0] + 0.3 * y[1]

    at, h = np.array([0.5, 0.9, 0.6]), 1e-6
    slope = nd.grad(end, (0, 1, 2), mode=mode)
    with pytest.warns(nd.ControlDependenceWarning, match=TOLD):
        slope(*at, 0)
    for path in range(4):
        found = [
            (end(*(at + h * d), path) - end(*(at - h * d), path)) / (2.0 * h) for d in np.eye(3)
        ]
        np.testing.assert_allclose(slope(*at, path), found, rtol=1e-5)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_rates_are_refused_beside_events_too(mode):
    solve = nd.sde.solver(
        lambda t, y, rate: 1.0,
        lambda t, y, rate: 0.0,
        noise="additive",
        dt=DT,
        jumps=nd.sde.jumps(lambda t, y, rate: rate, lambda t, y, mark, rate: y - 2.0, bound=9.0),
        events=nd.ode.event(lambda t, y, rate: y + 3.0, terminal=True),
    )
    end = njit(lambda rate: solve(0.0, (0.0, 3.0), (rate,), KEY)[-1, 0])
    assert end(5.0) < -3.0
    with pytest.raises(nd.UnsupportedError, match="the rate of jumps decides"):
        nd.grad(end, mode=mode)(5.0)


@pytest.mark.deep
def test_second_derivatives_of_a_leaky_neuron():
    solve = _leaky("auto")

    @njit
    def end(leak, current, shot):
        y = solve((0.0, 0.0), (0.0, 4.0), (leak, current, shot), KEY)[-1]
        return y[0] + 0.3 * y[1]

    at, h, gradient = np.array([0.5, 0.9, 0.6]), 1e-5, nd.grad(end, (0, 1, 2), mode="reverse")
    found = [
        (np.array(gradient(*(at + h * d))) - gradient(*(at - h * d))) / (2.0 * h) for d in np.eye(3)
    ]
    second = nd.hessian(end, (0, 1, 2))(*at)
    np.testing.assert_allclose(second, found, rtol=1e-6, atol=1e-7)


def _double_exponential(t, y, mark):
    size = -0.4 * math.log(nd.random.uniform(mark, 0))
    return y + size if nd.random.uniform(mark, 1) < 0.4 else y - 0.5 * size


@pytest.mark.deep
def test_first_passages_of_kous_model():
    """Overshoots are exponential (S. Kou, H. Wang, Adv. Appl. Probab. 35 (2003) 504-531); beside NumPy."""
    level, paths, steps = 1.0, 20_000, 64
    solve = nd.sde.solver(
        lambda t, y: -0.1,
        lambda t, y: 0.5,
        noise="additive",
        dt=1.0 / steps,
        jumps=nd.sde.jumps(3.0, _double_exponential),
        events=nd.ode.event(lambda t, y: y - 1.0, direction=1, terminal=True),
    )
    end = nd.sde.ensemble(solve, 0.0, (0.0, 1.0), (), KEY, paths)[:, -1, 0]
    by_jump = end > level + 1e-12
    assert stats.kstest(end[by_jump] - level, "expon", (0.0, 0.4)).pvalue > 0.001
    rng = np.random.default_rng(5)
    y, crept, leapt = np.zeros(paths), np.zeros(paths, bool), np.zeros(paths, bool)
    for _ in range(steps):
        y = y - 0.1 / steps + 0.5 / math.sqrt(steps) * rng.standard_normal(paths)
        crept |= (y >= level) & ~leapt
        number = rng.poisson(3.0 / steps, paths)
        for k in range(number.max()):
            size = 0.4 * rng.exponential(size=paths)
            size = np.where(rng.random(paths) < 0.4, size, -0.5 * size)
            y = np.where(k < number, y + size, y)
            leapt |= (y >= level) & ~crept
    for found, expected in ((by_jump, leapt), (abs(end - level) < 1e-12, crept)):
        error = math.sqrt(2.0 * expected.mean() * (1.0 - expected.mean()) / paths)
        assert abs(found.mean() - expected.mean()) < 3.5 * error


@pytest.mark.deep
def test_states_in_arrays():
    """The same path as in a tuple."""
    given = {"noise": "additive", "dt": DT}
    solve = nd.sde.solver(
        lambda t, y, slope, shot: np.array([slope, 0.0, 1.0]),
        lambda t, y, slope, shot: np.zeros(3),
        jumps=nd.sde.jumps(RATE, lambda t, y, mark, slope, shot: y + np.array([shot, 0.0, 0.0])),
        events=(
            nd.ode.event(
                lambda t, y, slope, shot: y[0] - 1.0,
                direction=1,
                change=lambda t, y, slope, shot: np.array([0.0, y[1] + 1.0, y[2]]),
            ),
            nd.ode.event(lambda t, y, slope, shot: y[2] - 3.13, terminal=True),
        ),
        **given,
    )
    ts, args = (0.0, 1.1, 4.0), (0.9, 0.35)
    for path in range(10):
        one = solve(np.zeros(3), ts, args, (KEY, path))
        np.testing.assert_allclose(one, _NEURON((0.0, 0.0, 0.0), ts, args, (KEY, path)), rtol=1e-13)


_BOTH = {
    "events": nd.ode.event(lambda t, y: y),
    "jumps": nd.sde.jumps(1.0, lambda t, y, mark: y),
}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"adjoint": "mixed"}, "adjoint='mixed' does not go back over jumps"),
        ({"adjoint": "stochastic"}, "adjoint='stochastic' does not go back over jumps"),
        ({"method": "ReversibleHeun", "adjoint": "reversible"}, "more than the state, which jumps"),
        ({"method": "RI1"}, "a step of method 'RI1' cannot be divided"),
        ({"rtol": 1e-3}, "jumps= is for steps of one size"),
        ({"dense_output": True}, "jumps= does not go with dense_output=True"),
    ],
)
def test_what_does_not_go_with_both(options, told):
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.solver(lambda t, y: 0.0, lambda t, y: 1.0, **{"dt": 0.1, **_BOTH, **options})
    solve = nd.sde.solver(lambda t, y: 0.0, lambda t, y: 1.0, dt=0.1, **_BOTH)
    with pytest.raises(nd.ArgumentError, match="antithetic=True is for paths without jumps"):
        nd.sde.ensemble(solve, 0.0, (0.0, 1.0), (), KEY, 10, antithetic=True)
