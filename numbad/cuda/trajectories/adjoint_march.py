"""The discrete adjoint of one trajectory in one thread: a march that records its steps, and the way back.

What a step starts from goes into a workspace in global memory, indexed [step, number, slot], so that
neighbouring threads write neighbouring numbers: the state; for adaptive steps also the time and the size.
Steps of one size start at t0 + k h. On the way back the stages are evaluated again, in registers.
"""

import math
from collections import namedtuple

from numbad.cuda.trajectories.even_march import make_even_march, no_step_ahead
from numbad.cuda.trajectories.outputs import make_put, take
from numbad.ode import failure
from numbad.ode.adjoints.adjoint_of_method import step_adjoint
from numbad.ode.adjoints.backward import zero_totals
from numbad.ode.compiling import inlined
from numbad.ode.integrate import make_pieces
from numbad.ode.state import combine, structure_of

# The status of a trajectory of more steps than the workspace has room for.
NO_ROOM = 126

# How steps are recorded: so many `numbers` besides the state; the compiled `keep(states, row, slot, t, h,
# y)`, and `reached(t_new, steps, t, t_end)`, the time after so many steps from t.
Record = namedtuple("Record", "numbers keep reached")

# Besides rows of steps: the first is read, ahead of the first step, and never used; one is for the end.
ROWS_BESIDES = 2

_put = make_put(0, True)


def record_of(problem, settings):
    """The `Record` for the steps of a method."""
    if problem.tableau.adaptive:
        return Record(2, _keep_all, inlined(lambda t_new, steps, t, t_end: t_new))
    return Record(0, _keep_state, _make_reached(even_step(settings)))


def even_step(settings):
    """How long the steps of one size are."""
    return min(settings.first_step, settings.max_step)


@inlined
def _keep_all(states, row, slot, t, h, y):
    count = states.shape[1]
    _put((states,), row, slot, y)
    states[row, count - 2, slot] = t
    states[row, count - 1, slot] = h


@inlined
def _keep_state(states, row, slot, t, h, y):
    _put((states,), row, slot, y)


@inlined
def _keep_row(record, row, y):
    states, slot = record
    _put((states,), row, slot, y)


def _make_reached(size):
    @inlined
    def reached(t_new, steps, t, t_end):
        return t_new if t_new == t_end else t + steps * math.copysign(size, t_end - t)

    return reached


