"""Quantiles over trajectories on the device, against those of NumPy."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from numbad.cuda.trajectories import quantile
from numbad.cuda.trajectories.collection import Portion
from numbad.cuda.trajectories.quantile import QuantileSearch
from tests.cuda.trajectories.test_ensemble_call import explosion
from tests.cuda.trajectories.test_sde_march import KEY, brownian_solver
from tests.cuda.twin_device import Resident, TwinDevice

LEVELS = (0.0, 0.05, 0.5, 0.77, 1.0)
STARTS = np.linspace(0.5, 2.0, 60)
EULER, ENDS, ARGS = brownian_solver("EulerMaruyama", 0.25), (0.0, 0.5, 1.0), (0.1, 0.4)


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    """The CPU runs them one after the other, as often as a number has bits."""
    monkeypatch.setattr(quantile, "_THREADS", 100)


def searched(table, status, levels=LEVELS):
    portion = Portion(0, status.size, Resident(table), None, Resident(status))
    search = QuantileSearch(TwinDevice(), table.dtype.name, levels, [])
    search.add(portion)
    return search.result(-1)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_quantiles_are_those_of_numpy(dtype):
    """Of both signs and all sizes, with zeros, equal numbers, and some of trajectories that failed."""
    rng = np.random.default_rng(3)
    table = (rng.normal(size=(2, 3, 91)) * 10.0 ** rng.integers(-30, 30, (2, 3, 91))).astype(dtype)
    table[0, 0, ::3], table[0, 1, ::2], table[1, 2] = 0.0, -0.0, 7.25
    status = (rng.random(91) < 0.2).astype(np.int32)
    table[0][:, status != 0] = -1e38  # before it failed
    table[1][:, status != 0] = math.nan
    kept = table[..., status == 0].astype(float)
    found = searched(table, status)
    np.testing.assert_allclose(found.values, np.quantile(kept, LEVELS, axis=-1), rtol=1e-6)
    if dtype == "f8":
        np.testing.assert_allclose(found.values, np.quantile(kept, LEVELS, axis=-1), rtol=1e-14)
    assert (found.levels, found.paths) == (LEVELS, kept.shape[-1])


def test_quantiles_of_few():
    alone = searched(np.array([[[3.0]]]), np.zeros(1, np.int32), (0.0, 0.3, 1.0))
    assert alone.values.tolist() == [[[3.0]]] * 3
    pair = searched(np.array([[[5.0, -1.0]]]), np.zeros(2, np.int32), (0.25,))
    assert pair.values.tolist() == [[[0.5]]]


def test_quantiles_of_an_ensemble():
    found = device.ensemble(EULER, STARTS, ENDS, ARGS, KEY, reduce=device.quantiles(*LEVELS))
    each = device.ensemble(EULER, STARTS, ENDS, ARGS, KEY)
    np.testing.assert_allclose(found.values, np.quantile(each.ys, LEVELS, axis=0), rtol=1e-14)
    assert (found.paths, found.failed) == (60, -1)
    with pytest.warns(nd.NumbadWarning, match="1 of 4"):
        found = device.ensemble(
            explosion, np.array([0.5, 1.6, -1.0, 0.1]), (0.0, 1.0), reduce=device.quantiles(0.5)
        )
    assert (found.paths, found.failed) == (3, 1)
    np.testing.assert_allclose(found.values[0, :, 0], [0.1, 1.0 / 9.0], rtol=1e-5)


@pytest.mark.parametrize("levels", [(), (1.5,), (-0.1,), (math.nan,), ("median",), (True,)])
def test_levels_are_numbers_from_0_to_1(levels):
    with pytest.raises(nd.ArgumentError, match=r"quantiles"):
        device.quantiles(*levels)


def test_quantiles_have_no_derivatives():
    with pytest.raises(nd.UnsupportedError, match="no derivatives of quantiles"):
        device.ensemble(
            EULER, STARTS, ENDS, ARGS, KEY, derivatives="args", reduce=device.quantiles(0.5)
        )


def asian(ys):
    total = 0.0
    for k in range(ys.shape[0]):
        total += ys[k, 0]
    return max(total / ys.shape[0] - 1.1, 0.0)


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
def test_on_a_gpu(monkeypatch):
    monkeypatch.undo()
    given = EULER, np.linspace(0.5, 2.0, 10_000), ENDS, ARGS, KEY
    each = device.ensemble(*given).ys
    bands = device.ensemble(*given, reduce=device.quantiles(*LEVELS))
    np.testing.assert_allclose(bands.values, np.quantile(each, LEVELS, axis=0), rtol=1e-14)
    found = device.ensemble(*given, reduce=asian, block=4096)
    np.testing.assert_allclose(found.mean, np.mean([asian(ys) for ys in each]), rtol=1e-12)
