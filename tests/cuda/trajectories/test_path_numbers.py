"""Means of what a function makes of each trajectory, against NumPy and differences."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import njit

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_ensemble_call import explosion
from tests.cuda.trajectories.test_sde_march import KEY

from .test_quantile import ARGS, ENDS, EULER, STARTS, asian


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
def test_in_float32(twin):
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