def recorded_march(problem, settings, dense):
    """The compiled `march(slot, ts, tables, states, y0, args) -> (status, t, steps)`.

    The outputs go into `tables`, what each step starts from into `states`, the end included.
    """
    pieces = make_pieces(problem)
    fun, as_state, start, advance = pieces.fun, pieces.as_state, pieces.start, pieces.advance
    close, settle = pieces.close, pieces.settle
    record, most, put = record_of(problem, settings), settings.max_steps, _put
    keep, reached = record.keep, record.reached
    outputs = _make_outputs(pieces) if dense else _no_outputs
    ahead = no_step_ahead
    if not (dense or problem.tableau.adaptive):
        ahead = make_even_march(problem, pieces, settings, _keep_row)

    @inlined
    def march(slot, ts, tables, states, y0, args):
        structure = structure_of(y0)
        initial = as_state(y0, args)
        first, last = ts[0], ts[len(ts) - 1]
        put(tables, 0, slot, initial)
        _, work, y, k0, status, control = start(initial, first, last, structure, args, settings)
        room = states.shape[0] - ROWS_BESIDES
        t, row = first, 1
        if t != last and status == failure.RUNNING:
            record = states, slot
            t, y, k0, control = ahead(work, t, last, y, k0, control, structure, args, record, room)
        steps = control.attempts
        passed = float(steps)
        while t != last and status == failure.RUNNING:
            if control.attempts >= most:
                status = failure.TOO_MANY_STEPS
                break
            if steps >= room:
                status = NO_ROOM
                break
            status, t_new, h, w, stages, control = advance(
                work, t, last, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            steps, passed = steps + 1, passed + 1.0
            keep(states, steps, slot, t, h, y)
            t_new = reached(t_new, passed, first, last)
            slopes = close(fun, work, t_new, w, stages, structure, args)
            step = t, t_new, h, y, w, slopes
            row = outputs(tables, row, slot, ts, step, work, structure, args)
            t = t_new
            y, k0 = settle(work, w, slopes)
        put(tables, len(ts) - 1, slot, y)
        put((states,), steps + 1, slot, y)
        return status, t, steps

    return march


@inlined
def _no_outputs(tables, row, slot, ts, step, work, structure, args):
    return row


def _make_outputs(pieces):
    """The compiled outputs in a step, by the method's interpolant, and at its end; the row that is next."""
    fun, extend, interpolate, spare = pieces.fun, pieces.extend, pieces.interpolate, pieces.spare
    put = _put

    @inlined
    def outputs(tables, row, slot, ts, step, work, structure, args):
        t, t_new, h, y, w, slopes = step
        direction = ts[len(ts) - 1] - ts[0]
        if (ts[row] - t_new) * direction < 0.0:
            weighed = extend(fun, work, t, h, y, slopes, structure, args)
            while (ts[row] - t_new) * direction < 0.0:
                theta = (ts[row] - t) / h
                put(tables, row, slot, interpolate(work[spare], theta, h, y, weighed))
                row += 1
        if ts[row] == t_new:
            put(tables, row, slot, w)
            row += 1
        return row

    return outputs


def back_march(problem, settings, pull, dense):
    """The compiled `back(slot, ts, seeds, states, steps, y0, args, shadows) -> (lam, totals)`.

    `seeds` are the cotangents of the outputs; the result is those of the initial state and of the numbers
    among the arguments, `pull` the vector-Jacobian product of the right-hand side.
    """
    as_state = make_pieces(problem).as_state
    adjoint = step_adjoint(problem.tableau, problem.inplace)
    undo = (_make_undo if dense else _make_undo_to_the_start)(problem.fun, adjoint, pull)
    undo_all = (
        _kept_steps(undo) if problem.tableau.adaptive else _even_steps(undo, even_step(settings))
    )
    workspace = adjoint.workspace

    @inlined
    def back(slot, ts, seeds, states, steps, y0, args, shadows):
        structure = structure_of(y0)
        initial = as_state(y0, args)
        _, work = workspace(initial, args, settings)
        outputs = slot, ts, seeds
        given = structure, args, shadows
        zero = zero_totals(pull, initial, structure, args, shadows)
        sums = take(seeds, len(ts) - 1, slot, initial), zero
        ends = take(states, steps, slot, initial), take(states, steps + 1, slot, initial)
        lam, totals = undo_all(work, outputs, states, steps, ends, sums, given)
        v = take(seeds, 0, slot, initial)
        return combine(None, lam, 1.0, (1.0,), (v,)), totals

    return back


def _kept_steps(undo):
    """The way back through steps whose times and sizes were kept."""

    @inlined
    def undo_all(work, outputs, states, steps, ends, sums, given):
        slot, ts, _ = outputs
        count, row = states.shape[1], len(ts) - 2
        (y, y_new), (lam, totals), t_new = ends, sums, ts[len(ts) - 1]
        for k in range(steps, 0, -1):
            before = take(states, k - 1, slot, y)  # it comes while this step is computed
            t, h = states[k, count - 2, slot], states[k, count - 1, slot]
            step = t, t_new, h, y, y_new
            row, lam, totals = undo(work, outputs, row, step, lam, totals, given)
            t_new, y_new, y = t, y, before
        return lam, totals

    return undo_all


def _even_steps(undo, size):
    """The way back through steps of one size; the last, whose size rounding decides, is apart."""

    @inlined
    def undo_all(work, outputs, states, steps, ends, sums, given):
        slot, ts, _ = outputs
        first, last, row = ts[0], ts[len(ts) - 1], len(ts) - 2
        (y, y_new), (lam, totals) = ends, sums
        before = take(states, steps - 1, slot, y)
        h, passed = math.copysign(size, last - first), steps - 1.0
        t = first + passed * h
        step = t, last, last - t, y, y_new
        row, lam, totals = undo(work, outputs, row, step, lam, totals, given)
        t_new, y_new, y = t, y, before
        for k in range(steps - 1, 0, -1):
            before = take(states, k - 1, slot, y)
            passed -= 1.0
            t = first + passed * h
            step = t, t_new, h, y, y_new
            row, lam, totals = undo(work, outputs, row, step, lam, totals, given)
            t_new, y_new, y = t, y, before
        return lam, totals

    return undo_all


def _make_undo(fun, adjoint, pull):
    """The compiled way back through one step, with the outputs in it and at its start."""
    begin, output, back_through = adjoint.begin, adjoint.output, adjoint.step

    @inlined
    def undo(work, outputs, row, step, lam, totals, given):
        (slot, ts, seeds), (t, t_new, h, y, y_new), (structure, args, shadows) = (
            outputs,
            step,
            given,
        )
        direction = ts[len(ts) - 1] - ts[0]
        bars, seen = begin(work, h, lam), False
        while row > 0 and (ts[row] - t) * direction > 0.0:
            v = take(seeds, row, slot, y)
            bars = output(work, bars, (ts[row] - t) / h, h, v)
            row -= 1
            seen = True
        lam, totals = back_through(
            fun,
            pull,
            work,
            t,
            t_new,
            h,
            y,
            y_new,
            None,
            bars,
            seen,
            structure,
            args,
            shadows,
            None,
            totals,
        )
        if row > 0 and ts[row] == t:
            v = take(seeds, row, slot, y)
            lam = combine(None, lam, 1.0, (1.0,), (v,))
            row -= 1
        return row, lam, totals

    return undo


def _make_undo_to_the_start(fun, adjoint, pull):
    """The same where the start and the end are the only outputs."""
    begin, back_through = adjoint.begin, adjoint.step

    @inlined
    def undo(work, outputs, row, step, lam, totals, given):
        (t, t_new, h, y, y_new), (structure, args, shadows) = step, given
        bars = begin(work, h, lam)
        lam, totals = back_through(
            fun,
            pull,
            work,
            t,
            t_new,
            h,
            y,
            y_new,
            None,
            bars,
            False,
            structure,
            args,
            shadows,
            None,
            totals,
        )
        return row, lam, totals

    return undo
