"""Brownian paths as functions of (key, path, channel, time): increments and space-time Levy areas.

In a whole cell of the grid both come from one block of the generator each, two cells to a block. Within a
cell they come from a tree: its root is the cell's own pair (W, H), and the halves of an interval are drawn
given the pair of the whole, by the law that both pairs have then. The tests hold the covariances of the
parts against those of Brownian motion.
"""

import math

import numpy as np

from numbad.compilation.external_functions import external
from numbad.random.box_muller import normal_pair
from numbad.random.generator_compiling import inlined
from numbad.random.philox import block
from numbad.sde.grid import constant

# Domains of counters: no other use of the generator has these. The channel stands above them.
INCREMENTS, AREAS, _TREES = np.uint32(16), np.uint32(17), np.uint32(18)
_CHANNEL = np.uint32(8)
_WORD, ONE = np.uint64(32), np.uint64(1)
DEPTH = 30  # an interval of the tree is then shorter than the rounding of the times
LEAVES = np.int64(1) << np.int64(DEPTH)
_LANES = 8  # of the widest vectors
WAY = 32  # numbers of each kind on a way down: the depth, in whole vectors


@inlined
def _two(key, path, channel, number, domain):
    a, b, c, d = block(key, number, np.uint32(path), (np.uint32(channel) << _CHANNEL) | domain)
    return normal_pair(a, b, c, d)


@inlined
def two_cells(key, path, channel, pair, domain):
    """The normal numbers of cells 2 `pair` and 2 `pair` + 1."""
    return _two(key, path, channel, np.uint64(pair), domain)


@inlined
def _of_cell(key, path, channel, cell, domain):
    first, second = _two(key, path, channel, np.uint64(cell >> 1), domain)
    return second if cell & 1 else first


@inlined
def pair_of_cell(key, path, channel, cell, dt):
    """(W, H) of a whole cell."""
    w = math.sqrt(dt) * _of_cell(key, path, channel, cell, INCREMENTS)
    return w, math.sqrt(dt / 12.0) * _of_cell(key, path, channel, cell, AREAS)


@inlined
def tree_of_cell(key, path, channel, cell):
    """The key of the tree in a cell; its node 1 is the cell, nodes 2 n and 2 n + 1 are the halves of n."""
    number, domain = np.uint64(cell), (np.uint32(channel) << _CHANNEL) | _TREES
    a, b, _, _ = block(key, number, np.uint32(path), domain)
    return (np.uint64(a) << _WORD) | np.uint64(b)


@inlined
def halves_by(z, n, size, w, h):
    """(W, H) of both halves of a node, given those of the whole and the normal numbers of the node."""
    z, n = z * math.sqrt(size / 16.0), n * math.sqrt(size / 48.0)
    left, middle = 0.5 * w + 1.5 * h + z, 0.25 * h - 0.5 * z
    return left, middle + n, w - left, middle - n


