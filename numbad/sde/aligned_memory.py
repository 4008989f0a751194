"""Memory of a block of paths, whose rows lie as vectors load them."""

import numpy as np
from numba import njit

_FLOATS_OF_LINE = 8  # of a line of the cache


@njit(error_model="numpy")
def aligned(size):
    """`np.empty(size)` at the start of a line of the cache: a vector across two lines takes twice as long."""
    memory = np.empty(size + _FLOATS_OF_LINE - 1)
    first = -(memory.ctypes.data // memory.itemsize) % _FLOATS_OF_LINE
    return memory[first : first + size]


def noise_rows(with_areas):
    """Lines for the memory of two steps' noise, where `aligned` is known by this name."""
    rows = "aligned(2 * channels * count).reshape(2, channels, count)"
    return [f"dw = {rows}", f"dh = {rows if with_areas else 'dw'}"]
