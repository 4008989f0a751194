"""New arrays, as gradients are: large ones in pages that the system gives out zero."""

import gc

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.compilation import array_allocation
from numbad.forward.layout import zeros_as
from numbad.reverse.memory import LARGEST_KEPT
from tests.reverse.test_leaks import growth

MANY = array_allocation.LARGE // 8


@njit
def zeros_like(a, dtype):
    return zeros_as(a, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("count", [0, 1, MANY - 1, MANY, MANY + 1, 4 * MANY + 3])
def test_arrays_are_zero_and_the_callers(dtype, count):
    for _ in range(2):
        made = zeros_like(np.ones(count), dtype)
        assert made.shape == (count,)
        assert made.dtype == dtype
        assert not made.any()
        made[:] = 7.0  # the next one has none of it
        assert (made == 7.0).all()


@pytest.mark.parametrize("order", ["C", "F", "none"])
def test_layouts(order):
    a = np.ones((300, 2, 500))[:, 0] if order == "none" else np.ones((300, 500), order=order)
    made = zeros_like(a, np.float64)
    if order != "none":
        assert made.strides == a.strides
    assert made.flags.c_contiguous == a.flags.c_contiguous
    assert made.flags.f_contiguous == a.flags.f_contiguous
    assert not made.any()


def test_a_part_keeps_the_whole():
    part = zeros_like(np.ones(2 * MANY), np.float64)[MANY:]
    gc.collect()
    others = [zeros_like(np.ones(2 * MANY), np.float64) for _ in range(5)]
    for other in others:
        other[:] = 1.0
    assert not part.any()


def test_what_is_dropped_is_freed():
    a = np.ones(8 * MANY)

    def made(turn):
        zeros_like(a, np.float64)[:] = 1.0

    grown, held = growth(made, warm=2, calls=30)
    assert grown < 4 * a.nbytes
    assert held == 0


@njit
def of_some_rows(table, rows):
    total = 0.0
    for i in range(rows.size):
        for j in range(table.shape[1]):
            total += np.sin(table[rows[i], j]) * (j + 1)
    return 3.0 * total


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_gradient_by_a_few_rows_of_a_large_table(order):
    """The loop adds to zeros of its own, of more bytes than are kept from call to call."""
    table = np.asarray(np.ones((LARGEST_KEPT // 64 + 9, 8)), order=order)
    gradient = nd.grad(of_some_rows, mode="reverse")
    for rows in (np.array([0, 5, 5]), np.array([7, len(table) - 1])):
        expected = np.zeros_like(table)
        np.add.at(expected, rows, 3.0 * np.cos(1.0) * np.arange(1.0, 9.0))
        found = gradient(table, rows)
        np.testing.assert_allclose(found[rows], expected[rows], rtol=1e-14)
        assert np.count_nonzero(found) == np.count_nonzero(expected)
