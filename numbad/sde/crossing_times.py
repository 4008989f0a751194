"""Where within a step of a path a condition crosses zero, and the derivatives of that.

A part of a step is a step of the same method: of a part of the size, with that part of the Brownian motion,
which is taken to be a line, and the square of that part of H. For methods of second order in the drift the
crossing is that of the condition along the parts, found by ITP (`numbad.ode.crossing`). Its derivatives are
those of Newton's method there: with the slope as a constant, each iteration makes one more order of them
right. Of other methods the path within a step is a line; second derivatives of crossings, which depend on
how the path bends, are refused.
"""

from dataclasses import replace

from numba import njit
from numba.core import types

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import UnsupportedError
from numbad.ode.crossing import EPSILON, LARGEST_TRIALS, next_trial
from numbad.operators import grad, stop_gradient
from numbad.rules.registry import CONSTANT_CALLS
from numbad.rules.user_rules import rule
from numbad.sde.model_names import function_of, model_names
from numbad.sde.one_step import step_of
from numbad.sde.scheme import SCALAR
from numbad.sde.steps import StepWriter
from numbad.sde.two_ways import two_ways

NO_SLOPE = (
    "the condition of an event has noise of its own: as a function of a parameter the time of a first "
    "crossing then jumps, and the derivative of one path is not that of the mean. Ways out: a condition on "
    "components without noise, such as positions of Langevin dynamics; nd.sde.change_of_drift, whose weights "
    "are smooth; a smooth function of the path in place of the event"
)

NO_BEND = (
    "second derivatives of the time of an event depend on how the path bends within a step, and a step of "
    "this method is a line in the drift. Way out: a method of second order in the drift, such as "
    "method='SRA1' for additive noise, 'SRIW1' for diagonal noise, 'Heun' in Stratonovich's calculus"
)

NO_THIRD = "third derivatives of the time of an event of a path are not available"

_TRIALS = (
    8  # up to 1e-13 * 8**7 of a step: farther off it is not for rounding that there is no side
)

FLAT = (
    "the condition of an event does not change along the path where it is zero: the time of the event has no "
    "derivative. Way out: a condition that crosses zero with a slope, as y[0] - 1.0 does and no comparison"
)

CROSSES = {
    1: "(before < 0.0 and then >= 0.0)",
    -1: "(before > 0.0 and then <= 0.0)",
}
CROSSES[0] = f"({CROSSES[1]} or {CROSSES[-1]})"


# The identity, which may be differentiated once or twice. Its slope, or the slope of that, is a number that
# refuses to be differentiated.


@njit
def only_once(x):
    return x


@njit
def only_twice(x):
    return x


@njit
def _one(x):
    return 1.0


@njit
def _one_once(x):
    return 1.0


@njit
def _zero(x):
    return 0.0


@njit
def _refuse_second(x):
    if x == x:
        raise UnsupportedError(NO_BEND)
    return x


@njit
def _refuse_third(x):
    if x == x:
        raise UnsupportedError(NO_THIRD)
    return x


def _give_slope(function, slope):
    rule(
        function,
        jvp=lambda primals, tangents: (function(primals[0]), slope(primals[0]) * tangents[0]),
        vjp=(lambda x: (function(x), x), lambda x, cotangent: (slope(x) * cotangent,)),
    )


_give_slope(only_once, _one)
_give_slope(_one, _refuse_second)
_give_slope(only_twice, _one_once)
_give_slope(_one_once, _zero)
_give_slope(_zero, _refuse_third)


def is_switch(event):
    """Whether an event is there to tell of a switch of functions, from which their path goes on."""
    return event.change is None and not event.terminal


def state_at_part(problem, form, t="t", h="h", which="which"):
    """Lines that move the state, and the time, by `part` of the step to its end, up to event `which`."""
    y, new, w, areas, _ = _names_of_step(problem, form)
    if problem.scheme.second_order_in_drift:
        switches = sum(1 << e for e, event in enumerate(problem.events) if is_switch(event))
        given = ", ".join(["part", t, h, "args", *y, *w, *areas])
        move = [
            f"moved = at_part(({switches} >> {which}) & 1 == 1, {given})",
            *(f"{old} = moved[{c}]" for c, old in enumerate(y)),
        ]
    else:
        move = [f"{old} = {old} + part * ({n} - {old})" for old, n in zip(y, new, strict=True)]
    return [*move, f"{t} = {t} + part * {h}"]


