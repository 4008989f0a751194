"""Events of paths: conditions that cross zero within a step, found on the path between its ends.

Between the ends of a step the path is taken to be a line, and so are its Brownian motion and the condition.
An event divides the step: the state there is interpolated, and what is left of the step, with its share of
W, is taken from the state after the event. What is left of H falls like the square of what is left of h.

Adaptive steps (`adaptive_loop`) are divided near events first, by the Brownian path itself, until the state
moves so little that the line may be taken. How near is near, by the chance of a Brownian bridge to touch
zero: P. Baldi, Ann. Probab. 23 (1995) 1644-1670; steps by the distance from a boundary: H. Hoel,
S. Ragunathan, IMA J. Numer. Anal. 44 (2024) 2821-2863, doi:10.1093/imanum/drad077.
"""

import math

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, ModelError, UnsupportedError
from numbad.ode.events import checked_events
from numbad.operators import grad
from numbad.rules.registry import CONSTANT_CALLS
from numbad.sde.model_names import function_of, model_names
from numbad.sde.scheme import SCALAR, WeakScheme
from numbad.sde.state_source import check_vector, returned, spread, state_type
from numbad.sde.two_ways import two_ways

NO_SLOPE = (
    "the condition of an event has noise of its own: as a function of a parameter the time of a first "
    "crossing then jumps, and the derivative of one path is not that of the mean. Ways out: a condition on "
    "components without noise, such as positions of Langevin dynamics; nd.sde.change_of_drift, whose weights "
    "are smooth; a smooth function of the path in place of the event"
)


def checked(events, scheme, adjoint, jumps):
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
    if jumps is not None:
        raise ArgumentError(
            "events beside jumps are not available: a jump would pass a condition unseen. Way out: the "
            "condition in the jump's change"
        )
    if adjoint not in ("auto", "discrete", "forward"):
        raise ArgumentError(
            f"adjoint={adjoint!r} does not go back through events. Way out: adjoint='discrete', with "
            "checkpoints= where memory is scarce"
        )
    return events


def names_of_events(problem, form):
    """The names that the lines of `event_lines` use, but for `step`."""
    names = {"first_event": _first_event(problem, form), "at_crossing": _at_crossing(problem, form)}
    return {
        **names,
        **{f"change_{e}": x.change for e, x in enumerate(problem.events) if x.change is not None},
    }


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


def event_lines(events, form, y, w, areas):
    """Lines that take a step from `t` of size `h` by `step`, divided by the events in it."""
    _check_types(events, form)
    new = form.names("n")
    noise = ", ".join([*y, *w, *areas])
    members = [f"after[{c}]" for c in range(form.count)] if form.is_tuple else ["after"]
    lines = [
        "begun, size, seen = t, h, 0",
        f"for turn in range({len(events) + 1}):",
        f"    found = step(begun, size, args, {noise})",
        *(f"    {name} = found[{c}]" for c, name in enumerate(new)),
        f"    which, part = first_event(begun, size, args, seen, {', '.join([*y, *new])})",
        "    if which < 0:",
        *(f"        {old} = {name}" for old, name in zip(y, new, strict=True)),
        "        break",
        f"    part = at_crossing(part, which, begun, size, args, {', '.join([*y, *new])})",
        *(f"    {old} = {old} + part * ({name} - {old})" for old, name in zip(y, new, strict=True)),
        "    begun = begun + part * size",
    ]
    for e, event in enumerate(events):
        if event.change is not None:
            state = f"begun, {form.state(y)}{form.arguments()}"
            lines += [
                f"    if which == {e}:",
                f"        after = change_{e}({state})",
                *(f"        {old} = {x} + 0.0" for old, x in zip(y, members, strict=True)),
            ]
        if event.terminal:
            lines += [f"    if which == {e}:", "        over = 1.0"]
    left = "(1.0 - part)"
    return [
        *lines,
        f"    if over == 1.0 or {left} * size <= 1e-12 * h:",
        "        break",
        *(f"    {x} = {left} * {x}" for x in w),
        *(f"    {a} = {left} * {left} * {a}" for a in areas),
        f"    size, seen = {left} * size, seen | (1 << which)",
    ]


_CROSSED = {
    1: "(before < 0.0 and then >= 0.0)",
    -1: "(before > 0.0 and then <= 0.0)",
}
_CROSSED[0] = f"{_CROSSED[1]} or {_CROSSED[-1]}"


