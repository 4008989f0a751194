"""Steps of implicit stages: Newton's method with Jacobians and factors that are kept while it converges.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", IV.8: when to stop iterating, when to
evaluate the Jacobian again, and which step sizes to keep. All of it is done on values; partials of dual
numbers follow once a step is accepted (`numbad.ode.stage_partials`).
"""

import math
from collections import namedtuple
from functools import cache

import numpy as np

from numbad.ode import failure
from numbad.ode.compiling import called, inlined
from numbad.ode.consistency import is_consistent
from numbad.ode.control import STRETCH, Control, aimed, make_control
from numbad.ode.implicit_memory import make_implicit_memory
from numbad.ode.jacobian import make_linearize, new_matrices
from numbad.ode.lent import lend, returned
from numbad.ode.rosenbrock import make_moves_as_told
from numbad.ode.stage_equations import (
    RIGHT,
    SLOPE,
    SLOPES,
    Systems,
    U,
    Y,
    change_of_stages,
    factor_system,
    make_equations,
    mean_square_error,
    put_scale,
    rows_needed,
    smallest,
)
from numbad.ode.stage_partials import end_of_step, lend_moving, make_partials, new_moving
from numbad.ode.stage_states import (
    lent_linearizer,
    lent_state_at,
    make_put_slope,
    make_states,
    put,
    state_at,
    values_table,
)
from numbad.ode.state import borrow, borrow_given, make_workspace
from numbad.ode.step import Steps, buffers_needed
from numbad.operators.stop import as_constant

# Iterations of Newton's method; the rate of convergence up to which a Jacobian is kept for the next
# step; how much longer a step may be and is still taken as long as the last, with its factors; the largest
# change, relative to the errors allowed, that a single iteration may end with.
MOST_ITERATIONS = 7
FIRST_CHANGE = 10.0
KEEP_JACOBIAN = 1e-3
KEEP_STEP = 1.2

EPSILON = float(np.finfo(float).eps)

# What an iteration, and an attempt of a step, comes to.
GOES_ON, SOLVED, DIVERGED, BROKEN = range(4)

# What is kept from step to step: the size of the last step and that for which there are factors (0.0: none),
# whether there is a Jacobian, what is left of Newton's error after an iteration, the tolerance for it, the
# last change, the slowest rate of convergence in this step, and counts of evaluations, Jacobians and
# factorizations; of a multistep method the order, 0 before the first step, for how many steps it and
# the step size have been what they are, and the order of the step just taken.
LAST, FACTORED, LINEARIZED, LEFT, TOLERANCE, CHANGE, RATE, EVALUATIONS, JACOBIANS, FACTORS = range(
    10
)
ORDER, SAME, TAKEN = 10, 11, 12

# What the steps of a solution share, lent: the table of values with the rows of `stage_equations`, that of
# the complex system, the notes above, and the systems.
Desk = namedtuple("Desk", "T C notes systems")


def implicit_steps(tableau, rhs, jac=None):
    """The compiled pieces of a step of implicit stages.

    The workspace has, after the rows, a `Desk`, the values of the arguments, and what partials need.
    """
    rows, needed = make_workspace(buffers_needed(tableau)), rows_needed(tableau)
    place = buffers_needed(tableau)
    own_args, jacobian = place + 1, place + 3
    linearize_if_examined = make_linearize(rhs, only_if_examined=True)
    moves_as_told = make_moves_as_told(rhs)

    @inlined
    def workspace(y, args, settings):
        memory, buffers = rows(y)
        T, values = values_table(needed, y), as_constant(args)
        matrices = new_matrices(state_at(lend(T), Y, y), values, settings.sparsity)
        own = new_tables(T.shape[1], matrices[1].shape, settings.rtol)
        given = lend(settings.mass), lend(settings.sparsity)
        there, at = lend(matrices), lend(own)
        systems = Systems(there[1], there[2], at[2], at[3], there[0], given[0], given[1])
        desk = Desk(lend(T), at[0], at[1], systems)
        moving = new_moving(y, lend(T), values, settings.sparsity, needed)
        lent = desk, borrow_given(values), lend_moving(moving, given)
        rest = borrow(settings.mass), borrow(settings.sparsity)
        work = buffers + lent + borrow(matrices) + rest
        return (memory, T, matrices, own, values, moving), work

    @inlined
    def prepare(fun, work, t, y, structure, args):
        pass

    @inlined
    def examine(fun, work, t, y, k0, structure, args, settings):
        T, values = work[place].T, work[own_args]
        put(T, Y, y)
        state = state_at(T, Y, y)
        linearize_if_examined(fun, work, t, state, structure, values)
        J = work[jacobian]
        if not moves_as_told(fun, work, t, state, structure, values, J, settings.sparsity):
            return failure.WRONG_PATTERN
        if not is_consistent(
            settings.mass, settings.sparsity, J, k0, y, settings.rtol, settings.atol
        ):
            return failure.INCONSISTENT_START
        return failure.RUNNING

    @inlined
    def tally(work):
        notes = returned(work[place].notes)
        return int(notes[EVALUATIONS]), int(notes[JACOBIANS]), int(notes[FACTORS])

    memory = make_implicit_memory(tableau, FACTORED)
    return Steps(workspace, prepare, None, examine, tally, memory)


