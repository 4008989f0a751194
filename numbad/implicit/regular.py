"""Whether a solution is one where the implicit function theorem holds, as far as floats can tell.

At a double root, Newton's method ends at the tolerance, where the derivative of the equation is small
but not zero; it would give derivatives that are large and wrong. What tells such a place is that the
derivative changes by as much as itself within the tolerance.
"""

import math

import numpy as np
from numba import njit

from .newton import largest, newton_step

SQRT_EPS = 2.0**-26


@njit(error_model="numpy")
def nearby(x, xtol, rtol):
    """How far away from `x` another solution would not be told from it."""
    return 4.0 * (xtol + rtol * abs(x)) + SQRT_EPS * abs(x)


@njit(error_model="numpy")
def is_regular(slope, other):
    """Whether a slope is one, given that nearby; what is not finite nearby tells nothing."""
    if slope == 0.0 or not math.isfinite(slope):
        return False
    return not abs(other - slope) >= abs(slope)


@njit(error_model="numpy")
def weakest(x, slope, xtol, rtol):
    """The displacement within the tolerance that changes the equation least, and if there is one.

    Found by one solve, with each row and column of the matrix scaled to one: so it depends neither
    on the units of the unknowns nor on those of the equations.
    """
    n = x.size
    width, scaled, right = np.empty(n), np.empty((n, n)), np.empty(n)
    for k in range(n):
        width[k] = nearby(x[k], xtol, rtol)
        if width[k] == 0.0:
            width[k] = SQRT_EPS
    for i in range(n):
        for k in range(n):
            scaled[i, k] = slope[i, k] * width[k]
        right[i] = largest(scaled[i]) * (1.0 + i / n if i % 3 else -1.0)
    weak, found = newton_step(scaled, right)
    size = largest(weak)
    for k in range(n):
        weak[k] *= width[k] / size
    return weak, found


@njit(error_model="numpy")
def is_regular_along(slope, weak, other):
    """As `is_regular`, along the weakest displacement; `other` is the derivative along it nearby."""
    change = here = 0.0
    for i in range(weak.size):
        size = along = 0.0
        for k in range(weak.size):
            term = slope[i, k] * weak[k]
            along += term
            size = max(size, abs(term))
        if size > 0.0:
            here = max(here, abs(along) / size)
            change = max(change, abs(other[i] - along) / size)
    return here > 0.0 and not change >= here
