"""Elimination in an order that fills little in: the places of the LU factors that are not zero.

The order is that of minimum degree for A + A^T, as SuperLU has it: J. Liu, "Modification of the
minimum-degree algorithm by multiple elimination", ACM TOMS 11 (1985). Pivots stay on the diagonal. The
rows of the factors are found along the elimination tree: T. Davis, "Direct Methods for Sparse Linear
Systems", SIAM 2006, sections 4.1 and 4.4.
"""

from collections import namedtuple

import numpy as np
from numba import njit

# The component eliminated at each place and the place of each; the factors by rows: entries of a row are
# `columns[starts[p]:starts[p + 1]]`, places in ascending order, that on the diagonal at `diagonal[p]`. From
# a row on, `alike[p]` have the same columns beyond them: a supernode, or what is left of it.
Fill = namedtuple("Fill", "eliminated place diagonal alike starts columns")


@njit
def unpacked(packed, n):
    """`Fill` of n components, of one array with its parts: code with many arrays takes long to compile."""
    eliminated, place, diagonal, alike = packed[: 4 * n].reshape(4, n)
    return Fill(eliminated, place, diagonal, alike, packed[4 * n : 5 * n + 1], packed[5 * n + 1 :])


def fill_of(matrix):
    """`Fill`, of arrays, for the pattern of a sparse matrix."""
    eliminated = minimum_degree(matrix)
    n = len(eliminated)
    place = np.empty(n, dtype=int)
    place[eliminated] = np.arange(n)
    lower = _rows_of_lower((matrix + matrix.T).tocsr()[eliminated][:, eliminated])
    counts = np.fromiter(map(len, lower), int, n)
    rows = np.repeat(np.arange(n), counts)
    columns = np.fromiter((k for row in lower for k in row), int, len(rows))
    natural = np.arange(n)
    every = np.concatenate([rows, natural, columns]), np.concatenate([columns, natural, rows])
    order = np.lexsort(every[::-1])
    rows, columns = every[0][order], every[1][order]
    starts = np.searchsorted(rows, np.arange(n + 1))
    diagonal = starts[:-1] + counts
    return Fill(eliminated, place, diagonal, _alike(diagonal, starts, columns), starts, columns)


def _alike(diagonal, starts, columns):
    """How many rows, from each on, have the same columns beyond them.

    What is beyond the first column beyond the diagonal is in the row of that column, too.
    """
    beyond = starts[1:] - diagonal - 1
    alike = np.ones_like(diagonal)
    for p in range(len(diagonal) - 2, -1, -1):
        if beyond[p] == beyond[p + 1] + 1 and columns[diagonal[p] + 1] == p + 1:
            alike[p] += alike[p + 1]
    return alike


def minimum_degree(matrix):
    """The order in which to eliminate: the component at each place."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    n = matrix.shape[0]
    # Dominant on its diagonal, so that SuperLU leaves rows where they are.
    regular = csc_array(matrix + matrix.T + (2 * n + 1) * eye_array(n))
    options = dict(SymmetricMode=True, Equil=False)
    factors = splu(regular, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.argsort(factors.perm_c)


def _rows_of_lower(matrix):
    """The columns below the diagonal of the factor of each row, in any order: those that lead to it."""
    matrix.sort_indices()
    n, starts, columns = matrix.shape[0], matrix.indptr.tolist(), matrix.indices.tolist()
    parent, seen, rows = [-1] * n, [-1] * n, []
    for i in range(n):
        seen[i], row = i, []
        for k in columns[starts[i] : starts[i + 1]]:
            if k >= i:
                break
            while seen[k] != i:
                if parent[k] < 0:
                    parent[k] = i
                row.append(k)
                seen[k] = i
                k = parent[k]
        rows.append(row)
    return rows


def multiplications(fill):
    """How many multiplications an elimination takes."""
    beyond = fill.starts[1:] - fill.diagonal - 1
    rows = np.repeat(np.arange(len(beyond)), np.diff(fill.starts))
    below = fill.columns < rows
    return int(beyond[fill.columns[below]].sum())
