# ruff: noqa: E501
"""Calls of yet more public packages' compiled functions, written as in `first.py`."""

CALLS = """
[orix.quaternion._conversions]
cu2ho_single(np.array([0.3, -0.2, 0.7]))
ho2ax_2d(r(1, 3, 3) / 2)
ax2ro_single(r(1, 4))
ro2ax_2d(r(1, 2, 4))
ax2qu_2d(r(1, 3, 4))
qu2ax_single(r(1, 4) / 2)
cu2ro_single(np.array([0.3, -0.2, 0.7]))
eu2qu_2d(r(1, 3, 3))
om2qu_single(np.array([[0.8, -0.3, 0.5], [0.4, 0.9, -0.2], [-0.4, 0.35, 0.85]]))
qu2eu_single(r(1, 4))
qu2om_2d(r(1, 3, 4))
qu2ho_single(r(1, 4) / 2)
[orix.quaternion._numba]
_ori_angle_with_outer_sym(r(1, 2, 4) / 2, r(2, 3, 4) / 2, np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]])) | by=0,1
_mori_distance_matrix(r(1, 3, 4) / 2, np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]])) | by=0
[orix.quaternion.quaternion]
qu_multiply_gufunc(r(1, 3, 4), r(2, 3, 4), np.zeros((3, 4))) | by=0,1 into=2
qu_rotate_vec_gufunc(r(1, 3, 4), r(2, 3, 3), np.zeros((3, 3))) | by=0,1 into=2
[emg3d.core]
amat_x(np.zeros((2, 4, 3)), np.zeros((3, 3, 3)), np.zeros((3, 4, 2)), r(1, 2, 4, 3), r(2, 3, 3, 3), r(3, 3, 4, 2), r(4, 2, 3, 2), r(5, 2, 3, 2), r(6, 2, 3, 2), r(7, 2, 3, 2), r(8, 2), r(9, 3), r(10, 2)) | by=3,4,5,6,9,10,11,12 into=0
gauss_seidel(r(1, 2, 4, 3), r(2, 3, 3, 3), r(3, 3, 4, 2), r(4, 2, 4, 3), r(5, 3, 3, 3), r(6, 3, 4, 2), -r(7, 2, 3, 2), -r(8, 2, 3, 2), -r(9, 2, 3, 2), r(10, 2, 3, 2), r(11, 2), r(12, 3), r(13, 2), 2) | into=0
gauss_seidel(r(1, 2, 4, 3) + 0j, r(2, 3, 3, 3) * 1j, r(3, 3, 4, 2) + 0j, r(4, 2, 4, 3) * 1j, r(5, 3, 3, 3) + 0j, r(6, 3, 4, 2) + 0j, -r(7, 2, 3, 2) * 1j, -r(8, 2, 3, 2) * 1j, -r(9, 2, 3, 2) * 1j, r(10, 2, 3, 2), r(11, 2), r(12, 3), r(13, 2), 2) | into=2
gauss_seidel_x(r(1, 3, 4, 3), r(2, 4, 3, 3), r(3, 4, 4, 2), r(4, 3, 4, 3), r(5, 4, 3, 3), r(6, 4, 4, 2), -r(7, 3, 3, 2), -r(8, 3, 3, 2), -r(9, 3, 3, 2), r(10, 3, 3, 2), r(11, 3), r(12, 3), r(13, 2), 2) | into=1
gauss_seidel_y(r(1, 2, 4, 3) + 0j, r(2, 3, 3, 3) * 1j, r(3, 3, 4, 2) + 0j, r(4, 2, 4, 3) * 1j, r(5, 3, 3, 3) + 0j, r(6, 3, 4, 2) + 0j, -r(7, 2, 3, 2) * 1j, -r(8, 2, 3, 2) * 1j, -r(9, 2, 3, 2) * 1j, r(10, 2, 3, 2), r(11, 2), r(12, 3), r(13, 2), 1) | into=1
gauss_seidel_z(r(1, 2, 4, 4), r(2, 3, 3, 4), r(3, 3, 4, 3), r(4, 2, 4, 4), r(5, 3, 3, 4), r(6, 3, 4, 3), -r(7, 2, 3, 3), -r(8, 2, 3, 3), -r(9, 2, 3, 3), r(10, 2, 3, 3), r(11, 2), r(12, 3), r(13, 3), 1) | into=2
solve(r(1, 6, 6).ravel() / 9 + 2 * (np.arange(36) % 6 == 0), r(2, 6)) | into=1
restrict_weights(np.linspace(0.0, 4.0, 5), r(1, 4) + np.arange(4.0), r(2, 4), np.linspace(0.0, 4.0, 3), r(3, 2) + np.arange(0.0, 4.0, 2), r(4, 2))
restrict(np.zeros((2, 3, 3)), np.zeros((3, 2, 3)), np.zeros((3, 3, 2)), r(1, 4, 5, 5), r(2, 5, 4, 5), r(3, 5, 5, 4), (r(4, 3), r(5, 3), r(6, 3)), (r(7, 3), r(8, 3), r(9, 3)), (r(10, 3), r(11, 3), r(12, 3)), 0) | by=3,4,5 into=0
[emg3d.maps]
interp_volume_average(np.cumsum(r(1, 4)), np.cumsum(r(2, 3)), np.cumsum(r(3, 3)), r(4, 3, 2, 2), np.cumsum(r(5, 3)) * 1.1, np.cumsum(r(6, 3)) * 0.9, np.cumsum(r(7, 3)) * 1.2, np.zeros((2, 2, 2)), r(8, 2, 2, 2)) | by=0,1,2,3,4,5,6,8 into=7
_volume_average_weights(np.cumsum(r(1, 5)), np.cumsum(r(2, 4)) + 0.1)
interp_edges_to_vol_averages(r(1, 2, 4, 3), r(2, 3, 3, 3), r(3, 3, 4, 2), r(4, 2, 3, 2), np.zeros((2, 3, 2)), np.zeros((2, 3, 2)), np.zeros((2, 3, 2))) | by=0,1,2,3 into=4
[xclim.indices.fire._cffwis]
_fine_fuel_moisture_code(20.0, 0.8, 12.0, 45.0, 85.0)
_duff_moisture_code(17.0, 2.4, 42.0, 6, 46.0, 40.0) | by=0,1,2,5
_duff_moisture_code(r(1, 4) * 20, r(2, 4) * 5, r(3, 4) * 50, 6, 46.0, r(4, 4) * 50) | by=0,1,2,5
_drought_code(17.0, 4.4, 6, 46.0, 40.0) | by=0,1,4
_overwintering_drought_code(300.0, 110.0, 0.75, 0.75, 15)
[xclim.indices.fire._ffdi]
_keetch_byram_drought_index(r(1, 8) * 4, r(2, 8) * 25, 900.0, 30.0, np.zeros(8)) | by=0,1,2,3 into=4
_griffiths_drought_factor(r(1, 24) * 4, r(2, 24) * 60, 0, np.zeros(24)) | by=0,1 into=3
[xclim.indices.helpers]
_sunlit_integral_of_cosine_of_solar_zenith_angle(0.3, 0.8, 1.9, -0.4, 0.7, True)
_sunlit_integral_of_cosine_of_solar_zenith_angle(r(1, 3) / 3, 0.8, r(2, 3) + 1.3, -0.4, 0.7, False)
[xclim.indices.converters]
_utci(20.0, 3.0, 4.0, 1.3)
_wind_power_factor(r(1, 4) * 7, 2.0, 12.0, 25.0)
[elastica._linalg]
_batch_matmul(r(1, 3, 3, 4), r(2, 3, 3, 4))
_batch_cross(r(1, 3, 4), r(2, 3, 4))
_batch_norm(r(1, 3, 4))
[elastica._rotations]
_get_rotation_matrix(0.4, r(1, 3, 4))
_rotate(r(1, 3, 3, 4), 0.4, r(2, 3, 4))
_inv_rotate(r(1, 3, 3, 5) * 0.6)
[elastica._calculus]
_trapezoidal_for_block_structure(r(1, 3, 6), np.array([2]))
_two_point_difference(r(1, 3, 5))
_clip_array(r(1, 6), 0.4, 0.9)
[elastica.contact_utils]
_find_min_dist(r(1, 3), r(2, 3), r(3, 3) + 0.8, r(4, 3) - 0.5)
_find_min_dist(r(1, 3), r(2, 3) * 2, r(3, 3), r(4, 3) - 0.5)
_find_min_dist_cylinder_sphere(r(1, 3), r(2, 3), r(3, 3) + 0.2)
_node_to_element_velocity(r(1, 5), r(2, 3, 5))
_find_slipping_elements(r(1, 3, 5), 0.9) | by=0
[elastica._contact_functions]
_calculate_contact_forces_rod_rod(r(1, 3, 3), r(2, 3) + 0.5, r(3, 3), r(4, 3, 3), r(5, 3, 4), r(6, 3, 4), r(7, 3, 4), r(8, 3, 3), r(9, 3) + 0.5, r(10, 3), r(11, 3, 3), r(12, 3, 4), r(13, 3, 4), r(14, 3, 4), 9.0, 0.7) | into=6
_calculate_contact_forces_rod_cylinder(r(1, 3, 3), r(2, 3, 3), r(3, 3), r(4, 3), r(5, 3), r(6, 3) + 1, r(7, 3) + 1, r(8, 3, 4), r(9, 3, 4), r(10, 3, 1), r(11, 3, 1), r(12, 3, 3), r(13, 3, 4), r(14, 3, 1), 7.0, 0.3, 0.2, 0.4) | into=8
_calculate_contact_forces_self_rod(np.cumsum(r(1, 3, 8) / 3, 1), r(2, 8) + 0.5, r(3, 8) + 2, r(4, 3, 8), r(5, 3, 9), r(6, 3, 9), 7.0, 0.3) | into=5
_calculate_contact_forces_rod_plane(np.zeros((3, 1)), r(1, 3) - 0.8, 1e-4, 8.0, 0.3, r(2, 4), r(3, 5), r(4, 3, 5), r(5, 3, 5), r(6, 3, 5), r(7, 3, 5)) | by=0,1,3,4,5,6,7,8,9,10 into=10
_calculate_contact_forces_rod_plane_with_anisotropic_friction(np.zeros((3, 1)), r(1, 3) - 0.8, 1e-4, 0.3, 8.0, 0.3, 0.5, 0.6, 0.7, 0.9, 1.0, 1.1, r(2, 4), r(3, 5), r(4, 3, 4), r(5, 3, 5), r(6, 3, 3, 4), r(7, 3, 5), r(8, 3, 4), r(9, 3, 5), r(10, 3, 5), r(11, 3, 4), r(12, 3, 4)) | by=1,4,5,6,8,9,11,12,13,14,15,16,17,18,19,20,21,22 into=20
[elastica.rod.cosserat_rod]
_compute_internal_forces(np.cumsum(r(1, 3, 6), 1), r(2, 5), np.zeros(5), np.zeros((3, 5)), r(3, 5), r(4, 5), r(5, 4), np.zeros(5), np.zeros(4), r(6, 3, 3, 5), np.zeros((3, 5)), r(7, 3, 5), r(8, 3, 3, 5), np.zeros((3, 5)), np.zeros((3, 6)), np.array([2])) | by=0,1,5,6,9,11,12 into=14
_compute_internal_torques(np.cumsum(r(1, 3, 6), 1), r(2, 3, 6), r(3, 3, 5), r(4, 5), r(5, 5), r(6, 3, 3, 5) * 0.6, r(7, 4), r(8, 3, 3, 4), r(9, 3, 4), np.zeros((3, 4)), r(10, 4), r(11, 3, 3, 5), r(12, 3, 5), r(13, 3, 5), np.zeros((3, 4)), r(14, 5), np.zeros(5), np.zeros((3, 5)), np.array([2])) | by=0,1,2,3,4,5,6,7,8,10,11,12,13,15 into=17
_update_accelerations(np.zeros((3, 5)), r(1, 3, 5), r(2, 3, 5), r(3, 5), r(4, 3, 4), r(5, 3, 3, 4), r(6, 3, 4), r(7, 3, 4), r(8, 4)) | by=1,2,3,5,6,7,8 into=4
[elastica.rod.knot_theory]
_compute_twist(np.cumsum(r(1, 2, 3, 6), 2), r(2, 2, 3, 5))
_compute_writhe(np.cumsum(r(1, 2, 3, 6) - 0.6, 2))
_compute_link(np.cumsum(r(1, 2, 3, 5) - 0.6, 2), np.cumsum(r(2, 2, 3, 5) - 0.6, 2))
_compute_auxiliary_line(np.cumsum(r(1, 2, 3, 6), 2), r(2, 2, 3, 5), r(3, 2, 5))
[elastica.dissipation]
nb_filter_rate(r(1, 3, 6), np.zeros((3, 6)), 2) | by=0 into=0
[elastica.external_forces]
MuscleTorques.compute_muscle_torques(0.3, r(1, 5), r(2, 5), 3.0, 2.0, 0.4, 1.0, r(3, 3), r(4, 3, 3, 5), r(5, 3, 5)) | into=9
EndpointForces.compute_end_point_forces(r(1, 3, 5), r(2, 3), r(3, 3), 0.3, 1.0) | into=0
[elastica.interaction]
slender_body_forces(r(1, 3, 4), r(2, 3, 5), 0.7, r(3, 4) + 2, r(4, 4), r(5, 5))
[elastica.rod.data_structures]
overload_operator_kinematic_numba(0.3, r(1, 3, 5), r(2, 3, 3, 4), r(3, 3, 5), r(4, 3, 4)) | by=0,1,3,4 into=2
[tvb.simulator.models.zerlaut]
ZerlautAdaptationFirstOrder.get_fluct_regime_vars(5e-3, 8e-3, 4e-3, 1e-3, 10.0, 1.5, 5.0, 0.1, 5.0, 5.0, -80.0, 10.0, 200.0, -65.0, 1000.0, 0.05, 0.05, 0.2, 400.0, 10.0)
ZerlautAdaptationFirstOrder.threshold_func(-55.0, 5.0, 0.8, *r(1, 10)) | by=0,1,2,3,4,5,6,7,8,9,10,11,12
[wotan.location_estimates]
location_iter(r(1, 12), 5.0, 1)
location_iter(r(1, 12), 3.0, 2)
tau(r(1, 11), 4.5)
huber_psi(r(1, 11), 1.5) | by=0
hodges(r(1, 7))
winsorize_mean(r(1, 9), 0.25) | by=0
[wotan.lowess]
lowess(np.cumsum(r(1, 10)), r(2, 10), np.ones(10), 6.0) | by=1
_local_linear_fit(np.cumsum(r(1, 6)), r(2, 6), r(3, 6), 1, 5, 2.0, 3.0)
[wotan.slider]
running_segment(np.cumsum(r(1, 14)), r(2, 14), np.ones(14), 4.0, 0.0, 5.0, 1) | by=1
_median_mad_sorted(np.cumsum(r(1, 8)))
[wotan.cofiam]
matrix_gen_recurrence(np.cumsum(r(1, 5)), 3)
[transitleastsquares.core]
lowest_residuals_in_this_duration(r(1, 4), 0.1, r(2, 8), 4, r(3, 4), r(4, 8), 1.1, r(5, 4), 0.3, 2, 1e9, 0) | by=0,2,4,5,6,7,8
out_of_transit_residuals(r(1, 9), 3, r(2, 9))
edge_effect_correction(r(1, 6), r(2, 6), r(3, 6), r(4, 6))
[transitleastsquares.core_fused]
_pl_lsq(r(1, 9), np.array([0, 3, 5, 8])) | by=0
[transitleastsquares.grid]
T14(1.1, 0.9, 12.0) | by=0,1,2
[transitleastsquares.stats]
_pink_noise(r(1, 10), 3)
[legwork.evol]
de_dt(0.4, np.zeros(2), 1.3, 0.9) | by=0,2,3
[amangkurat.core.solver]
compute_force_parallel(r(1, 6), r(2, 6), r(3, 6)) | by=1,2
[lanun.core.diagnostics]
_compute_pair_distances(r(1, 5), r(2, 5))
compute_particle_dispersion(r(1, 5), r(2, 5), r(3, 5) + 1, r(4, 5) + 1)
_shoelace_area(r(1, 5) * 2, r(2, 5) ** 2)
[lanun.core.particles]
compute_bilinear_weights(r(1, 3) + 1, r(2, 3) + 2, np.arange(4) * 1.5, np.arange(4) * 1.5, np.array([0, 1, 0]), np.array([1, 1, 2]), 1.5, 1.5)
project_to_mesh(r(1, 3), np.array([0, 1, 0]), np.array([1, 1, 2]), r(2, 3), r(3, 3), r(4, 3), r(5, 3), 4, 4)
advect_midpoint(r(1, 3) + 1, r(2, 3) + 2, r(3, 5, 5), r(4, 5, 5), np.arange(5) * 1.5, np.arange(5) * 1.5, 0.3, 0.0, 6.0, 0.0, 6.0, 1.5, 1.5, 5, 5) | by=0,1,2,3,6
[lanun.core.velocity]
compute_velocity_field_numba(r(1, 3), r(2, 4), 2.0, 3.0, 0.7)
[radis.misc.arrays]
sparse_add_at(np.array([1, 2, 6]), r(1, 3), r(2, 3), r(3, 3), 9, 1) | by=1,2,3
[pyro.mesh.fourth_order]
states(r(1, 11, 11), 4, 1)
[pyro.swe.interface]
states(1, 3, 0.5, 0.1, 0, 1, 2, 3, 1, 9.8, r(1, 8, 8, 4), r(2, 8, 8, 4) / 5) | by=2,3,9,10,11
riemann_roe(1, 2, 0, 1, 2, 3, 1, 0, 0, 9.8, r(1, 6, 6, 4), r(2, 6, 6, 4)) | by=9,10,11
riemann_hllc(2, 2, 0, 1, 2, 3, 1, 0, 0, 9.8, r(1, 6, 6, 4), r(2, 6, 6, 4)) | by=9,10,11
[pyro.compressible.interface]
states(1, 3, r(1, 8, 8), r(2, 8, 8), 0.1, 0, 1, 2, 3, 4, 0, 1.4, r(3, 8, 8, 4), r(4, 8, 8, 4) / 5) | by=2,3,4,11,12,13
artificial_viscosity(2, 0.3, 0.4, r(3, 6, 6), r(4, 6, 6), 0.1, 0.2, 1, 0.5, r(1, 6, 6), r(2, 6, 6)) | by=1,2,3,4,5,8,9,10
[pyro.compressible.riemann]
riemann_cgf(1, 2, 0, 1, 2, 3, 4, 1, 0, 0, 1.4, r(1, 6, 6, 5) + np.array([0, 0, 0, 3, 0.0]), r(2, 6, 6, 5) + np.array([0, 0, 0, 3, 0.0]))
riemann_prim(2, 2, 0, 1, 2, 3, 4, 1, 0, 0, 1.4, r(1, 6, 6, 5), r(2, 6, 6, 5))
riemann_hllc(1, 2, 0, 1, 2, 3, 4, 1, 0, 0, 1.4, r(1, 6, 6, 5) + np.array([0, 0, 0, 3, 0.0]), r(2, 6, 6, 5) + np.array([0, 0, 0, 3, 0.0]))
consFlux(1, 0, 1.4, 0, 1, 2, 3, 4, 1, r(1, 5))
[pyro.lm_atm.LM_atm_interface]
mac_vels(3, 0.3, 0.4, 0.1, r(1, 9, 9), r(2, 9, 9), r(3, 9, 9), r(4, 9, 9), r(5, 9, 9), r(6, 9, 9), r(7, 9, 9), r(8, 9, 9), r(9, 9, 9))
[fynance.models.econometric_models]
_arma_garch(r(1, 9), r(2, 2) / 3, r(3, 1) / 3, r(4, 1) / 4, r(5, 1) / 4, 0.1, 0.2, 2, 1, 1, 1)
_gjr_garch(r(1, 9) - 0.7, 0.2, 0.1, 0.2, 0.5)
_egarch(r(1, 9) - 0.7, 0.2, 0.1, 0.2, 0.5, 0.8)
_loglik_t(r(1, 9) - 0.7, r(2, 9), 5.5)
_mean_abs_standardized_t(5.5)
[fynance.features.filters]
_kalman_filter_core(r(1, 4, 2), r(2, 2, 2), r(3, 2, 2), np.eye(2) + r(4, 2, 2) / 9, np.eye(2) + r(5, 2, 2) / 9, r(6, 2), np.eye(2) + r(7, 2, 2) / 9)
_rts_smoother_core(r(1, 3, 2), r(2, 3, 2, 2), r(3, 3, 2), r(4, 3, 2, 2) + np.eye(2), r(5, 2, 2))
[fynance.features.roll_functions]
_cross_corr_1d(r(1, 7), r(2, 7), 2)
_roll_max_1d(r(1, 9), 3)
[fynance.features.ohlcv]
_adx_kernel(np.cumsum(r(1, 9)) + 2, np.cumsum(r(2, 9)) * 0.9, np.cumsum(r(3, 9)) + 1, 4)
[fynance.features.momentums]
_wmstd_1d(r(1, 9), 3)
[fynance.portfolio.rebalance]
_turnover_cap_kernel(r(1, 5, 3), r(2, 5, 3) / 9, 0.4)
_band_kernel(r(1, 5, 3), r(2, 5, 3) / 9, 0.1, True) | by=0,1,2
[fynance.portfolio.covariance]
_ewma_cov_kernel(r(1, 5, 3), 0.9)
[fynance.metrics.risk]
_roll_hist_tail_mean_1d(r(1, 9), 5, 0.4) | by=0
[tests.peers.samples.fifth_functions]
poses_of_three_points(np.array([0.1, -0.3, 0.2]), np.array([-0.2, 0.1, 0.3]), np.array([0.3, -1.1, 0.9]), np.array([-0.8, 0.5, 1.2]), np.array([3.1, 3.4, 4.0]))
homography(r(1, 4), r(2, 4), r(3, 4), r(4, 4))
fundamental_matrices(r(1, 7), r(2, 7), r(3, 7), r(4, 7))
refined_pose(np.array([0.1, -0.3, 0.2, 0.3, -0.1]), np.array([-0.2, 0.1, 0.3, -0.3, 0.2]), np.array([0.3, -1.1, 0.9, 1.0, -0.3]), np.array([-0.8, 0.5, 1.2, -1.1, 0.7]), np.array([3.1, 3.4, 4.0, 3.6, 3.2]), np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.05, 0.02, 0.1])) | by=0,1,2,3,4
sampson_score(r(1, 12), r(2, 9) / 9, r(3, 9) / 9, r(4, 9) / 9, r(5, 9) / 9)
fast_reservoir(1.0, r(1, 5) * 4, r(2, 5) / 9, r(3, 5) + 0.7, np.ones(5)) | by=0,1,2,3
unsaturated_reservoir(9.0, r(1, 5) * 4, r(2, 5) + 40, r(3, 5), r(4, 5) / 9, r(5, 5) + 1, r(6, 5), np.ones(5)) | by=0,1,2,3,4,5,6
[fastpose.refiners.lm]
_solve_damped(np.eye(4) * 3 + r(1, 4, 4) / 9, r(2, 4), np.zeros(4), 4) | by=0,1 into=2
[fastpose.refiners.utils]
epipolar_jacobian_basis(r(1, 3, 3), r(2, 3, 3), 0.7, np.zeros((7, 9))) | by=0,1,2 into=3
[smplfitter.nb.rotation]
rotvec2mat(r(1, 3)) | rtol=2e-2
mat2rotvec(r(1, 2, 3, 3)) | rtol=2e-2
swing_twist_bone(r(1, 3, 3), r(2, 3), r(3, 3)) | rtol=2e-2
kabsch(r(1, 1, 5, 3).astype(np.float32), r(2, 1, 5, 3).astype(np.float32)) | rtol=2e-2
[smplfitter.nb.lstsq]
lstsq(r(1, 2, 7, 3).astype(np.float32), r(2, 2, 7, 1).astype(np.float32), r(3, 2, 7).astype(np.float32)) | rtol=2e-2
[rescalculator.backends.numba_backend]
resmat_numba_core(r(1, 2), r(2, 2), r(3, 2) + 1, r(4, 2) + 1, r(5, 2) / 2, r(6, 2) / 2, r(7, 2), r(8, 2), r(9, 4) / 50, r(10, 4) / 50, 0.01, 0.012, 0.011, 0.013, 0.02, 0.021, 0, 1, True) | by=0,2,3,4,5,6,7,8,9,10,11,12,13,14,15
[kikuchipy._utils.numba]
rotation_from_rodrigues(0.3, 0.4, -0.2)
rotate_vector(r(1, 4), r(2, 5, 3))
[kikuchipy.signals.util._master_pattern]
_get_direction_cosines_for_fixed_pc(np.array([-0.7, 0.8, -0.6, 0.9]), 0.6, 3, 4, r(1, 3, 3), np.ones(12, bool)) | by=0,1,4
_project_single_pattern_from_master_pattern(r(1, 4) / 2, r(2, 6, 3) - 0.7, r(3, 9, 9), r(4, 9, 9), 9, 9, 4.0, True, 0.0, 1.0, np.float64) | by=0,1,2,3
_vector2lambert(r(1, 4, 3) - 0.6)
_lambert2vector(r(1, 4), r(2, 4) - 0.7)
[kikuchipy.pattern._pattern]
_normalize_intensity(r(1, 4, 5), 1, False)
_remove_background_subtract(r(1, 4, 5), r(2, 4, 5), 0.0, 1.0) | by=0,1
_get_image_quality_numba(r(1, 4, 5) + 1j * r(2, 4, 5), r(3, 4, 5), 3.0) | by=1,2
_zero_mean_sum_square_1d_float32(r(1, 6).astype(np.float32)) | rtol=2e-2
[kikuchipy.indexing.similarity_metrics._normalized_cross_correlation]
_ncc_single_patterns_1d_float32_exp_centered(r(1, 6).astype(np.float32), r(2, 6).astype(np.float32), np.float32(2.5)) | by=0,1 rtol=2e-2
[kikuchipy.detectors._convert_detector_coordinates]
get_pixel_to_gnomonic_coords_conversion_numba(r(1, 4), r(2, 4))
[abtem.parametrizations.functions.lobato]
projected_scattering_factor(r(1, 3), r(2, 2, 5))
potential(r(1, 3), r(2, 2, 5))
[abtem.parametrizations.functions.kirkland]
projected_scattering_factor(r(1, 3), r(2, 4, 3))
potential_derivative(r(1, 3), r(2, 4, 3))
[abtem.magnetism.pauli]
central_difference_gradient_pbc(r(1, 2, 4, 5), 0.4, 0.5)
central_difference_gradient_cbc(r(1, 2, 4, 5), 0.4, 0.5)
[abtem.inelastic.core_loss]
numerov(r(1, 7), 0.3, 0.2, 0.1)
[diffsims.utils.discretise_utils]
__atom_pw_cpu(0.3, 0.2, 0.4, r(1, 9), np.array([4.0, 5.0])) | by=0,1,2,3
__FT3D_av_cpu(0.3, r(1, 2), r(2, 3), r(3, 4, 3), r(4, 3), r(5, 3), r(6, 3), 1.0, r(7, 2, 3, 9), np.array([[3.0, 3.0, 3.0], [4.0, 4.0, 4.0]]), np.zeros((2, 3), complex)) | by=0,1,2,3,8 into=10
__density3D_av_cpu(0.3, r(1, 2), r(2, 3), np.zeros(3), r(3, 4, 3), np.array([0, 1, 2, -1]).reshape(1, 1, 1, 4), np.full(3, 2.0), r(4, 3), r(5, 3), 1.0, r(6, 2, 3, 9), np.array([[3.0, 3.0, 3.0], [4.0, 4.0, 4.0]]), np.zeros((2, 3))) | by=1,2,4,10 into=12
[diffsims.pattern.detector_functions]
_subpixel_gaussian(r(1, 3, 3) * 5, r(2, 3) + 2, np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0), indexing="ij"), -1), (7, 7), 0.9, 1e-3) | by=0,1,4
[spherical.recursions.wignerH]
_step_2(r(1, 20), r(2, 20), 2, 2, r(3, 20), r(4, 8), r(5, 20), 0.6 + 0.8j) | by=0,1,4,5 into=4
_step_3(r(1, 20), r(2, 20), 2, 2, r(3, 20), r(4, 5), 0.6 + 0.8j) | by=0,1,4,5 into=4
_step_4(r(1, 20), 2, 2, r(2, 20), r(3, 20)) | into=3
_step_5(r(1, 20), 2, 2, r(2, 20), r(3, 20)) | into=3
[spherical.recursions]
quaternion_angles(r(1, 4))
[spherical.wigner]
_fill_sYlm(0, 2, 2, -1, np.zeros(9, complex), r(1, 20), np.exp(1j * r(2, 3)), 0.6 + 0.8j) | by=5 into=4
_evaluate_Horner(r(1, 2, 9) + 1j * r(2, 2, 9), np.zeros(2, complex), 0, 2, 2, 0, 2, -1, r(3, 20), 0.6 + 0.8j, 0.8 - 0.6j) | by=8 into=1
_rotate_Horner(r(1, 2, 9) + 1j * r(2, 2, 9), np.zeros((2, 9), complex), 0, 2, 2, 0, 2, 0, r(3, 20), 0.6 + 0.8j, 0.8 - 0.6j) | by=8 into=1
[quaternionic.converters]
_to_euler_phases(r(1, 2, 4), np.zeros((2, 3), complex)) | by=0 into=1
[quaternionic.distance]
rotor.intrinsic(r(1, 4), r(2, 4), np.zeros(1)) | by=0,1 into=2
[trackpy.refine.center_of_mass]
_numba_refine_2D(r(1, 9, 9), 2, 2, np.array([[4, 4], [3, 5]]), 2, 5, 0.6, 9, 9, np.array([0, 1, 2, 3, 4, 2, 2]), np.array([2, 2, 2, 2, 2, 1, 3]), 7, np.zeros((2, 3))) | by=0 into=12
[esda.shape]
_get_angles(r(1, 5, 2), np.array([5])) | by=0
_geometric_moments_ring(r(1, 5, 2), True)
[esda.lee]
_local_spatial_pearson_crand(2, r(1, 6, 2), np.array([[0, 1, 2], [3, 1, 4], [2, 0, 3]]), r(2, 3), 0.7) | by=1,3,4
[esda.crand]
_prepare_bivariate(2, r(1, 6, 2), np.array([[0, 1, 2], [3, 1, 4], [2, 0, 3]]), r(2, 3)) | by=1
[vectorbt.generic.nb]
rolling_std_nb(r(1, 8, 2), 3, None, 1)
ewm_std_nb(r(1, 8, 2), 3, 0, True, 1)
[vectorbt.returns.nb]
sharpe_ratio_1d_nb(r(1, 9) - 0.6, 252.0, 0.02, 1)
calmar_ratio_1d_nb(r(1, 9) / 5 - 0.1, 252.0)
beta_1d_nb(r(1, 9), r(2, 9))
tail_ratio_1d_nb(r(1, 9) - 0.6)
omega_ratio_1d_nb(r(1, 9) - 0.6, 252.0, 0.02, 0.01)
[tests.peers.samples.fifth_functions]
runge_kutta_fehlberg(r(1, 2), r(2, 3))
runge_kutta(r(1, 2), r(2, 3), 0.13) | by=0,1
dormand_prince(r(1, 2), r(2, 3))
newton_root(1.3, 2.1)
brent_root(1.3, 2.1)
fitted(np.exp(-0.7 * np.arange(7.0)) + r(1, 7) / 50, np.arange(7.0), np.array([0.8, 0.5])) | by=0
angle_of_triangle(r(1, 3) - 0.9, r(2, 3), r(3, 3), r(4, 3))
line_through_triangle(r(1, 3), r(2, 3), r(3, 3), r(4, 3), r(5, 3))
regridded(np.cumsum(r(1, 6)), np.cumsum(r(2, 5)) * 1.1, r(3, 5))
focal_deviation(r(1, 4, 5), np.ones((3, 3))) | by=0 rtol=2e-2
[regridding._fill._gauss_seidel]
_fill_gauss_seidel_2d(r(1, 2, 3, 4), (r(2, 2, 3, 4) > 0.8), (r(2, 2, 3, 4) <= 0.8), 3)
[regridding._interp_ndarray]
_ndarray_linear_interpolation_1d(r(1, 6), r(2, 4) * 4)
_ndarray_linear_interpolation_2d(r(1, 5, 6), r(2, 3) * 3, r(3, 3) * 4)
[regridding._weights._weights_multilinear._cells]
evaluate(r(1, 2, 9), 0, np.array([0, 1, 3, 4]), r(2, 2), np.zeros(2), np.zeros((2, 2))) | by=0,3 into=5
solve(r(1, 4, 4), r(2, 4), np.zeros(4)) | by=0,1 into=2
newton(np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0))).reshape(2, 9) + r(1, 2, 9) / 9, np.array([3, 3]), np.array([1, 3]), np.array([0, 1, 3, 4]), np.array([1.3, 0.9]), False, np.array([0, 0]), np.array([0.4, 0.5]), np.array([0, 0]), np.zeros((12, 2))) | by=0,4 into=7
[xrspatial.slope]
_cpu(r(1, 4, 5), 0.4, 0.5) | rtol=2e-2
[xrspatial.curvature]
_cpu(r(1, 4, 5), 3.4) | rtol=2e-2
[xrspatial.aspect]
_run_numpy(r(1, 4, 5)) | rtol=2e-2
[xrspatial.multispectral]
_arvi_cpu(r(1, 3, 4), r(2, 3, 4), r(3, 3, 4)) | rtol=2e-2
_evi_cpu(r(1, 3, 4), r(2, 3, 4), r(3, 3, 4), 6.0, 7.5, 9.0, 2.5) | rtol=2e-2
_savi_cpu(r(1, 3, 4), r(2, 3, 4), 0.7) | rtol=2e-2
[xrspatial.convolution]
_convolve_2d_numpy(r(1, 5, 6), r(2, 3, 3)) | rtol=2e-2
[xrspatial.focal]
_mean_numpy(r(1, 4, 5), np.array([np.nan])) | by=0
[kh2d_solver.core.solver]
advect_upwind(r(1, 5, 6), r(2, 5, 6) - 0.7, r(3, 5, 6) - 0.7, 0.4, 0.5, 0.1)
diffuse_explicit(r(1, 5, 6), 0.3, 0.4, 0.5, 0.1)
compute_vorticity_z(r(1, 5, 6), r(2, 5, 6), 0.4, 0.5)
apply_pressure_gradient(r(1, 5, 6), r(2, 5, 6), r(3, 5, 6), 0.4, 0.5, 0.1)
"""
