"""Steps of backward differentiation formulas: their order and step size, and the differences kept for them.

Order and step size change together, after as many steps alike as the order and one more: L. F. Shampine, M.
W. Reichelt, "The MATLAB ODE suite", SIAM J. Sci. Comput. 18 (1997) 1-22, section 2.2. The Jacobian is kept
until Newton's method fails with it. As with methods of implicit stages values decide, and partials of dual
numbers follow once a step is accepted.
"""

import math
from collections import namedtuple
from functools import cache

from numba.core import types
from numba.extending import overload

from numbad.ode import failure
from numbad.ode.compiling import called, inlined
from numbad.ode.control import SAFETY, SMALLEST_SQUARE, STRETCH, Control, aimed, larger
from numbad.ode.implicit_steps import (
    EPSILON,
    EVALUATIONS,
    GOES_ON,
    KEEP_STEP,
    LAST,
    LEFT,
    LINEARIZED,
    MOST_ITERATIONS,
    ORDER,
    RATE,
    SAME,
    SOLVED,
    TAKEN,
    after_rejection,
    judge,
    make_factor_all,
    make_ready,
)
from numbad.ode.lent import lend, returned
from numbad.ode.multistep import (
    DIFFERENCES,
    HIGHEST,
    make_multistep_equations,
    rescale,
)
from numbad.ode.stage_equations import (
    RIGHT,
    SLOPE,
    SLOPES,
    U,
    Y,
    change_of_stages,
    mean_square_error,
    put_scale,
)
from numbad.ode.stage_partials import end_of_step, make_partials, with_partials
from numbad.ode.stage_states import (
    flat,
    lent_linearizer,
    lent_state_at,
    make_put_slope,
    make_states,
    put,
)
from numbad.ode.step import buffers_needed

SMALLEST_FACTOR, LARGEST_FACTOR = 0.2, 10.0
# With a mass matrix f tells no slope, least of all of algebraic components. The first step looks for it by
# one that is so many times shorter: without one steps are as short as the tolerance.
LOOK = 4.0


@inlined
def begin_history(T, h, slope_is_known):
    """The differences of orders 0 and 1 at the start, from the rows of the state and its slope."""
    for k in range(T.shape[1]):
        T[DIFFERENCES, k] = T[Y, k]
        T[DIFFERENCES + 1, k] = h * T[SLOPE, k] if slope_is_known else 0.0


@called
def take_slope(table):
    """Let the first difference be that from the start to the state just found."""
    T = flat(returned(table))
    for k in range(T.shape[1]):
        T[DIFFERENCES, k] = T[Y, k]
        T[DIFFERENCES + 1, k] = T[U, k] - T[Y, k]
        T[DIFFERENCES + 2, k] = T[DIFFERENCES + 3, k] = 0.0


def take_moving_slope(moving):
    """The same for states of dual numbers."""
    raise NotImplementedError


@overload(take_moving_slope, inline="always")
def _take_moving_slope(moving):
    if isinstance(moving, types.NoneType):
        return lambda moving: None
    return lambda moving: take_slope(moving.T)


def begin_moving(moving, y, k0, h, slope_is_known):
    """The same for states of dual numbers."""
    raise NotImplementedError


@overload(begin_moving, inline="always")
def _begin_moving(moving, y, k0, h, slope_is_known):
    if isinstance(moving, types.NoneType):
        return lambda moving, y, k0, h, slope_is_known: None

    def begin(moving, y, k0, h, slope_is_known):
        put(moving.T, Y, y)
        put(moving.T, SLOPE, k0)
        begin_history(flat(returned(moving.T)), h, slope_is_known)

    return begin


@called
def rescale_flat(table, notes, factor):
    rescale(flat(returned(table)), int(returned(notes)[ORDER]), factor)


def rescale_moving(moving, notes, factor):
    """Rescale the differences of states of dual numbers."""
    raise NotImplementedError


@overload(rescale_moving, inline="always")
def _rescale_moving(moving, notes, factor):
    if isinstance(moving, types.NoneType):
        return lambda moving, notes, factor: None
    return lambda moving, notes, factor: rescale_flat(moving.T, notes, factor)


def error_of_partials(moving, square, constant, row, n, rtol, atol):
    """The mean square of the error `constant` times a row, of values and of partials if there are any."""
    raise NotImplementedError


