"""Functions of the packages of `tenth.py` behind ours: for complex arrays, functions, tuples and methods."""

import contextlib
import pathlib
import sys

import cosipy
import exo_k.util.radiation
import numpy as np
import spinsim
from adm1_numba import model as adm1_model
from alphapept import chem, constants
from amset.interpolation import wavefunction
from amset.scattering import calculate
from GridCalEngine.Simulations.Derivatives import csc_derivatives
from ldtk import ldmodel
from libfmp.c8 import c8s2_salience
from numba import njit, types
from numba.typed import Dict
from pynamicalsys.common import hurst
from pynamicalsys.continuous_time import lyapunov as flow_lyapunov
from pynamicalsys.continuous_time import models as flows
from pynamicalsys.continuous_time import step_methods
from pynamicalsys.discrete_time import gali, periodic_orbits
from pynamicalsys.discrete_time import lyapunov as map_lyapunov
from pynamicalsys.discrete_time import models as maps
from pynamicalsys.hamiltonian_systems import clv, fixed_step, tangent, trajectory
from pynamicalsys.hamiltonian_systems import lyapunov as hamiltonian_lyapunov
from pynamicalsys.hamiltonian_systems import models as hamiltonians
from qnm import angular, radial
from soapy.numbalib import wfslib
from strax.processing import peak_properties
from straxen.plugins.peaks.peak_se_score import PeakSEScore
from upper_envelope.numba import drued_jorg_numba as druedahl
from upper_envelope.numba.fues_numba import fues_numba as fues
from xsdba import loess

from ..packages import compiled


@contextlib.contextmanager
def settings_of_cosipy():
    """Its modules read their constants from a file when they are imported."""
    folder = pathlib.Path(cosipy.__path__[0]) / "utilities" / "setup_cosipy"
    files = ["--config", f"{folder}/config.toml", "--constants", f"{folder}/constants.toml"]
    given, sys.argv = sys.argv, ["COSIPY", *files]
    try:
        yield
    finally:
        sys.argv = given


with settings_of_cosipy():
    from cosipy.cpkernel import init as snowpack
    from cosipy.modules import (
        densification,
        heatEquation,
        penetratingRadiation,
        percolation,
        refreezing,
        surfaceTemperature,
    )

fraction_of, matrix_of = radial.leaver_cf_inv_lentz, angular.M_matrix


@njit
def quasinormal_fraction(re, im, spin, a, b):
    value, _, _ = fraction_of(complex(re, im), spin, -2, 2, complex(a, b), 0)
    return value


@njit
def angular_matrix(re, im):
    return matrix_of(-2, complex(re, im), 2, 6)


overlap_of, scattering_overlap_of = wavefunction._get_overlap, calculate._get_overlap_ncl


@njit
def overlaps(re, im, points):
    grid = ((0.0, 1.0, 4), (0.0, 1.0, 4), (0.0, 1.0, 4))
    maps = np.ones((3, 3, 3, 3), np.int64)
    maps[:, :, :, 0] = 2
    return overlap_of(grid, re + 1j * im, points, 3, np.zeros((3, 3), np.int64), maps)


@njit
def scattering_overlaps(re, im):
    mapping = np.array([[0, 1, 2], [3, 4, 1]])
    maps = np.ones((3, 3, 3, 4), np.int64)
    maps[1, 1, :, 0] = 3
    bands, points = np.array([0, 1, 1]), np.array([2, 0, 1])
    shifts = np.array([[0, 0, 0], [1, 0, -1], [0, 1, 0]])
    return scattering_overlap_of(re + 1j * im, mapping, 1, 2, bands, points, shifts, maps)


slopes_of = compiled(adm1_model.ADM1_lsoda.__wrapped__)


@njit
def digester(z, p, temperature):
    dz, given = np.zeros(len(z)), np.empty(len(p) + 1)
    given[:-1], given[-1] = p, temperature
    slopes_of(0.0, z, dz, given)
    return dz


evaluate, nonlinear = ldmodel.evaluate_ld, ldmodel.ld_nonlinear


@njit
def limb_darkening(mu, pv):
    return evaluate(nonlinear, mu, pv)


path_integral = exo_k.util.radiation.path_integral_corrk


@njit
def transmittance(paths, density, opacity, weights):
    rows = [paths[k, : k + 1] for k in range(len(density))]
    return path_integral(len(density), 2, 3, rows, density, opacity, weights)


# -- dynamical systems ---------------------------------------------------------------------------

