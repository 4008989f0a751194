"""One trajectory with events in one thread: to the next one, over it, and on from there, in registers.

The search is that of the CPU (`numbad.ode.first_crossing`), and so are the steps: they begin anew after each
event, and end at times that are known beforehand.
"""

import math

from numba import cuda

from numbad.compilation.caching import jit
from numbad.cuda.trajectories.happening import make_happening
from numbad.forward.access import primal
from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.conditions import Conditions
from numbad.ode.control import Control
from numbad.ode.crossing import SOON, next_to
from numbad.ode.events import event
from numbad.ode.first_crossing import MOST_CROWDED, count_crowded, make_first_crossing
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.short_tuples import item
from numbad.ode.state import restored, structure_of

# An event is over after so many times the distance between its two sides, which in float32 is more than the
# first steps of a state next to zero; a first step of a size that is chosen is so many times as long.
OVER, SHORTEST_STEP = 8.0, 64.0


def make_event_march(problem, pieces, settings, events, y0, args, by_duals, put):
    """The compiled `march(i, ts, tables, y0, args) -> (status, t, row)`, as that without events.

    `y0` and `args` are the types of a trajectory's floats, `by_duals` whether it is given dual numbers.
    """
    fun, as_state, start, advance = pieces.fun, pieces.as_state, pieces.start, pieces.advance
    close, extend, settle = pieces.close, pieces.extend, pieces.settle
    interpolate, most = pieces.interpolate, settings.max_steps
    crossing = [e for e in events if e.condition is not None] or [event(_never_zero)]
    watch = Conditions(tuple(e.condition for e in crossing), y0, args)
    values, slopes_of = watch.values, watch.slopes
    known, begin, first, last_before, gap_after, has_slopes = make_first_crossing(
        watch, interpolate, tuple(e.direction for e in crossing)
    )
    evaluate = make_evaluate(RightHandSide(problem.inplace, problem.known))
    all_times, next_stop, happen = make_happening(events, args, fun, evaluate, by_duals)
    changing = sum(1 << i for i, e in enumerate(crossing) if e.change is not None)
    zeros = (0.0,) * len(crossing)
    lengthened = _not_shorter if problem.tableau.adaptive else _as_given

    @inlined
    def sides_of(which, low, before, step, y, dense, args):
        """Both sides of an event in a step: time, state and slopes before it, and how far the other is."""
        t, h, structure, floats = step[1], step[2], step[5], step[6]
        sign = item(before, which)
        time = last_before(which, item(low, which), step, sign)
        state = interpolate(None, (time - t) / h, h, y, dense)
        reached = primal(state)
        slope = primal(evaluate(fun, None, time, state, structure, args))
        rates = slopes_of(time, restored(structure, reached), restored(structure, slope), floats)
        gap, now = gap_after(which, sign, time, h, None, reached, slope, structure, floats)
        return time, state, slope, rates, gap, now

    # The assembler puts it in place: Numba would copy all variables for each of its blocks to do so.
    @cuda.jit(device=True, forceinline=True)
    def march(i, ts, tables, y0, args):
        structure, state, floats = structure_of(y0), as_state(y0, args), primal(args)
        count, ats = len(ts), all_times(args)
        t, t_end = ts[0], ts[count - 1]
        direction = 1.0 if t_end > t else -1.0
        put(tables, 0, i, state)
        now, rates = values(t, restored(structure, primal(state)), floats), zeros
        beyond = zeros
        row, status, ended = 1, failure.RUNNING, False
        done, gap = next_to(t, -direction), 0.0
        fired = tried = crowded = 0
        while row < count and status == failure.RUNNING:
            if ended or (t_end - t) * direction <= 0.0:
                put(tables, row, i, state)
                row += 1
                continue
            stop, preset = next_stop(primal(ats), done, t_end, direction)
            aim, after = _around(stop, t, direction) if preset else (t_end, t_end)
            hit, t_before, t_start = 0, t, t
            if (aim - t) * direction > 0.0:
                _, work, y, k0, status, control = start(state, t, aim, structure, args, settings)
                control, is_first, low = lengthened(control, gap), True, zeros
                onset = slopes_of(
                    t, restored(structure, primal(y)), restored(structure, primal(k0)), floats
                )
                before, goes_to = known(now, onset, (t, aim), fired, (rates, beyond, zeros, zeros))
                while t != aim and status == failure.RUNNING and hit == 0:
                    if tried + control.attempts >= most:
                        status = failure.TOO_MANY_STEPS
                        break
                    status, t_new, h, w, stages, control = advance(
                        work, t, aim, y, k0, control, structure, args, settings
                    )
                    if status != failure.RUNNING:
                        break
                    slopes = close(fun, work, t_new, w, stages, structure, args)
                    dense = extend(fun, work, t, h, y, slopes, structure, args)
                    step = None, t, h, primal(y), primal(dense), structure, floats
                    if is_first:
                        soon = min(max(SOON, OVER * abs(gap) / abs(h)), 1.0)
                        before, low, status = begin(step, before, goes_to, zeros, soon)
                        is_first = False
                    if status == failure.RUNNING:
                        status, hit, which, before, low = first(step, before, low, zeros)
                    if hit != 0:
                        t_before, w, slope, rates, gap, beyond = sides_of(
                            which, low, before, step, y, dense, args
                        )
                        now = beyond
                        t_new, after, preset = t_before + gap, t_before + gap, False
                        if not has_slopes(hit, rates):
                            status = failure.EVENT_WITHOUT_SLOPE
                    while row < count and (ts[row] - t_new) * direction < 0.0:
                        put(tables, row, i, interpolate(None, (ts[row] - t) / h, h, y, dense))
                        row += 1
                    if hit == 0 and ts[row] == t_new:
                        put(tables, row, i, w)
                        row += 1
                    t, low = t_new, zeros
                    y, k0 = settle(work, w, slopes)
                state, fired, tried = y, hit, tried + control.attempts
            if preset and status == failure.RUNNING:
                while row < count and (ts[row] - after) * direction < 0.0:
                    put(tables, row, i, state)
                    row += 1
                slope = primal(evaluate(fun, None, t, state, structure, args))
                t_before, gap, done = t, after - t, stop
            if (preset or hit != 0) and status == failure.RUNNING:
                at = hit, preset, stop, t_before, after, gap
                state, ended = happen(at, rates, state, slope, ats, structure, args)
                if preset or hit & changing:
                    now = values(after, restored(structure, primal(state)), floats)
                t = after
                crowded = count_crowded(crowded, t_start, t) if hit != 0 else crowded
                if crowded > MOST_CROWDED:
                    status = failure.EVENTS_ACCUMULATE
        return status, t, row

    return march


@jit
def _never_zero(t, y, *args):
    """The condition where there are none."""
    return 1.0


@inlined
def _around(stop, t, direction):
    """The times before and after one known beforehand, neither of them before `t`."""
    before, after = next_to(stop, -direction), next_to(stop, direction)
    before = t if (before - t) * direction <= 0.0 else before
    return before, t if (after - t) * direction < 0.0 else after


@inlined
def _not_shorter(control, gap):
    """The first step after an event, which leads away from it."""
    h = math.copysign(max(abs(control.h), SHORTEST_STEP * abs(gap)), control.h)
    return Control(h, control.log_error, control.attempts)


@inlined
def _as_given(control, gap):
    """A step of a size that is given."""
    return control
