"""Levy areas of steps: A_jk = (1/2) int (W_j dW_k - W_k dW_j), for each pair of channels j < k.

Given the increments W and the space-time areas H of a step of size h, A has the mean H_j W_k - W_j H_k and
the variance h**2 / 20 + (h / 5) (H_j**2 + H_k**2) (J. Foster, PhD thesis, Oxford 2020, chapter 4; A. Davie,
2014, matches the variance h**2 / 12 given W alone). A normal number of that mean and variance takes its
place: moments up to the third given (W, H), and the variance h**2 / 4 by itself, are those of the area. The
law of sums over steps differs from the true one in higher moments only.
"""

import math

import numpy as np
from numba import njit

from numbad.compilation.external_functions import external
from numbad.errors import DataError
from numbad.sde.brownian import increments, two_cells
from numbad.sde.grid import constant

_PAIRS = np.uint32(19)  # a domain of counters, beside those of `brownian`
PARTS_OF_STEPS = (
    "methods with Levy areas take output times that are multiples of dt: the area of a step is not divided. "
    "Ways out: such times; a method without areas, such as 'Heun'"
)


@njit(error_model="numpy")
def pair_count(channels):
    """How many pairs of channels there are."""
    return channels * (channels - 1) // 2


@external(constant)
def levy_increments(key, path, cells, parts, dt, channels):
    """(W, A) of every step, of shapes (steps, channels) and (steps, pairs): (0, 1), (0, 2), ..., (1, 2)."""
    for n in range(cells.size):
        if parts[n, 0] != 0.0 or parts[n, 1] != 1.0:
            raise DataError(PARTS_OF_STEPS)
    ws, hs = increments(key, path, cells, parts, dt, channels, True)
    areas = np.empty((cells.size, pair_count(channels)))
    for n in range(cells.size):
        w, h, pair = ws[n], hs[n], 0
        for j in range(channels):
            for k in range(j + 1, channels):
                spread = math.sqrt(dt * (0.05 * dt + 0.2 * (h[j] * h[j] + h[k] * h[k])))
                both = two_cells(key, path, pair, cells[n] >> 1, _PAIRS)
                z = both[1] if cells[n] & 1 else both[0]
                areas[n, pair] = h[j] * w[k] - w[j] * h[k] + spread * z
                pair += 1
    return ws, areas


@njit(error_model="numpy")
def double_integrals(w, areas, h):
    """The matrix of the integrals of W_j dW_k; `h` is the size in Ito's calculus, 0 in Stratonovich's."""
    m, pair = w.size, 0
    out = np.empty((m, m))
    for j in range(m):
        out[j, j] = 0.5 * (w[j] * w[j] - h)
        for k in range(j + 1, m):
            half = 0.5 * w[j] * w[k]
            out[j, k], out[k, j] = half + areas[pair], half - areas[pair]
            pair += 1
    return out
