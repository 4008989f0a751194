"""The adjoint of a step of implicit stages, in the notation of `numbad.ode.implicit_tableau`.

A stage solves M k_i = f(t + c_i h, Y_i) with Y_i = y + h sum_j a_ij k_j; so with cotangents kbar_i of the
stages the multipliers theta_i of these equations solve

    M^T theta_j - h sum_i a_ij J_i^T theta_i = kbar_j,   J_i = df/dy at Y_i,

and Ybar_i = J_i^T theta_i goes to y. Stages that are solved for at once have one such system, with the
Jacobian of each stage; what they have from stages before goes to the cotangents of these. The system is that
of the stages as they were accepted, so the adjoint is that of their solution, not of Newton's iterations:
J. M. Sanz-Serna, "Symplectic Runge-Kutta schemes for adjoint equations, automatic differentiation, optimal
control, and more", SIAM Review 58 (2016), doi:10.1137/151002769.
"""

from functools import cache

import numpy as np

from numbad.ode.adjoints.block_sparsity import factor_width, in_blocks, widest
from numbad.ode.adjoints.stage_pulls import (
    BY_STATE,
    SEED,
    STATE,
    add_output,
    add_totals,
    kernel,
    pull_at,
    weigh,
)
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.adjoints.transposed import factor, solve_transposed
from numbad.ode.compiling import inlined
from numbad.ode.jacobian import make_linearize, new_matrices
from numbad.ode.linear import extent, innermost, make_eliminate
from numbad.ode.rhs import RightHandSide
from numbad.ode.sparse_mass import mass_in_blocks, only_full
from numbad.ode.state import borrow, make_workspace, read_row, table_for, write_row

# What the workspace has after the row of a state, before the matrices of `numbad.ode.jacobian`.
BARS, SCRATCH_ROWS, SYSTEM, SOLUTION, FACTORS, EXCHANGES, BLOCK, MASSES, JACOBIAN = range(1, 10)

_eliminate = make_eliminate(*extent(None))


@cache
def implicit_adjoint(tableau, inplace):
    """The `StepAdjoint` of a method of implicit stages."""
    stages, per = tableau.stages, tableau.per_block
    if any(map(any, tableau.interpolant[stages:])):
        raise ValueError(f"{tableau.name}: dense output that weighs the slope at the end")
    a, b, c = np.array(tableau.a), np.array(tableau.b), np.array(tableau.c)
    interpolant = np.array(tableau.interpolant[:stages])
    linearize = make_linearize(RightHandSide(inplace))
    rows = make_workspace(1)

    @inlined
    def workspace(initial, args, settings):
        memory, buffers = rows(initial)
        matrices = new_matrices(initial, args, settings.sparsity)
        bars, scratch = table_for(stages + 1, initial), table_for(4, initial)
        size, block = per * bars.shape[1], in_blocks(settings.sparsity, per)
        width = widest(block, size)
        # As many numbers as rows of states hold them: a matrix, and a vector.
        system, solution = table_for(width * per, initial), table_for(per, initial)
        LU, exchanges = np.empty((size, factor_width(block, size))), np.empty(size, np.intp)
        tables = bars, scratch, system.reshape(size, width), solution.reshape(size), LU, exchanges
        masses = mass_in_blocks(settings.mass, per)
        work = buffers + borrow(tables) + (borrow(block), borrow(masses)) + borrow(matrices)
        made = memory, matrices, tables, block, masses
        return made, work + borrow((settings.mass, settings.sparsity))

    @inlined
    def begin(work, h, lam):
        bars = work[BARS]
        write_row(bars, 0, lam)
        weigh(bars, h, b)
        return bars

    @inlined
    def output(work, bars, theta, h, v):
        seed = work[SCRATCH_ROWS]
        write_row(seed, SEED, v)
        add_output(bars, theta, h, seed[SEED], interpolant)
        return bars

    @inlined
    def step(field, work, taken, bars, seen, totals):
        fun, pull, structure, args, shadows, _ = field
        t, t_new, h, y, _, (states, place) = taken
        scratch, system, theta = work[SCRATCH_ROWS], work[SYSTEM], work[SOLUTION]
        full, sparsity, block = only_full(work[-2]), work[-1], work[BLOCK]
        for first in range(stages - per, -1, -per):
            for i in range(first, first + per):
                put_state(scratch, states, place, h, a, i)
                at = t_new if c[i] == 1.0 else t + c[i] * h
                if a[i, i] != 0.0:
                    state = read_row(work[0], scratch, STATE, y)
                    linearize(fun, work, at, state, structure, args)
                put_equations(system, work[JACOBIAN], full, sparsity, h, a, i, first, per)
            solve(
                system,
                work[FACTORS],
                work[EXCHANGES],
                work[MASSES],
                block,
                h,
                bars,
                theta,
                first,
                per,
            )
            for i in range(first, first + per):
                put_state(scratch, states, place, h, a, i)
                put_seed(scratch, theta, i - first)
                at = t_new if c[i] == 1.0 else t + c[i] * h
                by_args = pull_at(pull, at, 0.0, scratch, y, structure, args, shadows)
                totals = add_totals(totals, by_args)
                add_stage(bars, scratch, h, a, i, first)
        return read_row(work[0], bars, 0, y), totals

    return StepAdjoint(workspace, begin, output, step, stages)


