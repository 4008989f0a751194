"""`np.linalg.qr`.

Of `A = Q R` with full column rank, `C = Q^H dA R^-1` and the triangle
`T = triu(C, 1) + tril(C, -1)^H + Re diag(C)` give `dR = T R` and `dQ = dA R^-1 - Q T`, where LAPACK has
the diagonal of `R` real; backwards `A_bar = (Q_bar + Q Y) R^-H`, `Y` the Hermitian matrix of the upper
triangle of `R_bar R^H - Q^H Q_bar` (S. F. Walter & L. Lehmann, "Algorithmic differentiation of linear
algebra functions with application in optimum experimental design", arXiv:1001.1654, section 4.3;
M. Seeger et al., "Auto-differentiating linear algebra", arXiv:1710.08717, for the adjoint).
"""

import numpy as np
from numba import njit

from ..arrays.table import stands_for
from ..registry import CONSTANT_CALLS, linear_rule
from .matrices import adjoint, lower_as_hermitian, product
from .rule_calls import is_matrix
from .spectra import epsilon
from .triangles import above, below


@njit
def tall_qr(a):
    """`np.linalg.qr` of a matrix with at least as many rows as columns."""
    return np.linalg.qr(a)


@njit
def check_columns(r):
    """Raise LinAlgError where the diagonal of `r` says that columns depend on each other."""
    greatest = 0.0
    for k in range(r.shape[0]):
        greatest = max(greatest, abs(r[k, k]))
    for k in range(r.shape[0]):
        if not abs(r[k, k]) > greatest * r.shape[0] * epsilon(r):
            raise np.linalg.LinAlgError("the derivative of qr needs linearly independent columns")


CONSTANT_CALLS.add(check_columns)


@njit
def _qr_forward(a):
    q, r = tall_qr(a)
    return (q, r), (q, r)


@njit
def _qr_push(residuals, tangents):
    q, r = residuals
    check_columns(r)
    moved = below(r.T, tangents[0].T).T
    t = upper_part(product(adjoint(q), moved))
    return moved - product(q, t), product(t, r)


@njit
def upper_part(c):
    """`triu(c, 1) + tril(c, -1)^H + Re diag(c)`."""
    out = np.zeros(c.shape, c.dtype)
    for i in range(c.shape[0]):
        for j in range(i):
            out[j, i] = c[j, i] + np.conj(c[i, j])
        out[i, i] = c[i, i].real
    return out


@njit
def upper_as_hermitian(n):
    """The Hermitian matrix of an upper triangle."""
    return adjoint(lower_as_hermitian(adjoint(n)))


@njit
def _qr_pull(residuals, bars):
    q, r = residuals
    check_columns(r)
    q_bar, r_bar = np.conj(bars[0]), np.conj(bars[1])
    y = upper_as_hermitian(product(r_bar, adjoint(r)) - product(adjoint(q), q_bar))
    right = q_bar + product(q, y)
    return (above(r.T, np.conj(right).T).T,)


linear_rule(tall_qr, _qr_forward, _qr_push, _qr_pull)


@njit
def _qr(a):
    """Of a wide matrix: that of its first columns, and the others turned."""
    m, n = a.shape
    if n <= m:
        return tall_qr(a)
    q, first = tall_qr(a[:, :m])
    r = np.zeros((n, m), a.dtype).T
    r[:, :m] = first
    r[:, m:] = product(adjoint(q), a[:, m:])
    return q, r


@stands_for(np.linalg.qr)
def qr(a):
    return _qr if is_matrix(a) else None
