"""Adaptive quadrature, for integrands that are floats or dual numbers.

Piessens et al., "QUADPACK" (Springer 1983): QAG, the interval with the largest error is halved until the
sum is as accurate as asked for, and QAGI's map of infinite ranges to (0, 1]. A dual number is as
accurate as its value and each of its partials, so derivatives are integrated to the same tolerances.
"""

import math

import numpy as np
from numba import njit
from numba.extending import overload, register_jitable

from ..forward.access import dtype_like, partial, primal, strip
from ..forward.dual import Dual
from .inlining import inlined
from .kronrod import COARSE_WEIGHTS, NODES, WEIGHTS

ACCURATE = 0
TOO_MANY = 1
NOT_FINITE = 2

ROUNDING = 50.0 * 2.0**-52
"""An error that is no larger, relative to the interval's integral, is that of the arithmetic."""

# How the variable of integration is made of `t`.
FINITE, UPWARDS, DOWNWARDS, BOTH = 0, 1, 2, 3


@inlined
def integrate(f, lower, upper, args, epsabs, epsrel, limit):
    """The integral of `f(x, *args)` from `lower` to `upper`, both floats, and a status."""
    sign = 1.0
    if lower > upper:
        lower, upper, sign = upper, lower, -1.0
    value, status = integrate_upwards(f, lower, upper, args, epsabs, epsrel, limit)
    return sign * value, status


@inlined
def integrate_upwards(f, lower, upper, args, epsabs, epsrel, limit):
    """The same for `lower <= upper`."""
    kind, origin = FINITE, 0.0
    if math.isinf(lower) or math.isinf(upper):
        kind = BOTH
        if not math.isinf(lower):
            kind, origin = UPWARDS, lower
        elif not math.isinf(upper):
            kind, origin = DOWNWARDS, upper
        empty = lower == upper
        lower, upper = 0.0, 0.0 if empty else 1.0
    return adapt(f, kind, origin, lower, upper, args, epsabs, epsrel, limit)


@inlined
def adapt(f, kind, origin, lower, upper, args, epsabs, epsrel, limit):
    """Halve the interval with the largest error until the sum is accurate.

    Here, in `kronrod` and in `integrand`, the integrand is called in one place: it is inlined there,
    and an integrand of fifty lines, inlined thirty times, took a minute to compile.
    """
    place, count, limit = 0, 1, max(limit, 1)
    for call in range(2 * limit - 1):  # of the whole range, then of two halves at a time
        part, error = kronrod(f, kind, origin, lower, upper, args)
        if call == 0:
            value, ratio = part, excess(error, part, part, epsabs, epsrel)
            if not ratio <= 1.0:
                lowers, uppers = np.empty(limit), np.empty(limit)
                values = np.empty(limit, dtype_like(value))
                errors = np.empty(limit, dtype_like(value))
                lowers[0], uppers[0], values[0], errors[0] = lower, upper, part, error
        else:
            values[place], errors[place] = part, error
            if call % 2 == 1:
                place, lower, upper = count, lowers[count], uppers[count]
                continue
            count += 1
            value = values[0]
            for k in range(1, count):
                value = value + values[k]
            ratio = 0.0
            for k in range(count):
                ratio += excess(errors[k], values[k], value, epsabs, epsrel)
        if ratio <= 1.0:
            return value, ACCURATE
        if not math.isfinite(ratio):
            return value, NOT_FINITE
        if count >= limit:
            break
        place = find_worst(values, errors, count, value, epsabs, epsrel)
        middle = 0.5 * (lowers[place] + uppers[place])
        lowers[count], uppers[count], uppers[place] = middle, uppers[place], middle
        lower, upper = lowers[place], middle
    return value, TOO_MANY


@njit(error_model="numpy")
def find_worst(values, errors, count, total, epsabs, epsrel):
    """The interval with the largest error."""
    worst, most = 0, -1.0
    for k in range(count):
        ratio = excess(errors[k], values[k], total, epsabs, epsrel)
        if ratio > most:
            worst, most = k, ratio
    return worst


@inlined
def kronrod(f, kind, origin, lower, upper, args):
    """The integral over an interval by 21 points, and what 10 of them say differently."""
    centre, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    for k in range(NODES.size):
        for side in range(2):
            offset = half * NODES[k]
            part = integrand(f, kind, origin, centre + offset if side else centre - offset, args)
            if side == 0:
                both = part
            else:
                both = both + part
        if k == 0:
            total, coarse = WEIGHTS[k] * both, COARSE_WEIGHTS[k] * both
        else:
            total, coarse = total + WEIGHTS[k] * both, coarse + COARSE_WEIGHTS[k] * both
    return half * total, half * (total - coarse)


@inlined
def integrand(f, kind, origin, t, args):
    """The integrand as a function of `t`, on (0, 1) where the range is infinite."""
    x, stretch = t, 1.0
    if kind != FINITE:
        x, stretch = (1.0 - t) / t, 1.0 / (t * t)
        if kind == UPWARDS:
            x = origin + x
        elif kind == DOWNWARDS:
            x = origin - x
    for side in range(2 if kind == BOTH else 1):
        part = f(x, *args)
        if side == 0:
            value = part
        else:
            value = value + part
        x = -x
    return stretch * value


def excess(error, part, total, epsabs, epsrel):
    """An error over what is allowed: the largest of those of a value and all of its partials."""
    raise NotImplementedError


@overload(excess)
def _excess(error, part, total, epsabs, epsrel):
    if not isinstance(error, Dual):
        return _excess_of_float
    n = error.n

    def largest(error, part, total, epsabs, epsrel):
        found = excess(strip(error), strip(part), strip(total), epsabs, epsrel)
        for i in range(n):
            here = excess(partial(error, i), partial(part, i), partial(total, i), epsabs, epsrel)
            if not here <= found:
                found = here
        return found

    return largest


@register_jitable
def _excess_of_float(error, part, total, epsabs, epsrel):
    if not math.isfinite(part):
        return math.inf
    allowed = max(epsabs, epsrel * abs(total))
    size = abs(error)
    return 0.0 if size <= ROUNDING * abs(part) or size == 0.0 else size / allowed


@inlined
def at_limit(f, place, displacement, args):
    """`f(place) * displacement`, by Leibniz's rule; an infinite limit does not move."""
    zero = 0.0 * displacement
    if math.isinf(primal(place)):
        return zero, True
    value = f(place, *args)
    return value * displacement, math.isfinite(primal(value))
