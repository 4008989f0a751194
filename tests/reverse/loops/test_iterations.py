"""Loops that are reversed iteration by iteration, and what else is spared: each switch on and off.

What the optimisations must not touch is tested too: loops that look as if their iterations were
independent of each other, and are not.
"""

import math
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.errors import ArgumentError
from numbad.reverse import memory, switches
from numbad.reverse.ops.array import Fresh
from tests.reverse.iterated_functions import (
    X,
    alone,
    arrays_of_an_iteration,
    bells,
    by_name,
    paths,
    programs,
)
from tests.reverse.oracle import check_gradient, check_second_order
from tests.reverse.stages import sweep_of

USED_BY = {
    "independent": ("paths", "scratch", "sums_in_branches"),
    "seeded": ("paths", "array_written_before_and_after"),
    "fused": ("paths", "scratch"),
    "invariants": ("scratch", "invariant_loads", "load_that_is_never_made"),
    "counted": ("ranges", "scratch", "arrays_of_an_iteration"),
    "updates": ("updates_with_repeated_loads", "scratch"),
    "evaluated": ("newton", "values_that_are_known"),
    "conditions": ("ways_that_follow", "paths_that_pay_or_not"),
    "skip": ("paths_that_pay_or_not", "newton"),
    "tables": ("inductions", "scratch", "paths"),
    "unsigned": ("ranges", "scratch"),
    "stack": ("scratch_of_three",),
    "pairs": ("paths",),
    "rows": ("paths",),
    "replay": ("ring",),
    "parallel": ("paths",),
    "expressions": ("bells",),
    "needed": ("ring",),
    "stored": ("bells", "scratch"),
    "stencils": ("ring",),
    "selected": (),  # test_selection.py
    "lane_loops": (),  # within nd.vector_math() alone: tests/batching/test_lane_loop.py
}


@pytest.mark.deep(
    but=[
        "added_to_itself",
        "bells",
        "invariant_loads",
        "left_early",
        "mean_by_*",
        "newton",
        "partial_sums_are_used",
        "paths",
        "scratch",
        "scratch_that_is_seen_after",
        "scratch_that_is_written_at_times",
        "sums_in_branches",
        "sums_that_turn",
        "two_loops",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


@pytest.mark.deep
@programs.parametrize()
def test_gradient_without_any(program):
    with switches.without(*switches.SWITCHES):
        check_gradient(program)


@pytest.mark.deep
@pytest.mark.parametrize("switch", switches.SWITCHES)
def test_gradient_without(switch):
    for name in USED_BY[switch]:
        with switches.without(switch):
            check_gradient(by_name[name])


def stages(f):
    return sweep_of(f, by_name[f.__name__])


@pytest.mark.deep(
    but=[
        "added_to_itself",
        "left_early",
        "newton",
        "paths",
        "scratch",
        "scratch_that_is_seen_after",
    ]
)
@pytest.mark.shows("independent", "seeded")
@pytest.mark.parametrize("name", alone)
def test_loops_are_told_apart(name):
    found = stages(by_name[name].f).iterations
    assert bool(found) == alone[name]
    with switches.without("independent"):
        assert not stages(by_name[name].f).iterations


@pytest.mark.shows("independent", "seeded")
@pytest.mark.parametrize(
    ("name", "known"), [("mean_by_sizes", True), ("mean_by_the_size_of_a_later_array", False)]
)
def test_the_adjoint_of_a_sum_is_known_by_sizes_that_are_asked_for_later(name, known):
    (loop,) = stages(by_name[name].f).iterations.values()
    assert (not loop.is_alone()) == known


def recorded(name):
    """How many values the sweep of a program records; those of inner loops count for more."""
    sweep = stages(by_name[name].f)
    around = sweep.control.around
    return sum(len(frame) * 10 ** len(around[h]) for h, frame in sweep.plan.frames.items())


@pytest.mark.shows
@pytest.mark.parametrize(
    ("switch", "name"),
    [
        ("counted", "ranges"),
        ("conditions", "paths_that_pay_or_not"),
        ("conditions", "ring"),
        ("invariants", "scratch"),
    ],
)
def test_switch_spares_records(switch, name):
    with switches.without(switch):
        before = recorded(name)
    assert recorded(name) < before


@pytest.mark.shows("expressions")
def test_an_expression_that_is_used_once_makes_no_array():
    def arrays():
        return sum(isinstance(op, Fresh) for op in stages(bells).activity.every())

    with switches.without("expressions"):
        before = arrays()
    assert (before, arrays()) == (7, 1)


@pytest.mark.shows("independent")
def test_nothing_is_recorded_of_an_iteration_but_within_it():
    sweep = stages(paths)
    assert all(header in sweep.regions for header, frame in sweep.plan.frames.items() if frame)


def test_switches_are_named():
    with pytest.raises(ArgumentError, match="'unknown'"), switches.without("unknown"):
        nd.grad(paths, mode="reverse")(X, 0.7)


def test_every_switch_is_documented():
    text = (Path(__file__).parents[3] / "docs" / "reverse.md").read_text()
    rows = text.partition("| switch | what is done |\n| --- | --- |\n")[2].partition("\n\n")[0]
    assert rows.splitlines() == switches.table()


@pytest.mark.shows("independent", "seeded")
def test_memory_does_not_grow_with_the_iterations():
    gradient = nd.value_and_grad(njit(arrays_of_an_iteration), mode="reverse")
    few = np.random.default_rng(0).normal(size=(10, 3))
    set_before = memory.TapeLimitError.limit
    try:
        memory.set_tape_limit(200_000)
        value, adjoint = gradient(np.tile(few, (2000, 1)), 0.5)
    finally:
        memory.set_tape_limit(set_before)
    once, one = gradient(few, 0.5)
    assert value == pytest.approx(2000 * once, rel=1e-12)
    np.testing.assert_allclose(adjoint, np.tile(one, (2000, 1)), rtol=1e-12)


@pytest.mark.shows("skip", "independent")
def test_zero_adjoint_does_not_meet_an_infinite_derivative():
    @njit
    def payoff(x):
        total = 0.0
        for k in range(x.shape[0]):
            s = x[k]
            for _ in range(2):
                s = math.sqrt(s)
            if s > 0.5:
                total += s
        return total

    found = nd.grad(payoff, mode="reverse")(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(found, [0.0, 0.25])


def test_what_is_raised_in_an_iteration():
    @njit
    def f(x):
        total = 0.0
        for k in range(x.shape[0]):
            y = x[k]
            for _ in range(3):
                y = y * y
            if y > 2.0:
                raise ValueError("too large")
            total += y
        return total

    gradient = nd.grad(f, mode="reverse")
    for _ in range(3):
        with pytest.raises(ValueError, match="too large"):
            gradient(np.array([0.5, 2.0]))
        np.testing.assert_allclose(gradient(np.array([0.5])), [8 * 0.5**7], rtol=1e-14)


def weighted_by_zero(x):
    total = 0.0
    for i in range(x.size):
        total += x[i] * x[i]
    return x[0] * x[1] + 0.0 * total


def of_a_sum_of_an_array(x):
    return x[0] * x[1] + np.sum(x * x) * (1 - 1)


@pytest.mark.parametrize("f", [weighted_by_zero, of_a_sum_of_an_array])
def test_a_sum_that_is_multiplied_by_zero(f):
    """A penalty that is switched off: no adjoint comes to the sum."""
    x = np.array([2.0, 3.0, 5.0])
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(x), [3.0, 2.0, 0.0])
    np.testing.assert_array_equal(nd.vjp(f)((x,), 2.0)[1][0], [6.0, 4.0, 0.0])
