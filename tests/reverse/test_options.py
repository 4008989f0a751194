"""The dispatcher's options, carried over into the adjoint: each by its effect."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import numbad as nd

REPOSITORY = Path(__file__).parents[2]


def value_and_slope(f, *args):
    return nd.value_and_grad(f, 0, mode="reverse")(*args)


# -- fastmath --------------------------------------------------------------------------------


def absorbed(x):
    return (x + 1e16) - 1e16


def test_fastmath_reassociates_as_in_the_primal():
    """Strictly, x disappears in 1e16; with fastmath LLVM may fold the constants."""
    strict, fast = njit(absorbed), njit(fastmath=True)(absorbed)
    assert (strict(1.0), fast(1.0)) == (0.0, 1.0)
    assert value_and_slope(strict, 1.0) == (0.0, 1.0)
    assert value_and_slope(fast, 1.0) == (1.0, 1.0)


def test_a_subset_of_fastmath_stays_a_subset():
    """`nnan` alone lets LLVM assume that nothing is NaN, and does not let it reassociate."""
    subset = njit(fastmath={"contract"})(absorbed)
    assert subset(1.0) == 0.0
    assert value_and_slope(subset, 1.0) == (0.0, 1.0)


@njit(fastmath=False)  # unset, it would be the caller's, in Numba as well
def kahan_sum(x, n):
    s, lost = x, 0.0
    for _ in range(n):
        y = 0.1 * x - lost
        t = s + y
        lost = (t - s) - y
        s = t
    return s


@njit(fastmath=True)
def fast_caller(x, n):
    return kahan_sum(x, n)


@njit
def strict_caller_of_fast(x):
    return fast_absorbed(x) * 2.0


fast_absorbed = njit(fastmath=True)(absorbed)
strict_absorbed = njit(fastmath=False)(absorbed)


@njit(fastmath=True)
def fast_caller_of_strict(x):
    return strict_absorbed(x) * 2.0


def test_a_strict_callee_of_a_fast_caller_stays_strict():
    """Compensated summation is undone by fastmath, which the callee forbids."""
    x, n = 1.0, 10_000
    value, slope = value_and_slope(fast_caller, x, n)
    assert value == fast_caller(x, n) == kahan_sum(x, n)
    assert slope == pytest.approx(1 + 0.1 * n, rel=1e-12)
    if fast_caller_of_strict(1.0) != 0.0:
        pytest.skip("this Numba's fastmath reaches callees that forbid it")
    assert value_and_slope(fast_caller_of_strict, 1.0) == (0.0, 2.0)


def test_a_fast_callee_of_a_strict_caller():
    """The slope is 2 in either case; the value is the primal's."""
    value, slope = value_and_slope(strict_caller_of_fast, 1.0)
    assert slope == 2.0
    assert value in (0.0, 2.0)


# -- boundscheck -----------------------------------------------------------------------------


def at(a, i):
    return a[i] * a[0]


checked_at = njit(boundscheck=True)(at)


def test_indices_out_of_range_raise_where_they_are_checked():
    a = np.array([2.0, 3.0])
    gradient = nd.grad(checked_at, mode="reverse")
    for i in (2, -3):
        with pytest.raises(IndexError):
            gradient(a, i)
    np.testing.assert_array_equal(gradient(a, -1), [3.0, 2.0])


@njit(boundscheck=True)
def checked_store(a, x, i):
    a[i] = x
    return a[0] * x


def test_stores_out_of_range_raise_where_they_are_checked():
    gradient = nd.grad(checked_store, (0, 1), mode="reverse")
    with pytest.raises(IndexError):
        gradient(np.ones(2), 3.0, 2)
    by_a, by_x = gradient(np.ones(2), 3.0, 1)
    np.testing.assert_array_equal(by_a, [3.0, 0.0])
    assert by_x == 1.0


@njit
def unchecked_caller(a, i):
    return checked_at(a, i) * 2.0


