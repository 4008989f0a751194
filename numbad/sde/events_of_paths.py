"""Events of paths: conditions that cross zero within a step, found on the path between its ends.

An event divides the step (`crossing_times` says where): what comes after it in the step, with its share of W,
goes on from the state after the event. The Brownian motion within a step is taken to be a line, and H to fall
like the square of the step's size.

Adaptive steps (`adaptive_loop`) are divided near events first, by the Brownian path itself, until the state
moves so little that the line may be taken. How near is near, by the chance of a Brownian bridge to touch
zero: P. Baldi, Ann. Probab. 23 (1995) 1644-1670; steps by the distance from a boundary: H. Hoel,
S. Ragunathan, IMA J. Numer. Anal. 44 (2024) 2821-2863, doi:10.1093/imanum/drad077.
"""

import math

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, ModelError
from numbad.ode.events import checked_events
from numbad.operators import stop_gradient
from numbad.sde.crossing_times import (
    CROSSES,
    across,
    at_crossing,
    at_part,
    compiled_of_events,
    condition_at_ends,
    first_event,
    is_switch,
    noise_of,
    state_at_part,
)
from numbad.sde.scheme import WeakScheme
from numbad.sde.state_source import check_vector, returned, spread, state_type


def checked(events, scheme, adjoint):
    """The events of a solver as a tuple; raises ArgumentError."""
    events = checked_events(events, None)
    if not events:
        return ()
    for event in events:
        if event.condition is None:
            raise ArgumentError(
                "nd.ode.at_times is for ODEs. Way out for an SDE: make these times ends of solutions, and "
                "begin each from the changed end of the one before"
            )
    if scheme.carries or scheme.needs_levy or isinstance(scheme, WeakScheme):
        raise ArgumentError(
            f"a step of method {scheme.name!r} cannot be divided, as events ask. Ways out: method='Heun' or "
            "'EulerMaruyama'"
        )
    if adjoint not in ("auto", "discrete", "forward"):
        raise ArgumentError(
            f"adjoint={adjoint!r} does not go back through events. Way out: adjoint='discrete', with "
            "checkpoints= where memory is scarce"
        )
    return events


def names_of_events(problem, form):
    """The names that the lines of `event_lines` use, but for `step`."""
    names = {"first_event": first_event(problem, form), "at_crossing": at_crossing(problem, form)}
    names |= {"at_part": at_part(problem, form), "across": across(problem, form)}
    names["stop"] = stop_gradient
    return {**names, **changes_of(problem.events)}


def changes_of(events):
    """The names that the lines of `change_lines` use."""
    return {f"change_{e}": x.change for e, x in enumerate(events) if x.change is not None}


def change_lines(e, form, time, y):
    """Lines that change the state in `y` by event `e`."""
    members = [f"after[{c}]" for c in range(form.count)] if form.is_tuple else ["after"]
    return [
        f"after = change_{e}({time}, {form.state(y)}{form.arguments()})",
        *(f"{name} = {source} + 0.0" for name, source in zip(y, members, strict=True)),
    ]


def _check_types(events, form):
    """Raise ModelError for functions that do not fit the state."""
    given = types.float64, state_type(form.y0), *spread(form.args)
    for event in events:
        found = returned(cpu_target.typing_context, event.condition, given)
        if not isinstance(found, types.Float | types.Integer):
            raise ModelError(f"the condition of an event must return a number; it returns {found}")
        if event.change is not None:
            after = returned(cpu_target.typing_context, event.change, given)
            check_vector("change of an event", after, form.count)


