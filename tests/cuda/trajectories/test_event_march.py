"""Events of trajectories on the GPU: the kernels run on the CPU, against closed forms and the solver."""

import math
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import njit
from numba.core import types

import numbad as nd
import numbad.cuda as device
from numbad.cuda.kernels import Kernel
from numbad.ode import failure
from numbad.ode.crossing import spacing_at_one
from tests.cuda.on_gpu import needs_gpu
from tests.cuda.trajectories.test_ensemble_call import without_spills
from tests.cuda.twin_device import run_on_host

TIMES = np.linspace(0.0, 4.0, 9)
HEIGHTS = np.linspace(1.0, 19.0, 7)


def free_fall(t, y, gravity, kept):
    return y[1], -gravity


def height(t, y, gravity, kept):
    return y[0]


def bounced(t, y, gravity, kept):
    return y[0], -kept * y[1]


BOUNCE = nd.ode.event(height, direction=-1, change=bounced)
ball = nd.ode.solver(free_fall, events=BOUNCE, rtol=1e-9)
quick_ball = nd.ode.solver(free_fall, events=BOUNCE, rtol=1e-5, atol=1e-6)


def exact_ball(start, gravity, kept, t):
    """Height and speed of a bouncing ball that is dropped, of complex numbers too."""
    speed = (2.0 * gravity * start) ** 0.5
    since = t + speed / gravity  # as if it had been thrown up
    while since.real > (2.0 * speed / gravity).real:
        since, speed = since - 2.0 * speed / gravity, kept * speed
    return since * (speed - 0.5 * gravity * since), speed - gravity * since


def exact_states(gravity, kept):
    return np.array([[exact_ball(h, gravity, kept, t) for t in TIMES] for h in HEIGHTS])


def exact_slopes(gravity, kept):
    """By height and gravity: a complex step."""
    tiny = 1e-40j
    return np.array(
        [
            [
                np.transpose(
                    [
                        exact_ball(h + tiny, gravity, kept, t),
                        exact_ball(h, gravity + tiny, kept, t),
                    ]
                )
                for t in TIMES
            ]
            for h in HEIGHTS
        ]
    ).imag / abs(tiny)


@pytest.mark.dear
def test_bouncing_balls(twin):
    """Up to eight bounces, whose times move with the height and with gravity."""
    state = np.column_stack([HEIGHTS, np.zeros_like(HEIGHTS)])
    found = device.ensemble(ball, (state[:, 0], 0.0), TIMES, (10.0, 0.9), derivatives=0)
    assert not found.status.any()
    np.testing.assert_allclose(found.ys, exact_states(10.0, 0.9), atol=1e-11)
    np.testing.assert_allclose(
        found.derivatives[..., 0], exact_slopes(10.0, 0.9)[..., 1], rtol=1e-9, atol=1e-9
    )
    without_spills(twin)


@pytest.mark.dear
def test_derivatives_by_the_start_in_passes(twin):
    by = "y0", "args"
    found = device.ensemble(ball, (HEIGHTS, 0.0), TIMES, (10.0, 0.9), derivatives=by)
    slopes = found.derivatives[..., [0, 2]]
    np.testing.assert_allclose(slopes, exact_slopes(10.0, 0.9), rtol=1e-9, atol=1e-9)
    assert len(twin) == 3


@pytest.mark.dear
def test_float32(twin):
    given = (HEIGHTS.astype("f4"), np.float32(0.0)), TIMES, (10.0, 0.9)
    found = device.ensemble(quick_ball, *given, derivatives=("y0", "args"))
    assert found.ys.dtype == np.float32
    # The last bounces multiply errors in their times by the speed, some 15.
    np.testing.assert_allclose(found.ys, exact_states(10.0, 0.9), atol=2e-4)
    slopes, expected = found.derivatives[..., [0, 2]], exact_slopes(10.0, 0.9)
    assert np.abs(slopes - expected).max() < 1e-4 * np.abs(expected).max()
    assert ".f64" not in without_spills(twin)


def test_the_resolution_is_that_of_the_precision():
    def write(out):
        out[0] = spacing_at_one()

    for name in ("float32", "float64"):
        out = np.zeros(1, name)
        run_on_host(Kernel(write, (types.float64[::1],), name), [out], 1)
        assert out[0] == np.finfo(name).eps


