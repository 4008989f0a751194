"""Events as `solve_ivp` takes and returns them: SciPy's functions with attributes."""

import inspect
from collections.abc import Sequence

import numpy as np
from numba.core.dispatcher import Dispatcher

from numbad.errors import ArgumentError
from numbad.ode.event_log import UNWATCHED, Watched
from numbad.ode.events import Event, event


def watched_events(events):
    """What `events=` asks for; raises ArgumentError."""
    if events is None:
        return UNWATCHED
    if isinstance(events, Event) or not isinstance(events, Sequence):
        events = (events,)
    return Watched(*zip(*map(_watched, events), strict=True)) if len(events) else UNWATCHED


def _watched(given):
    """Condition, direction, and how many crossings end the solution."""
    if isinstance(given, Event):
        if given.condition is None or given.change is not None:
            raise ArgumentError(
                "solve_ivp takes events that change nothing, at conditions, as SciPy's does; for a change "
                "of the state and for nd.ode.at_times take nd.ode.solver(fun, events=...)"
            )
        return given.condition, given.direction, int(given.terminal)
    if not (inspect.isfunction(given) or isinstance(given, Dispatcher)):
        raise ArgumentError(
            f"events must be functions event(t, y, *args) of a float; not {given!r}"
        )
    terminal, direction = getattr(given, "terminal", 0), getattr(given, "direction", 0)
    if not isinstance(terminal, bool | np.bool_ | int | np.integer | None) or (terminal or 0) < 0:
        raise ArgumentError(
            f"the attribute terminal of an event must be a bool or a count, not {terminal!r}"
        )
    return event(given).condition, int(np.sign(direction)), int(terminal or 0)


def by_event(watched, events):
    """The times of each event and the states there: two lists of arrays, as SciPy's."""
    found, times, states, numbers = events[:4]
    times, states, numbers = times[:found], states[:found], numbers[:found]
    of_each = [numbers == k for k in range(len(watched.conditions))]
    return [times[own] for own in of_each], [states[own] for own in of_each]
