# ruff: noqa: E501
"""Calls of public packages' compiled functions whose names begin with n to z, written as in `first.py`."""

CALLS = """
[picaso.fluxes]
get_thermal_1d(4, 900 + 300 * r(1, 3), 3, 1, 2, 300 + 500 * r(2, 4), r(3, 3, 3), 0.6 * r(4, 3, 3), r(5, 3, 3) / 2, np.array([1.1, 2.3, 3.9, 5.1]), r(6, 1, 2), r(7, 3) / 2, 0, r(8, 3), 0)
get_reflected_1d(4, r(1, 3), 3, 1, 2, r(2, 3, 3), np.cumsum(r(3, 4, 3), 0), 0.6 * r(4, 3, 3), r(5, 3, 3) / 2, r(6, 3, 3), r(7, 3, 3), r(8, 3, 3), r(9, 3, 3), np.cumsum(r(10, 4, 3), 0), 0.6 * r(11, 3, 3), r(12, 3, 3) / 2, r(13, 3) / 2, r(14, 1, 2), r(15, 1, 2), 0.7, r(16, 3), 3, 0, 1.0, -0.9, 2.0, -0.5, 1.0, 1, 1, 0, 0.1) | by=5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,23,24,26,27,31
get_transit_1d(np.array([3.1, 2.7, 2.2, 1.9]), r(1, 4), 4, 3, 9.0, r(2, 3), 1.1, 0.9, r(3, 3), r(4, 3), r(5, 3), r(6, 3, 3))
blackbody_integrated(300 + 500 * r(1, 3), 900 + 300 * r(2, 4), 20 * r(3, 4))
[picaso.deq_chem]
mix_2_gases(r(1, 3), r(2, 3), 0.3, 0.5, np.array([0.1, 0.5, 0.9]), np.array([0.28, 0.44, 0.28]))
[picaso.optics]
compute_raman(3, 2, 900 + 300 * r(1, 3), r(2, 3, 3), 300 + 500 * r(3, 2), r(4, 3), np.array([0, 1, 2]), np.array([0.0, 354.4, 587.0])) | by=2,3,4,5
spline(np.cumsum(r(1, 5)), r(2, 5), 5, 0.3, 0.4)
[picaso.climate]
mat_sol(np.eye(4) + r(1, 4, 4), 4, 4, r(2, 4))
[optic.dsp.core]
rrcFilterTaps(r(1, 6) - 0.71, 0.35, 0.9)
calcMZM(0.8, 2.3, r(1, 5), 0.7, 25.0)
estimateWhiteningFilter(r(1, 12), 4)
clockSamplingInterp(r(1, 8, 2), 1.0, 0.83, 0) | by=0,1,2
[optic.dsp.clockRecovery]
interpolator(r(1, 4), 0.3)
[optic.comm.metrics]
condEntropy(0.3, 0.5, np.array([1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j]), r(1, 4) / 4, 2, 0.8)
[pysm3.models.dust]
get_emission_numba(np.array([90.0, 110.0, 130.0]), r(1, 3), r(2, 4), r(3, 4), r(4, 4), 353.0, 143.0, 1 + r(5, 4), 15 + 5 * r(6, 4))
[pysm3.models.power_law]
get_emission_numba_IQU_curved(np.array([20.0, 25.0, 33.0]), r(1, 3), r(2, 4), r(3, 4), r(4, 4), 23.0, 30.0, -3 * r(5, 4), 23.0, r(6, 4) / 9)
[pysm3.models.spdust]
compute_spdust_emission_pol_numba(np.array([20.0, 25.0, 33.0]), r(1, 3), r(2, 4), 22.8, 31.0, np.array([[0.1, 0.5, 0.9, 1.4, 2.0], [0.3, 0.9, 1.2, 0.8, 0.2]]), r(3, 4), 0.01)
[pysm3.models.catalog]
evaluate_model(np.array([20.0, 25.0, 33.0]), r(1, 3), r(2, 3, 4))
[pysm3.utils.logpoltens]
map_to_log_pol_tens(r(1, 3, 4) / 3 + np.array([[1.0], [0.0], [0.0]]))
[py_fatigue.material.sn_curve]
_calc_cycles(np.array([40.0, 90.0, 210.0]), np.array([3.0, 5.0]), np.array([12.2, 15.8]), 1e9) | by=0,1,2
_calc_stress(np.array([3e4, 4e5, 9e7]), np.array([3.0, 5.0]), np.array([12.2, 15.8]), 1e9)
[py_fatigue.material.crack_growth_curve]
_calc_growth_rate_numba(np.array([0.6, 0.9, 1.6]), np.array([5.1, 2.9]), np.array([0.8, 0.9]), 0.2, 9.0)
_calc_sif_numba(np.array([0.3, 0.9, 1.9]), np.array([5.1, 2.9]), np.array([0.8, 0.9]), 0.2, 9.0)
[picasso.g5m]
_e_step_2D(r(1, 5, 2), p(3), r(2, 3, 2), 2 * r(3, 3))
_estimate_gaussian_parameters_3D_rot(r(1, 5, 3), r(2, 5, 2), r(3, 2), 1e-6)
[picasso.gausslq]
_compute_residuals(np.array([0.2, -0.1, 9.0, 1.1, 0.9, 1.2]), r(1, 5, 5), np.arange(5) - 2.0, 5, np.zeros(5), np.zeros(5), np.zeros((5, 5)), np.zeros((5, 5))) | by=0,1,2
_initial_parameters(9 * r(1, 5, 5), 5, 2) | rtol=2e-2
[picasso.gaussmle]
_mlefit_sigma(10 * r(1, 1, 5, 5) + 90 * np.outer([0.1, 0.4, 1, 0.5, 0.1], [0.1, 0.3, 1, 0.6, 0.1]), 0, np.zeros((1, 6)), np.zeros((1, 6)), np.zeros(1), np.zeros(1, np.int32), 1e-9, 4) | by=0 into=2 rtol=2e-2
[picasso.fitting.gaussfit]
_accumulate_elliptic(9 * r(1, 1, 5, 5), 0, r(2, 1, 5, 5), True, np.array([9.0, 2.1, 1.8, 1.1, 0.9, 2.0]), True, np.zeros((6, 6)), np.zeros(6)) | by=0,2,4 into=7
[picasso.fitting.splinefit]
_eval_spline_3d(r(1, 1, 2, 2, 2, 4, 4, 4), 0, 0.4, 1.3, 0.7)
[picasso.render]
_fill_gaussian_rot(np.zeros((6, 6)), np.array([2.4, 3.3]), np.array([3.1, 2.2]), r(1, 2), r(2, 2), r(3, 2), 6, 6, (np.eye(3) + r(4, 3, 3) / 9).astype(np.float32)) | by=1,2,3,4,5 into=0 rtol=2e-2
[thermosteam.equilibrium.activity_coefficients]
gamma_modified_UNIFAC(r(1, 2), 320.0, 100 * r(2, 3, 3, 3) * np.array([1, 1e-3, 1e-5]), np.zeros((3, 3)), np.ones((3, 3), np.bool_), r(3, 2), r(4, 2), r(5, 3), r(6, 2, 3), r(7, 2, 3), np.arange(2)) | by=0,1,2,5,6,7,8,9
[thermosteam.equilibrium.binary_phase_fraction]
compute_phase_fraction_2N(np.array([0.4, 0.6]), np.array([1.7, 0.6]))
[thermosteam.equilibrium.vlle]
RashfordRice_VLLE_residuals(np.array([0.3, 0.4]), r(1, 3), r(2, 3), r(3, 3))
[thermosteam.equilibrium.vle]
xy(r(1, 4), r(2, 4))
[wake_t.particles.push.boris_pusher]
push_momentum(r(1, 4), r(2, 4), r(3, 4), r(4, 4), r(5, 4), r(6, 4), r(7, 4), r(8, 4), r(9, 4), 0.4, 0.9e-8) | by=0,1,2,3,4,5,6,7,8,9 into=2
[wake_t.fields.interpolation]
interpolate_rz_field(r(1, 4, 5), 0.0, 0.0, 0.5, 0.4, r(2, 3), r(3, 2), np.zeros((3, 2))) | by=0,1,2,3,4,5,6 into=7
[wake_t.particles.deposition]
deposit_3d_distribution_cubic(r(1, 4), r(2, 4) / 2, r(3, 4) / 2, r(4, 4), 0.0, 0.1, 5, 4, 0.4, 0.33, np.zeros((9, 9)), True, 0.0) | by=0,1,2,3,4,5,8,9 into=10
[wake_t.particles.interpolation]
gather_main_fields_cyl_linear(r(1, 9, 9), r(2, 9, 9), r(3, 9, 9), 0.0, 2.0, 0.1, 2.0, 0.4, 0.33, r(4, 4), r(5, 4), r(6, 4), np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), 0.0) | by=0,1,2,3,5,7,8,9,10,11 into=12
[wake_t.physics_models.plasma_wakefields.qs_rz_baxevanis.psi_and_derivatives]
calculate_psi_and_derivatives_at_particles(np.array([0.3, 0.9, 1.6, 2.2]), r(1, 4), r(2, 4) / 3, np.array([0, 1, 2, 3]), 2.4, 0.3, 0.1, np.zeros(4), np.zeros(4), np.zeros(4)) | by=0,1,2,4,5,6 into=9
[wake_t.physics_models.plasma_wakefields.qs_rz_baxevanis.b_theta]
calculate_b_theta_at_particles(np.array([0.3, 0.9, 1.6, 2.2]), r(1, 4) / 3, r(2, 4) / 3, 1 + r(3, 4), r(4, 4) / 3, r(5, 4) / 3, r(6, 4) / 3, r(7, 4) / 3, r(8, 4) / 3, np.array([0, 1, 2, 3]), 0.3, np.zeros(4)) | by=0,1,2,3,4,5,6,7,8,10 into=11
[wake_t.physics_models.plasma_wakefields.qs_rz_baxevanis_ion.plasma_push.ab2]
evolve_plasma_ab2(0.1, r(1, 4), r(2, 4), 1 + r(3, 4), 1.0, 1.0, np.ones(4), r(4, 4), r(5, 4), r(6, 4), r(7, 4), r(8, 4), r(9, 2, 4), r(10, 2, 4)) | by=0,1,2,3,4,5,7,8,9,10,11,12,13 into=2
[xinvert.cpus]
invert_standard_1D(r(1, 6), r(2, 6), -r(3, 6), r(4, 6), 0, 6, "fixed", 0.04, 1.3, -9999.0, np.zeros(3), 4, 1e-12) | by=0,1,2,3,7,8
invert_standard_2D(r(1, 5, 6), r(2, 5, 6), r(3, 5, 6) / 9, r(4, 5, 6), r(5, 5, 6), 0, 5, 6, "extend", "periodic", 0.04, 0.22, 0.8, 1.3, -9999.0, np.zeros(3), 4, 1e-12) | by=0,1,2,3,4,10,11,12,13
traceCyclic(r(1, 4) / 3, 2 + r(2, 5), r(3, 4) / 3, r(4, 5), 0.3, 0.4)
[optiland.backend.numpy_backend.conic]
_numpy_conic_distance(r(1, 3), r(2, 3), -r(3, 3), r(4, 3) / 9, r(5, 3) / 9, np.sqrt(1 - (r(4, 3) / 9)**2 - (r(5, 3) / 9)**2), 8.0, -0.6)
[optiland.geometries.nurbs.nurbs_basis_functions]
compute_basis_polynomials(4, 2, np.array([0.0, 0.0, 0.0, 0.4, 0.8, 1.3, 1.3, 1.3]), r(1, 3))
compute_basis_polynomials_derivatives(4, 2, np.array([0.0, 0.0, 0.0, 0.4, 0.8, 1.3, 1.3, 1.3]), r(1, 3), 1)
[optiland.psf.huygens_fresnel_strategies]
NumbaSummation._huygens_fresnel_summation(r(1, 2, 3) / 9, r(2, 2, 3) / 9, 9 + r(3, 2, 3) / 9, r(4, 4), r(5, 4), r(6, 4) / 9, r(7, 4), r(8, 4) / 9, 0.6, 9.0, (0.0, 0.0, 9.0))
[scanpy.metrics._morans_i]
_morans_i_vec_w(r(1, 6), np.array([1, 2, 0, 3, 0, 1]), np.array([0, 2, 4, 5, 6]), r(2, 4), 2.3)
[pyfixest.estimation.numba.demean_nb]
demean(r(1, 6, 2), np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], np.uint32), r(2, 6), 1e-12, 60) | by=0,2
[roguewavespectrum._estimators.mem2]
_numba_mem(np.arange(8) * np.pi / 4, 0.3, 0.2, 0.1, 0.15)
_mem2_newton_solver(np.array([0.3, 0.2, 0.1, 0.15]), np.array([-0.5, -0.4, -0.1, -0.2]), np.full(8, np.pi / 4), np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4), np.cos(np.arange(8) * np.pi / 2), np.sin(np.arange(8) * np.pi / 2)]), None, False) | by=0,2,3
[roguewavespectrum.spotter._spotter_time_integration]
cumulative_distance(50 + r(1, 5) / 9, 4 + r(2, 5) / 9)
integrate(np.arange(12) * 0.4, r(1, 12), 4, 1, 0.0)
[wannierberri.grid.tetrahedron]
weights_tetra(np.array([0.35, 0.6, 0.9]), 0.2, 0.5, 0.7, 1.1, 0, True)
weights_tetra(np.array([0.35, 0.6, 0.9]), 0.2, 0.5, 0.7, 1.1, 1, False)
[tests.peers.samples.eighth_functions]
wet_bulb_temperature(25.0, 0.6, 101325.0) | rtol=2e-2
dew_point(25.0, 0.011, 101325.0) | rtol=2e-2
moist_air_enthalpy(25.0, 0.011)
sea_level_pressure(95000.0, 400.0, 17.0)
saturated_enthalpy(25.0, 101325.0)
water_vapour_pressure(290.0)
equilibrium_humidity(1.1, 290.0, 0.6, 0.2, 0.07)
terminal_velocity(3e-4)
dissolved(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.1, r(1, 5))
signal_power(r(1, 6, 2), r(2, 6, 2))
phase_locked(np.array([[0.9], [0.8], [0.7], [0.6], [0.9]]), np.array([[0.6], [0.7], [0.9], [0.8], [0.5]]), 0.1, 0.6, 0.9)
mutual_information(r(1, 5), r(2, 5), 0.4, p(4))
soft_symbols(r(1, 3, 2)) | rtol=2e-2
equalizer_step(r(1, 4, 3, 2), r(2, 4, 3, 2), r(3, 1, 2), 0.1, r(4, 4, 3))
equalized(r(1, 12), np.sign(r(2, 12) - 0.7), 0.1, r(3, 3)) | by=0,2,3
rotated(r(1, 4), r(2, 4), r(3, 4), 1.3)
bus_power_derivatives(r(1, 6), r(2, 6), r(3, 3), r(4, 3))
flows(r(1, 4), r(2, 4), r(3, 3, 3), r(4, 3, 3), r(5, 3))
crack_sif(2.1, 0.2)
crack_geometry_factor(0.2, 2.4, 0.5, 1.3)
damage(r(1, 3), np.array([3.3, 4.6, 2.4]), 9 * r(2, 3))
emission(np.array([1.2, 1.5, 1.8]), r(1, 3), r(2, 2, 3), r(3, 2, 3))
gearys_c(r(1, 6), np.array([1, 2, 0, 3, 0, 1]), np.array([0, 2, 4, 5, 6]), r(2, 2, 4))
energy_of_two_liquids(r(1, 2) / 2, 1 + r(2, 2), 320.0, 100 * r(3, 3, 3, 3) * np.array([1, 1e-3, 1e-5]), r(4, 2), r(5, 2), r(6, 3), r(7, 2, 3), r(8, 2, 3))
two_liquids_step(r(9, 4), p(2), 320.0, 100 * r(3, 3, 3, 3) * np.array([1, 1e-3, 1e-5]), r(4, 2), r(5, 2), r(6, 3), r(7, 2, 3), r(8, 2, 3), 0.4)
laser_envelope(r(1, 6, 5), r(2, 6, 5), r(3, 6, 5), r(4, 6, 5), 9.0, 1.3)
terrain(r(1, 7, 7), 40.0, 300.0)
ruggedness(r(1, 5, 5), 1.3)
"""
