"""What the derivatives of eigenvectors and singular vectors have in common.

They divide by differences of eigenvalues. Where two are equal, up to the precision of the decomposition,
their vectors are no differentiable functions of the matrix: LinAlgError, where a derivative needs them.
"""

import math

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from ..registry import CONSTANT_CALLS

_LENIENCE = 64.0  # roundings for each row that two equal numbers may be apart


def epsilon(a):
    """The distance from 1 to the next number in the precision of an array."""
    raise NotImplementedError


@overload(epsilon)
def _epsilon(a):
    eps = float(np.finfo(as_dtype(a.dtype)).eps)
    return lambda a: eps


@njit
def resolution(w):
    """The difference between two numbers up to which they count as equal."""
    greatest = 0.0
    for x in w.flat:
        greatest = max(greatest, abs(x))
    return _LENIENCE * max(w.shape) * epsilon(w) * greatest


@njit
def coarse_resolution(w):
    """The difference whose square divides roundings to a hundredth of what is sought."""
    greatest = 0.0
    for x in w.flat:
        greatest = max(greatest, abs(x))
    return 8.0 * math.sqrt(epsilon(w)) * greatest


CONSTANT_CALLS.update((resolution, coarse_resolution))


def holds_tangents(a):
    """Whether an array holds tangents, so that what is made of it is differentiated again."""
    raise NotImplementedError


@overload(holds_tangents)
def _holds_tangents(a):
    holds = not isinstance(a.dtype, types.Number)
    return lambda a: holds


_REPEATED = (
    "the derivative by repeated eigenvalues or singular values, or by the vectors of singular values "
    "that are zero, does not exist: eigenvectors (singular vectors) need distinct ones"
)
_NEARLY_EQUAL = (
    "the second derivative by eigenvectors (singular vectors) of nearly equal eigenvalues or singular "
    "values has no digit left: it divides roundings by the square of their difference"
)


@njit
def check_small(x, most):
    """Raise LinAlgError if a number, divided by one that is zero, is not zero itself."""
    if not abs(x) <= most:
        raise np.linalg.LinAlgError(_REPEATED)


@njit
def check_coupling(m, w):
    """Raise LinAlgError if the change `m`, in the basis of the vectors, turns those of equal numbers."""
    least, most = resolution(w), resolution(m)
    for i in range(w.size):
        for j in range(w.size):
            if i != j and abs(w[j] - w[i]) <= least:
                for k in range(w.size):
                    if k != i and not max(abs(m[i, k]), abs(m[k, i])) <= most:
                        raise np.linalg.LinAlgError(_REPEATED)


@njit
def check_unused(v_bar, w):
    """Raise LinAlgError if a derivative is taken by vectors, the columns, that belong to equal numbers."""
    least = resolution(w)
    for i in range(w.size):
        for j in range(w.size):
            if i != j and abs(w[j] - w[i]) <= least and np.any(v_bar[:, i] != 0):
                raise np.linalg.LinAlgError(_REPEATED)


@njit
def check_quotient(x, difference, nearly, most):
    """Raise LinAlgError if a quotient is to be differentiated again whose slope is of roundings."""
    if abs(difference) <= nearly and not abs(x) <= most:
        raise np.linalg.LinAlgError(_NEARLY_EQUAL)


CONSTANT_CALLS.update((check_small, check_coupling, check_unused, check_quotient))


@njit
def divided_by_differences(m, w):
    """`m[i, j] / (w[j] - w[i])` beside the diagonal; zero on it, and where the numbers are equal."""
    out = np.zeros(m.shape, m.dtype)
    least, most = resolution(w), resolution(m)
    nearly = coarse_resolution(w) if holds_tangents(w) else 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if i != j and abs(w[j] - w[i]) > least:
                check_quotient(m[i, j], w[j] - w[i], nearly, most)
                out[i, j] = m[i, j] / (w[j] - w[i])
    return out


@njit
def divided_columns(a, s, most):
    """`a[:, j] / s[j]`, with zero for 0 / 0."""
    out = np.zeros(a.shape, a.dtype)
    least = resolution(s)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if s[j] > least:
                out[i, j] = a[i, j] / s[j]
            else:
                check_small(a[i, j], most)
    return out


# -- complex vectors: which phase they have -------------------------------------------------------


@njit
def check_phase(x, turn, most):
    """Raise LinAlgError if a derivative depends on a phase that the decomposition does not fix."""
    if not (abs(turn) <= most or (x.real != 0.0 and x.imag == 0.0)):
        raise np.linalg.LinAlgError(
            "the derivative depends on the phase of an eigenvector or a singular vector"
        )


CONSTANT_CALLS.add(check_phase)


@njit
def turned_back(u, v, rows):
    """The tangent `u` of vectors `v`, the columns, whose elements in these rows stay real."""
    out = u.copy()
    for j in range(v.shape[1]):
        x = v[rows[j], j].real
        if x != 0.0:
            angle = u[rows[j], j].imag / x
            for i in range(v.shape[0]):
                out[i, j] = u[i, j] - 1j * angle * v[i, j]
    return out


@njit
def turned_back_adjoint(v_bar, v, rows):
    """The adjoint of `turned_back`."""
    out = v_bar.copy()
    most = resolution(v_bar)
    for j in range(v.shape[1]):
        turn = 0.0
        for i in range(v.shape[0]):
            turn += (np.conj(v[i, j]) * v_bar[i, j]).imag
        x = v[rows[j], j]
        check_phase(x, turn, most)
        if x.real != 0.0:
            out[rows[j], j] = v_bar[rows[j], j] - 1j * turn / x.real
    return out
