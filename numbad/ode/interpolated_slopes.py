"""What the slope at an output lacks where the right-hand side multiplies the error of the state there.

The slope of the solution at an output is fun of the state. Of a stiff system an error of the state, that of
the tolerances and of interpolation, comes out of fun as many times larger as the system is stiff; the slope
of what interpolates the steps has only that error over the size of a step. It takes the place of fun where
the two differ by more than a thousandth, and over a step by more than rounding and the tolerances explain.
"""

import numpy as np

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.compiling import generic, inlined
from numbad.ode.integrate import as_passed, content_of, dispatcher_of, functions_of, make_pieces
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import (
    borrow,
    borrow_given,
    hold,
    make_workspace,
    read_row,
    structure_of,
    table_for,
    write_row,
)
from numbad.ode.times import check_times, time_at, uniform
from numbad.ode.true_slope import make_slope_at
from numbad.rules.registry import CONSTANT_CALLS

# How far from an output, in parts of a step, the interpolant is read.
NEARBY = 1e-5
# Slopes are the same within so much of each other, or, over a step, of the state or so many times the
# tolerances: those of interpolants of low order are no better.
SAME, ROUNDING, EXPLAINED = 1e-3, 1e-8, 100.0


@inlined
def allowed_errors(settings, state):
    """The errors that the tolerances, which may be one a component, allow of the numbers in a row."""
    return settings.atol + settings.rtol * np.abs(state)


def make_compare(interpolate):
    """The compiled `compare(buffer, theta, h, y, dense, beside, settings, out)`.

    What is fun in `out` becomes what that lacks. `theta` is where in the step; `beside` has three rows, the
    last of them the state there.
    """

    @inlined
    def compare(buffer, theta, h, y, dense, beside, settings, out):
        low, high = max(theta - NEARBY, 0.0), min(theta + NEARBY, 1.0)
        write_row(beside, 0, interpolate(buffer, low, h, y, dense))
        write_row(beside, 1, interpolate(buffer, high, h, y, dense))
        sizes, allowed = np.abs(beside[2]), allowed_errors(settings, beside[2])
        for i in range(len(out)):
            of_steps = (beside[1, i] - beside[0, i]) / ((high - low) * h)
            lacks, size = of_steps - out[i], max(abs(of_steps), abs(out[i]))
            explained = max(ROUNDING * sizes[i], EXPLAINED * allowed[i])
            is_same = abs(lacks) <= SAME * size or abs(lacks * h) <= explained
            out[i] = 0.0 if is_same else lacks

    return compare


@built_once(dispatcher_of)
def make_lacking(problem, settings):
    """The dispatcher `lacking(y0, ts, args)`: a table of what to add to fun at each output, of floats."""
    content = "lacking", *content_of(problem), tuple(settings)

    def lacking(y0, ts, args):
        raise NotImplementedError(content)

    def choose(*argument_types):
        return _lacking(problem, settings)

    origin = make_lacking, (problem, settings)
    made = generic(lacking, content, choose, origin, around=functions_of(problem))
    CONSTANT_CALLS.add(made)
    return made


def _lacking(problem, given):
    """The Python function: the loop of `integrate`, which it must take the steps of."""
    pieces, passed = make_pieces(problem), as_passed(given)
    fun, as_state, start, advance, close, extend, interpolate, settle, _, spare, *_ = pieces
    slope_at = make_slope_at(
        problem, given.mass, make_evaluate(RightHandSide(problem.inplace, ALL_KNOWN))
    )
    buffers, compare = make_workspace(2), make_compare(interpolate)
    aims = int(problem.until_output)

    def lacking(y0, given_ts, given_args):
        ts = uniform(given_ts)
        args, settings = borrow_given(given_args), borrow(passed)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        count = len(ts)
        found, beside = table_for(count, initial), table_for(3, initial)
        found[:] = 0.0
        status, t = check_times(ts, aims)
        if status != failure.RUNNING:
            return found
        t_end = time_at(ts, count - 1)
        direction = t_end - t
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        own_memory, (row_of_state, row_of_slope) = buffers(initial)
        row = 1
        while row < count - aims and status == failure.RUNNING:
            if control.attempts >= settings.max_steps:
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            slopes = close(fun, work, t_new, w, stages, structure, args)
            if (time_at(ts, row) - t_new) * direction <= 0.0:
                dense = extend(fun, work, t, h, y, slopes, structure, args)
                while row < count - aims and (time_at(ts, row) - t_new) * direction <= 0.0:
                    theta = min((time_at(ts, row) - t) / h, 1.0)
                    write_row(beside, 2, interpolate(work[spare], theta, h, y, dense))
                    state = read_row(row_of_state, beside, 2, initial)
                    slope = slope_at(row_of_slope, time_at(ts, row), state, structure, args)
                    write_row(found, row, slope)
                    compare(work[spare], theta, h, y, dense, beside, settings, found[row])
                    row += 1
            t = t_new
            y, k0 = settle(work, w, slopes)
        hold(memory)
        hold(own_memory)
        return found

    return lacking
