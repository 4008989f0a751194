"""Functions of the packages of `fifth.py` behind ours: what takes tuples and functions."""

import numpy as np
from fastpose.refiners.absolute import _refine_absolute_lm
from fastpose.scorers.sampson import pose_sampson_score
from fastpose.solvers.fundamental import _solve_7pt
from fastpose.solvers.homography import _solve_h4p
from fastpose.solvers.p3p import _solve_p3p
from lumafit import levenberg_marquardt_core
from numba import njit
from rapid_roots.solvers._jit_solvers import _brent_scalar, _newton_raphson_scalar
from regridding._weights._weights_conservative_1d._weights_conservative_1d import (
    _weights_conservative_1d,
)
from regridding.geometry import line_triangle_intersection_parameters, solid_angle
from superflexpy.implementation.computation.pegasus_root_finding import PegasusNumba
from superflexpy.implementation.elements.hbv import FastReservoir, UnsaturatedReservoir
from xrspatial.focal import _apply_numpy, _calc_std
from yennefer.dop853 import _dop853_integrate
from yennefer.rk4 import _rk4_integrate
from yennefer.rk45 import _rkf45_integrate

_solve = PegasusNumba._solve
_fast = FastReservoir._differential_equation_numba
_unsaturated = UnsaturatedReservoir._differential_equation_numba


@njit
def poses_of_three_points(x, y, X, Y, Z):
    poses = np.zeros((4, 12))
    _solve_p3p((x, y, X, Y, Z), np.arange(3), poses, np.zeros(50))
    return poses


@njit
def homography(x, y, xp, yp):
    models = np.zeros((1, 9))
    _solve_h4p((x, y, xp, yp), np.arange(4), models, np.zeros(72))
    return models


@njit
def fundamental_matrices(x, y, xp, yp):
    models = np.zeros((3, 9))
    _solve_7pt((x, y, xp, yp), np.arange(7), models, np.zeros(93))
    return models


@njit
def refined_pose(x, y, X, Y, Z, start):
    pose = np.zeros(12)
    _refine_absolute_lm((x, y, X, Y, Z), start, pose, 9.0, 8)
    return pose


@njit
def sampson_score(pose, x, y, xp, yp):
    return pose_sampson_score(pose, (x, y, xp, yp), 0.5, 1e9)[0]


@njit
def fast_reservoir(S0, P, k, alpha, dt):
    return _solve(_fast, S0, 1e-12, 1e-12, 60, P, k, alpha, dt)


@njit
def unsaturated_reservoir(S0, P, Smax, Ce, m, beta, PET, dt):
    return _solve(_unsaturated, S0, 1e-12, 1e-12, 60, P, Smax, Ce, m, beta, PET, dt)


@njit
def _oscillator(t, y, p):
    return np.array([y[1], -p[0] * y[0] - p[1] * y[1] * y[0] ** 2 + p[2] * np.cos(t)])


@njit
def runge_kutta_fehlberg(y0, p):
    return _rkf45_integrate(_oscillator, y0, 0.1, 1.5, p, 1e-5, 1e-5, 0.3)[1][-1]


@njit
def runge_kutta(y0, p, dt):
    return _rk4_integrate(_oscillator, y0, dt, 1.0, p)[1][-1]


@njit
def dormand_prince(y0, p):
    return _dop853_integrate(_oscillator, y0, 0.1, 1.5, p, 1e-6, 1e-6, 500)[1][-1]


@njit
def _cubic(x, a, b):
    return x**3 + a * x - b


@njit
def _slope_of_cubic(x, a, b):
    return 3 * x**2 + a


@njit
def newton_root(a, b):
    return _newton_raphson_scalar(_cubic, _slope_of_cubic, 1.0, 1e-12, 50, a, b)[0]


@njit
def brent_root(a, b):
    return _brent_scalar(_cubic, 0.0, 3.0, 1e-13, 100, a, b)[0]


@njit
def _decay(p, t):
    return p[0] * np.exp(-p[1] * t)


@njit
def fitted(y, t, start):
    return levenberg_marquardt_core(_decay, start, y, None, 20, args=(t,))[0]


@njit
def angle_of_triangle(x, a, b, c):
    at, triangle = (x[0], x[1], x[2]), ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))
    return solid_angle(at, triangle)


@njit
def line_through_triangle(x, y, a, b, c):
    line = ((x[0], x[1], x[2]), (y[0], y[1], y[2]))
    triangle = ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))
    return line_triangle_intersection_parameters(line, triangle)


@njit
def regridded(x, x_new, values):
    out = np.zeros(x_new.shape[0] - 1)
    i, j, weights = _weights_conservative_1d(x, x_new, None)
    for k in range(weights.shape[0]):
        out[j[k]] += weights[k] * values[i[k]]
    return out


@njit
def focal_deviation(data, kernel):
    return _apply_numpy(data, kernel, _calc_std)
