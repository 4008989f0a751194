"""Newton's method, for plain floats: damped by a line search, or kept within a bracket.

Dennis & Schnabel, "Numerical Methods for Unconstrained Optimization and Nonlinear Equations" (SIAM
1996), ch. 6; the safeguard of the bracket is that of Brent, "Algorithms for Minimization without
Derivatives" (1973), ch. 4.

`linear(x, *args)` gives value and derivative. All return the solution and a status.
"""

import math

import numpy as np
from numba import njit

from .inlining import inlined
from .lapack_status import all_finite, solve_floats

CONVERGED = 0
TOO_MANY = 1
STUCK = 2
NOT_FINITE = 3
NO_SIGN_CHANGE = 4
JUMP = 5
WRONG_LENGTH = 6
NO_MINIMUM = 7

SHORTEST = 2.0**-100
"""The shortest part of a step that a line search tries."""

SHORT = 2.0**-6
"""A part of a step that is short enough to tell noise."""

NOISE = 1e-7
"""A step that no longer makes the residual smaller is at the noise of the function if it is this
small, relative to the solution."""


@inlined
def newton(linear, x, args, xtol, rtol, maxiter):
    """A root of a function of a float."""
    value, slope = linear(x, *args)
    if not math.isfinite(value):
        return x, NOT_FINITE
    for _ in range(maxiter):
        if value == 0.0:
            return x, CONVERGED
        step = -value / slope
        if not math.isfinite(step):
            return x, STUCK
        tolerance = xtol + rtol * abs(x)
        part = 1.0
        while True:
            new_value, new_slope = linear(x + part * step, *args)
            if abs(new_value) < abs(value):
                break
            if abs(step) <= tolerance:
                return x, CONVERGED
            part *= 0.5
            if part < SHORT and abs(step) <= NOISE * abs(x):
                return x, CONVERGED
            if part < SHORTEST:
                return x, STUCK
        x += part * step
        value, slope = new_value, new_slope
        if abs(step) <= tolerance:
            return x, CONVERGED
    return x, TOO_MANY


@inlined
def newton_in_bracket(linear, x, args, lower, upper, xtol, rtol, maxiter):
    """A root of a function of a float between two places where its signs differ."""
    at_lower, at_upper = linear(lower, *args)[0], linear(upper, *args)[0]
    if at_lower == 0.0:
        return lower, CONVERGED
    if at_upper == 0.0:
        return upper, CONVERGED
    if not at_lower * at_upper < 0.0:
        return x, NO_SIGN_CHANGE
    if at_lower > 0.0:
        lower, upper = upper, lower  # the function is negative at `lower`
    if not min(lower, upper) <= x <= max(lower, upper):
        x = 0.5 * (lower + upper)
    highest = max(abs(at_lower), abs(at_upper))
    last = before = abs(upper - lower)
    for _ in range(maxiter):
        value, slope = linear(x, *args)
        if not math.isfinite(value):
            return x, NOT_FINITE
        if value == 0.0:
            return x, CONVERGED
        if value < 0.0:
            lower = x
        else:
            upper = x
        step = -value / slope
        inside = min(lower, upper) < x + step < max(lower, upper)
        if not (inside and abs(step) <= 0.5 * before):
            step = 0.5 * (lower + upper) - x
        before, last = last, abs(step)
        x += step
        if last <= xtol + rtol * abs(x) or x in (lower, upper):
            return x, CONVERGED if abs(value) <= highest else JUMP
    return x, TOO_MANY


@inlined
def newton_of_array(linear, x, args, xtol, rtol, maxiter):
    """A root of a function of an array that returns an array of the same length."""
    value, slope = linear(x, *args)
    if value.size != x.size:
        return x, WRONG_LENGTH
    if not all_finite(value):
        return x, NOT_FINITE
    size = norm(value)
    for _ in range(maxiter):
        if size == 0.0:
            return x, CONVERGED
        step, found = newton_step(slope, value)
        if not found:
            return x, STUCK
        small = is_within(step, x, xtol, rtol)
        part = 1.0
        while True:
            trial = moved(x, part, step)
            new_value, new_slope = linear(trial, *args)
            if norm(new_value) < size:
                break
            if small:
                return x, CONVERGED
            part *= 0.5
            if part < SHORT and largest(step) <= NOISE * largest(x):
                return x, CONVERGED
            if part < SHORTEST:
                return x, STUCK
        x, value, slope, size = trial, new_value, new_slope, norm(new_value)
        if small:
            return x, CONVERGED
    return x, TOO_MANY


@njit(error_model="numpy")
def newton_step(slope, value):
    """`-slope^-1 value`, and whether there is such."""
    right = np.empty((value.size, 1))
    for k in range(value.size):
        right[k, 0] = -value[k]
    step, found = solve_floats(slope, right)
    return step[:, 0], found


@njit(error_model="numpy")
def moved(x, part, step):
    """`x + part * step`."""
    out = np.empty(x.size)
    for k in range(x.size):
        out[k] = x[k] + part * step[k]
    return out


@njit(error_model="numpy")
def norm(a):
    """The Euclidean norm, NaN where a number is."""
    total = 0.0
    for x in a:
        total += x * x
    return math.sqrt(total)


@njit(error_model="numpy")
def largest(a):
    """The largest magnitude in a vector, zero where it is empty."""
    found = 0.0
    for x in a:
        found = max(found, abs(x))
    return found


@njit(error_model="numpy")
def is_within(step, x, xtol, rtol):
    """Whether every component of a step is below the tolerance at `x`."""
    for k in range(x.size):  # noqa: SIM110 (Numba has no `all` of a generator)
        if not abs(step[k]) <= xtol + rtol * abs(x[k]):
            return False
    return True
