"""`np.linalg.det` and `np.linalg.slogdet`.

`d det = tr(adj(A) dA)` with the adjugate, which is `det(A) A^-1` where there is an inverse, and is
known of singular matrices too; `d log det = tr(A^-1 dA)` (Giles, NA-08/01, sections 2.2.4 and 2.3.1).
Of complex matrices, the real part of the latter is the change of `log |det|`, the imaginary part that
of the angle of the sign.
"""

import numpy as np
from numba import njit

from ..arrays.table import stands_for
from ..registry import linear_rule
from .matrices import adjoint, product, scaled, scaled_columns, trace
from .rule_calls import calling, is_complex, is_matrix
from .systems import inverse


@njit
def adjugate(a):
    """The transposed cofactors of a square matrix."""
    det = np.linalg.det(a)
    if det != 0 and np.isfinite(det):
        return scaled(np.linalg.inv(a), det)
    u, s, vh = np.linalg.svd(a)
    others = np.ones_like(s)
    for k in range(s.size):
        for i in range(s.size):
            if i != k:
                others[k] *= s[i]
    phase = np.linalg.det(u) * np.linalg.det(vh)
    return scaled(product(scaled_columns(adjoint(vh), others), adjoint(u)), phase)


@njit
def _adjugate_forward(a):
    x = inverse(a)
    adj = scaled(x, determinant(a))
    return adj, (x, adj)


@njit
def _adjugate_push(residuals, tangents):
    x, adj = residuals
    turned = product(x, tangents[0])
    return scaled(adj, trace(turned)) - product(turned, adj)


@njit
def _adjugate_pull(residuals, bar):
    x, adj = residuals
    turned = product(x.T, bar)
    return (scaled(x.T, trace(product(bar.T, adj))) - product(turned, adj.T),)


linear_rule(adjugate, _adjugate_forward, _adjugate_push, _adjugate_pull)


@njit
def determinant(a):
    return np.linalg.det(a)


@njit
def _det_forward(a):
    return determinant(a), adjugate(a)


@njit
def _det_push(adj, tangents):
    return trace(product(adj, tangents[0]))


@njit
def _det_pull(adj, bar):
    return (scaled(adj.T, bar),)


linear_rule(determinant, _det_forward, _det_push, _det_pull)


@stands_for(np.linalg.det)
def det(a):
    return calling(determinant, "a") if is_matrix(a) else None


# -- sign and logarithm --------------------------------------------------------------------------


@njit
def sign_and_log(a):
    """`np.linalg.slogdet` of a real matrix."""
    return np.linalg.slogdet(a)


@njit
def _real_forward(a):
    found = sign_and_log(a)
    return found, inverse(a)


@njit
def _real_push(x, tangents):
    log = trace(product(x, tangents[0]))
    return 0.0 * log, log


@njit
def _real_pull(x, bars):
    return (scaled(x.T, bars[1]),)


linear_rule(sign_and_log, _real_forward, _real_push, _real_pull)


@njit
def phase_and_log(a):
    """`np.linalg.slogdet` of a complex matrix."""
    return np.linalg.slogdet(a)


@njit
def _complex_forward(a):
    found = phase_and_log(a)
    return found, (found[0], inverse(a))


@njit
def _complex_push(residuals, tangents):
    sign, x = residuals
    moved = trace(product(x, tangents[0]))
    return sign * 1j * moved.imag, moved.real


@njit
def _complex_pull(residuals, bars):
    sign, x = residuals
    turn = (bars[0] * 1j * sign).real
    return (scaled(x.T, bars[1] - 1j * turn),)


linear_rule(phase_and_log, _complex_forward, _complex_push, _complex_pull)


@stands_for(np.linalg.slogdet)
def slogdet(a):
    if not is_matrix(a):
        return None
    return calling(phase_and_log if is_complex(a) else sign_and_log, "a")
