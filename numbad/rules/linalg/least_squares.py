"""`np.linalg.pinv` and `np.linalg.lstsq`, of matrices of full rank.

Of the pseudoinverse `P` of `A`: `dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P` (G. H. Golub &
V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
separate", SIAM J. Numer. Anal. 10 (1973), equation 4.12). Where the rank is not full, by the `rcond` given,
it changes with the least change of the matrix, and the pseudoinverse jumps: LinAlgError.
"""

import numpy as np
from numba import njit

from ..arrays.nests import jit, number_class
from ..arrays.table import is_array, stands_for
from ..registry import CONSTANT_CALLS, linear_rule
from .matrices import adjoint, product
from .rule_calls import calling, is_matrix
from .singular import singular_values


@njit
def check_rank(a, rank):
    if rank < min(a.shape):
        raise np.linalg.LinAlgError("the derivative needs a matrix of full rank")


@njit
def rank_of(a, rcond):
    """How many singular values are greater than `rcond` times the greatest."""
    if a.size == 0:
        return 0
    s = np.linalg.svd(a, False)[1]
    return int((s > rcond * s[0]).sum())


CONSTANT_CALLS.update((check_rank, rank_of))


@njit
def pseudoinverse(a, rcond):
    return np.linalg.pinv(a, rcond)


@njit
def _forward(a, rcond):
    p = pseudoinverse(a, rcond)
    check_rank(a, rank_of(a, rcond))
    return p, (a, p)


@njit
def _push(residuals, tangents):
    a, p = residuals
    da, pa, da_adjoint = tangents[0], adjoint(p), adjoint(tangents[0])
    out = -product(product(p, da), p)
    if a.shape[0] > a.shape[1]:
        right = product(p, product(pa, da_adjoint))
        out += right - product(product(right, a), p)
    if a.shape[0] < a.shape[1]:
        left = product(product(da_adjoint, pa), p)
        out += left - product(p, product(a, left))
    return out


@njit
def _pull(residuals, bar):
    a, p = residuals
    pa, bar = adjoint(p), np.conj(bar)
    out = -product(product(pa, bar), pa)
    if a.shape[0] > a.shape[1]:
        right = product(adjoint(bar), product(p, pa))
        out += right - product(a, product(p, right))
    if a.shape[0] < a.shape[1]:
        left = product(pa, product(p, adjoint(bar)))
        out += left - product(product(left, p), a)
    return np.conj(out), None


linear_rule(pseudoinverse, _forward, _push, _pull)


@stands_for(np.linalg.pinv)
def pinv(a, rcond=1.0e-15):
    if not is_matrix(a):
        return None
    return calling(pseudoinverse, "a, rcond=1.0e-15", "a, rcond")


# -- least squares -------------------------------------------------------------------------------


@njit
def least_squares(a, b, rcond):
    """The solution for a matrix `b`, and the rank of `a`."""
    x, _, rank, _ = np.linalg.lstsq(a, b, rcond)
    return x, rank


@njit
def _solution_forward(a, b, rcond):
    x, rank = least_squares(a, b, rcond)
    check_rank(a, rank)
    rest = b - product(a, x)
    return (x, rank), (a, pseudoinverse(a, 1.0e-15), x, rest)


@njit
def _by_a(residuals, da):
    a, p, x, rest = residuals
    out = -product(p, product(da, x))
    if a.shape[0] > a.shape[1]:
        out += product(p, product(adjoint(p), product(adjoint(da), rest)))
    if a.shape[0] < a.shape[1]:
        moved = product(adjoint(da), product(adjoint(p), x))
        out += moved - product(p, product(a, moved))
    return out


@njit
def _push_a(residuals, tangents):
    return _by_a(residuals, tangents[0]), 0


@njit
def _push_b(residuals, tangents):
    return product(residuals[1], tangents[1]), 0


@njit
def _push_both(residuals, tangents):
    return _by_a(residuals, tangents[0]) + product(residuals[1], tangents[1]), 0


@njit
def _solution_pull(residuals, bars):
    a, p, x, rest = residuals
    x_bar, pa = np.conj(bars[0]), adjoint(p)
    b_bar = product(pa, x_bar)
    a_bar = -product(b_bar, adjoint(x))
    if a.shape[0] > a.shape[1]:
        a_bar += product(rest, adjoint(product(p, b_bar)))
    if a.shape[0] < a.shape[1]:
        beside = x_bar - product(p, product(a, x_bar))
        a_bar += product(product(pa, x), adjoint(beside))
    return np.conj(a_bar), np.conj(b_bar), None


_PUSHES = {
    (True, False, False): _push_a,
    (False, True, False): _push_b,
    (True, True, False): _push_both,
}
linear_rule(least_squares, _solution_forward, _PUSHES, _solution_pull)


@njit
def _squares(a, b, x, rank, real):
    """The sums of the squares of `b - a @ x`; none where Numba gives none."""
    m, n = a.shape
    out = np.zeros(0 if rank < n or m <= n else b.shape[1], real)
    rest = b - product(x.T, a.T).T  # which has the type of `x`, whatever `a` is
    for i in range(m):
        for j in range(out.size):
            out[j] += (rest[i, j] * np.conj(rest[i, j])).real
    return out


@stands_for(np.linalg.lstsq)
def lstsq(a, b, rcond=-1.0):
    if not (is_matrix(a) and is_array(b) and b.ndim in (1, 2) and a.dtype == b.dtype):
        return None
    real = number_class(getattr(a.dtype, "underlying_float", a.dtype))
    columns = "b" if b.ndim == 2 else "np.ascontiguousarray(b).reshape((b.size, 1))"
    lines = ["def lstsq(a, b, rcond=-1.0):", f"    columns = {columns}"]
    lines.append("    x, rank = least_squares(a, columns, rcond)")
    lines.append("    squares = sums(a, columns, x, rank, real)")
    solution = "x" if b.ndim == 2 else "x.ravel()"
    lines.append(f"    return {solution}, squares, rank, singular_values(a)")
    made = {"least_squares": least_squares, "sums": _squares, "singular_values": singular_values}
    return jit(lines, real=real, **made)
