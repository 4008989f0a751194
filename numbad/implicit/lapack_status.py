"""Systems of linear equations by LAPACK, with a status in place of Numba's exception.

It is the library that Numba's own `np.linalg.solve` calls, whose checks and messages take seconds to
compile.
"""

import math

import numpy as np
from numba import njit
from numba.core import types
from numba.np.linalg import _LAPACK, F_INT_nptype, ensure_lapack

ensure_lapack()
_gesv = _LAPACK().numba_xgesv(types.float64)
_potrf = _LAPACK().numba_xxpotrf(types.float64)
_KIND, _LOWER = ord("d"), ord("L")


@njit(error_model="numpy")
def solve_floats(a, b):
    """The matrix `x` with `a @ x = b`, and whether there is one: `a` is square, regular and finite."""
    n, columns = b.shape
    x = np.empty((columns, n))
    if a.shape[0] != n or a.shape[1] != n:
        return x.T, False
    work = np.empty((n, n))  # in the order of Fortran, as x
    for j in range(n):
        for i in range(n):
            work[j, i] = a[i, j]
        for k in range(columns):
            x[k, j] = b[j, k]
    if not (all_finite(work) and all_finite(x)):
        return x.T, False
    pivots = np.empty(max(n, 1), F_INT_nptype)
    status = 0
    if n > 0 and columns > 0:
        status = _gesv(_KIND, n, columns, work.ctypes, n, pivots.ctypes, x.ctypes, n)
    alive = work.size + pivots.size + x.size  # LAPACK has had their addresses
    return x.T, status == 0 and alive >= 0 and all_finite(x)


@njit(error_model="numpy")
def all_finite(a):
    """Whether no number in an array is NaN or infinite."""
    for x in a.flat:  # noqa: SIM110 (Numba has no `all` of a generator)
        if not math.isfinite(x):
            return False
    return True


@njit(error_model="numpy")
def is_positive_definite(a):
    """Whether a symmetric matrix has a Cholesky factor."""
    n = a.shape[0]
    work = np.empty((n, n))
    for j in range(n):
        for i in range(n):
            work[j, i] = a[i, j]
    if not all_finite(work):
        return False
    status = _potrf(_KIND, _LOWER, n, work.ctypes, n) if n > 0 else 0
    return status == 0 and work.size >= 0
