"""Elements that are read twice, by indices that are computed twice: one value, recorded once."""

import re

import numpy as np
import pytest

import numbad as nd


def along_a_line(y):
    for i in range(y.size - 1):
        y[i] = y[i + 1] * y[i + 1] * y[i]
    return y[0]


def on_both_sides(y):
    for i in range(1, y.size - 1):
        y[i] = y[i + 1] * y[i + 1] * y[i - 1] * y[i]
    return y[-2]


def over_a_grid(y):
    for i in range(y.shape[0] - 1):
        for j in range(1, y.shape[1]):
            y[i, j] = y[i, j - 1] * y[i, j - 1] + y[i + 1, j] * y[i + 1, j] * y[i, j]
    return y[0, -1]


def in_rows(y):
    for i in range(y.shape[0] - 1):
        for j in range(y.shape[1]):
            y[i][j] = y[i + 1][j] * y[i + 1][j] * y[i][j]
    return y[0, -1]


def by_another_number(y):
    """Between the reads the index grows, and the element is written to."""
    for i in range(y.size - 2):
        k = i + 1
        first = y[k]
        k += 1
        second = y[k]
        y[i + 1] = first * second
        y[i] = y[i + 1] * first * second
    return y[0] + y[1] * y[2]


def after_the_loop(y):
    """What `i + 1` was in the last iteration is not what it is afterwards."""
    i, k = 0, 0
    while i < y.size - 2:
        k = i + 1
        y[i] = y[k] * y[i]
        i += 1
    return y[k] * y[k] * y[i + 1] * y[i + 1] * y[0]


def added_to(y):
    for i in range(y.shape[0] - 1):
        for j in range(y.shape[1]):
            y[i, j] = y[i, j] + y[i + 1, j] * y[i + 1, j]
    return np.sum(y)


Y = np.array([0.9, 1.1, 0.7, 1.3, 0.8])
GRID = np.array([[0.9, 1.1, 0.7], [1.3, 0.8, 1.2], [0.6, 1.4, 1.05]])
PROGRAMS = [
    (along_a_line, Y, 16),
    (on_both_sides, Y, 16),  # what lies behind is read there again
    (over_a_grid, GRID, 24),
    (in_rows, GRID, 16),
    (by_another_number, Y, 24),
    (after_the_loop, Y, None),
    (added_to, GRID, None),
]


@pytest.mark.parametrize(
    ("f", "y", "bytes_recorded"), PROGRAMS, ids=lambda p: getattr(p, "__name__", "")
)
def test_elements_that_are_read_twice(f, y, bytes_recorded):
    expected = np.empty_like(y)
    for index in np.ndindex(y.shape):  # complex step, of the code as Python runs it
        shifted = y.astype(complex)
        shifted[index] += 1e-30j
        expected[index] = f(shifted).imag / 1e-30
    np.testing.assert_allclose(nd.grad(f, mode="reverse")(y.copy()), expected, rtol=1e-13)
    if bytes_recorded is not None:
        listing = nd.inspect_adjoint(f, y.copy())
        assert sum(map(int, re.findall(r"record .*# (\d+) bytes", listing))) == bytes_recorded


def test_a_sum_of_the_same_element_is_an_update():
    """`y[i, j] = y[i, j] + x` leaves the adjoint where it is, as `+=` does."""
    assert "y_bar[i, j] = 0" not in nd.inspect_adjoint(added_to, GRID.copy())
