"""The search for a steady state behind the last event.

The system is solved with its events up to times that double, the first behind all that are known beforehand,
until it is next to a steady state, so that no condition crosses zero on the way there. Nothing happens any
more: the way so far acts on the steady state through the totals that are conserved from there on, and these
are functions of the state there.
"""

import numpy as np

from numbad.compilation.caching import jit
from numbad.errors import ArgumentError, ConvergenceError, SingularError
from numbad.ode.equilibrium import DOUBLINGS, NEAR, UnsettledError, first_stretch, is_short
from numbad.ode.forms import as_arguments, as_form, as_row
from numbad.rules.registry import CONSTANT_CALLS
from numbad.source import define

# Conditions that cross zero more often than this do so for ever.
MOST_EVENTS = 1000
# How far from a state its Jacobian shows what is conserved: near enough for `fun` not to switch in between.
NEARBY = 1e-3
# How far behind the last known time the search begins, as a part of that.
BEHIND = 1e-6


class EndlessEventsError(ConvergenceError):
    """Events that go on, with the time up to which they were followed."""

    def __init__(self, t):
        told = f"{t:g}" if isinstance(t, float) else t
        super().__init__(
            f"the system has no steady state that it reaches by t = {told}: conditions of events have "
            f"crossed zero {MOST_EVENTS} times, and go on doing so"
        )


@jit
def count_events(happened, t):
    """How many conditions have crossed zero, with one at t; an error where that does not end."""
    if happened >= MOST_EVENTS:
        raise EndlessEventsError(t)
    return happened + 1


def make_find_behind_events(equilibrium, events, solve):
    """The compiled `find(y0, args) -> (root, pull, W, t)`, t being a time behind the last event."""
    slope, _, tolerance, nearest, inverse, _ = equilibrium
    check_conditions = _make_check_conditions(events, tolerance)
    latest = _make_latest(events)

    @jit(error_model="numpy")
    def find(y0, args):
        rest = as_arguments(args)
        y = as_row(y0, ())
        others = np.empty((len(y), 0))
        last = latest(rest)
        t = last + max(BEHIND * last, first_stretch(slope(last, y, y0, rest), y, tolerance(y)))
        for _ in range(DOUBLINGS):
            if not np.isfinite(t):
                break
            y = solve(y0, (0.0, t), args)[1].copy()
            at_rest = is_short(slope(t, y, y0, rest), 0.0, y)
            found, root, J, pull = nearest(t, y, y, others, NEARBY, at_rest, y0, rest)
            if found:
                check_conditions(t, root, y0, rest)
                return root, pull, inverse(t, root, J, pull, y0, rest), t
            t *= 2.0
        raise UnsettledError(t)

    CONSTANT_CALLS.add(find)
    return find


def _made(name, parameters, lines, functions):
    """The compiled function of these lines, in which the functions are f0, f1, ..."""
    own = {f"f{i}": function for i, function in enumerate(functions)}
    source = f"def {name}({parameters}):\n{lines}"
    names = {"np": np, "as_row": as_row, "as_form": as_form, **own}
    return jit(define(source, names), error_model="numpy")


def _make_latest(events):
    """The compiled `latest(rest)`: the last of the times known beforehand, at least 0."""
    times = [e.times for e in events if e.times is not None]
    lines = ["    last = 0.0\n"]
    for i in range(len(times)):
        lines += [
            f"    for time in as_row(f{i}(*rest), ()):\n",
            "        if last < time < np.inf:\n            last = time\n",
        ]
    return _made("latest", "rest", "".join([*lines, "    return last\n"]), times)


def _make_check_conditions(events, tolerance):
    """The compiled `check_conditions(t, root, like, rest)`: an error where one may cross zero on to the root.

    The way there from a state next to it is as short as the tolerances.
    """
    conditions = [e.condition for e in events if e.condition is not None]
    calls = "".join(f"float(f{i}(t, as_form(like, y), *rest)), " for i in range(len(conditions)))
    lines = f"    return np.array(({calls}), np.float64)\n" if calls else "    return np.empty(0)\n"
    values = _made("values", "t, y, like, rest", lines, conditions)
    check = _make_check([condition.py_func.__name__ for condition in conditions])

    @jit(error_model="numpy")
    def check_conditions(t, root, like, rest):
        there = values(t, root, like, rest)
        wide = 2.0 * NEAR * tolerance(root)  # as far as a state next to it
        slack = np.zeros(len(there))
        for i in range(len(root)):
            beside = root.copy()
            beside[i] += wide[i]
            slack += np.abs(values(t, beside, like, rest) - there)
        check(there, values(2.0 * t + 1.0, root, like, rest), slack)

    return check_conditions


def _make_check(names):
    """The compiled `check(there, later, slack)` of the values of conditions at a steady state."""
    lines, told = ["def check(there, later, slack):\n"], {}
    for i, name in enumerate(names):
        told[f"moves{i}"] = (
            f"nd.ode.steady_state: the condition {name} of an event depends on the time t where the system "
            "is at rest, so that it may happen at any time. Way out: nd.ode.at_times for known times"
        )
        told[f"zero{i}"] = (
            f"nd.ode.steady_state: the condition {name} of an event is zero at the steady state to the "
            "solver's tolerances, so that errors decide whether the event happens. Ways out: a condition "
            "that is not zero there, or smaller rtol and atol of the solver"
        )
        lines += [
            f"    if later[{i}] != there[{i}]:\n        raise ArgumentError(moves{i})\n",
            f"    if abs(there[{i}]) <= slack[{i}]:\n        raise SingularError(zero{i})\n",
        ]
    names = {"ArgumentError": ArgumentError, "SingularError": SingularError, **told}
    return jit(define("".join([*lines, "    return\n"]), names))
