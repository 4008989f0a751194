"""The discrete adjoint of one trajectory in one thread: a march that records its steps, and the way back.

What a step starts from goes into a workspace in global memory, indexed [row, number, slot], so that
neighbouring threads write neighbouring numbers: the state; for adaptive steps also the time and the size.
Steps of one size start at t0 + k h, and of two the second's state is computed again: it costs a sum, since
the first one's stages are needed in any case, and halves what would else take longest, the memory's share.
On the way back the stages are evaluated again, in registers.
"""

import math
from collections import namedtuple

from numbad.cuda.trajectories.even_march import make_even_march, no_step_ahead
from numbad.cuda.trajectories.outputs import make_put, take
from numbad.cuda.trajectories.stiff_adjoint import adjoint_on_gpu
from numbad.cuda.trajectories.stiff_steps import kind_on_gpu
from numbad.ode import failure
from numbad.ode.adjoints.backward import zero_totals
from numbad.ode.adjoints.step_adjoint import TakenStep, VectorField
from numbad.ode.compiling import inlined
from numbad.ode.integrate import make_pieces
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import combine, structure_of
from numbad.ode.step import make_step

# The status of a trajectory of more steps than the workspace has room for.
NO_ROOM = 126

# How steps are recorded: one of `every` in a row, of so many `numbers` besides the state; the compiled
# `keep(states, step, slot, t, h, y)`, and `reached(t_new, steps, t, t_end)`, the time after so many from t.
Record = namedtuple("Record", "every numbers keep reached")

# Besides rows of steps: the first is read, ahead of the first step, and never used; one is for the end.
ROWS_BESIDES = 2
# Of so many steps of one size, one is kept.
PAIR = 2

_put = make_put(0, True)


def record_of(problem, settings):
    """The `Record` for the steps of a method."""
    if problem.tableau.adaptive:
        return Record(1, 2, _keep_all, inlined(lambda t_new, steps, t, t_end: t_new))
    return Record(PAIR, 0, _keep_first, _make_reached(even_step(settings)))


