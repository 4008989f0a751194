"""Steps taken in halves, and the steps that were accepted, in arrays that grow."""

import numpy as np
from numba import njit

from numbad.sde.brownian_tree import ahead, distance


@njit
def halfway(begin, end):
    """A place between two, about in the middle."""
    return ahead(begin, 0.5 * distance(begin, end))


@njit
def put_together(ws, hs, before, beyond):
    """Rows 2: (W, H) of a step, from those of its parts in rows 0 and 1."""
    size = before + beyond
    for j in range(ws.shape[1]):
        integral = before * (0.5 * ws[0, j] + hs[0, j]) + beyond * (
            ws[0, j] + 0.5 * ws[1, j] + hs[1, j]
        )
        ws[2, j] = ws[0, j] + ws[1, j]
        hs[2, j] = integral / size - 0.5 * ws[2, j]


@njit
def note(k, rows, drawn, row):
    """Keep a row of what was drawn."""
    for j in range(drawn.shape[1]):
        rows[k, j] = drawn[row, j]


@njit
def longer(numbers):
    """An array twice as long, with the same numbers at its beginning."""
    out = np.empty(2 * numbers.size)
    out[: numbers.size] = numbers
    return out


@njit
def longer_rows(rows):
    """The same for rows."""
    out = np.empty((2 * rows.shape[0], rows.shape[1]))
    out[: rows.shape[0]] = rows
    return out
