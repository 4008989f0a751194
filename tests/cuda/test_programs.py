"""Random functions in kernels, both modes, their code run on the CPU, against differences in Python.

`NUMBAD_CUDA_PROGRAMS` says how many; those that the default leaves out are marked deep.
"""

import os
from itertools import pairwise

import numpy as np
import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad.cuda as device

from .on_cpu import DeviceFunction, without_gpu
from .programs import program

COUNT = max(int(os.environ.get("NUMBAD_CUDA_PROGRAMS", "100")), 4)
F, N, A = types.float64, types.int64, types.float64[::1]
X, Y, V, K = 0.37, 0.81, np.array([0.45, -0.62, 0.71, 0.28]), 4
DIRECTION = np.array([0.6, -0.8, 0.3, -0.5, 0.9, 0.4])


def along(f, h):
    """`f` at a step `h` in the direction."""
    return f(X + h * DIRECTION[0], Y + h * DIRECTION[1], V + h * DIRECTION[2:], K)


def difference(f):
    """The derivative in the direction, by Richardson's extrapolation, and how far it is to be trusted."""
    by_step = [(along(f, h) - along(f, -h)) / (2 * h) for h in (1e-3, 5e-4, 2.5e-4)]
    first = [(4 * fine - coarse) / 3 for coarse, fine in pairwise(by_step)]
    return (16 * first[1] - first[0]) / 15, abs(first[1] - first[0])


@pytest.mark.deep(but=["0", "1", "2", "3"])
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_functions(seed, monkeypatch):
    without_gpu(monkeypatch)
    plain, source = program(seed)
    f = njit(plain)
    expected, error = difference(f)
    if error > 1e-6 * max(1.0, abs(expected)):
        pytest.skip("a kink or a branch lies in the way of the differences")
    forward, reverse = device.jvp(f), device.value_and_grad(f, (0, 1, 2))

    def code(x, y, a, k, da, u, v, work, by_a):
        value, tangent = forward((x, y, a, k), (u, v, da, None))
        same, (dx, dy, _) = reverse(x, y, work, k, by_a)
        return value, tangent, same, dx, dy

    by_a = np.zeros(4)
    given = X, Y, V.copy(), K, DIRECTION[2:].copy(), *DIRECTION[:2], V.copy(), by_a
    failed, found = DeviceFunction(code, (F, F, A, N, A, F, F, A, A))(*given)
    value, tangent, same, dx, dy = found
    assert not failed, source
    np.testing.assert_allclose(
        [value, same], [f(X, Y, V.copy(), K)] * 2, rtol=1e-13, err_msg=source
    )
    pulled = np.dot([dx, dy, *by_a], DIRECTION)
    np.testing.assert_allclose([tangent, pulled], expected, rtol=1e-7, atol=1e-7, err_msg=source)
    np.testing.assert_allclose(pulled, tangent, rtol=1e-11, atol=1e-12, err_msg=source)