@called
def new_tables(n, shape, rtol):
    """That of the complex system, the notes, the complex matrix and its row exchanges."""
    notes = np.zeros(13)
    least = max(smallest(rtol), 1e3 * EPSILON)
    notes[LEFT], notes[TOLERANCE] = 1.0, max(10.0 * EPSILON / least, min(0.03, math.sqrt(least)))
    pair_W, exchanges = np.empty(shape, np.complex128), np.empty(n, np.intp)
    return np.empty((2, n), np.complex128), notes, pair_W, exchanges


@inlined
def judge(notes, change, iteration):
    """What an iteration of Newton's method comes to, Hairer & Wanner, IV.8, (8.10) to (8.12)."""
    outcome = GOES_ON if iteration < MOST_ITERATIONS - 1 else DIVERGED
    rate = 0.0
    if iteration > 0:
        rate = change / notes[CHANGE]
        if not rate < 0.99:
            notes[LEFT] = 1.0  # as at the start: the next attempt is not to trust its first change
            return DIVERGED if change < math.inf else BROKEN
        notes[RATE] = max(rate, notes[RATE])
        notes[LEFT] = rate / (1.0 - rate)
        if notes[LEFT] * change * rate ** (MOST_ITERATIONS - 1 - iteration) > notes[TOLERANCE]:
            outcome = DIVERGED
    notes[CHANGE] = change
    # How fast the last step converged says nothing of a first change that is beyond the errors allowed.
    if notes[LEFT] * change <= notes[TOLERANCE] and (iteration > 0 or change <= FIRST_CHANGE):
        outcome = SOLVED
    return outcome if change < math.inf else BROKEN


# The compiled functions of `make_attempt`, all of which take a `Desk`.
Attempt = namedtuple("Attempt", "begin ready begin_block stage iterate error accept")


@cache
def make_attempt(tableau):
    """The compiled parts of an attempt that do not depend on the right-hand side.

    `begin(desk, rtol, atol)` begins a step. `ready(like, desk, h)` factors the matrices, where that is to be
    done, and `begin_block(desk, h, block)` begins with a block of stages; it returns the first.
    `stage(desk, i)` puts the state of stage i into row U,
    `iterate(like, desk, first, h, iteration)` returns what an iteration comes to.
    `error(like, desk, trial, again, h, rtol, atol)` gives the mean square of the error, and
    whether it may be estimated again with a slope at the state in row `SLOPES`.
    `accept(desk, h, factor)` ends a
    step; the next one is `factor` as long, or as long as this one.
    """
    equations = make_equations(tableau)
    explicit, per, stages = tableau.explicit_stages, tableau.per_block, tableau.stages
    once = tableau.start_error == 0.0

    @called
    def begin(desk, rtol, atol):
        put_scale(returned(desk.T), returned(rtol), returned(atol))
        return returned(desk.notes)[LINEARIZED] == 0.0

    @called
    def begin_block(desk, h, block):
        T, notes = returned(desk.T), returned(desk.notes)
        if block == 0:
            equations.begin(T, h, notes)
            notes[RATE] = 0.0
        ratio = h / notes[LAST] if notes[LAST] != 0.0 else 0.0
        first = explicit + block * per
        for i in range(first, first + per):
            equations.predict(T, h, ratio, i)
        notes[LEFT] = max(notes[LEFT], EPSILON) ** 0.8
        return first

    @called
    def stage(desk, i):
        equations.stage_state(returned(desk.T), i)

    @called
    def iterate(like, desk, first, h, iteration):
        T, notes = returned(desk.T), returned(desk.notes)
        notes[EVALUATIONS] += per
        equations.improve(like, T, returned(desk.C), None, first, returned(desk.systems), h)
        return judge(notes, change_of_stages(T, first, per), iteration)

    @called
    def error(like, desk, trial, again, h, rtol, atol):
        T, notes = returned(desk.T), returned(desk.notes)
        equations.stage_state(T, stages - 1)
        slope = SLOPE if trial == 0 else SLOPES + 1
        equations.estimate(like, T, None, slope, returned(desk.systems), h, notes)
        square = mean_square_error(T[RIGHT], T[Y], T[U], returned(rtol), returned(atol))
        if once or trial == 1 or square <= 1.0 or not (again or notes[LAST] == 0.0):
            return square, False
        for k in range(T.shape[1]):  # Hairer & Wanner, IV.8, (8.20)
            T[SLOPES, k] = T[Y, k] + T[RIGHT, k]
        notes[EVALUATIONS] += 1.0
        return square, True

    @called
    def accept(desk, h, factor):
        notes = returned(desk.notes)
        equations.end(returned(desk.T), h, notes)
        notes[LAST] = h
        if notes[RATE] > KEEP_JACOBIAN:
            notes[LINEARIZED] = 0.0
        elif 1.0 <= factor <= KEEP_STEP:
            return 1.0
        return factor

    return Attempt(begin, make_ready(tableau), begin_block, stage, iterate, error, accept)


