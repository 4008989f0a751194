"""Functions of the packages of `sixth.py` behind ours: for complex arrays and functions."""

import numpy as np
import vector
from acoular import environments, fastFuncs, tfastfuncs, tprocess
from africanus.calibration.phase_only import phase_only
from africanus.calibration.utils.corrupt_vis import corrupt_vis
from africanus.calibration.utils.residual_vis import residual_vis
from africanus.rime import predict
from fast_vmdpy.core import _solve_numba
from finitewave.cpuwave.tracker.spiral_wave_core_tracker import _correct_tip_pos, _track_tip_line
from ipie.estimators.generic import exx_kernel_rchol_complex
from ipie.estimators.local_energy_wicks import build_exchange_contributions_opt
from nbkode.nbcompat.zeros import newton_hd
from numba import njit
from properscoring import _gufuncs
from pylops.basicoperators._spread_numba import _matvec_numba_onthefly
from pylops.signalprocessing._radon2d_numba import _create_table_numba, _hyperbolic_numba


def made(lazy):
    """What acoular's decorator makes of a function when it is first called."""
    cells = dict(zip(lazy.__code__.co_freevars, lazy.__closure__, strict=True))
    return cells["decorator"].cell_contents(lazy.__wrapped__)


dist_mat = made(environments.dist_mat)
beamformer = made(fastFuncs._freqBeamformer_FullCSM)
beamformer_of_eigenvalues = made(fastFuncs._freqBeamformer_EigValues)
cross_spectra = made(fastFuncs.calcCSM)
delay_and_sum = made(tfastfuncs._delayandsum4)
steer_3 = made(tfastfuncs._steer_III)
spectral_sum = made(tprocess._spectral_sum)

# Vectorized for threads, which compiled code cannot call.
steered = njit(fastmath=True)(fastFuncs._freqBeamformer_SpecificSteerVec_FullCSM.__wrapped__)
steered_eigenvalues = njit(fastmath=True)(
    fastFuncs._freqBeamformer_EigValProb_SpecificSteerVec_CsmRemovedDiag.__wrapped__
)
psf_true_location = njit(fastmath=True)(fastFuncs._psf_Formulation4AkaTrueLocation.__wrapped__)
damas = njit(fastmath=True)(fastFuncs.damasSolverGaussSeidel.__wrapped__)
transfer = njit(fastmath=True)(fastFuncs._transferCoreFunc.__wrapped__)

# Which Numba calls with an axis to spare from Python alone.
ranked_probability = njit(_gufuncs._crps_ensemble_gufunc.gufunc_builder.py_func)


@njit
def cross_spectral_matrix(a, b):
    csm = np.zeros((a.shape[0], a.shape[1], a.shape[1]), np.complex128)
    return cross_spectra(csm, a + 1j * b)


@njit
def steered_power(a, b, v, loss):
    out = np.zeros((2, 1))
    steered(a + 0.2j * b, v - 0.3j * v, loss, out[0], out[1])
    return out


@njit
def steered_eigenvalue_power(values, vectors, v, loss):
    out = np.zeros((2, 1))
    steered_eigenvalues(values, vectors + 0.4j * vectors**2, v - 0.3j * v, loss, out[0], out[1])
    return out


@njit
def corrupted(a, b):
    at, counts = np.array([0, 2]), np.array([2, 2])
    return corrupt_vis(
        at, counts, np.array([0, 0, 1, 0]), np.array([1, 2, 2, 1]), a + 0.3j * a**2, b + 0.2j * b
    )


@njit
def residual(a, b, c):
    at, counts = np.array([0, 2]), np.array([2, 2])
    flags = np.zeros(c.shape, np.bool_)
    first, second = np.array([0, 0, 1, 0]), np.array([1, 2, 2, 1])
    return residual_vis(
        at, counts, first, second, a + 0.3j * a**2, c + 0.1j * c, flags, b + 0.2j * b
    )


@njit
def phase_only_step(a, b, c):
    at, counts = np.array([0, 2]), np.array([2, 2])
    flags = np.zeros(c.shape, np.bool_)
    first, second = np.array([0, 0, 1, 0]), np.array([1, 2, 2, 1])
    return phase_only.compute_jhj_and_jhr(
        at, counts, first, second, np.exp(1j * a), c + 0.1j * c, b + 0.2j * b, flags
    )


@njit
def with_gains(a, b):
    first, second = np.array([0, 0, 1, 0]), np.array([1, 2, 2, 1])
    gains = a + 0.3j * a**2
    return predict.apply_gains(np.array([0, 0, 1, 1]), first, second, gains, b + 0.2j * b, gains)


@njit
def decomposed(a, b, freqs, alpha, omega):
    return _solve_numba(a + 1j * b, freqs, alpha, 0.1, 2, False, omega, 1e-12, 6)


@njit
def tip(u, u_new, threshold):
    at = _correct_tip_pos(0, 0, u, u_new, threshold)
    return 0.0 if at is None else at[0] + 2 * at[1]


@njit
def tip_line(u, u_new, threshold):
    total = 0.0
    for at in _track_tip_line(u, u_new, threshold, 1):
        total += at[0] + 2 * at[1]
    return total


@njit
def exchange(a, b):
    return exx_kernel_rchol_complex(a + 0.2j * a**2, b - 0.3j * b)


@njit
def exchange_of_determinants(a, b, theta, ci):
    lvo = np.zeros((2, 3, 2, 2), np.complex128)
    energy = build_exchange_contributions_opt(a, b, theta + 0.2j * theta**2, ci + 0.1j * ci, lvo)
    return energy, lvo


@njit
def circle(x, p):
    return np.array([x[0] ** 2 + x[1] ** 2 - p, x[0] - p * x[1]])


@njit
def newton_root(start, p):
    return newton_hd(circle, start, (p,))


@njit
def hyperbolic_table(x, px):
    return _create_table_numba(_hyperbolic_numba, x, px, 5, len(px), len(x), True)[1]


@njit
def curve(ix, it):
    at = np.array([it + 0.3 * ix, it + 0.2 * ix * it])
    return np.floor(at), at - np.floor(at)


@njit
def spread(x):
    return _matvec_numba_onthefly(x, np.zeros((2, 9)), (3, 4), True, curve)


@njit
def momentum_angle(px, py, other):
    a = vector.obj(px=px, py=py)
    b = vector.obj(px=other, py=0.7)
    return a.deltaphi(b) + a.pt * b.pt


@njit
def invariant_mass(pt, phi, eta, mass):
    a = vector.obj(pt=pt, phi=phi, eta=eta, mass=mass)
    b = vector.obj(pt=0.7, phi=0.2, eta=-0.4, mass=0.3)
    return (a + b).mass
