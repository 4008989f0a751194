"""Small arrays that operators return to Python are NumPy's own; what shares memory still does."""

import sys

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd
from numbad.small_arrays import LARGEST

x = np.linspace(0.5, 1.5, 6)


def total(v):
    return (v * v).sum()


gradient = nd.grad(total, mode="reverse")


@pytest.mark.parametrize("size", [0, 1, 6, LARGEST // 8, LARGEST // 8 + 1, 5000])
def test_the_numbers_and_whose_memory_they_are_in(size):
    v = np.linspace(0.5, 1.5, size)
    found = gradient(v)
    np.testing.assert_array_equal(found, 2 * v)
    assert found.flags.writeable
    assert found.flags.c_contiguous
    if 0 < size <= LARGEST // 8:
        assert found.base is None
        assert found.flags.owndata
    found += 1.0
    np.testing.assert_array_equal(gradient(v), 2 * v)


@pytest.mark.dear
def test_shapes_and_kinds():
    square = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(gradient(square), 2 * square)
    single = x.astype(np.float32)
    found = gradient(single)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, 2 * single)
    complex_value, tangent = nd.jvp(lambda v: v * 1j)((x,), (x,))
    np.testing.assert_array_equal(complex_value, x * 1j)
    np.testing.assert_array_equal(tangent, x * 1j)
    value, _ = nd.jvp(lambda v: (v > 1.0, v))((x,), (x,))
    np.testing.assert_array_equal(value[0], x > 1.0)
    assert value[0].dtype == bool
    jacobian = nd.jacobian(lambda v: v * v)(x)
    np.testing.assert_array_equal(jacobian, np.diag(2 * x))


def twice(v):
    y = v * 2.0
    return y, y, y[1:]


def test_results_that_share_memory_still_do():
    (a, b, c), _ = nd.vjp(twice)((x,), (x, x, x[1:]))
    a[1] = 77.0
    assert b[1] == c[0] == 77.0


def test_an_argument_that_is_returned_is_that_argument():
    value, _ = nd.vjp(lambda v: v)((x,), x)
    assert np.shares_memory(value, x)


twice_pulled = nd.vjp(twice)


def test_nothing_is_kept():
    _nrt_python.memsys_enable_stats()
    seeds = x, x, x[1:]
    gradient(x), twice_pulled((x,), seeds)
    held, references = _held(), sys.getrefcount(np.dtype(float))
    for _ in range(100):
        gradient(x), twice_pulled((x,), seeds)
    assert _held() == held
    assert abs(sys.getrefcount(np.dtype(float)) - references) < 50


def _held():
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free + stats.mi_alloc - stats.mi_free
