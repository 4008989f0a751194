"""The arena of a tape: shadows and copies, zeroed, apart, and within the limit."""

import sys
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

from numbad.errors import TapeLimitError
from numbad.forward.access import partial, primal, unit
from numbad.reverse import arena, memory
from numbad.reverse.memory import pool_bytes, set_tape_limit
from tests.reverse.test_value_tape import D3, _live, on_tape, shadows, zeros_like

pytestmark = pytest.mark.usefixtures("counts", "limit")
dual_zeros_like = arena.arena_zeros_like(D3)
Pair = namedtuple("Pair", "a b")


def test_shadows_of_large_arrays_wait_for_the_next_call():
    sizes = 20_000, 50_000
    x, y = map(np.zeros, sizes)
    for _ in range(3):
        assert shadows(x, y) == 0
        assert pool_bytes() == 8 * sum(sizes)
    assert shadows(x[:-1000], y[:-1000]) == 0  # fits, and is not much less
    assert pool_bytes() == 8 * sum(sizes)
    for n in range(100_000, 120_000, 2000):  # each of another size: none piles up
        assert shadows(np.zeros(n), np.zeros(2 * n)) == 0
        assert pool_bytes() <= 2 * 8 * 3 * n
    large = np.zeros(memory.LARGEST_KEPT // 8 + 1)
    before = pool_bytes()
    assert shadows(large, large) == 0
    assert pool_bytes() <= before


def test_limit_holds_for_the_arena():
    @on_tape
    def many(tape, args):
        for _ in range(args[1]):
            zeros_like(tape, args[0])
        return args[1]

    @on_tape
    def dual_many(tape, args):
        return dual_zeros_like(tape, args[0]).size

    set_tape_limit(1_000_000)
    x = np.zeros(1000)
    assert many(x, 100) == 100
    with pytest.raises(TapeLimitError, match="the shadow of an array"):
        many(x, 130)
    with pytest.raises(TapeLimitError, match="the shadow of an array"):
        many(np.zeros(125_001), 1)
    with pytest.raises(TapeLimitError):  # the size of this one does not fit 64 bits
        dual_many(np.broadcast_to(np.zeros(1, np.int8), (2**61,)), 1)


# -- the arena --------------------------------------------------------------------------------


@on_tape
def copies(tape, args):
    """The copy, made while other memory of the arena is written."""
    (x,) = args
    copy = arena.arena_copy(tape, x)
    zeros = zeros_like(tape, x)
    again = arena.arena_copy(tape, copy)
    untouched = zeros.copy()
    zeros += 7.0
    return copy.copy(), again.copy(), untouched, zeros.copy()


_base = np.arange(120.0)
ARRAYS = {
    "1-d": _base,
    "empty": _base[:0],
    "2-d": _base.reshape(10, 12),
    "3-d": _base.reshape(4, 5, 6),
    "zero columns": np.zeros((3, 0)),
    "strided": _base[::3],
    "reversed": _base[::-1],
    "transposed": _base.reshape(10, 12).T,
    "strided 3-d": _base.reshape(4, 5, 6)[::2, 1:, ::3],
    "0-d": np.array(3.5),
    "larger than a chunk": np.arange(50_000.0),
    "float32": np.arange(7, dtype=np.float32),
    "complex": np.arange(7) * 1j,
}


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "0-d"])
def test_copies_and_zeros(name):
    x = ARRAYS[name]
    copy, again, untouched, zeros = copies(x)
    for found, wanted in ((copy, x), (again, x), (untouched, 0 * x), (zeros, 0 * x + 7)):
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, wanted)


def test_memory_of_an_earlier_call_is_zeroed():
    @on_tape
    def sums(tape, args):
        total = 0.0
        for _ in range(args[1]):
            z = zeros_like(tape, args[0])
            total += z.sum()
            z[:] = 1.0
        return total

    for n in (1, 100, 1000, 10_000):
        for _ in range(3):
            assert sums(np.ones(n), 30) == 0.0


def test_arrays_of_duals_are_zero_and_apart():
    @on_tape
    def duals(tape, args):
        first, second = dual_zeros_like(tape, args[0]), dual_zeros_like(tape, args[0])
        total = 0.0
        for i in range(first.size):
            for k in range(3):
                total += primal(first[i]) + partial(first[i], k)
            first[i] += unit(i * 1.0, i % 3, 3, 0)
        for i in range(first.size):
            if partial(first[i], i % 3) != 1.0 or primal(first[i]) != i:
                return -1.0
            for k in range(3):
                total += abs(primal(second[i])) + abs(partial(second[i], k))
        return total

    for n in (0, 5, 40, 1000):
        assert duals(np.zeros(n)) == 0.0


def test_borrowed_arrays_own_nothing():
    @njit
    def sums(x, y):
        t = arena.borrow((x, Pair(y, (2.0, None)), None))
        total = 0.0
        for _ in range(10):
            kept = t
            total += kept[0].sum() + kept[1].a.sum() + kept[1].b[0]
        return total

    @njit
    def one(x):
        y = x + 1.0
        return arena.borrow(y).sum() + 0.0 * y[0]

    x, y = np.ones(3), np.ones((2, 2))
    assert sums(x, y) == 90.0
    assert one(x) == 6.0
    live = _live()
    counts = [sys.getrefcount(a) for a in (x, y)]
    for _ in range(10):
        sums(x, y)
        one(x)
    assert [sys.getrefcount(a) for a in (x, y)] == counts
    assert _live() == live
