"""`np.linalg.svd`, and singular values alone.

Of `A = U diag(s) V^H` with `P = U^H dA V`: `ds = Re diag(P)`,
`dU = U (F * (P S + S P^H)) + (1 - U U^H) dA V S^-1`, `dV = V (F * (S P + P^H S)) + (1 - V V^H) dA^H U S^-1`
where `F[i, j] = 1 / (s[j]^2 - s[i]^2)`, and for complex matrices imaginary numbers on the diagonals
(J. Townsend, "Differentiating the singular value decomposition", 2016; Z.-Q. Wan & S.-X. Zhang, "Automatic
differentiation for complex valued SVD", arXiv:1909.02659; Giles, NA-08/01, section 3.2). The phases of
complex vectors are those of LAPACK: the first element of each left or of each right one is real.

Equal singular values, and those that are zero: see `spectra`. With `full_matrices`, the vectors beyond the
smaller number of rows and columns are no differentiable function of the matrix: a derivative by them,
and forward mode where the matrix moves, raise LinAlgError.
"""

import numpy as np
from numba import njit

from ..arrays.table import stands_for
from ..registry import CONSTANT_CALLS, linear_rule
from .matrices import (
    adjoint,
    half_skew,
    product,
    real_diagonal,
    scaled_columns,
    with_diagonal,
)
from .rule_calls import calling, is_complex, is_matrix
from .spectra import (
    check_coupling,
    check_quotient,
    check_small,
    check_unused,
    coarse_resolution,
    divided_columns,
    holds_tangents,
    resolution,
    turned_back,
    turned_back_adjoint,
)


@njit
def does_not_move(da):
    """Whether a matrix has no tangent; numbers that hold tangents themselves may be zero and yet move."""
    return not holds_tangents(da) and not np.any(da)


@njit
def _at_rest(u, s, vh):
    return np.zeros_like(u), np.zeros_like(s), np.zeros_like(vh)


@njit
def refuse_extra(shape, columns, rows):
    """Raise LinAlgError if there are vectors beyond the smaller number of rows and columns."""
    if max(columns, rows) > min(shape):
        raise np.linalg.LinAlgError(
            "the derivative of svd needs full_matrices=False for a matrix that is not square"
        )


@njit
def check_none(x):
    """Raise LinAlgError if a derivative is taken by vectors that fill up a basis."""
    for v in x.flat:
        if v != 0:
            refuse_extra((0, 0), 1, 1)


CONSTANT_CALLS.update((refuse_extra, check_none))


@njit
def mixed(x, y, s):
    """`(s[j] x[i, j] + s[i] y[i, j]) / (s[j]^2 - s[i]^2)` beside the diagonal, zero on it."""
    out = np.zeros(x.shape, x.dtype)
    nearly = coarse_resolution(s) if holds_tangents(s) else 0.0
    least = resolution(s)
    most = max(resolution(x), resolution(y)) * (s[0] if s.size > 0 else 0.0)
    for i in range(s.size):
        for j in range(s.size):
            if i != j:
                found = s[j] * x[i, j] + s[i] * y[i, j]
                if abs(s[j] - s[i]) > least:
                    check_quotient(found, s[j] - s[i], nearly, most)
                    out[i, j] = found / ((s[j] - s[i]) * (s[j] + s[i]))
    return out


# -- forward: the tangents of U and V ------------------------------------------------------------


@njit
def _beside(u, s, moved):
    """`(1 - U U^H) moved S^-1`, zero for a square U."""
    if u.shape[0] == u.shape[1]:
        return np.zeros(u.shape, u.dtype)
    rest = moved - product(u, product(adjoint(u), moved))
    return divided_columns(rest, s, resolution(moved))


@njit
def check_distinct(p, da, s):
    """As `check_coupling`; of a matrix that is not square, what lies beside the vectors turns them, too."""
    if da.shape[0] == da.shape[1] or np.all(da == 0):
        check_coupling(p, s)
    elif np.any(np.abs(np.diff(s)) <= resolution(s)) or s[-1] <= resolution(s):
        check_small(1.0, 0.0)


CONSTANT_CALLS.add(check_distinct)


@njit
def _turns(u, s, v, da):
    """`P`, and the tangents of U and V but for phases."""
    right = product(da, v)
    p = product(adjoint(u), right)
    pa = adjoint(p)
    check_distinct(p, da, s)
    du = product(u, mixed(p, pa, s)) + _beside(u, s, right)
    dv = product(v, mixed(pa, p, s)) + _beside(v, s, product(adjoint(da), u))
    return p, du, dv


# -- backward ------------------------------------------------------------------------------------


@njit
def _pulled(u, s, v, u_bar, s_bar, v_bar):
    """The adjoint of the matrix, but for the diagonal of complex turns."""
    ku, kv = product(adjoint(u), u_bar), product(adjoint(v), v_bar)
    check_unused(u_bar, s)
    check_unused(v_bar, s)
    halves = mixed(half_skew(ku), half_skew(kv), s)
    inner = with_diagonal(halves + halves, s_bar)
    return inner, ku, kv


@njit
def _matrix(u, s, v, inner, u_bar, v_bar):
    out = product(product(u, inner), adjoint(v))
    out += product(_beside(u, s, u_bar), adjoint(v))
    return out + product(u, adjoint(_beside(v, s, v_bar)))