def rows_of(record, steps):
    """How many rows so many steps take."""
    return -(-steps // record.every) + ROWS_BESIDES


def _make_row(every):
    """The compiled `row(step)`: where a step is kept, or, of a pair, the first one; steps count from 1."""
    return inlined(lambda step: (step + (every - 1)) // every)


def even_step(settings):
    """How long the steps of one size are."""
    return min(settings.first_step, settings.max_step)


@inlined
def _keep_all(states, step, slot, t, h, y):
    count = states.shape[1]
    _put((states,), step, slot, y)
    states[step, count - 2, slot] = t
    states[step, count - 1, slot] = h


@inlined
def _keep_first(states, step, slot, t, h, y):
    if step & 1:
        _put((states,), (step + 1) >> 1, slot, y)


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
    pieces = make_pieces(problem, kind_on_gpu)
    fun, as_state, start, advance = pieces.fun, pieces.as_state, pieces.start, pieces.advance
    close, settle = pieces.close, pieces.settle
    every, _, keep, reached = record_of(problem, settings)
    most, put, row_of = settings.max_steps, _put, _make_row(every)
    outputs = _make_outputs(pieces) if dense else _no_outputs
    ahead = no_step_ahead
    if not (dense or problem.tableau.adaptive):
        ahead = make_even_march(problem, pieces, settings, _keep_row, PAIR)

    @inlined
    def march(slot, ts, tables, states, y0, args):
        structure = structure_of(y0)
        initial = as_state(y0, args)
        first, last = ts[0], ts[len(ts) - 1]
        put(tables, 0, slot, initial)
        _, work, y, k0, status, control = start(initial, first, last, structure, args, settings)
        room = every * (states.shape[0] - ROWS_BESIDES)
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
        put((states,), row_of(steps) + 1, slot, y)
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
    as_state = make_pieces(problem, kind_on_gpu).as_state
    adjoint = adjoint_on_gpu(problem.tableau)
    undo, record = _make_undo(problem.fun, adjoint, pull, dense), record_of(problem, settings)
    undo_all = (
        _kept_steps(undo)
        if problem.tableau.adaptive
        else _even_steps(undo, _make_again(problem), even_step(settings))
    )
    workspace, row_of = adjoint.workspace, _make_row(record.every)

    @inlined
    def back(slot, ts, seeds, states, steps, y0, args, shadows):
        structure = structure_of(y0)
        initial = as_state(y0, args)
        _, work = workspace(initial, args, settings)
        outputs = slot, ts, seeds
        given = structure, args, shadows
        zero = zero_totals(pull, initial, structure, args, shadows)
        sums = take(seeds, len(ts) - 1, slot, initial), zero
        last = row_of(steps)
        ends = take(states, last, slot, initial), take(states, last + 1, slot, initial)
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


def _even_steps(undo, again, size):
    """The way back through pairs of steps of one size; steps at the end, whose last is shorter, are apart."""

    @inlined
    def undo_all(work, outputs, states, steps, ends, sums, given):
        slot, ts, _ = outputs
        first, t_new, row = ts[0], ts[len(ts) - 1], len(ts) - 2
        h, (y, y_new), (lam, totals) = math.copysign(size, t_new - first), ends, sums
        k = steps
        while k > 0 and (k == steps or k % PAIR == 1):
            t, start = first + (k - 1.0) * h, y
            if k % PAIR == 0:
                start = again(work, first + (k - 2.0) * h, t, h, y, given)
            step = t, t_new, t_new - t if k == steps else h, start, y_new
            row, lam, totals = undo(work, outputs, row, step, lam, totals, given)
            t_new, y_new = t, start
            k -= 1
        pairs = k // PAIR
        y, passed = take(states, pairs, slot, y), float(k)
        for k in range(pairs, 0, -1):
            before = take(states, k - 1, slot, y)  # it comes while this pair is computed
            t, middle = first + (passed - 2.0) * h, first + (passed - 1.0) * h
            between = again(work, t, middle, h, y, given)
            step = middle, t_new, h, between, y_new
            row, lam, totals = undo(work, outputs, row, step, lam, totals, given)
            step = t, middle, h, y, between
            row, lam, totals = undo(work, outputs, row, step, lam, totals, given)
            t_new, y_new, y, passed = t, y, before, passed - 2.0
        return lam, totals

    return undo_all


def _make_again(problem):
    """The compiled `again(work, t, t_new, h, y, given)`: the state at the end of a step that was not kept."""
    fun, rhs = problem.fun, RightHandSide(problem.inplace, problem.known)
    evaluate, step = make_evaluate(rhs), make_step(problem.tableau, rhs)

    @inlined
    def again(work, t, t_new, h, y, given):
        structure, args, _ = given
        slope = evaluate(fun, work[0], t, y, structure, args)
        y_new, _ = step(fun, work, t, t_new, h, y, slope, structure, args)
        return y_new

    return again


def _make_undo(fun, adjoint, pull, dense):
    """The compiled way back through one step; where `dense`, with the outputs in it and at its start."""
    begin, back_through = adjoint.begin, adjoint.step
    within = _make_outputs_within(adjoint.output) if dense else _no_output_within
    at_start = _output_at_start if dense else _no_output_at_start

    @inlined
    def undo(work, outputs, row, step, lam, totals, given):
        (t, t_new, h, y, y_new), (structure, args, shadows) = step, given
        row, bars, seen = within(work, outputs, row, step, begin(work, h, lam))
        field = VectorField(fun, pull, structure, args, shadows, None)
        taken = TakenStep(t, t_new, h, y, y_new, None)
        lam, totals = back_through(field, work, taken, bars, seen, totals)
        row, lam = at_start(outputs, row, step, lam)
        return row, lam, totals

    return undo


@inlined
def _no_output_within(work, outputs, row, step, bars):
    return row, bars, False


@inlined
def _no_output_at_start(outputs, row, step, lam):
    return row, lam


def _make_outputs_within(output):
    @inlined
    def within(work, outputs, row, step, bars):
        (slot, ts, seeds), (t, _, h, y, _) = outputs, step
        direction, seen = ts[len(ts) - 1] - ts[0], False
        while row > 0 and (ts[row] - t) * direction > 0.0:
            v = take(seeds, row, slot, y)
            bars = output(work, bars, (ts[row] - t) / h, h, v)
            row -= 1
            seen = True
        return row, bars, seen

    return within


@inlined
def _output_at_start(outputs, row, step, lam):
    (slot, ts, seeds), (t, _, _, y, _) = outputs, step
    if row > 0 and ts[row] == t:
        v = take(seeds, row, slot, y)
        lam = combine(None, lam, 1.0, (1.0,), (v,))
        row -= 1
    return row, lam
