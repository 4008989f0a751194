"""Loops that other differentiable languages for kernels are known to differentiate wrongly.

Warp 1.19 takes no account of what a loop that is not unrolled overwrites: 8.45, 24.089 for the first two.
"""

import math

import numpy as np
import pytest
from numba import types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad.cuda as device

from .on_cpu import DeviceFunction, without_gpu
from .on_gpu import needs_gpu, on_gpu

F, N = types.float64, types.int64


def accumulated(x, n):
    s, a = x * x, 0.0
    for _ in range(n):
        a += x
    return s * a


def power(x, n):
    p = 1.0
    for _ in range(n):
        p = p * x
    return p


def euler(y, n):
    k = 0
    while k < n:
        y += 0.1 * math.sin(y)
        k += 1
    return y


def euler_slope(y, n):
    slope = 1.0
    for _ in range(n):
        slope *= 1.0 + 0.1 * math.cos(y)
        y += 0.1 * math.sin(y)
    return slope


LOOPS = pytest.mark.parametrize(
    ("f", "x", "n", "expected"),
    [
        (accumulated, 1.3, 5, 25.35),
        (power, 1.3, 5, 14.2805),
        (euler, 1.0, 20, euler_slope(1.0, 20)),
    ],
)


def both_modes(f):
    forward, reverse = device.derivative(f), device.grad(f)
    return lambda x, n: (forward(x, n), reverse(x, n))


@LOOPS
def test_what_a_loop_overwrites_counts(f, x, n, expected, monkeypatch):
    without_gpu(monkeypatch)
    code, found = DeviceFunction(both_modes(f), (F, N))(x, n)
    assert code == 0
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-13)


@needs_gpu
@LOOPS
def test_what_a_loop_overwrites_counts_on_a_gpu(f, x, n, expected):
    found, _ = on_gpu(both_modes(f), (x, n), 2)
    np.testing.assert_allclose(found, np.full((len(found), 2), expected), rtol=1e-13)
