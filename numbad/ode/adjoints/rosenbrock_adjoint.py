"""The adjoint of a Rosenbrock step, in the notation of `numbad.ode.rosenbrock`.

A stage solves W u_i = f(t + c_i h, Y_i) + M sum_j C_ij u_j + h d_i f_t with Y_i = y + h sum_j a_ij u_j and
W = M / gamma - h J; so with cotangents ubar_i of the stages, from the last to the first,

    W^T theta_i = ubar_i,   Ybar_i = (df/dy)^T theta_i,
    ubar_j += h a_ij Ybar_i + C_ij M^T theta_i,

and that of y is the sum of those of the Y_i and of what J and f_t take part with: the gradient of
theta_i . (J h u_i + f_t h d_i), which is the derivative of a vector-Jacobian product of f, seeded by theta_i,
where (t, y) moves in the direction (h d_i, h u_i). One dual number gives it: forward over reverse.
D. N. Daescu, G. R. Carmichael, A. Sandu, "Adjoint implementation of Rosenbrock methods applied to
variational data assimilation problems", Journal of Computational Physics 165 (2000),
doi:10.1006/jcph.2000.6622.
"""

from functools import cache

import numpy as np

from numbad.ode.adjoints.stage_pulls import (
    BY_STATE,
    SEED,
    add_moved,
    add_output,
    add_stage,
    add_totals,
    pull_at,
    put_moving,
    put_state,
    weigh,
)
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.adjoints.transposed import factor, solve_transposed
from numbad.ode.compiling import inlined
from numbad.ode.jacobian import make_linearize, new_matrices
from numbad.ode.rhs import RightHandSide
from numbad.ode.state import borrow, make_workspace, read_row, table_for, write_row


@cache
def rosenbrock_adjoint(tableau, inplace):
    """The `StepAdjoint` of a Rosenbrock method."""
    stages, gamma = tableau.stages, tableau.gamma
    if any(tableau.interpolant[-1]) or len(tableau.interpolant) != stages + 1:
        raise ValueError(f"{tableau.name}: dense output that weighs the slope at the end")
    a, couplings = _square(tableau.a), _square(tableau.couplings)
    b, c, d = np.array(tableau.b), np.array(tableau.c), np.array(tableau.d)
    interpolant = np.array(tableau.interpolant[:-1])
    linearize = make_linearize(RightHandSide(inplace))
    rows = make_workspace(1)

    @inlined
    def workspace(initial, args, settings):
        memory, buffers = rows(initial)
        matrices = new_matrices(initial, args, settings.sparsity)
        bars, scratch = table_for(stages + 1, initial), table_for(4, initial)
        tables, given = (bars, scratch), (settings.mass, settings.sparsity)
        work = buffers + borrow(tables) + borrow(matrices) + borrow(given)
        return (memory, matrices, tables), work

    @inlined
    def begin(work, h, lam):
        bars = work[1]
        write_row(bars, 0, lam)
        weigh(bars, h, b)
        return bars

    @inlined
    def output(work, bars, theta, h, v):
        seed = work[2]
        write_row(seed, SEED, v)
        add_output(bars, theta, h, seed[SEED], interpolant)
        return bars

    @inlined
    def step(field, work, taken, bars, seen, totals):
        fun, pull, structure, args, shadows, (moving_args, moving_shadows, moving) = field
        t, t_new, h, y, _, (states, place) = taken
        scratch, jacobian, W, exchanges = work[2], work[3], work[4], work[5]
        mass, sparsity = work[-2], work[-1]
        linearize(fun, work, t, y, structure, args)
        factor(W, exchanges, jacobian, mass, sparsity, h, gamma)
        for i in range(stages - 1, -1, -1):
            solve_transposed(W, exchanges, jacobian, sparsity, h, bars[i + 1])
            put_state(scratch, states, place, h, a, i, bars)
            at = t_new if c[i] == 1.0 else t + c[i] * h
            by_args = pull_at(pull, at, 0.0, scratch, y, structure, args, shadows)
            totals = add_totals(totals, by_args)
            add_stage(bars, h, a, couplings, i, scratch[BY_STATE], mass)
            put_moving(moving, states, place, h, i, bars)
            by_args = pull_at(pull, t, h * d[i], moving, y, structure, moving_args, moving_shadows)
            totals = add_totals(totals, by_args)
            add_moved(bars, moving)
        return read_row(work[0], bars, 0, y), totals

    return StepAdjoint(workspace, begin, output, step, stages, moves=True)


def _square(rows):
    """Rows of growing length as a matrix."""
    matrix = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        matrix[i, :i] = row
    return matrix
