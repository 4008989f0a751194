"""The places of a sparse matrix that may differ from zero, by rows."""

from dataclasses import dataclass

import numpy as np

from ..errors import SparsityError


@dataclass(frozen=True)
class Pattern:
    """Row `i` has entries in the columns `indices[indptr[i]:indptr[i + 1]]`, in rising order.

    The arrays are of type int32 where that holds every number, as SciPy has it, else int64.
    """

    shape: tuple
    indptr: np.ndarray
    indices: np.ndarray

    def transposed(self):
        """The pattern of the transpose."""
        counts = np.bincount(self.indices, minlength=self.shape[1])
        return _pattern(self.shape[::-1], counts, self.rows()[self.by_columns()])

    def by_columns(self):
        """The numbers of the entries, column by column: the order of those of the transpose."""
        return np.argsort(self.indices, kind="stable")

    def is_symmetric(self):
        """Whether the transpose has its entries in the same places."""
        other = self.transposed()
        return self.shape == other.shape and (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    def rows(self):
        """The row of every entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def matrix(self, data=None, indices=None, indptr=None):
        """A `scipy.sparse.csr_array` with these entries; ones of type bool where no `data` is given.

        `indices` and `indptr` are copies of the pattern's for the matrix to keep, where given.
        """
        from scipy.sparse import csr_array  # heavy

        if data is None:
            data = np.ones(self.indices.size, bool)
        indices = self.indices.copy() if indices is None else indices
        indptr = self.indptr.copy() if indptr is None else indptr
        made = csr_array((data, indices, indptr), shape=self.shape, copy=False)
        made.has_sorted_indices = made.has_canonical_format = True
        return made


def pattern_of(operator, given):
    """The `Pattern` of what a user gives as `sparsity=`: any sparse matrix, or a dense array.

    An entry that is stored counts, whatever its value; of a dense array, those that are not zero.
    """
    from scipy import sparse  # heavy

    if not sparse.issparse(given):
        if not isinstance(given, np.ndarray):
            raise SparsityError(
                f'{operator}: sparsity is a SciPy sparse matrix or "detect", not {given!r}'
            )
        given = sparse.coo_array(np.atleast_2d(given))
    if given.ndim != 2:
        raise SparsityError(
            f"{operator}: sparsity must have two axes (numbers of the result, numbers of the "
            f"arguments); it has {given.ndim}"
        )
    coo = given.tocoo()
    return from_entries(coo.shape, coo.row, coo.col)


def from_entries(shape, rows, columns):
    """The pattern with entries at these places, each counted once."""
    rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    places = np.unique(rows * max(shape[1], 1) + columns)
    rows, columns = np.divmod(places, max(shape[1], 1))
    return _pattern((int(shape[0]), int(shape[1])), np.bincount(rows, minlength=shape[0]), columns)


def _pattern(shape, counts, indices):
    """The pattern with so many entries in each row."""
    kind = np.int32 if max(*shape, indices.size) < 2**31 else np.int64
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Pattern(shape, indptr.astype(kind), indices.astype(kind))
