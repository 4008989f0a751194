"""The integration: steps of chosen size from the first time to the last, one after the other."""

import math
from collections import namedtuple
from dataclasses import astuple
from functools import lru_cache

from numbad.ode import failure
from numbad.ode.compiling import generic, inlined
from numbad.ode.control import (
    LOG_SMALLEST_ERROR,
    LOG_SMALLEST_PREVIOUS,
    STRETCH,
    larger,
    make_control,
    make_first_step,
    smaller,
)
from numbad.ode.rhs import make_evaluate
from numbad.ode.state import (
    all_finite,
    array_state,
    borrow,
    hold,
    keep,
    make_mean_square,
    make_workspace,
    structure_of,
    table_for,
    tuple_or_array_state,
    write_row,
)
from numbad.ode.step import (
    buffers_needed,
    make_error,
    make_interpolate,
    make_next_slope,
    make_step,
)
from numbad.ode.times import check_times, time_at

# What is compiled once for a right-hand side.
Problem = namedtuple("Problem", "fun tableau inplace control_partials")

# What a call can change; first_step 0.0 asks for the automatic choice.
Settings = namedtuple("Settings", "rtol atol first_step max_step max_steps")

# What a step hands to the next: the step size to try, and the last error for the control.
Control = namedtuple("Control", "h log_error attempts")

# The compiled pieces of an integration.
Pieces = namedtuple("Pieces", "as_state start advance interpolate settle rows")

SMALLEST_ERROR = math.exp(2.0 * LOG_SMALLEST_ERROR)


def content_of(problem):
    """What compiled code for a problem depends on, in a form that has a digest."""
    return problem.fun, astuple(problem.tableau), problem.inplace, problem.control_partials


def make_pieces(problem):
    """The functions that an integration loop is put together from, for one right-hand side."""
    tableau = problem.tableau
    evaluate, evaluate_first = make_evaluate(problem.fun, problem.inplace)
    mean_square = make_mean_square(problem.control_partials)
    next_slope = make_next_slope(tableau, evaluate)
    last = buffers_needed(tableau) - 1

    @inlined
    def settle(work, t, w, stages, structure, args):
        y = keep(work[last], w)
        return y, keep(work[0], next_slope(work, t, y, stages, structure, args))

    return Pieces(
        as_state=array_state if problem.inplace else tuple_or_array_state,
        start=_make_start(tableau, evaluate, evaluate_first, mean_square),
        advance=_make_advance(tableau, evaluate, mean_square),
        interpolate=make_interpolate(tableau),
        settle=settle,
        rows=last + 1,
    )


def _make_start(tableau, evaluate, evaluate_first, mean_square):
    """The compiled `start`: workspace, first slope, first step size."""
    first_step = make_first_step(tableau, evaluate, mean_square)
    rows = buffers_needed(tableau)
    workspace = make_workspace(rows)

    @inlined
    def start(initial, t, t_end, structure, args, settings):
        memory, work = workspace(initial)
        y = keep(work[rows - 1], initial)
        k0 = evaluate_first(work[0], t, y, structure, args)
        direction = 1.0 if t_end > t else -1.0
        status = failure.RUNNING
        h = settings.first_step
        if not (all_finite(y) and all_finite(k0)):
            status = failure.NOT_FINITE_AT_START
        elif h == 0.0 and t_end != t:
            longest = smaller(abs(t_end - t), settings.max_step)
            h = first_step(work, t, y, k0, direction, longest, structure, args, settings)
        control = Control(direction * h, LOG_SMALLEST_PREVIOUS, 0)
        return memory, work, y, k0, status, control

    return start


def _make_advance(tableau, evaluate, mean_square):
    """The compiled `advance`: one accepted step, after as many rejected ones as it takes."""
    step = make_step(tableau, evaluate)
    error_of = make_error(tableau, mean_square)
    grow, shrink = make_control(tableau)

    @inlined
    def advance(work, t, t_end, y, k0, control, structure, args, settings):
        h, log_error, attempts = control
        rejected = False
        while True:
            if abs(h) > settings.max_step:
                h = math.copysign(settings.max_step, h)
            t_new = t + h
            if abs(h) * STRETCH >= abs(t_end - t):
                h = t_end - t
                t_new = t_end
            w, stages = step(work, t, t_new, h, y, k0, structure, args)
            error = error_of(stages, h, y, w, settings.rtol, settings.atol)
            attempts += 1
            if error <= 1.0 and all_finite(w):
                new_log_error = 0.5 * math.log(larger(error, SMALLEST_ERROR))
                factor = grow(new_log_error, log_error)
                if rejected:
                    factor = smaller(factor, 1.0)
                log_error = larger(new_log_error, LOG_SMALLEST_PREVIOUS)
                status = failure.RUNNING
                break
            rejected = True
            factor = 1.0
            h *= shrink(error)
            if t + 0.1 * h == t:
                status = failure.STEP_TOO_SMALL if error > 1.0 else failure.NOT_FINITE
                break
            if attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
        return status, t_new, h, w, stages, Control(h * factor, log_error, attempts)

    return advance


@lru_cache(maxsize=256)
def make_integrate(problem):
    """The dispatcher `integrate(y0, ts, args, settings) -> (ys, status, t)` for a problem."""
    content = content_of(problem)

    def integrate(y0, ts, args, settings):
        raise NotImplementedError(content)

    return generic(integrate, content, lambda *types: _integrate(make_pieces(problem)))


def _integrate(pieces):
    as_state, start, advance, interpolate, settle, rows = pieces

    def integrate(y0, ts, given_args, settings):
        args = borrow(given_args)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        count = len(ts)
        ys = table_for(count, initial)
        status, t = check_times(ts)
        if status != failure.RUNNING:
            return ys, status, t
        t_end = time_at(ts, count - 1)
        direction = t_end - t
        write_row(ys, 0, initial)
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        row = 1
        while row < count and status == failure.RUNNING:
            if control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            while row < count:
                t_out = time_at(ts, row)
                if (t_out - t_new) * direction > 0.0:
                    break
                if t_out == t_new:
                    write_row(ys, row, w)
                else:
                    theta = (t_out - t) / h
                    write_row(ys, row, interpolate(work[rows - 3], theta, h, y, stages))
                row += 1
            t = t_new
            y, k0 = settle(work, t, w, stages, structure, args)
        hold(memory)
        return ys, status, t

    return integrate
