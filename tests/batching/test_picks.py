"""Elements and rows by integers for a block of lanes, and sums back into them."""

import numpy as np
import pytest
from numba import njit
from numba.core import types

from numbad.batching import blocks, picks

LANES = 4
NUMBERS = np.array([2, -1, 0, 2, 1, 1], np.int32)
load, add, store = (
    picks.load_picked(LANES, True),
    picks.add_picked(LANES, True),
    blocks.store_lanes(4),
)
load_some, add_some = picks.load_picked(LANES, False), picks.add_picked(LANES, False)
lanes, keep = blocks.load_lanes(0, LANES), blocks.kept_lanes(types.float64, LANES)


@njit
def picked(array, numbers, more, out):
    for first in range(0, len(out), LANES):
        store(out, first, (), load(array, numbers, more, first, ()))


@njit
def some_picked(array, numbers, out):
    for first in range(0, len(out), LANES):
        store(out, first, (), load_some(array, numbers, 0, first, ()))


@njit
def column_picked(array, numbers, j, out):
    for first in range(0, len(out), LANES):
        store(out, first, (), load(array, numbers, 0, first, (j,)))


@njit
def added(array, numbers, more, values):
    for first in range(0, len(values), LANES):
        kept = keep(lanes(values, first, ()), 0.0, first, len(values))
        add(array, numbers, more, first, (), kept)


@njit
def some_added(array, numbers, values):
    for first in range(0, len(values), LANES):
        add_some(array, numbers, 0, first, (), lanes(values, first, ()))


@pytest.mark.parametrize("more", [0, -1])
def test_elements(more):
    array, found = np.array([0.5, 3.0, 7.0]), np.empty(6)
    picked(array, NUMBERS, more, found)
    np.testing.assert_array_equal(found, array[NUMBERS + more])


def test_elements_of_rows():
    array, found = np.arange(6.0).reshape(3, 2), np.empty(6)
    column_picked(array, NUMBERS, 1, found)
    np.testing.assert_array_equal(found, array[NUMBERS, 1])


def test_sums_where_one_number_comes_twice_in_a_block():
    values, found, expected = np.arange(1.0, 7.0), np.zeros(3), np.zeros(3)
    added(found, NUMBERS, 0, values)
    np.add.at(expected, NUMBERS, values)
    np.testing.assert_array_equal(found, expected)


def test_what_is_not_there_is_zero_and_takes_nothing():
    numbers, found = np.array([0, 3, -4]), np.empty(5)
    some_picked(np.ones(3), numbers, found)
    np.testing.assert_array_equal(found, [1.0, 0.0, 0.0, 0.0, 0.0])
    shadow = np.zeros(3)
    some_added(shadow, numbers, np.full(5, 2.0))
    np.testing.assert_array_equal(shadow, [2.0, 0.0, 0.0])
    some_picked(np.empty(0), numbers[:0], found)
    np.testing.assert_array_equal(found, np.zeros(5))


@pytest.mark.parametrize("number", [3, -4])
def test_a_number_of_nothing_is_told(number):
    numbers = np.array([0, number])
    with pytest.raises(IndexError, match="out of bounds"):
        picks.check_picks(numbers, 0, 3, 2)
    picks.check_picks(numbers, 0, 3, 1)
    picks.check_picks(numbers, 0, 4, 2)
    picks.check_picks(numbers, -1 if number > 0 else 1, 3, 2)


def test_fewer_numbers_than_iterations_are_told():
    picks.check_picks(NUMBERS, 0, 3, 6)
    with pytest.raises(IndexError, match="out of bounds"):
        picks.check_picks(NUMBERS, 0, 3, 7)
