"""The arrays of a Jacobian share memory where they are small, and nothing else."""

import gc

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd
from numbad.operators.made_together import SMALL, arrays_of


@njit
def products(x, y, w):
    s = 0.0
    for k in range(x.size):
        s += x[k] * x[k]
    return np.array([w * s * y[0], s + y[1] * y[1]])


jacobian = nd.jacobian(products, (0, 1, 2), mode="reverse")


@njit
def sums(x, y, k):
    total = np.zeros((2, x.size))
    for i in range(k):
        by_x, by_y, by_w = jacobian(x, y, float(i))
        by_x[1] += by_w[0] + by_y[0, 0]
        kept = by_x[:, ::-1]  # outlives the others
        total += kept
    return total


def expected(x, y, w):
    """In closed form."""
    s = x @ x
    by_x = np.array([2.0 * w * y[0] * x, 2.0 * x])
    by_y = np.zeros((2, y.size))
    by_y[0, 0], by_y[1, 1] = w * s, 2.0 * y[1]
    return by_x, by_y, np.array([s * y[0], 0.0])


def held():
    stats = rtsys.get_allocation_stats()
    return stats.mi_alloc - stats.mi_free


@pytest.mark.deep(but=["3"])
@pytest.mark.parametrize("size", [3, SMALL])  # together; alone
def test_each_is_what_it_is_alone(size):
    x, y = np.linspace(-1.0, 1.5, size), np.array([0.5, 2.0, 1.0])
    found = jacobian(x, y, 0.7)
    for array, exact in zip(found, expected(x, y, 0.7), strict=True):
        np.testing.assert_allclose(array, exact, rtol=1e-13)
    first, *others = found
    for other in others:
        other[...] = np.nan
    del found, others, other, array
    gc.collect()
    jacobian(x, y, 0.1)  # whose memory would be what is freed too early
    np.testing.assert_allclose(first, expected(x, y, 0.7)[0], rtol=1e-13)


@pytest.mark.dear
@pytest.mark.parametrize("size", [3, SMALL])
def test_memory_is_freed_with_the_last_one(size):
    x, y = np.linspace(-1.0, 1.5, size), np.array([0.5, 2.0])
    _nrt_python.memsys_enable_stats()
    exact = sum(_summand(x, y, float(i)) for i in range(4))
    np.testing.assert_allclose(sums(x, y, 4), exact, rtol=1e-12)
    before = held()
    for _ in range(10):
        sums(x, y, 4)
    assert held() == before


def _summand(x, y, w):
    by_x, by_y, by_w = expected(x, y, w)
    by_x[1] += by_w[0] + by_y[0, 0]
    return by_x[:, ::-1]


def test_no_numbers_at_all():
    made = njit(lambda: arrays_of(((0, 3), (2,))))()
    assert [a.shape for a in made] == [(0, 3), (2,)]
