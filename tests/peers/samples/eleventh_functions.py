"""Functions of the packages of `eleventh.py` behind ours: for complex arrays, functions and dictionaries."""

import numpy as np
from archnemesis.LineData_0 import add_line_set_monochromatic_spectrum
from archnemesis.lineshape import lorentz
from archnemesis.lineshape.voigt_impl.voigt_schreier import voigt_schreier
from dspeed.processors import linear_slope_fit, trap_filters
from imod.prepare import layerregrid
from kalepy import kernels as densities
from numba import njit, types
from numba.typed import Dict
from plonk.analysis import sph
from plonk.utils import kernels
from pyqula.aaatk import aaa
from pyqula.chitk import chiAB, magneticresponse, pairchi
from pyqula.dmtk import fulldm
from qibojit.custom_operators import gates
from ranx.metrics.ndcg import _ndcg
from ranx.normalization.min_max_norm import _min_max_norm
from ranx.normalization.zmuv_norm import _zmuv_norm
from sdr._synchronization import _agc
from seaduck import kernel_weight
from smrt.core import fresnel
from smrt.rtsolver.delay_doppler_model import buchhaupt18
from smrt.rtsolver.multifresnel import multifresnel
from sparse.numba_backend import _common as sparse_products
from uxarray.grid import intersections
from vectorizers.transformers import info_weight, row_desnoise

lines_of = add_line_set_monochromatic_spectrum


@njit
def voigt_lines(grid, positions, strengths, doppler, widths, shifts):
    out = np.zeros(len(grid))
    lines_of(
        grid, voigt_schreier, positions, strengths, doppler, widths, shifts, 1.3, out, 0.0, 1.5, 9.0
    )
    return out


@njit
def lorentz_lines(grid, positions, strengths, doppler, widths, shifts):
    out = np.zeros(len(grid))
    lines_of(grid, lorentz, positions, strengths, doppler, widths, shifts, 1.3, out)
    return out


slopes_of = sph._compute_derivative
over_gradient, over_divergence, over_curl = (
    sph._compute_grad_over_neighbours,
    sph._compute_div_over_neighbours,
    sph._compute_curl_over_neighbours,
)
cubic, cubic_slope = kernels.kernel_cubic, kernels.kernel_gradient_cubic
wendland, wendland_slope = kernels.kernel_wendland_c4, kernels.kernel_gradient_wendland_c4


@njit
def gradient(positions, lengths, masses, density, quantity):
    near = [np.array([0, 1, 2, 3]), np.array([1, 2, 0]), np.array([3, 2])]
    here, kind = np.array([0, 1, 3]), np.arange(4)
    args = (positions, lengths, masses, cubic, cubic_slope, density, quantity)
    return slopes_of(here, near, kind, *args, over_gradient, 3, False)


@njit
def curl(positions, lengths, masses, density, quantity):
    near = [np.array([0, 1, 2, 3]), np.array([1, 2, 0]), np.array([3, 2])]
    here, kind = np.array([0, 1, 3]), np.arange(4)
    args = (positions, lengths, masses, wendland, wendland_slope, density, quantity)
    return slopes_of(here, near, kind, *args, over_curl, 3, False)


density_at, gaussian_kernel = densities._evaluate_numba, densities.Gaussian._evaluate


@njit
def kernel_density(white, data, points, weights):
    return density_at(white, data, points, weights, gaussian_kernel)


regrid_layers = layerregrid._regrid_layers


@njit
def harmonic_mean(values, weights):
    total, above = 0.0, 0.0
    for k in range(len(values)):
        if weights[k] > 0:
            total += weights[k] / values[k]
            above += weights[k]
    return above / total


@njit
def regridded(values, top, bottom, new_top, new_bottom):
    out = np.zeros((len(new_top), 2, 2))
    return regrid_layers(values, out, top, new_top, bottom, new_bottom, harmonic_mean)


# -- quantum -------------------------------------------------------------------------------------

rational_of, bubbles_of, exchange_of = (
    aaa._eval_scalar_jit,
    chiAB.chiAB_jit,
    magneticresponse.rkky_loop,
)
accumulate, density_matrix_of = pairchi._accumulate, fulldm.full_dm_vectorized


@njit
def rational(re, im, poles, values, weights):
    return rational_of(complex(re, im), poles + 0.3j, values + 0.7j, weights + 0j)


@njit
def susceptibility(re, im, energies, omegas, temperature, delta):
    states = re + 1j * im
    first = np.array([[1.0, 0.2, 0.0], [0.2, -1.0, 0.1], [0.0, 0.1, 0.4]]) + 0j
    second = np.array([[0.3, 0.5, 0.1], [0.5, 0.7, 0.0], [0.1, 0.0, -0.2]]) + 0j
    return bubbles_of(states, energies, states, energies, omegas, first, second, temperature, delta)


@njit
def indirect_exchange(energies, phases, occupations, re, im, delta):
    states = re + 1j * im
    return exchange_of(energies, np.exp(1j * phases), occupations, states[0], states[1], delta)


@njit
def density_matrix(energies, re, im, delta):
    return density_matrix_of(energies, re + 1j * im, delta)


apply_one, apply_two, apply_controlled, apply_fsim = (
    gates.apply_gate_kernel,
    gates.apply_two_qubit_gate_kernel,
    gates.multicontrol_apply_gate_kernel,
    gates.apply_fsim_kernel,
)