def event_lines(problem, form, y, w, areas):
    """Lines that take a step from `t` of size `h`, to `end`, by `step`, divided by the events in it.

    What is left of a step goes on from where the condition has its other sign, so that functions that switch
    there see it. Where that is nothing, its size has derivatives all the same.
    """
    events = problem.events
    _check_types(events, form)
    new = form.names("n")
    ends = list(zip(y, new, strict=True))
    noise = ", ".join([*y, *w, *areas])
    given = f"args, {', '.join([*y, *new, *w, *areas])}"
    switches = " or ".join(f"which == {e}" for e, event in enumerate(events) if is_switch(event))
    passing = not all(event.terminal for event in events)
    lines = [
        "begun, size, seen, still = t, h, 0, 0.0",
        # Rows of a table, of which what is left of a step has other parts: arrays of one kind throughout.
        *(f"{x} = 1.0 * {x}" for x in (*w, *areas) if form.is_array),
        f"for turn in range({len(events) + 1}):",
        f"    found = step(begun, size, args, {noise})",
        *(f"    {name} = found[{c}]" for c, name in enumerate(new)),
        f"    which, part, short, beyond = first_event(seen, begun, size, end, {given})",
        "    if which < 0:",
        *(f"        {old} = {name} - stop(still * ({name} - {old}))" for old, name in ends),
        "        break",
        f"    part = at_crossing(part, which, begun, size, end, {given})",
        f"    passed = short{f' + (beyond if {switches} else 0.0)' if switches else ''}",
        *([f"    gap = across(part, passed, which, begun, size, end, {given})"] if passing else []),
        *("    " + line for line in state_at_part(problem, form, "begun", "size")),
        *(f"    {x} = {x} + gap[{c}]" for c, x in enumerate(y if passing else ())),
    ]
    for e, event in enumerate(events):
        if event.change is not None:
            change = change_lines(e, form, "begun", y)
            lines += [f"    if which == {e}:", *("        " + line for line in change)]
        if event.terminal:
            lines += [f"    if which == {e}:", "        over = 1.0"]
    return [
        *lines,
        "    if over == 1.0:",
        "        break",
        "    left = 1.0 - part - passed",
        "    still = 1.0 if left <= 1e-11 else 0.0",
        "    left += stop(max(1e-12 - left, 0.0))",
        *(f"    {x} = left * {x}" for x in w),
        *(f"    {a} = left * left * {a}" for a in areas),
        "    begun, size, seen = begun + (short + beyond) * size, left * size, seen | (1 << which)",
    ]


MISSED = 0.5 * math.log(1e4)
"""A path between a and b passes zero unseen with the chance exp(-2 a b / variance), here of 1 in 10,000."""

NOTHING, NEAR, CROSSED = 0, 1, 2


@built_once(lambda problem, _: problem.drift)
def meets_of(problem, form):
    """`meets(t, h, end, args, *old, *new)`: whether a step crosses an event, or comes near one with noise.

    Near: a Brownian motion with the noise of the condition and its values at both ends of the step would
    cross zero between them with a chance above 1 in 10,000.
    """
    old, new = form.names("y"), form.names("n")
    given = ", ".join([*old, *new])
    lines = [f"met = {NOTHING}"]
    for e, event in enumerate(problem.events):
        lines += [
            *condition_at_ends(e, form),
            f"if {CROSSES[event.direction]}:",
            f"    return {CROSSED}",
            f"noise = noise_of(0.0, {e}, t, h, args, {given})",
            f"if noise > 0.0 and before * then <= {MISSED!r} * h * noise * noise:",
            f"    met = {NEAR}",
        ]
    names = {"noise_of": noise_of(problem, form)}
    return compiled_of_events(
        f"meets(t, h, end, args, {given})", [*lines, "return met"], problem, form, names
    )


@built_once(lambda problem, *_: problem.drift)
def divided_of(problem, step, form, w, areas):
    """`divided(t, h, end, args, *state, *w, *areas)`: the state after a step and its events, and `over`.

    `over` is 1.0 after a terminal event.
    """
    y = form.names("y")
    lines = [
        "over = 0.0",
        *event_lines(problem, form, y, w, areas),
        f"return ({', '.join(y)}, over)",
    ]
    head = f"divided({', '.join(['t', 'h', 'end', 'args', *y, *w, *areas])})"
    names = {**names_of_events(problem, form), "step": step}
    return compiled_of_events(head, lines, problem, form, names)
