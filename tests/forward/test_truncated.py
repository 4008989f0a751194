"""Integers made of dual numbers in passing carry no derivative."""

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
def counted_from_zero(x):
    total = 0.0
    for i in range(x * x):
        for k in range(i, x * x):
            total += x * k
    return total


@pytest.mark.parametrize("f", [counted, counted_from_zero])
def test_range_counts_by_integers(f):
    assert nd.grad(f, mode="forward")(3.3) == pytest.approx(f(3.3) / 3.3, rel=1e-15)


def test_the_array_of_a_comprehension_of_integers_stays_one():
    @njit
    def listed(x):
        n = np.array([k for k in range(4)])  # noqa: C416  (Numba makes no array of list(range(4)))
        n[0] = x
        return n.sum() * x

    with pytest.raises(nd.UnsupportedError, match=r"n\[0\] = x"):
        nd.grad(listed, mode="forward")(3.3)
