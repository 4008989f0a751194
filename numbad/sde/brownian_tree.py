"""The virtual Brownian tree: (W, H) over any interval, with the path to the root kept between questions.

A cell of the grid is a tree of halves of halves (`numbad.sde.brownian`). An interval is put together of the
fewest nodes that there are, so that what is found does not depend on what was asked before. The nodes from
the root to the end of the last interval are kept: the next interval begins there, and going on costs a few
nodes for each, however deep they lie. X. Li, T.-K. L. Wong, R. T. Q. Chen, D. Duvenaud, arXiv:2001.01328;
with areas, A. Jelincic, J. Foster, P. Kidger, arXiv:2405.06464.

A place is a cell and a part of it, from 0 to 1, both exact: ends of nodes are fractions of a power of two.
"""

import math

import numpy as np

from numbad.random.box_muller import binary_exponent, power_of_two
from numbad.random.generator_compiling import inlined
from numbad.sde.brownian import DEPTH, expected_up_to, halves, pair_of_cell, tree_of_cell
from numbad.sde.grid import constant

# What is kept is one array of floats, all of them exact, a row for each channel: every array costs an update
# of its reference count in every call. Columns: the cell, how deep its kept nodes go (-1: none), both halves
# of the key of its tree; then the nodes by level, their W and their H.
_CELL, _LEVEL, _HIGH, _LOW = range(4)
_NODE, _W, _H, _COLUMNS = (4 + k * (DEPTH + 1) for k in range(4))
_WORD, _MASK = np.uint64(32), np.uint64(0xFFFFFFFF)

_FINER = 8.0  # parts of an even interval that its ends are a multiple of


@constant
def nothing_kept(channels):
    """What is known before the first question."""
    return np.full((channels, _COLUMNS), -1.0)


@inlined
def after(w, integral, more, more_integral, size):
    """W and its integral over two intervals, the second one of that size."""
    return w + more, integral + size * w + more_integral


@inlined
def _integral(size, w, h):
    return size * (0.5 * w + h)


@constant
def draw(kept, key, path, dt, sign, begin, end, ws, hs, row):
    """W and H of each channel over the interval between two places, times a sign, into a row of arrays."""
    for j in range(ws.shape[1]):
        w, h = pair_between(kept, key, path, j, dt, begin, end)
        ws[row, j], hs[row, j] = sign * w, sign * h


@inlined
def distance(begin, end):
    """From one place to another, in cells."""
    return np.float64(end[0] - begin[0]) + (end[1] - begin[1])


@constant
def pair_between(kept, key, path, j, dt, begin, end):
    """(W, H) of a channel between two places."""
    w = integral = 0.0
    cell, part = begin
    while cell < end[0] or (cell == end[0] and part < end[1]):
        stop = end[1] if cell == end[0] else 1.0
        if part == 0.0 and stop == 1.0:
            more, area = pair_of_cell(key, path, j, cell, dt)
            more_integral = _integral(dt, more, area)
        else:
            more, more_integral = within_cell(kept, key, path, j, cell, dt, part, stop)
        w, integral = after(w, integral, more, more_integral, (stop - part) * dt)
        cell, part = cell + 1, 0.0
    return w, integral / (distance(begin, end) * dt) - 0.5 * w


@constant
def within_cell(kept, key, path, j, cell, dt, part, stop):
    """W and its integral between two parts of a cell."""
    _begin_cell(kept, key, path, j, cell, dt)
    return _in_cell(kept, j, dt, part, stop)


@constant
def _begin_cell(kept, key, path, j, cell, dt):
    """Keep the root of a cell, where it is another one than before."""
    if kept[j, _LEVEL] >= 0.0 and kept[j, _CELL] == cell:
        return
    tree = tree_of_cell(key, path, j, cell)
    kept[j, _CELL], kept[j, _LEVEL], kept[j, _NODE] = cell, 0.0, 1.0
    kept[j, _HIGH], kept[j, _LOW] = tree >> _WORD, tree & _MASK
    kept[j, _W], kept[j, _H] = pair_of_cell(key, path, j, cell, dt)


@inlined
def _tree(kept, j):
    return (np.uint64(kept[j, _HIGH]) << _WORD) | np.uint64(kept[j, _LOW])


@inlined
def _ends(node, level):
    """Where a node begins and ends in its cell; exact."""
    size = power_of_two(-level)
    low = node * size - 1.0
    return low, low + size


