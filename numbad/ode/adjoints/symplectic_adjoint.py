"""The adjoint of a symplectic step, in the notation of `numbad.ode.symplectic`.

A part of a step moves one half of the state, Y_{i+1} = Y_i + s_i h P_i f(t_i, Y_i), where P_i is 1 in that
half and 0 in the other; so the cotangents are, from the last part to the first,

    lam := lam + (df/dy)^T s_i h P_i lam,

which is a step of the same kind, backwards (E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical
Integration", 2nd ed., Springer 2006, VI.9). Outputs within weigh the slopes at both ends, and the mean slope.
"""

from functools import cache

import numpy as np

from numbad.ode.adjoints.stage_pulls import (
    BY_STATE,
    SCRATCH,
    SEED,
    SLOPE,
    STATE,
    add_totals,
    kernel,
    pull_at,
)
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.compiling import inlined
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import borrow, make_workspace, read_row, table_for, write_row
from numbad.ode.symplectic import KICK

# Rows of cotangents: of the new state, of the three slopes that the interpolant weighs, and of the old state.
NEW, FIRST, MEAN, LAST, OLD = range(5)


@cache
def symplectic_adjoint(method, inplace):
    """The `StepAdjoint` of a symplectic method."""
    count = len(method.parts)
    shares = np.array([share for share, _ in method.parts])
    kicks = np.array([part == KICK for _, part in method.parts])
    times = np.array([_passed(method.parts[:i], not method.parts[i][1]) for i in range(count)])
    interpolant = np.array(method.interpolant)
    evaluate, rows = make_evaluate(RightHandSide(inplace, ALL_KNOWN)), make_workspace(1)

    @inlined
    def workspace(initial, args, settings):
        memory, buffers = rows(initial)
        tables = table_for(count, initial), table_for(5, initial), table_for(SCRATCH, initial)
        return (memory, tables), buffers + borrow(tables)

    @inlined
    def begin(work, h, lam):
        bars = work[2]
        clear(bars)
        write_row(bars, NEW, lam)
        return bars

    @inlined
    def output(work, bars, theta, h, v):
        seed = work[3]
        write_row(seed, SEED, v)
        add_output(bars, theta, h, seed[SEED], interpolant)
        return bars

    @inlined
    def step(field, work, taken, bars, seen, totals):
        fun, pull, structure, args, shadows, _ = field
        t, t_new, h, y, y_new, _ = taken
        states, scratch = work[1], work[3]
        write_row(states, 0, y)
        for i in range(count - 1):
            state = read_row(work[0], states, i, y)
            slope = evaluate(fun, scratch[SLOPE], t + times[i] * h, state, structure, args)
            write_row(scratch, SLOPE, slope)
            move(states, i, scratch[SLOPE], shares[i] * h, kicks[i])
        if seen:
            write_row(scratch, STATE, y_new)
            put(scratch[SEED], bars[LAST])
            found = pull_at(pull, t_new, 0.0, scratch, y, structure, args, shadows)
            totals = add_totals(totals, found)
            add_mean(bars, scratch[BY_STATE], h)
        for i in range(count - 1, -1, -1):
            put(scratch[STATE], states[i])
            put_half(scratch[SEED], bars[NEW], shares[i] * h, kicks[i])
            found = pull_at(pull, t + times[i] * h, 0.0, scratch, y, structure, args, shadows)
            totals = add_totals(totals, found)
            add(bars[NEW], scratch[BY_STATE])
        if seen:
            put(scratch[STATE], states[0])
            put(scratch[SEED], bars[FIRST])
            found = pull_at(pull, t, 0.0, scratch, y, structure, args, shadows)
            totals = add_totals(totals, found)
            add(bars[NEW], scratch[BY_STATE])
            add(bars[NEW], bars[OLD])
        return read_row(work[0], bars, NEW, y), totals

    return StepAdjoint(workspace, begin, output, step)


def _passed(parts, kind):
    """The share of a step that parts of a kind have moved by."""
    return sum(share for share, part in parts if part == kind)


@kernel
def clear(bars):
    for i in range(bars.shape[0]):
        for k in range(bars.shape[1]):
            bars[i, k] = 0.0


@kernel
def put(target, source):
    for k in range(len(target)):
        target[k] = source[k]


@kernel
def add(target, source):
    for k in range(len(target)):
        target[k] += source[k]


@kernel
def move(states, i, slope, size, is_kick):
    """State i + 1, of which one half is moved along the slope."""
    n = len(slope)
    for k in range(n):
        states[i + 1, k] = states[i, k]
        if (k >= n // 2) == is_kick:
            states[i + 1, k] += size * slope[k]


@kernel
def put_half(seed, lam, size, is_kick):
    n = len(lam)
    for k in range(n):
        seed[k] = 0.0
        if (k >= n // 2) == is_kick:
            seed[k] = size * lam[k]


@kernel
def add_output(bars, theta, h, v, interpolant):
    """The cotangents of an output at t + theta h."""
    for k in range(len(v)):
        bars[OLD, k] += v[k]
    for i in range(len(interpolant)):
        weight = 0.0
        for p in range(interpolant.shape[1] - 1, -1, -1):
            weight = (weight + interpolant[i, p]) * theta
        for k in range(len(v)):
            bars[FIRST + i, k] += (h * weight) * v[k]


@kernel
def add_mean(bars, by_state, h):
    """What the last slope and the mean one, (y_new - y) / h, hand to the states at the ends."""
    for k in range(len(by_state)):
        mean = bars[MEAN, k] / h
        bars[NEW, k] += by_state[k] + mean
        bars[OLD, k] -= mean
