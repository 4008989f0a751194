"""Outputs that leave the steps as they are: the same steps, the method's order, derivatives."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(12)


@njit
def _growth(t, y, mu, vol):
    return mu * y


@njit
def _shaken(t, y, mu, vol):
    return vol * y


def _exact(ts, path):
    w = nd.sde.brownian_path((KEY, path), ts, dt=0.25)
    return np.exp((0.3 - 0.5 * 0.8**2) * ts + 0.8 * w)


ARGS = 0.3, 0.8
BETWEEN = np.array([0.1, 0.13, 0.25, 0.4, 0.40001, 0.49999999, 1.0, 1.1])
EVEN = nd.sde.solver(_growth, _shaken, method="Milstein", dt=0.25, dense_output=True)
GRID = nd.sde.solver(_growth, _shaken, method="Milstein", dt=0.25)
CHOSEN = nd.sde.solver(_growth, _shaken, method="SRIW1", dt=0.25, rtol=1e-3, dense_output=True)
HALVED = nd.sde.solver(_growth, _shaken, method="Milstein", dt=0.25, rtol=1e-2, dense_output=True)


@pytest.mark.dear
def test_even_steps_are_what_they_are_without_outputs():
    ys = EVEN(1.2, BETWEEN, ARGS, KEY)[:, 0]
    at_steps = GRID(1.2, (0.1, 0.25, 1.0), ARGS, KEY)[:, 0]
    np.testing.assert_array_equal(ys[[0, 2, 6]], at_steps)
    assert ys[5] == pytest.approx(EVEN(1.2, (0.1, 0.5), ARGS, KEY)[1, 0], rel=1e-3)  # continuous
    assert ys[4] == pytest.approx(ys[3], rel=3e-2)
    # Within a step: one step of the part.
    start = GRID(1.2, (0.1, 0.25), ARGS, KEY)[-1, 0]
    w, _ = nd.sde.brownian_increments(KEY, (0.25, 0.4), dt=0.25)
    expected = start * (1.0 + 0.3 * 0.15 + 0.8 * w[0] + 0.32 * (w[0] ** 2 - 0.15))
    assert ys[3] == pytest.approx(expected, rel=1e-13)


@pytest.mark.deep
def test_adaptive_steps_are_what_they_are_without_outputs():
    for solve in (CHOSEN, HALVED):
        ts = np.append(np.linspace(0.0, 0.999, 60), 1.0)
        ends = nd.sde.taken_steps(solve, 1.0, (0.0, 1.0), ARGS, KEY)
        steps = nd.sde.taken_steps(solve, 1.0, ts, ARGS, KEY)
        np.testing.assert_array_equal(steps.t, ends.t)
        np.testing.assert_array_equal(steps.w, ends.w)
        ys = solve(1.0, ts, ARGS, KEY)[:, 0]
        assert ys[-1] == solve(1.0, (0.0, 1.0), ARGS, KEY)[-1, 0]
        at_steps = solve(1.0, np.append(ends.t, 1.0), ARGS, KEY)[:, 0]
        assert at_steps[-1] == ys[-1]
        np.testing.assert_allclose(ys, _exact(ts, 0), rtol=0.05 if solve is HALVED else 5e-3)


@pytest.mark.dear
def test_errors_between_steps_are_of_the_methods_order():
    ts, errors = np.linspace(0.0, 1.0, 38), []
    for tolerance in (1e-3, 1e-5):
        solve = nd.sde.solver(
            _growth, _shaken, method="SRIW1", dt=0.25, rtol=tolerance, dense_output=True
        )
        errors.append(
            [np.abs(solve(1.0, ts, ARGS, (KEY, p))[:, 0] - _exact(ts, p)).max() for p in range(30)]
        )
    assert np.mean(errors[1]) < np.mean(errors[0]) / 8.0
    assert np.mean(errors[1]) < 2e-4


@pytest.mark.deep(but=["even"])
@pytest.mark.parametrize("solve", [EVEN, CHOSEN, HALVED], ids=["even", "chosen", "halved"])
def test_derivatives_in_both_modes(solve):
    weights = np.arange(1.0, 1.0 + BETWEEN.size)

    def total(y0, vol):
        return (solve(y0, BETWEEN, (0.3, vol), KEY)[:, 0] * weights).sum()

    forward, reverse = (nd.grad(total, (0, 1), mode=m)(1.2, 0.8) for m in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-10)
    assert forward[0] == pytest.approx(total(1.2, 0.8) / 1.2, rel=1e-3)
    if solve is EVEN:
        h = 1e-6
        by_vol = (total(1.2, 0.8 + h) - total(1.2, 0.8 - h)) / (2.0 * h)
        assert forward[1] == pytest.approx(by_vol, rel=1e-7)
    else:
        ts = BETWEEN - BETWEEN[0]
        w = nd.sde.brownian_path(KEY, BETWEEN, dt=0.25) - nd.sde.brownian_path(KEY, 0.1, dt=0.25)
        ends = 1.2 * np.exp((0.3 - 0.32) * ts + 0.8 * w)
        exact = (weights * ends * (w - 0.8 * ts)).sum()
        assert forward[1] == pytest.approx(exact, rel=2e-2, abs=0.1)


@pytest.mark.dear
def test_refusals():
    for options, told in (
        ({"method": "ReversibleHeun"}, "has no inside for dense_output"),
        ({"checkpoints": 3}, "checkpoints=3 does not go with dense_output"),
        ({"events": nd.ode.event(lambda t, y, mu, vol: y)}, "events= does not go with"),
    ):
        with pytest.raises(nd.ArgumentError, match=told):
            nd.sde.solver(_growth, _shaken, dt=0.1, dense_output=True, **options)
    with pytest.raises(nd.ArgumentError, match="increments that are given have no inside"):
        EVEN(1.0, (0.0, 1.0), ARGS, np.zeros(4))
    with pytest.raises(nd.ArgumentError, match="ensemble divides steps by outputs"):
        nd.sde.ensemble(EVEN, 1.0, (0.0, 1.0), ARGS, KEY, 4)
    assert math.isfinite(nd.sde.ensemble(CHOSEN, 1.0, (0.0, 0.7), ARGS, KEY, 4).sum())
