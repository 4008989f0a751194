"""Memory stays flat over many calls, calls that raise, and threads. PYTEST_DONT_REWRITE the asserts.

(pytest's own form of an `assert` calls what Numba cannot compile.)
"""

import ctypes
import functools
import gc
import math
import os
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd
from numbad.reverse.memory import release_pool

LIBC = ctypes.CDLL(None) if os.name == "posix" else None
STATM = Path("/proc/self/statm")
FEW, MANY = 3, 3000  # steps that fit into the first chunk of a tape, and steps that do not
THREADS = 16


def resident():
    """Resident memory in bytes, without what is only kept for the next call."""
    while gc.collect():  # a first pass may leave what the objects that it ends held
        pass
    release_pool()
    if hasattr(LIBC, "malloc_trim"):  # else what is leaked may take the place of what was freed
        LIBC.malloc_trim(0)
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(call, *, warm, calls):
    """Bytes of resident memory that `calls` calls add after `warm` calls, and what Numba holds.

    The second number is of allocations by Numba's run-time that are not freed.
    """
    if not STATM.exists():
        pytest.skip("resident memory is read from /proc, which this system does not have")
    _nrt_python.memsys_enable_stats()
    for turn in range(warm):
        call(turn)
    before, held = resident(), allocations()
    for turn in range(calls):
        call(turn)
    return resident() - before, allocations() - held


def allocations():
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free + stats.mi_alloc - stats.mi_free


def damped(x, p, n):
    """Arrays carried round a loop, written in place and allocated in it; every step is recorded."""
    y = x.copy()
    total = 0.0
    for i in range(n):
        z = np.empty(2)
        z[0] = math.sin(y[i % 3] * p)
        z[1] = y[(i + 1) % 3]
        y[i % 3] = 0.9 * z[0] + 0.1 * z[1] * p
        total += z[0] * z[1]
    return total


X = np.array([0.4, 0.7, 1.1])


@functools.cache
def gradient_of(f, mode="reverse", **options):
    return nd.grad(numba.njit(**options)(f), (0, 1), mode=mode)


def mostly_few(turn):
    """Steps of a call: one in a hundred outgrows the first chunk."""
    return MANY if turn % 100 == 0 else FEW


def test_calls_keep_no_memory():
    gradient = gradient_of(damped)
    added, held = growth(lambda turn: gradient(X, 1.3, mostly_few(turn)), warm=2_000, calls=100_000)
    assert held == 0
    assert added < 2**20, f"{added} bytes in 100,000 calls"


@pytest.mark.dear
def test_a_small_leak_would_be_seen():
    kept = []
    # 16 MB, in pieces that are larger than the pages of the holes that other tests left.
    added, held = growth(lambda _: kept.append(np.ones(2_000)), warm=100, calls=1_000)
    assert added > 2**20
    owned = numba.njit(lambda n: np.empty(n))
    _, held = growth(lambda _: kept.append(owned(4)), warm=10, calls=100)
    assert held == 200  # the array's data and its record


def stopping(x, p, n):
    """Raises in the middle of the loop, after the tape has grown."""
    y = p
    for i in range(n + 100):
        y = math.sin(y * x[i % 3]) + p
        if i == n:
            raise ValueError("stopped")
    return y


def out_of_range(x, p, n):
    """Numba itself raises IndexError, where bounds are checked."""
    y = p
    for i in range(n + 100):
        y = math.sin(y * x[0 if i < n else i]) + p
    return y


def out_of_tuple(x, p, n):
    """Numba itself raises IndexError, as it always does for tuples."""
    y = p
    pair = (p, p * p)
    for i in range(n + 100):
        y = math.sin(y * pair[0 if i < n else 2]) + x[0]
    return y


def division(x, p, n):
    """Numba itself raises ZeroDivisionError."""
    y = p
    for i in range(n + 100):
        y = math.sin(y * x[i % 3]) + 1.0 / (n - i)
    return y * p


def failing_assertion(x, p, n):
    y = p
    for i in range(n + 100):
        y = math.sin(y * x[i % 3]) + p
        assert i < n, "too far"
    return y


def no_array_any_more(x, p, n):
    """Numba itself raises TypeError, where an array is None that is used."""
    y, weights = p, x * p
    for i in range(n + 100):
        if i == n:
            weights = None
        y = math.sin(y * weights[i % 3]) + p
    return y


def in_callee(x, p, n):
    """The error comes out of a callee that has arrays of its own."""
    y = x.copy()
    for i in range(n + 100):
        y[i % 3] = checked(y[i % 3] * p, n - i)
    return y[0]


@numba.njit
def checked(y, left):
    if left < 0:
        raise OverflowError("nothing left")
    return math.sin(y)


RAISING = [
    (stopping, ValueError, {}),
    (out_of_range, IndexError, {"boundscheck": True}),
    (out_of_tuple, IndexError, {}),
    (division, ZeroDivisionError, {}),
    (failing_assertion, AssertionError, {}),
    (no_array_any_more, TypeError, {}),
    (in_callee, OverflowError, {}),
]


def attempt(call, error, *args):
    try:
        call(*args)
    except error:
        return
    pytest.fail(f"no {error.__name__}")


@pytest.mark.deep(but=["stopping-*", "in_callee-*-reverse"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("f", "error", "options"), RAISING, ids=lambda a: getattr(a, "__name__", "")
)
def test_calls_that_raise_keep_no_memory(f, error, options, mode):
    gradient, n = gradient_of(f, mode, **options), MANY if mode == "reverse" else FEW
    count = sys.getrefcount(X)
    added, held = growth(lambda _: attempt(gradient, error, X, 1.3, n), warm=500, calls=10_000)
    assert held == 0
    assert sys.getrefcount(X) == count
    assert added < 2**20, f"{added} bytes in 10,000 calls"


def test_a_call_after_one_that_raised_is_right():
    gradient = gradient_of(damped)
    expected = gradient(X, 1.3, MANY)
    for f, error, options in RAISING:
        attempt(gradient_of(f, **options), error, X, 1.3, MANY)
        found = gradient(X, 1.3, MANY)
        assert found[0].tobytes() == expected[0].tobytes()
        assert found[1] == expected[1]


def wave(gradient, results):
    """Sixteen threads at once, each with its own inputs; results as bytes, thread by thread."""
    start = threading.Barrier(THREADS)

    def work(number):
        start.wait()
        results[number] = by_thread(gradient, number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def by_thread(gradient, number):
    """What one thread computes: calls with short tapes and long ones, in turns."""
    collected = []
    for turn in range(60):
        x, p = X + 0.01 * number, 1.3 + 0.001 * turn
        by_x, by_p = gradient(x, p, 10 * MANY if turn % 20 == 0 else FEW + turn)
        collected.append(by_x.tobytes() + np.float64(by_p).tobytes())
    return collected


def test_threads_agree_with_one_thread_bit_for_bit():
    gradient = gradient_of(damped, nogil=True)
    alone = [by_thread(gradient, number) for number in range(THREADS)]
    assert len({tuple(a) for a in alone}) == THREADS
    for _ in range(3):
        assert wave(gradient, [None] * THREADS) == alone


def test_threads_keep_no_memory():
    gradient = gradient_of(damped, nogil=True)
    added, held = growth(lambda _: wave(gradient, [None] * THREADS), warm=5, calls=15)
    assert held == 0
    # Threads that kept one long tape each would add 300 MiB; stacks and arenas of threads vary.
    assert added < 64 * 2**20, f"{added} bytes in 15 waves of {THREADS} threads"