exponents_of_flow = flow_lyapunov.lyapunov_exponents
lorenz, lorenz_jacobian = flows.lorenz_system, flows.lorenz_jacobian
fixed, adaptive = step_methods.rk4_step_wrapped, step_methods.rk45_step_wrapped
exponents_of_map, gali_of = map_lyapunov.lyapunov_qr, gali.gali_k
henon, henon_jacobian = maps.henon_map, maps.henon_map_jacobian
four, four_jacobian = maps.symplectic_map_4D, maps.symplectic_map_4D_jacobian
periodic_orbit, hurst_of = periodic_orbits.newton_periodic_orbit, hurst.hurst_exponent
grad_t, grad_v = hamiltonians.henon_heiles_grad_T, hamiltonians.henon_heiles_grad_V
hess_t, hess_v = hamiltonians.henon_heiles_hess_T, hamiltonians.henon_heiles_hess_V
equations, hess_h = hamiltonians.henon_heiles_eom, hamiltonians.henon_heiles_hess_H
symplectic, midpoint = fixed_step.yoshida_4th_step, fixed_step.implicit_midpoint_step
with_tangents, spectrum_of = (
    tangent.yoshida_4th_step_traj_tan,
    hamiltonian_lyapunov.lyapunov_spectrum_sep,
)
trajectory_of, vectors_of = trajectory.generate_trajectory, clv.compute_clvs_sep


@njit
def lyapunov_fixed(u, p):
    return exponents_of_flow(u, p, 0.3, lorenz, lorenz_jacobian, 2, None, 0.02, 1e-6, 1e-3, fixed)


@njit
def lyapunov_adaptive(u, p):
    return exponents_of_flow(u, p, 0.3, lorenz, lorenz_jacobian, 2, 0.1, 0.02, 1e-9, 1e-9, adaptive)


@njit
def lyapunov_of_map(u, p):
    return exponents_of_map(u, p, 12, henon, henon_jacobian, 2)


@njit
def alignment(u, p):
    return gali_of(u, p, 6, four, four_jacobian, 3)


@njit
def fixed_point(u, p):
    return periodic_orbit(u, p, henon, henon_jacobian, 1)[0]


@njit
def spectrum(q, p):
    none = np.zeros(1)
    return spectrum_of(
        q,
        p,
        0.5,
        0.05,
        none,
        grad_t,
        grad_v,
        hess_t,
        hess_v,
        2,
        2,
        False,
        3,
        np.e,
        "QR",
        with_tangents,
    )


@njit
def symplectic_trajectory(q, p):
    return trajectory_of(q, p, 0.5, np.zeros(1), grad_t, grad_v, 0.05, symplectic)


@njit
def midpoint_trajectory(q, p):
    return trajectory_of(q, p, 0.3, np.zeros(1), equations, hess_h, 0.05, midpoint)


@njit
def hurst_exponents(series):
    return hurst_of(series, 2)


# -- snow ----------------------------------------------------------------------------------------

create = snowpack.create_grid_jitted
heat, water, freeze = (
    heatEquation.solveHeatEquation,
    percolation.percolation,
    refreezing.refreezing,
)
compact, radiate = densification.method_Boone, penetratingRadiation.method_Bintanja
surface, fluxes = surfaceTemperature.call_secant_jitted, surfaceTemperature.eb_fluxes
depths_of = surfaceTemperature.interp_subT


@njit
def snow(heights, densities, temperatures, waters):
    return create(heights, densities, temperatures, waters, None, 0.1, 900.0, 7e4)


@njit
def state_of(grid):
    return (
        np.array(grid.get_temperature()),
        np.array(grid.get_height()),
        np.array(grid.get_density()),
        np.array(grid.get_liquid_water_content()),
    )


@njit
def snow_heat(heights, densities, temperatures):
    grid = snow(heights, densities, temperatures, np.zeros(len(heights)))
    heat(grid, 900)
    return np.array(grid.get_temperature())


@njit
def snow_water(heights, densities, temperatures, waters, melt):
    grid = snow(heights, densities, temperatures, waters)
    runoff = water(grid, melt, 3600)
    refrozen = freeze(grid)
    return runoff, refrozen, state_of(grid)


@njit
def snow_compaction(heights, densities, temperatures, waters, shortwave):
    grid = snow(heights, densities, temperatures, waters)
    compact(grid, 0.0, 3600)
    melted, penetrated = radiate(grid, shortwave, 3600)
    return melted, penetrated, state_of(grid)


@njit
def snow_remeshed(heights, densities, temperatures, waters, fallen):
    grid = snow(heights, densities, temperatures, waters)
    grid.add_fresh_snow(fallen, 120.0, 265.0, 0.0, 3600)
    grid.merge_nodes(2)
    grid.split_node(1)
    grid.remove_melt_weq(0.01)
    return state_of(grid)


@njit
def snow_surface(heights, densities, temperatures, wind, warmth, humidity, shortwave, longwave):
    grid = snow(heights, densities, temperatures, np.zeros(len(heights)))
    below = depths_of(grid)
    t0 = surface(
        grid,
        3600,
        2.0,
        1e-3,
        warmth,
        humidity,
        650.0,
        shortwave,
        wind,
        0.0,
        0.0,
        below,
        220.0,
        longwave,
    )
    return t0, fluxes(
        grid, t0[0], 3600, 2.0, 1e-3, warmth, humidity, 650.0, wind, 0.1, 0.0, below, longwave
    )


