"""Whether a solution is one where the implicit function theorem holds, as far as floats can tell.

At a double root, Newton's method ends at the tolerance, where the derivative of the equation is small
but not zero; it would give derivatives that are large and wrong. What tells such a place is that the
derivative changes by as much as itself within the tolerance.
"""

import math

import numpy as np
from numba import njit

from .newton import newton_step

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
    width = 4.0 * (xtol + rtol * np.abs(x)) + SQRT_EPS * np.abs(x)
    width = np.where(width > 0.0, width, SQRT_EPS)
    scaled = slope * width
    if not np.all(np.isfinite(scaled)):
        return x, False
    right = row_sizes(scaled)
    for k in range(right.size):
        right[k] *= 1.0 + k / right.size if k % 3 else -1.0
    found, is_found = newton_step(scaled, right)
    if not is_found:
        return x, False
    return width * (found / np.max(np.abs(found))), True


@njit(error_model="numpy")
def row_sizes(a):
    """The largest magnitude in each row."""
    out = np.empty(a.shape[0])
    for k in range(out.size):
        out[k] = np.max(np.abs(a[k]))
    return out


@njit(error_model="numpy")
def is_regular_along(slope, weak, other):
    """As `is_regular`, along the weakest displacement; `other` is the derivative along it nearby."""
    here = slope @ weak
    size = row_sizes(slope * weak)
    size = np.where(size > 0.0, size, 1.0)
    return not np.max(np.abs(other - here) / size) >= np.max(np.abs(here) / size)
