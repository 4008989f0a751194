"""Events: where a condition on the state crosses zero, or at times known beforehand."""

import inspect
from collections import namedtuple
from collections.abc import Sequence
from functools import cache

import numpy as np
from numba.core.dispatcher import Dispatcher

from numbad.compilation.caching import user_jit
from numbad.errors import ArgumentError
from numbad.ode.compiling import as_dispatcher
from numbad.source import define

LARGEST_COUNT = 62  # what happens at one time is told as the bits of an integer

NOT_A_TIME = "nd.ode.at_times: one of the times is NaN; np.inf stands for one that never comes"
CHANGED_LENGTH = "the change of an event must return a state as long as the one it is given"

# `condition` is a dispatcher, or None where `times`, one too, says when it happens; `change` is one or None.
Event = namedtuple("Event", "condition times direction terminal change")


def event(condition, *, direction=0, terminal=False, change=None):
    """Something that happens where a condition on time and state crosses zero.

    Parameters
    ----------
    condition : function or Numba dispatcher
        `condition(t, y, *args)` returns a float that crosses zero where the event happens, with a slope
        that is not zero.
    direction : int
        1: only where it goes from negative to positive; -1: only from positive to negative; 0: both.
    terminal : bool
        Whether the solution ends there. Rows of the result from then on hold the state at the event.
    change : function or Numba dispatcher, optional
        `change(t, y, *args)` returns the state right after the event, in the form that `fun` takes it.

    Returns
    -------
    Event
        for `events=` of `numbad.ode.solver`.

    Raises
    ------
    ArgumentError
        for what is no function, and for another direction.

    Notes
    -----
    The condition is looked at at the ends of the steps and at three points between, on the dense output;
    two crossings between two such points are not seen (`max_step` bounds the distance). At an output time
    equal to that of the event, the state is that before it.

    Derivatives see that the time of the event moves (the implicit function theorem), and what the
    right-hand side does on each side of it, to the fourth order: Hairer, Norsett & Wanner, "Solving Ordinary
    Differential Equations I", II.6. A right-hand side that switches where the condition crosses zero is
    declared by an event without a change.

    Examples
    --------
    A ball that loses a tenth of its speed where it meets the floor, and the derivative by the height from
    which it is dropped:

    >>> import numbad as nd
    >>> bounce = nd.ode.event(lambda t, y: y[0], direction=-1, change=lambda t, y: (y[0], -0.9 * y[1]))
    >>> solve = nd.ode.solver(lambda t, y: (y[1], -10.0), events=bounce, rtol=1e-9)
    >>> def height(start):
    ...     return solve((start, 0.0), (0.0, 1.5))[-1, 0]
    >>> value, slope = nd.value_and_grad(height)(5.0)
    >>> round(float(value), 6), round(slope, 6)
    (3.25, 0.05)
    """
    if direction not in (-1, 0, 1):
        raise ArgumentError(f"direction must be 1, -1 or 0, not {direction!r}")
    found = as_dispatcher(condition, "condition"), None, int(direction), bool(terminal)
    return Event(*found, _change(change))


def at_times(times, *, terminal=False, change=None):
    """Something that happens at times known before the solution is: doses, switches, interventions.

    Parameters
    ----------
    times : float, sequence of floats, or function
        `times(*args)` returns the times, a float, a tuple or an array, from the arguments of the
        solver, with respect to which they may then be differentiated. Times that are not between the
        ends of the solution do not happen; at its very start they do, at its very end too.
    terminal : bool
        Whether the solution ends at the first of them.
    change : function or Numba dispatcher, optional
        `change(t, y, k, *args)` returns the state right after time number `k` of `times`. Without it the
        right-hand side may switch there (`if t > start`), exactly.

    Returns
    -------
    Event
        for `events=` of `numbad.ode.solver`, whose option `tstops` is short for one without a change.

    Raises
    ------
    ArgumentError
        for times that are no finite numbers (those that a function returns may be infinite, and do not
        happen then), and for what is no function.

    Examples
    --------
    Doses whose times and amounts are parameters:

    >>> import numbad as nd
    >>> doses = nd.ode.at_times(lambda rate, times, amounts: times,
    ...                         change=lambda t, y, k, rate, times, amounts: y + amounts[k])
    >>> body = nd.ode.solver(lambda t, y, rate, times, amounts: -rate * y, events=doses, rtol=1e-9)
    >>> def left(second):
    ...     return body(0.0, (0.0, 5.0), (0.5, (1.0, second), (3.0, 2.0)))[-1, 0]
    >>> value, slope = nd.value_and_grad(left)(4.0)
    >>> round(float(value), 6), round(slope, 6)                            # 2 (0.5) exp(-0.5 (5 - 4))
    (1.619067, 0.606531)
    """
    if not (inspect.isfunction(times) or isinstance(times, Dispatcher)):
        times = _constant(times)
    return Event(None, as_dispatcher(times, "times"), 0, bool(terminal), _change(change))


def _constant(times):
    """The function that returns given times."""
    try:
        values = np.atleast_1d(np.asarray(times, dtype=float))
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ArgumentError(
            f"times must be finite floats, such as (1.0, 2.5), or a function of args; not {times!r}"
        )
    return _returning(tuple(values.tolist()))


@cache
def _returning(values):
    """The function of these times, the same one for the same times."""
    written = "".join(f"{value!r}, " for value in values)
    row = f"np.array([{written}])" if values else "np.empty(0)"
    return user_jit(define(f"def times(*args):\n    return {row}\n", {"np": np}))


def _change(change):
    return None if change is None else as_dispatcher(change, "change")


def checked_events(events, tstops):
    """The events of a solver as a tuple; raises ArgumentError."""
    if events is None:
        events = ()
    elif isinstance(events, Event) or not isinstance(events, Sequence):
        events = (events,)
    for given in events:
        if not isinstance(given, Event):
            raise ArgumentError(
                f"events must be made by nd.ode.event or nd.ode.at_times, such as "
                f"nd.ode.event(lambda t, y: y[0]); not {given!r}"
            )
    if tstops is not None:
        events = (*events, at_times(tstops))
    if len(events) > LARGEST_COUNT:
        raise ArgumentError(f"there may be {LARGEST_COUNT} events; these are {len(events)}")
    return tuple(events)
