"""`np.linalg.eig` and `np.linalg.eigvals`.

Of `A V = V diag(w)`, with `M = V^-1 dA V`: `dw = diag(M)`, and `dV = V (F * M)` where
`F[i, j] = 1 / (w[j] - w[i])`, but for what keeps each column as LAPACK has it: of norm one, and with
the largest element real if it is complex (Giles, NA-08/01, section 3.1; C. Boeddeker et al., "On the
computation of complex-valued gradients with application to statistically optimum beamforming",
arXiv:1701.00392, section 4.21). Equal eigenvalues: as for `eigh`. A matrix whose eigenvectors are not
linearly independent raises LinAlgError.
"""

import numpy as np
from numba import njit
from numba.np.numpy_support import numpy_version

from ..arrays.table import stands_for
from ..registry import CONSTANT_CALLS, linear_rule
from .matrices import adjoint, diagonal, product, with_diagonal
from .rule_calls import calling, is_complex, is_matrix
from .spectra import (
    check_coupling,
    check_unused,
    divided_by_differences,
    epsilon,
    turned_back,
    turned_back_adjoint,
)
from .systems import inverse


@njit
def check_basis(v, x):
    """Raise LinAlgError if eigenvectors `v`, whose inverse is `x`, are not independent."""
    most = 0.1 / np.sqrt(epsilon(v))
    if v.size and not np.linalg.norm(v) * np.linalg.norm(x) <= most * v.shape[0]:
        raise np.linalg.LinAlgError(
            "the derivative of eigenvalues needs linearly independent eigenvectors"
        )


@njit
def largest(v):
    """The row of the largest element of each column."""
    rows = np.zeros(v.shape[1], np.intp)
    for j in range(v.shape[1]):
        for i in range(v.shape[0]):
            if abs(v[i, j]) > abs(v[rows[j], j]):
                rows[j] = i
    return rows


CONSTANT_CALLS.update((check_basis, largest))


@njit
def of_norm_one(u, v):
    """The tangent `u` of vectors `v`, the columns, whose norms stay as they are."""
    out = u.copy()
    for j in range(v.shape[1]):
        along = 0.0
        for i in range(v.shape[0]):
            along += (np.conj(v[i, j]) * u[i, j]).real
        for i in range(v.shape[0]):
            out[i, j] = u[i, j] - along * v[i, j]
    return out  # which is its own adjoint


@njit
def _inverse_basis(v):
    x = inverse(v)
    check_basis(v, x)
    return x


@njit
def _vectors(w, v, m):
    check_coupling(m, w)
    return product(v, divided_by_differences(m, w))


@njit
def _pulled(w, v, x, w_bar, v_bar):
    """The adjoint of the matrix, where nothing keeps the vectors as they are."""
    k = product(adjoint(v), v_bar)
    inner = with_diagonal(divided_by_differences(k, np.conj(w)), w_bar)
    return (np.conj(product(product(adjoint(x), inner), adjoint(v))),)


@njit
def real_pairs(a):
    return np.linalg.eig(a)


@njit
def _real_forward(a):
    w, v = real_pairs(a)
    return (w, v), (w, v, _inverse_basis(v))


@njit
def _real_push(residuals, tangents):
    w, v, x = residuals
    m = product(product(x, tangents[0]), v)
    return diagonal(m), of_norm_one(_vectors(w, v, m), v)


@njit
def _real_pull(residuals, bars):
    w, v, x = residuals
    check_unused(bars[1], w)
    return _pulled(w, v, x, bars[0], of_norm_one(bars[1], v))


linear_rule(real_pairs, _real_forward, _real_push, _real_pull)


@njit
def complex_pairs(a):
    return np.linalg.eig(a)


@njit
def _complex_forward(a):
    w, v = complex_pairs(a)
    return (w, v), (w, v, _inverse_basis(v))


@njit
def _complex_push(residuals, tangents):
    w, v, x = residuals
    m = product(product(x, tangents[0]), v)
    return diagonal(m), turned_back(of_norm_one(_vectors(w, v, m), v), v, largest(v))


@njit
def _complex_pull(residuals, bars):
    w, v, x = residuals
    check_unused(bars[1], w)
    v_bar = of_norm_one(turned_back_adjoint(np.conj(bars[1]), v, largest(v)), v)
    return _pulled(w, v, x, np.conj(bars[0]), v_bar)


linear_rule(complex_pairs, _complex_forward, _complex_push, _complex_pull)


def _calling(of_reals, of_complex, a):
    """From NumPy 2.5 on, what is found of a real matrix is complex as well."""
    if is_complex(a):
        return calling(of_complex, "a")
    if numpy_version < (2, 5):
        return calling(of_reals, "a")
    return calling(of_complex, "a", f"a.astype(np.complex{2 * a.dtype.bitwidth})")


@stands_for(np.linalg.eig)
def eig(a):
    return _calling(real_pairs, complex_pairs, a) if is_matrix(a) else None


# -- eigenvalues alone: in the order in which `eig` finds them ---------------------------------------


@njit
def eigenvalues(a):
    return np.linalg.eig(a)[0]


@njit
def _values_forward(a):
    w, v = np.linalg.eig(a)
    return w, (v, _inverse_basis(v))


@njit
def _values_push(residuals, tangents):
    v, x = residuals
    return diagonal(product(product(x, tangents[0]), v))


@njit
def _values_pull(residuals, bar):
    v, x = residuals
    inner = with_diagonal(np.zeros_like(v), np.conj(bar))
    return (np.conj(product(product(adjoint(x), inner), adjoint(v))),)


linear_rule(eigenvalues, _values_forward, _values_push, _values_pull)


@stands_for(np.linalg.eigvals)
def eigvals(a):
    return _calling(eigenvalues, eigenvalues, a) if is_matrix(a) else None
