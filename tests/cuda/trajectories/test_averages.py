"""Means over the trajectories of an ensemble on the GPU: the kernels run on the CPU, against NumPy."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from numbad.cuda.trajectories import averages
from tests.cuda.trajectories.test_ensemble_call import explosion
from tests.cuda.trajectories.test_sde_march import KEY, brownian_solver
from tests.cuda.twin_device import Resident, TwinDevice

STARTS = np.linspace(0.5, 2.0, 101)


@pytest.mark.parametrize("threads", [1, 60, 2**17])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_means_and_their_errors(dtype, threads, monkeypatch):
    monkeypatch.setattr(averages, "_THREADS", threads)
    rng = np.random.default_rng(1)
    table = (1000.0 + rng.normal(size=(2, 3, 517))).astype(dtype)
    status = (rng.random(517) < 0.1).astype(np.int32)
    table[..., status != 0] = math.nan
    found = averages.moments(TwinDevice(), Resident(status), Resident(table), np.dtype(dtype).name)
    count, mean, error = int(found.count.flat[0]), found.mean, averages.standard_error(found)
    kept = table[..., status == 0].astype(float)
    assert count == kept.shape[-1] < 517
    np.testing.assert_allclose(mean, kept.mean(axis=-1), rtol=1e-13)
    np.testing.assert_allclose(error, kept.std(axis=-1, ddof=1) / math.sqrt(count), rtol=1e-9)


def test_the_mean_of_an_ensemble():
    solve, args = brownian_solver("EulerMaruyama", 0.25), (0.1, 0.4)
    found = device.ensemble(solve, STARTS, (0.0, 1.0), args, KEY, derivatives="args", reduce="mean")
    each = device.ensemble(solve, STARTS, (0.0, 1.0), args, KEY, derivatives="args")
    np.testing.assert_allclose(found.mean, each.ys.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(
        found.error, each.ys.std(axis=0, ddof=1) / math.sqrt(101), rtol=1e-10
    )
    np.testing.assert_allclose(found.derivatives, each.derivatives.mean(axis=0), rtol=1e-12)
    assert (found.paths, found.failed) == (101, -1)


def test_trajectories_that_fail_are_left_out():
    y0s = np.array([0.5, 1.6, -1.0, 0.1])
    with pytest.warns(nd.NumbadWarning, match="1 of 4"):
        found = device.ensemble(explosion, y0s, (0.0, 1.0), reduce="mean")
    assert (found.paths, found.failed) == (3, 1)
    others = 1.0 / (1.0 / y0s[[0, 2, 3]] - 1.0)
    np.testing.assert_allclose(found.mean[:, 0], [y0s[[0, 2, 3]].mean(), others.mean()], rtol=1e-5)


def test_other_reductions_are_refused():
    with pytest.raises(nd.ArgumentError, match="not 'median'"):
        device.ensemble(explosion, STARTS, (0.0, 1.0), reduce="median")


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
def test_on_a_gpu(monkeypatch):
    """Geometric Brownian motion: the mean of Euler's method is that of the deterministic steps."""
    monkeypatch.undo()
    solve = brownian_solver("EulerMaruyama", 0.01)
    starts = np.ones(1_000_000, "f4")
    found = device.ensemble(solve, starts, (0.0, 1.0), (0.1, 0.2), KEY, reduce="mean")
    assert abs(found.mean[1, 0] - 1.001**100) < 5.0 * found.error[1, 0]
    assert found.paths == 1_000_000