@pytest.mark.dear
def test_a_terminal_event():
    """Where the ball meets the floor, the speed is -sqrt(2 g h); so it stays. As on the CPU."""
    floor = nd.ode.event(height, terminal=True)
    fall = nd.ode.solver(free_fall, events=floor, rtol=1e-9)
    found = device.ensemble(fall, (HEIGHTS, 0.0), TIMES, (10.0, 0.9), derivatives=("y0", 0))
    assert not found.status.any()
    impact = np.sqrt(2.0 * HEIGHTS / 10.0)
    after = TIMES > impact[:, None]
    assert after.any(axis=1).all()
    speed = -np.sqrt(20.0 * HEIGHTS)
    expected = np.where(after, speed[:, None], -10.0 * TIMES)
    np.testing.assert_allclose(found.ys[..., 1], expected, rtol=1e-12)
    np.testing.assert_allclose(found.ys[..., 0][after], 0.0, atol=1e-12)
    # By height, by the speed at the start, by gravity.
    slopes = np.stack([-10.0 / -speed, np.zeros_like(speed), -HEIGHTS / -speed], axis=1)
    for i in range(len(HEIGHTS)):
        given = found.derivatives[i, after[i]]
        np.testing.assert_allclose(given[:, 0], 0.0, atol=1e-11)
        np.testing.assert_allclose(
            given[:, 1], np.broadcast_to(slopes[i], given[:, 1].shape), rtol=1e-10, atol=1e-10
        )
    on_cpu = [fall((h, 0.0), TIMES, (10.0, 0.9)) for h in HEIGHTS[:2]]
    np.testing.assert_allclose(found.ys[:2], on_cpu, rtol=1e-13, atol=1e-13)


