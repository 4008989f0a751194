"""Functions of public packages behind functions of ours: what takes functions, flags, values of types."""

import numpy as np
from clifford.g3 import e1, e2, e3
from numba import njit
from pvlib.spa import solar_position_loop
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


@njit
def sun(latitude, longitude, elevation, pressure, temperature, refraction):
    """Without the two flags among the arguments, at which what is computed jumps."""
    out = np.zeros((6, 2))
    place = np.array([latitude, longitude, elevation, pressure, temperature, refraction, 0.0, 0.0])
    solar_position_loop(np.array([1.6e9, 1.61e9]), np.array([67.0, 67.0]), place, out)
    return out


FIRST, SECOND = 1.0 * e1 + 0.5 * e2, 0.3 * e3 - 0.2 * e2 * e3 + 0.4


@njit
def multivectors(x, y):
    """An extension type with operators of its own."""
    a = x * FIRST + SECOND
    r = a * (FIRST + y * SECOND) * ~a
    return r.value[0] + r.value[4] * x