@built_once(lambda problem, _: problem.drift)
def _first_event(problem, form):
    """`first_event(t, h, args, seen, *old, *new)`: the first event of a step not yet `seen`, and its part."""
    old, new = form.names("y"), form.names("n")
    lines = ["which, part = -1, 1.0"]
    for e, event in enumerate(problem.events):
        more = form.arguments()
        lines += [
            f"before = condition_{e}(t, {form.state(old)}{more})",
            f"then = condition_{e}(t + h, {form.state(new)}{more})",
            f"if (seen >> {e}) & 1 == 0 and ({_CROSSED[event.direction]}):",
            "    share = before / (before - then)",
            "    if which < 0 or share < part:",
            f"        which, part = {e}, share",
        ]
    head = f"first_event(t, h, args, seen, {', '.join([*old, *new])})"
    return _compiled(head, [*lines, "return which, part"], problem, form)


MISSED = 0.5 * math.log(1e4)
"""A path between a and b passes zero unseen with the chance exp(-2 a b / variance), here of 1 in 10,000."""

NOTHING, NEAR, CROSSED = 0, 1, 2


@built_once(lambda problem, _: problem.drift)
def meets_of(problem, form):
    """`meets(t, h, args, *old, *new)`: whether a step crosses an event, or comes near one with noise.

    Near: a Brownian motion with the noise of the condition and its values at both ends of the step would
    cross zero between them with a chance above 1 in 10,000.
    """
    old, new = form.names("y"), form.names("n")
    given = ", ".join([*old, *new])
    lines = [
        f"which, part = first_event(t, h, args, 0, {given})",
        "if which >= 0:",
        f"    return {CROSSED}",
    ]
    for e in range(len(problem.events)):
        more = form.arguments()
        lines += [
            f"noise = noise_of(0.0, {e}, t, h, args, {given})",
            f"before = condition_{e}(t, {form.state(old)}{more})",
            f"then = condition_{e}(t + h, {form.state(new)}{more})",
            f"if noise > 0.0 and before * then <= {MISSED!r} * h * noise * noise:",
            f"    return {NEAR}",
        ]
    names = {"first_event": _first_event(problem, form), "noise_of": _noise_of(problem, form)}
    head = f"meets(t, h, args, {given})"
    return _compiled(head, [*lines, f"return {NOTHING}"], problem, form, names)


@built_once(lambda problem, *_: problem.drift)
def divided_of(problem, step, form, w, areas):
    """`divided(t, h, args, *state, *w, *areas)`: the state after a step and its events, and `over`.

    `over` is 1.0 after a terminal event.
    """
    y = form.names("y")
    lines = [
        "over = 0.0",
        *event_lines(problem.events, form, y, w, areas),
        f"return ({', '.join(y)}, over)",
    ]
    head = f"divided({', '.join(['t', 'h', 'args', *y, *w, *areas])})"
    names = {**names_of_events(problem, form), "step": step}
    return _compiled(head, lines, problem, form, names)


@built_once(lambda problem, _: problem.drift)
def _at_crossing(problem, form):
    """`at_crossing(part, ...)` is `part`, the derivatives of which it refuses where a condition has noise.

    What it takes besides: which event it is, and the step `(t, h, args, *old, *new)`.
    """
    given = f"which, t, h, args, {', '.join([*form.names('y'), *form.names('n')])}"
    lines = [
        f"if noise_of(part, {given}) > 0.0:",
        f"    raise UnsupportedError({NO_SLOPE!r})",
        "return part",
    ]
    namespace = {"noise_of": _noise_of(problem, form), "UnsupportedError": UnsupportedError}
    compiled = jit(error_model="numpy", nogil=True)
    head = f"part, {given}"
    values = compiled(function_of(f"at_crossing({head})", ["return part"], {}))
    checked = compiled(function_of(f"at_crossing({head})", lines, namespace))
    return two_ways(values, checked, head, (_at_crossing, (problem, form)))


@built_once(lambda problem, _: problem.drift)
def _noise_of(problem, form):
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
    found = _compiled(head, [*lines, "return total"], problem, form)
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


def _compiled(head, lines, problem, form, names=None):
    """A function of conditions and their slopes by the state."""
    namespace = {**model_names(problem, form), **(names or {})}
    for e, event in enumerate(problem.events):
        namespace[f"condition_{e}"] = event.condition
        namespace[f"slope_{e}"] = grad(event.condition, 1, mode="forward")
    return jit(error_model="numpy", nogil=True)(function_of(head, lines, namespace))
