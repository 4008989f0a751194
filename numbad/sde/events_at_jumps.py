"""Events at the time of a jump: conditions whose sign is another one after it.

A jump is a step of no size. All events that it leads to happen there, in their order, as those of an ODE at
one time do, and the path is over if one of them is terminal. Such an event stays where the jump is, so that
its derivatives are those of the state. Whether it happens is decided by a comparison, which a warning says
where paths are differentiated.
"""

from functools import partial

from numba.core import ir

from numbad.compilation.memo import built_once
from numbad.compilation.notices import warn_once
from numbad.rules.registry import CONSTANT_CALLS
from numbad.sde.crossing_times import CROSSES, compiled_of_events
from numbad.sde.events_of_paths import change_lines, changes_of
from numbad.sde.two_ways import two_ways

BY_COMPARISON = (
    "whether a jump leads to an event is decided by a comparison: derivatives are those of paths that keep "
    "their events at the same jumps. That of a mean also counts the paths that gain or lose an event, where "
    "the condition depends on what is differentiated by. Ways out: a weight carried in the state, from the "
    "law of the jumps; a smooth function of the path in place of the event"
)

_LEAVES = {1: "then > 0.0", -1: "then < 0.0", 0: "then != 0.0"}


def names_at_jumps(problem, form):
    """The names that `landing_lines` use."""
    return {"land": _land(problem, form)}


def landing_lines(form, y):
    """Lines that move the state `y` over a jump to the names in "n", with the events there.

    `returned` are events that stay armed: a change put their condition back to zero, where it has no sign.
    """
    lines = [f"landed = land(returned, end, args, {', '.join([*y, *form.names('n')])})"]
    lines += [f"{name} = landed[{c}]" for c, name in enumerate(y)]
    return [*lines, f"over, returned = landed[{len(y)}], landed[{len(y) + 1}]"]


@built_once(lambda problem, _: problem.drift)
def _land(problem, form):
    """`land(returned, t, args, *old, *new)`: the state after a jump and its events, `over`, `returned`."""
    old, new = form.names("y"), form.names("n")
    given = f"returned, t, args, {', '.join([*old, *new])}"
    lines = [
        f"met = met_at_jump({given})",
        f"passed = met & ~zero_conditions(t, args, {', '.join(new)})",
        *(f"{name} = {x} + 0.0" for name, x in zip(old, new, strict=True)),
    ]
    for e, event in enumerate(problem.events):
        if event.change is not None:
            change = change_lines(e, form, "t", old)
            lines += [f"if (met >> {e}) & 1:", *("    " + line for line in change)]
    last = sum(1 << e for e, event in enumerate(problem.events) if event.terminal)
    lines += [
        f"returned = (returned | passed) & zero_conditions(t, args, {', '.join(old)})",
        f"return ({', '.join(old)}, 1.0 if met & {last} else 0.0, returned)",
    ]
    names = {
        **changes_of(problem.events),
        "met_at_jump": _met_at_jump(problem, form),
        "zero_conditions": _zero_conditions(problem, form),
    }
    landing = compiled_of_events(f"land({given})", lines, problem, form, names)
    warn = partial(_warn, problem.events[0].condition)
    origin = _land, (problem, form)
    return two_ways(landing, landing, given, origin, before_derivatives=warn)


def _warn(condition):
    code = condition.py_func.__code__
    warn_once(BY_COMPARISON, ir.Loc(code.co_filename, code.co_firstlineno))


@built_once(lambda problem, _: problem.drift)
def _met_at_jump(problem, form):
    """`met_at_jump(returned, t, args, *old, *new)`: the events that a jump leads to, as bits.

    A constant of derivatives.
    """
    old, new = form.names("y"), form.names("n")
    lines = ["met = 0"]
    for e, event in enumerate(problem.events):
        leaves = f"before == 0.0 and {_LEAVES[event.direction]} and (returned >> {e}) & 1"
        lines += [
            f"before = condition_{e}(t, {form.state(old)}{form.arguments()})",
            f"then = condition_{e}(t, {form.state(new)}{form.arguments()})",
            f"if {CROSSES[event.direction]} or ({leaves}):",
            f"    met |= {1 << e}",
        ]
    head = f"met_at_jump(returned, t, args, {', '.join([*old, *new])})"
    return _constant(head, [*lines, "return met"], problem, form)


@built_once(lambda problem, _: problem.drift)
def _zero_conditions(problem, form):
    """`zero_conditions(t, args, *state)`: the events whose condition is zero, as bits; a constant."""
    state = form.state(form.names("y"))
    lines = ["zero = 0"]
    for e in range(len(problem.events)):
        lines += [
            f"if condition_{e}(t, {state}{form.arguments()}) == 0.0:",
            f"    zero |= {1 << e}",
        ]
    head = f"zero_conditions(t, args, {', '.join(form.names('y'))})"
    return _constant(head, [*lines, "return zero"], problem, form)


def _constant(head, lines, problem, form):
    found = compiled_of_events(head, lines, problem, form)
    CONSTANT_CALLS.add(found)
    return found
