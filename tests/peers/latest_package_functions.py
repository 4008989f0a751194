"""Functions of the packages of `latest_package_calls.py` behind ours: what takes tuples and functions."""

import numpy as np
from fastpose.refiners.absolute import _refine_absolute_lm
from fastpose.scorers.sampson import pose_sampson_score
from fastpose.solvers.fundamental import _solve_7pt
from fastpose.solvers.homography import _solve_h4p
from fastpose.solvers.p3p import _solve_p3p
from numba import njit
from superflexpy.implementation.computation.pegasus_root_finding import PegasusNumba
from superflexpy.implementation.elements.hbv import FastReservoir, UnsaturatedReservoir

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
