"""Conditions that are watched along a solution, where what happens changes nothing but its end."""

import math
from collections import namedtuple

import numpy as np

from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.conditions import Conditions
from numbad.ode.crossing import NOWHERE, PLACES, SOON, earliest, make_scan
from numbad.ode.short_tuples import item, replaced
from numbad.ode.state import restored, table_for
from numbad.ode.tables import FIRST_ROWS, enlarged, with_row

# What to watch: conditions, their directions, and how many crossings of each end the solution (0: none do).
Watched = namedtuple("Watched", "conditions directions counts")
UNWATCHED = Watched((), (), ())

# The compiled pieces: `begin(t, y, structure, args) -> events`, and `step(step, is_first, t_new, events) ->
# (status, events, ended, t)`, t being that of the event that has ended the solution, or `t_new`. `events`
# are the number of those found, their times, states and numbers, and what is known of the conditions.
Watch = namedtuple("Watch", "watches begin step")


def make_watch(pieces, watched, y0, args):
    """The pieces for conditions, of states and arguments of given types."""
    conditions, directions, counts = watched
    watch = Conditions(conditions, y0, args)
    values = watch.values
    _, begin_scan, scan = make_scan(values, pieces.interpolate, directions)
    interpolate, zeros = pieces.interpolate, (0.0,) * len(conditions)

    @inlined
    def begin(t, y, structure, args):
        now = values(t, restored(structure, y), args)
        numbers, left = np.empty(FIRST_ROWS, np.int64), np.array(counts)
        return 0, np.empty(FIRST_ROWS), table_for(FIRST_ROWS, y), numbers, now, zeros, left

    @inlined
    def step(at, is_first, t_new, events):
        found, times, states, numbers, before, low, left = events
        row, t, h, y, dense = at[:5]
        ended, t_last, status = False, t_new, failure.RUNNING
        if is_first:
            before, low = begin_scan(at, before, low, zeros, SOON)
        for place in range(PLACES):
            before, low, high = scan(place, at, before, low, zeros)
            which, theta = earliest(high)
            if math.isnan(theta):
                status = failure.CONDITION_NOT_A_NUMBER
                break
            while theta < NOWHERE and not ended:
                before = replaced(before, which, -item(before, which))
                low = replaced(low, which, theta)
                if found == len(numbers):
                    numbers = enlarged(numbers, 2 * found)
                numbers[found] = which
                state = interpolate(row, theta, h, y, dense)
                times, states, found = with_row(times, states, found, t + theta * h, state)
                left[which] -= 1
                if left[which] == 0:
                    ended, t_last = True, t + theta * h
                high = replaced(high, which, NOWHERE)
                which, theta = earliest(high)
            if ended:
                break
        return status, (found, times, states, numbers, before, zeros, left), ended, t_last

    return Watch(True, begin, step)


@inlined
def _begin_nothing(t, y, structure, args):
    return 0, np.empty(0), table_for(0, y), np.empty(0, np.int64)


@inlined
def _step_nothing(at, is_first, t_new, events):
    return failure.RUNNING, events, False, t_new


WATCHES_NOTHING = Watch(False, _begin_nothing, _step_nothing)
