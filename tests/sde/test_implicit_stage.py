"""Stages that are implicit in the drift: structures, stability, and steps without a solution."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(4)


# -- states of several components: van der Pol's oscillator --------------------------------------------


@njit
def _in_tuples(t, y, mu, vol):
    return y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]


@njit
def _in_arrays(t, y, mu, vol):
    return np.array((y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]))


_NOISES = {
    "diagonal": (lambda t, y, mu, vol: (0.1 * y[0] * vol, vol * y[1]), _in_tuples),
    "array": (lambda t, y, mu, vol: np.array((0.1 * y[0] * vol, vol * y[1])), _in_arrays),
    "matrix": (lambda t, y, mu, vol: ((0.1 * y[0] * vol, 0.0), (0.0, vol * y[1])), _in_tuples),
}


@pytest.mark.deep
@pytest.mark.parametrize("calculus", ["ito", "stratonovich"])
@pytest.mark.parametrize("method", ["ImplicitEM", "ISSEM", "ImplicitMilstein"])
def test_tuples_arrays_and_matrices_agree(method, calculus):
    found = []
    for name, (diffusion, drift) in _NOISES.items():
        noise = "general" if name == "matrix" else "diagonal"
        if method == "ImplicitMilstein" and noise == "general":
            continue
        y0 = np.array([2.0, 0.0]) if name == "array" else (2.0, 0.0)
        solve = nd.sde.solver(
            drift, njit(diffusion), method=method, dt=0.05, noise=noise, calculus=calculus
        )

        @njit
        def total(mu, vol, solve=solve, y0=y0):
            return solve(y0, (0.0, 1.0), (mu, vol), KEY)[-1].sum()

        mode = "forward" if name == "diagonal" else "reverse"
        value, slopes = nd.value_and_grad(total, (0, 1), mode=mode)(50.0, 0.1)
        found.append((value, *slopes))
    np.testing.assert_allclose(found[1:], [found[0]] * (len(found) - 1), rtol=1e-9)


@pytest.mark.deep
def test_skencarp_stays_where_the_drift_holds_it():
    drift = njit(lambda t, y, rate: (rate * (y[1] - y[0]), rate * (math.cos(t) - y[1])))
    noise = njit(lambda t, y, rate: (1e-3, 1e-3))
    solve = nd.sde.solver(drift, noise, method="SKenCarp", noise="additive", dt=0.02)
    ends = solve((1.0, 1.0), (0.0, 1.0, 2.0), (1e4,), KEY)
    np.testing.assert_allclose(ends[:, 0], np.cos([0.0, 1.0, 2.0]), atol=5e-3)

    def end(rate):
        return solve((1.0, 1.0), (0.0, 1.0), (rate,), KEY)[-1].sum()

    forward, reverse = (nd.derivative(end)(100.0), nd.grad(end, mode="reverse")(100.0))
    assert reverse == pytest.approx(forward, rel=1e-9)
    around = [end(100.0 + h) for h in (1e-3, -1e-3)]
    assert forward == pytest.approx((around[0] - around[1]) / 2e-3, rel=1e-5)


# -- steps whose equation has no solution -------------------------------------------------------------


@njit
def _explosive(t, y):
    return y * y


@njit
def _shaken(t, y):
    return 0.5 * y


@pytest.mark.dear
def test_a_step_without_a_solution_costs_that_path():
    """z = y + h z**2 has a real solution up to y = 1 / (4 h) alone."""
    solve = nd.sde.solver(_explosive, _shaken, method="ImplicitEM", dt=0.125)
    times = np.array([0.0, 0.5])
    with pytest.warns(nd.NumbadWarning, match="of 64 paths end in NaN"):
        found = nd.sde.ensemble(solve, 1.2, times, (), KEY, 64, reduce="mean")
    assert 0 < found.paths < 64
    with pytest.raises(nd.IntegrationError, match="ends in NaN"):
        solve(1.2, times, (), (KEY, found.failed))
    paths = nd.sde.ensemble(solve, 1.2, times, (), KEY, 64)
    finite = np.isfinite(paths[:, 1, 0])
    assert np.flatnonzero(~finite)[0] == found.failed
    good = int(np.flatnonzero(finite)[0])
    assert paths[good, 1, 0] == pytest.approx(solve(1.2, times, (), (KEY, good))[1, 0], rel=1e-13)
    assert finite.sum() == found.paths
    assert found.mean[1, 0] == pytest.approx(paths[finite, 1, 0].mean(), rel=1e-12)


def cubes(t, y, k, work):
    for i in range(2):
        work[i] = k * y[i] ** 3
    return -k * work[0] - y[0], -work[1]


def plain_cubes(t, y, k, work):
    return -k * k * y[0] ** 3 - y[0], -k * y[1] ** 3


def kicks(t, y, k, work):
    return 0.1, 0.1 * k


@pytest.mark.dear
@pytest.mark.deep(but=["ImplicitEM-reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("method", ["ImplicitEM", "STrapezoid", "ISSEM", "SKenCarp"])
def test_a_drift_may_have_work_arrays(method, mode):
    key, found = nd.random.key(9), []
    for drift in (cubes, plain_cubes):
        solve = nd.sde.solver(drift, kicks, method=method, noise="additive", dt=0.1)
        found.append(nd.value_and_grad(_end(solve, key), mode=mode)(1.1, np.zeros(2)))
    np.testing.assert_allclose(*found, rtol=1e-13)


def _end(solve, key):
    return njit(lambda k, work: solve((1.0, 1.2), (0.0, 1.0), (k, work), key)[-1].sum())