@njit
def _first(x, k):
    return np.ascontiguousarray(x[:, :k])


# -- real ----------------------------------------------------------------------------------------


@njit
def real_svd(a, full):
    return np.linalg.svd(a, full)


@njit
def _real_forward(a, full):
    u, s, vh = real_svd(a, full)
    return (u, s, vh), (u, s, vh)


@njit
def _real_push(residuals, tangents):
    u, s, vh = residuals
    if does_not_move(tangents[0]):
        return _at_rest(u, s, vh)
    refuse_extra((u.shape[0], vh.shape[1]), u.shape[1], vh.shape[0])
    p, du, dv = _turns(u, s, vh.T, tangents[0])
    return du, real_diagonal(p), dv.T


@njit
def _real_pull(residuals, bars):
    u, s, vh = residuals
    check_none(bars[0][:, s.size :])
    check_none(bars[2][s.size :])
    u, v = _first(u, s.size), _first(vh.T, s.size)
    u_bar, v_bar = _first(bars[0], s.size), _first(bars[2].T, s.size)
    inner, _, _ = _pulled(u, s, v, u_bar, bars[1], v_bar)
    return _matrix(u, s, v, inner, u_bar, v_bar), None


linear_rule(real_svd, _real_forward, _real_push, _real_pull)


# -- complex -------------------------------------------------------------------------------------


@njit
def complex_svd(a, full):
    return np.linalg.svd(a, full)


@njit
def has_real_row(v):
    """Whether the first element of each column is real, and none zero."""
    return np.all(v[0].imag == 0.0) and np.all(v[0].real != 0.0)


CONSTANT_CALLS.add(has_real_row)


@njit
def _complex_forward(a, full):
    u, s, vh = complex_svd(a, full)
    return (u, s, vh), (u, s, vh)


@njit
def _imaginary(k, s, most):
    """`i Im diag(k) / s`."""
    out = np.zeros(s.size, k.dtype)
    least = resolution(s)
    for j in range(s.size):
        if s[j] > least:
            out[j] = 1j * k[j, j].imag / s[j]
        else:
            check_small(k[j, j].imag, most)
    return out


@njit
def _complex_push(residuals, tangents):
    u, s, vh = residuals
    if does_not_move(tangents[0]):
        return _at_rest(u, s, vh)
    refuse_extra((u.shape[0], vh.shape[1]), u.shape[1], vh.shape[0])
    v = adjoint(vh)
    p, du, dv = _turns(u, s, v, tangents[0])
    du = du + scaled_columns(u, _imaginary(p, s, resolution(p)))
    first = np.zeros(s.size, np.intp)
    if has_real_row(v):
        both = turned_back(np.vstack((dv, du)), np.vstack((v, u)), first)
        dv, du = both[: v.shape[0]], both[v.shape[0] :]
    else:
        check_row(u)
        both = turned_back(np.vstack((du, dv)), np.vstack((u, v)), first)
        du, dv = both[: u.shape[0]], both[u.shape[0] :]
    return du, real_diagonal(p), adjoint(dv)


@njit
def check_row(u):
    if not has_real_row(u):
        raise np.linalg.LinAlgError(
            "the derivative of svd needs the phases of the singular vectors, which LAPACK leaves open"
        )


CONSTANT_CALLS.add(check_row)


@njit
def _complex_pull(residuals, bars):
    u, s, vh = residuals
    check_none(bars[0][:, s.size :])
    check_none(bars[2][s.size :])
    u, v = _first(u, s.size), _first(adjoint(vh), s.size)
    u_bar, v_bar = np.conj(_first(bars[0], s.size)), _first(bars[2].T, s.size)
    first = np.zeros(s.size, np.intp)
    if has_real_row(v):
        both = turned_back_adjoint(np.vstack((v_bar, u_bar)), np.vstack((v, u)), first)
        v_bar, u_bar = both[: v.shape[0]], both[v.shape[0] :]
    else:
        both = turned_back_adjoint(np.vstack((u_bar, v_bar)), np.vstack((u, v)), first)
        u_bar, v_bar = both[: u.shape[0]], both[u.shape[0] :]
    inner, ku, _ = _pulled(u, s, v, u_bar, bars[1], v_bar)
    inner = with_diagonal(inner, _imaginary(ku, s, resolution(ku)))
    return np.conj(_matrix(u, s, v, inner, u_bar, v_bar)), None


linear_rule(complex_svd, _complex_forward, _complex_push, _complex_pull)


@stands_for(np.linalg.svd)
def svd(a, full_matrices=1):
    if not is_matrix(a):
        return None
    found = complex_svd if is_complex(a) else real_svd
    return calling(found, "a, full_matrices=1", "a, full_matrices")


# -- singular values alone -----------------------------------------------------------------------


@njit
def singular_values(a):
    """In descending order."""
    return np.linalg.svd(a, False)[1]


@njit
def _values_forward(a):
    u, s, vh = np.linalg.svd(a, False)
    return s, (u, vh)


@njit
def _values_push(residuals, tangents):
    u, vh = residuals
    return real_diagonal(product(product(adjoint(u), tangents[0]), adjoint(vh)))


@njit
def _values_pull(residuals, bar):
    u, vh = residuals
    return (np.conj(product(scaled_columns(u, bar), vh)),)


linear_rule(singular_values, _values_forward, _values_push, _values_pull)