@inlined
def _keep(kept, j, level, node, w, h):
    kept[j, _LEVEL], kept[j, _NODE + level] = level, node
    kept[j, _W + level], kept[j, _H + level] = w, h


@constant
def _in_cell(kept, j, dt, part, stop):
    """W and its integral over a part of the kept cell, from the smallest node that has all of it."""
    level, tree = np.int64(kept[j, _LEVEL]), _tree(kept, j)
    low, high = _ends(kept[j, _NODE + level], level)
    while level > 0 and (part < low or stop > high):
        level -= 1
        low, high = _ends(kept[j, _NODE + level], level)
    kept[j, _LEVEL] = level
    while True:
        node, w, h = kept[j, _NODE + level], kept[j, _W + level], kept[j, _H + level]
        size = dt * power_of_two(-level)
        if part == low and stop == high:
            return w, _integral(size, w, h)
        if level == DEPTH:
            return _in_leaf(part, stop, low, high, size, w, h)
        middle = 0.5 * (low + high)
        left, left_h, right, right_h = halves(tree, np.uint64(node), size, w, h)
        if part < middle < stop:
            break
        level, node = level + 1, 2.0 * node
        if stop <= middle:
            high = middle
            _keep(kept, j, level, node, left, left_h)
        else:
            low = middle
            _keep(kept, j, level, node + 1.0, right, right_h)
    node, level = 2.0 * node, level + 1
    first, integral = _from(tree, node, level, dt, part, left, left_h)
    _keep(kept, j, level, node + 1.0, right, right_h)
    more, more_integral = _up_to(kept, j, level, tree, dt, stop)
    return after(first, integral, more, more_integral, (stop - middle) * dt)


@inlined
def _in_leaf(part, stop, low, high, size, w, h):
    """Within the smallest nodes what is expected takes the place of what would be drawn."""
    a, b = (part - low) / (high - low), (stop - low) / (high - low)
    before, to_part = expected_up_to(a, size, w, h)
    up_to, to_stop = expected_up_to(b, size, w, h)
    return up_to - before, to_stop - to_part - before * (b - a) * size


@constant
def _from(tree, node, level, dt, part, w, h):
    """W and its integral from a part on to the end of a node."""
    found = found_integral = known = 0.0  # over an interval at the end, of that size
    while True:
        low, high = _ends(node, level)
        size = dt * power_of_two(-level)
        if part == low or level == DEPTH:
            first, integral = _in_leaf(part, high, low, high, size, w, h)
            return after(first, integral, found, found_integral, known)
        left, left_h, right, right_h = halves(tree, np.uint64(node), size, w, h)
        node, level = 2.0 * node, level + 1
        if part < 0.5 * (low + high):
            more = _integral(0.5 * size, right, right_h)
            found, found_integral = after(right, more, found, found_integral, known)
            known += 0.5 * size
            w, h = left, left_h
        else:
            node, w, h = node + 1.0, right, right_h


@constant
def _up_to(kept, j, level, tree, dt, stop):
    """W and its integral from the beginning of the last kept node on; keeps the nodes on the way."""
    w = integral = 0.0
    while True:
        node, of_node, area = kept[j, _NODE + level], kept[j, _W + level], kept[j, _H + level]
        low, high = _ends(node, level)
        size = dt * power_of_two(-level)
        if stop == high or level == DEPTH:
            more, more_integral = _in_leaf(low, stop, low, high, size, of_node, area)
            return after(w, integral, more, more_integral, (stop - low) * dt)
        left, left_h, right, right_h = halves(tree, np.uint64(node), size, of_node, area)
        level, node = level + 1, 2.0 * node
        if stop <= 0.5 * (low + high):
            _keep(kept, j, level, node, left, left_h)
        else:
            more = _integral(0.5 * size, left, left_h)
            w, integral = after(w, integral, left, more, 0.5 * size)
            _keep(kept, j, level, node + 1.0, right, right_h)


@constant
def ahead(begin, length):
    """The place about `length` cells ahead, an eighth less at most, that a tree has near its root.

    Its distance from the beginning of its cell is a multiple of a power of two, the largest one not above an
    eighth of the length: a step between such places is a handful of nodes.
    """
    unit = min(power_of_two(binary_exponent(length / _FINER)), 1.0)
    cell, part = begin
    whole = math.floor((part + length) / unit) * unit
    cells = math.floor(whole)
    return cell + np.int64(cells), whole - cells
