"""`np.linalg.norm` of every order, `cond`, `matrix_power`; `matrix_rank` is a constant.

The Euclidean norm and that of Frobenius have the derivative `Re(x^H dx) / |x|`, and 0 at 0, as
`math.hypot` has; the spectral norm is a singular value. All others are sums and extrema of moduli.
"""

import numpy as np
from numba import njit
from numba.core import types

from ..arrays.table import is_array, is_none, stands_for
from ..registry import CONSTANT_CALLS, linear_rule
from .matrices import product
from .rule_calls import calling, is_matrix
from .singular import singular_values
from .systems import inverse


@njit
def euclidean(x):
    """The square root of the sum of the squared moduli of the elements."""
    return np.linalg.norm(x)


@njit
def _forward(x):
    size = euclidean(x)
    return size, (x, size)


@njit
def _push(residuals, tangents):
    (x, size), moved = residuals, tangents[0]
    total = size * 0
    if size != 0:
        for k in np.ndindex(x.shape):  # divided first: products may be beyond what a float holds
            total += (np.conj(x[k] / size) * moved[k]).real
    return total


@njit
def _pull(residuals, bar):
    x, size = residuals
    out = np.zeros_like(x)
    if size != 0:
        for k in np.ndindex(x.shape):
            out[k] = np.conj(x[k] / size) * bar
    return (out,)


linear_rule(euclidean, _forward, _push, _pull)


@stands_for(np.linalg.norm)
def norm(x, ord=None):
    if not is_array(x) or x.ndim not in (1, 2):
        return None
    if is_none(ord):
        return calling(euclidean, "x, ord=None", "x")
    if not isinstance(ord, types.Integer | types.Float):
        return None
    return _of_vector if x.ndim == 1 else _of_matrix


@njit
def _of_vector(x, ord):
    if x.size == 0:
        return 0.0
    if ord == 2:
        return euclidean(x)
    if ord == np.inf:
        return np.max(np.abs(x))
    if ord == -np.inf:
        return np.min(np.abs(x))
    if ord == 0:
        return float(np.count_nonzero(x))
    total = 0.0
    for k in range(x.size):
        if ord == 1:
            total += abs(x[k])
        elif x[k] != 0:
            total += abs(x[k]) ** ord
        elif ord < 0:
            return 0.0
    if ord == 1 or total == 0:
        return total
    return total ** (1.0 / ord)


@njit
def _of_matrix(x, ord):
    if x.size == 0:
        return 0.0
    if ord == 2:
        return singular_values(x)[0]
    if ord == -2:
        return singular_values(x)[-1]
    if ord == np.inf:
        return np.max(_sums_of_rows(x))
    if ord == -np.inf:
        return np.min(_sums_of_rows(x))
    if ord == 1:
        return np.max(_sums_of_rows(x.T))
    if ord == -1:
        return np.min(_sums_of_rows(x.T))
    raise ValueError("Invalid norm order for matrices.")


@njit
def _sums_of_rows(x):
    """The sums of the moduli."""
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] += abs(x[i, j])
    return out


@stands_for(np.linalg.cond)
def cond(x, p=None):
    """Infinite for a singular matrix, which then has no derivative."""
    if not is_matrix(x):
        return None
    if is_none(p):
        return calling(_spectral, "x, p=None", "x")
    return _cond if isinstance(p, types.Integer | types.Float) else None


@njit
def _spectral(x):
    s = singular_values(x)
    if s[-1] == 0:
        return np.inf
    return s[0] / s[-1]


@njit
def _cond(x, p):
    if p == 2:
        return _spectral(x)
    if p == -2:
        s = singular_values(x)
        return s[-1] / s[0] if s[0] != 0 else np.inf
    return _of_matrix(x, p) * _of_matrix(inverse(x), p)


@stands_for(np.linalg.matrix_power)
def matrix_power(a, n):
    return _power if is_matrix(a) and isinstance(n, types.Integer) else None


@njit
def _power(a, n):
    """By squaring, in the order of Numba's products."""
    if n == 0:
        out = np.zeros(a.shape, a.dtype)
        for k in range(a.shape[0]):
            out[k, k] = 1.0
        return out
    if a.shape[0] != a.shape[1]:
        raise ValueError("input must be a square array")
    if a.size == 0:
        return a.copy()
    base = np.ascontiguousarray(inverse(a)) if n < 0 else np.ascontiguousarray(a)
    left = abs(n)
    while left % 2 == 0:
        base = product(base, base)
        left //= 2
    out = base.copy()
    left //= 2
    while left > 0:
        base = product(base, base)
        if left % 2 == 1:
            out = product(out, base)
        left //= 2
    return out


@njit
def rank(A):
    return np.linalg.matrix_rank(A)


@njit
def rank_to(A, tol):
    return np.linalg.matrix_rank(A, tol)


CONSTANT_CALLS.update((rank, rank_to))


@stands_for(np.linalg.matrix_rank)
def matrix_rank(A, tol=None):
    if not is_array(A):
        return None
    return calling(rank, "A, tol=None", "A") if is_none(tol) else calling(rank_to, "A, tol")
