"""The first of several conditions that crosses zero along a solution, and the two sides of where it does.

What the search on the CPU and the trajectories of a GPU have in common: all of it is tuples of floats.
"""

import math
from collections import namedtuple

from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.crossing import (
    NOWHERE,
    PLACES,
    earliest,
    make_scan,
    next_to,
    spacing_at_one,
)
from numbad.ode.short_tuples import item, replaced
from numbad.ode.state import combine, restored

# The fraction of a first step after which an event that has just happened can be seen to happen again.
SHORTEST = 1e-12

# Distances between the two sides of an event, in doublings of the spacing between numbers.
WIDEST_GAP = 40

# A condition that its event's change has left with more than so many times what it was right after the event
# has been set to the other side of zero: less is a rounding.
AWAY = 1000.0

# How many numbers one goes back to be before an event.
LARGEST_RETREAT = 10

# Events are at once, as the last bounces of a ball, within so many spacings of numbers next to 1, as part of
# the time; so many in a row are told.
AT_ONCE, MOST_CROWDED = 450.0, 100

# What is known of the conditions where a search begins: with which slopes those that have just happened have
# crossed zero (`crossed_by`), what all were right `beyond` that, without the change of the event, how far
# from zero errors alone may move them (`bands`, see `hysteresis`), and their values `before`, or 0.
Past = namedtuple("Past", "crossed_by beyond bands before")

# The compiled pieces, in the order in which a search calls them. A `step` is as `make_scan` takes it, and so
# are `before` and `low`; `goes_to` are the signs that conditions will soon have, where that is known.
FirstCrossing = namedtuple("FirstCrossing", "known begin first last_before gap_after has_slopes")


def make_first_crossing(watch, interpolate, directions):
    """The pieces for `Conditions`."""
    count, zeros = len(directions), (0.0,) * len(directions)
    values = watch.values
    value, begin_scan, scan = make_scan(values, interpolate, directions)

    @inlined
    def known(now, onset, start, fired, past):
        """(before, goes_to) at the `start`, (t, t_end), where the conditions are `now` and change by `onset`.

        As bits of `fired` those that have just happened; `past` is a `Past`.
        """
        crossed_by, beyond, bands, last = past
        before, goes_to = now, zeros
        t, t_end = start
        way = 1.0 if t_end > t else -1.0
        for i in range(count):
            has_fired, crossed, g = fired >> i & 1, way * item(crossed_by, i), item(now, i)
            rounding = abs(item(beyond, i)) + abs(crossed * t) * spacing_at_one()
            # The change of an event may have set it back to before it, or further on.
            if has_fired and g * crossed >= 0.0 and not abs(g) > AWAY * rounding:
                before = replaced(before, i, 0.0)
            rate, band, had = way * item(onset, i), item(bands, i), item(last, i)
            if band > 0.0:
                # The errors of a stiff system may move it so far, and decide how it moves at first.
                turns = had == 0.0 or (item(directions, i) != 0 and had * g < 0.0)
                if abs(g) <= band and (has_fired or turns):
                    before = replaced(before, i, 0.0 if has_fired else had)
            elif item(before, i) == 0.0 and (not has_fired or rate * crossed < 0.0):
                goes_to = replaced(goes_to, i, rate)
        return before, goes_to

    @inlined
    def begin(step, before, goes_to, bands, soon):
        """(before, low, status) in the first step; `soon`: from where what is zero at its start counts.

        What has just happened, and happens again at once, is seen to: as bounces of a ball are.
        """
        before, low = begin_scan(step, before, zeros, bands, soon)
        status = failure.RUNNING
        for i in range(count):
            sign, theta, g = item(goes_to, i), item(low, i), item(before, i)
            while g * sign < 0.0 and theta > SHORTEST:
                theta *= 0.0625
                g = value(i, theta, step)
            before, low = replaced(before, i, g), replaced(low, i, theta)
            if g * sign < 0.0:
                status = failure.EVENTS_ACCUMULATE
        return before, low, status

    @inlined
    def first(step, before, low, bands):
        """(status, hit, which, before, low): as bits of `hit` the conditions that cross zero first."""
        status, hit, which = failure.RUNNING, 0, 0
        for place in range(PLACES):
            before, low, high = scan(place, step, before, low, bands)
            which, theta = earliest(high)
            if math.isnan(theta):
                status = failure.CONDITION_NOT_A_NUMBER
                break
            if theta < NOWHERE:
                for i in range(count):
                    if item(high, i) < NOWHERE and item(low, i) <= theta:
                        hit |= 1 << i
                break
        return status, hit, which, before, low

    @inlined
    def last_before(which, theta, step, sign):
        """A time at which the condition has its old sign in a state that is found again from the time."""
        t, h = step[1], step[2]
        time = t + theta * h
        for _ in range(LARGEST_RETREAT):
            if value(which, (time - t) / h, step) * sign > 0.0:
                break
            time = next_to(time, -h)
        return time

    @inlined
    def gap_after(which, sign, time, h, row, state, slope, structure, args):
        """(gap, values): how long after `time` the condition has its new sign, and all of them there."""
        gap = next_to(time, h) - time
        for _ in range(WIDEST_GAP):
            moved = combine(row, state, gap, (1.0,), (slope,))
            now = values(time + gap, restored(structure, moved), args)
            if item(now, which) * sign < 0.0:
                break
            gap *= 2.0
        return gap, now

    @inlined
    def has_slopes(hit, rates):
        """Whether those that happen change where they do."""
        found = True
        for i in range(count):
            found = found and (not hit >> i & 1 or abs(item(rates, i)) > 0.0)
        return found

    return FirstCrossing(known, begin, first, last_before, gap_after, has_slopes)


@inlined
def count_crowded(crowded, t, after):
    """How many events in a row have happened right after another, with one at `after`."""
    near = AT_ONCE * spacing_at_one() * abs(after)
    return crowded + 1 if abs(after - t) <= near else 0