def condition_at_ends(e, form):
    """Lines that give condition `e` before a step, and then."""
    return [
        f"{name} = condition_{e}({time}, {form.state(form.names(prefix))}{form.arguments()})"
        for name, time, prefix in (("before", "t", "y"), ("then", "end", "n"))
    ]


def _step_parameters(problem, form):
    """The parameters that stand for a step, its ends and its noise.

    `end` is when the next step begins, lest a condition on the time be zero between them: rounding may keep
    `t + h` from it.
    """
    return f"t, h, end, args, {_names_of_step(problem, form)[-1]}"


def _names_of_step(problem, form):
    """The names of states at both ends of a step and of its noise, and all of them, as source."""
    writer = StepWriter(form, problem.scheme, problem.calculus)
    groups = writer.y, form.names("n"), writer.w, writer.areas
    return *groups, ", ".join(name for group in groups for name in group)


@built_once(lambda problem, _: problem.drift)
def at_part(problem, form):
    """`at_part(switches, part, t, h, args, *y, *w, *areas)`: the state after a part of a step.

    Up to a switch it is found from shorter parts, whose stages do not get to it: by a parabola, as the path
    of a method of second order is one.
    """
    y, _, w, areas, _ = _names_of_step(problem, form)

    def found(name, share):
        noise = [f"{share} * {x}" for x in w] + [f"{share} * {share} * {a}" for a in areas]
        return f"{name} = step({', '.join(['t', f'{share} * h', 'args', *y, *noise])})"

    def returned(source):
        return f"return ({''.join(source.format(x=x, c=c) + ', ' for c, x in enumerate(y))})"

    lines = [
        "if not switches:",
        "    " + found("whole", "part"),
        "    " + returned("whole[{c}]"),
        found("quarter", "(0.25 * part)"),
        found("half", "(0.5 * part)"),
        returned("3.0 * {x} - 8.0 * quarter[{c}] + 6.0 * half[{c}]"),
    ]
    names = {"step": step_of(replace(problem, events=()), form, False)}
    head = f"at_part({', '.join(['switches', 'part', 't', 'h', 'args', *y, *w, *areas])})"
    return compiled_of_events(head, lines, problem, form, names)


@built_once(lambda problem, _: problem.drift)
def first_event(problem, form):
    """`first_event(seen, t, h, end, args, *old, *new, *w, *areas)`: `(which, part, short, beyond)`.

    The first event not yet `seen`, -1 where there is none; the part of the step up to it; and by how much it
    happens after that, and the condition has its other sign after the event: functions that switch there are
    on either side of it then, whatever is rounded. Both are 0 for a terminal one. Constants of derivatives.
    """
    given = _step_parameters(problem, form)
    lines = ["which, part, rises, short, beyond = -1, 1.0, True, 0.0, 0.0"]
    bent = problem.scheme.second_order_in_drift
    for e, event in enumerate(problem.events):
        share = "before / (before - then)"
        if bent:
            share = f"crossing({e}, top, before, then, {given})"
        lines += [
            *condition_at_ends(e, form),
            "top = 1.0",
            *(_before_the_switch(e, event, given) if bent and is_switch(event) else []),
            f"if (seen >> {e}) & 1 == 0 and {CROSSES[event.direction]}:",
            f"    share = {share}",
            "    if which < 0 or share < part:",
            f"        which, part, rises = {e}, share, before < 0.0",
        ]
    if not all(event.terminal for event in problem.events):
        terminal = sum(1 << e for e, event in enumerate(problem.events) if event.terminal)
        lines += [
            f"if which >= 0 and ({terminal} >> which) & 1 == 0:",
            "    short, beyond, found = 1e-13, 1e-13, part",
            *_trials("short", f"along(part - short, which, {given})", "g < 0.0", "g > 0.0"),
            "    part = max(part - short, min(part, 1e-14))",
            "    short = found - part",
            *_trials("beyond", f"past(part, short + beyond, which, {given})", "g > 0.0", "g < 0.0"),
        ]
    lines += ["return which, part, short, beyond"]
    names = {"crossing": _crossing(problem, form), "along": _along(problem, form)}
    names["past"] = _past(problem, form)
    found = compiled_of_events(f"first_event(seen, {given})", lines, problem, form, names)
    CONSTANT_CALLS.add(found)
    return found


def _before_the_switch(e, event, given):
    """Lines that look for a switch on the path before it: stages of the step beyond it may turn that back.

    Up to twice as far as the path gets there in a line: `at_part` goes half as far.
    """
    return [
        f"if {CROSSES[event.direction]} or abs(then) < 4.0 * abs(then - before):",
        f"    rate = (along(1e-4, {e}, {given}) - before) / 1e-4",
        "    if before * rate < 0.0:",
        "        nearer = min(1.0, -1.9 * before / rate)",
        f"        other = along(nearer, {e}, {given})",
        "        if before * other <= 0.0:",
        "            top, then = nearer, other",
    ]


