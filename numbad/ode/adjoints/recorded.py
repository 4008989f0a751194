"""The solution with a record of its steps, for a sweep back through them."""

import numpy as np

from numbad.errors import UnsupportedError
from numbad.forward.dual import duals_in
from numbad.ode import failure
from numbad.ode.compiling import generic, inlined
from numbad.ode.integrate import as_passed, content_of, dispatcher_of, make_pieces
from numbad.ode.record import FIRST_ROWS, enlarged
from numbad.ode.state import borrow, hold, plain, structure_of, table_for, write_row
from numbad.ode.times import check_times, time_at, uniform
from numbad.remembered import built_once


@built_once(dispatcher_of)
def recorded(problem, settings):
    """The dispatcher `solve(y0, ts, args) -> (ys, (nodes, states, ys))` for a problem.

    Row k of `nodes` holds the time at which step k begins and its size, row k of `states` the state
    there; the last rows are those of the end.
    """
    content = *content_of(problem), tuple(settings)

    def solve_recorded(y0, ts, args=()):
        raise NotImplementedError(content)

    def choose(y0, ts, args):
        if any(duals_in(ts)):
            raise UnsupportedError(
                "reverse mode through an ODE solver whose times are differentiated in forward mode "
                'as well. Way out: mode="forward" for both, or times that are constants for one'
            )
        return _recorded(_recording(make_pieces(problem)), as_passed(settings))

    return generic(solve_recorded, content, choose, (recorded, (problem, settings)))


def _recorded(record, settings):
    def solve(y0, ts, args=()):
        ys, nodes, states, status, t = record(y0, uniform(ts), plain(args), settings)
        if status == failure.WRONG_TOLERANCES:
            raise failure.TolerancesError
        if status >= failure.NO_TIMES:
            raise failure.TimesError(status, t)
        if status != failure.RUNNING:
            raise failure.SolveError(status, t)
        return ys, (nodes, states, ys)

    return solve


def _recording(pieces):
    """The loop of `integrate`, with its steps put down in tables that grow."""
    fun, as_state, start = pieces.fun, pieces.as_state, pieces.start
    advance, interpolate, settle, rows = (
        pieces.advance,
        pieces.interpolate,
        pieces.settle,
        pieces.rows,
    )

    @inlined
    def record(y0, ts, given_args, given_settings):
        args, settings = borrow(given_args), borrow(given_settings)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        count = len(ts)
        ys = table_for(count, initial)
        nodes, states = np.empty((FIRST_ROWS, 2)), table_for(FIRST_ROWS, initial)
        write_row(states, 0, initial)
        step = 0
        status, t = check_times(ts)
        if status == failure.RUNNING:
            t_end = time_at(ts, count - 1)
            direction = t_end - t
            write_row(ys, 0, initial)
            memory, work, y, k0, status, control = start(
                initial, t, t_end, structure, args, settings
            )
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
                nodes[step, 0], nodes[step, 1] = t, h
                step += 1
                if step == len(nodes):
                    nodes, states = enlarged(nodes, 2 * step), enlarged(states, 2 * step)
                write_row(states, step, w)
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
                y, k0 = settle(fun, work, t, w, stages, structure, args)
            hold(memory)
        nodes[step, 0], nodes[step, 1] = t, 0.0
        return ys, nodes[: step + 1], states[: step + 1], status, t

    return record
