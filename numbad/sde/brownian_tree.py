"""The virtual Brownian tree: (W, H) over any interval; what lies ahead of a place is kept between questions.

A cell of the grid is a tree of halves of halves (`numbad.sde.brownian`). What lies between a place and the
end of its cell is one node for each binary digit of its distance from there. These nodes are kept: an
interval that begins at the place takes the nodes within it and divides one, down to its end; what lies ahead
of the end is then known as well. Going on costs the divisions of one descent, however deep the places lie,
and what is found does not depend on what was asked before. The nodes of three places are kept, since a step
that is rejected begins again where it began. X. Li, T.-K. L. Wong, R. T. Q. Chen, D. Duvenaud,
arXiv:2001.01328; with areas, A. Jelincic, J. Foster, P. Kidger, arXiv:2405.06464.

A place is a cell and a part of it, from 0 to 1, both exact: ends of nodes are fractions of a power of two.
"""

import math

import numpy as np

from numbad.compilation.external_functions import external
from numbad.random.box_muller import binary_exponent, power_of_two
from numbad.random.generator_compiling import inlined
from numbad.sde.brownian import (
    DEPTH,
    LEAVES,
    WAY,
    expected_up_to,
    halves_by,
    pair_of_cell,
    tree_of_cell,
    way_down,
)
from numbad.sde.grid import constant

# What is kept is one array of floats, all of them exact: every array costs an update of its reference count
# in every call. Row 0 has the places: cell, leaf and part of the leaf of each. Then there is a row for each
# channel of each place: W and H of the nodes ahead, of 2**k leaves in column k; of the leaf that the place is
# within; both halves of the key of the tree.
_PLACES = 3
_CELL, _LEAF, _PART = range(0, 3 * _PLACES, _PLACES)
_FIRST = 3 * _PLACES  # the number of the first channel
_W, _H, _LEAF_W = 0, DEPTH + 1, 2 * (DEPTH + 1)
_LEAF_H, _HIGH, _LOW, _COLUMNS = range(_LEAF_W + 1, _LEAF_W + 5)
_WORD, _MASK = np.uint64(32), np.uint64(0xFFFFFFFF)
_ONE = np.int64(1)

_FINER = 4.0  # parts of an even interval that its ends are a multiple of


@constant
def nothing_kept(channels, first=0):
    """What is known before the first question, for so many channels from the first one on."""
    # And room for a place that is not kept, and for the numbers of a way down.
    kept = np.empty((2 + (_PLACES + 1) * channels, _COLUMNS))
    kept[0] = -1.0
    kept[0, _FIRST] = first
    return kept


@inlined
def after(w, integral, more, more_integral, size):
    """W and its integral over two intervals, the second one of that size."""
    return w + more, integral + size * w + more_integral


@inlined
def _integral(size, w, h):
    return size * (0.5 * w + h)


@inlined
def distance(begin, end):
    """From one place to another, in cells."""
    return np.float64(end[0] - begin[0]) + (end[1] - begin[1])


@inlined
def _leaf_and_part(part):
    """The leaf of a cell that a place is in, and the part of it."""
    leaves = part * np.float64(LEAVES)
    leaf = np.int64(leaves)
    return leaf, leaves - np.float64(leaf)


@external(constant)
def draw(kept, key, path, dt, sign, begin, end, ws, hs, row):
    """W and H of each channel over the interval between two places, times a sign, into a row of arrays."""
    old = _known(kept, key, path, dt, begin, ws.shape[1])
    new = (old + 1) % _PLACES
    _draw(kept, key, path, dt, sign, begin, end, ws, hs, row, old, new)
    _note_place(kept, new, end)


@external(constant)
def look(kept, key, path, dt, sign, begin, end, ws, hs, row):
    """The same, where nothing will begin at the end: it is not kept."""
    old = _known(kept, key, path, dt, begin, ws.shape[1])
    _draw(kept, key, path, dt, sign, begin, end, ws, hs, row, old, _PLACES)


@inlined
def _draw(kept, key, path, dt, sign, begin, end, ws, hs, row, old, new):
    """What `draw` and `look` do, from place number `old` on, into the rows of number `new`."""
    channels = ws.shape[1]
    size, scale = distance(begin, end) * dt, dt * power_of_two(-DEPTH)
    leaf, part = _leaf_and_part(end[1] if end[0] == begin[0] else 1.0)
    for j in range(channels):
        row_of_old, row_of_new = 1 + old * channels + j, 1 + new * channels + j
        w, integral = _go_on(kept, row_of_old, row_of_new, old, leaf, part, scale)
        if end[0] > begin[0]:
            number = np.int64(kept[0, _FIRST]) + j
            for cell in range(begin[0] + 1, end[0]):
                more, area = pair_of_cell(key, path, number, cell, dt)
                w, integral = after(w, integral, more, _integral(dt, more, area), dt)
            more, more_integral = _up_to(kept, row_of_new, key, path, number, dt, end)
            w, integral = after(w, integral, more, more_integral, end[1] * dt)
        ws[row, j], hs[row, j] = sign * w, sign * (integral / size - 0.5 * w)