def _trials(distance, condition, if_rises, if_falls):
    """Lines that make a distance from a crossing longer until its condition has a sign."""
    return [
        f"    for trial in range({_TRIALS}):",
        f"        g = {condition}",
        f"        if ({if_rises}) if rises else ({if_falls}):",
        "            break",
        f"        {distance} *= 8.0",
    ]


@built_once(lambda problem, _: problem.drift)
def across(problem, form):
    """`across(part, beyond, which, t, h, end, args, ...)`: how the state moves from `part` on by `beyond`.

    A tuple of the components, as far as it moves up to `part`: farther on functions may switch. A constant of
    derivatives.
    """
    y = form.names("y")
    given = f"part, beyond, which, {_step_parameters(problem, form)}"
    begin, move = [*y, "t"], []
    for name, moved in (("until", "part"), ("since", "part - beyond")):
        lines = state_at_part(problem, form)
        kept = [f"{name}_{k} = {x}" for k, x in enumerate(y)]
        back = [f"{x} = begin_{k}" for k, x in enumerate(begin)]
        move += [f"part = {moved}", *lines, *kept, *back]
    lines = [
        *(f"begin_{k} = {x}" for k, x in enumerate(begin)),
        *move,
        f"return ({''.join(f'until_{k} - since_{k}, ' for k in range(len(y)))})",
    ]
    names = {"at_part": at_part(problem, form)}
    found = compiled_of_events(f"across({given})", lines, problem, form, names)
    CONSTANT_CALLS.add(found)
    return found


@built_once(lambda problem, _: problem.drift)
def _past(problem, form):
    """`past(part, beyond, which, t, h, end, args, ...)`: a condition after `part` and what `across` gives."""
    y, given = form.names("y"), _step_parameters(problem, form)
    lines = [
        f"over_it = across(part, beyond, which, {given})",
        *state_at_part(problem, form),
        *(f"{x} = {x} + over_it[{c}]" for c, x in enumerate(y)),
        "t = t + beyond * h",
        *_conditions(problem, form, y),
    ]
    names = {"at_part": at_part(problem, form), "across": across(problem, form)}
    head = f"past(part, beyond, which, {given})"
    return compiled_of_events(head, lines, problem, form, names)


def _conditions(problem, form, y):
    """Lines that return the condition number `which`."""
    lines = []
    for e in range(len(problem.events)):
        value = f"condition_{e}(t, {form.state(y)}{form.arguments()}) + 0.0"
        lines += [f"if which == {e}:", f"    return {value}"]
    return [*lines, "return 0.0"]


@built_once(lambda problem, _: problem.drift)
def _crossing(problem, form):
    """`crossing(which, top, before, then, t, h, args, ...)`: the part of a step where a condition is zero.

    It has the value `before` at the beginning, and `then` at the part `top`: another sign, or zero.
    """
    given = _step_parameters(problem, form)
    lines = [
        "low, high, g_low, g_high, radius = 0.0, top, before, then, top",
        f"for trial in range({LARGEST_TRIALS}):",
        f"    part = next_trial(low, high, g_low, g_high, 1.0, radius, {EPSILON!r})",
        "    if not low < part < high:",
        "        break",
        f"    g = along(part, which, {given})",
        "    if (g < 0.0) == (before < 0.0) and g != 0.0:",
        "        low, g_low = part, g",
        "    else:",
        "        high, g_high = part, g",
        "    radius *= 0.5",
        "return high",
    ]
    names = {"along": _along(problem, form), "next_trial": next_trial}
    return compiled_of_events(
        f"crossing(which, top, before, then, {given})", lines, problem, form, names
    )


@built_once(lambda problem, _: problem.drift)
def _along(problem, form):
    """`along(part, which, t, h, args, ...)`: a condition after a part of a step."""
    lines = [*state_at_part(problem, form), *_conditions(problem, form, form.names("y"))]
    names = {"at_part": at_part(problem, form)}
    head = f"along(part, which, {_step_parameters(problem, form)})"
    return compiled_of_events(head, lines, problem, form, names)


