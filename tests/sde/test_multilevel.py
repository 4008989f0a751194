"""Multilevel Monte Carlo: closed forms, the rates of Giles' theorem, any number of threads, derivatives."""

import math
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import numbad as nd
from numbad.sde.multilevel import _bias, _smoothed

KEY = nd.random.key(31)


@njit
def _drift(t, y, rate, vol):
    return rate * y


@njit
def _diffusion(t, y, rate, vol):
    return vol * y


@njit
def _call(ys):
    return max(ys[-1, 0] - 100.0, 0.0)


@njit
def _end(ys):
    return ys[-1, 0]


GIVEN = 100.0, (0.0, 1.0), (0.05, 0.2), KEY
CALL = 10.450583572186 * math.exp(0.05)  # Black and Scholes


def _solver(method="Milstein", **options):
    return nd.sde.solver(_drift, _diffusion, method=method, dt=0.5, **options)


def test_what_is_estimated_of_levels_that_fall_like_powers():
    """Means by the power 1.5 of two, variances by 3: the rest has a closed form."""
    levels = [SimpleNamespace(mean=2.0 ** -(1.5 * k), variance=8.0**-k) for k in range(5)]
    means, variances, rates = _smoothed(levels)
    assert rates == pytest.approx((1.5, 3.0))
    assert variances == pytest.approx([8.0**-k for k in range(5)])
    assert _bias(means, rates[0]) == pytest.approx(sum(2.0 ** -(1.5 * k) for k in range(5, 60)))
    levels[3].variance = 0.0  # by chance
    _, variances, (_, rate) = _smoothed(levels)
    assert variances[3] == pytest.approx(0.5 * variances[2] / 2.0**rate)
    assert rate > 2.5


@pytest.mark.dear
def test_the_price_of_a_call_to_a_tolerance():
    found = nd.sde.multilevel(_solver(), *GIVEN, reduce=_call, tolerance=0.05)
    assert abs(found.mean - CALL) < 3.0 * math.hypot(found.error, found.bias)
    assert math.hypot(found.error, found.bias) < 0.052
    assert found.failed == -1
    assert found.paths == tuple(level.paths for level in found.levels)
    assert len(found.summary().splitlines()) == len(found.levels) + 2
    # the same error by paths of the finest width alone
    finest, variance = found.levels[-1].dt, found.levels[0].variance
    assert found.cost < 0.3 * 0.5 / finest * variance / 0.05**2
    threads = nd.sde.multilevel(_solver(), *GIVEN, reduce=_call, tolerance=0.05, executor=2)
    assert threads == found


@pytest.mark.deep(but=["SRIW1-*"])
@pytest.mark.parametrize(
    ("method", "rate"), [("EulerMaruyama", 1.0), ("Milstein", 2.0), ("SRIW1", 3.0)]
)
def test_variances_fall_at_twice_the_strong_order(method, rate):
    found = nd.sde.multilevel(_solver(method), *GIVEN, reduce=_end, paths=(20_000,) * 6)
    falls = [math.log2(level.variance) for level in found.levels[2:]]
    assert -np.polyfit(range(4), falls, 1)[0] == pytest.approx(rate, abs=0.2)
    assert abs(found.mean - 100.0 * math.exp(0.05)) < 4.0 * found.error + found.bias


@pytest.mark.deep
def test_states_in_arrays_and_times_within_steps():
    drift = njit(lambda t, y, rate, vol: rate * y)
    noise = njit(lambda t, y, rate, vol: vol * y)
    times = np.array([0.0, 0.3, 1.0])
    last = njit(lambda ys: ys[1, 0] + ys[2, 1])
    solve = nd.sde.solver(drift, noise, method="SRIW1", dt=0.5)
    options = {"reduce": last, "paths": (4000, 1000, 500)}
    as_array = nd.sde.multilevel(solve, np.array([1.0, 2.0]), times, (0.1, 0.2), KEY, **options)
    of_two = nd.sde.solver(
        njit(lambda t, y, rate, vol: (rate * y[0], rate * y[1])),
        njit(lambda t, y, rate, vol: (vol * y[0], vol * y[1])),
        method="SRIW1",
        dt=0.5,
    )
    as_tuple = nd.sde.multilevel(of_two, (1.0, 2.0), times, (0.1, 0.2), KEY, **options)
    assert as_tuple.mean == pytest.approx(as_array.mean, rel=1e-12)
    exact = math.exp(0.03) + 2.0 * math.exp(0.1)
    assert abs(as_array.mean - exact) < 4.0 * as_array.error + as_array.bias


