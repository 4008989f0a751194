"""Which arrays may share memory, as compiled code sees it and as NumPy knows it."""

import numpy as np
import pytest
from numba import njit

from numbad.ir.array_extents import arrays_overlap

M = np.arange(24.0).reshape(4, 6)
FLAT = M.ravel()
PARTS = {
    "columns": (M[:, 1], M[:, 2]),
    "one column": (M[:, 1], M[:, 1]),
    "column and row": (M[:, 1], M[2]),
    "backwards": (M[::-1, 0], M[3]),
    "halves": (FLAT[:12], FLAT[12:]),
    "even and odd": (FLAT[::2], FLAT[1::2]),
    "even and every third": (FLAT[::2], FLAT[1::3]),
    "nothing": (M[:0], M),
    "a number": (M[1:2, 1].reshape(()), M[1]),
    "another array": (M, np.zeros(3)),
}


@pytest.mark.parametrize("name", PARTS)
def test_arrays_overlap(name):
    a, b = PARTS[name]
    assert njit(arrays_overlap)(a, b) == np.shares_memory(a, b) == njit(arrays_overlap)(b, a)