@kernel
def put_state(scratch, states, place, h, a, i):
    """The state of stage i."""
    state, y = scratch[STATE], states[place]
    for k in range(len(state)):
        state[k] = y[k]
    for j in range(len(a)):
        weight, slope = h * a[i, j], states[place + 1 + j]
        if weight != 0.0:
            for k in range(len(state)):
                state[k] += weight * slope[k]


@kernel
def put_equations(system, jacobian, mass, sparsity, h, a, i, first, per):
    """The rows of the system of a block that say what stage i solves, d_ij M - h a_ij J_i.

    Of a sparse one a_ij J_i alone, a column for each colour in each stage.
    """
    n = len(system) // per
    width = system.shape[1] // per
    for r in range(n):
        row = system[(i - first) * n + r]
        for j in range(first, first + per):
            for k in range(width):
                place = (j - first) * width + k
                row[place] = 0.0
                if a[i, j] != 0.0:
                    factor = a[i, j] if sparsity is not None else -h * a[i, j]
                    row[place] += factor * jacobian[r, k]
                if i == j and sparsity is None:
                    if mass is not None:
                        row[place] += mass[r, k]
                    elif r == k:
                        row[place] += 1.0


@kernel
def solve(system, LU, exchanges, masses, block, h, bars, theta, first, per):
    """The multipliers of a block from the cotangents of its stages."""
    n = bars.shape[1]
    for i in range(len(LU)):
        theta[i] = bars[1 + first + i // n, i % n]
    if block is None:
        values = innermost(system)
        for i in range(len(LU)):
            for j in range(len(LU)):
                LU[i, j] = values[i, j]
        _eliminate(LU, exchanges)
        solve_transposed(LU, exchanges, system, None, -1.0, theta)
    else:
        factor(LU, exchanges, system, masses, block, h, 1.0)
        solve_transposed(LU, exchanges, system, block, h, theta)


@kernel
def put_seed(scratch, theta, block):
    seed = scratch[SEED]
    for k in range(len(seed)):
        seed[k] = theta[block * len(seed) + k]


@kernel
def add_stage(bars, scratch, h, a, i, first):
    """What stage i hands to y and to the stages of blocks before."""
    by_state = scratch[BY_STATE]
    for k in range(len(by_state)):
        bars[0, k] += by_state[k]
    for j in range(first):
        for k in range(len(by_state)):
            bars[1 + j, k] += (h * a[i, j]) * by_state[k]