@built_once(lambda problem, _: problem.drift)
def _slope_along(problem, form):
    """`slope_along(part, which, t, h, args, ...)`: that of `along` by the part; a constant of derivatives."""
    given = f"part, which, {_step_parameters(problem, form)}"
    names = {"slope": grad(_along(problem, form), 0, mode="forward")}
    lines = [f"return slope({given})"]
    found = compiled_of_events(f"slope_along({given})", lines, problem, form, names)
    CONSTANT_CALLS.add(found)
    return found


@built_once(lambda problem, _: problem.drift)
def at_crossing(problem, form):
    """`at_crossing(part, which, t, h, args, ...)` is `part`, with the derivatives of the crossing."""
    given = _step_parameters(problem, form)
    ends = ", ".join([*form.names("y"), *form.names("n")])
    lines = [
        f"if noise_of(part, which, t, h, args, {ends}) > 0.0:",
        f"    raise UnsupportedError({NO_SLOPE!r})",
    ]
    if problem.scheme.second_order_in_drift:
        lines += [
            f"slope = slope_along(part, which, {given})",
            "if slope == 0.0:",
            f"    raise UnsupportedError({FLAT!r})",
            "for iteration in range(2):",
            f"    g = along(part, which, {given})",
            "    part = part - (g - stop(g)) / slope",
            "return only_twice(part)",
        ]
    else:
        for e in range(len(problem.events)):
            share = "only_once(before / (before - then))"
            lines += [f"if which == {e}:", *("    " + line for line in condition_at_ends(e, form))]
            lines += [f"    share = {share}", "    part = part + (share - stop(share))"]
        lines += ["return part"]
    namespace = {
        "noise_of": noise_of(problem, form),
        "along": _along(problem, form),
        "slope_along": _slope_along(problem, form),
        "stop": stop_gradient,
        "only_once": only_once,
        "only_twice": only_twice,
        "UnsupportedError": UnsupportedError,
    }
    head = f"at_crossing(part, which, {given})"
    values = jit(error_model="numpy", nogil=True)(function_of(head, ["return part"], {}))
    moving = compiled_of_events(head, lines, problem, form, namespace)
    parameters = f"part, which, {given}"
    return two_ways(values, moving, parameters, (at_crossing, (problem, form)))


@built_once(lambda problem, _: problem.drift)
def noise_of(problem, form):
    """`noise_of(part, which, t, h, args, *old, *new)`: by what the noise itself moves a condition.

    At a part of a step; the sum over the channels, each of which would do alone. A constant of derivatives.
    """
    y = form.names("y")
    between = zip(y, form.names("n"), strict=True)
    lines = [f"{old} = {old} + part * ({new} - {old})" for old, new in between]
    lines += ["t, total = t + part * h, 0.0"]
    for e in range(len(problem.events)):
        at = f"(t, {form.state(y)}{form.arguments()})"
        lines += [
            f"if which == {e}:",
            f"    slope, g = slope_{e}{at}, diffusion{at}",
            *("    " + line for line in _total_noise(form)),
        ]
    head = f"noise_of(part, which, t, h, args, {', '.join([*y, *form.names('n')])})"
    found = compiled_of_events(head, [*lines, "return total"], problem, form)
    CONSTANT_CALLS.add(found)
    return found


def _total_noise(form):
    """Lines that add up the sizes of a slope times the diffusion, channel by channel."""
    if form.is_array and form.is_matrix:
        return ["for j in range(g.shape[1]):", "    total += abs((slope * g[:, j]).sum())"]
    if form.is_array:
        one = "abs((slope * g).sum())" if form.noise == SCALAR else "np.abs(slope * g).sum()"
        return [f"total += {one}"]
    slopes = [f"slope[{i}]" for i in range(form.count)] if form.is_tuple else ["slope"]
    if form.is_matrix:
        columns = [
            [f"{s} * g[{i}][{j}]" for i, s in enumerate(slopes)] for j in range(form.channels)
        ]
    else:
        is_one = not isinstance(form.diffusion, types.BaseTuple)
        rows = [f"{s} * g" if is_one else f"{s} * g[{i}]" for i, s in enumerate(slopes)]
        columns = [rows] if form.noise == SCALAR else [[row] for row in rows]
    return [f"total += abs({' + '.join(column)})" for column in columns]


def compiled_of_events(head, lines, problem, form, names=None):
    """A function of conditions and their slopes by the state."""
    namespace = {**model_names(problem, form), **(names or {})}
    for e, event in enumerate(problem.events):
        namespace[f"condition_{e}"] = event.condition
        namespace[f"slope_{e}"] = grad(event.condition, 1, mode="forward")
    return jit(error_model="numpy", nogil=True)(function_of(head, lines, namespace))
