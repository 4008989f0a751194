"""The first event of a solution after a time: integrated for that, and what happens there."""

import math

import numpy as np

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.compiling import GenericDispatcher, generic, inlined
from numbad.ode.conditions import Conditions
from numbad.ode.crossing import NOWHERE, PLACES, make_scan, next_to
from numbad.ode.fixed_times import check
from numbad.ode.integrate import as_passed, content_of, dispatcher_of, functions_of, make_pieces
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import (
    borrow,
    borrow_given,
    combine,
    hold,
    make_workspace,
    restored,
    structure_of,
)
from numbad.ode.true_slope import make_slope_at

# The fraction of a first step after which an event that has just happened can be seen to happen again.
SHORTEST = 1e-12

# Distances between the two sides of an event, in doublings of the spacing between numbers.
WIDEST_GAP = 40

# How many numbers one goes back to be before an event.
LARGEST_RETREAT = 10


class LocateDispatcher(GenericDispatcher):
    """A search whose result is a constant of whatever differentiates the code around it."""

    numbad_changes = False


@built_once(dispatcher_of)
def make_locate(problem, settings, conditions, directions):
    """`make_search` for given settings."""
    content = *content_of(problem), tuple(settings), conditions, directions

    def locate(y0, t, t_end, args, fired, crossed_by, tried):
        raise NotImplementedError(content)

    search = make_search(problem, conditions, directions, settings.mass)

    def choose(*argument_types):
        return _with_settings(search, as_passed(settings))

    origin = make_locate, (problem, settings, conditions, directions)
    return generic(locate, content, choose, origin, LocateDispatcher)


def _with_settings(search, settings):
    def locate(y0, t, t_end, args, fired, crossed_by, tried):
        hit, t_before, t_after, rates, tried, status, stopped = search(
            y0, t, t_end, args, fired, crossed_by, tried, settings
        )
        check(status, stopped)
        return hit, t_before, t_after, rates, tried

    return locate


@built_once(dispatcher_of)
def make_search(problem, conditions, directions, mass):
    """The dispatcher `search(y0, t, t_end, args, fired, crossed_by, tried, settings)`, as `locate`.

    It returns (hit, t_before, t_after, slopes, tried, status, t): as bits of `hit` the conditions that cross
    zero first, the times next to that on each side, and how fast each condition changes there. Without one,
    `hit` is 0. `fired` are those that have just done so, `crossed_by` with which slopes, `tried` the steps
    tried so far. `status` and `t` are what `check` takes.
    """
    content = *content_of(problem), conditions, directions, mass

    def search(y0, t, t_end, args, fired, crossed_by, tried, settings):
        raise NotImplementedError(content)

    def choose(y0, t, t_end, args, *rest):
        watch = Conditions(conditions, y0, args)
        return _search(make_pieces(problem), problem, watch, directions, mass)

    around = functions_of(problem) and (*functions_of(problem), *conditions)
    origin = make_search, (problem, conditions, directions, mass)
    return generic(search, content, choose, origin, around=around)


def _search(pieces, problem, watch, directions, mass):
    """The Python function `search` for given types."""
    fun, as_state, start, advance, close, extend, interpolate, settle, explain, *_ = pieces
    count, values, slopes_of = len(directions), watch.values, watch.slopes
    slope_at = make_slope_at(problem, mass, make_evaluate(RightHandSide(problem.inplace, True)))
    side = make_workspace(2)

    value, begin, scan = make_scan(values, interpolate, directions)

    @inlined
    def seen_again(step, before, low, goes_to):
        """Whether what has just happened, and happens again at once, is seen to: as bounces of a ball are."""
        seen = True
        for i in range(count):
            theta = low[i]
            while before[i] * goes_to[i] < 0.0 and theta > SHORTEST:
                theta *= 0.0625
                before[i], low[i] = value(i, theta, step), theta
            seen = seen and before[i] * goes_to[i] >= 0.0
        return seen

    @inlined
    def last_before(which, theta, step, sign):
        """A time at which the condition has its old sign in a state that is found again from the time."""
        t, h = step[1], step[2]
        time = t + theta * h
        for _ in range(LARGEST_RETREAT):
            if value(which, (time - t) / h, step) * sign > 0.0:
                break
            time = next_to(time, -h)
        return time

    def search(y0, t, t_end, given_args, fired, crossed_by, tried, given_settings):
        args, settings = borrow_given(given_args), borrow(given_settings)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        own_memory, (row, slope_row) = side(initial)
        before, low, high = np.empty(count), np.zeros(count), np.empty(count)
        goes_to = np.zeros(count)  # the sign that it will soon have, where that is known
        now = values(t, restored(structure, y), args)
        rates = now
        slope = slope_at(slope_row, t, y, structure, args)
        onset = slopes_of(t, restored(structure, y), restored(structure, slope), args)
        for i in range(count):
            has_fired = fired >> i & 1
            # The change of an event may have set it back to before it.
            before[i] = 0.0 if has_fired and now[i] * crossed_by[i] >= 0.0 else now[i]
            if before[i] == 0.0 and (not has_fired or onset[i] * crossed_by[i] < 0.0):
                goes_to[i] = onset[i]
        hit, first = 0, True
        t_before = t_after = t_end
        while t != t_end and status == failure.RUNNING and hit == 0:
            if tried + control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            slopes = close(fun, work, t_new, w, stages, structure, args)
            dense = extend(fun, work, t, h, y, slopes, structure, args)
            at = row, t, h, y, dense, structure, args
            if first:
                begin(at, before, low)
                first = False
                if not seen_again(at, before, low, goes_to):
                    status = failure.EVENTS_ACCUMULATE
            for place in range(PLACES):
                earliest = scan(place, at, before, low, high)
                if math.isnan(earliest):
                    status = failure.CONDITION_NOT_A_NUMBER
                    break
                if earliest < NOWHERE:
                    for i in range(count):
                        if high[i] < NOWHERE and low[i] <= earliest:
                            hit |= 1 << i
                    which = high.argmin()
                    t_before = last_before(which, low[which], at, before[which])
                    state = interpolate(row, (t_before - t) / h, h, y, dense)
                    slope = slope_at(slope_row, t_before, state, structure, args)
                    user_state, user_slope = restored(structure, state), restored(structure, slope)
                    rates = slopes_of(t_before, user_state, user_slope, args)
                    gap = next_to(t_before, h) - t_before
                    for _ in range(WIDEST_GAP):
                        moved = combine(work[0], state, gap, (1.0,), (slope,))
                        beyond = values(t_before + gap, restored(structure, moved), args)[which]
                        if beyond * before[which] < 0.0:
                            break
                        gap *= 2.0
                    t_after = t_before + gap
                    for i in range(count):
                        if hit >> i & 1 and not abs(rates[i]) > 0.0:
                            status = failure.EVENT_WITHOUT_SLOPE
                    break
            low[:] = 0.0
            t = t_new
            y, k0 = settle(work, w, slopes)
        status = explain(status, work, t, y, k0, control.h, t_end, structure, args, settings)
        hold(memory)
        hold(own_memory)
        return hit, t_before, t_after, rates, tried + control.attempts, status, t

    return search