@inlined
def _note_place(kept, which, at):
    kept[0, _CELL + which], (kept[0, _LEAF + which], kept[0, _PART + which]) = (
        at[0],
        _leaf_and_part(at[1]),
    )


@inlined
def _known(kept, key, path, dt, at, channels):
    """Which one of the places kept is this one; where none is, it takes the first one's room."""
    leaf, part = _leaf_and_part(at[1])
    for which in range(_PLACES):
        same = kept[0, _CELL + which] == at[0] and kept[0, _LEAF + which] == leaf
        if same and kept[0, _PART + which] == part:
            return which
    for j in range(channels):
        _up_to(kept, 1 + j, key, path, np.int64(kept[0, _FIRST]) + j, dt, at)
    _note_place(kept, 0, at)
    return 0


@constant
def _up_to(kept, row, key, path, channel, dt, at):
    """W and its integral from the beginning of its cell to a place, what lies ahead of which is kept."""
    tree = tree_of_cell(key, path, channel, at[0])
    kept[row, _HIGH], kept[row, _LOW] = tree >> _WORD, tree & _MASK
    kept[row, _W + DEPTH], kept[row, _H + DEPTH] = pair_of_cell(key, path, channel, at[0], dt)
    leaf, part = _leaf_and_part(at[1])
    return _walk(kept, row, 0, 0.0, leaf, part, dt * power_of_two(-DEPTH))


@inlined
def _go_on(kept, row, into, which, leaf, part, scale):
    """W and its integral from a place kept to another one in its cell, what lies ahead of which is kept."""
    for column in range(_COLUMNS):
        kept[into, column] = kept[row, column]
    start, begun = np.int64(kept[0, _LEAF + which]), kept[0, _PART + which]
    return _walk(kept, into, start, begun, leaf, part, scale)


@inlined
def _walk(kept, row, at, begun, leaf, part, scale):
    """W and its integral from leaf `at`, of which a part has `begun`, to a part of `leaf`."""
    w = integral = 0.0
    if begun > 0.0:
        whole = kept[row, _LEAF_W], kept[row, _LEAF_H]
        if at == leaf:
            return _in_leaf(begun, part, scale, *whole)
        w, integral = _in_leaf(begun, 1.0, scale, *whole)
        at += 1
    while at < leaf or part > 0.0:
        k = _nearest(at)
        size, more, area = scale * power_of_two(k), kept[row, _W + k], kept[row, _H + k]
        if at + (_ONE << k) > leaf:
            return _descend(kept, row, at, k, w, integral, leaf, part, scale)
        w, integral = after(w, integral, more, _integral(size, more, area), size)
        at += _ONE << k
    return w, integral


@inlined
def _nearest(at):
    """The nearest of the nodes ahead of a leaf has 2**k leaves."""
    left = LEAVES - at
    return binary_exponent(np.float64(left & -left))


@inlined
def _zeros(leaf, most):
    """How many zeros a leaf's number ends in, at most so many."""
    return most if leaf == 0 else min(binary_exponent(np.float64(leaf & -leaf)), most)


@inlined
def _descend(kept, row, at, k, w, integral, leaf, part, scale):
    """Divide the node of 2**k leaves that begins at a leaf, down to a place; add what lies before that."""
    tree = (np.uint64(kept[row, _HIGH]) << _WORD) | np.uint64(kept[row, _LOW])
    of_node, area = kept[row, _W + k], kept[row, _H + k]
    way, begun = kept[kept.shape[0] - 1], k
    way_down(tree, leaf, k, k if part > 0.0 else k - _zeros(leaf, k), way)
    while k > 0 and (at < leaf or part > 0.0):
        z, n, size = way[begun - k], way[WAY + begun - k], scale * power_of_two(k)
        left, left_h, right, right_h = halves_by(z, n, size, of_node, area)
        k -= 1
        if at + (_ONE << k) <= leaf:
            w, integral = after(w, integral, left, _integral(0.5 * size, left, left_h), 0.5 * size)
            of_node, area = right, right_h
            at += _ONE << k
        else:
            kept[row, _W + k], kept[row, _H + k] = right, right_h
            of_node, area = left, left_h
    if part > 0.0:
        kept[row, _LEAF_W], kept[row, _LEAF_H] = of_node, area
        more, more_integral = _in_leaf(0.0, part, scale, of_node, area)
        return after(w, integral, more, more_integral, part * scale)
    kept[row, _W + k], kept[row, _H + k] = of_node, area
    return w, integral


@inlined
def _in_leaf(begin, end, size, w, h):
    """Within the smallest nodes what is expected takes the place of what would be drawn."""
    before, to_begin = expected_up_to(begin, size, w, h)
    up_to, to_end = expected_up_to(end, size, w, h)
    return up_to - before, to_end - to_begin - before * (end - begin) * size


@constant
def ahead(begin, length):
    """The place about `length` cells ahead, a quarter less at most, that a tree has near its root.

    Its distance from the beginning of its cell is a multiple of a power of two, the largest one not above a
    quarter of the length: a step between such places is a handful of nodes.
    """
    unit = min(power_of_two(binary_exponent(length / _FINER)), 1.0)
    cell, part = begin
    whole = math.floor((part + length) / unit) * unit
    cells = math.floor(whole)
    return cell + np.int64(cells), whole - cells
