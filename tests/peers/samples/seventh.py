# ruff: noqa: E501
"""Calls of public packages' compiled functions that were tried after those of `sixth.py`, written as in `first.py`."""

CALLS = """
[eko.couplings]
expanded_n3lo(0.02, 7.7, 6.6, 20.0, 100.0, 0.4)
couplings_expanded_alphaem_running((3, 2), np.array([0.02, 0.0006]), 5, 3, 8.0, 90.0, False) | by=1,4,5
[eko.msbar_masses]
ker_expanded(0.03, 0.02, (4, 0), 4)
[eko.kernels.non_singlet]
n3lo_exact(r(1, 4) + 0.3j * r(2, 4), 0.02, 0.03, np.array([8.3, 50.0, 400.0, 8000.0])) | by=1,2,3
[eko.kernels.singlet]
n3lo_decompose_exact(r(1, 4, 2, 2) + 0.3j * r(2, 4, 2, 2), 0.02, 0.03, 4) | by=1,2
eko_truncated(r(1, 4, 2, 2) + 0.3j * r(2, 4, 2, 2), 0.02, 0.03, np.array([8.3, 50.0, 400.0, 8000.0]), (4, 0)) | by=1,2,3
[dcor._fast_dcov_avl]
_distance_covariance_sqr_avl_impl_compiled(r(1, 9), r(2, 9), False)
[dcor._fast_dcov_mergesort]
_distance_covariance_sqr_mergesort_generic_impl_compiled(r(1, 9), r(2, 9), True)
_distance_covariance_sqr_terms_mergesort_impl_compiled(r(1, 9), r(2, 9), True)
_compute_row_sums_compiled(r(1, 9))
[dcor._dcor_internals_numba]
_dcov_from_terms_compiled(3.1, r(1, 6), 2.2, r(2, 6), 1.7, 6, True)
[dynasor.core.rho_j_q_numba]
_rho_q_exp(r(1, 4, 3), r(2, 3, 3), np.zeros(3, np.complex128)) | by=0,1 into=2
_rho_q_poly(r(1, 3, 4), r(2, 3, 3), np.zeros(3, np.complex128)) | by=0,1 into=2
_rho_q_incoherent_poly(r(1, 2, 3, 4), r(2, 3, 3), np.zeros((2, 3))) | by=0,1 into=2
_rho_j_q_exp(r(1, 4, 3), r(2, 4, 3), r(3, 3, 3), np.zeros(3, np.complex128), np.zeros((3, 3), np.complex128)) | by=0,1,2 into=4
[dynasor.modes.tools]
get_dynamical_matrix(r(1, 4, 4, 3, 3), np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 1]]), np.array([0, 1, 0, 1]), r(2, 3))
[dysts.flows]
DoublePendulum._rhs(0.4, 0.7, 0.3, 0.6, 0.0, 9.8, 1.1, 0.9, 1.2, 0.8)
BelousovZhabotinsky._rhs(0.4, 0.7, 0.3, 0.1, *r(1, 21))
BlinkingRotlet._rotlet(0.4, 0.7, 1.0, 0.5, 1.2)
InteriorSquirmer._rhs_static(0.6, 0.7, 0.1, r(1, 4), r(2, 4))
[dysts.maps]
BlinkingVortexMap.root(0.4, 0.7, 0.5, 0.6, 0.3, 0.55, 0.2, 0.7, 1.3)
[PyEMD.experimental.jitemd]
cubic_spline_3pts(np.array([0.1, 0.9, 2.1]), r(1, 3), np.linspace(0.2, 2.0, 7))
_find_extrema_parabol(np.arange(12) * 0.7, np.cos(np.arange(12) * 1.7) + 0.1 * r(1, 12))
extract_max_min_extrema(np.arange(14) * 0.7, np.cos(np.arange(14) * 1.7) + 0.1 * r(1, 14), 2, "parabol")
extract_max_min_extrema(np.arange(14) * 0.7, np.cos(np.arange(14) * 1.7) + 0.1 * r(1, 14), 2, "simple")
_normalize_time(np.cumsum(r(1, 7)))
[algotom.rec.reconstruction]
back_projection_cpu(r(1, 3, 7), r(2, 3), 3.1, True) | rtol=2e-2
[algotom.rec.vertrec]
vertical_back_projection_cpu_chunk(r(1, 3, 2, 7), r(2, 3), 3 * r(3, 2, 7), 3 * r(4, 2, 7), 2.1, False) | rtol=2e-2
[algotom.util.correlation]
_generate_correlation_map_2d_input_cpu(r(1, 5, 6), r(2, 3, 4)) | rtol=2e-2
[algotom.prep.phase]
_get_transmission_dark_field_signal(r(1, 2, 9, 9), r(2, 2, 9, 9), 0.4 * r(3, 9, 9), 0.4 * r(4, 9, 9), 3, 1) | by=0,1 rtol=2e-2
[evcouplings.compare.distances]
_distances(np.array([[0, 1], [2, 4]]), r(1, 5, 3), np.array([[0, 0], [1, 3]]), r(2, 4, 3), False)
[evcouplings.couplings.mean_field]
direct_information(r(1, 3, 3, 4, 4), r(2, 3, 4) / 3)
fields(r(1, 3, 3, 4, 4), r(2, 3, 4) / 3)
[evcouplings.couplings.model]
_hamiltonians(np.array([[0, 2, 1], [3, 1, 0]]), r(1, 3, 3, 4, 4), r(2, 3, 4))
_zero_sum_gauge(r(1, 3, 3, 4, 4))
[evcouplings.align.alignment]
pair_frequencies(np.array([[0, 2, 1], [3, 1, 0], [0, 1, 1]]), r(1, 3), 4, r(2, 3, 4))
[fbpic.particles.push.numba_methods]
push_p_numba(r(1, 3), r(2, 3), r(3, 3), r(4, 3), 3e8 * r(5, 3), 3e8 * r(6, 3), 3e8 * r(7, 3), r(8, 3), r(9, 3), r(10, 3), 1.1, 0.9, 3, 0.7)
[fbpic.particles.spin.numba_methods]
push_s_numba(r(1, 3), r(2, 3), r(3, 3), r(4, 3), r(5, 3), r(6, 3), r(7, 3), r(8, 3), r(9, 3), 3e8 * r(10, 3), 3e8 * r(11, 3), 3e8 * r(12, 3), r(13, 3), r(14, 3), r(15, 3), 1.1, 0.9, 3, 0.4, 0.2)
[fbpic.particles.elementary_process.compton.numba_methods]
get_photon_density_gaussian_numba(np.zeros(3), 3, r(1, 3), r(2, 3), r(3, 3), 0.4, 2.1, 0.7, 0.5, 0.3, 1.4, 0.6) | by=2,3,4,5,6,7,8,9,10,11
[fbpic.particles.gathering.threading_methods]
gather_field_numba_linear(r(1, 3), r(2, 3), r(3, 3) * 3, 9.0, 1.1, 0.0, 5, 1.2, 0.0, 5, *(r(k, 5, 5) + 0.3j * r(k + 20, 5, 5) for k in range(12)), *np.zeros((6, 3))) | by=0,1,2,4,5,7,8 into=22
[fbpic.particles.deposition.threading_methods]
deposit_rho_numba_linear(r(1, 4), r(2, 4), r(3, 4) * 3, r(4, 4), 1.6, 1.1, 0.0, 5, 1.2, 0.0, 5, np.zeros((2, 2, 9, 9), np.complex128), 2, 2, np.array([0, 2, 4]), r(5, 6), r(6, 6)) | by=0,1,2,3,4,5,6,8,9,15,16 into=11
[geostatspy.geostats]
cova2(0.1, 0.3, 0.7, 0.9, 3, 0.1, 9.0, r(1, 3), r(2, 3) + 0.4, np.array([1, 2, 3]), r(3, 3), r(4, 3), r(5, 4, 3), 2.0)
setup_rotmat(0.1, 2, np.array([1, 2]), r(1, 2), 90 * r(2, 2), 9.0)
ksol_numpy(3, (3 * np.eye(3) + r(1, 3, 3)).ravel(), r(2, 4))
variogram_loop(r(1, 9), r(2, 9), r(3, 9), 0.2, 0.1, 4, 30.0, 60.0, 5.0) | by=0,1,2
[hyppo.conditional.pdcorr]
_pdcorr(r(1, 6, 6), r(2, 6, 6), r(3, 6, 6))
[hyppo.independence.dcorr]
_fast_1d_dcov(r(1, 9, 1), r(2, 9, 1), True)
_dcorr(r(1, 6, 6) + r(1, 6, 6).T, r(1, 6, 6) + r(1, 6, 6).T + r(2, 6, 6) / 3, True, False)
[hyppo.independence.hhg]
_hoeffdings_d_calc(7 * r(1, 7), 7 * r(2, 7), (7,))
[lppls.lppls]
LPPLS.lppls(np.arange(9) / 3, 4.3, 0.6, 7.1, 2.0, -0.4, 0.1, 0.2)
LPPLS.matrix_equation(np.cumsum(r(1, 2, 12), axis=1), 9.9, 0.6, 4.1)
[hotspot.local_stats]
local_cov_weights(r(1, 5), np.array([[1, 2], [0, 3], [4, 1], [2, 0], [3, 1]]), r(2, 5, 2))
compute_moments_weights(r(1, 5), r(2, 5), np.array([[1, 2], [0, 3], [4, 1], [2, 0], [3, 1]]), r(3, 5, 2))
[hotspot.local_stats_pairs]
compute_moments_weights_pairs_fast(r(1, 5), r(2, 5), r(3, 5), r(4, 5), np.array([[1, 2], [0, 3], [4, 1], [2, 0], [3, 1]]), r(5, 5, 2))
_compute_hs_pairs_inner_centered_cond_sym((0, 1), r(1, 2, 5), np.array([[1, 2], [0, 3], [4, 1], [2, 0], [3, 1]]), r(2, 5, 2), r(3, 2))
[hotspot.utils]
neighbor_smoothing(r(1, 2, 5), np.array([[1, 2], [0, 3], [4, 1], [2, 0], [3, 1]]), r(2, 5, 2), 0.8)
[cooltools.lib.numutils]
observed_over_expected(r(1, 7, 7) + r(1, 7, 7).T)
iterative_correction_symmetric(r(1, 5, 5) + r(1, 5, 5).T, 30, 0, 1e-5)
iterative_correction_asymmetric(r(1, 4, 5), 30, 1e-5)
[cooltools.sandbox.expected_smoothing]
_log_smooth_numba(np.cumsum(r(1, 9)), r(2, 2, 9), 0.2) | by=0,1
[dolo.algos.fb]
smooth(r(1, 2, 2, 2), r(2, 2, 2, 2), r(3, 2, 2, 2) / 9, r(4, 2, 2, 2) + 1, r(5, 2, 2, 2, 2))
[dolo.algos.invert]
invert(r(1, 4, 4), np.eye(4)) | into=1
[dolo.algos.bruteforce_lib]
mult_AB(r(1, 2, 2, 3, 3), r(2, 2, 2, 3, 2, 3))
[dolo.algos.ergodic]
trembling_hand(r(1, 2, 4), r(2, 2, 1) / 2, 0.7) | into=0
[dolo.numeric.taylor_expansion]
eval_te_order_3(r(1, 3), r(2, 2), r(3, 2, 3), r(4, 2, 3, 3), r(5, 2, 3, 3, 3), r(6, 4, 3), np.zeros((4, 2))) | by=0,1,2,3,4,5 into=6
[directlfq.normalization]
calc_nanvar(np.where(np.arange(7) == 3, np.nan, r(1, 7)))
calc_nanmedian(r(1, 7))
[tests.peers.samples.seventh_functions]
matrix_exponential(r(1, 3, 3))
non_singlet_dimension(1.7, 0.4)
quark_gluon_dimension(1.7, 0.4)
interpolator(1.7, 0.4, -0.6)
spectral_energy(r(1, 2, 2, 4), r(2, 3, 3, 2, 4))
corrected_current(r(1, 6, 4, 4), r(2, 4, 4), r(3, 4, 4), r(4, 4, 4), 0.7)
within_groups(r(1, 4, 3), r(2, 5, 3))
prey_and_predator(r(1, 2), 1.3, 0.7)
"""
