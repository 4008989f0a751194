"""Elliptic integrals by their parameter m, for nopython code.

Numbers of equations are those of the NIST Digital Library of Mathematical Functions.
"""

import math

import numpy as np
from numba import njit
from scipy.special import ellipe, elliprd

_nopython = njit(error_model="numpy")


@_nopython
def ellipe_of_complement(p):
    """ellipe(1 - p): its derivative near p == 0 needs `p` itself."""
    return ellipe(1.0 - p)


@_nopython
def ellipkinc_by_parameter(phi, m):
    """The derivative of ellipkinc(phi, m) by `m`.

    19.25.5 gives sin(phi) * R_F(c, 1 - m*s, 1) with s = sin(phi)**2 and c = 1 - s, whose derivative by
    its second argument is -R_D / 6 (19.18.1 and 19.16.5). A period adds the derivative of 2 * ellipk(m).
    """
    periods, sine, c, delta = _within_period(phi, m)
    complete = elliprd(0.0, 1.0, 1.0 - m) if periods else 0.0
    return (sine**3 * elliprd(c, 1.0, delta) + 2.0 * periods * complete) / 6.0


@_nopython
def ellipeinc_by_parameter(phi, m):
    """The derivative of ellipeinc(phi, m) by `m`: 19.25.9 and 19.4.6, as (E - F) / (2 * m)."""
    periods, sine, c, delta = _within_period(phi, m)
    complete = elliprd(0.0, 1.0 - m, 1.0) if periods else 0.0
    return -(sine**3 * elliprd(c, delta, 1.0) + 2.0 * periods * complete) / 6.0


@_nopython
def _within_period(phi, m):
    """Whole periods pi in `phi`; of the rest the sine, the cosine squared, and 1 - m * sine**2."""
    periods = np.rint(phi / math.pi)
    rest = phi - periods * math.pi
    sine, cosine = math.sin(rest), math.cos(rest)
    return periods, sine, cosine * cosine, 1.0 - m * sine * sine
