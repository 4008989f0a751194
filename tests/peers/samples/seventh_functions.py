"""Functions of the packages of `seventh.py` behind ours: for complex numbers, tuples and functions."""

import numpy as np
from CyRK.nb.nbrk import nbsolve_ivp
from dynasor.correlation_functions import _sed_inner_loop
from eko.interpolation import log_evaluate_Nx
from ekore.anomalous_dimensions import exp_matrix
from ekore.anomalous_dimensions.unpolarized.space_like import as2
from ekore.harmonics import cache as harmonic_sums
from fbpic.fields.numba_methods import numba_correct_currents_curlfree_standard
from hyppo.ksample.manova import _compute_w
from numba import njit

AREA = np.array([[-1.2, -0.4, 0.3, 0.7, 0.2], [-0.4, 0.0, 0.5, 0.1, 0.4]])


@njit
def matrix_exponential(a):
    exponential, values, _ = exp_matrix(a + 0.3j * a**2)
    return exponential, values


@njit
def non_singlet_dimension(re, im):
    return as2.gamma_nsm(complex(re, im), 4, harmonic_sums.reset())


@njit
def quark_gluon_dimension(re, im):
    return as2.gamma_qg(complex(re, im), 4, harmonic_sums.reset())


@njit
def interpolator(re, im, logx):
    return log_evaluate_Nx(complex(re, im), logx, AREA)


@njit
def spectral_energy(phases, velocities):
    return _sed_inner_loop(np.exp(1j * phases), velocities + 0.3j * velocities**2)


@njit
def corrected_current(fields, kz, kr, inv_k2, inv_dt):
    f = fields + 0.3j * fields**2
    numba_correct_currents_curlfree_standard(
        f[0], f[1], f[2], f[3], f[4], kz, kr, inv_k2, inv_dt, 4, 4
    )
    return f


@njit
def within_groups(a, b):
    return _compute_w((a, b), (a[0] + 0.1, b[1] - 0.2))


@njit
def lotka_volterra(t, y, a, b):
    return np.array([a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]])


@njit
def prey_and_predator(y0, a, b):
    solved = nbsolve_ivp(lotka_volterra, (0.0, 2.0), y0, (a, b), 1e-6, 1e-8, warnings=False)
    return solved[6]
