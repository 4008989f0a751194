# ruff: noqa: E501
"""Calls of public packages' compiled functions that were tried after those of `eighth.py`, written as in `first.py`."""

CALLS = """
[sarracen.kernels.cubic_spline_exact]
line_int(0.3, 0.4, 0.7, 0.9)
surface_int(0.3, 0.1, 0.2, 0.4, 0.43, 0.5, 0.6, 0.7)
_full_integral_3d(0.4, 0.3, 0.5, 0.6)
[sarracen.interpolate.cpu_backend]
CPUBackend._exact_2d_render(r(1, 4), r(2, 4), r(3, 4), 0.4 * r(4, 4), 4, 4, 0.1, 1.3, 0.05, 1.45)
CPUBackend._exact_3d_project(r(1, 3), r(2, 3), r(3, 3), 0.4 * r(4, 3), 3, 3, 0.1, 1.3, 0.05, 1.45)
[nemesispy.common.interpolate_gcm]
interp_gcm(70.0, 13.0, 1e5 * r(1, 4), np.array([0.0, 90.0, 180.0, 270.0]), np.array([-60.0, 0.0, 60.0]), np.array([2e5, 3e4, 1e3]), 900 + 300 * r(2, 4, 3, 3), r(3, 4, 3, 3, 2), 20.0) | by=0,1,2,5,6,7
[nemesispy.radtran.calc_layer]
average(7e7, 2e5 * np.arange(5.0), 1e5 * np.exp(-np.arange(5.0)), 900 + 300 * r(1, 5), r(2, 5, 2), np.array([39, 40]), np.array([1e4, 1.7e5, 3.9e5, 6.1e5]), 25.0, 1e4) | by=0,1,2,3,4,6,7,8
[nemesispy.radtran.calc_planck]
calc_planck(np.array([1.1, 2.3, 4.0]), 1200.0, 1)
[nemesispy.radtran.calc_tau_gas]
calc_tau_gas(r(1, 2, 3, 4, 3, 3), np.array([3e3, 2e5]), np.array([700.0, 1200.0]), r(2, 2, 2), 1e25 * r(3, 2), np.array([1e2, 1e4, 1e6]), np.array([500.0, 1000.0, 1500.0]), 0.999 * p(4)) | by=0,1,2,3,4 rtol=2e-2
[nemesispy.radtran.calc_tau_rayleigh]
calc_tau_rayleigh(np.array([1.1, 2.3, 4.0]), 1e27 * r(1, 3), 1)
[lstchain.reco.reconstructorCC]
log_pdf_ll(2 * r(1, 3), 2 * r(2, 3, 4), r(3, 3), 0.1 * r(4, 3), 0.4 * r(5, 3), r(6, 3, 4), np.array([1.0, 1.0, 2.0, 6.0, 24.0]), 5)
log_pdf_hl(20 * r(1, 3), 20 * r(2, 3, 4), r(3, 3), 0.1 * r(4, 3), r(6, 3, 4))
asygaussian2d(9 * r(1, 5), r(2, 5), r(3, 5), 0.6, 0.7, 0.3, 0.5, 0.4, 1.3)
nsb_only_waveforms(np.arange(5.0), np.array([True, False]), np.array([2, 1]), r(1, 2, 2), r(2, 2, 2), -1.3, 0.7, r(3, 12), r(4, 12))
log_pdf(60.0, 3.1, 0.6, 0.7, 0.4, 0.6, 0.4, 1.7, 0.3, 4 * r(1, 5, 6), r(2, 5), np.array([True, False, True, True, False]), 0.3 * r(3, 5), 0.1 * r(4, 5), np.arange(6.0), r(5, 5), r(6, 5), r(7, 5), 0.03 * r(8, 5), 0.7, -5.3, r(9, 24), r(10, 24), 9, 2.0, np.array([1.0, 1.0, 2.0, 6.0, 24.0, 120.0, 720.0, 5040.0, 40320.0])) | by=0,1,2,3,4,5,6,7,8,9,10,12,13,14,15,16,17,18,19,20,21,22
[pyrfu.mms.psd_moments]
_moms(5 + r(1, 2, 3), r(2, 2, 3), 1.6, r(3, 2), 1.7, 0.0, 0.5, 90 * r(4, 2, 4, 3), 90 * r(5, 2, 4, 3), np.arange(3), r(6, 2, 3, 4, 3), r(7, 2, 4, 3)) | by=0,1,2,3,4,7,8,10,11
[pyrfu.pyrf.compress_cwt]
_compress_cwt_1d(r(1, 30, 3), 4)
[pyrfu.pyrf.wavelet]
_power_r(r(1, 4, 3), r(2, 4, 3))
[scri.utilities]
_transition_function(np.linspace(0.0, 1.0, 9) + 0.01 * r(1, 9), 0.2, 0.7, 0.3, 1.1)
transition_function_derivative(np.linspace(0.0, 1.0, 9) + 0.01 * r(1, 9), 0.2, 0.7, 0.3, 1.1)
bump_function(np.linspace(0.0, 1.0, 12) + 0.01 * r(1, 12), 0.1, 0.37, 0.6, 0.9, 0.3, 1.1, 0.6)
[scri.mode_calculations]
_LLDominantEigenvector(r(1, 4, 3) - 0.4, r(2, 3), 1) | into=0
[sxs.utilities.smooth_functions]
transition_function_inplace(np.zeros(9), np.linspace(0.0, 1.0, 9) + 0.01 * r(1, 9), 0.2, 0.7, 0.3, 1.1, 3.0) | by=1,2,3,4,5,6
bump_function_inplace(np.zeros(12), np.linspace(0.0, 1.0, 12) + 0.01 * r(1, 12), 0.1, 0.37, 0.6, 0.9, 0.3, 1.1, 0.6, 3.0, 2.5) | by=1,2,3,4,5,6,7,8,9,10
[pandapipes.pf.derivative_toolbox_numba]
derivatives_hydraulic_incomp_numba(r(1, 3, 40), r(2, 3), 5 + r(3, 3), 4 + r(4, 3), 9 * r(5, 3), 990 * r(6, 3), 0.1 * r(7, 3))
derivatives_hydraulic_comp_numba(300 * r(1, 3, 20), r(2, 3, 40), 0.1 * r(3, 3), r(4, 3), 5 + r(5, 3), 4 + r(6, 3), 9 * r(7, 3), r(8, 3), r(9, 3), r(10, 3), r(11, 3), r(12, 3), 0.1 * r(13, 3))
derivatives_branch_thermal_numba(r(1, 3, 40), 300 * r(2, 3, 40), np.arange(40, dtype=np.int32), 300 + 9 * r(3, 3), 300 + 9 * r(4, 3), 300 + 9 * r(5, 3), 4 * r(6, 3), 4 * r(7, 3), 990 * r(8, 3), 60.0, True, 293.0)
derivatives_branch_thermal_numba(r(1, 3, 40), 300 * r(2, 3, 40), np.arange(40, dtype=np.int32), 300 + 9 * r(3, 3), 300 + 9 * r(4, 3), 300 + 9 * r(5, 3), 4 * r(6, 3), 4 * r(7, 3), 990 * r(8, 3), None, False, 293.0)
calc_lambda_nikuradse_incomp_numba(r(1, 4), r(2, 4), 1e-3 * r(3, 4), 1e-3 * r(4, 4), r(5, 4))
calc_medium_pressure_with_derivative_numba(5 + r(1, 4), 3 + r(2, 4))
colebrook_numba(1e5 * r(1, 4), r(2, 4), 1e-3 * r(3, 4), 0.03 * r(4, 4), 40, r(5, 4), 1e-10) | by=0,1,2
[pandapipes.pf.result_extraction]
get_gas_vel_numba(300 * r(1, 3, 20), 0.9 * r(2, 3, 40), r(3, 3), r(4, 3), r(5, 3), r(6, 3), r(7, 3), r(8, 3), r(9, 3))
[sectionproperties.analysis.fea]
_assemble_torsion(r(1, 6, 6), r(2, 6), r(3, 6), r(4, 6), r(5, 2, 6), 0.4, 0.7, 0.3)
_assemble_shear_load(r(1, 6), r(2, 6), r(3, 2, 6), r(4, 6), 0.4, 0.7, 0.3, 1.1, 0.9, 0.2, 0.3)
_assemble_shear_coefficients(0.3, 0.4, 0.5, r(1, 6), r(2, 6), r(3, 2, 6), 0.4, 0.7, 0.3, 1.1, 0.9, 0.2, 0.3)
[blond.utils.butils_wrap_numba]
kick(r(1, 5), r(2, 5), r(3, 2), 9 * r(4, 2), r(5, 2), 1.1, 2, 0.3) | into=1
drift(r(1, 5), r(2, 5), "legacy", 0.7, 0.9, 2, 0.1, 0.05, 0.02, 0.1, 0.05, 0.02, 0.9, 7.0) | into=0
drift(r(1, 5), r(2, 5), "exact", 0.7, 0.9, 2, 0.1, 0.05, 0.02, 0.1, 0.05, 0.02, 0.9, 7.0) | into=0
rf_volt_comp(r(1, 3), 9 * r(2, 3), r(3, 3), r(4, 5))
linear_interp_kick(r(1, 5), r(2, 5), r(3, 7), np.linspace(0.1, 1.3, 7), 1.1, 0.3) | into=1
_resonator_induced_voltage_1_turn(np.zeros(5), 9 * r(1, 6), np.cumsum(r(2, 6)), 0.3, np.zeros((4, 6)), 3 * r(3, 4), 2 * r(4, 2), r(5, 2), r(6, 2), 2, 3 * r(7, 2), r(8, 2), 1.1, 7.0, 0.4, r(9, 2), np.zeros(4)) | by=1,2,3,5,6,7,8,10,11,12,13,14,15 into=16
[hendrics.efsearch]
z_n_fast(6 * r(1, 8), r(2, 8), 3)
_average_and_z_sub_search(r(1, 4, 8), 2)
_fast_step(r(1, 4, 8), np.array([[0.0, 1.2], [2.3, 0.7]]), np.array([[0.4, 1.7], [1.1, 0.2]]), np.arange(2), np.arange(2), 8, 2) | by=0
_fast_phase_fddot(9 * r(1, 5), 1.3, 0.2, 0.1)
[hendrics.ffa]
_ffa(r(1, 8, 8), 8.0, 8, 2)
_z_n_fast_cached_all(r(1, 8), r(2, 24), r(3, 24), np.array([1, 2, 3]))
[hendrics.ml_timing]
poisson_loglike(r(1, 6), 3 * r(2, 6))
[stochvolmodels.pricers.gmm_pricer]
compute_gmm_vanilla_slice_prices(p(3), 0.2 * r(1, 3), r(2, 3), 0.5, 1.0, r(3, 3), np.array(["C", "P", "C"]), 0.95)
[stochvolmodels.pricers.logsv_pricer]
v0_implied(0.4, 0.2, 0.8, 0.5, 2.0, 0.3)
[stochvolmodels.pricers.rough_logsv.expm]
expA_n3_numba(1.1, r(1, 3), r(2, 3), 1e-10)
expA_n2_numba(1.1, r(1, 2), r(2, 2))
[stochvolmodels.pricers.rough_logsv.split_simulation]
drift_ode_solve3(r(1, 3, 2), r(2, 3, 2), 0.6, 1.1, 0.7, r(3, 3, 2), r(4, 3, 2), 0.1)
log_spot_full_combined_f64(r(1, 3, 2), r(2, 3, 2), r(3, 3, 2), 0.6, 1.1, 0.7, 0.1, r(4, 3, 2), -0.4, 0.8, np.linspace(0.0, 0.3, 4), 2, r(5, 3, 2), r(6, 3, 2)) | by=0,1,2,3,4,5,6,7,8,9,10,12,13
[ross.bearings.plain_journal]
_flooded(np.zeros((6, 6)), np.zeros((6, 1)), np.zeros(3), r(1, 2, 3), np.array([0.4, 0.9, 1.4]), 0.5, 2, 3, 0.2, -0.4, 0.33, 0.5, 0.1, 0.2, 1.6, 0.3, 0.2, "lobe", 0.3, 0.8) | by=3,4,5,8,9,10,11,12,13,14,15,16,18,19
_compute_turbulence_props(0.9, 90.0, 0.4, 0.7, 850.0, 0.8, 0.9, 0.02, 1.6, 0.3, 0.2, 3e-4, "starvation", 0.9)
_compute_turbulence_props(0.9, 900.0, 0.4, 0.7, 850.0, 0.8, 0.9, 0.009, 1.6, 0.3, 0.2, 3e-4, "flooded", 0.9) | by=0,1,2,3,4,5,6,7,8,9,10,11
_temperature(np.zeros((6, 6)), np.zeros((6, 1)), 43.0, r(1, 2, 3), np.zeros((2, 3)), r(2, 3), r(3, 2, 3), np.array([0.4, 0.9, 1.4]), r(4, 2, 3), r(5, 2, 3), 90.0, 40.0, 0.02, 850.0, 1950.0, 0.13, 2, 3, 0.33, 0.5, 0.1, 0.2, 1.6, 0.3, 0.2, 3e-4, "starvation") | by=2,3,5,6,7,8,9,10,11,12,13,14,15,18,19,20,21,22,23,24,25
[ross.bearings.tilting_pad]
_calculate_hydrodynamic_forces_numba(r(1, 4, 5), np.cumsum(r(2, 5)), np.cumsum(r(3, 4)), 4, 5, 0.4, 0.3)
_assemble_reynolds_sparse_numba(3, 2, 0.3, 0.4, r(1, 2, 3), 0.1, 0.2, 0.3, 0.4, 0.05, 0.02, 1.1, 0.9, 0.2, 0.1, 0.8, 0.7, 90.0, r(2, 3), r(3, 3), r(4, 3), r(5, 3), r(6, 3), r(7, 3))
[ross.utils]
_converge_newmark(3, r(1, 3), r(2, 3), r(3, 3), 0.1, np.eye(3) + 0.1 * r(4, 3, 3), r(5, 3, 3), r(6, 3, 3), r(7, 3), 0.5, 0.25, 1e-9) | by=1,2,3,4,5,6,7,8,9,10
[distance3d.distance._disk]
point_to_disk(r(1, 3), 3 * r(2, 3), 0.4, np.array([0.6, 0.0, 0.8]))
[distance3d.distance._line]
_line_segment_to_line_segment(r(1, 3), -r(2, 3), r(3, 3) + np.array([1.0, 0.0, 0.0]), r(4, 3) - np.array([0.0, 2.0, 1.0]), 1e-6) | by=0,1,2,3
[distance3d.distance._triangle]
point_to_triangle(r(1, 3), r(2, 3, 3) * np.array([[1.0, 2.0, 0.3], [-1.0, 0.5, 0.4], [0.7, -2.0, 0.2]]))
_line_to_triangle(r(1, 3), np.array([0.6, 0.0, 0.8]), r(2, 3, 3), 1e-6) | by=0,1,2
[distance3d.gjk._gjk_jolt]
closest_point_tetrahedron(r(1, 3), r(2, 3) + np.array([1.0, 0.0, 0.0]), r(3, 3) + np.array([0.0, 1.0, 0.0]), r(4, 3) + np.array([0.0, 0.0, 1.0]))
[distance3d.hydroelastic_contact._forces]
compute_contact_force(r(1, 4, 3) + np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), r(2, 4), r(3, 4), r(4, 5, 3), 1.3)
[distance3d.hydroelastic_contact._tetrahedron_intersection]
contact_plane(r(1, 4, 4), r(2, 4, 4), r(3, 4), r(4, 4), 1.1, 0.8)
[distance3d.geometry]
support_function_cylinder(r(1, 3), np.eye(4) + 0.1 * r(2, 4, 4), 0.4, 1.3)
[spikeinterface.sortingcomponents.clustering.isosplit_isocut]
jisotonic5(r(1, 9), r(2, 9))
isocut(r(1, 14))
compute_centroids_and_covmats(r(1, 7, 3), r(2, 2, 3), r(3, 2, 3, 3), np.array([0, 1, 1, 0, 1, 0, 0]), np.array([0, 1]), np.array([True, True])) | into=2
[spikeinterface.postprocessing.template_similarity]
_compute_similarity_matrix_numba(r(1, 2, 8, 3), r(2, 3, 8, 3), 1, "l2", np.array([[True, True, False], [False, True, True]]), np.array([[True, True, False], [False, True, True], [True, True, True]]), "union") | rtol=2e-2
[spikeinterface.sortingcomponents.matching.tdc_peeler]
numba_sparse_distance(r(1, 5, 3), r(2, 2, 5, 3), np.array([[True, True, False], [False, True, True]]), np.array([True, True, False]), np.array([1, 0])) | rtol=2e-2
numba_best_shift_sparse(r(1, 12, 3), r(2, 5, 2), 5, 2, np.array([-1, 0, 1]), np.zeros(3), np.array([True, False, True])) | by=0,1
[alphadia.search.scoring.features.fragment_features]
weighted_center_of_mass_1d(r(1, 2, 4, 5))
center_envelope_1d(r(1, 3, 7)) | into=0
weighted_mean_a1(r(1, 3, 5), r(2, 3, 5))
[alphadia.search.scoring.features.features_utils]
cosine_similarity_a1(r(1, 3, 5), r(2, 3, 5))
weighted_center_mean_2d(r(1, 2, 2, 3, 4), 2 * r(2, 2, 2), 3 * r(3, 2, 2))
[alphadia.search.scoring.quadrupole]
logistic_rectangle(0.3, 0.9, 0.1, 0.2, r(1, 5))
[alphadia.search.scoring.scoring_utils]
correlation_coefficient(r(1, 7).astype(np.float32), r(2, 3, 7).astype(np.float32)) | rtol=5e-2
[alphadia.search.scoring.utils]
fragment_correlation(r(1, 3, 2, 6)) | rtol=2e-2
[sktime.classification.interval_based._rise_numba]
acf(r(1, 12), 5)
[sktime.dists_kernels._numba_distances._msm_numba]
_cost_matrix(r(1, 1, 6), r(2, 1, 7), np.zeros((6, 7)), 0.3) | by=0,1,3
[sktime.transformations.shapelet_transform._shapelet_transform_numba]
_online_shapelet_distance(r(1, 14), 2 * r(2, 5) - 1.4, np.array([4, 0, 2, 1, 3]), 6, 5)
[sktime.transformations.dictionary_based._sfa_fast_numba]
_fast_fourier_transform(r(1, 3, 8), True, 4, 0.35)
[mgwr.kernels]
local_cdist(9 * r(1, 2), 9 * r(2, 5, 2), True)
local_cdist(9 * r(1, 2), 9 * r(2, 5, 2), False)
[pymc_bart.pgbart]
fast_linear_fit(r(1, 5), r(2, 2, 5), 3, r(3, 2))
_update(3, r(1, 4), r(2, 4), r(3, 4))
[pymc_bart.utils]
pearsonr2(r(1, 2, 4), r(2, 2, 4))
[nufftcf.kernels]
compute_c_gaussian(np.cumsum(r(1, 9)), np.linspace(0.0, 3.0, 4), r(2, 9), 0.4)
compute_b_gaussian_cross(np.cumsum(r(1, 9)), np.cumsum(r(2, 7)), np.linspace(0.0, 3.0, 4), 0.4)
compute_c_rectangle_cross(np.cumsum(r(1, 9)), r(2, 9), np.cumsum(r(3, 7)), r(4, 7), np.linspace(0.0, 3.0, 4), 0.6) | by=1,3
[libertem.udf.stddev]
process_tile(r(1, 3, 5), 2, r(2, 5), r(3, 5)) | into=3
process_tile(r(1, 2, 300), 2, r(2, 300), r(3, 300)) | into=3
[libertem.io.corrections.detector]
_correct_numba_inplace(r(1, 6, 5), r(2, 5), r(3, 5), np.array([1, 3]), np.array([[0, 2], [2, 4]]), np.array([2, 1]))
[pyxem.utils._azimuthal_integrations]
_slice_radial_integrate(r(1, 5, 5), r(2, 18), np.array([[0, 4], [4, 10], [10, 14], [14, 18]]), np.array([[0, 0, 2, 2], [1, 2, 4, 4], [2, 0, 4, 2], [3, 3, 5, 5]]), 2, 2, None, True)
_slice_radial_integrate1d(r(1, 5, 5), np.array([[0, 1], [2, 2], [3, 4], [4, 0], [1, 1]]), r(2, 5), np.array([0, 2, 5]), None, True)
[py4DSTEM.braggvectors.diskdetection_cuda]
linear_interpolation_2D(r(1, 4, 4), 1.3, 2.4)
[xugrid.ugrid.connectivity]
_circumcenters_triangle(r(1, 3, 4), r(2, 3, 4) + np.array([[0.0], [1.0], [-1.0]]))
[xugrid.regrid.reduce]
harmonic_mean(r(1, 5), r(2, 5), np.zeros(5)) | by=0,1
geometric_mean(r(1, 5), r(2, 5), np.zeros(5)) | by=0,1
percentile(r(1, 7), r(2, 7), np.zeros(7), 35.0) | by=0,3
[sdt.changepoint.bayes_online]
t_pdf(0.4, 3.0, 0.1, 1.2)
[sdt.helper.numba]
logsumexp(r(1, 3, 4))
multigammaln(3.3, 2)
[sdt.loc.z_fit]
numba_exp_factor_der(r(1, 5), 0.4, np.nan) | by=0,1
[sdt.sim.fluo_image]
gauss_psf_numba((6, 5), 4 * r(1, 3, 2), r(2, 3), 0.7 * r(3, 3, 2), 4.0) | by=1,2,3
[sdt.brightness]
_calc_dist_numba(np.linspace(0.0, 2.0, 7), r(1, 4), 0.3 * r(2, 4), 4.0) | by=0,1,2
[numbatalib._func.ta_kama]
_kama_kernel(r(1, 16), 4, np.zeros(16)) | by=0 into=2
[numbatalib._func.ta_adx]
_adx_kernel(2 + r(1, 16), r(2, 16), 1 + r(3, 16), 4, np.zeros(16)) | by=0,1,2 into=4
[numbatalib._func.ta_sar]
_sar_kernel(2 + r(1, 16), r(2, 16), 0.02, 0.2, np.zeros(16)) | by=0,1,2,3 into=4
[numbatalib._func.ta_t3]
_t3_kernel(r(1, 24), 3, 0.7, np.zeros(24)) | by=0,2 into=3
[numbatalib._func.ta_mama]
_mama_kernel(9 + np.cos(np.arange(60) * 0.4) + 0.1 * r(1, 60), 0.5, 0.05, np.zeros(60), np.zeros(60)) | by=0,1,2 into=3
[numbatalib._func.ta_ultosc]
_ultosc_kernel(2 + r(1, 16), r(2, 16), 1 + r(3, 16), 2, 4, 7, np.zeros(16)) | by=0,1,2 into=6
[porespy.tools._funcs]
center_of_mass(r(1, 3, 4, 2))
[quartical.gains.delay.kernel]
delay_params_to_gains(r(1, 2, 2, 3, 1, 2), np.zeros((2, 4, 3, 1, 2), np.complex128), r(2, 4), 0.3, 1.4, np.array([0, 0, 1, 1]), False) | by=0,2,3,4 into=1
[mlfinpy.util.fast_ewma]
ewma(r(1, 9), 4)
[tests.peers.samples.ninth_functions]
smoothed_image(r(1, 4), r(2, 4), r(3, 4), 0.4 * r(4, 4), 0.1, 1.3)
line_of_sight(r(1, 4), r(2, 4), r(3, 4), r(4, 4), 0.4 * r(5, 4), 0.1, 1.3)
wavelet(r(1, 3, 4), r(2, 3, 4), r(3, 3, 4), 0.7, r(4, 3, 4), 0.9)
averaged(r(1, 20, 2))
mode_norms(r(1, 3, 8), r(2, 3, 8))
comparison_matrix(r(1, 3, 12), r(2, 3, 12))
rotated_modes(r(1, 2, 8), r(2, 34))
angular_momentum_rate(r(1, 3, 12), r(2, 3, 12))
expected_rotation(r(1, 3, 12), r(2, 3, 12))
expectation(r(1, 3, 5), r(2, 3, 5), r(3, 4))
triangle_shape(np.array([0.1, 1.2, 0.3, 0.7, 0.8, 0.2, 0.2, 0.1, 1.3, 0.15, 0.75, 0.6]), np.array([0.3, 0.3, 0.4]))
heston_prices(0.3, 0.4, 2.0, 0.6, -0.3, np.array([0.9, 1.0, 1.2]))
log_sv_coefficients(0.47, 0.6, 2.1, 1.3, 0.2, 0.7)
orbit(0.3, 0.4, 0.7, -0.2)
kernel_features(np.cos(np.arange(64) * 0.7) + 0.3 * r(1, 64)) | rtol=1e-4
circumscribed(0.3, 0.4, 0.9, 1.3, 1.4, 0.2)
complex_gamma(1.3, 0.4)
preconditioned(3 + r(1, 7), r(2, 3), 0.1, 0.9)
peak_fit(9 * r(1, 9, 9), r(2, 2, 2), r(3, 2))
runge_kutta(r(1, 4))
perimeter_and_area(0.7, 1.3)
hydrostatic(1e5 * np.exp(-np.arange(5.0)), 900 + 300 * r(1, 5), 4 * r(2, 5), 1.9e27, 7e7, np.linspace(0.0, 1e6, 5) + 1e4 * r(3, 5))
radiance(np.array([2.0, 3.0, 4.5]), 1e27 * r(1, 3), np.array([2e5, 4e4, 3e3]), np.array([1200.0, 1100.0, 700.0]), r(2, 3, 2), r(3, 2, 3, 4, 3, 3), 0.999 * p(4), 1 + r(4, 3), 7e7, r(5, 3), r(6, 9, 3, 5), 2e5 * r(7, 3)) | by=1,2,3,4,5,7,8,9,10,11 rtol=2e-2
"""
