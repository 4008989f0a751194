"""Functions of the packages of `eighth.py` behind ours: for complex arrays, functions and dictionaries."""

import numpy as np
import psychrolib
from numba import njit, types
from numba.typed import Dict, List
from optic.comm import metrics, modulation
from optic.dsp import adaptiveFiltering, carrierRecovery, core
from optic.models import channels
from pandapower.pf import dSbus_dV_numba, pfsoln_numba
from py_fatigue.damage import crack_growth, stress_life
from PySDM import Formulae
from PySDM.backends.impl_numba.methods import chemistry_methods
from pysm3.models import interpolating
from scanpy.metrics import _gearys_c
from thermosteam.equilibrium import lle
from thermosteam.equilibrium.activity_coefficients import gamma_modified_UNIFAC
from wake_t.physics_models.laser import envelope_solver
from xdem.terrain import surfit, window

psychrolib.SetUnitSystem(psychrolib.SI)
wet_bulb_temperature = psychrolib.GetTWetBulbFromRelHum
dew_point = psychrolib.GetTDewPointFromHumRatio
moist_air_enthalpy = psychrolib.GetMoistAirEnthalpy
sea_level_pressure = psychrolib.GetSeaLevelPressure
saturated_enthalpy = psychrolib.GetSatAirEnthalpy

formulae = Formulae(terminal_velocity="RogersYau", saturation_vapour_pressure="FlatauWalkoCotton")
water_vapour_pressure = formulae.saturation_vapour_pressure.pvs_water
equilibrium_humidity = formulae.hygroscopicity.RH_eq
terminal_velocity = formulae.terminal_velocity.v_term


# What scanpy compiles for threads, which it calls from the main one.
gearys_c = dict(
    zip(
        _gearys_c._gearys_c_mtx.__code__.co_freevars,
        _gearys_c._gearys_c_mtx.__closure__,
        strict=True,
    )
)["fns"].cell_contents[True]


@njit
def signal_power(a, b):
    return core.sigPow(a + 1j * b)


@njit
def phase_locked(a, b, gain, tau1, tau2):
    constellation = np.array([1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j]) / np.sqrt(2)
    z = a + 1j * b
    return phase_locked_loop(z, 1.0, gain, tau1, tau2, constellation, z, np.array([0, 3]))


phase_locked_loop = carrierRecovery.ddpll
mutual_information_of = metrics.calcMI
soft_estimator = modulation.softEstimator
constant_modulus = adaptiveFiltering.cmaUpBlock
feed_forward = adaptiveFiltering.realValuedFFECore
phase_rotation = channels.nlinPhaseRot


@njit
def mutual_information(a, b, variance, probabilities):
    constellation = np.array([1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j]) / np.sqrt(2)
    sent = constellation[np.array([0, 1, 2, 3, 0])]
    return mutual_information_of(
        sent + 0.3 * (a - 1j * b), sent, variance, constellation, probabilities
    )


@njit
def soft_symbols(llr):
    constellation = np.array([1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j]) / np.sqrt(2)
    return soft_estimator(llr, np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), constellation)


@njit
def equalizer_step(a, b, radius, mu, h):
    block = a + 1j * b
    taps = h + 0.2j * h
    return constant_modulus(
        block, radius, block[:, 1, :] * 0.7, mu, taps, taps.copy(), 2, True, np.complex128
    )


@njit
def equalized(signal, reference, mu, taps):
    levels = np.array([-1.0, 1.0])
    return feed_forward(signal, reference, 3, 1, mu, 5, np.float64, levels, taps, "data-aided", 1)


@njit
def rotated(a, b, power, gamma):
    return phase_rotation(a + 1j * b, b - 0.3j * a, power, gamma)


power_derivatives = dSbus_dV_numba.dSbus_dV_numba_sparse
branch_flows = pfsoln_numba.calc_branch_flows_batch


@njit
def bus_power_derivatives(g, b, vm, va):
    v = vm * np.exp(1j * va)
    return power_derivatives(
        g + 1j * b,
        np.array([0, 2, 4, 6]),
        np.array([0, 1, 1, 2, 0, 2]),
        v,
        v / vm,
        np.zeros(3, np.complex128),
    )


@njit
def flows(g, b, vm, va, base):
    v = vm * np.exp(1j * va)
    starts, buses = np.array([0, 2, 4]), np.array([0, 1, 1, 2])
    return branch_flows(g + 1j * b, starts, buses, v, 2.0, 2, np.array([0, 1]), base)


