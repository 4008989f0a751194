"""The solution with few of its states kept, and its steps taken again from there, a stretch at a time.

On the way forward a mark is left every so many steps; whenever there are as many as allowed, every second
one is dropped and the distance doubles, so that the number of steps need not be known (online checkpointing,
as in A. Griewank, A. Walther, "Evaluating Derivatives", 2008, 12.4). On the way back the stretch behind the
last mark is stepped through again and recorded, if it is short; else marks are left in it first, as many
again. A mark holds all that a step takes from the one before: the state, its slope, the step size, the
last error, and what implicit methods remember. The same compiled code takes the steps each time, so that
they are the same to the last bit.
"""

from collections import namedtuple

import numpy as np
from numba.extending import overload

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.adjoints.adjoint_of_method import step_adjoint
from numbad.ode.compiling import generic, inlined
from numbad.ode.integrate import Control, content_of, dispatcher_of, functions_of, make_pieces
from numbad.ode.state import (
    array_state,
    borrow,
    borrow_given,
    hold,
    read_row,
    structure_of,
    table_for,
    tuple_or_array_state,
    write_row,
)
from numbad.ode.switching import SwitchingControl
from numbad.ode.tables import enlarged
from numbad.ode.times import check_times, time_at

# The columns of `marks`: the number of the step that begins there, and what it takes from the one before,
# besides rows of `kept`: the state and its slope, and of `remembered`. The last four are those of a method
# that switches.
STEP, TIME, SIZE, LOG_ERROR, ATTEMPTS, IS_STIFF, AGAINST, TRIED, ACCEPTED = range(9)
COLUMNS = 9

# What a stretch is told, and tells: the number of the last mark; the step to stop at; how many steps are
# between marks (0 for no further marks) and how many marks there may be; whether steps are recorded,
# whether outputs are written, and the row of the next one. It lies in memory, where no compiler sees that it
# does not change: one code for all uses, and not one tuned for each, which might round differently.
TOP, STOP, SPACING, MOST, RECORDS, WRITES, ROW = range(7)

# A record of a stretch takes this many bytes, unless the marks themselves take more.
RECORD_BYTES = 2**20
RECORD_MARKS = 64  # steps recorded at a time for each mark allowed, at most

# How a sweep back gets at the steps: `begin(records, initial) -> (count, end, log)`, and `fetch(log, end,
# t_end, y0, ts, args, settings) -> (log, first, nodes, states)` for those from number `first` up to `end`,
# which is at `t_end`.
Steps = namedtuple("Steps", "begin fetch")

NEVER = np.iinfo(np.int64).max


@built_once(dispatcher_of)
def make_stretch(problem, kept_stages):
    """The dispatcher that takes steps from a mark on; see `_stretch`."""
    content = *content_of(problem), kept_stages

    def stretch(y0, ts, args, settings, ys, tables, plan):
        raise NotImplementedError(content)

    def choose(*argument_types):
        adjoint = step_adjoint(problem.tableau, problem.inplace)
        return _stretch(make_pieces(problem), adjoint, int(problem.until_output))

    origin = make_stretch, (problem, kept_stages)
    return generic(stretch, content, choose, origin, around=functions_of(problem))


