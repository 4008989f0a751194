"""Partials of implicit stages, for states of dual numbers, once the values are found.

The derivative of the solution of the stage equations solves the linearised equations. They have the matrices
of Newton's method, so that its iteration, on partials alone, converges to it at the same rate: it goes on
until nothing but rounding is left. Where the Jacobian is too old for that, or too far from those at the
stages, there is one at the stages themselves; and where that is no use either, the step is too long.
"""

import math
from collections import namedtuple
from functools import cache

import numpy as np
from numba.core import types
from numba.extending import overload

from numbad.forward.dual import Dual
from numbad.ode.compiling import called, inlined
from numbad.ode.jacobian import new_matrices
from numbad.ode.lent import lend, returned
from numbad.ode.stage_equations import (
    RIGHT,
    SCALE,
    SLOPE,
    SLOPES,
    Systems,
    U,
    Y,
    mean_square_error,
)
from numbad.ode.stage_states import (
    flat,
    lent_state_at,
    make_linearize_lent,
    make_put_slope,
    parts_in,
    put,
    state_at,
)
from numbad.ode.state import table_for

# Changes relative to the partials: what counts as nothing, what rounding may leave of them; and the slowest
# convergence that is waited for.
NOTHING, ROUNDING, SLOW = 1e-14, 1e-9, 0.25
MOST_ITERATIONS = 40

# Of a component whose partials are less than those of others, in units of the error allowed in each.
SMALL = 1e-3

# What is lent of the tables of dual numbers, and of matrices and systems at the stages.
Moving = namedtuple("Moving", "T C matrices systems")


def new_moving(y, T, args, sparsity, rows):
    """Memory for `Moving`, for states like y; None where they are no dual numbers."""
    raise NotImplementedError


@overload(new_moving, inline="always")
def _new_moving(y, T, args, sparsity, rows):
    if not isinstance(y.dtype, Dual):
        return lambda y, T, args, sparsity, rows: None
    count = parts_in(y.dtype)

    def new(y, T, args, sparsity, rows):
        matrices = new_matrices(state_at(T, Y, y), args, sparsity)
        table = table_for(rows, y)
        return table, matrices, new_tables(table.shape[1], count, matrices[1].shape)

    return new


@called
def new_tables(n, count, shape):
    pair_W, exchanges = np.empty(shape, np.complex128), np.empty(n, np.intp)
    return np.empty((2, n * count), np.complex128), pair_W, exchanges


def lend_moving(made, given):
    """`Moving`, lent, of what `new_moving` has made and the mass matrix and sparsity."""
    raise NotImplementedError


@overload(lend_moving, inline="always")
def _lend_moving(made, given):
    if isinstance(made, types.NoneType):
        return lambda made, given: None

    def lend_made(made, given):
        T, matrices, (C, pair_W, exchanges) = lend(made)
        systems = Systems(
            matrices[1], matrices[2], pair_W, exchanges, matrices[0], given[0], given[1]
        )
        return Moving(T, C, matrices, systems)

    return lend_made


@inlined
def largest_change(T, values, first, per, stages):
    """The largest change of a partial, relative to it."""
    n = values.shape[1]
    count = T.shape[1] // n
    largest = 0.0
    for q in range(1, count):
        size = 0.0
        for k in range(n):
            at = k * count + q
            T[RIGHT, at] = abs(T[U, at])
            for i in range(SLOPES + stages + first, SLOPES + stages + first + per):
                T[RIGHT, at] += abs(T[i, at])
            size = max(size, T[RIGHT, at] / values[SCALE, k])
        for k in range(n):
            at = k * count + q
            allowed = T[RIGHT, at] + SMALL * size * values[SCALE, k]
            for i in range(SLOPES + first, SLOPES + first + per):
                change = abs(T[i, at])
                if not change < math.inf:
                    return math.inf
                if change > largest * allowed:
                    largest = change / allowed
    return largest


@called
def with_partials(square, T, count, rtol, atol):
    """The mean square of the error of values, and of partials, each relative to its own size."""
    total = square
    shape = T.shape[1] // count, count
    error, y, w = T[RIGHT].reshape(shape), T[Y].reshape(shape), T[U].reshape(shape)
    for q in range(1, count):
        total += mean_square_error(error[:, q], y[:, q], w[:, q], rtol, atol)
    return total / count


