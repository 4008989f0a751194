"""The sparsity of systems of several stages at once, as one of so many times the components.

Components of all stages at the same place lie side by side, so that a band stays one: its widths are those of
the Jacobian, times the number of stages. So does low fill: each entry of the factors is a full block of as
many rows. The columns of each stage have their own colours.
"""

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.ode.fill import unpacked
from numbad.ode.sparsity_pattern import has_low_fill, is_banded


def in_blocks(sparsity, per):
    """The sparsity of (d_ij I - h a_ij J_i), for `per` stages i and j; None for a dense one."""
    raise NotImplementedError


@overload(in_blocks)
def _in_blocks(sparsity, per):
    if isinstance(sparsity, types.NoneType):
        return lambda sparsity, per: None
    kind, in_band = sparsity.instance_class, is_banded(sparsity)

    @njit
    def shared(sparsity, per):
        n, count = len(sparsity.colours), sparsity.widths[2]
        colours = np.empty(per * n, np.int64)
        for i in range(per):
            for k in range(n):
                colours[i * n + k] = i * count + sparsity.colours[k]
        starts, columns = _entries(sparsity.starts, sparsity.columns, per)
        place, order = _places(sparsity.place, per)
        lower, upper = per * (sparsity.widths[0] + 1) - 1, per * (sparsity.widths[1] + 1) - 1
        width = 2 * lower + upper + 1 if in_band else per * n
        return starts, columns, colours, place, order, np.array([lower, upper, per * count, width])

    if not has_low_fill(sparsity):
        return lambda sparsity, per: kind(*shared(sparsity, per))

    def of_low_fill(sparsity, per):
        starts, columns, colours, place, order, widths = shared(sparsity, per)
        fill = _fill(unpacked(sparsity.fill, len(sparsity.colours)), per)
        return kind(starts, columns, colours, place, order, widths, fill)

    return of_low_fill


@njit
def _places(place, per):
    """The place of each component, and the component at each."""
    n = len(place)
    places, order = np.empty(per * n, np.int64), np.empty(per * n, np.int64)
    for i in range(per):
        for k in range(n):
            places[i * n + k] = place[k] * per + i
            order[place[k] * per + i] = i * n + k
    return places, order


@njit
def _fill(fill, per):
    """The fill of blocks, packed as `numbad.ode.fill.unpacked` has it."""
    n, m = len(fill.place), per * len(fill.place)
    packed = np.empty(5 * m + 1 + per * per * len(fill.columns), np.int64)
    eliminated, place, diagonal, alike, starts, columns = unpacked(packed, m)
    place[:], eliminated[:] = _places(fill.place, per)
    filled = 0
    for p in range(n):
        first, end = fill.starts[p], fill.starts[p + 1]
        for i in range(per):
            starts[p * per + i] = filled
            diagonal[p * per + i] = filled + (fill.diagonal[p] - first) * per + i
            alike[p * per + i] = fill.alike[p] * per - i
            for e in range(first, end):
                for j in range(per):
                    columns[filled] = fill.columns[e] * per + j
                    filled += 1
    starts[m] = filled
    return packed


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
    if isinstance(sparsity, types.NoneType):
        return lambda sparsity, size: size
    return lambda sparsity, size: sparsity.widths[3]
