"""`np.linalg.eigh` and `np.linalg.eigvalsh`.

Of `A V = V diag(w)`, with `M = V^H dA V`: `dw = diag(M)`, `dV = V (F * M)` where
`F[i, j] = 1 / (w[j] - w[i])`; backwards `A_bar = V (diag(w_bar) + F * (V^H V_bar)) V^H` (Giles, NA-08/01,
section 3.1; Seeger et al., arXiv:1710.08717). LAPACK reads the lower triangle alone: the derivative by
`A[0, 1]` is zero, and that by `A[1, 0]` is the one by both elements together. The phases of complex
eigenvectors are those of LAPACK: their first elements are real.

Eigenvalues that are equal: functions that are symmetric in them have their derivatives, as the sum has;
of one among them it is that along the eigenvector found. Eigenvectors raise LinAlgError; see `spectra`.
"""

import numpy as np
from numba import njit

from ..arrays.table import stands_for
from ..registry import linear_rule
from .matrices import (
    adjoint,
    half_skew,
    lower_as_hermitian,
    onto_lower,
    product,
    real_diagonal,
    scaled_columns,
    with_diagonal,
)
from .rule_calls import calling, is_complex, is_matrix
from .spectra import (
    check_coupling,
    check_unused,
    divided_by_differences,
    turned_back,
    turned_back_adjoint,
)


@njit
def real_pairs(a):
    return np.linalg.eigh(a)


@njit
def complex_pairs(a):
    return np.linalg.eigh(a)


@njit
def _in_basis(v, da):
    """`V^H dA V`."""
    return product(product(adjoint(v), lower_as_hermitian(da)), v)


@njit
def _pulled(v, inner):
    """The adjoint of the matrix by that of `V^H A V`."""
    return np.conj(onto_lower(product(product(v, inner), adjoint(v))))


@njit
def _vectors(w, v, m):
    check_coupling(m, w)
    return product(v, divided_by_differences(m, w))


@njit
def _by_vectors(w, v, v_bar):
    check_unused(v_bar, w)
    return divided_by_differences(half_skew(product(adjoint(v), v_bar)), w)


@njit
def _real_forward(a):
    w, v = real_pairs(a)
    return (w, v), (w, v)


@njit
def _real_push(residuals, tangents):
    w, v = residuals
    m = _in_basis(v, tangents[0])
    return real_diagonal(m), _vectors(w, v, m)


@njit
def _real_pull(residuals, bars):
    w, v = residuals
    return (_pulled(v, with_diagonal(_by_vectors(w, v, bars[1]), bars[0])),)


linear_rule(real_pairs, _real_forward, _real_push, _real_pull)


@njit
def _complex_forward(a):
    w, v = complex_pairs(a)
    return (w, v), (w, v)


@njit
def _complex_push(residuals, tangents):
    w, v = residuals
    m = _in_basis(v, tangents[0])
    first = np.zeros(w.size, np.intp)
    return real_diagonal(m), turned_back(_vectors(w, v, m), v, first)


@njit
def _complex_pull(residuals, bars):
    w, v = residuals
    v_bar = turned_back_adjoint(np.conj(bars[1]), v, np.zeros(w.size, np.intp))
    return (_pulled(v, with_diagonal(_by_vectors(w, v, v_bar), bars[0])),)


linear_rule(complex_pairs, _complex_forward, _complex_push, _complex_pull)


@stands_for(np.linalg.eigh)
def eigh(a):
    if not is_matrix(a):
        return None
    return calling(complex_pairs if is_complex(a) else real_pairs, "a")


# -- eigenvalues alone ---------------------------------------------------------------------------


@njit
def eigenvalues(a):
    return np.linalg.eigvalsh(a)


@njit
def _values_forward(a):
    w, v = np.linalg.eigh(a)
    return w, v


@njit
def _values_push(v, tangents):
    return real_diagonal(_in_basis(v, tangents[0]))


@njit
def _values_pull(v, bar):
    return (np.conj(onto_lower(product(scaled_columns(v, bar), adjoint(v)))),)


linear_rule(eigenvalues, _values_forward, _values_push, _values_pull)


@stands_for(np.linalg.eigvalsh)
def eigvalsh(a):
    return calling(eigenvalues, "a") if is_matrix(a) else None
