"""Colours for the columns of a sparse matrix: those of one colour meet in no row.

Columns of one colour can share one direction of forward mode, as each row then tells whose entry it
sees (Curtis, Powell & Reid, "On the estimation of sparse Jacobian matrices", 1974). To colour them is
to colour the vertices of one side of the bipartite graph at distance two (Gebremedhin, Manne &
Pothen, "What color is your Jacobian?", SIAM Review 47, 2005), which is done greedily here.
"""

from functools import cache

import numpy as np


def colour_columns(pattern):
    """Colours (int64, from 0) for the columns of a `Pattern`, and their number.

    Columns are taken in their own order, which is best for bands, and the fullest first; the better
    of both counts. No colouring has fewer colours than the fullest row has entries.
    """
    rows, columns = pattern, pattern.transposed()
    least = int(np.diff(rows.indptr).max(initial=0))
    best, count = None, None
    for order in _orders(columns):
        colours = _greedy()(order, columns.indptr, columns.indices, rows.indptr, rows.indices)
        number = int(colours.max(initial=-1)) + 1
        if best is None or number < count:
            best, count = colours, number
        if count <= least:
            break
    return best, count


def _orders(columns):
    yield np.arange(columns.shape[0])
    yield np.argsort(-np.diff(columns.indptr), kind="stable")


@cache
def _greedy():
    """The compiled loop; compiled at its first use."""
    from numba import njit  # here, lest an import compiles

    return njit(greedy, nogil=True)


def greedy(order, column_starts, rows_of, row_starts, columns_of):
    """Give each column the first colour that no column with a row in common has."""
    colours = np.full(order.size, -1)
    taken_by = np.full(order.size + 1, -1)  # the last column that found a colour taken
    for column in order:
        for p in range(column_starts[column], column_starts[column + 1]):
            row = rows_of[p]
            for q in range(row_starts[row], row_starts[row + 1]):
                other = colours[columns_of[q]]
                if other >= 0:
                    taken_by[other] = column
        colour = 0
        while taken_by[colour] == column:
            colour += 1
        colours[column] = colour
    return colours
