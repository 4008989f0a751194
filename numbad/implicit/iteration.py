"""Fixed-point iteration, for plain floats."""

import math

from .inlining import inlined
from .lapack_status import all_finite
from .newton import CONVERGED, NOT_FINITE, TOO_MANY, WRONG_LENGTH, is_within, largest, moved


@inlined
def iterate(f, x, args, xtol, rtol, maxiter):
    """A fixed point of a function of a float; of numbers below 1, `xtol` is a part of the largest."""
    largest_seen = abs(x)
    for _ in range(maxiter):
        new = f(x, *args)
        if not math.isfinite(new):
            return x, NOT_FINITE
        if largest_seen < 1.0:
            largest_seen = max(largest_seen, abs(new))
        change, x = abs(new - x), new
        if change <= xtol * min(1.0, largest_seen) + rtol * abs(x):
            return x, CONVERGED
    return x, TOO_MANY


@inlined
def iterate_arrays(f, x, args, xtol, rtol, maxiter):
    """A fixed point of a function of an array that returns an array of the same length."""
    largest_seen = largest(x)
    for _ in range(maxiter):
        new = f(x, *args)
        if new.size != x.size:
            return x, WRONG_LENGTH
        if not all_finite(new):
            return x, NOT_FINITE
        if largest_seen < 1.0:
            largest_seen = max(largest_seen, largest(new))
        absolute = xtol * min(1.0, largest_seen)
        small = is_within(moved(new, -1.0, x), new, absolute, rtol)
        x = moved(new, 0.0, new)  # a copy: `f` may return what it has been given
        if small:
            return x, CONVERGED
    return x, TOO_MANY
