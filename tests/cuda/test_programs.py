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
from .on_gpu import needs_gpu, on_gpu
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


SEEDS = pytest.mark.parametrize("seed", range(COUNT))


def both_modes(seed):
    """Code that gives a random function's value, tangent and gradient; what is expected, and its source."""
    plain, source = program(seed)
    f = njit(plain)
    expected, error = difference(f)
    if not error <= 1e-6 * max(1.0, abs(expected)):
        pytest.skip("a kink, a branch or an infinity lies in the way of the differences")
    forward, reverse = device.jvp(f), device.value_and_grad(f, (0, 1, 2))

    def code(x, y, a, k, da, u, v, work, by_a):
        value, tangent = forward((x, y, a, k), (u, v, da, None))
        same, (dx, dy, _) = reverse(x, y, work, k, by_a)
        return value, tangent, same, dx, dy

    return code, f(X, Y, V.copy(), K), expected, source


def given():
    return X, Y, V.copy(), K, DIRECTION[2:].copy(), *DIRECTION[:2], V.copy(), np.zeros(4)


def check(found, by_a, value, expected, source, close=1e-13):
    """What one thread found."""
    first, tangent, same, dx, dy = found
    np.testing.assert_allclose([first, same], [value] * 2, rtol=close, err_msg=source)
    pulled = np.dot([dx, dy, *by_a], DIRECTION)
    np.testing.assert_allclose([tangent, pulled], expected, rtol=1e-7, atol=1e-7, err_msg=source)
    np.testing.assert_allclose(pulled, tangent, rtol=1e-11, atol=1e-12, err_msg=source)


@pytest.mark.deep(but=["0", "1", "2", "3"])
@SEEDS
def test_random_functions(seed, monkeypatch):
    without_gpu(monkeypatch)
    code, value, expected, source = both_modes(seed)
    args = given()
    failed, found = DeviceFunction(code, (F, F, A, N, A, F, F, A, A))(*args)
    assert not failed, source
    check(found, args[-1], value, expected, source)


@needs_gpu
@SEEDS
def test_random_functions_on_a_gpu(seed):
    code, value, expected, source = both_modes(seed)
    found, arrays = on_gpu(code, given(), 5)
    assert (found == found[0]).all(), source
    check(found[0], arrays[-1][0], value, expected, source, close=1e-11)