@pytest.mark.dear
def test_directions():
    """Of cos(w t) the crossings are counted, by direction, in further components."""
    up = nd.ode.event(
        lambda t, y, w: y[0], direction=1, change=lambda t, y, w: (y[0], y[1], y[2] + 1, y[3], y[4])
    )
    down = nd.ode.event(
        lambda t, y, w: y[0],
        direction=-1,
        change=lambda t, y, w: (y[0], y[1], y[2], y[3] + 1, y[4]),
    )
    both = nd.ode.event(
        lambda t, y, *args: 2.0 * y[0],
        change=lambda t, y, *args: [y[0], y[1], y[2], y[3], y[4] + 1],
    )
    solve = nd.ode.solver(
        lambda t, y, w: (y[1], -w * w * y[0], 0.0, 0.0, 0.0), events=(up, down, both)
    )
    w = np.array([0.3, 1.0, 2.0, 5.0])
    for end in (6.0, -6.0):
        found = device.ensemble(solve, (1.0, 0.0, 0, 0, 0), (0.0, end), w)
        count = np.floor(6.0 * w / math.pi + 0.5)
        expected = np.stack([count // 2, count - count // 2, count], axis=1)
        np.testing.assert_array_equal(found.ys[:, 1, 2:], expected)


Place = namedtuple("Place", "x v")


def pushed(t, y, w, start):
    return y.v, -w * w * y.x + (1.0 if y.x > 0.3 else -0.5)


SWITCH = nd.ode.event(lambda t, y, w, start: y.x - 0.3)
KICK = nd.ode.event(
    lambda t, y, *args: t - args[1], direction=1, change=lambda t, y, *args: [y.x, y.v + t]
)
BRAKE = nd.ode.event(
    lambda t, y, w, start: y.v + 0.1 * t,
    direction=-1,
    change=lambda t, y, w, start: np.array([y.x, y.v - 0.5 * start]),
)
END = nd.ode.event(lambda t, y, w, start: t - 4.5 - 0.1 * w, terminal=True)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Tsit5", "RK4", "Vern7", "Rosenbrock23"])
def test_several_events_are_those_of_the_solver(method):
    """A switch, a kick at a time that moves, a brake, and an end; namedtuples, lists and arrays."""
    step = {"first_step": 0.02} if method == "RK4" else {}
    solve = nd.ode.solver(
        pushed, events=(SWITCH, KICK, BRAKE, END), method=method, rtol=1e-8, **step
    )
    x, w, start = np.linspace(0.2, 0.4, 5), np.linspace(1.0, 3.0, 5), np.linspace(0.9, 2.9, 5)
    ts = np.linspace(0.0, 6.0, 9)
    given = Place(x, 0.1), ts, (w, start)
    found = device.ensemble(solve, *given, derivatives=("y0", "args"))

    def along(z):
        return solve(Place(z[0], z[1]), ts, (z[2], z[3]))

    slopes = nd.value_and_jacobian(along, mode="forward")
    close = 1e-11 if method == "Rosenbrock23" else 1e-12  # linear systems are solved besides
    for i in range(5):
        ys, by_all = slopes(np.array([x[i], 0.1, w[i], start[i]]))
        np.testing.assert_allclose(found.ys[i], ys, rtol=close, atol=close)
        np.testing.assert_allclose(found.derivatives[i], by_all, rtol=1e-10, atol=1e-10)


@pytest.mark.dear
def test_scalar_states_backwards():
    """exp(-k t) backwards in time, set back to 1 where it is 2."""
    reset = nd.ode.event(lambda t, y, k: y - 2.0, change=lambda t, y, k: 1)
    solve = nd.ode.solver(lambda t, y, k: -k * y, events=reset, rtol=1e-10, atol=1e-12)
    starts, k = np.array([1.0, 1.5, 1.9]), np.array([1.0, 1.5, 2.0])
    found = device.ensemble(solve, starts, (0.0, -1.0, -2.0), k)
    for t, ys in zip((1.0, 2.0), found.ys[:, 1:, 0].T, strict=True):
        doublings = (np.log(starts) + k * t) / math.log(2.0)
        np.testing.assert_allclose(ys, 2.0 ** (doublings % 1.0), rtol=1e-8)


def shared(t, y, rate, exchange):
    """Two vessels, of which the first loses, and exchanges with the second, which may be stiff."""
    flow = exchange * (y[0] - y[1])
    return -2.0 * rate * y[0] - flow, flow


def refilled(t, y, rate, exchange):
    """To a sum of 1, not to twice what there is: a factor would hide that the time of the event moves."""
    return y[0] / (y[0] + y[1]), y[1] / (y[0] + y[1])


REFILL = nd.ode.event(lambda t, y, rate, exchange: y[0] + y[1] - 0.5, direction=-1, change=refilled)


def exact_vessels(t, rate, exchange):
    """From the slow eigenvector whose sum is 1, refilled to that whenever it is half."""
    slow = 2.0 * rate * exchange / (rate + exchange + (rate**2 + exchange**2) ** 0.5)
    second = exchange / (2.0 * exchange - slow)
    amount = 2.0 ** np.floor(slow.real * t / math.log(2.0)) * np.exp(-slow * t)
    return np.array([(1.0 - second) * amount, second * amount])


@pytest.mark.dear
@pytest.mark.deep(but=["Rosenbrock23-float64"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas5P"])
def test_events_of_stiff_systems(method, precision, twin):
    """Refills whose times move with both rates, of which one is up to 1e4 times the other."""
    tol, close = (1e-9, 1e-5) if precision == "float64" else (1e-5, 2e-3)
    solve = nd.ode.solver(shared, events=REFILL, method=method, rtol=tol, atol=1e-2 * tol)
    rates, ts = np.array([[0.7, 1.0, 1.3], [1.0, 30.0, 1e4]]), (0.0, 1.5, 3.1)
    given = exact_vessels(0.0, *rates).T, ts, tuple(rates)
    found = device.ensemble(solve, *given, precision=precision, derivatives=("y0", "args"))
    assert not found.status.any()
    for row, t in enumerate(ts):
        expected = exact_vessels(t, *rates).T
        np.testing.assert_allclose(found.ys[:, row], expected, rtol=close)
        for k in range(2):
            moved = rates + 1e-40j * np.eye(2)[:, k, None]
            starts, slopes = (exact_vessels(s, *moved).T.imag / 1e-40 for s in (0.0, t))
            by_start, by_rate = (
                found.derivatives[:, row, :, :2],
                found.derivatives[:, row, :, 2 + k],
            )
            total = np.einsum("icq,iq->ic", by_start, starts) + by_rate
            np.testing.assert_allclose(total, slopes, rtol=5 * close, atol=5 * close)
    assert (".f64" in twin[0].ptx((9, 0))) == (precision == "float64")
    if precision == "float64":
        on_cpu = solve(tuple(given[0][0]), ts, tuple(rates[:, 0]))
        np.testing.assert_allclose(found.ys[0], on_cpu, rtol=1e-11)


def emptied(t, y, rate, times, amounts):
    """Into a body that eliminates doses, twice as fast from t = 2 on."""
    return -rate * (2.0 if t > 2.0 else 1.0) * y


def exact_amount(t, rate, times, amounts):
    def age(t):
        return rate * (t + (t - 2.0 if t.real > 2.0 else 0.0))

    t = min(t, 4.6)
    given = (a * np.exp(age(s) - age(t)) for s, a in zip(times, amounts, strict=True) if s.real < t)
    return 0.1 * np.exp(-age(t)) + sum(given)


@pytest.mark.dear
def test_times_known_beforehand():
    """Doses at times and of amounts that are arguments, a switch, and an end; by all of them."""
    doses = nd.ode.at_times(
        lambda rate, times, amounts: times, change=lambda t, y, k, *args: y + args[2][k]
    )
    end = nd.ode.at_times(4.6, terminal=True)
    solve = nd.ode.solver(emptied, events=(doses, end), tstops=2.0, rtol=1e-10, atol=1e-12)
    second = np.array([1.7, 2.3, 2.5, 9.0])
    times = np.column_stack([np.full(4, 1.0), second])
    ts, amounts = (0.0, 0.5, 1.0, 2.2, 2.5, 4.0, 5.0), (3.0, 2.0)
    found = device.ensemble(solve, 0.1, ts, (0.5, times, amounts), derivatives="args")
    assert not found.status.any()
    for i, given in enumerate(times):
        z = np.array([0.5, *given, *amounts])
        for row, t in enumerate(ts):
            expected = exact_amount(t, z[0], z[1:3], z[3:])
            np.testing.assert_allclose(found.ys[i, row, 0], expected, rtol=1e-8)
            moved = [z + 1e-40j * unit for unit in np.eye(5)]
            slopes = [exact_amount(t, w[0], w[1:3], w[3:]).imag / 1e-40 for w in moved]
            np.testing.assert_allclose(found.derivatives[i, row, 0], slopes, rtol=1e-7, atol=1e-9)


# -- what fails, and what is refused ----------------------------------------------------------------


def odd_height(t, y, kept, kind):
    if kind == 1:
        return 1.0 if t < 0.5 else -1.0
    return y[0] + (math.nan if kind == 2 and t > 0.5 else 0.0)


@pytest.mark.dear
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_statuses(precision):
    """A ball that comes to rest, a condition that jumps, and one that is NaN, beside one that goes well."""
    event = nd.ode.event(
        odd_height, direction=-1, change=lambda t, y, kept, kind: (y[0], -kept * y[1])
    )
    solve = nd.ode.solver(lambda t, y, kept, kind: (y[1], -10.0), events=event, rtol=1e-5)
    given = (1.0, 0.0), (0.0, 0.1, 3.0), (np.array([0.9, 0.5, 0.9, 0.9]), np.array([0, 0, 1, 2]))
    with pytest.warns(
        nd.NumbadWarning, match="3 of 4.*number 1: events follow each other .* t = 1.34"
    ):
        found = device.ensemble(solve, *given, precision=precision)
    told = failure.EVENTS_ACCUMULATE, failure.EVENT_WITHOUT_SLOPE, failure.CONDITION_NOT_A_NUMBER
    assert found.status.tolist() == [0, *told]
    assert np.isnan(found.ys[1:, 2]).all()
    np.testing.assert_allclose(found.ys[:, 1, 0], 0.95, rtol=1e-6)
    np.testing.assert_allclose(found.ys[0, 2], exact_ball(1.0, 10.0, 0.9, 3.0), atol=1e-3)


@njit
def ruled(t, y, gravity, kept):
    return y[0]


nd.rule(ruled, jvp=lambda primals, tangents: (0.0, 0.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"events": BOUNCE, "keep_events": 2}, "keep_events"),
        ({"events": nd.ode.event(ruled)}, "derivatives of ruled"),
        ({"events": BOUNCE, "method": "KenCarp4"}, "'KenCarp4'.*'Rodas5P'"),
        ({"events": BOUNCE, "method": "VelocityVerlet", "first_step": 0.1}, "'VelocityVerlet'"),
    ],
)
def test_what_has_no_code_is_refused(options, message):
    solve = nd.ode.solver(free_fall, **options)
    with pytest.raises(nd.UnsupportedError, match=message):
        device.ensemble(solve, (1.0, 0.0), TIMES, (10.0, 0.9))


@needs_gpu
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_on_a_gpu(precision, monkeypatch):
    monkeypatch.undo()
    solve, close = (ball, 1e-9) if precision == "float64" else (quick_ball, 5e-4)
    given = (HEIGHTS, 0.0), TIMES, (10.0, 0.9)
    found = device.ensemble(solve, *given, precision=precision, derivatives=("y0", "args"))
    assert not found.status.any()
    np.testing.assert_allclose(found.ys, exact_states(10.0, 0.9), atol=close)
    expected = exact_slopes(10.0, 0.9)
    slopes = found.derivatives[..., [0, 2]]
    assert np.abs(slopes - expected).max() < close * np.abs(expected).max()