@cache
def make_ready(tableau):
    """The compiled `ready` of `make_attempt`."""
    factor_all = make_factor_all(tableau)

    @called
    def ready(like, desk, h, linearized):
        notes = returned(desk.notes)
        if linearized:
            notes[LINEARIZED], notes[FACTORED] = 1.0, 0.0
            notes[JACOBIANS] += 1.0
        if notes[FACTORED] != h:
            notes[FACTORS] += factor_all(like, returned(desk.systems), h)
            notes[FACTORED] = h

    return ready


@inlined
def after_rejection(t, h, outcome, attempts, most):
    """The status after a step that is to be tried again, with size h."""
    if t + 0.1 * h != t:
        return failure.TOO_MANY_STEPS if attempts >= most else failure.RUNNING
    if outcome == BROKEN:
        return failure.NOT_FINITE
    return failure.STAGES_NOT_SOLVED if outcome == DIVERGED else failure.STEP_TOO_SMALL


@cache
def make_factor_all(tableau):
    """The compiled `factor_all(like, systems, h)`, how many there are."""
    gamma, pair = 1.0 / tableau.systems[0][0], tableau.systems[1]
    pair_gamma, count = (1.0, 1) if pair is None else (1.0 / pair[0], 2)

    @called
    def factor_all(like, systems, h):
        factor_system(like, systems.W, systems.exchanges, systems, h, gamma)
        if count == 2:
            factor_system(like, systems.pair_W, systems.pair_exchanges, systems, h, pair_gamma)
        return count

    return factor_all


def make_implicit_advance(tableau, fun, rhs, control_partials, jac=None):
    """The compiled `advance` of a method of implicit stages: one accepted step."""
    begin, ready, begin_block, stage, iterate, error, accept = make_attempt(tableau)
    linearize, control = lent_linearizer(rhs, jac), make_control(tableau)
    put_slope = make_put_slope(rhs)
    equations, factor_all = make_equations(tableau), make_factor_all(tableau)
    solve_partials = make_partials(tableau, rhs, equations, factor_all, control_partials)
    stages, per, blocks = tableau.stages, tableau.per_block, tableau.blocks
    c, states = np.array(tableau.c), make_states(SLOPES + 2 * stages, stages)
    place = buffers_needed(tableau)
    own_args, place_of_moving = place + 1, place + 2

    @inlined
    def advance(given_work, t, t_end, given_y, given_k0, last, structure, given_args, settings):
        h, log_error, attempts = last
        work, y, k0, args = lend(given_work), lend(given_y), lend(given_k0), lend(given_args)
        desk, values, moving = work[place], work[own_args], work[place_of_moving]
        T, rtol, atol = desk.T, lend(settings.rtol), lend(settings.atol)
        longest, most = settings.max_step, settings.max_steps
        put(T, Y, y)
        put(T, SLOPE, k0)
        state = lent_state_at(T, Y, y)
        renew = begin(desk, rtol, atol)
        status = failure.RUNNING
        accepted = again = is_new = False
        while not accepted and status == failure.RUNNING:
            if abs(h) > longest:
                h = math.copysign(longest, h)
            t_new, h = aimed(t, h, t_end, STRETCH)
            if renew:
                linearize(fun, work, t, state, structure, values)
                is_new = True
            ready(state, desk, h, renew)
            renew, outcome = False, SOLVED
            for block in range(blocks):
                first = begin_block(desk, h, block)
                for iteration in range(MOST_ITERATIONS):
                    for i in range(first, first + per):
                        stage(desk, i)
                        at = t_new if c[i] == 1.0 else t + c[i] * h
                        put_slope(fun, T, SLOPES + i, at, U, y, structure, values)
                    outcome = iterate(state, desk, first, h, iteration)
                    if outcome != GOES_ON:
                        break
                if outcome != SOLVED:
                    break
            attempts += 1
            h_tried, factor = h, 0.5
            if outcome == SOLVED:
                for trial in range(2):
                    square, tries_again = error(state, desk, trial, again, h, rtol, atol)
                    if not tries_again:
                        break
                    put_slope(fun, T, SLOPES + 1, t, SLOPES, y, structure, values)
                accepted = square <= 1.0
                if accepted:
                    accepted, square = solve_partials(
                        fun,
                        desk,
                        moving,
                        t,
                        t_new,
                        h,
                        y,
                        k0,
                        structure,
                        args,
                        values,
                        rtol,
                        atol,
                        square,
                    )
                factor, log_error = control(square, accepted, again, log_error)
                again = True
                if accepted:
                    factor = accept(desk, h, factor)
            elif is_new:
                again = True
            else:
                factor, renew = 1.0, True
            h *= factor
            if not accepted:
                status = after_rejection(t, h, outcome, attempts, most)
        w, slopes = end_of_step(T, moving, states, given_y)
        return status, t_new, h_tried, w, slopes, Control(h, log_error, attempts)

    return advance
