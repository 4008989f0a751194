"""The solution with events: from one to the next, in code that is differentiated as a user's is.

The times at which a segment begins and ends are constants to both modes, where the search has found them.
That they move is in a shift of value zero, which has the derivatives: the state is carried along the
right-hand side before the event by it, changed, and carried back along the right-hand side after it. For a
shift of value zero a step of the classical Runge-Kutta method gives the derivatives of the flow exactly up
to the fourth order; each of Newton's steps with a slope held constant gives those of the shift to one order
more.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, ModelError
from numbad.ode import failure
from numbad.ode.compiling import generic
from numbad.ode.conditions import check_calls
from numbad.ode.crossing import next_to
from numbad.ode.events import CHANGED_LENGTH, NOT_A_TIME
from numbad.ode.first_crossing import MOST_CROWDED, Past, count_crowded
from numbad.ode.forms import as_arguments, as_form, as_row, new_row
from numbad.ode.integrate import dispatcher_of
from numbad.ode.locate import LocateDispatcher, make_locate
from numbad.ode.state_types import EMPTY
from numbad.ode.times import check_times, check_times_type, uniform
from numbad.ode.true_slope import NODES, make_consistent, make_flow, make_slope
from numbad.operators.stop import as_constant
from numbad.reverse.checkpoint import checkpoint
from numbad.source import define

# What a solver with events is compiled for, besides the problem and the settings: the events, how many of
# those that happen are returned, and the compiled `counting(happened, t) -> happened` that counts crossings
# of conditions and raises where they are too many, None where there may be any number.
Declared = namedtuple("Declared", "events keep counting", defaults=(None,))


@built_once(lambda segment, problem, settings, declared: dispatcher_of(problem))
def solver_with_events(segment, problem, settings, declared):
    """The dispatcher `solve(y0, ts, args)` for events; `segment` solves up to the last output but one."""
    code = _Code(segment, problem, settings, declared)
    return jit(define(code.source(), code.names), error_model="numpy", nogil=True)


class _Code:
    """The source of such a solver."""

    def __init__(self, segment, problem, settings, declared):
        self.keep, self.events = declared.keep, list(enumerate(declared.events))
        self.counts = declared.counting is not None
        self.presets = [(i, e) for i, e in self.events if e.times is not None]
        crossing = [(i, e) for i, e in self.events if e.condition is not None]
        self.bits = {i: bit for bit, (i, _) in enumerate(crossing)}
        slope, flow = make_slope(problem, settings.mass), make_flow(problem, settings.mass)
        self.names = dict(
            np=np,
            segment=segment,
            slope=slope,
            flow=flow,
            as_row=as_row,
            new_row=new_row,
            put_row=put_row,
            as_form=as_form,
            as_arguments=as_arguments,
            crowding=crowding,
            as_constant=as_constant,
            next_to=next_to,
            checked=_checked,
            until=until,
            ModelError=ModelError,
            EMPTY=EMPTY,
        )
        self.names["told"] = make_told(
            *zip(*((e.change, e.times) for _, e in self.events), strict=True)
        )
        consistent = make_consistent(problem, settings.mass)
        self.is_algebraic = consistent is not None
        if self.is_algebraic:
            self.names["consistent"] = consistent
        if crossing:
            conditions = tuple(e.condition for _, e in crossing)
            directions = tuple(e.direction for _, e in crossing)
            self.names["locate"] = make_locate(problem, settings, conditions, directions)
            self.names["nothing_past"] = Past(*((0.0,) * len(conditions),) * 4)
        if self.counts:
            self.names["counting"] = declared.counting
        for i, e in self.events:
            if e.condition is not None:
                self.names[f"shift{i}"] = make_shift(flow, e.condition)
            else:
                self.names[f"times{i}"] = e.times
            if e.change is not None:
                self.names[f"change{i}"] = e.change

    def source(self):
        lines = [_BEGIN]
        for i, _ in self.presets:
            lines.append(
                f"    at{i} = as_row(times{i}(*rest), ())\n    fixed{i} = as_constant(at{i})\n"
            )
        if self.keep:
            lines.append(_BEGIN_KEEPING.format(keep=self.keep))
        if self.bits:
            lines.append("    past, crowded = nothing_past, 0\n")
            lines.append("    happened = 0\n" * self.counts)
        lines.append(_NEXT_STOP)
        for i, _ in self.presets:
            lines.append(f"        stop, preset = until(fixed{i}, done, stop, preset, direction)\n")
        lines.append(_AIM)
        if self.bits:
            lines.append(_SEARCH)
        lines.append(_SEGMENT)
        for i, e in self.events:
            if i in self.bits:
                lines.append(f"            if hit >> {self.bits[i]} & 1:\n")
                call = f"shift{i}(before, reached, past[0][{self.bits[i]}], y0, rest, lacks)"
                lines.append(f"                shift{i}_ = {call}\n")
                lines += self._happens(i, e, 16, f"shift{i}_", f"before + shift{i}_", "")
            else:
                lines.append(f"            for k in range(len(fixed{i}) if preset else 0):\n")
                lines.append(f"                if fixed{i}[k] == stop:\n")
                lines += self._happens(i, e, 20, f"at{i}[k] - stop", f"at{i}[k]", "k, ")
        crowding = _CROWDING + _COUNTING * self.counts if self.bits else ""
        lines.append(_AFTER.format(crowding=crowding))
        kept = ", event_times, event_states, event_numbers" if self.keep else ""
        lines.append(f"    return {'(ys' + kept + ')' if kept else 'ys'}\n")
        return "".join(lines)

    def _happens(self, i, e, indent, shift, time, number):
        """Lines for what an event does to the state `current`."""
        lines = [f"shift = {shift}", "current = flow(here, current, shift, y0, rest, lacks)"]
        if self.keep:
            lines += [
                f"if kept < {self.keep}:",
                f"    event_times[kept] = {time}",
                "    put_row(event_states, kept, current)",
                f"    event_numbers[kept] = {i}",
                "kept += 1",
            ]
        lines += [
            "if here != after:",
            "    known = as_constant(reached), as_constant(y0), as_constant(rest)",
            "    current = current + (after - here) * slope(here, *known)",
            "    here = after",
        ]
        if e.change is not None:
            call = f"change{i}(after + shift, as_form(y0, current), {number}*rest)"
            lines.append(f"current = changed(current, as_row({call}, current))")
            self.names["changed"] = changed
        if self.is_algebraic and (e.change is not None or not e.terminal):
            lines.append("current = consistent(after + shift, current, y0, rest)")
        if e.terminal:
            lines.append("ended = True")
        else:
            lines.append("current = flow(after + shift, current, -shift, y0, rest, lacks)")
        return ["".join((" " * indent, line, "\n")) for line in lines]


_BEGIN = """\
def solve(y0, given_ts, args=()):
    rest = as_arguments(args)
    checked(as_constant(given_ts))
    told(as_constant(y0), as_constant(args))
    ts = as_row(given_ts, ())
    count = len(ts)
    state = as_row(y0, (ts, args))
    if len(state) == 0:
        raise ModelError(EMPTY)
    ys = np.empty((count, len(state)), state.dtype)
    put_row(ys, 0, state)
    t, t_end = as_constant(ts[0]), as_constant(ts[count - 1])
    direction = 1.0 if t_end > t else -1.0
    done = next_to(t, -direction)
    row, at_start, ended = 1, True, False
    tried = fired = np.int64(0)  # of one type from the beginning
    nothing = np.zeros_like(as_constant(state))