def test_a_callee_keeps_its_checks():
    with pytest.raises(IndexError):
        unchecked_caller(np.ones(2), 2)
    with pytest.raises(IndexError):
        nd.grad(unchecked_caller, mode="reverse")(np.ones(2), 2)


# -- nogil -----------------------------------------------------------------------------------


def until_asked(x, turns, asked, most):
    s = x
    for i in range(most):
        turns[0] = (
            i + 1
        )  # which may be `asked`, for all that LLVM knows: it reads that in every turn
        if asked[0]:
            break
        s = s * 0.999 + x
    return s


def turns_until_asked(gradient, most):
    """How many turns the function takes in one thread if another, once it has begun, asks it to stop."""
    turns, asked = np.zeros(1, np.int64), np.zeros(1, np.int64)
    thread = threading.Thread(target=gradient, args=(1.5, turns, asked, most))
    thread.start()
    while not turns[0] and thread.is_alive():
        time.sleep(0.001)
    asked[0] = 1
    thread.join()
    return turns[0]


def test_nogil_lets_other_threads_run():
    held = nd.grad(njit(until_asked), mode="reverse")
    released = nd.grad(njit(nogil=True)(until_asked), mode="reverse")
    for gradient in (held, released):
        assert turns_until_asked(gradient, 1) == 1  # and is compiled
    assert turns_until_asked(held, 1_000_000) == 1_000_000  # nobody could ask
    assert turns_until_asked(released, 10**11) < 10**11


# -- inline ----------------------------------------------------------------------------------


@njit(inline="always")
def inlined(x, y):
    s = x
    for i in range(3):
        if s > y:
            s = s * y
        else:
            s = s + x * i
    return s


def test_inlined_functions():
    """3 x (1 + 0) + ... : from x = 1, y = 10 the branch is always the sum, 4 x."""
    assert value_and_slope(inlined, 1.0, 10.0) == (4.0, 4.0)
    assert value_and_slope(njit(lambda x, y: inlined(x, y) * x), 1.0, 10.0) == (4.0, 8.0)


def never(expr, caller, callee):
    return False


@njit(inline=never)
def inlined_by_a_cost_model(x):
    return x * x * x


def test_inlining_by_a_cost_model():
    assert value_and_slope(njit(lambda x: inlined_by_a_cost_model(x) * x), 2.0) == (16.0, 32.0)


# -- cache -----------------------------------------------------------------------------------

CACHED = """
from numba import njit
import numbad as nd

@njit(cache=True)
def square(x):
    return x * x * {factor}

@njit(cache=True)
def f(x):
    return square(x) * x

{rule}
gradient = nd.grad(f, mode="reverse")
print(gradient(2.0), sum(gradient.stats.cache_hits.values()))
"""

RULE = """
nd.rule(square, vjp=(lambda x: (square(x), x), lambda x, c: ({factor} * x * c,)))
"""


def run_program(folder, factor=1.0, rule=""):
    """The gradient that a process prints, and how often it found compiled code."""
    program = folder / "program.py"
    program.write_text(CACHED.format(factor=factor, rule=rule))
    settings = {"NUMBA_CACHE_DIR": str(folder / "numba"), "NUMBAD_CACHE_DIR": str(folder / "own")}
    path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, **settings, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    slope, hits = done.stdout.split()
    return float(slope), int(hits)


@pytest.mark.deep
def test_cached_functions(tmp_path):
    """The second process finds the code, a third one that has changed does not use it."""
    assert run_program(tmp_path) == (12.0, 0)
    slope, hits = run_program(tmp_path)
    assert slope == 12.0
    assert hits >= 1, "nothing was found in the cache"
    assert run_program(tmp_path, factor=3.0)[0] == 36.0


@pytest.mark.dear
def test_cached_code_is_that_of_the_rule_in_force(tmp_path):
    """x * square(x), with a rule that claims d square / dx = factor * x."""
    assert run_program(tmp_path)[0] == 12.0
    assert run_program(tmp_path, rule=RULE.format(factor=5.0))[0] == 24.0
    assert run_program(tmp_path, rule=RULE.format(factor=7.0))[0] == 32.0
