"""Parts of formulas: products, transposes and triangles of matrices, which have derivatives.

They keep the precision of their arguments, take matrices of any order in memory and of any size.
"""

import numpy as np
from numba import njit


@njit
def product(a, b):
    """`a @ b` of two matrices."""
    if a.size == 0 or b.size == 0:
        return np.zeros((a.shape[0], b.shape[1]), a.dtype)
    return np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@njit
def adjoint(a):
    """The conjugate transpose."""
    return np.conj(a).T


@njit
def lower_as_hermitian(a):
    """The Hermitian matrix of a lower triangle; the upper one and imaginary parts of the diagonal
    are not read, as by LAPACK."""
    out = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(i):
            out[i, j] = a[i, j]
            out[j, i] = np.conj(a[i, j])
        out[i, i] = a[i, i].real
    return out


@njit
def onto_lower(s_bar):
    """The adjoint of `lower_as_hermitian`."""
    out = np.zeros(s_bar.shape, s_bar.dtype)
    for i in range(s_bar.shape[0]):
        for j in range(i):
            out[i, j] = s_bar[i, j] + np.conj(s_bar[j, i])
        out[i, i] = s_bar[i, i].real
    return out


@njit
def half_lower(a):
    """The lower triangle with half of the real parts of the diagonal."""
    out = np.zeros(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(i):
            out[i, j] = a[i, j]
        out[i, i] = a[i, i].real / 2
    return out


@njit
def lower(a):
    """The lower triangle, with the diagonal."""
    out = np.zeros(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(i + 1):
            out[i, j] = a[i, j]
    return out


@njit
def scaled(a, factor):
    """`factor * a`, in the precision of `a`."""
    out = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * factor
    return out


@njit
def scaled_columns(a, x):
    """`a @ diag(x)`, in the precision of `a`."""
    out = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * x[j]
    return out


@njit
def trace(a):
    """The sum of the diagonal, in the precision of the matrix."""
    total = np.zeros(1, a.dtype)
    for i in range(a.shape[0]):
        total[0] += a[i, i]
    return total[0]


@njit
def diagonal(a):
    """The diagonal as a new vector."""
    out = np.empty(a.shape[0], a.dtype)
    for k in range(a.shape[0]):
        out[k] = a[k, k]
    return out


@njit
def real_diagonal(a):
    """The real parts of the diagonal."""
    out = np.empty(a.shape[0], np.abs(a[:0, :0]).dtype)  # forward mode has no a.real
    for k in range(a.shape[0]):
        out[k] = a[k, k].real
    return out


@njit
def with_diagonal(a, x):
    """A copy of a matrix with `x` added to the diagonal."""
    out = a.copy()
    for k in range(a.shape[0]):
        out[k, k] += x[k]
    return out


@njit
def half_skew(k):
    """`(k - k^H) / 2`."""
    out = np.empty(k.shape, k.dtype)
    for i in range(k.shape[0]):
        for j in range(k.shape[1]):
            out[i, j] = (k[i, j] - np.conj(k[j, i])) / 2
    return out


@njit
def with_transpose(a):
    """`a + a.T`."""
    out = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] + a[j, i]
    return out


@njit
def put(out, a):
    """`out[...] = a`, for matrices of one shape: Numba's own takes a second to compile, for its message."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]


@njit
def take_off(out, a):
    """`out -= a`, for matrices of one shape."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] -= a[i, j]
