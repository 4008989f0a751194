"""Losses of paths of SDEs and their gradients: what comes back, of many paths, and what is refused."""

import math
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda, njit

import numbad as nd
import numbad.cuda as device
from numbad.cuda.trajectories import workspace
from numbad.errors import DeviceError
from tests.cuda.trajectories.test_losses import (
    BOTH,
    assert_close,
    by_the_chain_rule,
    end_squared,
    roughness,
)
from tests.cuda.trajectories.test_sde_march import (
    KEY,
    STARTS,
    TIMES,
    brownian_solver,
    heston,
    noise,
)
from tests.cuda.trajectories.test_shares import Elsewhere
from tests.cuda.twin_device import Resident, TwinDevice

COUNT = STARTS.size
ARGS = 0.1, np.linspace(0.2, 0.5, COUNT)
EULER = brownian_solver("EulerMaruyama")
# The first cells are before time 0, and outputs divide some.
BESIDE_STEPS = (-0.23, 0.31, 0.37, 1.0)
RHO = np.linspace(-0.9, 0.9, 7)
HESTON = (100.0, 0.09), (0.0, 0.3, 1.0), (0.03, 2.0, 0.09, 0.3, RHO), KEY


# -- what comes back --------------------------------------------------------------------------------


def products_of_euler(key, y, rate, vol, dt=0.1, steps=10):
    """The end of a path of geometric Brownian motion by Euler's method, and its slopes: a product."""
    w, _ = nd.sde.brownian_increments(key, dt * np.arange(steps + 1.0), dt)
    factors = 1.0 + rate * dt + vol * w
    end = y * factors.prod()
    return end, end * np.array([1.0 / y, (dt / factors).sum(), (w / factors).sum()])


@pytest.mark.dear
def test_closed_form_of_euler_steps():
    """Path i is path i, whatever number its thread has."""
    found = device.ensemble(EULER, STARTS, TIMES, ARGS, KEY, derivatives=BOTH, loss=end_squared)
    each = [products_of_euler((KEY, i), y, 0.1, ARGS[1][i]) for i, y in enumerate(STARTS)]
    ends, slopes = (np.array(part) for part in zip(*each, strict=True))
    assert_close(found, ends**2, 2.0 * ends[:, None] * slopes, 1e-13)


@njit
def call(ys):
    """What a call with a strike of 1 pays."""
    return max(ys[-1, 0] - 1.0, 0.0)


def test_greeks_of_a_call():
    """Delta, rho and vega are Black's and Scholes's, of what is not discounted, within their errors."""
    starts, rate, vol = np.full(4000, 1.1), 0.05, 0.3
    given = EULER, starts, (0.0, 1.0), (rate, vol), KEY
    mean = device.ensemble(*given, derivatives=BOTH, loss=call, reduce="mean")
    each = device.ensemble(*given, derivatives=BOTH, loss=call)
    d1 = (math.log(1.1) + rate + 0.5 * vol**2) / vol
    below = 0.5 * math.erfc(-d1 / math.sqrt(2.0)), 0.5 * math.erfc(-(d1 - vol) / math.sqrt(2.0))
    forward = 1.1 * math.exp(rate)
    value = forward * below[0] - below[1]
    vega = forward * math.exp(-0.5 * d1**2) / math.sqrt(2.0 * math.pi)
    greeks = math.exp(rate) * below[0], forward * below[0], vega
    errors = each.gradients.std(axis=0, ddof=1) / math.sqrt(4000)
    assert (errors < 0.02).all()
    assert (np.abs(mean.derivatives - greeks) < 3.5 * errors).all()
    assert abs(mean.mean - value) < 3.5 * mean.error
    np.testing.assert_allclose(mean.mean, each.values.mean(), rtol=1e-12)
    np.testing.assert_allclose(mean.derivatives, each.gradients.mean(axis=0), rtol=1e-12)
    assert (mean.paths, mean.failed) == (4000, -1)


@pytest.mark.dear
@pytest.mark.parametrize("reduced", [False, True])
def test_a_payoff_that_jumps_is_told(reduced):
    """Its derivative is zero path by path, that of its mean is not."""

    def digital(ys):
        return 1.0 if ys[-1, 0] > 1.0 else 0.0

    option = "reduce" if reduced else "loss"
    with pytest.warns(nd.ControlDependenceWarning, match=r"digital.*zero path by path"):
        device.ensemble(EULER, STARTS, TIMES, ARGS, KEY, derivatives="y0", **{option: digital})


Market = namedtuple("Market", "rate days vols")
State = namedtuple("State", "price rest")


@pytest.mark.dear
def test_structures_and_constants():
    """Namedtuples with an integer in them, a row of numbers, a key for each path, some of the numbers."""

    def drift(t, y, market, push):
        return market.rate * y.price * market.days, -push * y.rest

    def diffusion(t, y, market, push):
        return market.vols[1] * y.price, market.vols[0] * math.cos(t)

    solve = nd.sde.solver(drift, diffusion, method="SRIW1", dt=0.1)
    vols = np.column_stack([STARTS[:5], STARTS[4::-1]]) / 4.0
    args = Market(0.05, np.arange(5), vols), 0.7
    given = solve, State(1.0, STARTS[:5]), TIMES, args, nd.random.split(KEY, 5)
    for by in ((1, "y0", 0), 0, "y0"):
        found = device.ensemble(*given, derivatives=by, loss=roughness)
        assert_close(found, *by_the_chain_rule(device.ensemble(*given, derivatives=by)), 1e-13)


