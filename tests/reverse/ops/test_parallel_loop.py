"""Which parallel loops are reversed in pieces, and what their threads share."""

import numpy as np
import pytest
from numba import njit, prange, typeof
from numba.core import ir

import numbad as nd
from numbad.ir.leaves import leaves
from numbad.reverse.activity import Activity
from numbad.reverse.loops.replay import Replay
from numbad.reverse.ops.parallel_loop import Parallel
from numbad.reverse.parallel import with_loops_apart
from numbad.reverse.pipeline import Pipeline, analysed
from numbad.reverse.switches import without
from tests.reverse.test_parallel_code import (
    A,
    M,
    X,
    by_complex_step,
    circle,
    fills,
    heat,
    one_sum,
    rows,
    scattered,
    several_sums,
    shifted,
    work_array,
)


def effects_of(f, *args):
    """What `Effects` tells of the parallel loop of a function, its arguments by name."""
    fn = with_loops_apart(njit(parallel=True)(f), tuple(map(typeof, args)), analyse=analysed)
    activity = Activity(fn, [], [])
    (op,) = [op for op in activity.every() if isinstance(op, Parallel)]
    effects = op.callee.effects
    name = {(k, ()): v.name.partition(".")[0] for k, v in enumerate(op.arguments)}
    return {name[leaf]: steps for leaf, steps in effects.reach.items()}, effects


def two_rows_on(m, x):
    out = np.zeros_like(m)
    for i in prange(2, m.shape[0] - 1):
        row = m[i - 2]
        for j in range(1, m.shape[1]):
            out[i, j] = row[j - 1] * x + m[1 + i, 0]
    return out[2, 1]


@pytest.mark.shows("parallel")
@pytest.mark.parametrize(
    ("f", "a", "reach"),
    [
        (fills, A, {"out": 0}),
        (rows, M, {"out": 0, "m": 0}),
        (heat, A, {"new": 0, "a": 1}),
        (circle, A, {"new": 0, "a": 2}),
        (two_rows_on, M, {"out": 0}),  # 1 + i is not looked through
        (one_sum, A, {}),
        (scattered, A, {"a": 0}),
    ],
)
def test_what_threads_share(f, a, reach):
    """Of an array that is not here, every thread has an adjoint of its own; a race is seldom seen."""
    found, _ = effects_of(f, a, X)
    assert found == reach


@pytest.mark.deep(but=["off0-*"])
@pytest.mark.shows("parallel")
@pytest.mark.parametrize(("f", "a"), [(rows, M), (heat, A), (work_array, A), (several_sums, A)])
@pytest.mark.parametrize("off", [(), ("seeded",)])
def test_threads_leave_each_others_elements_alone(f, a, off):
    """No part of the iterations keeps an array, to put it back, or adds to a shadow, as a whole."""
    with without(*off):
        _, effects = effects_of(f, a, X)
        part, argtypes = effects.part, effects.part.outlined.argtypes
        wrt = tuple(k for k, ty in enumerate(argtypes) if leaves(ty))
        pipeline = Pipeline(part, argtypes, wrt)
        pipeline.run(ir.Scope(None, ir.unknown_loc))
    assert not any(region.is_alone() or region.replaying for region in pipeline.sweep.parts())
    assert not any(isinstance(region, Replay) for region in pipeline.sweep.parts())


def reads_what_others_write(a, x):
    """No two iterations write to one element, but one reads what another one has written before."""
    out = np.zeros(2 * len(a))
    for i in prange(len(a)):
        out[2 * i] = a[i] * x
        out[2 * i + 1] = out[2 * i] * a[i]
    return out[1] * out[5]


@pytest.mark.dear
@pytest.mark.shows("parallel")
def test_what_is_reversed_in_one_piece():
    """Threads cannot share the adjoint of an array whose indices do not tell whose element is whose."""
    found, effects = effects_of(reads_what_others_write, A, X)
    assert found == {"a": 0}
    assert not effects.can_be_reversed_in_pieces(range(5))
    listing = nd.inspect_adjoint(njit(parallel=True)(reads_what_others_write), A, X)
    assert "iterations change elements that others may read" in listing
    by_a, by_x = nd.grad(njit(parallel=True)(reads_what_others_write), (0, 1), mode="reverse")(A, X)
    exact_a, exact_x = by_complex_step(lambda a, x: a[0] ** 2 * a[2] ** 2 * x * x, A, X)
    np.testing.assert_allclose(by_a, exact_a, rtol=1e-14)
    assert by_x == pytest.approx(exact_x, rel=1e-14)


# -- loops that are left in one piece ------------------------------------------------------------


def draws(a, x):
    total = 0.0
    for i in prange(len(a)):
        total += a[i] * np.random.normal() * x
    return total


def counts(a, n):
    total = 0.0
    for i in prange(len(a)):
        n[i] += 1
        total += a[i] * n[i]
    return total * total


def multiplies(a, x):
    total = 1.0
    for i in prange(len(a)):
        total *= a[i] * x
    return total


def doubles(a, x):
    total = 1.0
    for i in prange(len(a)):
        total += total + a[i] * x
    return total


def restarts(a, x):
    total = 0.0
    for i in prange(len(a)):
        if a[i] > 1.0:
            total = 0.0
        total += a[i] * x
    return total


def taken_from(a, x):
    total = 0.0
    for i in prange(len(a)):
        total = a[i] * x - total
    return total


@pytest.mark.deep(but=["counts", "draws", "taken_from"])
@pytest.mark.shows("parallel")
@pytest.mark.parametrize("f", [draws, counts, multiplies, doubles, restarts, taken_from])
def test_what_stays_in_one_piece(f):
    given = A, np.arange(8) if f is counts else X
    fn = with_loops_apart(njit(parallel=True)(f), tuple(map(typeof, given)), analyse=analysed)
    assert not any(isinstance(op, Parallel) for op in Activity(fn, [], []).every())


def test_what_may_share_memory_stays_in_one_piece():
    assert "in parallel" not in nd.inspect_adjoint(njit(parallel=True)(shifted), A.copy(), X)
