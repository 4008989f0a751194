"""Functions of the packages of `fourth.py` behind ours: what takes tuples and functions."""

import numpy as np
from mrmustard.math.lattice.steps import vanilla_step
from mrmustard.math.lattice.strategies.vanilla import vanilla
from numba import njit
from PySeismoSoil.helper_site_response import _time_stepping
from scoringrules.core.crps._gufuncs import _crps_ensemble_pwm_gufunc, _vrcrps_ensemble_nrg_gufunc
from scoringrules.core.energy._gufuncs import _energy_score_nrg_gufunc
from scoringrules.core.kernels._gufuncs import _ks_ensemble_mv_nrg_gufunc, _vrks_ensemble_uv_gufunc
from scoringrules.core.variogram._gufuncs import _variogram_score_nrg_gufunc
from sigpy.interp import _get_gridding, _get_interpolate
from sigpy.mri.rf.trajgrad import runge_kutta
from sigpy.thresh import _soft_thresh
from thewalrus._hermite_multidimensional import _hermite_multidimensional_renorm

_interpolate_2d = _get_interpolate("kaiser_bessel")[1]
_interpolate_1d = _get_interpolate("spline")[0]
_grid_2d = _get_gridding("kaiser_bessel")[1]


@njit
def response_spectrum(a, wn, xi, coefficients):
    A, B, C, D, A_, B_, C_, D_ = coefficients
    para = (1, len(a), A, B, C, D, A_, B_, C_, D_, wn, wn, xi, a)
    return _time_stepping(para)


@njit
def hermite(R, y):
    G = np.zeros((3, 4))
    G[0, 0] = 1.0
    return _hermite_multidimensional_renorm(R, y, G)


@njit
def fock_state(a, b):
    return vanilla((3, 4), a + 0.3j * a, b - 0.2j * b, 0.7 + 0.1j)


@njit
def next_amplitude(amplitudes, a, b):
    return vanilla_step(amplitudes + 0j, a + 0.3j * a, b + 0j, (2, 1))


@njit
def read_at_points(image, at):
    read = np.zeros((1, at.shape[0]))
    return _interpolate_2d(read, image, at, np.array([3.0, 3.0]), np.array([4.0, 4.0]))


@njit
def read_on_line(image, at):
    read = np.zeros((1, at.shape[0]))
    return _interpolate_1d(read, image, at, np.array([3.0]), np.array([2.0]))


@njit
def spread_on_grid(values, at):
    grid = np.zeros((1, 5, 6))
    return _grid_2d(grid, values, at, np.array([3.0, 3.0]), np.array([4.0, 4.0]))


@njit
def spiral_step(ds, st, gradient, smax):
    step = runge_kutta(ds, st, gradient, smax)
    return 0.0 if step is None else step


@njit
def thresholded(threshold, a):
    return _soft_thresh(threshold, a)


@njit
def crps(observed, forecasts):
    out = np.zeros(observed.shape)
    _crps_ensemble_pwm_gufunc(observed, forecasts, out)
    return out


@njit
def rescaled_crps(observed, forecasts, weight, weights):
    out = np.zeros(observed.shape)
    _vrcrps_ensemble_nrg_gufunc(observed, forecasts, weight, weights, out)
    return out


@njit
def energy_score(observed, forecasts):
    out = np.zeros(observed.shape[0])
    _energy_score_nrg_gufunc(observed, forecasts, out)
    return out


@njit
def kernel_score(observed, forecasts):
    out = np.zeros(observed.shape[0])
    _ks_ensemble_mv_nrg_gufunc(observed, forecasts, out)
    return out


@njit
def rescaled_kernel_score(observed, forecasts, weight, weights):
    out = np.zeros(observed.shape)
    _vrks_ensemble_uv_gufunc(observed, forecasts, weight, weights, out)
    return out


@njit
def variogram_score(observed, forecasts, weights):
    out = np.zeros(observed.shape[0])
    _variogram_score_nrg_gufunc(observed, forecasts, weights, 0.5, out)
    return out
