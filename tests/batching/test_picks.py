"""Elements and rows by integers, and sums back into them."""

import numpy as np
import pytest

from numbad.batching.picks import add_picked, picked

NUMBERS = np.array([2, -1, 0, 2])


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_elements_and_rows(shape):
    array = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(picked(array, NUMBERS, 4, True), array[NUMBERS])
    rows, shadow = picked(array, NUMBERS, 4, True), np.zeros(shape)
    add_picked(shadow, NUMBERS, rows)
    expected = np.zeros(shape)
    np.add.at(expected, NUMBERS, rows)
    np.testing.assert_array_equal(shadow, expected)


@pytest.mark.parametrize("beyond", [3, -4])
def test_what_is_not_there_is_told_or_zero(beyond):
    array, numbers = np.ones(3), np.array([0, beyond])
    with pytest.raises(IndexError, match="out of bounds"):
        picked(array, numbers, 2, True)
    np.testing.assert_array_equal(picked(array, numbers, 2, False), [1.0, 0.0])
    shadow = np.zeros(3)
    add_picked(shadow, numbers, np.array([2.0, 5.0]))
    np.testing.assert_array_equal(shadow, [2.0, 0.0, 0.0])


def test_fewer_numbers_than_iterations():
    np.testing.assert_array_equal(picked(np.ones(3), NUMBERS[:1], 3, False), [1.0, 0.0, 0.0])
    with pytest.raises(IndexError, match="out of bounds"):
        picked(np.ones(3), NUMBERS[:1], 3, True)