"""

_BEGIN_KEEPING = """\
    event_times = np.full({keep}, np.nan)
    event_states = np.empty(({keep}, len(state)), state.dtype)
    event_states[:] = np.nan
    event_numbers = np.full({keep}, -1)
    kept = 0
"""

# The next of the times that are known beforehand.
_NEXT_STOP = """\
    while row < count and not ended:
        hit, stop, preset, lacks = np.int64(0), t_end, False, nothing
"""

# Where the segment aims at, at the latest, and the two sides of what happens there.
_AIM = """\
        before = after = aim = t_end
        if preset:
            before, after = next_to(stop, -direction), next_to(stop, direction)
            if (before - t) * direction <= 0.0:
                before = t
            if (after - t) * direction < 0.0:
                after = t
            aim = before
        moves = (aim - t) * direction > 0.0
"""

_SEARCH = """\
        if moves:
            hit, left, right, past, lacking, tried = locate(
                as_constant(as_form(y0, state)), t, aim, as_constant(args), fired, past, tried
            )
            lacks = lacking.copy()  # `flow`, if it writes to work space, is taken to write to this
            if hit != 0:
                before, after, preset = left, right, False
                moves = (before - t) * direction > 0.0
"""

# Outputs before the event are those of the segment, and those between its two sides the state before it.
_SEGMENT = """\
        happens = hit != 0 or preset
        first = row
        while row < count and (not happens or (ts[row] - after) * direction < 0.0):
            row += 1
        inside = first
        while inside < row and (not happens or (ts[inside] - before) * direction < 0.0):
            inside += 1
        if at_start and not moves:
            state = flow(ts[0], state, t - ts[0], y0, rest, nothing)
        reached = state
        if moves:
            outputs = inside - first
            times = new_row(outputs + (3 if happens else 2), ts)
            times[0] = ts[0] if at_start else t
            for k in range(outputs):
                times[1 + k] = ts[first + k]
            if happens:
                times[outputs + 1] = before
            times[len(times) - 1] = aim
            part = segment(as_form(y0, state), times, args)
            for k in range(outputs):
                put_row(ys, first + k, part[1 + k])
            reached = part[outputs + 1].copy()
        for k in range(inside, row):
            put_row(ys, k, flow(before, reached, ts[k] - before, y0, rest, lacks))
        if happens:
            here, current = before, reached
