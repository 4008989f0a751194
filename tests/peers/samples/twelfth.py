# ruff: noqa: E501
"""Calls of public packages' compiled functions that were tried after those of `eleventh.py`, written as in `first.py`."""

CALLS = """
[flexsolve.utils]
array_wegstein_iter(r(1, 4), r(2, 4), r(3, 4), r(4, 4))
array_aitken_iter(r(1, 2, 3), r(2, 2, 3), r(3, 2, 3), r(4, 2, 3))
IQ_iter(1.3, -0.4, -0.9, 0.2, 0.9, 1.4, 1.2, 0.7, 0.3)
false_position_iter(0.2, 1.4, 1.2, -0.9, 1.1, 0.9, 0.4)
[bumps.dream.bounds]
ReflectBounds.apply(np.array([0.4, 0.3, 0.5]), np.array([0.9, 0.8, 0.95]), r(1, 4, 3)) | into=2
ClipBounds.apply(np.array([0.4, 0.3, 0.5]), np.array([0.9, 0.8, 0.95]), r(1, 4, 3)) | into=2
[xeofs.utils.optional.distance_metrics]
distance_nb(r(1, 4, 2), r(2, 2), "haversine")
distance_nb(r(1, 4, 3), r(2, 3), "euclidean")
[xeofs.utils.optional.kernels]
kernel_weights_nb(r(1, 5), 0.9, "bisquare")
kernel_weights_nb(r(1, 5), 0.9, "exponential")
[xeofs.utils.optional.numba_utils]
_local_pcas(r(1, 5, 3), r(2, 5, 2), 1, "euclidean", "gaussian", 0.7)
[ndoptimize._least_squares]
_cholesky_band(np.array([[2.1, 0.0, 0.0], [2.3, 0.4, 0.0], [2.9, 0.6, 0.3], [2.2, 0.2, 0.5]]), 4) | into=0
_solve_lower_band_columns(1 + r(1, 4, 3), r(2, 4, 2), 4) | into=1
_cholesky(r(1, 4, 4) @ r(1, 4, 4).T + np.eye(4), 1e-9) | into=0
_solve_positive_definite(r(1, 4, 4) @ r(1, 4, 4).T + np.eye(4), r(2, 4), np.zeros((4, 4)), np.zeros(4)) | by=0,1 into=3
_whitened_residual(1 + r(1, 4, 3), 4, r(2, 4), r(3, 4), np.zeros(4)) | by=0,2,3
_normal(r(1, 5, 3), r(2, 5), 5, r(3, 3), r(4, 3), np.array([0.4, 0.0, 0.7]), np.zeros((3, 3)), np.zeros(3)) | by=0,1 into=6
_chi2_prior(r(1, 3), r(2, 3), np.array([0.4, 0.9, 0.7]))
[jitr.utils.free_solutions]
Gamow_factor(3, 0.7)
[menger.analysis.mengercurvature]
menger_curvature(r(1, 7, 3), 2)
[panicle.association.lrt]
_gauss_solve(r(1, 4, 4), r(2, 4))
_lrt_eval(0.4, r(1, 6), r(2, 6, 2), r(3, 6), r(4, 6), 6, True)
_illinois_lambda_root(0.1, 9.0, -0.7, 0.9, r(1, 6), r(2, 6, 2), 3 * r(3, 6), 3 * r(3, 6) - 1, 6, 1e-3, 1e3) | rtol=1e-3
_solve_single_brackets_numba(r(1, 6), r(2, 6, 1), r(5, 6, 3), np.array([0, 2]), 3 * r(3, 6), 3 * r(3, 6) - 1, 6, np.array([0.1, 0.2]), np.array([9.0, 8.0]), np.array([-0.7, -0.8]), np.array([0.9, 0.8]), 1e-3, 1e3) | rtol=1e-3
[panicle.association.mlm]
compute_batch_crossproducts_jit(r(1, 6), r(2, 6, 2), r(3, 6, 3), r(4, 6))
process_batch_effects_jit(r(1, 2, 2) + np.eye(2), r(2, 2), 0.3 * r(3, 2, 3), 1 + r(4, 3), r(5, 3), 0.7, 9, 2)
[lsdnumbatools.quick_lem]
SPIL_Srec(np.zeros(6), np.array([0.0, 0.4, 0.9, 0.7, 1.6, 1.3]), np.array([0, 1, 3, 2, 4, 5]), np.array([0, 0, 1, 1, 2, 2]), 1 + r(1, 6), 9 * r(2, 6), 0.1 * r(3, 6), 0.45, 1.1, 0.5, 1e-9, 6) | by=1,4,5,6,7,8,9 into=0
SPIL_Srec_explicit(np.zeros(6), np.array([0.0, 0.4, 0.9, 0.7, 1.6, 1.3]), np.array([0, 1, 3, 2, 4, 5]), np.array([0, 0, 1, 1, 2, 2]), 1 + r(1, 6), 9 * r(2, 6), 0.1 * r(3, 6), 0.45, 1.1, 0.5, 1e-9, 6) | by=1,4,5,6,7,8,9 into=0
[lsdnumbatools.hill_metrics]
hillshading(r(1, 6, 7), 0.9, 1.1, 6, 5, np.zeros((5, 6)), 0.7, 2.1, 1.3) | by=0,1,2,6,7,8 into=5
[lsdnumbatools.flow_metrics]
compute_chi_Srec(np.zeros(6), 9 * r(1, 6), np.array([0, 1, 3, 2, 4, 5]), np.array([0, 0, 1, 1, 2, 2]), r(2, 6), 1.3, 0.45) | by=1,4,5,6 into=0
compute_SPL_chi_Srec(np.zeros(6), 9 * r(1, 6), r(3, 6), r(4, 6), np.array([0, 1, 3, 2, 4, 5]), np.array([0, 0, 1, 1, 2, 2]), r(2, 6), 1.3, 0.7, 0.6, 0.45, 1.1) | by=1,2,3,6,7,10,11 into=0
compute_curvachi_basic(np.cumsum(r(1, 6)), r(2, 6), np.array([0, 0, 1, 1, 2, 2]), np.zeros(6)) | by=0,1 into=3
compute_DA_Srec(np.zeros(6), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 3, 2, 4, 5]), 0.9, 1.1) | by=3,4 into=0
[jccc.diff]
delta_e_cie2000(51.0, 13.0, 24.0, 57.0, 9.0, 31.0, 1.0, 1.1, 0.9)
delta_e_cie2000(51.0, 13.0, -24.0, 57.0, 9.0, 31.0, 1.0, 1.1, 0.9)
[jccc.convert]
xyz_to_lab(31.0, 24.0, 0.5)
lab_to_xyz(51.0, 13.0, -24.0)
[vectorized2d.coordinate]
Coordinate._delta_east_and_north_jit(50 * r(1, 4), 30 * r(2, 4), 50 * r(3, 4), 30 * r(4, 4))
Coordinate._shifted(50 * r(1, 4), 30 * r(2, 4), 900 * r(3, 4), r(4, 4))
Coordinate._bearing(r(1, 4), r(2, 4))
Coordinate._ellipse_around(2.3, 1.1, 40.0, 7)
[vectorized2d.vector2d]
Vector2D._calc_angle_diff(90 * r(1, 4), 50 * r(2, 4))
[turbosignal.core]
_numba_rolling_avg(r(1, 8), 3)
_numba_ema(r(1, 8), 0.3)
[ProphetLite.linear_basis]
get_basis(np.cumsum(r(1, 12)), 3, 0.7)
[ProphetLite.model]
lasso_nb(r(1, 6, 3), r(2, 6), 0.02, 40) | by=0,1,2
[hampel_filter.hampel_filter]
calc_medians_std(2, r(1, 9), np.zeros(9), np.zeros(9)) | by=1,2 into=3
calc_medians(2, r(1, 9), np.zeros(9)) | by=1 into=2
[sharrow.maths]
piece(1.7, 0.4, 1.2)
hard_sigmoid(0.7, 0.1, 1.4)
[sharrow.nested_logit]
_utility_to_probability_array(np.array([3, 3, 4, 4]), np.array([0, 1, 2, 3]), np.array([0.0, 0.0, 0.0, 0.6, 1.0]), np.array([0, 0, 0, 0, 2]), np.array([0, 0, 0, 2, 2]), r(1, 2, 3)) | by=5 rtol=5e-2
[sparse_numba.conversion.matrix_conversion_numba]
convert_coo_to_csc(np.array([0, 1, 2, 0, 2]), np.array([0, 1, 2, 2, 0]), r(1, 5), 3, 3)
convert_csr_to_csc(r(1, 5), np.array([0, 2, 1, 0, 2]), np.array([0, 2, 3, 5]))
sparse_matvec_csr(r(1, 5), np.array([0, 2, 1, 0, 2]), np.array([0, 2, 3, 5]), r(2, 3))
[brisk.funcs]
var(r(1, 6))
corr(r(1, 6), r(2, 6))
cov_fast(r(1, 6), r(2, 6))
interp_one(0.7, np.array([0.1, 0.5, 1.1, 1.6]), r(1, 4))
[baderkit.global_numba.basic]
get_gradient_cart(1, 0, 2, r(1, 3, 4, 3), r(2, 3, 3))
mutiple_dists(r(1, 4, 3), r(2, 4, 3))
merge_frac_coords_weighted(0.4 * r(1, 4, 3), r(2, 4))
[baderkit.global_numba.interpolation]
interpolate_points(0.7 * r(1, 4, 3), "linear", r(2, 4, 3, 5))
interpolate_points(0.7 * r(1, 4, 3), "cubic", r(2, 4, 3, 5))
linear_slice(r(2, 4, 3, 5), r(1, 3), r(3, 3), 5)
spline_grad_and_hess(2 * r(1, 3), r(2, 4, 4, 5))
spline_hess(1.3, 0.7, 2.1, r(2, 4, 4, 5))
[baderkit.global_numba.critical_points]
estimate_voxel_extremum_periodic(r(1, 3, 4, 3), 1, 0, 2, np.eye(3), True) | by=0
newton_step_regularized(r(1, 3), r(2, 3, 3) + r(2, 3, 3).T + 2 * np.eye(3), 1e-3)
targeted_newton_step(r(1, 3), r(2, 3, 3) + r(2, 3, 3).T + 2 * np.eye(3), 1, 1e-3)
[scijit.integrate._quadrature]
_romb_1d(r(1, 9), r(2, 9), False, 0.3)
_simpson_1d(r(1, 8), np.cumsum(r(2, 8)), True, 1.0)
_simpson_1d(r(1, 8), r(2, 8), False, 0.7)
_cumsimp_1d(r(1, 7), np.cumsum(r(2, 7)), True, 1.0, 1, 0.3)
[scijit.interpolate._cubic]
_solve_derivs(np.cumsum(r(1, 6)), r(2, 6), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])) | by=0,1
_solve_periodic(r(1, 6), r(2, 6), 7)
_pchip_derivs(np.cumsum(r(1, 6)), np.cumsum(r(2, 6)))
[scijit.interpolate._bspline]
_eval_spline(np.array([0.0, 0.0, 0.0, 0.0, 0.6, 1.1, 1.7, 1.7, 1.7, 1.7]), r(1, 6), 3, r(2, 4), 1, True) | by=1,3
_akima_derivs(np.cumsum(r(1, 6)), r(2, 6), 1)
_periodic_area(np.arange(8.0) + 0.1 * r(1, 8), r(2, 4), 3, 3.1, 4.1, 2.3, 6.7) | by=1,5,6
[scijit.optimize._lsq]
_nnls_core(r(1, 6, 3), r(2, 6), 90, True)
_bvls(r(1, 6, 3), r(2, 6), np.full(3, -0.1), np.full(3, 0.35), 1e-12, 50, 0) | by=0,1
_trf_linear(r(1, 6, 3), r(2, 6), np.full(3, -0.1), np.full(3, 0.35), 1e-12, 50, 0) | by=0,1 rtol=1e-3
_trfl_givens(np.triu(r(1, 4, 4)), r(2, 4), r(3, 4))
[scijit.optimize._minimize]
_hess_inv_matvec(r(1, 3, 4), r(2, 3, 4), r(3, 3), r(4, 4))
[scijit.optimize._minimize_py]
_cubicmin(0.1, 0.9, -0.7, 0.8, 0.6, 1.3, 0.8)
_quadmin(0.1, 0.9, -0.7, 0.8, 0.6)
_vecnorm(r(1, 5), 3.0)
[scijit.optimize._qmc]
discrepancy(0.8 * r(1, 5, 3), 0)
discrepancy(0.8 * r(1, 5, 3), 2)
[scijit.optimize._assignment]
_lsa(r(1, 4, 5), False)
[pynr.utils.interpolation]
_interp(r(1, 2, 5, 6, 5), r(2, 3), 0.5 + r(3, 3), 1.4 + r(4, 3, 3), 3, np.zeros((2, 3))) | by=0,1,2,3 into=5
[pynr.kernels.dissipation]
add_ko_dissipation(r(1, 2, 8, 7, 7), r(2, 2, 8, 7, 7), r(3, 3), 3, 0.4, np.array([True, False])) | by=0,1,2,4 into=1
[pynr.kernels.boundary]
rhs_boundary(r(1, 2, 5, 6, 5), np.zeros((2, 5, 6, 5)), r(3, 3), 1, r(4, 5), r(5, 6), r(6, 5), r(7, 2), True, np.array([True, True])) | by=0,2,4,5,6,7 into=1
[pynr.kernels.adm]
adm_rhs(0.1 * r(1, 16, 5, 5, 5) + np.array([1.0, 0, 0, 1.0, 0, 1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0]).reshape(16, 1, 1, 1), np.zeros((16, 5, 5, 5)), 1 + r(2, 3), 2, 2, True, np.arange(5.0), np.arange(5.0), np.arange(5.0), 0.0) | by=0,2 into=1
adm_constraints(0.1 * r(1, 16, 5, 5, 5) + np.array([1.0, 0, 0, 1.0, 0, 1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0]).reshape(16, 1, 1, 1), np.zeros((5, 5, 5)), np.zeros((3, 5, 5, 5)), 1 + r(2, 3), 2) | by=0,3 into=2
[foostrap.stats_numba]
numba_std(r(1, 6))
quantile_sparse(r(1, 5), 7, 0.63)
pearson_rows(r(1, 2, 6))
[chimeraboost.losses]
_logloss_grad_hess_kernel(r(1, 5) - 0.7, r(2, 5))
_logloss_ce_kernel(r(1, 5) - 0.7, r(2, 5))
_softmax_grad_hess_kernel(r(1, 3, 4), r(2, 3, 4))
_softmax_ce_kernel(r(1, 3, 4), r(2, 3, 4))
[chimeraboost.tree]
_mvs_lambda_scan(np.sort(r(1, 7))[::-1].copy(), 6.1, 4.6)
_solve_small(r(1, 4, 4), r(2, 4))
_leaf_values_vec(np.array([0, 1, 1, 2, 0]), r(1, 5, 3), r(2, 5, 3), 0.7, 3, 0.6, 0.1)
_loo_leaf_step(np.array([0, 1, 1, 2, 0, 2]), r(1, 6), r(2, 6), 3, 0.6, 0.1)
_quantile_slice(r(1, 9), 1, 8, 0.37)
_leaf_quantiles_vec(np.array([0, 1, 1, 0, 0, 1, 0]), r(1, 7), r(2, 7, 2), np.array([0.23, 0.71]), 2, 0.3)
_linear_leaf_fit(np.array([0, 1, 1, 0, 0, 1, 0]), r(1, 7), r(2, 7), 2, np.array([0, 2]), r(3, 3, 4), np.array([[0, 1, 2, 3, 1, 0, 2], [1, 1, 2, 0, 3, 2, 0], [3, 2, 1, 0, 0, 3, 1]], np.uint8), 0.3, 0.4, 0.1) | by=1,2,5,7,8,9
_linear_predict(np.array([0, 1, 1, 0, 0, 1, 0]), np.array([0, 2]), r(1, 2, 3), r(3, 3, 4), np.array([[0, 1, 2, 3, 1, 0, 2], [1, 1, 2, 0, 3, 2, 0], [3, 2, 1, 0, 0, 3, 1]], np.uint8))
[netneurotools.metrics.statistical]
_network_pearsonr_numba(r(1, 4), r(2, 4), r(3, 4, 4) + 2 * np.eye(4))
_polariz_diff(r(1, 6) - 0.7)
_network_variance_numba(r(1, 4), r(2, 4, 4))
_network_covariance_numba(r(1, 4, 4), r(2, 4, 4), True)
_cross_outer(r(1, 3, 2))
_onehot_quadratic_form_broadcast(r(1, 4, 4))
[netneurotools.metrics.bct]
_assortativity_und_numba(r(1, 5), r(2, 5, 5))
[NuRadioMC.utilities.attenuation]
get_temperature(-700.0)
[evoc.node_embedding]
rdist(r(1, 5).astype(np.float32), r(2, 5).astype(np.float32)) | rtol=5e-2
[ndfilters._convolve]
_convolve_1d(r(1, 2, 6), r(2, 2, 3), np.ones((2, 6), bool), "mirror")
_convolve_2d(r(1, 2, 4, 5), r(2, 2, 3, 3), r(3, 2, 4, 5) > 0.4, "nearest")
_convolve_3d(r(1, 1, 3, 4, 3), r(2, 1, 3, 3, 3), np.ones((1, 3, 4, 3), bool), "truncate")
[ndfilters._trimmed_mean]
_trimmed_mean(r(1, 9), (0.25,))
[ndfilters._variance]
_variance(r(1, 9), ())
[unlockedpd.ops.ewm]
_ewm_mean_2d(np.where(r(2, 8, 2) > 1.1, np.nan, r(1, 8, 2)), 0.3, True, True, 2) | by=1
_ewm_var_2d(r(1, 8, 2), 0.3, True, False, 2, False)
_ewm_std_2d_serial(r(1, 8, 2), 0.3, False, True, 2, False)
[unlockedpd.ops.rolling]
_rolling_kurt_2d(r(1, 9, 2), 6, 5)
_rolling_skew_2d_serial(r(1, 9, 2), 6, 5)
_rolling_median_nogil_chunk(r(1, 9, 2), np.zeros((9, 2)), 0, 2, 5, 3) | by=0 into=1
_rolling_quantile_nogil_chunk(r(1, 9, 2), np.zeros((9, 2)), 0, 2, 5, 3, 0.37) | by=0,6 into=1
_rolling_sem_2d(r(1, 9, 2), 5, 3, 1)
[unlockedpd.ops._minmax_deque]
_rolling_min_1d_deque(r(1, 9), 4, 2)
[unlockedpd.ops._welford]
rolling_std_welford_parallel(r(1, 9, 2), 4, 3, 1)
[unlockedpd.ops.cumulative]
_cumprod_nogil_chunk(r(1, 6, 2), np.zeros((6, 2)), 0, 2) | by=0 into=1
_cummax_nogil_chunk(r(1, 6, 2), np.zeros((6, 2)), 0, 2) | by=0 into=1
[unlockedpd.ops.dataframe_pairwise]
_compute_corr_matrix(r(1, 6, 3))
[pixerise.kernel.transforming_mod]
transform_vertex(r(1, 3), r(2, 3), r(3, 3), r(4, 3), r(5, 3), r(6, 3), True) | rtol=5e-2
transform_vertex_normal(r(1, 3), r(2, 3), r(3, 3), True) | rtol=5e-2
project_vertex(r(1, 3), 640, 480, 1.3, 0.9)
[pixerise.kernel.clipping_mod]
clip_triangle(r(1, 3, 3) - np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.5], [0.0, 0.0, 0.0]]), np.array([0.1, 0.2, 0.9]), 0.1) | rtol=5e-2
calculate_bounding_sphere(r(1, 5, 3)) | rtol=5e-2
[pixerise.kernel.shading_mod]
triangle_gouraud_shading(r(1, 3, 3), r(2, 3), 0.2)
[pixerise.kernel.raycasting_mod]
check_ray_triangle_intersection(np.array([0.1, 0.2, 0.0]), np.array([0.1, 0.05, 1.0]), np.array([-1.0, -1.0, 2.0]), np.array([2.0, -1.0, 2.2]), np.array([0.1, 2.0, 2.4])) | rtol=1e-4
[numba_mwu._core]
_mwu_stats_from_rank_sum(31.3, 5, 7, 6.2, True, 0)
[numbagg.moving]
move_mean.func(r(1, 8), 3, 2, np.zeros(8)) | by=0 into=3
move_std.func(r(1, 8), 4, 3, np.zeros(8)) | by=0 into=3
move_corr.func(r(1, 8), r(2, 8), 4, 3, np.zeros(8)) | by=0,1 into=4
[numbagg.moving_exp]
move_exp_nanvar.func(r(1, 8), np.full(8, 0.3), 0.1, np.zeros(8)) | by=0,1 into=3
move_exp_nancorr.func(r(1, 8), r(2, 8), np.full(8, 0.3), 0.1, np.zeros(8)) | by=0,1,2 into=4
[shapley_numba.kernelshap]
_unbiased_solve(5, r(1, 5), 0.7)
[tests.peers.samples.twelfth_functions]
solved_by_gauss(r(1, 4, 4), r(2, 4))
solved_by_lu(r(1, 4, 4), r(2, 4, 2))
solved_by_cholesky(r(1, 4, 4), r(2, 4, 2))
solved_by_steps(r(1, 4, 4) + 4 * np.eye(4), r(2, 4), 1.1)
channels(r(1, 6, 6) + 2 * np.eye(6), r(2, 3), r(3, 2), r(4, 2), r(5, 2), r(6, 2), 1.7)
cross_sections(0.7, r(1, 3), r(2, 3), r(3, 3, 4), r(4, 3, 4), r(5, 3))
brent(1.3, 2.1) | rtol=1e-4
ridder(1.3, 2.1) | rtol=1e-4
toms(1.3, 2.1) | rtol=1e-4
secant(1.3, 2.1) | rtol=1e-4
halley(1.3, 2.1) | rtol=1e-4
newton(1.3, 2.1) | rtol=1e-4
several_roots(r(1, 3), 1.3, 2.1) | by=1,2 rtol=1e-4
fixed(0.8, 0.9) | rtol=1e-4
golden_valley(0.7, 0.3) | rtol=1e-4
bounded_valley(0.7, 0.3) | rtol=1e-4
descended(r(1, 2), 1.3, 0.7) | by=1,2 rtol=1e-4
path(r(1, 2), 2.3, r(2, 2)) | rtol=1e-3
finer_path(r(1, 2), 2.3, r(2, 2)) | rtol=1e-3
spline(np.array([0.0, 0.0, 0.0, 0.0, 0.6, 1.1, 1.7, 1.7, 1.7, 1.7]), r(1, 6), r(2, 4)) | by=1,2
interpolating(np.cumsum(r(1, 7)), r(2, 7), 1 + r(3, 3))
akima_curve(np.cumsum(r(1, 7)), r(2, 7), 1 + r(3, 3))
cubic_curve(np.cumsum(r(1, 7)), r(2, 7), 1 + r(3, 3))
monotone_curve(np.cumsum(r(1, 7)), r(2, 7), 1 + r(3, 3))
price_parts(np.array([0.9, 1.3, 0.04, 0.3]), np.array([1.1, 0.9, 0.03, 0.4]), 1.02)
put_price(0.9, 1.02, 1.3, 0.04, 0.3)
hermite(r(1, 5))
antidiffusion(r(1, 7), 0.4 * r(2, 7))
"""
