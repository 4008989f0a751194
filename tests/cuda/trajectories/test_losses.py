"""Losses of trajectories and their gradients: what comes back, and what fails."""

import math
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda, njit

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_ensemble_call import (
    EIGHT_THIRDS,
    END,
    WITHIN,
    explosion,
    lorenz_solver,
)
from tests.cuda.trajectories.test_sde_march import KEY
from tests.cuda.trajectories.test_shares import Elsewhere
from tests.cuda.twin_device import Resident

BOTH = ("y0", "args")
COUNT = 37


@njit
def roughness(ys):
    """Of every output, the start included."""
    total = 0.0
    for k in range(1, ys.shape[0]):
        for c in range(ys.shape[1]):
            total += (ys[k, c] - 2.0 * ys[k - 1, c]) ** 2
    return total


def by_the_chain_rule(found):
    """`roughness` and its gradient of trajectories with their derivatives."""
    off = found.ys[:, 1:] - 2.0 * found.ys[:, :-1]
    seeds = np.zeros(found.ys.shape)
    seeds[:, 1:] += 2.0 * off
    seeds[:, :-1] -= 4.0 * off
    return (off**2).sum(axis=(1, 2)), np.einsum("itc,itcq->iq", seeds, found.derivatives)


def assert_close(found, values, gradients, close=1e-11):
    assert found.gradients.shape == gradients.shape
    np.testing.assert_allclose(found.values, values, rtol=close)
    scale = np.abs(gradients).max(axis=1, keepdims=True)
    assert (np.abs(found.gradients - gradients) <= close * scale).all()
    assert not found.status.any()


decay = nd.ode.solver(lambda t, y, k: -k * y, rtol=1e-10, atol=1e-12)
RATES = np.linspace(0.5, 2.0, 70)


def end_squared(ys):
    return ys[-1, 0] ** 2


def decayed(y0s, rates, t=1.0):
    """The losses of `decay`, and their gradients by y0 and the rate."""
    values = (y0s * np.exp(-rates * t)) ** 2
    return values, np.stack([2.0 * values / y0s, -2.0 * t * values], axis=1)


def test_closed_form_and_means():
    given = decay, RATES[::-1], (0.0, 0.4, 1.0), RATES
    found = device.ensemble(*given, derivatives=BOTH, loss=end_squared)
    values, gradients = decayed(RATES[::-1], RATES)
    assert_close(found, values, gradients, 1e-8)
    mean = device.ensemble(*given, derivatives=BOTH, loss=end_squared, reduce="mean")
    np.testing.assert_allclose(mean.mean, found.values.mean(), rtol=1e-13)
    np.testing.assert_allclose(mean.error, found.values.std(ddof=1) / math.sqrt(70), rtol=1e-12)
    np.testing.assert_allclose(mean.derivatives, found.gradients.mean(axis=0), rtol=1e-13)
    assert (mean.paths, mean.failed) == (70, -1)


@pytest.mark.dear
def test_of_the_numbers_asked_for_in_their_order():
    one = device.ensemble(decay, 2.0, END, RATES, derivatives=BOTH, loss=end_squared)
    other = device.ensemble(decay, 2.0, END, RATES, derivatives=(0, "y0"), loss=end_squared)
    alone = device.ensemble(decay, 2.0, END, RATES, derivatives="y0", loss=end_squared)
    np.testing.assert_allclose(other.gradients, one.gradients[:, ::-1], rtol=1e-14)
    np.testing.assert_allclose(alone.gradients, one.gradients[:, :1], rtol=1e-14)


Rates = namedtuple("Rates", "k steps")


@pytest.mark.dear
def test_structures_constants_and_lists():
    """A namedtuple with an integer in it, a row of numbers, a function that returns a list."""

    def fun(t, y, r, push):
        return [-r.k * y[0] * r.steps + push[1] * push[0] * math.cos(t)]

    rates, pushes = RATES[:5], np.column_stack([RATES[:5], RATES[4::-1]])
    given = nd.ode.solver(fun), (1.5,), END, (Rates(rates, 2), pushes)
    by = 1, "y0", 0
    found = device.ensemble(*given, derivatives=by, loss=end_squared)
    forward = device.ensemble(*given, derivatives=by)
    end = forward.ys[:, 1, 0]
    assert_close(found, end**2, 2.0 * end[:, None] * forward.derivatives[:, 1, 0])


@pytest.mark.deep
def test_shares_and_arrays_on_the_gpu():
    given = decay, RATES[::-1], END, RATES
    whole = device.ensemble(*given, derivatives=BOTH, loss=end_squared)
    executor = Elsewhere()
    found = device.ensemble(*given, derivatives=BOTH, loss=end_squared, executor=executor, block=32)
    assert len(executor.sizes) == 3
    resident = device.ensemble(
        decay, Resident(RATES[::-1].copy()), END, RATES, derivatives=BOTH, loss=end_squared
    )
    for one, other, there in zip(whole, found, resident, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-14)
        np.testing.assert_array_equal(there.array, one)


# -- what fails, and what is refused ----------------------------------------------------------------


