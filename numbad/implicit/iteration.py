"""Fixed-point iteration, for plain floats."""

import math

from .inlining import inlined
from .lapack_status import all_finite
from .newton import CONVERGED, NOT_FINITE, TOO_MANY, WRONG_LENGTH, is_within, moved


@inlined
def iterate(f, x, args, xtol, rtol, maxiter):
    """A fixed point of a function of a float."""
    for _ in range(maxiter):
        new = f(x, *args)
        if not math.isfinite(new):
            return x, NOT_FINITE
        change, x = abs(new - x), new
        if change <= xtol + rtol * abs(x):
            return x, CONVERGED
    return x, TOO_MANY


@inlined
def iterate_arrays(f, x, args, xtol, rtol, maxiter):
    """A fixed point of a function of an array that returns an array of the same length."""
    for _ in range(maxiter):
        new = f(x, *args)
        if new.size != x.size:
            return x, WRONG_LENGTH
        if not all_finite(new):
            return x, NOT_FINITE
        small = is_within(moved(new, -1.0, x), new, xtol, rtol)
        x = moved(new, 0.0, new)  # a copy: `f` may return what it has been given
        if small:
            return x, CONVERGED
    return x, TOO_MANY
