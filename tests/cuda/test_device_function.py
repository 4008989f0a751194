"""Operators for the CPU, called in kernels."""

import math

import numpy as np
import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd

from .on_cpu import DeviceFunction
from .test_forward_mode import cube

pytestmark = pytest.mark.usefixtures("no_gpu")


# -- operators for the CPU, called in kernels --------------------------------------------------------


def surface(x, y):
    return x * x * y + math.sin(y)


checkpointed = nd.checkpoint(cube)


@njit
def scaled(x, k=2.0):
    def inner(z):
        return z * x

    return inner(x) * k


def test_operators_in_forward_mode_are_called_as_they_are():
    gradient, second = nd.grad(surface, (0, 1)), nd.hessian(surface)
    along, product = nd.jvp(surface), nd.hvp(surface)
    of_parts = nd.derivative(lambda x, y: checkpointed(x) * y + scaled(x) + scaled(x, k=y))

    def code(x, y):
        return (
            *gradient(x, y),
            second(x, y),
            *along((x, y), (y, x)),
            *product((x, y), (y, x)),
            of_parts(x, y),
        )

    x, y = 0.7, 1.3
    by_x, by_y = 2 * x * y, x * x + math.cos(y)
    expected = [by_x, by_y, 2 * y, surface(x, y), by_x * y + by_y * x]
    expected += [2 * y * y + 2 * x * x, 2 * x * y - math.sin(y) * x]
    expected += [3 * x * x * y + 4 * x + 2 * x * y]
    found = DeviceFunction(code, (types.float64,) * 2)(x, y)[1]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
