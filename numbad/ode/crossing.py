"""Where a condition on the solution crosses zero within a step.

I. F. D. Oliveira, R. H. C. Takahashi, "An Enhancement of the Bisection Method Average Performance
Preserving Minmax Optimality", ACM TOMS 47 (2020), doi:10.1145/3423597, with kappa_2 = 2 and n0 = 1.
"""

import math

import numpy as np

from numbad.ode.compiling import inlined
from numbad.ode.short_tuples import item, replaced
from numbad.ode.state import restored

EPSILON = float(np.finfo(float).eps)

# A step is looked at at so many places.
PLACES = 4

# The fraction of a step after which what happened at its beginning is over.
SOON = 2.0**-10

# In `high`, of a condition that does not cross zero.
NOWHERE = 2.0

# How far the trials keep away from the secant's zero, per squared length.
KAPPA_1 = 0.2
LARGEST_TRIALS = 200


@inlined
def crosses(before, after, direction):
    """Whether a condition has crossed zero, in the direction asked for."""
    if before < 0.0:
        return after >= 0.0 and direction >= 0
    return before > 0.0 and after <= 0.0 and direction <= 0


@inlined
def next_trial(low, high, g_low, g_high, length, radius, resolution):
    """The next place to look at for a zero between `low` and `high`, by ITP: outside where there is none.

    `length` is that of the first bracket, `radius` half of what bisection would have left by now, with one
    trial to spare.
    """
    middle = 0.5 * (low + high)
    secant = (g_high * low - g_low * high) / (g_high - g_low)
    towards = 1.0 if middle > secant else -1.0
    shift = KAPPA_1 * (high - low) * (high - low) / length
    # A shift within the resolution would leave the far end where it is.
    shift = max(shift, 0.5 * resolution)
    point = secant + towards * shift if shift <= abs(middle - secant) else middle
    reach = max(radius - 0.5 * (high - low), 0.0)
    if abs(point - middle) > reach:
        point = middle - towards * reach
    return point if low < point < high else middle


def make_bracket(value):
    """The compiled `bracket(i, low, high, g_low, g_high, resolution, rest) -> (low, high)`.

    `value(i, theta, rest)` is condition number `i` at a fraction of the step; it has another sign, or is
    zero, at `high`. What comes out is not longer than `resolution`, and has the same signs at its ends.
    """

    @inlined
    def bracket(i, low, high, g_low, g_high, resolution, rest):
        length = high - low
        radius = length  # that of bisection, with one trial to spare
        trial = 0
        while high - low > resolution and trial < LARGEST_TRIALS:
            point = next_trial(low, high, g_low, g_high, length, radius, resolution)
            if not low < point < high:
                break
            g = value(i, point, rest)
            if (g < 0.0) == (g_low < 0.0) and g != 0.0:
                low, g_low = point, g
            else:
                high, g_high = point, g
            radius *= 0.5
            trial += 1
        return low, high

    return bracket


def make_scan(values, interpolate, directions):
    """The compiled `value(i, theta, step)`, `begin` and `scan`, for conditions `values(t, y, args)`.

    `step` is (row, t, h, y, dense, structure, args), with a row that the states are put into. Of condition
    `i`, `before[i]` is the last value that was not zero, `low[i]` where in the step it was. Within `bands[i]`
    of zero it keeps the sign it had, or none, until it crosses in its direction. All are tuples: a GPU has no
    memory for arrays.
    """
    count, none = len(directions), (NOWHERE,) * len(directions)

    @inlined
    def all_values(theta, step):
        row, t, h, y, dense, structure, args = step
        state = interpolate(row, theta, h, y, dense)
        return values(t + theta * h, restored(structure, state), args)

    @inlined
    def value(i, theta, step):
        return item(all_values(theta, step), i)

    bracket = make_bracket(value)

    @inlined
    def begin(step, before, low, bands, soon):
        """What is zero at the beginning of the first step counts from `soon` after on."""
        for i in range(count):
            if item(before, i) == 0.0 and item(bands, i) == 0.0:
                before, low = replaced(before, i, value(i, soon, step)), replaced(low, i, soon)
        return before, low

    @inlined
    def scan(place, step, before, low, bands):
        """Where the conditions cross zero before `place`: (before, low, high), from `low[i]` to `high[i]`.

        `high[i]` is `NOWHERE` for one that does not, NaN for one that is NaN.
        """
        theta = (place + 1) / PLACES
        t, h = step[1], step[2]
        found, high = all_values(theta, step), none
        for i in range(count):
            g_low, g_high, start = item(before, i), item(found, i), item(low, i)
            if theta <= start:
                pass
            elif crosses(g_low, g_high, item(directions, i)):
                least = spacing_at_one()
                resolution = max(2.0 * max(abs(t), abs(t + h)) * least / abs(h), least)
                start, end = bracket(i, start, theta, g_low, g_high, resolution, step)
                low, high = replaced(low, i, start), replaced(high, i, end)
            elif g_low * g_high > 0.0 or abs(g_high) > item(bands, i):
                before, low = replaced(before, i, g_high), replaced(low, i, theta)
            if math.isnan(g_high):
                high = replaced(high, i, math.nan)
        return before, low, high

    return value, begin, scan


@inlined
def earliest(high):
    """Which condition crosses zero first, and where: `NOWHERE` where none does, NaN where one is NaN."""
    which, first = 0, high[0]
    for i in range(1, len(high)):
        place = item(high, i)
        if not math.isnan(first) and not place >= first:
            which, first = i, place
    return which, first


@inlined
def spacing_at_one():
    """The spacing of numbers next to 1: EPSILON, or that of float32 in code that is narrowed to it."""
    return next_to(1.0, 1.0) - 1.0


@inlined
def next_to(t, direction):
    """The number next to `t` in a direction."""
    return math.nextafter(t, math.inf if direction > 0.0 else -math.inf)