@pytest.mark.dear
def test_what_fails_leaves_the_others_right():
    y0s = np.array([0.5, 1.6, -1.0, 3.0])
    with pytest.warns(nd.NumbadWarning, match=r"2 of 4.*first is number 1: .* at t = 0\.62"):
        found = device.ensemble(explosion, y0s, END, derivatives="y0", loss=end_squared)
    assert (found.status != 0).tolist() == [False, True, False, True]
    assert np.isnan(found.values).tolist() == [False, True, False, True]
    assert np.isnan(found.gradients[:, 0]).tolist() == [False, True, False, True]
    ends = 1.0 / (1.0 / y0s[::2] - 1.0)
    np.testing.assert_allclose(found.values[::2], ends**2, rtol=1e-4)
    np.testing.assert_allclose(found.gradients[::2, 0], 2.0 * ends**3 / y0s[::2] ** 2, rtol=1e-4)


@pytest.mark.dear
def test_a_loss_that_is_none_is_told():
    def loss(ys):
        return math.sqrt(ys[1, 0] - 1.0) if ys[1, 0] < 1.5 else ys[1, 0] * math.nan

    def picky(ys):
        if ys[1, 0] > 1.5:
            raise ValueError("too large")
        return ys[1, 0]

    given = decay, np.array([1.2, 2.0]), END, (0.0,)
    for of, why in ((loss, "the loss is NaN, or"), (picky, "loss raised")):
        with pytest.warns(nd.NumbadWarning, match=f"1 of 2.*number 1: {why}"):
            found = device.ensemble(*given, derivatives="y0", loss=of)
        assert (found.status != 0).tolist() == [False, True]
        assert np.isnan(found.gradients[1, 0])
    np.testing.assert_allclose(found.gradients[0, 0], 1.0, rtol=1e-12)


@pytest.mark.dear
def test_a_full_tape_is_told():
    """Every factor of a product is recorded: some thousand have room."""

    def product(ys):
        total = 1.0
        for k in range(ys.shape[0]):
            total = math.sin(total * ys[k, 0])
        return total

    ts = np.linspace(0.0, 1.0, 50)
    found = device.ensemble(decay, 1.2, ts, 0.1, derivatives="y0", loss=product)
    outputs = 1.2 * np.exp(-0.1 * ts[:, None])
    value, slope = nd.jvp(product)((outputs,), (outputs / 1.2,))
    np.testing.assert_allclose(found.values, value, rtol=1e-8)
    np.testing.assert_allclose(found.gradients[0], slope, rtol=1e-8)
    with pytest.raises(nd.IntegrationError, match=r"1 of 1 .*its tape has room for"):
        device.ensemble(
            decay, 1.2, np.linspace(0.0, 1.0, 5000), 0.1, derivatives="y0", loss=product
        )


@pytest.mark.dear
def test_a_right_hand_side_that_switches_is_told():
    """As by the solver: the adjoint is that of the steps, which know nothing of when it switches."""

    def dosed(t, y, start):
        return -y + (1.0 if t > start else 0.0)

    with pytest.warns(nd.NumbadWarning, match="start"):
        device.ensemble(nd.ode.solver(dosed), 1.0, END, 0.3, derivatives="args", loss=end_squared)


ruled = njit(lambda t, y, k: -k * y)
nd.rule(ruled, jvp=lambda primals, tangents: (0.0, 0.0))
ended = nd.ode.solver(
    lambda t, y, k: -k * y, events=nd.ode.event(lambda t, y, k: y - 0.5, terminal=True)
)


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ((decay, 1.0, END, RATES), {"derivatives": None}, nd.ArgumentError, "derivatives="),
        ((decay, 1.0, END, RATES), {"loss": 3}, nd.ArgumentError, "not 3"),
        ((decay, 1.0, END, RATES), {"reduce": end_squared}, nd.ArgumentError, "'mean'"),
        ((decay, 1.0, END, RATES), {"loss": lambda ys: (1.0, 2.0)}, nd.ArgumentError, "one float"),
        ((decay, 1.0, (0.5,), RATES), {}, nd.ArgumentError, "two times"),
        ((decay, 1.0, END, RATES, KEY), {}, nd.ArgumentError, "takes no keys"),
        ((ended, 1.0, END, RATES), {}, nd.UnsupportedError, "events.*without loss="),
        ((nd.ode.solver(ruled), 1.0, END, RATES), {}, nd.UnsupportedError, "rule of its own"),
    ],
)
def test_what_has_no_adjoint_is_refused(given, options, error, message):
    with pytest.raises(error, match=message):
        device.ensemble(*given, **{"derivatives": BOTH, "loss": end_squared, **options})


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("method", ["RK4", "Tsit5"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_on_a_gpu(method, precision, monkeypatch):
    monkeypatch.undo()
    starts = np.column_stack([np.linspace(0.9, 1.1, 5000), np.zeros((5000, 2))])
    rho = np.linspace(0.0, 21.0, 5000)
    for ts in (END, WITHIN):
        given = lorenz_solver(method, 1e-5), starts, ts, (10.0, rho, EIGHT_THIRDS)
        exact = by_the_chain_rule(device.ensemble(*given, derivatives=BOTH))
        found = device.ensemble(*given, derivatives=BOTH, loss=roughness, precision=precision)
        assert_close(found, *exact, 1e-9 if precision == "float64" else 1e-2)
