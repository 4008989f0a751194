"""Doses and other events of a fit: what the solver is to be told of them.

Doses go to the solver as three further arguments after those of `fun`: `when` and `amount`, whose
entries may be unknowns, and `where`, indices of components; each a tuple, or an array.
"""

from numba.core.dispatcher import Dispatcher

from numbad.compilation.caching import jit
from numbad.compilation.meaning import meaning
from numbad.errors import ArgumentError, ModelError
from numbad.fit.model import named_tuple
from numbad.source import define


def read_events(events, tstops):
    """Return the events as a tuple, each with its functions compiled; raise `ModelError`."""
    from numbad.ode.events import checked_events

    try:
        return checked_events(events, tstops)
    except ArgumentError as error:
        raise ModelError(str(error)) from None


def functions_of(events):
    """Return the dispatchers that events are made of."""
    return tuple(part for one in events for part in one if isinstance(part, Dispatcher))


def meanings_of(events):
    """The meanings of the functions of events: they differ once a name in one means something else."""
    return tuple(map(meaning, functions_of(events)))


def with_doses(fun, shape, events):
    """Return a right-hand side that takes the doses, too, and the events, doses among them."""
    count = len(shape.calling.listed(range(shape.calling.count)))
    own = [f"a{i}" for i in range(count)]
    given = [*own, "when", "amount", "where"]

    def behind(function, *before):
        """`function` with the arguments of the doses, which it does not see."""
        if function is None:
            return None
        takes, passes = ", ".join([*before, *given]), ", ".join([*before, *own])
        source = f"def generated({takes}):\n    return function({passes})\n"
        return jit(define(source, {"function": function}), error_model="numpy")

    told = [
        one._replace(
            condition=behind(one.condition, "t", "y"),
            times=behind(one.times),
            change=behind(one.change, "t", "y", *([] if one.times is None else ["k"])),
        )
        for one in events
    ]
    return behind(fun, "t", "y"), (_dosing(shape, given), *told)


def _dosing(shape, given):
    """Return the event of all doses."""
    from numbad.ode import at_times

    listed = ", ".join(given)
    times = define(f"def generated({listed}):\n    return when\n", {})
    lines = [f"def generated(t, y, k, {listed}):"]
    if shape.state == "array":
        lines += ["    y = y.copy()", "    y[where[k]] += amount[k]", "    return y"]
    else:
        items = [
            f"y[{i}] + (amount[k] if where[k] == {i} else 0.0)" for i in range(shape.components)
        ]
        joined = "".join(f"{item}, " for item in items)
        lines.append(f"    return {'' if shape.state == 'tuple' else 'State'}({joined})")
    names = {"State": named_tuple(shape.state)} if isinstance(shape.state, tuple) else {}
    change = define("\n".join(lines) + "\n", names)
    return at_times(jit(times, error_model="numpy"), change=jit(change, error_model="numpy"))
