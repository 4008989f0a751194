"""Colours for the columns of a sparse matrix, and for those of a symmetric one.

Columns of one colour meet in no row; rows are the columns of the transpose.

Columns of one colour can share one direction of forward mode, as each row then tells whose entry it
sees (Curtis, Powell & Reid, "On the estimation of sparse Jacobian matrices", 1974). To colour them is
to colour the vertices of one side of the bipartite graph at distance two (Gebremedhin, Manne &
Pothen, "What color is your Jacobian?", SIAM Review 47, 2005), which is done greedily here.

Of a symmetric matrix, an entry may be read in its row or in that of its mirror image. A star colouring
is enough for that (Coleman & More, "Estimation of sparse Hessian matrices and graph coloring problems",
Mathematical Programming 28, 1984): neighbours differ, and no path of four takes turns between two colours.
"""

from functools import cache
from heapq import heappop, heappush

import numpy as np
from numba.extending import register_jitable


def colour_columns(pattern):
    """Colours (int64, from 0) for the columns of a `Pattern`, and their number.

    Columns are taken in their own order, which is best for bands; if that takes more colours than the
    fullest row has entries, also by saturation, and the better of both counts.
    """
    rows, columns = pattern, pattern.transposed()
    graph = columns.indptr, columns.indices, rows.indptr, rows.indices
    least = int(np.diff(rows.indptr).max(initial=0))
    best = _compiled(in_order)(*graph)
    if _number(best) > least:
        best = min(best, _compiled(by_saturation)(*graph), key=_number)
    return best, _number(best)


def colour_symmetric(pattern):
    """Colours (int64, from 0) by which a symmetric `Pattern` can be read, and their number.

    The best of: rows in their own order, fullest rows first, and what `colour_columns` finds, with which
    every entry can be read in its own row.
    """
    natural = np.arange(pattern.shape[0])
    fullest = np.argsort(-np.diff(pattern.indptr), kind="stable")
    graph = pattern.indptr, pattern.indices
    found = [_compiled(stars)(order, *graph) for order in (natural, fullest)]
    best = min(*found, colour_columns(pattern)[0], key=_number)
    return best, _number(best)


def _number(colours):
    return int(colours.max(initial=-1)) + 1


@cache
def _compiled(function):
    """The compiled loop; compiled at its first use."""
    from numba import njit  # here, lest an import compiles

    return njit(function, nogil=True)


@register_jitable
def colour_one(column, colours, taken_by, column_starts, rows_of, row_starts, columns_of):
    """Give a column the first colour that no column with a row in common has; the colour.

    `taken_by` holds, for each colour, the last column that found it taken.
    """
    for p in range(column_starts[column], column_starts[column + 1]):
        row = rows_of[p]
        for q in range(row_starts[row], row_starts[row + 1]):
            other = colours[columns_of[q]]
            if other >= 0:
                taken_by[other] = column
    colours[column] = first_free(taken_by, column)
    return colours[column]


@register_jitable
def first_free(taken_by, column):
    """The first colour that a column has not found taken."""
    colour = 0
    while taken_by[colour] == column:
        colour += 1
    return colour


def in_order(column_starts, rows_of, row_starts, columns_of):
    """Give each column the first colour that no column with a row in common has."""
    count = column_starts.size - 1
    colours = np.full(count, -1)
    taken_by = np.full(count + 1, -1)  # the last column that found a colour taken
    for column in range(count):
        colour_one(column, colours, taken_by, column_starts, rows_of, row_starts, columns_of)
    return colours


def by_saturation(column_starts, rows_of, row_starts, columns_of):
    """The same, always of the column that meets most colours (Brelaz, Communications of the ACM 22, 1979).

    Colours from 64 on count as one there.
    """
    count = column_starts.size - 1
    colours = np.full(count, -1)
    taken_by = np.full(count + 1, -1)
    bits = np.zeros(count, np.uint64)  # the colours that a column meets
    met = np.zeros(count, np.int64)  # and how many they are
    heap = [(0, k) for k in range(count)]
    while len(heap) > 0:
        rank, column = heappop(heap)
        if colours[column] >= 0 or rank != -met[column]:  # said anew since
            continue
        colour = colour_one(
            column, colours, taken_by, column_starts, rows_of, row_starts, columns_of
        )
        bit = np.uint64(1) << np.uint64(min(colour, 63))
        for p in range(column_starts[column], column_starts[column + 1]):
            row = rows_of[p]
            for q in range(row_starts[row], row_starts[row + 1]):
                other = columns_of[q]
                if colours[other] < 0 and not bits[other] & bit:
                    bits[other] |= bit
                    met[other] += 1
                    heappush(heap, (-met[other], np.int64(other)))
    return colours


def stars(order, starts, neighbours):
    """Star colours for the vertices of a graph, in the order given (Gebremedhin et al., algorithm 4.1).

    Two vertices with a neighbour in common may share a colour if that neighbour's is a smaller one.
    """
    colours = np.full(order.size, -1)
    taken_by = np.full(order.size + 1, -1)
    for vertex in order:
        for p in range(starts[vertex], starts[vertex + 1]):
            between = colours[neighbours[p]]
            if between >= 0:
                taken_by[between] = vertex
            for q in range(starts[neighbours[p]], starts[neighbours[p] + 1]):
                colour = colours[neighbours[q]]
                if colour >= 0 and (between < 0 or colour < between):
                    taken_by[colour] = vertex
        colours[vertex] = first_free(taken_by, vertex)
    return colours
