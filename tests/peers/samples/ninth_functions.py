"""Functions of the packages of `ninth.py` behind ours: for complex arrays, functions, tuples and methods."""

import numpy as np
from nemesispy.common import calc_hydrostat
from nemesispy.radtran import calc_radiance
from numba import njit
from numba_integrators import _aux, _basic
from numba_scipy_complex.src.functions.gamma import gamma
from pointpats import centrography
from porespy.tools import _marching_squares
from pyrfu.pyrf import ebsp
from pyrfu.pyrf import wavelet as wavelets
from ross import results
from sarracen.interpolate.cpu_backend import CPUBackend
from sarracen.kernels.cubic_spline import CubicSplineKernel
from scri import mode_calculations, rotations, waveform_base
from sdt.loc.daostorm_3d import fit_numba, fit_numba_impl
from sectionproperties.analysis import fea
from sktime.transformations import evoforest_tswm
from stochvolmodels.pricers import heston_pricer
from stochvolmodels.pricers.logsv import affine_expansion
from sxs.waveforms import flux, mode_utilities
from xugrid.core.sparse import MatrixCSR
from xugrid.ugrid import interpolate

from ..packages import compiled

spline = CubicSplineKernel.w
image_of, along_line = CPUBackend._fast_2d, CPUBackend._fast_3d_line
wavelet_of, averages_of = wavelets._ww, ebsp._average_data


@njit
def smoothed_image(x, y, w, h, low, high):
    return image_of(x, y, x, 0.0, w, h, spline, 2.0, 6, 5, low, high, low, high, 2)


@njit
def line_of_sight(x, y, z, w, h, low, high):
    return along_line(x, y, z, w, h, spline, 2.0, 9, low, high, low, high, 0.3, 0.9)


@njit
def wavelet(a, b, scales, sigma, frequencies, nyquist):
    return wavelet_of(a + 1j * b, scales, sigma, frequencies, nyquist)


@njit
def averaged(data):
    x, y = np.linspace(0.0, 1.9, 20), np.linspace(0.2, 1.7, 4)
    return averages_of(data + 0.3j * data**2, x, y, 0.5)


norm_of, magnitude_of = waveform_base.complex_array_norm, waveform_base.complex_array_abs
compare_modes, rotate_modes = (
    mode_calculations._LLComparisonMatrix,
    rotations._rotate_decomposition_basis_by_constant,
)
rate_of = mode_calculations._LdtVector
rotation_of, expectation_of = (
    compiled(mode_utilities._expectation_value_LL),
    compiled(flux.sparse_expectation_value),
)


@njit
def quadrupole():
    return np.array([[2, -2], [2, -1], [2, 0], [2, 1], [2, 2]])


@njit
def mode_norms(a, b):
    norms, magnitudes = np.zeros(len(a)), np.zeros(len(a))
    norm_of(a + 1j * b, norms)
    magnitude_of(a - 0.3j * b, magnitudes)
    return norms, magnitudes


@njit
def comparison_matrix(a, b):
    matrix = np.zeros((len(a), 3, 3), np.complex128)
    compare_modes(a + 1j * b, b - 0.3j * a, quadrupole(), matrix)
    return matrix


@njit
def rotated_modes(a, d):
    modes = a + 0.3j * a**2
    rotate_modes(modes, 1, 2, d - 0.2j * d, np.zeros(5, np.complex128))
    return modes


@njit
def angular_momentum_rate(a, b):
    rate = np.zeros((len(a), 3))
    rate_of(a + 1j * b, b - 0.3j * a, quadrupole(), rate)
    return rate


@njit
def expected_rotation(a, b):
    expected = np.zeros((len(a), 3, 3))
    rotation_of(a + 1j * b, quadrupole(), expected)
    return expected


@njit
def expectation(a, b, values):
    rows, columns = np.array([0, 2, 4, 3]), np.array([1, 1, 3, 0])
    return expectation_of(a + 1j * b, rows, columns, values, b - 0.3j * a)


shape_of = vars(fea)["__shape_function_cached"].__wrapped__


@njit
def triangle_shape(c, p):
    corners = (c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11])
    return shape_of(corners, (p[0], p[1], p[2]))


option_prices = heston_pricer.heston_chain_pricer
sv_coefficients = affine_expansion.solve_analytic_ode_for_a
KINDS = np.array(["P", "C", "C"])


@njit
def heston_prices(v0, theta, kappa, volvol, rho, strikes):
    prices = option_prices(
        v0,
        theta,
        kappa,
        volvol,
        rho,
        np.array([0.25, 0.7]),
        np.array([1.0, 1.1]),
        (strikes, strikes + 0.1),
        (KINDS, KINDS),
        np.array([0.98, 0.95]),
    )
    return prices[0], prices[1]


@njit
def log_sv_coefficients(ttm, theta, kappa1, kappa2, beta, volvol):
    return sv_coefficients(
        ttm, theta, kappa1, kappa2, beta, volvol, -0.5 + 0.8j, 0j, True, year_days=12
    )