# -- others --------------------------------------------------------------------------------------


def field_half(time, sweep, sample):
    sample[0] = sweep[0] * np.cos(sweep[1] * time)
    sample[1] = sweep[2] * np.sin(sweep[1] * time)
    sample[2] = sweep[3]


def field_one(time, sweep, sample):
    sample[0] = sweep[0] * np.cos(sweep[1] * time)
    sample[1] = sweep[2]
    sample[2] = sweep[3]
    sample[3] = sweep[4] * time


evolve_half = spinsim.Simulator(
    field_half, spinsim.SpinQuantumNumber.HALF, spinsim.Device.CPU
).get_time_evolution
evolve_one = spinsim.Simulator(
    field_one, spinsim.SpinQuantumNumber.ONE, spinsim.Device.CPU
).get_time_evolution


@njit
def spin_half(sweep):
    times, evolution = np.zeros(3), np.zeros((3, 2, 2), np.complex128)
    evolve_half(sweep, times, np.array([0.0, 0.6]), 0.05, 0.2, evolution)
    return evolution


@njit
def spin_one(sweep):
    times, evolution = np.zeros(3), np.zeros((3, 3, 3), np.complex128)
    evolve_one(sweep, times, np.array([0.0, 0.6]), 0.05, 0.2, evolution)
    return evolution


envelope_of, simple_envelope_of = fues.fues_numba, druedahl.drued_jorg_numba


@njit
def value_of_consuming(consumption, expected, beta):
    return np.log(consumption) + beta * expected


@njit
def upper_envelope(grid, policy, value, expected, beta):
    return envelope_of(grid, policy, value, expected, value_of_consuming, (expected, beta), 3)


@njit
def simple_upper_envelope(grid, policy, value, wealth, expected, beta):
    return simple_envelope_of(
        grid, policy, value, wealth, expected, value_of_consuming, (expected, beta)
    )


smooth_of, tricube, linear = loess._loess_nb, loess._tricube_weighting, loess._linear_regression
gaussian, constant = loess._gaussian_weighting, loess._constant_regression


@njit
def smoothed(x, y):
    return smooth_of(x, y, 0.6, 2, tricube, linear)


@njit
def smoothed_evenly(x, y):
    return smooth_of(x, y, 0.5, 1, gaussian, constant, 1.0)


power_slopes = csc_derivatives.dSbus_dV_numba_sparse_csc
flow_slopes = csc_derivatives.derivatives_tau_csc_numba
POINTERS, ROWS = np.array([0, 2, 5, 7], np.int32), np.array([0, 1, 0, 1, 2, 1, 2], np.int32)


@njit
def power_flow_slopes(re, im, vm, va):
    v = vm * np.exp(1j * va)
    return power_slopes(re + 1j * im, POINTERS, ROWS, v, vm)


log_spectrum = c8s2_salience.compute_if


@njit
def instantaneous_frequencies(re, im):
    return log_spectrum(re + 1j * im, 100.0, 8, 4)


zoom_of = wfslib.zoomtoefield


@njit
def wavefront(phase):
    field = np.zeros((7, 7), np.complex128)
    zoom_of(phase, field)
    return field


Isotope, distribution_of = constants.Isotope, chem.dict_to_dist
KIND = Isotope.class_type.instance_type


@njit
def isotope_pattern(carbon, oxygen):
    isotopes = Dict.empty(types.unicode_type, KIND)
    isotopes["C"] = Isotope(12.0, 3, carbon.astype(np.float32))
    isotopes["O"] = Isotope(15.99, 3, oxygen.astype(np.float32))
    counts = Dict.empty(types.unicode_type, types.int64)
    counts["C"], counts["O"] = 5, 2
    return distribution_of(counts, isotopes).intensities


fractions_of, electrons_near = (
    peak_properties.compute_index_of_fraction,
    PeakSEScore.__dict__["get_se_count_and_pdf_sum"].__func__,
)
PEAK = np.dtype([("area", "f8"), ("length", "i8"), ("data", "f8", 12)])
PLACE = np.dtype([("area", "f8"), ("area_fraction_top", "f8"), ("x", "f8"), ("y", "f8")])


@njit
def peak_fractions(data):
    peaks, result = np.zeros(1, PEAK), np.zeros(3)
    peaks[0]["length"], peaks[0]["area"] = 12, data.sum()
    peaks[0]["data"][:] = data
    fractions_of(peaks[0], np.array([0.2, 0.5, 0.83]), result)
    return result


@njit
def places(table):
    peaks = np.zeros(len(table), PLACE)
    for k in range(len(table)):
        peaks[k]["area"], peaks[k]["area_fraction_top"] = table[k, 0], table[k, 1]
        peaks[k]["x"], peaks[k]["y"] = table[k, 2], table[k, 3]
    return peaks


@njit
def electrons(peaks, single, a, b):
    near = np.array([[0, 2], [1, 3], [0, 3]])
    return electrons_near(places(peaks), places(single), near, a, b)