stress_intensity = crack_growth.get_sif
geometry_factor = crack_growth.get_geometry_factor
nonlinear_damage = stress_life._calc_theil_sn_damage


@njit
def crack_sif(stress, depth):
    geometry = Dict.empty(types.unicode_type, types.float64)
    geometry["outer_diameter"] = 2.4
    geometry["thickness"] = 0.5
    geometry["width_to_depth_ratio"] = 1.3
    return stress_intensity(stress, depth, "HOL_CYL_01", geometry)


@njit
def crack_geometry_factor(depth, diameter, thickness, ratio):
    geometry = Dict.empty(types.unicode_type, types.float64)
    geometry["outer_diameter"] = diameter
    geometry["thickness"] = thickness
    geometry["width_to_depth_ratio"] = ratio
    return geometry_factor(depth, "HOL_CYL_01", geometry)


@njit
def damage(stress, cycles, failures):
    history, total, n = nonlinear_damage(stress, cycles, failures)
    for _counts, segment in history:
        total += 0.3 * segment.sum()
    return total, n


@njit
def dissolved(h, nh3, so2, hso3, hso4, hco3, co2, hno3, content):
    k = chemistry_methods_k(nh3, so2, hso3, hso4, hco3, co2, hno3)
    conc = chemistry_methods_conc(content[0], content[1], content[2], content[3], content[4])
    return acidity(h, conc, k), ionic_strength(h, conc, k)


chemistry_methods_k, chemistry_methods_conc = chemistry_methods._K, chemistry_methods._conc
acidity, ionic_strength = chemistry_methods.acidity_minfun, chemistry_methods.calc_ionic_strength
interpolated_emission = interpolating.compute_interpolated_emission_numba


@njit
def emission(freqs, weights, first, second):
    maps = Dict.empty(types.float64, types.float64[:, ::1])
    maps[1.0] = first
    maps[2.0] = second
    return interpolated_emission(freqs, weights, np.array([1.0, 2.0]), maps)


mixing_energy, equilibrium_step = lle.lle_objective_function, lle.psuedo_equilibrium_inner_loop


@njit
def unifac_arguments(interactions, qs, rs, group_qs, groups, fractions):
    mask = np.ones((3, 3), np.bool_)
    at = np.arange(2)
    return (
        interactions,
        np.zeros((3, 3)),
        mask,
        qs,
        rs,
        group_qs,
        groups,
        fractions,
        at,
    )


@njit
def energy_of_two_liquids(part, whole, t, interactions, qs, rs, group_qs, groups, fractions):
    given = unifac_arguments(interactions, qs, rs, group_qs, groups, fractions)
    return mixing_energy(part, whole, t, gamma_modified_UNIFAC, given)


@njit
def two_liquids_step(logs, z, t, interactions, qs, rs, group_qs, groups, fractions, phi):
    given = unifac_arguments(interactions, qs, rs, group_qs, groups, fractions)
    return equilibrium_step(logs, z, t, 2, gamma_modified_UNIFAC, given, phi)


evolve = envelope_solver.evolve_envelope


@njit
def laser_envelope(a, b, old, chi, k0, kp):
    now = a + 0.3j * b
    evolve(now, old - 0.2j * old, chi, k0, kp, 0.0, 2.0, 4, 3.0, 5, 1e-9, 2, True)
    return now


kernels, at_coefficients, at_surfaces, make_surfaces, _ = surfit._preprocess_surface_fit(
    ["slope", "hillshade", "profile_curvature", "max_curvature"], 1.0, "Florinsky"
)
kernels = np.stack(kernels)
at_coefficients, at_surfaces = tuple(at_coefficients), tuple(at_surfaces)
make_surfaces = tuple(make_surfaces)
surface_attributes = surfit._get_surface_attributes_numba
windowed_indexes = window._get_windowed_indexes_numba


@njit
def listed(members):
    made = List()
    for member in members:
        made.append(member)
    return made


@njit
def terrain(dem, altitude, azimuth):
    return surface_attributes(
        dem,
        kernels,
        listed(make_surfaces),
        listed(at_coefficients),
        listed(at_surfaces),
        4,
        np.float64,
        2,
        0,
        altitude,
        azimuth,
        1.3,
    )


@njit
def ruggedness(dem, resolution):
    make = listed((True, True, True, True, False))
    return windowed_indexes(dem, 3, resolution, np.float64, 4, make, listed((0, 1, 2, 3, 99)), 0)