@pytest.mark.deep
def test_derivatives_in_compiled_code():
    solve = _solver()

    @njit
    def price(vol, key):
        found = nd.sde.multilevel(
            solve, 100.0, (0.0, 1.0), (0.05, vol), key, reduce=_call, paths=(3000, 800, 200)
        )
        return math.exp(-0.05) * found.mean

    found = nd.sde.multilevel(solve, *GIVEN, reduce=_call, paths=(3000, 800, 200))
    assert price(0.2, KEY) == pytest.approx(math.exp(-0.05) * found.mean, rel=1e-13)
    forward, reverse = (nd.grad(price, 0, mode=m)(0.2, KEY) for m in ("forward", "reverse"))
    assert reverse == pytest.approx(forward, rel=1e-12)
    h = 1e-7
    assert forward == pytest.approx((price(0.2 + h, KEY) - price(0.2 - h, KEY)) / (2 * h), rel=1e-5)
    assert forward == pytest.approx(37.524034691694, rel=0.1)


@pytest.mark.deep
def test_a_payoff_that_jumps_is_warned_of():
    digital = njit(lambda ys: 1.0 if ys[-1, 0] > 100.0 else 0.0)
    solve = _solver()

    @njit
    def chance(vol, key):
        return nd.sde.multilevel(
            solve, 100.0, (0.0, 1.0), (0.05, vol), key, reduce=digital, paths=(100, 50)
        ).mean

    with pytest.warns(nd.ControlDependenceWarning):
        assert nd.derivative(chance)(0.2, KEY) == 0.0


@pytest.mark.dear
def test_paths_that_fail_are_left_out_and_named():
    solve = nd.sde.solver(
        njit(lambda t, y: y * y), njit(lambda t, y: 0.5 * y), method="ImplicitEM", dt=0.125
    )
    with pytest.warns(nd.NumbadWarning, match="paths end in NaN or infinity and are left out"):
        found = nd.sde.multilevel(solve, 1.2, (0.0, 0.5), (), KEY, reduce=_end, paths=(64, 64))
    assert found.failed >= 0
    assert math.isfinite(found.mean)
    assert found.paths[0] < 64


def test_what_is_refused():
    solve = _solver()
    for wrong, told in (
        ({"tolerance": -1.0}, "tolerance is a positive float"),
        ({"tolerance": None}, "either tolerance=, the error to reach, or paths="),
        ({"paths": (10, 0)}, "how many on each level, two or more"),
        ({"tolerance": 1.0, "max_levels": 0}, "max_levels is a number of levels"),
        ({"paths": (10, 10), "executor": 0}, "number of threads or an Executor"),
        ({"paths": (10,), "reduce": "mean"}, "reduce is a function of a path"),
        ({"paths": (10,), "reduce": njit(lambda ys: (ys[0, 0], 1.0))}, "returns one float"),
    ):
        with pytest.raises(nd.ArgumentError, match=told):
            nd.sde.multilevel(solve, *GIVEN, **{"reduce": _call, **wrong})
    processes = ProcessPoolExecutor(1)
    with processes, pytest.raises(nd.ArgumentError, match="spreads its paths over threads"):
        nd.sde.multilevel(solve, *GIVEN, reduce=_call, paths=(10, 10), executor=processes)
    with pytest.raises(nd.ArgumentError, match=r"nd.sde.multilevel takes what nd.sde.solver"):
        nd.sde.multilevel(_drift, *GIVEN, reduce=_call, tolerance=1.0)
    with pytest.raises(nd.ArgumentError, match=r"nd.sde.multilevel takes a key, not 3"):
        nd.sde.multilevel(solve, *GIVEN[:3], 3, reduce=_call, tolerance=1.0)
    coarse = _solver("EulerMaruyama")
    with pytest.raises(nd.ConvergenceError, match="with 2 levels the bias is about"):
        nd.sde.multilevel(coarse, *GIVEN, reduce=_call, tolerance=0.05, max_levels=2)

    @njit
    def compiled(key):
        return nd.sde.multilevel(
            solve, 100.0, (0.0, 1.0), (0.05, 0.2), key, reduce=_call, tolerance=0.1
        )

    @njit
    def both(key):
        return nd.sde.multilevel(
            solve, 100.0, (0.0, 1.0), (0.05, 0.2), key, reduce=_call, tolerance=0.1, paths=(9, 9)
        )

    for given in (compiled, both):
        with pytest.raises(TypingError, match="in compiled code takes paths="):
            given(KEY)


@pytest.mark.dear
def test_beside_an_ensemble_of_the_same_solver_and_reducer():
    solve = nd.sde.solver(
        lambda t, y, r, v: r * y, lambda t, y, r, v: v * y, method="Milstein", dt=1 / 16
    )
    end, key = njit(lambda ys: ys[-1, 0]), nd.random.key(77)
    ts, args = (0.0, 1.0), (0.05, 0.2)

    @njit
    def levels():
        return nd.sde.multilevel(solve, 100.0, ts, args, key, reduce=end, paths=(200, 100)).mean

    @njit
    def paths():
        return nd.sde.ensemble(solve, 100.0, ts, args, key, 200, reduce=end).mean

    one, other = levels(), paths()
    assert other == nd.sde.ensemble(solve, 100.0, ts, args, key, 200, reduce=end).mean
    found = nd.sde.multilevel(solve, 100.0, ts, args, key, reduce=end, paths=(200, 100))
    assert one == pytest.approx(found.mean, rel=1e-13)
