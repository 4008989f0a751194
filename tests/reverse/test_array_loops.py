"""Assignments of arrays to parts of others, element by element."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


def assigned_to_a_row(y):
    rows = np.zeros((3, 5))
    rows[0, :] = (y * y).reshape(1, 5)
    rows[1] = y.reshape(1, 1, 5)
    rows[:, 1:] = rows[::-1, 1:].copy().reshape(1, 3, 4)
    return rows[2, 4] * rows[0, 0] + rows[1, 2]


def test_axes_of_length_one_in_front_of_what_is_assigned():
    y = np.arange(1.0, 6.0)
    expected = np.zeros(5)
    expected[0], expected[4], expected[2] = 2.0 * y[0] * y[4] ** 2, y[0] ** 2 * 2.0 * y[4], 1.0
    np.testing.assert_allclose(nd.grad(assigned_to_a_row, mode="reverse")(y), expected)


def test_axes_of_another_length_are_refused_as_numba_does():
    def wrong(y):
        rows = np.zeros(5)
        rows[:] = y.reshape(5, 1)
        return rows[4]

    with pytest.raises(ValueError, match="cannot assign slice"):
        nd.grad(wrong, mode="reverse")(np.ones(5))


def to_numbers(x):
    x[np.array([1, 2, 0, 3])] = x
    return x[0] + 10.0 * x[1] + 100.0 * x[2] * x[3]


def to_numbers_turned(x):
    x[np.array([3, 0, 1])] = x[2::-1]
    return x[0] + 10.0 * x[1] * x[1] + 100.0 * x[2] * x[3]


def to_a_mask(x):
    x[x > 0.4] = x[::-1][:3]
    return x[0] + 10.0 * x[1] * x[1] + 100.0 * x[2] * x[3]


def to_rows(x):
    a = x.reshape(2, 2) * 1.0
    a[np.array([1, 0])] = a
    a[np.array([True, True])] = a[::-1]
    a[np.array([1, 0])] = a[:, :1]
    return a[0, 0] * 3.0 + a[1, 1] * a[0, 1]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", [to_numbers, to_numbers_turned, to_a_mask, to_rows])
def test_numbers_and_masks_take_what_was_there_before(f, mode):
    """Numba copies what shares memory with the array that it is put into."""
    x, compiled, h = np.array([0.5, 0.3, 0.7, 0.9]), njit(f), 1e-6
    value, gradient = nd.value_and_grad(f, mode=mode)(x.copy())
    assert value == compiled(x.copy())
    for k, direction in enumerate(h * np.eye(4)):
        slope = (compiled(x + direction) - compiled(x - direction)) / (2.0 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-8, abs=1e-8)
