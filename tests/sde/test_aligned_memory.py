"""Memory that begins where vectors are loaded fastest."""

import numpy as np
import pytest
from numba import njit

from numbad.sde.aligned_memory import aligned


@pytest.mark.parametrize("size", [0, 1, 7, 8, 513])
def test_memory_begins_at_a_line_of_the_cache(size):
    kept = [np.empty(3 + k) for k in range(9)]  # moves what is allocated next
    found = [aligned(size) for _ in kept]
    assert {memory.ctypes.data % 64 for memory in found} == {0}
    assert {memory.size for memory in found} == {size}
    for k, memory in enumerate(found):
        memory[:] = k
    assert all((memory == k).all() for k, memory in enumerate(found))


def test_memory_lives_as_long_as_what_is_seen_of_it():
    @njit
    def last_of(size):
        rows = aligned(size).reshape(2, -1)
        rows[:] = 1.5
        return rows

    rows = last_of(64)
    for _ in range(9):  # what is freed is given out again
        aligned(64)[:] = 0.0
    assert (rows == 1.5).all()