"""

_AFTER = """\
            state = current
            if hit != 0 or moves:  # else what has just fired may fire again all the same
                fired = hit
{crowding}            t = after
            if preset:
                done = stop
            if ended:
                for k in range(row, count):
                    put_row(ys, k, state)
        else:
            row = count
        at_start = False
"""

_CROWDING = """\
            if hit != 0:
                crowded = crowding(crowded, t, after)
"""

_COUNTING = """\
                happened = counting(happened, after)
"""


@jit
def put_row(table, k, row):
    """An array into row `k`, without the message that an assignment compiles for rows of other lengths."""
    for j in range(len(row)):
        table[k, j] = row[j]


@jit
def crowding(crowded, t, after):
    """How many events in a row have happened right after another; an error where that does not end."""
    crowded = count_crowded(crowded, t, after)
    if crowded > MOST_CROWDED:
        raise failure.SolveError(failure.EVENTS_ACCUMULATE, after)
    return crowded


def make_shift(flow, condition):
    """The compiled `shift(t, y, rate, like, rest, lacks)`, zero, with derivatives of the event's time."""

    @checkpoint
    @jit(error_model="numpy")
    def shift(t, y, rate, like, rest, lacks):
        found = 0.0
        for _ in range(len(NODES)):
            there = flow(t, y, found, like, rest, lacks)
            value = condition(t + found, as_form(like, there), *rest)
            found = found - (value - as_constant(value)) / rate
        return found

    return shift


@jit
def changed(before, after):
    """A changed state, which must have the length of the state."""
    if len(after) != len(before):
        raise ModelError(CHANGED_LENGTH)
    return after


@njit
def until(times, done, stop, found, direction):
    """The first of `times` after `done` up to `stop`, if there is one, and whether any has been found."""
    for time in times:
        if time != time:
            raise ArgumentError(NOT_A_TIME)
        if (time - done) * direction > 0.0 and (time - stop) * direction <= 0.0:
            stop, found = time, True
    return stop, found


def make_told(changes, times):
    """The dispatcher `told(y0, args)`, that compiles if the functions of events take what they are given."""

    def told(y0, args):
        raise NotImplementedError(changes, times)

    def choose(y0, args):
        check_calls(changes, times, y0, args)
        return lambda y0, args: None

    content = "functions of events", changes, times
    return generic(told, content, choose, (make_told, (changes, times)), LocateDispatcher)


def _check(ts):
    raise NotImplementedError


def _choose(ts):
    check_times_type(ts)

    def check(ts):
        status, t = check_times(uniform(ts), 0)
        if status != failure.RUNNING:
            raise failure.TimesError(status, t)

    return check


def _same():
    return _checked


_checked = generic(_check, ("times",), _choose, (_same, ()), LocateDispatcher)
