"""Assignments of arrays to parts of others, element by element."""

import numpy as np
import pytest

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
