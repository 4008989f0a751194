# ruff: noqa: E501
"""Calls of public packages' compiled functions that were tried last, written as in `first.py`."""

CALLS = """
[africanus.coordinates.coordinates]
radec_to_lmn(r(1, 4, 2) / 3, r(2, 2) / 3)
lmn_to_radec(r(1, 4, 3) / 3, r(2, 2) / 3)
[africanus.deconv.hogbom.clean]
twod_gaussian(r(1, 2, 4), 1.3, 0.5, 0.6, 0.7, 0.9, 0.4, 0.1)
update_residual(r(1, 4, 4), 0.8, 0.1, 1, 2, 4, r(2, 8, 8)) | by=0,1,2,6 into=0
[africanus.dft.kernels]
im_to_vis(r(1, 2, 3, 2), r(2, 4, 3), r(3, 2, 2) / 3, 1e8 * r(4, 3))
vis_to_im(r(1, 4, 3, 2) + 1j * r(2, 4, 3, 2), r(3, 4, 3), r(4, 2, 2) / 3, 1e8 * r(5, 3), np.zeros((4, 3, 2), np.bool_)) | by=1,2,3
[africanus.model.shape.gaussian_shape]
gaussian(r(1, 3, 3) * 9, 1e7 * r(2, 2), r(3, 2, 3))
[africanus.model.shape.shapelets]
complex_basis_function(2, 0.1, 0.7, 0.1)
phase_steer_and_w_correct((0.4, 0.7, 0.3), (0.2, 0.3), 1e8) | by=2
shapelet_with_w_term(r(1, 3, 3), 1e7 * r(2, 2), r(3, 2, 3, 3), r(4, 2, 2), (0.1, 0.2), r(5, 2, 2) / 3)
[africanus.model.wsclean.spec_model]
spectra(r(1, 3), r(2, 3, 2), np.array([True, False, True]), 1e9 * r(3, 3), 1e9 * r(4, 4))
[africanus.model.spectral.spec_model]
spectral_model(r(1, 3, 2), r(2, 3, 2, 2), 1e9 * r(3, 3), 1e9 * r(4, 4), 1)
spectral_model(r(1, 3), r(2, 3, 2), 1e9 * r(3, 3), 1e9 * r(4, 4), "std")
[africanus.model.spi.component_spi]
_fit_spi_components_impl(r(1, 2, 4), r(2, 4), 1e9 * r(3, 4), 1e9, np.array([[-0.7, -0.5], [0.0, 0.0], [0.6, 0.7], [0.0, 0.0]]), np.zeros((2, 4)), r(4, 2, 4), 2, 4, 1e-9, 6, 1e-12) | by=0,1,2,3,6
[africanus.rime.phase]
phase_delay(r(1, 3, 2) / 3, r(2, 4, 3), 1e8 * r(3, 2))
[africanus.rime.feeds]
_nb_feed_rotation(r(1, 2, 3), 0, np.zeros((6, 2, 2), np.complex128)) | by=0
_nb_feed_rotation(r(1, 2, 3), 1, np.zeros((6, 2, 2), np.complex128)) | by=0
[africanus.rime.transform]
_nb_transform_sources(r(1, 3, 2), r(2, 2, 3), r(3, 2, 3, 2), r(4, 3, 2), 1e9 * r(5, 2), np.zeros((3, 3, 2, 3, 2)))
[africanus.rime.zernike]
zernike(7, 0.6, 0.4)
nb_zernike_dde(r(1, 3, 2, 2, 2, 2) / 2, r(2, 2, 2, 2, 4), np.arange(32).reshape(2, 2, 2, 4) % 9, np.zeros((2, 2, 2, 2, 2)), r(3, 2, 2), r(4, 2), r(5, 2, 2, 2), r(6, 2, 2, 2, 2) / 9) | by=0,1,4,5,6,7
[africanus.rime.fast_beam_cubes]
freq_grid_interp(1e9 * np.array([0.7, 0.93, 1.08, 1.4]), 1e9 * np.array([0.8, 1.0, 1.2]))
beam_cube_dde(r(1, 4, 4, 3, 2) + 1j * r(2, 4, 4, 3, 2), np.array([[-1.3, 1.2], [-1.4, 1.1]]), 1e9 * np.array([0.8, 1.0, 1.2]), r(3, 2, 2) / 3, r(4, 2, 2), r(5, 2, 2, 2, 2) / 9, r(6, 2, 2, 2), 1e9 * np.array([0.93, 1.08])) | by=3,4,5,6,7
[africanus.rime.predict]
predict_vis(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0]), np.array([1, 2, 1, 2]), r(1, 2, 2, 3, 2, 2, 2), r(2, 2, 4, 2, 2, 2), r(3, 2, 2, 3, 2, 2, 2), r(4, 2, 3, 2, 2, 2), r(5, 4, 2, 2, 2), r(6, 2, 3, 2, 2, 2))
[africanus.rime.wsclean_predict]
wsclean_predict(r(1, 4, 3), r(2, 2, 2) / 3, np.array(["POINT", "GAUSSIAN"]), r(3, 2), r(4, 2, 2), np.array([True, False]), 1e8 * r(5, 2), r(6, 2, 3), 1e8 * r(7, 3)) | by=0,1,3,4,6,7,8
[africanus.calibration.utils.compute_and_corrupt_vis]
compute_and_corrupt_vis(np.array([0, 2]), np.array([2, 2]), np.array([0, 0, 1, 0]), np.array([1, 2, 2, 1]), r(1, 2, 3, 2, 2, 2) + 1j * r(2, 2, 3, 2, 2, 2), r(3, 2, 2, 2, 2), r(4, 4, 3), 1e8 * r(5, 2), r(6, 2, 2, 2) / 3) | by=5,6,7,8
[africanus.gridding.perleypolyhedron.kernels]
compute_detaper_dft_seperable(5, r(1, 25), 3, 5)
[pylops.signalprocessing._fourierradon2d_numba]
_radon_inner_2d(r(1, 3, 4) + 1j * r(2, 3, 4), np.zeros((5, 4), np.complex128), r(3, 4), r(4, 3), r(5, 5), 0, 4, 3, 5) | by=2,3,4 into=1
[pylops.signalprocessing._radon2d_numba]
_hyperbolic_numba(r(1, 4), 0.7, 0.4)
[pylops.signalprocessing._spraying2d_numba]
_spray_forward_numba(r(1, 5, 6), r(2, 5, 6), 2, 0.9, np.zeros((5, 6))) | by=0,1,3 into=4
_spray_adjoint_numba(r(1, 5, 6), r(2, 5, 6), 2, 0.9, np.zeros((5, 6))) | by=0,1,3 into=4
[pylops.utils._pwd2d_numba]
_conv_allpass_numba(r(1, 6, 6), r(2, 6, 6), 2, np.zeros((6, 6)), np.zeros((6, 6))) | by=0,1 into=4
[refl1d.lib.numba.reflectivity]
reflectivity_amplitude(r(1, 4) * 50, r(2, 3) * 3, r(3, 2, 4) * 6, r(4, 2, 4) / 9, r(5, 3) / 20, np.array([0, 1, 0], np.int32), np.zeros(3, np.complex128)) | by=0,1,2,3,4 into=6
[refl1d.lib.numba.magnetic]
calculate_u1_u3(0.3, r(1, 3), r(2, 3), 250.0, np.zeros(3, np.complex128), np.zeros(3, np.complex128)) | by=0,1,2,3 into=4
magnetic_amplitude(r(1, 3) * 50, r(2, 2) * 3, r(3, 3) * 6, r(4, 3) / 9, r(5, 3), np.full(3, 0.7 + 0.2j), np.full(3, -0.6 + 0.4j), r(6, 2) / 20, np.array([0, 0], np.int32), np.zeros(2, np.complex128), np.zeros(2, np.complex128), np.zeros(2, np.complex128), np.zeros(2, np.complex128)) | by=0,1,2,3,4,7 into=9
[refl1d.lib.numba.convolve]
convolve_uniform(np.cumsum(r(1, 9)), r(2, 9), np.array([2.1, 3.2, 4.3]), np.array([0.4, 0.6, 0.9]), np.zeros(3)) | by=0,1,2,3 into=4
convolve_gaussian(np.cumsum(r(1, 9)), r(2, 9), np.array([2.1, 3.2, 4.3]), np.array([0.4, 0.6, 0.9]), np.zeros(3)) | by=0,1,2,3 into=4
[refl1d.lib.numba.rebin]
rebin_counts(np.array([0.0, 1.1, 2.3, 3.2, 4.4]), r(1, 4), np.array([0.4, 1.7, 2.9, 4.1]), np.zeros(3)) | by=0,1,2 into=3
rebin_intensity(4, np.array([0.0, 1.1, 2.3, 3.2, 4.4]), r(1, 4), r(2, 4), 3, np.array([0.4, 1.7, 2.9, 4.1]), np.zeros(3), np.zeros(3)) | by=1,2,3,5 into=7
[refl1d.lib.numba.build_profile]
build_profile(np.arange(6) * 0.8, np.array([1.1, 2.9]), r(1, 2), r(2, 4), r(3, 2), np.zeros(12)) | by=0,1,2,3,4 into=5
[refl1d.lib.numba.contract_profile]
contract_by_area(r(1, 9), np.zeros(9), r(2, 9), r(3, 9) / 9, 0.4) | by=0,2,3 into=2
[refl1d.sample.polymer]
_calc_g_zs(r(1, 5), r(2, 4), r(3, 5, 4), 0.6, 0.2) | into=2
[pyGDM2.propagators.propagators]
_G0_HE(r(1, 3), r(2, 3) * 5 + 2, 6.0, 1.8)
Gs_EE_123(r(1, 3), r(2, 3) + 2, 6.0, 1.8, 2.2, 1.1, 4.0)
Gtot_EE_123(r(1, 3), r(2, 3) + 2, 6.0, 1.8, 2.2, 1.1, 4.0)
_G0_EE_asymptotic(r(1, 3), r(2, 3) * 30, 6.0, 1.8)
Gs_EE_asymptotic(r(1, 3), r(2, 3) * 30, 6.0, 1.8, 2.2, 1.1, 4.0)
[pyGDM2.propagators.propagators_periodic]
moving_average(r(1, 9), 3)
G0_periodic_123(r(1, 3), r(2, 3) * 5 + 3, 6.0, 1.8, 1.8, 1.8, 50.0, 0.0, 2, 2, np.array([9.0, 0.0, 0.0]), np.array([0.0, 9.0, 0.0])) | by=0,1,2
G_HE_periodic(r(1, 3), r(2, 3) * 5 + 3, 6.0, 1.8, 1.8, 1.8, 50.0, 0.3, 2, 2, np.array([9.0, 0.0, 0.0]), np.array([0.0, 9.0, 0.0])) | by=0,1,2,7
[pyGDM2.fields.focused_beams]
_costheta3(1.5, 1.1, 0.4)
[pyGDM2.fields.regular]
_three_layer_pw(500.0, 25.0, "s", -10.0, 80.0, 1.5 + 0j, 1.3 + 0j, 1.1 + 0j, 30.0, 40.0, 50.0, 1.0) | rtol=2e-2
[finitewave.cpuwave.stencil.sten2D.isotropic_stencil_2d]
diffusion_kernel_2d_iso(np.zeros((5, 6)), r(1, 5, 6), r(2, 5, 6, 5), np.array([7, 8, 9, 13, 14, 15, 16])) | by=1,2
compute_weights(np.zeros((5, 6, 5)), np.pad(np.ones((3, 4)), 1), r(1, 5, 6), r(2, 5, 6)) | by=2,3 into=0
[finitewave.cpuwave.stencil.sten2D.asymmetric_stencil_2d]
compute_weights(np.zeros((5, 6, 9)), np.pad(np.ones((3, 4)), 1), r(1, 5, 6), r(2, 5, 6), r(3, 5, 6), r(4, 5, 6)) | by=2,3,4,5 into=0
[finitewave.cpuwave.stencil.sten2D.symmetric_stencil_2d]
compute_weights(np.zeros((5, 6, 9)), np.pad(np.ones((3, 4)), 1), r(1, 5, 6), r(2, 5, 6), r(3, 5, 6), r(4, 5, 6)) | by=2,3,4,5 into=0
[finitewave.cpuwave.tracker.ecg_tracker]
_compute_ecg_2d(r(1, 5, 6), r(2, 5, 6), r(3, 2, 3) * 4, 0.3, np.array([7, 8, 9, 13, 14, 15, 16]))
[xgcm.transform]
_interp_1d_linear(r(1, 2, 6), np.sort(r(2, 2, 6)), np.array([[0.5, 0.7, 0.9], [0.6, 0.8, 1.0]]), np.zeros(2, np.bool_), np.zeros(2, np.bool_), np.zeros((2, 3))) | by=0,1,2 into=5
_interp_1d_conservative(r(1, 5), np.cumsum(r(2, 6))[:-1], np.cumsum(r(2, 6))[1:], np.arange(4) * 0.9 + 0.3, np.arange(4) * 0.9 + 1.2, np.zeros(4)) | by=0,1,2,3,4 into=5
[grgrlib.njitted]
cholesky(3 * np.eye(4) + r(1, 4, 4) + r(1, 4, 4).T)
normal_cdf(r(1, 4), 0.3, 0.7)
histogram_weights(r(1, 7), np.array([0.0, 0.5, 0.9, 1.3]), r(2, 7))
shredder_basic(r(1, 4, 4), 1e-11, False) | by=0
shredder_pivoting(r(1, 4, 4), 1e-11, False) | by=0
householder_reflection(r(1, 5))
mvn_logpdf(r(1, 3), r(2, 3), 3 * np.eye(3) + r(3, 3, 3) + r(3, 3, 3).T)
[window_ops.rolling]
rolling_mean(r(1, 9), 4)
rolling_std(r(1, 9), 4)
rolling_max(r(1, 9), 4)
rolling_correlation(r(1, 9), 4)
rolling_kurtosis(r(1, 9), 4)
seasonal_rolling_std(r(1, 12), 3, 2)
[window_ops.expanding]
seasonal_expanding_max(r(1, 9), 3)
[window_ops.ewm]
ewm_mean(r(1, 9), 0.3)
[mne_features.univariate]
_hurst_exp_compute_rs(r(1, 2, 7))
_higuchi_fd(r(1, 2, 14), 3)
_tk_energy(r(1, 2, 8))
[mne_features.bivariate]
_max_cross_corr(8.0, r(1, 3, 9), False) | by=1
[pyrvt.peak_calculators]
trapz(np.cumsum(r(1, 6)), r(2, 6))
[sgkit.stats.pedigree]
_hamilton_kerr_inbreeding_non_founder(2, 0.1, 4, 0.4, 2, 0.2, 4, 0.5, 0.3)
project_kinship_diploid(r(1, 5, 5) + r(1, 5, 5).T, np.array([[-1, -1], [-1, -1], [0, 1], [0, 2], [2, 3]]))
kinship_Hamilton_Kerr(np.array([[-1, -1], [-1, -1], [0, 1], [0, 2], [2, 3]]), np.full((5, 2), 2), r(1, 5, 2) / 9)
inbreeding_Hamilton_Kerr(np.array([[-1, -1], [-1, -1], [0, 1], [0, 2], [2, 3]]), np.full((5, 2), 2), r(1, 5, 2) / 9)
inverse_kinship_Hamilton_Kerr(np.array([[-1, -1], [-1, -1], [0, 1], [0, 2], [2, 3]]), np.full((5, 2), 2), r(1, 5) + 0.4, r(2, 5) / 9)
[sgkit.stats.popgen_numba_fns]
_Fst_Hudson(r(1, 3, 3), np.zeros((3, 3))) | by=0 into=1
_pbs(r(1, 4, 4), np.zeros((4, 4, 4))) | by=0 into=1
[sgkit.distance.metrics]
euclidean_map_cpu(r(1, 5), r(2, 5), np.zeros(1), np.zeros(1)) | by=0,1 into=3
correlation_map_cpu(r(1, 5), r(2, 5), np.zeros(6), np.zeros(6)) | by=0,1 into=3
correlation_reduce_cpu(np.array([[[2.1, 1.9, 3.2, 3.1, 2.0, 3.0], [1.1, 1.4, 1.9, 2.2, 1.7, 2.0]]]), np.zeros(1)) | by=0 into=1
[ffpiv.nb_utils]
peak_position(r(1, 5, 5) + 3 * np.outer([0, 0.3, 1, 0.4, 0], [0, 0.2, 1, 0.5, 0]))
u_v_displacement(r(1, 4, 5, 5) + 3 * np.outer([0, 0.3, 1, 0.4, 0], [0, 0.2, 1, 0.5, 0]), 2, 2)
[ipie.estimators.generic]
exx_kernel_rchol_real(r(1, 3, 8), r(2, 2, 4) + 1j * r(3, 2, 4)) | by=0
[ipie.estimators.kernels.cpu.wicks]
get_dets_doubles(np.array([[0, 1], [1, 2]]), np.array([[3, 4], [4, 5]]), np.array([0, 1, 2, 3]), 0, r(1, 2, 4, 6), np.zeros((2, 2))) | by=4 into=5
get_dets_nfold(np.array([[0, 1, 2], [1, 2, 3]]), np.array([[3, 4, 5], [0, 4, 5]]), np.array([0, 1, 2, 3]), 0, r(1, 2, 4, 6), np.zeros((2, 2), np.complex128)) | by=4 into=5
reduce_CI_doubles(np.array([[0, 1], [1, 2]]), np.array([[3, 4], [4, 5]]), np.array([0, 1, 2, 3]), 0, r(1, 2, 2), r(2, 2, 4, 6), np.zeros((2, 6, 4))) | by=4,5 into=6
reduce_CI_triples(np.array([[0, 1, 2], [1, 2, 3]]), np.array([[3, 4, 5], [0, 4, 5]]), np.array([0, 1, 2, 3]), 0, r(1, 2, 2), r(2, 2, 4, 6), np.zeros((2, 6, 4))) | by=4,5 into=6
get_ss_doubles(np.array([[0, 1], [1, 2]]), np.array([[3, 4], [4, 5]]), np.array([0, 1, 2, 3]), r(1, 2, 6, 4, 3), np.zeros((2, 4), np.complex128), slice(1, 3)) | by=3 into=4
[ipie.estimators.greens_function_multi_det]
contract_CI(r(1, 2, 4, 3), r(2, 2, 3, 2), r(3, 2, 2, 4), r(4, 2, 4, 4)) | into=3
[spectres.spectral_resampling_numba]
spnumba(np.array([1.2, 1.9, 2.6]), np.cumsum(r(1, 8)), r(2, 8), r(3, 8), 0.0, False) | by=0,1,2,3
spnumba(np.array([1.2, 1.9, 2.6]), np.cumsum(r(1, 8)), r(2, 2, 8), r(3, 2, 8), 0.0, False) | by=0,1,2,3
[pacmap.pacmap]
angular_dist(r(1, 4).astype(np.float32), r(2, 4).astype(np.float32)) | rtol=2e-2
update_embedding_adam(r(1, 4, 2).astype(np.float32), r(2, 4, 2).astype(np.float32), r(3, 4, 2).astype(np.float32), r(4, 4, 2).astype(np.float32), 0.9, 0.99, 0.7, 3) | by=0,1,2,3,6 into=0 rtol=2e-2
pacmap_grad(r(1, 4, 2).astype(np.float32), np.array([[0, 1], [2, 3]], np.int32), np.array([[0, 2], [1, 3]], np.int32), np.array([[0, 3], [1, 2]], np.int32), 2.0, 3.0, 1.5) | by=0,4,6 rtol=2e-2
pacmap_grad_nearby_recip_sqrt(r(1, 4, 2).astype(np.float32), np.array([[0, 1], [2, 3]], np.int32), np.array([[0, 2], [1, 3]], np.int32), np.array([[0, 3], [1, 2]], np.int32), 2.0, 3.0, 1.5, 0.7) | rtol=2e-2
[hvsrpy.smoothing]
konno_and_ohmachi(np.cumsum(r(1, 9)), r(2, 2, 9), np.array([1.3, 2.7, 3.9]), 9.0)
_savitzky_and_golay(r(1, 2, 12), np.array([1, 5, 6, 11]), r(2, 4), 3.2)
log_triangular(np.cumsum(r(1, 9)), r(2, 2, 9), np.array([1.3, 2.7, 3.9]), 0.5)
[sleepecg.heartbeats]
_squared_moving_integration_numba(r(1, 9), 3)
[preliz.internal.special]
betainc(1.3, 2.2, 0.4) | rtol=2e-4
betaincinv(1.3, 2.2, 0.4) | rtol=2e-4
erfcinv(0.6)
digamma(1.7)
garcia_approximation(1.3, 0.6)
[preliz.distributions.wald]
nb_neg_logpdf(r(1, 5), 1.3, 0.8)
[preliz.distributions.skewnormal]
nb_neg_logpdf(r(1, 5), 0.3, 0.8, 1.7)
[preliz.distributions.exgaussian]
nb_neg_logpdf(r(1, 5), 0.3, 0.8, 1.7)
[preliz.distributions.studentt]
nb_ppf(np.array([0.2, 0.4, 0.7]), 3.3, 0.4, 1.2) | rtol=2e-4
nb_entropy(3.3, 1.2)
[preliz.distributions.skew_studentt]
nb_neg_logpdf(r(1, 5), 0.3, 0.8, 1.7, 2.1)
[preliz.distributions.truncatednormal]
nb_neg_logpdf(r(1, 5), 0.3, 0.8, 0.1, 1.9)
[preliz.distributions.betabinomial]
nb_neg_logpdf(np.array([2, 4, 5]), 1.3, 2.2, 9, 0, 9)
[pywatershed.hydrology.prms_groundwater]
PRMSGroundwater._calculate_numpy(r(1, 3), r(2, 3), r(3, 3), r(4, 3), r(5, 3), r(6, 3) / 2, r(7, 3) / 2, r(8, 3), r(9, 3))
[pywatershed.hydrology.prms_channel]
PRMSChannel._muskingum_mann_numpy(np.array([0, 1, 2]), np.array([1, 2, -1]), r(1, 3), r(2, 3), r(3, 3), np.array([1, 2, 4]), np.array([1.0, 2.0, 4.0]), r(4, 3) / 3, r(5, 3) / 3, r(6, 3) / 3)
[pywatershed.hydrology.prms_soilzone]
PRMSSoilzone._compute_soilmoist(True, 0.8, 1.1, 0.7, 0.1, 0.6, 0.9, 0.4, 0.0, 0.0)
PRMSSoilzone._compute_interflow(0.1, 0.3, 0.4, 1.2, 0.0)
[pywatershed.hydrology.prms_snow]
PRMSSnow._calc_sca_deplcrv(np.sort(r(1, 11)), 0.43)
PRMSSnow._calc_caloss(-30.0, 0.1, 3.0, 2.0, -1.0, 2.4)
[pywatershed.hydrology.prms_runoff]
PRMSRunoff.perv_comp(1.2, 0.6, 0.01, 0.3, 0.5, 0.4, 0.3, 0.1)
PRMSRunoff.imperv_et(0.3, 0.2, 0.0, 0.4, 0.7, 0.5)
[tests.peers.samples.sixth_functions]
ranked_probability(r(1, 1), np.sort(r(2, 5)), r(3, 5), np.zeros(1)) | by=0,1,2 into=3
dist_mat(r(1, 3, 4), r(2, 3, 5) + 1)
beamformer(r(1, 4, 4) + 1j * r(2, 4, 4), r(3, 3) + 1, r(4, 3, 4) + 1, 2.3, 0.9, False, 3, np.zeros(3), np.zeros(3)) | by=1,2,3,4 into=7 rtol=2e-2
beamformer_of_eigenvalues(r(1, 2), r(1, 4, 2) + 1j * r(2, 4, 2), r(3, 3) + 1, r(4, 3, 4) + 1, 2.3, 0.9, False, 3, np.zeros(3), np.zeros(3)) | by=0,2,3,4,5 into=8 rtol=2e-2
steered_power(r(1, 3, 3), r(2, 3, 3), r(3, 3), r(4, 1))
steered_eigenvalue_power(r(1, 2), r(2, 3, 2), r(3, 3), r(4, 1))
psf_true_location(r(1, 1), r(2, 4) + 1, r(3, 2), r(4, 2, 4) + 1, np.array([2.3]), np.zeros(2)) | by=0,1,2,3,4 into=5 rtol=2e-2
damas(np.eye(4) + r(1, 4, 4) / 9, r(2, 4), np.array([5]), np.array([0.9]), np.zeros(4)) | by=0,1,3 into=4
transfer(r(1, 1), r(2, 4), np.array([2.3]), np.zeros(4, np.complex128)) | by=0,1,2 into=3 rtol=2e-2
delay_and_sum(r(1, 9, 3), np.arange(12).reshape(4, 3) % 4, r(2, 4, 3), r(3, 4, 3), np.zeros((3, 4)), np.zeros((3, 4))) | by=0,2,3 into=4
steer_3(r(1, 2, 3, 4), r(2, 2, 3), np.zeros((2, 3, 4))) | by=0,1 into=2
spectral_sum(np.zeros((3, 2)), r(1, 4, 3, 2), r(2, 4, 3, 2))
cross_spectral_matrix(r(1, 2, 3), r(2, 2, 3))
corrupted(r(1, 2, 3, 2, 2, 2), r(2, 4, 2, 2, 2))
residual(r(1, 2, 3, 2, 2, 2), r(2, 4, 2, 2, 2), r(3, 4, 2, 2))
phase_only_step(r(1, 2, 3, 2, 2, 2), r(2, 4, 2, 2, 2), r(3, 4, 2, 2))
with_gains(r(1, 2, 3, 2, 2, 2), r(2, 4, 2, 2, 2))
decomposed(r(1, 12), r(2, 12), np.arange(12) / 12 - 0.5, np.array([40.0, 60.0]), np.array([0.1, 0.3]))
tip(np.array([[0.2, 0.9], [0.8, 0.3]]), np.array([[0.3, 0.7], [0.9, 0.2]]), 0.5)
tip_line(r(1, 6, 6), r(2, 6, 6), 0.7)
exchange(r(1, 3, 8), r(2, 2, 4))
exchange_of_determinants(r(1, 3, 8), r(2, 3, 8), r(3, 2, 2, 4), r(4, 2, 2, 2))
newton_root(np.array([1.0, 1.0]), 1.3) | by=1 rtol=2e-4
hyperbolic_table(r(1, 3), r(2, 2))
spread(r(1, 12))
momentum_angle(0.4, 0.7, 1.2)
invariant_mass(1.4, 0.7, 0.3, 0.5)
"""
