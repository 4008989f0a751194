"""Systems with a lower triangle, by substitution; only the triangle is read.

Of `L X = B`: `dX = L^-1 (dB - tril(dL) X)`, `B_bar = L^-T X_bar`, `L_bar = -tril(B_bar X^T)`
(Giles, NA-08/01, section 2.2.3, for a triangle). Nothing is conjugated for complex numbers.
"""

import numpy as np
from numba import njit

from ..registry import linear_rule
from . import lapack
from .matrices import lower, product


@njit
def below(low, b):
    """The solution of `low @ x = b`."""
    return lapack.forward_substitution(np.ascontiguousarray(low), b)


@njit
def above(low, b):
    """The solution of `low.T @ x = b`."""
    return lapack.back_substitution(np.ascontiguousarray(low), b)


@njit
def _below_forward(low, b):
    x = below(low, b)
    return x, (low, x)


@njit
def _below_push_l(residuals, tangents):
    low, x = residuals
    return -below(low, product(lower(tangents[0]), x))


@njit
def _below_push_b(residuals, tangents):
    return below(residuals[0], tangents[1])


@njit
def _below_push_both(residuals, tangents):
    low, x = residuals
    return below(low, tangents[1] - product(lower(tangents[0]), x))


@njit
def _below_pull(residuals, x_bar):
    low, x = residuals
    b_bar = above(low, x_bar)
    return -lower(product(b_bar, x.T)), b_bar


@njit
def _above_forward(low, b):
    x = above(low, b)
    return x, (low, x)


@njit
def _above_push_l(residuals, tangents):
    low, x = residuals
    return -above(low, product(lower(tangents[0]).T, x))


@njit
def _above_push_b(residuals, tangents):
    return above(residuals[0], tangents[1])


@njit
def _above_push_both(residuals, tangents):
    low, x = residuals
    return above(low, tangents[1] - product(lower(tangents[0]).T, x))


@njit
def _above_pull(residuals, x_bar):
    low, x = residuals
    b_bar = below(low, x_bar)
    return -lower(product(x, b_bar.T)), b_bar


def _by_arguments(by_l, by_b, by_both):
    return {(True, False): by_l, (False, True): by_b, (True, True): by_both}


_PUSH_BELOW = _by_arguments(_below_push_l, _below_push_b, _below_push_both)
_PUSH_ABOVE = _by_arguments(_above_push_l, _above_push_b, _above_push_both)
linear_rule(below, _below_forward, _PUSH_BELOW, _below_pull)
linear_rule(above, _above_forward, _PUSH_ABOVE, _above_pull)
