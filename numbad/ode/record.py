"""The integration for `solve_ivp`: the steps that it takes, and what dense output needs of them."""

import numpy as np

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.compiling import generic
from numbad.ode.event_log import UNWATCHED, WATCHES_NOTHING, make_watch
from numbad.ode.integrate import content_of, dispatcher_of, functions_of, make_pieces
from numbad.ode.state import (
    borrow,
    borrow_given,
    hold,
    structure_of,
    table_for,
    write_row,
    write_rows,
)
from numbad.ode.tables import FIRST_ROWS, enlarged, with_row


@built_once(dispatcher_of)
def make_record(problem, watched=UNWATCHED):
    """The dispatcher `record(y0, t_span, t_eval, at_steps, dense, args, settings)` for a problem.

    It returns (status, t, counts, times, states, nodes, node states, slopes, events, ended): output at
    `t_eval` or, with `at_steps`, at every step; with `dense`, the ends of all steps and what the
    interpolant weighs in each, `tableau.slopes` rows a step. With `problem.until_output` the last of
    `t_eval` ends it. `counts` are the last `Control`, with the steps tried, the steps accepted, those of
    which dense output was asked, and what steps of an implicit method count themselves. `events` are
    those of `make_watch`, and `ended` tells whether one of them has ended the solution.
    """
    content = *content_of(problem), tuple(watched)

    def record(y0, t_span, t_eval, at_steps, dense, args, settings):
        raise NotImplementedError(content)

    def choose(y0, t_span, t_eval, at_steps, dense, args, settings):
        pieces = make_pieces(problem)
        watch = make_watch(pieces, watched, y0, args) if watched.conditions else WATCHES_NOTHING
        return _record(pieces, watch, problem.tableau.slopes, problem.until_output)

    around = functions_of(problem) and (*functions_of(problem), *watched.conditions)
    return generic(record, content, choose, (make_record, (problem, watched)), around=around)


def _record(pieces, watch, slope_count, until_output):
    fun, as_state, start, advance, close, extend, interpolate, settle, explain, spare, tally, *_ = (
        pieces
    )
    watches, begin_watch, watch_step = watch

    def record(y0, t_span, t_eval, at_steps, dense, given_args, given_settings):
        args, settings = borrow_given(given_args), borrow(given_settings)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        t, t_end = t_span
        direction = t_end - t
        times, states = np.empty(FIRST_ROWS), table_for(FIRST_ROWS, initial)
        nodes, node_states = np.empty(FIRST_ROWS), table_for(FIRST_ROWS, initial)
        node_slopes = table_for(FIRST_ROWS * slope_count, initial)
        row = step = extended = 0
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        events = begin_watch(t, y, structure, args)
        ended = False
        nodes[0] = t
        write_row(node_states, 0, y)
        if at_steps or (len(t_eval) > 0 and t_eval[0] == t):
            times[0] = t
            write_row(states, 0, y)
            row = 1
        while t != t_end and status == failure.RUNNING and not ended:
            if until_output and row == len(t_eval):
                break
            if control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            step += 1
            slopes = close(fun, work, t_new, w, stages, structure, args)
            within = row < len(t_eval) and (t_eval[row] - t_new) * direction < 0.0
            if dense or within or watches:
                extended += 1
                weighed = extend(fun, work, t, h, y, slopes, structure, args)
                t_step = t_new
                if watches:
                    at = work[spare], t, h, y, weighed, structure, args
                    status, events, ended, t_new = watch_step(at, step == 1, t_new, events)
                    if status != failure.RUNNING:
                        step -= 1
                        break
                while row < len(t_eval) and (t_eval[row] - t_new) * direction < 0.0:
                    theta = (t_eval[row] - t) / h
                    state = interpolate(work[spare], theta, h, y, weighed)
                    times, states, row = with_row(times, states, row, t_eval[row], state)
                if dense:
                    if step == len(nodes):
                        node_slopes = enlarged(node_slopes, 2 * step * slope_count)
                    write_rows(node_slopes, (step - 1) * slope_count, weighed)
                    nodes, node_states, _ = with_row(nodes, node_states, step, t_step, w)
                if ended:  # the rest of the step is not part of the solution
                    w = interpolate(work[spare], (t_new - t) / h, h, y, weighed)
            if at_steps or (row < len(t_eval) and t_eval[row] == t_new):
                times, states, row = with_row(times, states, row, t_new, w)
            t = t_new
            y, k0 = settle(work, w, slopes)
        status = explain(status, work, t, y, k0, control.h, t_end, structure, args, settings)
        hold(memory)
        counts = control, step, extended, tally(work)
        if not dense:
            step = 0
        return (
            status,
            t,
            counts,
            times[:row],
            states[:row],
            nodes[: step + 1],
            node_states[: step + 1],
            node_slopes[: step * slope_count],
            events,
            ended,
        )

    return record
