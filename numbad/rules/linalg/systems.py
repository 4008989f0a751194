"""`np.linalg.solve` and `np.linalg.inv`.

Of `A X = B`: `dX = A^-1 (dB - dA X)`, `B_bar = A^-T X_bar`, `A_bar = -B_bar X^T`; of `X = A^-1`:
`dX = -X dA X`, `A_bar = -X^T X_bar X^T` (M. Giles, "An extended collection of matrix derivative
results for forward and reverse mode algorithmic differentiation", Oxford University Computing
Laboratory NA-08/01, 2008, sections 2.2.3 and 2.3.1). Nothing is conjugated for complex numbers.
"""

import numpy as np
from numba import njit

from ..arrays.nests import jit
from ..arrays.table import is_array, stands_for
from ..registry import CONSTANT_CALLS, implicit_rule, linear_rule
from . import lapack
from .matrices import product
from .rule_calls import calling, is_matrix


@njit
def factored(a):
    """The factors of a matrix: they say how to solve, and have no derivative themselves."""
    for x in a.flat:
        if not np.isfinite(x):
            raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
    return lapack.factors(a)


CONSTANT_CALLS.add(factored)


@njit
def solution(a, lu, pivots, b):
    """The solution of `a @ x = b`, by the factors of `a`, at every order of differentiation."""
    return lapack.substitute(lu, pivots, b)


@njit
def solution_transposed(a, lu, pivots, b):
    """The solution of `a.T @ x = b`."""
    return lapack.substitute_transposed(lu, pivots, b)


@njit
def _forward(a, lu, pivots, b):
    x = solution(a, lu, pivots, b)
    return x, (a, lu, pivots, x)


@njit
def _defect(a, lu, pivots, b, x):
    return b - product(a, x)


@njit
def _solve_moved(residuals, moved):
    a, lu, pivots, _ = residuals
    return solution(a, lu, pivots, moved)


@njit
def _pull(residuals, x_bar):
    a, lu, pivots, x = residuals
    b_bar = solution_transposed(a, lu, pivots, x_bar)
    return -product(b_bar, x.T), None, None, b_bar


@njit
def _forward_transposed(a, lu, pivots, b):
    x = solution_transposed(a, lu, pivots, b)
    return x, (a, lu, pivots, x)


@njit
def _defect_transposed(a, lu, pivots, b, x):
    return b - product(a.T, x)


@njit
def _solve_moved_transposed(residuals, moved):
    a, lu, pivots, _ = residuals
    return solution_transposed(a, lu, pivots, moved)


@njit
def _pull_transposed(residuals, x_bar):
    a, lu, pivots, x = residuals
    b_bar = solution(a, lu, pivots, x_bar)
    return -product(x, b_bar.T), None, None, b_bar


implicit_rule(solution, _forward, _defect, _solve_moved, _pull)
implicit_rule(
    solution_transposed,
    _forward_transposed,
    _defect_transposed,
    _solve_moved_transposed,
    _pull_transposed,
)


@stands_for(np.linalg.solve)
def solve(a, b):
    if not (is_matrix(a) and is_array(b) and b.ndim in (1, 2) and a.dtype == b.dtype):
        return None
    if b.ndim == 2:
        return _solve
    lines = ["def solve(a, b):", "    column = np.ascontiguousarray(b).reshape((b.size, 1))"]
    return jit([*lines, "    return of_columns(a, column).T.ravel()"], of_columns=_solve)


@njit
def _solve(a, b):
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    if a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    lu, pivots = factored(a)
    return solution(a, lu, pivots, b)


# -- inverse -------------------------------------------------------------------------------------


@njit
def inverse(a):
    return np.linalg.inv(a)


@njit
def _inverse_forward(a):
    x = inverse(a)
    return x, x


@njit
def _inverse_push(x, tangents):
    return -product(product(x, tangents[0]), x)


@njit
def _inverse_pull(x, x_bar):
    return (-product(product(x.T, x_bar), x.T),)


linear_rule(inverse, _inverse_forward, _inverse_push, _inverse_pull)


@stands_for(np.linalg.inv)
def inv(a):
    return calling(inverse, "a") if is_matrix(a) else None
