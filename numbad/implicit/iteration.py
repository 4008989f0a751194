"""Fixed-point iteration, for plain floats."""

import math

import numpy as np
from numba import njit

from .newton import CONVERGED, NOT_FINITE, TOO_MANY, WRONG_LENGTH


@njit(error_model="numpy")
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


@njit(error_model="numpy")
def iterate_arrays(f, x, args, xtol, rtol, maxiter):
    """A fixed point of a function of an array that returns an array of the same length."""
    for _ in range(maxiter):
        new = f(x, *args)
        if new.size != x.size:
            return x, WRONG_LENGTH
        if not np.all(np.isfinite(new)):
            return x, NOT_FINITE
        small = np.all(np.abs(new - x) <= xtol + rtol * np.abs(new))
        x = new
        if small:
            return x, CONVERGED
    return x, TOO_MANY
