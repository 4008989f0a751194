"""The pattern of a sparse Jacobian, prepared for implicit steps: colours of columns, and its factors."""

from collections import namedtuple

import numpy as np

from numbad.errors import ArgumentError
from numbad.ode.fill import fill_of, multiplications
from numbad.patterns.colouring import colour_columns, in_order
from numbad.patterns.pattern import Pattern

# `Banded` is factored within the band, `Coloured` as a whole, since its band is wide. Entries of row i are in
# `columns[starts[i]:starts[i + 1]]`; a column's colour; the place of each component in the order that makes
# the band narrow, and the component at each place; and the widths of the band below and above the diagonal,
# the number of colours, and how many columns a table for the factors has. What has `LowFill` is factored in
# an order that fills little in, unless the pivots of that are too small; see `numbad.ode.fill.unpacked`.
# Of a few colours is a type of its own, since dual numbers of as many partials do.
FIELDS = "starts", "columns", "colours", "place", "order", "widths"
Banded = namedtuple("Banded", FIELDS)
Coloured = namedtuple("Coloured", FIELDS)
LowFillBanded = namedtuple("LowFillBanded", (*FIELDS, "fill"))
LowFillColoured = namedtuple("LowFillColoured", (*FIELDS, "fill"))
FewBanded = namedtuple("FewBanded", FIELDS)
FewColoured = namedtuple("FewColoured", FIELDS)
FewLowFillBanded = namedtuple("FewLowFillBanded", (*FIELDS, "fill"))
FewLowFillColoured = namedtuple("FewLowFillColoured", (*FIELDS, "fill"))
_ALL = Banded, Coloured, LowFillBanded, LowFillColoured
_ALL += FewBanded, FewColoured, FewLowFillBanded, FewLowFillColoured
KINDS = {kind.__name__: kind for kind in _ALL}
FEW = 3

# Factors are worth keeping within a band that takes less than this share of the matrix.
NARROW = 0.5

# One multiplication among those of low fill, at indices that are looked up, takes as long as so many along
# the rows of a band; of those for a whole matrix such a share is done, since zeros are passed over.
SCATTERED, DONE = 3, 1.0 / 5.0

# Multiplications to save in a factorisation, for which code for low fill is worth its compilation.
WORTH = 30_000


def _is_of(sparsity, word):
    """Whether the Numba type of a pattern, or that of None, is of a kind with a word in its name."""
    kind = getattr(sparsity, "instance_class", None)
    return kind in KINDS.values() and word in kind.__name__


def is_banded(sparsity):
    """Whether factors are kept within the band, by the Numba type of a pattern, or of None."""
    return _is_of(sparsity, "Banded")


def has_low_fill(sparsity):
    """Whether elimination goes in an order that fills little in, by the Numba type of a pattern."""
    return _is_of(sparsity, "LowFill")


def has_few_colours(sparsity):
    """Whether a pattern has `FEW` colours at most, by its Numba type, or that of None."""
    return _is_of(sparsity, "Few")


def checked_sparsity(given, mass=None):
    """One of `KINDS`, of tuples, from a matrix that is not zero where the Jacobian may be.

    The entries of a sparse mass matrix belong to the pattern as well.
    """
    from scipy.sparse import csr_array, issparse

    try:  # SciPy takes a tuple for what a sparse matrix is made of, not for rows
        matrix = csr_array(given if issparse(given) else np.asarray(given))
    except (TypeError, ValueError):
        matrix = None
    if (
        matrix is None
        or matrix.ndim != 2
        or matrix.shape[0] != matrix.shape[1]
        or not matrix.shape[0]
    ):
        raise ArgumentError(
            "jac_sparsity must be a square matrix, dense or of SciPy's sparse ones, that is not zero where "
            f"the Jacobian may be, such as np.eye(3); not {given!r}"
        )
    if mass is not None:
        if mass.shape != matrix.shape:
            raise ArgumentError(
                "mass_matrix and jac_sparsity must have one shape; "
                f"theirs are {mass.shape} and {matrix.shape}"
            )
        matrix = csr_array(abs(matrix) + abs(mass))
    return _prepared(matrix, colour_columns)


def _prepared(matrix, colour):
    """The prepared pattern of a sparse matrix, with the columns coloured by a function of a `Pattern`."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix.data = np.ones_like(matrix.data, dtype=float)
    matrix.sum_duplicates()
    matrix.sort_indices()
    n = matrix.shape[0]
    colours, count = colour(Pattern(matrix.shape, matrix.indptr, matrix.indices))
    order = np.asarray(reverse_cuthill_mckee((matrix + matrix.T).tocsr()), dtype=int)
    natural = np.arange(n)
    order = min(natural, order, key=lambda each: sum(_widths(matrix, each)))
    place = np.empty(n, dtype=int)
    place[order] = natural
    lower, upper = _widths(matrix, order)
    within = 2 * lower + upper + 1
    is_narrow = within < NARROW * n
    fill = _low_fill(matrix, n * (lower * (lower + upper) if is_narrow else DONE * n * n / 3))
    few, low = "Few" if count <= FEW else "", "" if fill is None else "LowFill"
    kind = KINDS[f"{few}{low}{'Banded' if is_narrow else 'Coloured'}"]
    widths = lower, upper, count, within if is_narrow else n
    fields = matrix.indptr, matrix.indices, colours, place, order, widths
    if fill is not None:
        fields = *fields, np.concatenate(fill)
    return kind(*(tuple(map(int, field)) for field in fields))


def _low_fill(matrix, work):
    """`Fill`, where it saves most of the `work` of another way; else None."""
    if work < max(SCATTERED * matrix.nnz, WORTH):
        return None
    fill = fill_of(matrix)
    return fill if SCATTERED * multiplications(fill) < work - WORTH else None


def _coloured_uncompiled(pattern):
    """Colours of columns in their own order, where nothing compiled may be called: during a compilation."""
    columns = pattern.transposed()
    colours = in_order(columns.indptr, columns.indices, pattern.indptr, pattern.indices)
    return colours, int(colours.max()) + 1


def transposed(sparsity):
    """The pattern of the transpose."""
    return _prepared(_as_matrix(sparsity).T.tocsr(), _coloured_uncompiled)


def in_blocks(sparsity, size):
    """The pattern with a full block of a size in place of each entry."""
    from scipy.sparse import csr_array, kron

    full = kron(_as_matrix(sparsity), np.ones((size, size)))
    return _prepared(csr_array(full), _coloured_uncompiled)


def _as_matrix(sparsity):
    from scipy.sparse import csr_array

    n = len(sparsity.colours)
    data = np.ones(len(sparsity.columns))
    return csr_array((data, sparsity.columns, sparsity.starts), shape=(n, n))


def _widths(matrix, order):
    """How far entries lie below and above the diagonal, in an order of the components."""
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    rows = np.repeat(np.arange(len(order)), np.diff(matrix.indptr))
    away = place[rows] - place[matrix.indices]
    return int(away.max(initial=0)), int((-away).max(initial=0))


def band(lower, upper, n):
    """The pattern of a band, SciPy's `lband` and `uband`."""
    from scipy.sparse import diags_array

    offsets = range(-min(lower, n - 1), min(upper, n - 1) + 1)
    return diags_array([np.ones(n - abs(k)) for k in offsets], offsets=list(offsets), shape=(n, n))
