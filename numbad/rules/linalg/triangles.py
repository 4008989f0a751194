"""Systems with a lower triangle, by substitution; only the triangle is read.

Of `L X = B`: `dX = L^-1 (dB - tril(dL) X)`, `B_bar = L^-T X_bar`, `L_bar = -tril(B_bar X^T)`
(Giles, NA-08/01, section 2.2.3, for a triangle). Nothing is conjugated for complex numbers.
"""

import numpy as np
from numba import njit

from ..registry import implicit_rule
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
def _below_defect(low, b, x):
    return b - product(lower(low), x)


@njit
def _below_moved(residuals, moved):
    return below(residuals[0], moved)


@njit
def _below_pull(residuals, x_bar):
    low, x = residuals
    b_bar = above(low, x_bar)
    return -lower(product(b_bar, x.T)), b_bar


implicit_rule(below, _below_forward, _below_defect, _below_moved, _below_pull)


@njit
def _above_forward(low, b):
    x = above(low, b)
    return x, (low, x)


@njit
def _above_defect(low, b, x):
    return b - product(lower(low).T, x)


@njit
def _above_moved(residuals, moved):
    return above(residuals[0], moved)


@njit
def _above_pull(residuals, x_bar):
    low, x = residuals
    b_bar = below(low, x_bar)
    return -lower(product(x, b_bar.T)), b_bar


implicit_rule(above, _above_forward, _above_defect, _above_moved, _above_pull)