@njit
def circuit(re, im, a, b):
    state = re + 1j * im
    turn = np.array([[np.cos(a), -1j * np.sin(a)], [-1j * np.sin(a), np.cos(a)]])
    both = np.kron(turn, np.array([[np.cos(b), -np.sin(b)], [np.sin(b), np.cos(b)]]) + 0j)
    swap = np.array([np.cos(b) + 0j, -1j * np.sin(b), -1j * np.sin(b), np.cos(b), np.exp(1j * a)])
    apply_one(state, turn, 4, 1)
    apply_two(state, both, 2, 0, 2)
    apply_controlled(state, turn, np.array([0, 2], np.int32), 2, 2)
    apply_fsim(state, swap, 2, 1, 2)
    return state


# -- waves ---------------------------------------------------------------------------------------

reflection_of, layer_of, echo_of, gained = (
    fresnel.fresnel_reflection_coefficients_maezawa09_rigorous_compiled,
    multifresnel.forward_matrix_fulloutput,
    buchhaupt18.ft2_FSSR,
    _agc._numba_agc_loop,
)


@njit
def reflection(a, b, c, d, mu):
    return reflection_of(complex(a, b), complex(c, d), mu, "void")


@njit
def layer(a, b, c, d, mu, depth, temperature):
    matrix, (cosine, thickness) = layer_of(
        complex(a, b), complex(c, d), mu, depth, temperature, 9.0
    )
    return matrix, cosine, thickness


@njit
def echo(frequencies, doppler, altitude, alpha, gamma, mu, decay, pitch, roll):
    return echo_of(frequencies, doppler, altitude, alpha, gamma, mu, decay, pitch, roll)


@njit
def gain_control(re, im, attack, decay, reference, gain):
    return gained(re + 1j * im, attack, decay, reference, gain)


cross = np.array([[0, 0], [1, 0], [2, 0], [-1, 0], [0, 1], [0, -1]])
cross_of, square_of = (
    kernel_weight.kernel_weight_x(cross, "interp"),
    kernel_weight.kernel_weight_s(np.array([[i, j] for i in (-1, 0, 1) for j in (0, 1)]), 1, 0),
)


@njit
def cross_weights(x, y):
    return cross_of(x, y)


@njit
def square_weights(x, y):
    return square_of(x, y)


# -- signals and spheres ---------------------------------------------------------------------------

arcs_cross, latitude_crosses = (
    intersections.gca_gca_intersection,
    intersections.gca_const_lat_intersection,
)
fitted_line, trapezoid = linear_slope_fit.linear_slope_fit, trap_filters.trap_norm


@njit
def crossing_of_arcs(one, other):
    return arcs_cross(one, other)[0]


@njit
def crossing_of_latitude(arc, z):
    return latitude_crosses(arc, z)[0]


@njit
def line_of(wave):
    waves, out = wave.reshape(1, len(wave)), np.zeros((4, 1))
    fitted_line(waves, out[0], out[1], out[2], out[3])
    return out


@njit
def trapezoid_of(wave):
    out = np.zeros(len(wave))
    trapezoid(wave, np.int32(3), np.int32(2), out)
    return out


# -- words and counts ----------------------------------------------------------------------------

standardized, stretched = _zmuv_norm, _min_max_norm


@njit
def scores_of(values):
    out = Dict.empty(types.unicode_type, types.float64)
    out["a"], out["b"], out["c"], out["d"] = values[0], values[1], values[2], values[3]
    return out


@njit
def listed(scores):
    return np.array([scores[name] for name in ("a", "b", "c", "d") if name in scores])


@njit
def standardized_scores(values):
    return listed(standardized(scores_of(values)))


@njit
def stretched_scores(values):
    return listed(stretched(scores_of(values), True))


@njit
def discounted_gain(relevance):
    judged, found = np.zeros((3, 2)), np.array([[1.0, 0.9], [0.0, 0.7], [2.0, 0.4]])
    judged[:, 0] = np.array([0.0, 1.0, 3.0])
    judged[:, 1] = relevance
    return _ndcg(judged, found, 3, 0.5, False)


denoised_of, weight_of, information_of = (
    row_desnoise.numba_multinomial_em_sparse,
    info_weight.column_weights,
    info_weight.column_kl_divergence_approx_prior,
)
POINTERS, COLUMNS = np.array([0, 3, 5, 8], np.int32), np.array([0, 1, 3, 1, 2, 0, 2, 3], np.int32)


@njit
def denoised(data, background):
    return denoised_of(POINTERS, COLUMNS, data, background, 1e-9, 1e-9, 5.0, 0.3)


@njit
def information_weights(data, baseline):
    return weight_of(POINTERS, COLUMNS, data, baseline, information_of, 0.1)


# -- sparse matrices -----------------------------------------------------------------------------

FLOAT = np.dtype("f8")
product_of = sparse_products._dot_csr_csr_type(FLOAT, FLOAT)
dense_product_of = sparse_products._dot_csr_ndarray_type(FLOAT, FLOAT)
coo_product_of = sparse_products._dot_coo_ndarray_type(FLOAT, FLOAT)


@njit
def sparse_product(a, b):
    shape, rows = (3, 4), np.array([0, 2, 1, 3, 0, 1])
    starts, other_starts = np.array([0, 2, 4, 6]), np.array([0, 2, 3, 5, 6])
    columns = np.array([1, 3, 0, 2, 3, 1])
    data, _, _ = product_of(shape, a, b, rows, columns, starts, other_starts)
    return data


@njit
def sparse_dense_product(a, b):
    return dense_product_of((3, 2), a, np.array([0, 2, 1, 3, 0, 1]), np.array([0, 2, 4, 6]), b)


@njit
def coordinates_product(a, b):
    places = np.array([[0, 0, 1, 2], [0, 2, 1, 3]])
    return coo_product_of(places, a, b, (3, 2))
