"""Minima for plain floats: Brent's method between two places, Newton's with a line search from one.

Brent, "Algorithms for Minimization without Derivatives" (1973), ch. 5; Nocedal & Wright, "Numerical
Optimization" (2nd ed., Springer 2006), algorithm 3.2 and 3.3. Values of a function tell its minimum to
half of the digits; so the gradient's root is what is found in the end, by Newton's method.
"""

import math

import numpy as np
from numba import njit

from .inlining import inlined
from .lapack_status import is_positive_definite
from .newton import (
    CONVERGED,
    NO_MINIMUM,
    NOT_FINITE,
    TOO_MANY,
    largest,
    moved,
    newton,
    newton_of_array,
    newton_step,
)

GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
NEAR = 1e-6
"""How near to a minimum, relative to the solution, Newton's method on the gradient takes over."""

ENOUGH = 1e-4
"""The part of the decrease that the gradient promises which a step must bring (Armijo)."""


@inlined
def minimize_in_bracket(f, linear, x, args, lower, upper, xtol, rtol, maxiter):
    """A minimum of a function of a float between two places."""
    if lower > upper:
        lower, upper = upper, lower
    x, status = brent(f, args, lower, upper, xtol, maxiter)
    if status != CONVERGED:
        return x, status
    x, status = newton(linear, x, args, xtol, rtol, maxiter)
    inside = lower < x < upper and linear(x, *args)[1] > 0.0
    return x, CONVERGED if inside and status == CONVERGED else NO_MINIMUM


@inlined
def brent(f, args, a, b, xtol, maxiter):
    """A minimum to about `NEAR`; `v`, `w`, `x` are the best places, in Brent's letters."""
    x = w = v = a + GOLDEN * (b - a)
    fx = fw = fv = f(x, *args)
    d = e = 0.0
    for _ in range(maxiter):
        m = 0.5 * (a + b)
        tol = NEAR * abs(x) + xtol
        if not math.isfinite(fx):
            return x, NOT_FINITE
        if abs(x - m) <= 2.0 * tol - 0.5 * (b - a):
            return x, CONVERGED
        p = q = 0.0
        if abs(e) > tol:  # a parabola through the three
            r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
            p = (x - v) * q - (x - w) * r
            q = 2.0 * (q - r)
            p, q = -p if q > 0.0 else p, abs(q)
        if abs(p) < abs(0.5 * q * e) and q * (a - x) < p < q * (b - x):
            e, d = d, p / q
            if x + d - a < 2.0 * tol or b - x - d < 2.0 * tol:
                d = math.copysign(tol, m - x)
        else:
            e = (a if x >= m else b) - x
            d = GOLDEN * e
        u = x + (d if abs(d) >= tol else math.copysign(tol, d))
        fu = f(u, *args)
        if fu <= fx:
            a, b = (a, x) if u < x else (x, b)
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
        else:
            a, b = (u, b) if u < x else (a, u)
            if fu <= fw or w == x:
                v, fv, w, fw = w, fw, u, fu
            elif fu <= fv or v in (x, w):
                v, fv = u, fu
    return x, TOO_MANY


@inlined
def minimize_float(f, linear, x, args, xtol, rtol, maxiter):
    """A minimum of a function of a float, from a start."""
    fx = f(x, *args)
    for _ in range(maxiter):
        slope, curvature = linear(x, *args)
        if not (math.isfinite(fx) and math.isfinite(slope)):
            return x, NOT_FINITE
        step = -slope / curvature if curvature > 0.0 else -slope
        part = 1.0
        near = not abs(step) > NEAR * abs(x) + xtol
        while not near:
            fu = f(x + part * step, *args)
            if fu <= fx + ENOUGH * part * step * slope:
                x, fx = x + part * step, fu
                break
            part *= 0.5
            near = abs(part * step) <= NEAR * abs(x) + xtol
        if near:
            x, status = newton(linear, x, args, xtol, rtol, maxiter)
            least = linear(x, *args)[1] > 0.0
            return x, status if least or status != CONVERGED else NO_MINIMUM
    return x, TOO_MANY


@inlined
def minimize_array(f, linear, x, args, xtol, rtol, maxiter):
    """A minimum of a function of an array, from a start."""
    fx = f(x, *args)
    for _ in range(maxiter):
        slope, curvature = linear(x, *args)
        if not (math.isfinite(fx) and math.isfinite(largest(slope))):
            return x, NOT_FINITE
        step = downhill(slope, curvature)
        decrease = 0.0
        for k in range(x.size):
            decrease += step[k] * slope[k]
        part = 1.0
        near = not largest(step) > NEAR * largest(x) + xtol
        while not near:
            trial = moved(x, part, step)
            fu = f(trial, *args)
            if fu <= fx + ENOUGH * part * decrease:
                x, fx = trial, fu
                break
            part *= 0.5
            near = part * largest(step) <= NEAR * largest(x) + xtol
        if near:
            x, status = newton_of_array(linear, x, args, xtol, rtol, maxiter)
            least = is_positive_definite(linear(x, *args)[1])
            return x, status if least or status != CONVERGED else NO_MINIMUM
    return x, TOO_MANY


@njit(error_model="numpy")
def downhill(slope, curvature):
    """A Newton step with as much of the identity added to the matrix as makes it definite."""
    n = slope.size
    matrix = np.empty((n, n))
    size = 0.0
    for i in range(n):
        for j in range(n):
            matrix[i, j] = 0.5 * (curvature[i, j] + curvature[j, i])
        size = max(size, largest(matrix[i]))
    added = 0.0
    more = 1e-3 * size if size > 0.0 else 1.0
    for _ in range(60):
        if is_positive_definite(matrix):
            break
        for i in range(n):
            matrix[i, i] += more - added
        added, more = more, 2.0 * more
    step, found = newton_step(matrix, slope)
    return step if found else moved(slope, -2.0, slope)
