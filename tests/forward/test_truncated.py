"""Integers made of dual numbers in passing count, and carry no derivative."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


@njit
def counted(x):
    total = 0.0
    for i in range(x, 9.3, x / 1.5):
        total += x * i
    return total


@njit
def stored(x):
    n = np.zeros(3, np.int64)
    n[0] = x
    n[1:] = x * x
    return n.sum() * x


@njit
def filled(x):
    return np.full_like(np.arange(2), x).sum() * x


@njit
def listed(x):
    n = np.array([k for k in range(4)])  # noqa: C416  (Numba makes no array of list(range(4)))
    n[0] = x
    return n.sum() * x


@pytest.mark.parametrize("f", [counted, stored, filled, listed])
def test_what_is_truncated_is_constant(f):
    assert nd.grad(f, mode="forward")(3.3) == pytest.approx(f(3.3) / 3.3, rel=1e-15)
