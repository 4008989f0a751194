"""Iterations taken out of loops: what is their own, what they share, and what keeps a loop as it is."""

import math

import numpy as np
import pytest
from numba import njit, typeof

from numbad.ir.loops import Control, merge_headers
from numbad.ir.outline_iteration import IterationOutline
from numbad.ir.tuple_items import take_items
from numbad.reverse.parallel import body

X, Y, K = np.ones((4, 3)), np.ones(4), np.arange(4)


def _outline(f, *args):
    fn = body(njit(f), tuple(map(typeof, args)))
    merge_headers(fn)
    take_items(fn)
    (loop,) = [loop for loop in Control(fn).loops.values() if loop.parent is None]
    return IterationOutline(fn, loop, {}, set(), lambda label: True, lambda var: False)


def _rows(outline):
    found = outline.reads.rows
    return sorted((row.array, row.axis, row.offset, row.fixed, bool(row.by)) for row in found)


def test_what_is_an_iterations_own():
    def f(p, x, y, k):
        total = 0.0
        for i in range(1, len(y)):
            total += p[k[i]] * x[i, 2] * y[i - 1] + x[i, 0] * i
        return total

    outline = _outline(f, Y, X, Y, K)
    assert outline.can_be_taken_out()
    assert _rows(outline) == [
        ("p", 0, 0, (), True),
        ("x", 0, 0, (0,), False),
        ("x", 0, 0, (2,), False),
        ("y", 0, -1, (), False),
    ]
    assert outline.reads.number
    assert [v.name for v in outline.arguments] == ["k"]


def test_a_row_is_whole_where_the_other_index_changes():
    def f(x):
        total = 0.0
        for i in range(len(x)):
            for j in range(3):
                total += x[i, j] * x[i, 0]
        return total

    outline = _outline(f, X)
    assert outline.can_be_taken_out()
    assert _rows(outline) == [("x", 0, 0, None, False)]


def carried(y):
    total = before = 0.0
    for i in range(len(y)):
        before = 0.5 * before + y[i]
        total += before
    return total


def read_within(y):
    total = 0.0
    for i in range(len(y)):
        total += y[i] * total
    return total


def as_an_integer(y):
    total = 0.0
    for i in range(len(y)):
        total += y[(2 * i) % 3]
    return total


def from_the_end(y):
    total = 0.0
    for i in range(len(y)):
        total += y[i - 1]
    return total


def backwards(y):
    total = 0.0
    for i in range(len(y) - 1, -1, -1):
        total += y[i]
    return total


def left(y):
    total = 0.0
    for i in range(len(y)):
        if y[i] > 2.0:
            break
        total += math.exp(y[i])
    return total


def count_alone(y):
    count = 0
    for i in range(len(y)):
        if y[i] > 2.0:
            count += 1
    return count * y[0]


@pytest.mark.parametrize(
    "f", [carried, read_within, as_an_integer, from_the_end, backwards, left, count_alone]
)
def test_what_keeps_a_loop_as_it_is(f):
    assert not _outline(f, Y).can_be_taken_out()
