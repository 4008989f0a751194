"""What events do to the state of a trajectory, written out for each of them.

That the time of an event moves is in a shift of value zero, as in `numbad.ode.segments`: the state is carried
along the right-hand side before the event by it, changed, and carried back along that after it. Partials here
are of the first order, for which one of Newton's steps gives the shift, and Euler's method the flow by it.
"""

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.cuda.trajectories.listed_returns import read_as_tuples
from numbad.errors import ModelError
from numbad.forward.access import primal, tangent_of
from numbad.forward.dualize import replacement
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.events import CHANGED_LENGTH
from numbad.ode.rhs import is_plain_tuple
from numbad.ode.segments import until
from numbad.ode.short_tuples import item
from numbad.ode.state import combine, restored, solution_scalar
from numbad.ode.state_types import components_of, is_scalar
from numbad.source import define

_ALONG = "current = combine(None, current, {shift}, (1.0,), (slope,))"


def make_happening(events, args, fun, evaluate, by_duals):
    """The compiled `all_times`, `next_stop` and `happen`.

    `all_times(args)` are the times known beforehand, a tuple for each event that has such;
    `next_stop(times, done, t_end, direction)` the next one after `done`, and whether there is one;
    `happen(at, rates, state, slope, ats, structure, args)` the state after what happens `at` (hit, preset,
    stop, before, after, gap), and whether the solution has ended. As bits of `hit` those whose conditions
    cross zero, with slopes `rates`; or those whose time is `stop`, where `preset`.
    """
    source = _Source(events, args, by_duals)
    names = {**source.names, "fun": fun, "evaluate": evaluate}
    written = source.all_times(), source.next_stop(), source.happen()
    return [inlined(define("\n    ".join(lines) + "\n", names)) for lines in written]


class _Source:
    """The source of these functions."""

    def __init__(self, events, args, by_duals):
        self.events, self.by_duals = list(enumerate(events)), by_duals
        self.presets = [i for i, e in self.events if e.times is not None]
        self.crossing = [i for i, e in self.events if e.condition is not None]
        self.rest = "args, "
        if is_plain_tuple(args):
            self.rest = "".join(f"args[{k}], " for k in range(len(args)))
        self.names = {
            "primal": primal,
            "tangent_of": tangent_of,
            "restored": restored,
            "combine": combine,
            "until": until,
            "item": item,
            "as_changed": as_changed,
            "as_times": as_times,
        }
        for i, e in self.events:
            if e.condition is not None:
                self.names[f"condition{i}"] = replacement(e.condition) if by_duals else e.condition
            for name in ("change", "times"):
                if (function := getattr(e, name)) is not None:
                    self.names[f"{name}{i}"] = _code_of(function, by_duals)

    def all_times(self):
        found = "".join(f"as_times(times{i}({self.rest})), " for i in self.presets)
        return ["def all_times(args):", f"return ({found})"]

    def next_stop(self):
        lines = ["def next_stop(times, done, t_end, direction):", "stop, found = t_end, False"]
        for j in range(len(self.presets)):
            lines.append(f"stop, found = until(times[{j}], done, stop, found, direction)")
        return [*lines, "return stop, found"]

    def happen(self):
        lines = [
            "def happen(at, rates, state, slope, ats, structure, args):",
            "hit, preset, stop, before, after, gap = at",
            "user = restored(structure, state)",
            "current, ended = combine(None, state, gap, (1.0,), (slope,)), False",
        ]
        for i, e in self.events:
            if e.condition is not None:
                bit = self.crossing.index(i)
                moved = f"-tangent_of(condition{i}(before, user, {self.rest})) / rates[{bit}]"
                does = self._does(i, e, moved, "")
                lines += [f"if hit >> {bit} & 1:", *("    " + line for line in does)]
            else:
                times = f"ats[{self.presets.index(i)}]"
                lines.append(f"for k in range(len({times}) if preset else 0):")
                does = self._does(i, e, f"item({times}, k) - stop", "k, ")
                lines += [
                    f"    if primal(item({times}, k)) == stop:",
                    *("        " + line for line in does),
                ]
        return [*lines, "return current, ended"]

    def _does(self, i, e, shift, number):
        """Lines for what one event does."""
        lines = []
        if self.by_duals:
            lines += [f"shift = {shift}", _ALONG.format(shift="shift")]
        if e.change is not None:
            time = "after + shift" if self.by_duals else "after"
            call = f"change{i}({time}, restored(structure, current), {number}{self.rest})"
            lines.append(f"current = as_changed({call}, current)")
        if e.terminal:
            lines.append("ended = True")
        elif self.by_duals:
            lines += [
                "slope = primal(evaluate(fun, None, after, current, structure, args))",
                _ALONG.format(shift="-shift"),
            ]
        return lines or ["pass"]


def _code_of(function, by_duals):
    """What is called of a user's function: it returns tuples for lists and arrays written out."""
    found = read_as_tuples(function, by_duals)
    return replacement(found) if by_duals and found is function else found


@intrinsic
def as_changed(typingctx, value, state):
    """What a change returns, as a state like `state`; ModelError for what cannot be one."""
    if len(_scalars(value, "the change of an event")) != len(state):
        raise ModelError(CHANGED_LENGTH)
    return state(value, state), _members


@intrinsic
def as_times(typingctx, value):
    """What a function of times returns, as a tuple of numbers of one type."""
    count = len(_scalars(value, "times, a function,"))
    return types.UniTuple(solution_scalar(typingctx, value, ()), count)(value), _members


def _scalars(value, what):
    found = components_of(value) if isinstance(value, types.BaseTuple) else (value,)
    if not found or not all(map(is_scalar, found)):
        raise ModelError(
            f"{what} must return a float, a tuple, or a list or array written out; on a GPU it cannot return "
            f"{value}"
        )
    return found


def _members(context, builder, signature, arguments):
    emitter = Emitter(context, builder)
    source = emitter.vector_or_one(signature.args[0], arguments[0])
    found = emitter.make_state(signature.return_type, None, lambda i: source[i])
    return impl_ret_borrowed(context, builder, signature.return_type, found)