def _stretch(pieces, adjoint, aims):
    """The Python function `stretch(...) -> (status, t, step, remembered)`.

    `tables` are `marks`, `kept` and `remembered`, `nodes` and `states` as in
    `numbad.ode.adjoints.recorded`; without any mark (`plan[TOP]` is -1), the first is left at the
    beginning, and there is nothing remembered yet.
    """
    fun, as_state, start, advance, close, extend, interpolate, settle, explain, spare, *_ = pieces
    stride, restart = 1 + adjoint.stages, pieces.restart
    put_stages, kind = adjoint.put, adjoint.kind
    room, leave, take = pieces.memory

    def stretch(y0, ts, given_args, given_settings, ys, tables, plan):
        args, settings = borrow_given(given_args), borrow(given_settings)
        marks, kept, remembered, nodes, states = tables
        structure = structure_of(y0)
        initial = as_state(y0, args)
        count = len(ts)
        t, t_end = time_at(ts, 0), time_at(ts, count - 1)
        direction = t_end - t
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        top = plan[TOP]
        if top < 0:
            top = 0
            remembered = np.empty((plan[MOST], room(work)))
            leave_mark(marks, kept, top, 0, t, control, y, k0)
            leave(work, remembered[top])
        else:
            t = marks[top, TIME]
            control = control_at(marks[top], control)
            row_of_state, row_of_slope = restart(work)
            y = read_row(row_of_state, kept, 2 * top, initial)
            k0 = read_row(row_of_slope, kept, 2 * top + 1, initial)
            take(work, remembered[top])
        first = step = np.int64(marks[top, STEP])
        row = plan[ROW]
        while row < count - aims and step < plan[STOP] and status == failure.RUNNING:
            if control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            if plan[RECORDS]:
                place = step - first
                nodes[place, 0], nodes[place, 1], nodes[place + 1, 0] = t, h, t_new
                nodes[place, 2] = kind(work, stages)
                put_stages(states, place * stride + 1, stages)
                write_row(states, (place + 1) * stride, w)
            slopes = close(fun, work, t_new, w, stages, structure, args)
            if plan[WRITES]:
                if (time_at(ts, row) - t_new) * direction < 0.0:
                    dense = extend(fun, work, t, h, y, slopes, structure, args)
                    while (time_at(ts, row) - t_new) * direction < 0.0:
                        theta = (time_at(ts, row) - t) / h
                        write_row(ys, row, interpolate(work[spare], theta, h, y, dense))
                        row += 1
                if time_at(ts, row) == t_new:
                    write_row(ys, row, w)
                    row += 1
            t = t_new
            y, k0 = settle(work, w, slopes)
            step += 1
            if plan[SPACING] and step % plan[SPACING] == 0:
                if top + 1 == plan[MOST]:
                    top = thin(marks, kept, remembered, top)
                    plan[SPACING] *= 2
                if step % plan[SPACING] == 0 and top + 1 < plan[MOST]:
                    top += 1
                    leave_mark(marks, kept, top, step, t, control, y, k0)
                    leave(work, remembered[top])
        if plan[RECORDS]:
            write_first(states, kept, plan[TOP])
        plan[TOP] = top
        status = explain(status, work, t, y, k0, control.h, t_end, structure, args, settings)
        hold(memory)
        return status, t, step, remembered

    return stretch


@inlined
def leave_mark(marks, kept, top, step, t, control, y, k0):
    marks[top, STEP], marks[top, TIME] = step, t
    marks[top, SIZE], marks[top, LOG_ERROR] = control.h, control.log_error
    marks[top, ATTEMPTS] = control.attempts
    leave_choice(marks[top], control)
    write_row(kept, 2 * top, y)
    write_row(kept, 2 * top + 1, k0)


def leave_choice(mark, control):
    """Write down which method is in use, where there are two."""
    raise NotImplementedError


@overload(leave_choice, inline="always")
def _leave_choice(mark, control):
    def leave(mark, control):
        # No `1.0 if ... else 0.0`: Numba loses such a value where it puts an overload in place.
        mark[IS_STIFF], mark[AGAINST] = control.is_stiff, control.against
        mark[TRIED], mark[ACCEPTED] = control.stiff_tried, control.stiff_accepted

    return leave if _switches(control) else lambda mark, control: None


def control_at(mark, like):
    """The control of the step that begins at a mark."""
    raise NotImplementedError


@overload(control_at, inline="always")
def _control_at(mark, like):
    def plain(mark, like):
        return Control(mark[SIZE], mark[LOG_ERROR], np.int64(mark[ATTEMPTS]))

    def switching(mark, like):
        return SwitchingControl(
            mark[SIZE],
            mark[LOG_ERROR],
            np.int64(mark[ATTEMPTS]),
            mark[IS_STIFF] != 0.0,
            np.int64(mark[AGAINST]),
            np.int64(mark[TRIED]),
            np.int64(mark[ACCEPTED]),
        )

    return switching if _switches(like) else plain


def _switches(control):
    return control.instance_class is SwitchingControl


@inlined
def thin(marks, kept, remembered, top):
    """Drop every second mark; the number of the last one left."""
    last = top // 2
    for i in range(1, last + 1):
        for j in range(marks.shape[1]):
            marks[i, j] = marks[2 * i, j]
        for j in range(kept.shape[1]):
            kept[2 * i, j], kept[2 * i + 1, j] = kept[4 * i, j], kept[4 * i + 1, j]
        for j in range(remembered.shape[1]):
            remembered[i, j] = remembered[2 * i, j]
    return last


