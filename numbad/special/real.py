"""Functions that SciPy has no C function of doubles for, in nopython code."""

import math

import numpy as np
from numba import njit

from ..rules.special import _zeta, polygamma

_nopython = njit(error_model="numpy")


@_nopython
def polygamma_of_doubles(n, x):
    """`polygamma` of an order that is an integer of any type; nan for other orders."""
    if n < 0.0 or n != np.rint(n):
        return math.nan
    return polygamma(int(n), x)


@_nopython
def hurwitz_zeta(s, q):
    """The sum of (q + k)**-s over k = 0, 1, ...: infinite for s == 1, nan below; DLMF 25.11.1."""
    if not s > 1.0:
        return math.inf if s == 1.0 else math.nan
    if q <= 0.0:
        if q == np.rint(q):
            return math.inf
        if s != np.rint(s):
            return math.nan
    return _zeta(s, q)
