"""Functions of public packages that take functions, called with one of ours."""

import numpy as np
from numba import njit
from quantecon.optimize import brent_max, nelder_mead
from quantecon.optimize.root_finding import brentq, newton


@njit
def _kepler(x, e, m):
    return x - e * x * x / 3 - m


@njit
def _slope(x, e, m):
    return 1 - e * 2 * x / 3


@njit
def newton_root(e, m):
    return newton(_kepler, 1.0, _slope, (e, m / 4)).root


@njit
def brent_root(e, m):
    return brentq(_kepler, 0.0, 1.5, (e, m / 4)).root


@njit
def _bump(x, a, b):
    return -((x - a) ** 2) * b - x**4


@njit
def brent_maximum(a, b):
    return brent_max(_bump, -1.0, 1.0, (a, b))[1]


@njit
def _bowl(x, a, b):
    return -((x[0] - a) ** 2) - b * (x[1] - x[0]) ** 2 - x[1] ** 4


@njit
def nelder_mead_minimum(a, b):
    return nelder_mead(_bowl, np.array([0.1, 0.2]), args=(a, b)).fun
