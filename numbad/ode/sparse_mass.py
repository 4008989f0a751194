"""A mass matrix by its entries, for systems whose Jacobian is sparse.

It has the place of the dense matrix among the settings: None is the identity there, an array the matrix.
"""

from collections import namedtuple

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.errors import ModelError

# Those of row i are `values[starts[i]:starts[i + 1]]`, in `columns` of the same places.
SparseMass = namedtuple("SparseMass", "starts columns values")


def by_entries(matrix):
    """`SparseMass`, of tuples, of a matrix of SciPy's."""
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    number = complex if np.iscomplexobj(matrix) else float
    fields = (matrix.indptr, int), (matrix.indices, int), (matrix.data, number)
    return SparseMass(*(tuple(map(kind, field)) for field, kind in fields))


def dense(mass):
    """A mass matrix, as settings have it, as an array."""
    if not isinstance(mass, SparseMass):
        return np.array(mass)
    n = len(mass.starts) - 1
    matrix = np.zeros((n, n), np.array(mass.values, ndmin=1).dtype)
    matrix[np.repeat(np.arange(n), np.diff(mass.starts)), np.array(mass.columns, int)] = mass.values
    return matrix


def check_real(mass):
    """Raise ModelError for a complex mass matrix beside a state of real numbers."""
    entries = mass.values if isinstance(mass, SparseMass) else mass
    if entries is not None and np.iscomplexobj(np.array(entries)):
        raise ModelError(
            "mass_matrix has complex entries, and y0 is real: give a complex y0, such as y0 + 0j"
        )


@njit(error_model="numpy")
def entry(mass, i, j):
    """M[i, j]."""
    for k in range(mass.starts[i], mass.starts[i + 1]):
        if mass.columns[k] == j:
            return mass.values[k]
    return 0.0


def add_turned_mass(target, factor, mass, x):
    """target += factor M^T x."""
    raise NotImplementedError


@overload(add_turned_mass)
def _add_turned_mass(target, factor, mass, x):
    if isinstance(mass, types.NoneType):

        def add_identity(target, factor, mass, x):
            for k in range(len(x)):
                target[k] += factor * x[k]

        return add_identity
    if isinstance(mass, types.Array):

        def add_dense(target, factor, mass, x):
            for r in range(len(x)):
                for k in range(len(x)):
                    target[k] += factor * mass[r, k] * x[r]

        return add_dense

    def add_entries(target, factor, mass, x):
        for r in range(len(x)):
            for k in range(mass.starts[r], mass.starts[r + 1]):
                target[mass.columns[k]] += factor * mass.values[k] * x[r]

    return add_entries


def mass_in_blocks(mass, per):
    """The mass matrix of `per` stages at once, one after the other; None for a dense one or the identity."""
    raise NotImplementedError


@overload(mass_in_blocks)
def _mass_in_blocks(mass, per):
    if not isinstance(mass, types.BaseTuple):
        return lambda mass, per: None

    def blocks(mass, per):
        n, count = len(mass.starts) - 1, len(mass.columns)
        starts = np.empty(per * n + 1, np.int64)
        columns, values = np.empty(per * count, np.int64), np.empty(per * count)
        for i in range(per):
            for r in range(n + 1):
                starts[i * n + r] = i * count + mass.starts[r]
            for k in range(count):
                columns[i * count + k] = i * n + mass.columns[k]
                values[i * count + k] = mass.values[k]
        return SparseMass(starts, columns, values)

    return blocks


def only_full(mass):
    """A mass matrix that is given as an array; None for others."""
    raise NotImplementedError


@overload(only_full, inline="always")
def _only_full(mass):
    if isinstance(mass, types.Array):
        return lambda mass: mass
    return lambda mass: None
