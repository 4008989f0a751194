"""Functions compiled to free what they hold when they raise: once, and nothing else.

PYTEST_DONT_REWRITE the asserts.
"""

import gc
import sys
from collections import namedtuple

import numpy as np
import pytest
from llvmlite import ir as ll
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from numbad.ir.unwind import FreeingCompiler, _Builder

freeing = njit(pipeline_class=FreeingCompiler)
Pair = namedtuple("Pair", "a b")
N = 500


def live():
    """Allocations by Numba's run-time that are not freed."""
    gc.collect()
    _nrt_python.memsys_enable_stats()
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free + stats.mi_alloc - stats.mi_free


def check(f, x, k, error=ValueError):
    """`f(x, k)`, called again and again, keeps no memory and no reference to `x`."""

    def call():
        if error is None:
            return f(x, k)
        try:
            f(x, k)
        except error:
            return None
        raise AssertionError("no error")

    found = call()
    before, count = live(), sys.getrefcount(x)
    for _ in range(N):
        call()
    assert live() == before
    assert sys.getrefcount(x) == count
    return found


@njit
def stop(x, k):
    if k < 0:
        raise ValueError("no")
    return x[0]


@freeing
def raises_itself(x, k):
    y = x + 1.0
    z = (y, Pair(x, 2.0))
    if k < 0:
        raise ValueError("no")
    return z[0][0] + z[1].a[0]


@freeing
def raises_after_use(x, k):
    """One statement that raises while `x` is held, another when it is not any more."""
    if k < 0:
        raise ValueError("no")
    y = x * 2.0
    total = x[0] + x[1]
    if total * k > 1000.0:
        raise ValueError("too much")
    return total + y[0]


@freeing
def callee_raises(x, k):
    y = x + 1.0
    return stop(x[1:], k) + y[0]


@freeing
def at_any_place(x, k):
    """Variables of all kinds of life: before, in and after a loop, set again, in one branch only."""
    first = x.copy()
    y, total = first[::-1], 0.0
    for i in range(4):
        y = y + x
        if i % 2 == 1:
            z = y * 2.0
            total += z[0]
        total += stop(y, 2 - i if k == 0 else 1)
    late = np.ones(3)
    return total + stop(late, k) + late[0] + first[1]


@freeing
def returns_argument(x, k):
    y = x + 1.0
    stop(y, k)
    return x


@freeing
def returns_perhaps(x, k):
    if k == 0:
        return None
    y = x + 1.0
    stop(x, k)
    return y


@freeing
def catches(x, k):
    y = x + 1.0
    try:
        z = y * 2.0
        stop(z, k)
        total = z[0]
    except Exception:
        total = y[0]
    return total + stop(y, k + 1)


@freeing
def holds_list(x, k):
    """A list of arrays, which grows."""
    kept = [x, x + 1.0]
    kept.append(x * k)
    return stop(kept[1], k) + kept[2][0]


@njit
def calls_inlined(x, k):
    """A caller as Numba compiles it: it holds `x` only over calls that return."""
    y = x + 1.0
    total = 0.0
    for _ in range(3):
        total += raises_itself(y, 1) + returns_argument(x, 1)[0]
    return total + k


ALL = [
    raises_itself,
    raises_after_use,
    callee_raises,
    at_any_place,
    returns_argument,
    returns_perhaps,
    holds_list,
]


@pytest.mark.deep(but=["raises_after_use", "callee_raises"])
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.py_func.__name__)
def test_errors_free_what_is_held_once(f):
    x = np.arange(1.0, 4.0)
    check(f, x, -1)
    assert x.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.deep
def test_errors_further_on():
    check(at_any_place, np.arange(1.0, 4.0), 0)
    check(raises_after_use, np.arange(1.0, 4.0), 1000)


@pytest.mark.deep
def test_a_caught_error_leaves_what_the_handler_needs():
    x = np.arange(1.0, 4.0)
    assert check(catches, x, -1, error=None) == 4.0
    assert check(catches, x, 1, error=None) == 6.0
    check(catches, x, -2)


@pytest.mark.deep
def test_without_an_error_nothing_is_freed_twice():
    x = np.arange(1.0, 4.0)
    for f in (*ALL, calls_inlined, catches):
        expected, found = f.py_func(x, 1), check(f, x, 1, error=None)
        np.testing.assert_array_equal(found, expected)
    assert check(returns_argument, x, 1, error=None) is not None
    assert check(returns_perhaps, x, 0, error=None) is None


def test_numba_itself_keeps_what_a_function_holds():
    """Else this lowering had nothing to do: then drop it."""
    plain = njit(callee_raises.py_func)
    x, before = np.arange(1.0, 4.0), None
    for k in range(11):
        try:
            plain(x, -1)
        except ValueError:
            pass
        before = live() if k == 0 else before
    assert live() > before


@pytest.mark.dear
def test_a_generator_frees_what_it_holds_itself():
    @freeing
    def numbers(x, k):
        y = x + 1.0
        for i in range(3):
            if i == 2 and k < 0:
                raise ValueError("no")
            yield y[i] + x[i]

    def total(x, k):
        return sum(numbers(x, k))

    check(total, np.ones(3), -1)
    assert check(total, np.ones(3), 1, error=None) == 9.0


def test_an_index_out_of_bounds():
    @njit(pipeline_class=FreeingCompiler, boundscheck=True)
    def beyond(x, k):
        y = x + 1.0
        return y[k] + x[k]

    check(beyond, np.ones(3), 7, error=IndexError)


def test_slots_go_before_the_last_instruction():
    """Wherever a builder is put, it writes where llvmlite's does."""
    texts = []
    for builder_class in (_Builder, ll.IRBuilder):
        function = ll.Function(ll.Module(), ll.FunctionType(ll.VoidType(), ()), "f")
        builder = builder_class(function.append_basic_block())
        first = builder.alloca(ll.IntType(8), name="first")
        builder.ret_void()
        with builder.goto_entry_block():
            builder.alloca(ll.IntType(16), name="last")
            builder.alloca(ll.IntType(16), name="after")
        builder.position_before(first)
        builder.alloca(ll.IntType(32), name="before")
        texts.append(str(function))
    made = [line.split()[0].strip('%"') for line in texts[0].splitlines() if "alloca" in line]
    assert made == ["before", "first", "last", "after"]
    assert texts[0] == texts[1]
