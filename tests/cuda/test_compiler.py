"""Compiling for a GPU where there is none."""

import math

import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda, types

import numbad.cuda as device
from numbad.errors import DeviceError


def energy(x, k):
    return k * (x[0] * x[1] + math.sin(x[2]))


@pytest.mark.skipif(cuda.is_available(), reason="there is a driver")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_missing_driver_is_named():
    """numba-cuda asks it which GPU functions that kernels call are compiled for."""
    rows, gradient = device.jacobian(energy), device.grad(energy)

    def kernel_of(operator):
        def kernel(x, k, by_x):
            operator(x, k, by_x)

        return kernel

    A, F = types.float64[::1], types.float64
    with pytest.raises(DeviceError, match="finds none.*from Python, where it runs on the CPU"):
        cuda.compile_ptx(kernel_of(rows), (A, F, A), cc=(9, 0))
    ptx, _ = cuda.compile_ptx(kernel_of(gradient), (A, F, A), cc=(9, 0))
    assert ".target sm_90" in ptx