@inlined
def write_first(states, kept, top):
    """The state at the beginning of a record."""
    for j in range(kept.shape[1]):
        states[0, j] = kept[2 * top, j]


@built_once(dispatcher_of)
def make_marking(problem):
    """The dispatcher `solve(y0, ts, args, settings) -> (ys, status, t, records)` that leaves marks."""
    kept_stages = step_adjoint(problem.tableau, problem.inplace).stages
    content = *content_of(problem), problem.checkpoints
    as_state = array_state if problem.inplace else tuple_or_array_state
    stretch, most, aims = (
        make_stretch(problem, kept_stages),
        problem.checkpoints,
        int(problem.until_output),
    )

    def solve_with_marks(y0, ts, args, settings):
        raise NotImplementedError(content)

    def solve(y0, ts, args, settings):
        initial = as_state(y0, args)
        count = len(ts)
        ys = table_for(count, initial)
        end = np.empty(1)
        marks, kept, remembered = (
            np.empty((most, COLUMNS)),
            table_for(2 * most, initial),
            np.empty((0, 0)),
        )
        status, t = check_times(ts, aims)
        steps = top = np.int64(0)
        if status == failure.RUNNING:
            write_row(ys, 0, initial)
            write_row(ys, count - 1, initial)  # until the output there, if it is one
            plan = np.array([-1, NEVER, 1, most, 0, 1, 1])
            tables = marks, kept, remembered, np.empty((0, 3)), table_for(0, initial)
            status, t, steps, remembered = stretch(y0, ts, args, settings, ys, tables, plan)
            top = plan[TOP]
        end[0] = t
        records = steps, end, marks[: top + 1], kept[: 2 * top + 2], remembered[: top + 1]
        return ys, status, t, records

    def choose(*argument_types):
        return solve

    return generic(solve_with_marks, content, choose, (make_marking, (problem,)))


ALL_RECORDED = Steps(
    inlined(lambda records, initial: (len(records[0]) - 1, records[0][-1, 0], records)),
    inlined(lambda log, end, t_end, y0, ts, args, settings: (log, 0, log[0], log[1])),
)


def steps_from_marks(problem):
    """The `Steps` of a solution of which marks are kept."""
    kept_stages = step_adjoint(problem.tableau, problem.inplace).stages
    stretch, most, stride = make_stretch(problem, kept_stages), problem.checkpoints, 1 + kept_stages

    @inlined
    def begin(records, initial):
        steps, end, marks, kept, remembered = records
        width = kept.shape[1]
        longest = max(
            most, min(RECORD_BYTES // (stride * width * kept.itemsize + 16), RECORD_MARKS * most)
        )
        nodes, states = np.empty((longest + 1, 3)), enlarged(kept[:1], longest * stride + 1)
        rows = max(len(marks), 1)  # a copy, as marks are left in it
        own = enlarged(marks, rows), enlarged(kept, 2 * rows), enlarged(remembered, rows)
        return steps, end[0], (len(marks) - 1, own, nodes, states)

    @inlined
    def fetch(log, end, t_end, y0, ts, args, settings):
        top, (marks, kept, remembered), nodes, states = log
        while marks[top, STEP] >= end:
            top -= 1
        longest = len(nodes) - 1
        length = end - np.int64(marks[top, STEP])
        while length > longest:
            spacing = max(longest, (length + most) // (most + 1))
            if top + 2 + most > len(marks):
                marks = enlarged(marks, len(marks) + 1 + most)
                kept = enlarged(kept, 2 * len(marks))
                remembered = enlarged(remembered, len(marks))
            stop = (end - 1) // spacing * spacing
            plan = np.array([top, stop, spacing, len(marks), 0, 0, 1])
            tables = marks, kept, remembered, nodes, states
            stretch(y0, ts, args, settings, states, tables, plan)
            top = plan[TOP]
            length = end - np.int64(marks[top, STEP])
        plan = np.array([top, end, 0, 0, 1, 0, 1])
        tables = marks, kept, remembered, nodes, states
        _, t, _, _ = stretch(y0, ts, args, settings, states, tables, plan)
        if t != t_end:
            raise failure.SolveError(failure.STEPS_NOT_REPEATED, t)
        return (top - 1, (marks, kept, remembered), nodes, states), end - length, nodes, states

    return Steps(begin, fetch)