@cache
def make_partials(tableau, rhs, equations, factor_all, control_partials):
    """The compiled `solve_partials(...) -> (whether they converged and are exact enough, error)`."""
    put_slope, linearize = make_put_slope(rhs), make_linearize_lent(rhs)
    explicit, per, blocks = tableau.explicit_stages, tableau.per_block, tableau.blocks
    c, stages, middle = np.array(tableau.c), tableau.stages, (tableau.per_block - 1) // 2
    increments = SLOPES + stages

    def solve_partials(
        fun, desk, moving, t, t_new, h, y, k0, structure, args, values, rtol, atol, square
    ):
        raise NotImplementedError

    @called
    def begin_block(desk, moving, h, block):
        own, T, notes = returned(desk.T), flat(returned(moving.T)), returned(desk.notes)
        count = T.shape[1] // own.shape[1]
        if block == 0:
            equations.begin(T, h, notes)
        ratio = h / notes[0] if notes[0] != 0.0 else 0.0
        first = explicit + block * per
        for i in range(first, first + per):
            equations.predict(T, h, ratio, i)
            for k in range(own.shape[1]):
                T[increments + i, k * count] = own[increments + i, k]
        return first

    @called
    def stage(moving, i):
        equations.stage_state(flat(returned(moving.T)), i)

    @called
    def iterate(like, desk, moving, systems, first, h):
        own, T = returned(desk.T), flat(returned(moving.T))
        count = T.shape[1] // own.shape[1]
        C, found = returned(moving.C), returned(systems)
        equations.improve(like, T, C, count, first, found, h)
        return largest_change(T, own, first, per, stages)

    @called
    def state_of_values(desk, i):
        equations.stage_state(returned(desk.T), i)

    @called
    def refactor(like, systems, h):
        factor_all(like, returned(systems), h)

    @called
    def finish(like, desk, moving, h, square, rtol, atol):
        T, notes = flat(returned(moving.T)), returned(desk.notes)
        equations.stage_state(T, stages - 1)
        if control_partials:
            count = T.shape[1] // returned(desk.T).shape[1]
            equations.estimate(like, T, count, SLOPE, returned(desk.systems), h, notes)
            square = with_partials(square, T, count, returned(rtol), returned(atol))
        if square <= 1.0:
            equations.end(T, h, notes)
        return square <= 1.0, square

    def of_duals(
        fun, desk, moving, t, t_new, h, y, k0, structure, args, values, rtol, atol, square
    ):
        put(moving.T, Y, y)
        put(moving.T, SLOPE, k0)
        state = lent_state_at(desk.T, Y, y)
        for block in range(blocks):
            first = begin_block(desk, moving, h, block)
            used, is_new, previous, done = desk.systems, False, math.inf, False
            for iteration in range(MOST_ITERATIONS):
                for i in range(first, first + per):
                    stage(moving, i)
                    at = t_new if c[i] == 1.0 else t + c[i] * h
                    put_slope(fun, moving.T, SLOPES + i, at, U, y, structure, args)
                change = iterate(state, desk, moving, used, first, h)
                rate = change / previous
                known = previous < math.inf  # else the rate of convergence is not known yet
                converged = change <= NOTHING or (known and rate < 1.0 and change * rate <= NOTHING)
                # With one stage at a time a new matrix is exact: what goes on moving then is rounding, of
                # a partial that is zero, say, because two large terms cancel.
                rounding = (change <= ROUNDING and rate > 0.9) or (per == 1 and is_new and known)
                done = converged or (rounding and change < math.inf)
                if done or not change < math.inf or (is_new and rate > 0.9):
                    break
                previous = change
                if rate > SLOW and iteration > 0 and not is_new:
                    state_of_values(desk, first + middle)
                    given = desk.systems.mass, desk.systems.sparsity
                    work = moving.matrices + given
                    there = lent_state_at(desk.T, U, y)
                    at = t_new if c[first + middle] == 1.0 else t + c[first + middle] * h
                    linearize(fun, work, at, there, structure, values)
                    used, is_new, previous = moving.systems, True, math.inf
                    refactor(state, used, h)
            if not done:
                return False, math.inf
        return finish(state, desk, moving, h, square, rtol, atol)

    @overload(solve_partials, inline="always")
    def choose(fun, desk, moving, t, t_new, h, y, k0, structure, args, values, rtol, atol, square):
        if isinstance(y.dtype, Dual):
            return of_duals

        def of_values(
            fun, desk, moving, t, t_new, h, y, k0, structure, args, values, rtol, atol, square
        ):
            return True, square

        return of_values

    return solve_partials


def end_of_step(T, moving, states, y):
    """The state at the end of a step and the slopes at its stages, of the kind of y."""
    raise NotImplementedError


@overload(end_of_step, inline="always")
def _end_of_step(T, moving, states, y):
    if isinstance(y.dtype, Dual):
        return lambda T, moving, states, y: (state_at(moving.T, U, y), states(moving.T, y))
    return lambda T, moving, states, y: (state_at(T, U, y), states(T, y))