def test_times_within_a_rounding_are_no_step():
    found = device.ensemble(
        EULER, STARTS, (0.0, 1e-12), ARGS, KEY, derivatives=BOTH, loss=end_squared
    )
    gradients = np.stack([2.0 * STARTS, 0.0 * STARTS, 0.0 * STARTS], axis=1)
    assert_close(found, STARTS**2, gradients)


# -- many paths -------------------------------------------------------------------------------------


def same(found, whole):
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_small_workspace_and_portions_change_no_bit(monkeypatch, twin):
    starts = np.linspace(0.5, 2.0, 150)
    given, options = (EULER, starts, TIMES, (0.1, 0.4), KEY), {"derivatives": BOTH}
    options["loss"] = roughness
    whole = device.ensemble(*given, **options)
    assert len(twin) == 4  # there, the loss, back, what failed
    monkeypatch.setattr(workspace, "LARGEST", 10_000)
    same(device.ensemble(*given, **options), whole)
    assert len(twin) > 4 + 7
    same(device.ensemble(*given, **options, block=64), whole)


@pytest.mark.dear
def test_shares_and_arrays_on_the_gpu():
    starts, vols = np.linspace(0.5, 2.0, 70), np.linspace(0.1, 0.5, 70)
    options = {"derivatives": BOTH, "loss": roughness}
    whole = device.ensemble(EULER, starts, TIMES, (0.1, vols), KEY, **options)
    executor, given = Elsewhere(), (EULER, starts, TIMES, (0.1, vols), KEY)
    same(device.ensemble(*given, **options, executor=executor, block=32), whole)
    assert len(executor.sizes) == 3
    there = device.ensemble(EULER, Resident(starts), TIMES, (0.1, Resident(vols)), KEY, **options)
    same([table.array for table in there], whole)


def test_a_path_that_ends_in_nan_costs_itself_alone():
    vols = ARGS[1].copy()
    vols[[4, 9]] = math.inf
    options = {"derivatives": BOTH, "loss": end_squared}
    with pytest.warns(nd.NumbadWarning, match=r"2 of 23.*number 4.*between t = 0.0 and t = 0.3"):
        found = device.ensemble(EULER, STARTS, TIMES, (0.1, vols), KEY, **options)
    lost = found.status != 0
    assert np.flatnonzero(lost).tolist() == [4, 9]
    assert np.isnan(found.values[lost]).all()
    assert np.isnan(found.gradients[lost]).all()
    whole = device.ensemble(EULER, STARTS, TIMES, ARGS, KEY, **options)
    same([table[~lost] for table in found], [table[~lost] for table in whole])


def test_no_room_for_a_few_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr(TwinDevice, "memory", 10**6)
    with pytest.raises(DeviceError, match=r"keeps 10000 steps .* KB.* has 500\.0 KB"):
        device.ensemble(EULER, STARTS, (0.0, 1000.0), ARGS, KEY, derivatives=BOTH, loss=end_squared)


# -- what is refused --------------------------------------------------------------------------------


@njit
def ruled(t, y, rate, vol):
    return rate * y


nd.rule(ruled, jvp=lambda primals, tangents: (0.0, 0.0))
of_rule = nd.sde.solver(ruled, noise, dt=0.1)
implicit = brownian_solver("ImplicitEM")
carrying = nd.sde.solver(ruled, ruled, method="ReversibleHeun", dt=0.1, calculus="stratonovich")


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ((EULER, 1.0, TIMES, ARGS, KEY), {"derivatives": None}, nd.ArgumentError, "derivatives="),
        ((EULER, 1.0, TIMES, ARGS, KEY), {"reduce": call}, nd.ArgumentError, "'mean'"),
        ((EULER, 1.0, (0.5,), ARGS, KEY), {}, nd.ArgumentError, "two times"),
        ((EULER, 1.0, TIMES, ARGS), {}, nd.ArgumentError, "takes keys"),
        (
            (EULER, 1.0, BESIDE_STEPS, ARGS, KEY),
            {"precision": "float32"},
            nd.UnsupportedError,
            "multiples of dt",
        ),
        ((implicit, 1.0, TIMES, ARGS, KEY), {}, nd.UnsupportedError, "'ImplicitEM' solves"),
        ((carrying, 1.0, TIMES, ARGS, KEY), {}, nd.UnsupportedError, "'ReversibleHeun' goes on"),
        ((of_rule, 1.0, TIMES, ARGS, KEY), {}, nd.UnsupportedError, "ruled, .* rule of its own"),
    ],
)
def test_what_has_no_adjoint_is_refused(given, options, error, message):
    with pytest.raises(error, match=message):
        device.ensemble(*given, **{"derivatives": BOTH, "loss": end_squared, **options})


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_on_a_gpu(precision, monkeypatch):
    monkeypatch.undo()
    rho = np.linspace(-0.9, 0.9, 5000)
    given = heston, (100.0, 0.09), HESTON[1], (0.03, 2.0, 0.09, 0.3, rho), KEY
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness, precision=precision)
    exact = by_the_chain_rule(device.ensemble(*given, derivatives=BOTH))
    assert_close(found, *exact, 1e-10 if precision == "float64" else 2e-4)
