"""`np.linalg.cholesky`.

Of `A = L L^H`, `dL = L P(L^-1 dA L^-H)` and `A_bar = L^-H P(L^H L_bar) L^-1`, where `P` takes the lower
triangle with half of the diagonal (I. Murray, "Differentiation of the Cholesky decomposition",
arXiv:1602.07527, equations 8 and 10). NumPy reads the lower triangle of `A` alone: the derivative by
`A[0, 1]` is zero, and that by `A[1, 0]` is the one by both elements together.
"""

import numpy as np
from numba import njit

from ..arrays.table import stands_for
from ..registry import linear_rule
from .matrices import (
    adjoint,
    half_lower,
    lower,
    lower_as_hermitian,
    onto_lower,
    product,
    put,
    take_off,
    with_transpose,
)
from .rule_calls import calling, is_complex, is_matrix
from .triangles import above, below

_BLOCK = 64
_BLOCK_PUSHED = 32  # the loops of `_push_block` take a third of the time of products then


# -- complex -------------------------------------------------------------------------------------


@njit
def complex_factor(a):
    return np.linalg.cholesky(a)


@njit
def _complex_forward(a):
    low = complex_factor(a)
    return low, low


@njit
def _complex_pull(low, l_bar):
    conjugate = np.conj(low)
    middle = half_lower(product(conjugate.T, np.conj(l_bar)))
    return (np.conj(onto_lower(above(low, above(conjugate, middle).T).T)),)


@njit
def _complex_push(low, tangents):
    half = below(low, lower_as_hermitian(tangents[0]))
    return product(low, half_lower(below(low, adjoint(half))))


linear_rule(complex_factor, _complex_forward, _complex_push, _complex_pull)


# -- real: both by blocks, the adjoint with a rule of its own --------------------------------------


@njit
def real_factor(a):
    return np.linalg.cholesky(a)


@njit
def _two_sided(low, p):
    """`L^-T P L^-1`."""
    return above(low, above(low, p).T).T


@njit
def pulled_back(low, l_bar):
    """The adjoint of the lower triangle of `L L^T`, by blocks of columns from the last to the first.

    Murray, arXiv:1602.07527, section 3.4; most of the work is products of matrices.
    """
    bar = lower(l_bar)
    for end in range(low.shape[0], 0, -_BLOCK):
        start = max(end - _BLOCK, 0)
        r, d = low[start:end, :start], np.ascontiguousarray(low[start:end, start:end])
        b, c = low[end:, :start], low[end:, start:end]
        c_bar = above(d, bar[end:, start:end].T).T
        put(bar[end:, start:end], c_bar)
        take_off(bar[end:, :start], product(c_bar, r))
        middle, left = bar[start:end, start:end], bar[start:end, :start]
        take_off(middle, product(c_bar.T, c))
        d_bar = onto_lower(_two_sided(d, half_lower(product(d.T, lower(middle)))))
        put(middle, d_bar)
        take_off(left, product(c_bar.T, b))
        take_off(left, product(with_transpose(d_bar), r))
    return bar


@njit
def _pulled_forward(low, l_bar):
    return pulled_back(low, l_bar), (low, l_bar, _two_sided(low, half_lower(product(low.T, l_bar))))


@njit
def _by_factor(residuals, dl):
    low, l_bar, s = residuals
    dl = lower(dl)
    turned = above(low, product(dl.T, s)) + above(low, product(s, dl).T).T
    return onto_lower(_two_sided(low, half_lower(product(dl.T, l_bar))) - turned)


@njit
def _by_cotangent(residuals, dl_bar):
    low = residuals[0]
    return onto_lower(_two_sided(low, half_lower(product(low.T, dl_bar))))


@njit
def _push_factor(residuals, tangents):
    return _by_factor(residuals, tangents[0])


@njit
def _push_cotangent(residuals, tangents):
    return _by_cotangent(residuals, tangents[1])


@njit
def _push_both(residuals, tangents):
    return _by_factor(residuals, tangents[0]) + _by_cotangent(residuals, tangents[1])


@njit
def _pulled_pull(residuals, bar):
    low, l_bar, s = residuals
    w = lower_as_hermitian(bar)
    k_bar = half_lower(below(low, below(low, w).T))
    turned = below(low, product(w, s + s.T)).T
    return lower(product(l_bar, k_bar.T) - turned), product(low, k_bar)


_PUSHES = {
    (True, False): _push_factor,
    (False, True): _push_cotangent,
    (True, True): _push_both,
}
linear_rule(pulled_back, _pulled_forward, _PUSHES, _pulled_pull)


@njit
def _real_forward(a):
    low = real_factor(a)
    return low, low


@njit
def _real_pull(low, l_bar):
    return (pulled_back(low, l_bar),)


@njit
def _push_block(d, s):
    """Put `dL` in the place of a block of `dA`, its lower triangle: `dA = dL L^T + L dL^T` by elements."""
    for i in range(d.shape[0]):
        for j in range(i):
            t = s[i, j]
            for k in range(j):
                t -= s[i, k] * d[j, k] + d[i, k] * s[j, k]
            s[i, j] = (t - d[i, j] * s[j, j]) / d[j, j]
        t = s[i, i] / 2
        for k in range(i):
            t -= s[i, k] * d[i, k]
        s[i, i] = t / d[i, i]


@njit
def _real_push(low, tangents):
    """`dL` by blocks of columns from the first to the last: a sixth of the work of `L P(L^-1 dA L^-T)`."""
    out = lower(tangents[0])
    for start in range(0, low.shape[0], _BLOCK_PUSHED):
        end = min(start + _BLOCK_PUSHED, low.shape[0])
        if start > 0:
            before, r, dr = low[start:, :start], low[start:end, :start], out[start:end, :start]
            take_off(out[start:, start:end], product(out[start:, :start], r.T))
            take_off(out[start:, start:end], product(before, dr.T))
        d, s = np.ascontiguousarray(low[start:end, start:end]), lower(out[start:end, start:end])
        _push_block(d, s)
        put(out[start:end, start:end], s)
        if end < low.shape[0]:
            rest = out[end:, start:end]
            take_off(rest, product(low[end:, start:end], s.T))
            put(rest, below(d, rest.T).T)
    return out


linear_rule(real_factor, _real_forward, _real_push, _real_pull)


@stands_for(np.linalg.cholesky)
def cholesky(a):
    if not is_matrix(a):
        return None
    return calling(complex_factor if is_complex(a) else real_factor, "a")
