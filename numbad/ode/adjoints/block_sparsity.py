"""The sparsity of systems of several stages at once, as one of so many times the components.

Components of all stages at the same place lie side by side, so that a band stays one: its widths are those of
the Jacobian, times the number of stages. The columns of each stage have their own colours.
"""

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.ode.sparsity_pattern import is_banded


def in_blocks(sparsity, per):
    """The sparsity of (d_ij I - h a_ij J_i), for `per` stages i and j; None for a dense one."""
    raise NotImplementedError


@overload(in_blocks)
def _in_blocks(sparsity, per):
    if isinstance(sparsity, types.NoneType):
        return lambda sparsity, per: None
    kind = sparsity.instance_class

    def blocks(sparsity, per):
        n = len(sparsity.colours)
        lower, upper, count = sparsity.widths[0], sparsity.widths[1], sparsity.widths[2]
        colours, place = np.empty(per * n, np.int64), np.empty(per * n, np.int64)
        for i in range(per):
            for k in range(n):
                colours[i * n + k] = i * count + sparsity.colours[k]
                place[i * n + k] = sparsity.place[k] * per + i
        order = np.empty(per * n, np.int64)
        for k in range(per * n):
            order[place[k]] = k
        starts, columns = _entries(sparsity.starts, sparsity.columns, per)
        widths = np.array([per * (lower + 1) - 1, per * (upper + 1) - 1, per * count])
        return kind(starts, columns, colours, place, order, widths)

    return blocks


@njit
def _entries(starts, columns, per):
    """Where the rows begin, and the columns of their entries."""
    n = len(starts) - 1
    every, found = np.empty(per * n + 1, np.int64), np.empty(per * per * len(columns), np.int64)
    filled = 0
    for i in range(per):
        for r in range(n):
            every[i * n + r] = filled
            for j in range(per):
                for k in range(starts[r], starts[r + 1]):
                    found[filled] = j * n + columns[k]
                    filled += 1
    every[per * n] = filled
    return every, found


def widest(sparsity, size):
    """How many columns a matrix of `size` rows has: all, or the colours."""
    raise NotImplementedError


@overload(widest)
def _widest(sparsity, size):
    if isinstance(sparsity, types.NoneType):
        return lambda sparsity, size: size
    return lambda sparsity, size: sparsity.widths[2]


def factor_width(sparsity, size):
    """How many columns its LU factors have: all, or those of a band with what exchanges add to it."""
    raise NotImplementedError


@overload(factor_width)
def _factor_width(sparsity, size):
    if not is_banded(sparsity):
        return lambda sparsity, size: size
    return lambda sparsity, size: 2 * sparsity.widths[0] + sparsity.widths[1] + 1