@overload(error_of_partials, inline="always")
def _error_of_partials(moving, square, constant, row, n, rtol, atol):
    if isinstance(moving, types.NoneType):
        return lambda moving, square, constant, row, n, rtol, atol: square

    def of_duals(moving, square, constant, row, n, rtol, atol):
        T = flat(returned(moving.T))
        for k in range(T.shape[1]):
            T[RIGHT, k] = constant * T[row, k]
        return with_partials(square, T, T.shape[1] // n, rtol, atol)

    return of_duals


@inlined
def growth(square, order):
    """How much longer a step of some order may be for its error to be what is allowed."""
    return larger(square, SMALLEST_SQUARE) ** (-0.5 / (order + 1))


# The compiled functions of `make_parts`, all of which take a `Desk`.
Parts = namedtuple("Parts", "begin start spacing predict ready iterate error accept")


@cache
def make_parts(tableau, control_partials):
    """The compiled parts of a step that do not depend on the right-hand side.

    `begin(desk, rtol, atol)` begins a step: whether there is no Jacobian yet, and whether it is the first.
    `start(desk, h)` makes the differences for the first. `spacing(desk, h)` gives the step size over that of
    the differences, `predict(desk)` the prediction, in row U. `ready(like, desk, c, linearized)` factors the
    matrix where it is not that of c. `iterate(like, desk, c, iteration)` returns what an iteration comes to,
    `error(desk, rtol, atol)` the mean square of the error. `accept(desk, moving, h, square, rtol, atol)` ends
    a step, and chooses the order of the next, which is so many times as long.
    """
    equations = make_multistep_equations(tableau)
    highest, leading = tableau.order, tableau.leading
    constants = tableau.error_constants

    @called
    def begin(desk, rtol, atol):
        T, notes = returned(desk.T), returned(desk.notes)
        put_scale(T, returned(rtol), returned(atol))
        return notes[LINEARIZED] == 0.0, notes[ORDER] == 0.0

    @called
    def start(desk, h):
        notes = returned(desk.notes)
        begin_history(returned(desk.T), h, desk.systems.mass is None)
        notes[ORDER], notes[SAME], notes[LAST] = 1.0, 0.0, h

    @called
    def spacing(desk, h):
        notes = returned(desk.notes)
        factor = h / notes[LAST]
        if factor != 1.0:
            rescale(returned(desk.T), int(notes[ORDER]), factor)
            notes[LAST], notes[SAME] = h, 0.0
        return factor, h / leading[int(notes[ORDER])]

    @called
    def predict(desk):
        T, notes = returned(desk.T), returned(desk.notes)
        equations.begin(T, 0.0, notes)
        equations.predict(T, 0.0, 0.0, 0)
        equations.stage_state(T, 0)
        notes[RATE] = 0.0
        notes[LEFT] = max(notes[LEFT], EPSILON) ** 0.8

    @called
    def iterate(like, desk, c, iteration):
        T, notes = returned(desk.T), returned(desk.notes)
        notes[EVALUATIONS] += 1.0
        equations.improve(like, T, returned(desk.C), None, 0, returned(desk.systems), c)
        equations.stage_state(T, 0)
        return judge(notes, change_of_stages(T, 0, 1), iteration)

    @called
    def error(desk, rtol, atol):
        T = returned(desk.T)
        equations.estimate(None, T, None, 0, None, 0.0, returned(desk.notes))
        return mean_square_error(T[RIGHT], T[Y], T[U], returned(rtol), returned(atol))

    @inlined
    def growth_at(T, moving, order, row, rtol, atol):
        constant, n = constants[order], T.shape[1]
        for k in range(n):
            T[RIGHT, k] = constant * T[row, k]
        square = mean_square_error(T[RIGHT], T[Y], T[U], rtol, atol)
        if control_partials:
            square = error_of_partials(moving, square, constant, row, n, rtol, atol)
        return growth(square, order)

    @called
    def accept(desk, moving, h, square, given_rtol, given_atol):
        T, notes = returned(desk.T), returned(desk.notes)
        rtol, atol = returned(given_rtol), returned(given_atol)
        equations.end(T, h, notes)
        order = int(notes[ORDER])
        notes[TAKEN] = notes[ORDER]
        notes[SAME] += 1.0
        if notes[SAME] < order + 1.0:
            return 1.0
        best, chosen = growth(square, order), order
        if order > 1:
            found = growth_at(T, moving, order - 1, DIFFERENCES + order, rtol, atol)
            if found > best:
                best, chosen = found, order - 1
        if order < highest:
            found = growth_at(T, moving, order + 1, DIFFERENCES + order + 2, rtol, atol)
            if found > best:
                best, chosen = found, order + 1
        factor = min(LARGEST_FACTOR, SAFETY * best)
        if chosen == order and 1.0 <= factor <= KEEP_STEP:
            return 1.0
        notes[ORDER], notes[SAME] = chosen, 0.0
        return factor

    return Parts(begin, start, spacing, predict, make_ready(tableau), iterate, error, accept)


@inlined
def shorter(desk, square):
    """What a step whose error is too large is multiplied by."""
    factor = SAFETY * growth(square, returned(desk.notes)[ORDER])
    return factor if factor > SMALLEST_FACTOR else SMALLEST_FACTOR


def make_multistep_advance(tableau, fun, rhs, control_partials, jac=None):
    """The compiled `advance` of backward differentiation formulas: one accepted step."""
    begin, start, spacing, predict, ready, iterate, error, accept = make_parts(
        tableau, control_partials
    )
    linearize, put_slope = lent_linearizer(rhs, jac), make_put_slope(rhs)
    equations, factor_all = make_multistep_equations(tableau), make_factor_all(tableau)
    solve_partials = make_partials(tableau, rhs, equations, factor_all, control_partials)
    states = make_states(SLOPES, HIGHEST)
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
        like = lent_state_at(T, Y, y)
        renew, is_first = begin(desk, rtol, atol)
        seeks_slope = is_first and desk.systems.mass is not None
        if is_first:
            if (
                seeks_slope
            ):  # a part of the first step as it will be: one of the same length shows no error
                h = math.copysign(min(abs(h), longest), h)
                h = aimed(t, h, t_end, STRETCH)[1] / LOOK
            put(T, SLOPE, k0)
            start(desk, h)
            begin_moving(moving, y, k0, h, desk.systems.mass is None)
        status = failure.RUNNING
        accepted = is_new = False
        while not accepted and status == failure.RUNNING:
            if abs(h) > longest:
                h = math.copysign(longest, h)
            t_new, h = aimed(t, h, t_end, STRETCH)
            factor, c = spacing(desk, h)
            if factor != 1.0:
                rescale_moving(moving, desk.notes, factor)
            predict(desk)
            if renew:
                linearize(fun, work, t_new, lent_state_at(T, U, y), structure, values)
                is_new = True
            ready(like, desk, c, renew)
            renew, outcome = False, GOES_ON
            for iteration in range(MOST_ITERATIONS):
                put_slope(fun, T, SLOPES, t_new, U, y, structure, values)
                outcome = iterate(like, desk, c, iteration)
                if outcome != GOES_ON:
                    break
            attempts += 1
            h_tried, factor = h, 0.5
            if outcome == SOLVED:
                square = 0.0 if seeks_slope else error(desk, rtol, atol)
                accepted = square <= 1.0
                if accepted:
                    accepted, square = solve_partials(
                        fun,
                        desk,
                        moving,
                        t,
                        t_new,
                        c,
                        y,
                        k0,
                        structure,
                        args,
                        values,
                        rtol,
                        atol,
                        square,
                    )
                if seeks_slope and square < math.inf:
                    take_slope(desk.T)
                    take_moving_slope(moving)
                    seeks_slope, accepted, factor = False, False, LOOK
                elif accepted:
                    factor = accept(desk, moving, h, square, rtol, atol)
                else:
                    factor = shorter(desk, square)
            else:  # the Jacobian is that of a prediction, which a shorter step does not go as far to
                factor, renew = 0.5 if is_new else 1.0, True
            h *= factor
            if not accepted:
                status = after_rejection(t, h, outcome, attempts, most)
        w, slopes = end_of_step(T, moving, states, given_y)
        return status, t_new, h_tried, w, slopes, Control(h, log_error, attempts)

    return advance