@inlined
def way_down(tree, leaf, k, count, way):
    """The normal numbers of the nodes of 2**k, 2**(k - 1), ... leaves that hold a leaf, `count` of them.

    Into `way[i]` and `way[WAY + i]`. Which nodes they are does not depend on what is drawn, so that they are
    drawn in vectors; a few more than asked for, which fill the last one.
    """
    for i in range((count + _LANES - 1) // _LANES * _LANES):
        node = np.uint64((LEAVES + leaf) >> max(k - i, 0))
        way[i], way[WAY + i] = _two(tree, 0, 0, node, _TREES)


@inlined
def expected_up_to(part, size, w, h):
    """What is expected of W and its integral up to a part of an interval, given its W and H."""
    expected = part * w + 6.0 * part * (1.0 - part) * h
    return expected, size * (0.5 * part**2 * w + part**2 * (3.0 - 2.0 * part) * h)


def _way_of(begin, numbers):
    """`up_to(key, path, channel, cell, part, dt, way)`: W(s) and int_0^s W of a cell up to s = part dt.

    `begin(tree, leaf, way)` is called before the way down to a leaf; `numbers(tree, leaf, i, way)` has the
    normal numbers of node i on it.
    """

    def up_to(key, path, channel, cell, part, dt, way):
        w, h = pair_of_cell(key, path, channel, cell, dt)
        before, integral, size, tree, leaf = 0.0, 0.0, dt, ONE, np.int64(0)
        if 0.0 < part < 1.0:
            tree = tree_of_cell(key, path, channel, cell)
            leaf = np.int64(part * np.float64(LEAVES))
            begin(tree, leaf, way)
        for i in range(DEPTH):
            if part <= 0.0 or part >= 1.0:
                break
            z, n = numbers(tree, leaf, i, way)
            left, left_h, right, right_h = halves_by(z, n, size, w, h)
            size, part = 0.5 * size, 2.0 * part
            if part < 1.0:
                w, h = left, left_h
            else:
                integral += before * size + size * (0.5 * left + left_h)
                before += left
                w, h = right, right_h
                part -= 1.0
        expected, area = expected_up_to(part, size, w, h)  # exact at the ends
        return before + expected, integral + before * part * size + area

    return constant(up_to)


@inlined
def _draw_nothing(tree, leaf, way):
    """Needs no array."""


@inlined
def _draw_all(tree, leaf, way):
    """In vectors."""
    way_down(tree, leaf, DEPTH, DEPTH, way)


@inlined
def _draw_one(tree, leaf, i, way):
    return _two(tree, 0, 0, np.uint64((LEAVES + leaf) >> (DEPTH - i)), _TREES)


@inlined
def _take_one(tree, leaf, i, way):
    return way[i], way[WAY + i]


_up_to = _way_of(_draw_nothing, _draw_one)
_up_to_at_once = _way_of(_draw_all, _take_one)


@constant
def within_cell(key, path, channel, cell, first, last, dt):
    """(W, H) of a part of a cell."""
    w0, i0 = _up_to(key, path, channel, cell, first, dt, None)
    w1, i1 = _up_to(key, path, channel, cell, last, dt, None)
    size = (last - first) * dt
    return w1 - w0, (i1 - i0 - w0 * size) / size - 0.5 * (w1 - w0)


@constant
def _in_parts(key, path, channel, inside, cells, parts, dt, way, ws, hs):
    """(W, H) of the steps with the numbers `inside`, which are parts of cells, in their order."""
    w0 = i0 = w1 = i1 = 0.0
    for k in range(inside.size):
        n = inside[k]
        if k > 0 and cells[n] == cells[n - 1] and parts[n, 0] == parts[n - 1, 1]:
            w0, i0 = w1, i1  # where the one before ended
        else:
            w0, i0 = _up_to_at_once(key, path, channel, cells[n], parts[n, 0], dt, way)
        w1, i1 = _up_to_at_once(key, path, channel, cells[n], parts[n, 1], dt, way)
        ws[n], h = _between(parts[n], dt, w0, i0, w1, i1)
        if hs.size:
            hs[n] = h


@constant
def _inside(parts):
    """Numbers of the steps that are parts of cells."""
    return np.flatnonzero((parts[:, 0] != 0.0) | (parts[:, 1] != 1.0))


@external(constant)
def increments(key, path, cells, parts, dt, channels, with_areas):
    """(W, H) of every step, each of shape (steps, channels); H has no rows where it is not asked for."""
    count = cells.size
    ws, hs = np.empty((count, channels)), np.empty((count if with_areas else 0, channels))
    root, spread = math.sqrt(dt), math.sqrt(dt / 12.0)
    inside, way = _inside(parts), np.empty(2 * WAY)
    for j in range(channels):
        _whole(key, path, j, cells, ws, INCREMENTS, root)
        if with_areas:
            _whole(key, path, j, cells, hs, AREAS, spread)
        _in_parts(key, path, j, inside, cells, parts, dt, way, ws[:, j], hs[:, j])
    return ws, hs


@constant
def _whole(key, path, channel, cells, out, domain, scale):
    """The numbers of whole cells, two at a time where one follows the other."""
    n, count = 0, cells.size
    while n < count:
        if cells[n] & 1 == 0 and n + 1 < count and cells[n + 1] == cells[n] + 1:
            first, second = two_cells(key, path, channel, cells[n] >> 1, domain)
            out[n, channel], out[n + 1, channel] = scale * first, scale * second
            n += 2
        else:
            out[n, channel] = scale * _of_cell(key, path, channel, cells[n], domain)
            n += 1


@external(constant)
def block_increments(key, first, count, cells, parts, dt, channels, with_areas, mirrored):
    """(W, H) of every step of paths `first`, `first` + 1, ..., each of shape (steps, channels, count).

    `mirrored`: the second half of the paths has those of the first half with the opposite sign.
    """
    steps = cells.size
    ws = np.empty((steps, channels, count))
    hs = np.empty((steps if with_areas else 0, channels, count))
    drawn = count // 2 if mirrored else count
    root, spread = math.sqrt(dt), math.sqrt(dt / 12.0)
    inside, way = _inside(parts), np.empty(2 * WAY)
    for j in range(channels):
        _block_of_whole(key, first, drawn, j, cells, ws, INCREMENTS, root)
        if with_areas:
            _block_of_whole(key, first, drawn, j, cells, hs, AREAS, spread)
        for p in range(drawn if inside.size else 0):
            row, areas = ws[:, j, p], hs[:, j, p]
            _in_parts(key, first + p, j, inside, cells, parts, dt, way, row, areas)
    if mirrored:
        _mirror(ws, drawn)
        _mirror(hs, drawn)
    return ws, hs


@constant
def _mirror(numbers, drawn):
    """Give the second half of the paths the numbers of the first half with the opposite sign."""
    for k in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            for p in range(drawn):
                numbers[k, j, drawn + p] = -numbers[k, j, p]


@constant
def _block_of_whole(key, first, drawn, channel, cells, out, domain, scale):
    """As `_whole`, for the paths of a block."""
    n, steps = 0, cells.size
    while n < steps:
        if cells[n] & 1 == 0 and n + 1 < steps and cells[n + 1] == cells[n] + 1:
            _two_rows(
                key,
                first,
                drawn,
                channel,
                cells[n] >> 1,
                out[n, channel],
                out[n + 1, channel],
                domain,
                scale,
            )
            n += 2
        else:
            row = out[n, channel]
            for p in range(drawn):
                row[p] = scale * _of_cell(key, first + p, channel, cells[n], domain)
            n += 1


@constant
def _two_rows(key, first, drawn, channel, pair, row, following, domain, scale):
    """The numbers of two cells for the paths of a block, in vectors."""
    for p in range(drawn):
        a, b = two_cells(key, first + p, channel, pair, domain)
        row[p], following[p] = scale * a, scale * b


@external(constant)
def draw_steps(key, first, count, n, cells, parts, dt, with_areas, mirrored, ws, hs):
    """(W, H) of step `n`, and of the next one where both come of the same numbers; how many steps.

    For `count` paths from `first` on, into rows 0 and 1 of `ws` and `hs`, shape (2, channels, count). As
    `block_increments`, but what is drawn is used while it is in the first cache.
    """
    drawn = count // 2 if mirrored else count
    root, spread = math.sqrt(dt), math.sqrt(dt / 12.0)
    whole, follows = _is_whole(parts, n), n + 1 < cells.size
    if whole:
        both = cells[n] & 1 == 0 and follows and cells[n + 1] == cells[n] + 1
        both = both and _is_whole(parts, n + 1)
    else:
        both = follows and cells[n + 1] == cells[n]
    for j in range(ws.shape[1]):
        if not whole:
            some = parts[n : n + 1 + both]
            _parts_of_cell(key, first, drawn, j, cells[n], some, dt, with_areas, ws, hs)
        elif both:
            pair = cells[n] >> 1
            _two_rows(key, first, drawn, j, pair, ws[0, j], ws[1, j], INCREMENTS, root)
            if with_areas:
                _two_rows(key, first, drawn, j, pair, hs[0, j], hs[1, j], AREAS, spread)
        else:
            for p in range(drawn):
                ws[0, j, p] = root * _of_cell(key, first + p, j, cells[n], INCREMENTS)
                if with_areas:
                    hs[0, j, p] = spread * _of_cell(key, first + p, j, cells[n], AREAS)
    if mirrored:
        _mirror(ws, drawn)
        if with_areas:
            _mirror(hs, drawn)
    return 2 if both else 1


@constant
def _is_whole(parts, n):
    return parts[n, 0] == 0.0 and parts[n, 1] == 1.0


@constant
def _parts_of_cell(key, first, drawn, channel, cell, parts, dt, with_areas, ws, hs):
    """(W, H) of parts of a cell that follow one another, a row of `ws` and `hs` each."""
    way = np.empty(2 * WAY)
    for p in range(drawn):
        w0, i0 = _up_to_at_once(key, first + p, channel, cell, parts[0, 0], dt, way)
        for row in range(parts.shape[0]):
            w1, i1 = _up_to_at_once(key, first + p, channel, cell, parts[row, 1], dt, way)
            ws[row, channel, p], h = _between(parts[row], dt, w0, i0, w1, i1)
            if with_areas:
                hs[row, channel, p] = h
            w0, i0 = w1, i1


@inlined
def _between(part, dt, w0, i0, w1, i1):
    """(W, H) of a part of a cell, from W and its integral up to both ends."""
    size = (part[1] - part[0]) * dt
    return w1 - w0, (i1 - i0 - w0 * size) / size - 0.5 * (w1 - w0)
