"""The adjoint of a step of backward differentiation formulas, in the notation of `numbad.ode.multistep`.

What goes from step to step is the differences D_0, D_1, ... of the solution, so their cotangents are carried
back. A step of order k ends with D'_{k+1} = d and D'_j = D_j + D'_{j+1}; with the cotangent dbar of d that
follows, the multipliers theta of its equation solve

    (M - c J)^T theta = dbar,   J = df/dy at the new state,

and theta hands c J^T theta to the prediction, the sum of all D_j, and -gamma_j / alpha_k M^T theta to D_j.
The change of differences to another step size is linear, with a small matrix that is transposed. The first
step has D_0 = y; on the D_1 that it begins with nothing depends, as a step of order 1 gives D'_1 = h f at its
end. This is the adjoint of the equations as they were solved, sizes and orders of steps being constants:
D. Beigel, M. S. Mommer, L. Wirsching, H. G. Bock, "Approximation of weak adjoints by reverse automatic
differentiation of BDF methods", Numerische Mathematik 126 (2014), doi:10.1007/s00211-013-0570-1.
"""

from functools import cache

import numpy as np

from numbad.ode.adjoints.stage_pulls import (
    BY_STATE,
    SCRATCH,
    SEED,
    STATE,
    add_totals,
    kernel,
    pull_at,
)
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.adjoints.transposed import factor, solve_transposed
from numbad.ode.compiling import inlined
from numbad.ode.implicit_steps import TAKEN
from numbad.ode.jacobian import make_linearize, new_matrices
from numbad.ode.lent import returned
from numbad.ode.multistep import HIGHEST, put_rescaling
from numbad.ode.rhs import RightHandSide
from numbad.ode.sparse_mass import add_turned_mass
from numbad.ode.state import borrow, make_workspace, read_row, table_for, write_row
from numbad.ode.step import buffers_needed

# What the workspace has after the row of a state, up to the matrices of `numbad.ode.jacobian`; and how many
# rows there are of cotangents of differences, up to that one more than the order, in which theta is put.
BARS, BEFORE, SCRATCH_ROWS, NOTES, RESCALING, JACOBIAN, W, EXCHANGES = range(1, 9)
ROWS = HIGHEST + 2

# What is noted: the order of the step at hand, and the order and size
# of the one after it, 0.0 where there is none.
HERE, LATER, LATER_SIZE = range(3)


@cache
def multistep_adjoint(tableau, inplace):
    """The `StepAdjoint` of backward differentiation formulas."""
    harmonic, leading = tableau.harmonic, tableau.leading
    powers = np.array(tableau.interpolant[::-1])  # row j - 1 weighs D_j
    linearize = make_linearize(RightHandSide(inplace))
    rows, place = make_workspace(1), buffers_needed(tableau)

    @inlined
    def workspace(initial, args, settings):
        memory, buffers = rows(initial)
        matrices = new_matrices(initial, args, settings.sparsity)
        bars, scratch = table_for(ROWS, initial), table_for(SCRATCH, initial)
        clear(bars, 0)
        tables = (
            bars,
            table_for(HIGHEST, initial),
            scratch,
            np.zeros(3),
            np.empty((HIGHEST, HIGHEST)),
        )
        work = buffers + borrow(tables) + borrow(matrices)
        return (memory, matrices, tables), work + borrow((settings.mass, settings.sparsity))

    @inlined
    def kind(work, stages):
        return returned(work[place].notes)[TAKEN]

    @inlined
    def note(work, kind):
        work[NOTES][HERE] = kind

    @inlined
    def begin(work, h, lam):
        bars, notes = work[BARS], work[NOTES]
        write_row(bars, 0, lam)
        if notes[LATER] != 0.0 and notes[LATER_SIZE] != h:
            put_rescaling(work[RESCALING], int(notes[LATER]), notes[LATER_SIZE] / h)
            turn(bars, work[BEFORE], work[RESCALING], int(notes[LATER]))
        notes[LATER], notes[LATER_SIZE] = notes[HERE], h
        return bars

    @inlined
    def output(work, bars, theta, h, v):
        seed = work[SCRATCH_ROWS]
        write_row(seed, SEED, v)
        add_output(bars, theta, seed[SEED], powers, int(work[NOTES][HERE]))
        return bars

    @inlined
    def step(field, work, taken, bars, seen, totals):
        fun, pull, structure, args, shadows, _ = field
        _, t_new, h, y, y_new, _ = taken
        scratch, mass, sparsity = work[SCRATCH_ROWS], work[-2], work[-1]
        order = int(work[NOTES][HERE])
        c = h / leading[order]
        add_up(bars, order)
        linearize(fun, work, t_new, y_new, structure, args)
        factor(work[W], work[EXCHANGES], work[JACOBIAN], mass, sparsity, c, 1.0)
        theta = bars[order + 1]
        solve_transposed(work[W], work[EXCHANGES], work[JACOBIAN], sparsity, c, theta)
        write_row(scratch, STATE, y_new)
        put_seed(scratch, theta, c)
        by_args = pull_at(pull, t_new, 0.0, scratch, y, structure, args, shadows)
        totals = add_totals(totals, by_args)
        add_equation(bars, order, harmonic, leading, scratch[BY_STATE], mass)
        return read_row(work[0], bars, 0, y), totals

    return StepAdjoint(workspace, begin, output, step, kind=kind, note=note)


@kernel
def clear(bars, first):
    for j in range(first, len(bars)):
        for k in range(bars.shape[1]):
            bars[j, k] = 0.0


@kernel
def turn(bars, before, R, order):
    """Cotangents of differences, from those of what `rescale` made of them."""
    for i in range(order):
        for k in range(bars.shape[1]):
            before[i, k] = bars[1 + i, k]
    for j in range(order):
        for k in range(bars.shape[1]):
            total = R[0, j] * before[0, k]
            for i in range(1, order):
                total += R[i, j] * before[i, k]
            bars[1 + j, k] = total


@kernel
def add_output(bars, theta, v, powers, order):
    """Those from the cotangent of an output at t + theta h: D'_0 - D'_1 is the state at t."""
    for k in range(len(v)):
        bars[0, k] += v[k]
        bars[1, k] -= v[k]
    for j in range(order):
        weight = 0.0
        for p in range(powers.shape[1] - 1, -1, -1):
            weight = (weight + powers[j, p]) * theta
        for k in range(len(v)):
            bars[1 + j, k] += weight * v[k]


@kernel
def add_up(bars, order):
    """Cotangents of the differences before d was added to them, and of d, behind them."""
    for j in range(order + 1):
        for k in range(bars.shape[1]):
            bars[j + 1, k] += bars[j, k]


@kernel
def put_seed(scratch, theta, factor):
    seed = scratch[SEED]
    for k in range(len(seed)):
        seed[k] = factor * theta[k]


@kernel
def add_equation(bars, order, harmonic, leading, by_state, mass):
    """What the equation of a step hands to the differences, with its multipliers behind them."""
    for j in range(order + 1):
        for k in range(bars.shape[1]):
            bars[j, k] += by_state[k]
        add_turned_mass(bars[j], -harmonic[j] / leading[order], mass, bars[order + 1])
    clear(bars, order + 1)
