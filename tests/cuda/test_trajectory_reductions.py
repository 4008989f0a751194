"""Quantiles over trajectories and means of what a function makes of each, against NumPy and differences."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda, njit

import numbad as nd
import numbad.cuda as device
from numbad.cuda.trajectories import quantile
from numbad.cuda.trajectories.collection import Portion
from numbad.cuda.trajectories.quantile import QuantileSearch
from tests.cuda.trajectories.test_sde_march import KEY, brownian_solver

from .test_trajectories import explosion, twin  # noqa: F401 (a fixture)
from .twin_device import Resident, TwinDevice

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


# -- functions of a trajectory ----------------------------------------------------------------------


def asian(ys):
    total = 0.0
    for k in range(ys.shape[0]):
        total += ys[k, 0]
    return max(total / ys.shape[0] - 1.1, 0.0)


@njit
def both(ys):
    return asian_compiled(ys), ys[-1, 0] * ys[1, 0]


asian_compiled = njit(asian)


@pytest.mark.parametrize("block", [None, 32])
def test_the_mean_of_what_a_function_makes(block):
    each = device.ensemble(EULER, STARTS, ENDS, ARGS, KEY).ys
    paid = np.array([asian(ys) for ys in each])
    found = device.ensemble(EULER, STARTS, ENDS, ARGS, KEY, reduce=asian, block=block)
    assert isinstance(found.mean, float)
    np.testing.assert_allclose(found.mean, paid.mean(), rtol=1e-12)
    np.testing.assert_allclose(found.error, paid.std(ddof=1) / math.sqrt(60), rtol=1e-10)
    assert (found.derivatives, found.paths, found.failed) == (None, 60, -1)


@pytest.mark.deep
def test_it_is_that_of_the_cpu():
    """nd.sde.ensemble with the same key: the same paths, the same means."""
    found = device.ensemble(EULER, np.full(40, 1.2), ENDS, ARGS, KEY, reduce=both)
    on_cpu = nd.sde.ensemble(EULER, 1.2, ENDS, ARGS, KEY, 40, reduce=both)
    np.testing.assert_allclose(found.mean, on_cpu.mean, rtol=1e-12)
    np.testing.assert_allclose(found.error, on_cpu.error, rtol=1e-9)


def test_its_derivatives_are_differences():
    """By y0, rate and volatility, of a sum of two passes."""
    found = device.ensemble(EULER, STARTS, ENDS, ARGS, KEY, derivatives=("y0", "args"), reduce=both)

    def mean(shift, rate, vol):
        values = device.ensemble(EULER, STARTS + shift, ENDS, (rate, vol), KEY, reduce=both)
        return np.array(values.mean)

    h = 1e-5
    for k in range(3):
        step = h * np.eye(3)[k]
        at = np.array([0.0, *ARGS])
        slope = (mean(*(at + step)) - mean(*(at - step))) / (2.0 * h)
        np.testing.assert_allclose([by[k] for by in found.derivatives], slope, rtol=1e-7)


def last(ys):
    return max(ys[-1, 0] - 1.1, 0.0) ** 2


@pytest.mark.deep
def test_in_float32(twin):  # noqa: F811
    given = STARTS.astype("f4"), ENDS, ARGS, KEY
    found = device.ensemble(EULER, *given, derivatives="args", reduce=last)
    exact = device.ensemble(EULER, STARTS, ENDS, ARGS, KEY, derivatives="args", reduce=last)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-4)
    np.testing.assert_allclose(found.derivatives, exact.derivatives, rtol=1e-4)
    texts = [kernel.ptx((9, 0)) for kernel in twin if kernel.name == "numbers"]
    assert [".f64" in text for text in texts] == [False, True]


def test_a_trajectory_that_fails_is_not_asked():
    y0s = np.array([0.5, 1.6, -1.0])
    with pytest.warns(nd.NumbadWarning, match="1 of 3"):
        found = device.ensemble(explosion, y0s, (0.0, 1.0), reduce=lambda ys: ys[1, 0])
    np.testing.assert_allclose(found.mean, (1.0 - 0.5) / 2.0, rtol=1e-5)
    assert (found.paths, found.failed) == (2, 1)


@pytest.mark.parametrize(
    ("reduce", "error", "message"),
    [
        (lambda ys: ys[0], nd.NumbadError, "returns a float or a tuple of floats"),
        ("sum", nd.ArgumentError, "not 'sum'"),
        (3, nd.ArgumentError, "not 3"),
    ],
)
def test_what_is_no_reducer_is_refused(reduce, error, message):
    with pytest.raises(error, match=message):
        device.ensemble(EULER, STARTS, ENDS, ARGS, KEY, reduce=reduce)


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
def test_on_a_gpu(monkeypatch):
    monkeypatch.undo()
    given = EULER, np.linspace(0.5, 2.0, 10_000), ENDS, ARGS, KEY
    each = device.ensemble(*given).ys
    bands = device.ensemble(*given, reduce=device.quantiles(*LEVELS))
    np.testing.assert_allclose(bands.values, np.quantile(each, LEVELS, axis=0), rtol=1e-14)
    found = device.ensemble(*given, reduce=asian, block=4096)
    np.testing.assert_allclose(found.mean, np.mean([asian(ys) for ys in each]), rtol=1e-12)