ellipse_of = results._init_orbit


@njit
def orbit(a, b, c, d):
    return ellipse_of(complex(a, b), complex(c, d))


features_of = evoforest_tswm._kernels()
features_of = features_of[0] if isinstance(features_of, tuple) else features_of
BANKS = evoforest_tswm.build_consts()


@njit
def kernel_features(w):
    return features_of(w[None, :], *BANKS)


circumscribed_of = centrography._circle


@njit
def circumscribed(a, b, c, d, e, f):
    return circumscribed_of((a, b), (c, d), (e, f))


@njit
def complex_gamma(re, im):
    return gamma(complex(re, im))


Preconditioner = interpolate.ILU0Preconditioner
update, solve = interpolate._update, interpolate._solve


@njit
def preconditioned(values, rhs, delta, relax):
    matrix = MatrixCSR(values, np.array([0, 1, 0, 1, 2, 1, 2]), np.array([0, 2, 5, 7]), 3, 3, 7)
    ilu = Preconditioner(
        3,
        3,
        np.array([0, 1, 3, 4]),
        np.array([0, 2, 4]),
        np.array([1, 0, 2, 1]),
        np.zeros(4),
        np.zeros(3),
        np.zeros(3),
    )
    update(ilu, matrix, delta, relax)
    solve(ilu, rhs)
    return ilu.work


iterate_fit = fit_numba_impl._numba_iterate_2d
compute_peak, add_to_fit = fit_numba._numba_calc_peak, fit_numba._numba_add_to_fit


@njit
def peak_fit(image, centers, widths):
    data = np.zeros((2, 9))
    data[:, 0] = 7.0
    data[:, 1] = 2.5 + 3 * centers[:, 0]
    data[:, 3] = 2.5 + 3 * centers[:, 1]
    data[:, 2] = data[:, 4] = 0.2 + 0.3 * widths
    data[:, 5] = 1.0
    fit, background, count = np.zeros((9, 9)), np.zeros((9, 9)), np.zeros((9, 9))
    distances, gauss = np.zeros((2, 2, 9)), np.zeros((2, 2, 9))
    pixels, sizes = np.empty((2, 2), np.int64), np.full((2, 2), 2)
    for k in range(2):
        pixels[k, 0], pixels[k, 1] = int(data[k, 1]), int(data[k, 3])
        compute_peak(k, data, distances, gauss, pixels, sizes)
        add_to_fit(k, fit, background, count, data, gauss, pixels, sizes)
    sign, clamp = np.ones((2, 7), np.int64), np.ones((2, 7))
    errors = np.zeros(2)
    for _ in range(3):
        iterate_fit(
            image,
            fit,
            background,
            count,
            data,
            distances,
            gauss,
            sign,
            clamp,
            errors,
            pixels,
            sizes,
            0.6,
            2,
            1e-9,
        )
    return data, fit


runge_kutta_step = _basic._step
STAGES, TABLE_A, TABLE_B, TABLE_C, TABLE_E = _aux.RK45_params[1:6]


@njit
def predators(t, y):
    a, b = y[2], y[3]
    return np.array([a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - t * y[1], 0.0, 0.0])


@njit
def runge_kutta(y):
    slopes = np.zeros((STAGES + 1, 4))
    slopes[-1] = predators(0.0, y)
    tolerance = np.full(4, 1e-6)
    t, h, running = 0.0, 0.01, True
    while running:
        running, t, y, h, _, slopes = runge_kutta_step(
            predators,
            1.0,
            t,
            y,
            1.5,
            h,
            1.0,
            slopes,
            STAGES,
            tolerance,
            tolerance,
            TABLE_A,
            TABLE_B,
            TABLE_C,
            TABLE_E,
            -0.2,
        )
    return y


perimeter_of = _marching_squares.jit_marching_squares_perimeter_and_area


@njit
def perimeter_and_area(dx, dy):
    pores = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    return perimeter_of(pores, 1, (dx, dy), True)


altitudes_of, radiance_of = calc_hydrostat.calc_hydrostat, calc_radiance.calc_radiance


@njit
def hydrostatic(p, t, weights, mass, radius, h):
    return altitudes_of(p, t, 1e-27 * weights, mass, radius, h)


@njit
def radiance(waves, u, p, t, vmr, k, del_g, scaling, radius, solar, k_cia, dh):
    grid, temperatures = np.array([1e2, 1e4, 1e6]), np.array([500.0, 1000.0, 1500.0])
    gases, numbers = np.array([39, 40]), np.linspace(2000.0, 5500.0, 5)
    return radiance_of(
        waves,
        u,
        p,
        t,
        vmr,
        k,
        grid,
        temperatures,
        del_g,
        scaling,
        radius,
        solar,
        1e-46 * k_cia,
        gases,
        numbers,
        temperatures,
        dh,
    )
