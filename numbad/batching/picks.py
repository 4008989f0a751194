"""Elements and rows by integers, one for each iteration: `p[group[i]]` for all of them, and back."""

import numpy as np
from numba import njit


@njit
def _position(k, n):
    """A number that may count from the end; -1 beyond the ends."""
    k = k + n if k < 0 else k
    return k if 0 <= k < n else -1


@njit
def picked(array, numbers, count, whole):
    """An array of `count` elements or rows.

    Where there is none, zero stands for what no iteration reads; with `whole`, all of them are read.
    """
    out = np.zeros((count, *array.shape[1:]), array.dtype)
    for i in range(count):
        k = _position(numbers[i], len(array)) if i < len(numbers) else -1
        if k >= 0:
            out[i] = array[k]
        elif whole:
            raise IndexError("an index is out of bounds")
    return out


@njit
def add_picked(shadow, numbers, rows):
    """Add rows to those of the numbers."""
    for i in range(min(len(rows), len(numbers))):
        k = _position(numbers[i], len(shadow))
        if k >= 0:
            shadow[k] += rows[i]
