"""Functions of NumPy and of `math` in kernels: on the CPU, against differences."""

import math

import numpy as np
import pytest
from numba import types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
import numbad.cuda as device

from .on_cpu import DeviceFunction
from .test_forward_mode import PRECISIONS

pytestmark = pytest.mark.usefixtures("no_gpu")


# -- functions of NumPy and of `math` ---------------------------------------------------------------


def by_numpy(x, y):
    a = np.exp(x) + np.expm1(y) * np.log1p(x) + np.exp2(x) - np.sqrt(y) + np.cbrt(x)
    b = np.power(x, y) + np.hypot(x, y) + np.arctan2(x, y) + np.tanh(x) * np.arcsinh(y)
    c = np.square(x) + np.reciprocal(y) - np.negative(x) + np.absolute(x - y) + np.copysign(x, -y)
    d = np.add(x, y) * np.subtract(x, y) + np.multiply(x, y) + np.fmod(y, x) + np.maximum(x, y)
    return a + b + c + d + np.floor(x) + np.ceil(y) + np.trunc(x) + np.rint(y) + np.sign(x)


def by_math(x, y):
    a = math.exp(x) + math.expm1(y) * math.log1p(x) + 2.0**x - math.sqrt(y) + x ** (1.0 / 3.0)
    b = x**y + math.hypot(x, y) + math.atan2(x, y) + math.tanh(x) * math.asinh(y)
    c = x * x + 1.0 / y + x + abs(x - y) - x
    d = (x + y) * (x - y) + x * y + y % x + max(x, y)
    return a + b + c + d + 4.0  # floor, ceil, trunc, rint and sign of 0.75 and 1.25


@PRECISIONS
def test_functions_of_numpy_and_math(F):
    """Against central differences in Python, with a sixth-order formula."""
    numpy, mathematics = device.jvp(by_numpy), device.jvp(by_math)

    def code(x, y):
        return *numpy((x, y), (1, 0.5)), *mathematics((x, y), (1, 0.5))

    run = DeviceFunction(code, (F, F))
    x, y, h = 0.75, 1.25, 2e-3
    value = by_math(x, y)
    steps = [
        by_math(x + k * h, y + 0.5 * k * h) - by_math(x - k * h, y - 0.5 * k * h) for k in (1, 2, 3)
    ]
    along = np.dot(steps, [45.0, -9.0, 1.0]) / (60.0 * h)
    tolerance = 1e-11 if F is types.float64 else 2e-6
    np.testing.assert_allclose(run(x, y)[1], [value, along] * 2, rtol=tolerance)
    assert (".f64" in run.ptx) == (F is types.float64)
