# ruff: noqa: E501
"""Calls of public packages' compiled functions that were tried after those of `ninth.py`, written as in `first.py`."""

CALLS = """
[few.utils.geodesic]
_KerrGeoCoordinateFrequencies_kernel_inner(0.6, 9.0, 0.3, 0.7)
_KerrGeoEquatorialMinoFrequencies_kernel(0.6, 9.0, 0.3, 1.0) | by=0,1,2
_SchwarzschildGeoCoordinateFrequencies_kernel(9.0, 0.3)
_KerrGeoConstantsOfMotion_kernel(np.zeros(2), np.zeros(2), np.zeros(2), 0.5 * r(1, 2), 9 + r(2, 2), 0.3 * r(3, 2), 0.6 * r(4, 2)) | by=3,4,5,6 into=2
_KerrEqSpinFrequenciesCorrections_kernel_inner(0.6, 9.0, 0.3, 1.0) | by=0,1,2
_get_separatrix_kernel_inner(0.6, 0.3, 0.7, 1e-13) | by=0,1,2
_ELQ_to_pex_kernel_inner(0.6, 0.96, 3.1, 2.0)
[few.utils.elliptic]
EllipPi(0.3, 0.6)
[few.utils.mappings.jacobian]
ELdot_to_PEdot_Jacobian(0.6, 9.0, 0.3, 1.0, -1e-4, -2e-3) | by=0,1,2,4,5
[few.utils.mappings.kerrecceq]
_kerrecceq_flux_forward_map(0.6, 9.0, 0.3, 1.0, 4.5)
[few.utils.mappings.pn]
_Y_to_xI_kernel_inner(0.6, 9.0, 0.3, 0.7)
[few.trajectory.ode.pn5]
dpdt8H_5PNe10(0.6, 9.0, 0.3, 0.7, 10, 10)
[few.utils.ylm]
_ylm_kernel_inner(3, 2, 0.4, 0.7)
[prosail.FourSAIL]
weighted_sum_over_lidf(p(18), 31.0, 17.0, 63.0)
hotspot_calculations(0.7, 2.3, 0.6, 0.8)
verhoef_bimodal(-0.35, -0.15, 18)
campbell(57.3, 18)
[neuralhydrology.datautils.pet]
get_priestley_taylor_pet(9 * r(1, 4), 15 + 9 * r(2, 4), 200 * r(3, 4), 43.0, 510.0, np.array([12.0, 90.0, 170.0, 260.0])) | by=0,1,2,3,4
[neuralhydrology.datautils.climateindices]
_numba_climate_indexes(r(1, 14, 4) * np.array([4.0, 5.0, -4.0, 3.0]), 9)
[neuralhydrology.evaluation.signatures]
_baseflow_index_jit(9 * r(1, 20), 0.93, 5, 3)
[ldtk.ldtk]
lnlike3d(r(1, 2, 3, 4), 0.3, r(2, 3), r(3, 3, 4), r(4, 3, 4))
[ldtk.ldmodel]
ld_power_2_pm(r(1, 5), np.array([0.6, 0.3]))
[optimagic.benchmarking.cartis_roberts]
flosp2(r(1, 59), np.array([1.0, 0.0, -1.0]), np.array([1.0, 0.0, -1.0]), 9.0)
drcavty(r(1, 36), 500.0)
chemrcta(0.5 + r(1, 12))
bdvalues(r(1, 6))
[linearwavetheory.dispersion]
intrinsic_dispersion_relation(r(1, 4), 9 * r(2, 4))
inverse_intrinsic_dispersion_relation(r(1, 4), 9 * r(2, 4)) | rtol=1e-3
inverse_encounter_dispersion_relation(r(1, 4), 90 * r(2, 4), 0.6, 35.0, "principal", 9 * r(3, 4)) | rtol=1e-3
encounter_group_velocity(r(1, 3, 2), 9 * r(2, 3), 0.3 * r(3, 3, 2))
[linearwavetheory.stokes_theory._higher_order_spectra]
nonlinear_wave_spectra_1d(np.linspace(0.3, 3.0, 7), np.linspace(0.0, 320.0, 9), 0.01 * r(1, 7, 9), 30.0) | by=2,3 rtol=1e-3
bilinear_interpolation(np.linspace(0.3, 3.0, 5), np.linspace(0.0, 5.5, 6), r(1, 5, 6), 0.4 + r(2, 4), 3 * r(3, 4)) | by=2,3,4
[linearwavetheory.stokes_theory._lagrangian_displacements]
lagrangian_drift_velocity(np.linspace(0.3, 3.0, 7), np.linspace(0.0, 320.0, 9), 0.01 * r(1, 7, 9), 30.0) | by=0,2,3 rtol=1e-3
[linearwavetheory.stokes_theory._nonlinear_dispersion]
nonlinear_dispersion(np.linspace(0.3, 3.0, 7), np.linspace(0.0, 320.0, 9), 0.01 * r(1, 7, 9), 30.0) | by=2,3 rtol=1e-3
[spycial.erfinv]
erfinv(0.8 * r(1, 4))
[spycial.digamma]
digamma(3 * r(1, 4) - 1.5)
[spycial.ei]
ei(r(1, 4))
[exo_k.two_stream.two_stream_toon]
solve_2stream_nu_xsec(r(1, 5, 2), np.cumsum(r(2, 5, 2), 0), r(3, 4, 2), 0.5 * r(4, 4, 2), 0.4 * r(5, 4, 2), r(6, 2), 0.3 * r(7, 2), 0.3 * r(8, 2), 0.5, True, 0.6, "collimated", None)
solve_2stream_nu_corrk(r(1, 5, 2), np.cumsum(r(2, 5, 2, 2), 0), r(3, 4, 2, 2), 0.5 * r(4, 4, 2, 2), 0.4 * r(5, 4, 2, 2), r(6, 2), 0.3 * r(7, 2), 0.3 * r(8, 2), 0.5)
[exo_k.two_stream.two_stream_crisp]
solve_2stream_nu_xsec(r(1, 5, 2), r(2, 4, 2), 0.5 * r(3, 4, 2), 0.4 * r(4, 4, 2), r(5, 2), 0.6, 0.3)
[exo_k.two_stream.two_stream_lmdz]
solve_2stream_nu_corrk(r(1, 5, 2), r(2, 4, 2, 2), 0.5 * r(3, 4, 2, 2), 0.4 * r(4, 4, 2, 2), r(5, 2), 0.3 * r(6, 2), 0.5)
[exo_k.atm_evolution.convection]
dry_convective_adjustment_numba(900.0, 6, 250 + 50 * r(1, 6), np.linspace(0.5, 1.0, 6), r(2, 6), r(3, 2, 6), 0.02 + 0.01 * r(4, 6))
moist_convective_adjustment_numba(900.0, 6, np.array([280.0, 290.0, 301.0, 300.0, 305.0, 312.0]), 1e4 * np.linspace(4.0, 10.0, 6), 900 * r(1, 6), 1005.0, 0.029, np.vstack((0.03 + 0.02 * r(2, 6), 0.001 * r(3, 6))), 0, 1, np.array([1860.0, 0.018, 461.5, 2.5e6, 273.16, 611.0, -2348.0, -5.088, 24.92, -6807.0])) | by=0,2,3,4,5,6,7,10
molecular_diffusion_numba(900.0, 5, 1e4 * np.arange(1.0, 6.0), 1e4 * (np.arange(6.0) + 0.5), 900 * r(1, 5), 250 + 50 * r(2, 5), 0.02 + 0.01 * r(3, 5), 9.81, 0.03)
turbulent_diffusion_numba(900.0, 5, 1e4 * np.arange(1.0, 6.0), 1e4 * (np.arange(6.0) + 0.5), 900 * r(1, 5), 250 + 50 * r(2, 5), r(3, 5), 9e3 * r(4, 5), 9.81, 30 * r(5, 5), r(6, 2, 5), 1005.0, True, False)
[exo_k.util.interp]
RandOverlap_2_kdata_prof(2, 2, 4, np.sort(r(1, 2, 2, 4)), np.sort(r(2, 2, 2, 4)), p(4), np.array([0.11, 0.36, 0.63, 0.87]))
spectrum_to_kdist(r(1, 20), np.linspace(0.0, 10.0, 20), r(2, 20), np.array([-0.1, 4.2, 10.1]), np.linspace(0.1, 0.9, 4)) | by=0,2
[exo_k.util.radiation]
Bnu_integral_num(np.array([100.0, 300.0, 700.0]), 290.0, 9)
[geodistpy.geodesic]
geodesic_vincenty_inverse_full(np.array([43.0, 7.0]), np.array([51.3, -3.2]), 6378137.0, 0.0033528)
geodesic_vincenty_direct(np.array([43.0, 7.0]), 33.0, 9e5, 6378137.0, 0.0033528)
_vincenty_cdist(30 * r(1, 3, 2), 40 + 30 * r(2, 2, 2), 6378137.0, 0.0033528)
great_circle_array(30 * r(1, 3, 2), 40 + 30 * r(2, 3, 2))
[haversine.haversine]
_inverse_haversine_kernel_vector(40 * r(1, 4), 40 * r(2, 4), r(3, 4), 0.2 * r(4, 4))
[libf0.yin]
cumulative_mean_normalized_difference_function(r(1, 24), 9)
[libf0.salience]
compute_trajectory_dp(r(1, 4, 5), r(2, 4, 4))
[libf0.pyin]
refine_estimates_yin(30 * r(1, 5), 3 + r(2, 4, 5), r(3, 4, 5), 100.0, 900.0)
yin_multi_thr(np.cos(np.arange(90) * 0.7) + 0.1 * r(1, 90), 100.0, 32, 16, 5.0, 25.0, np.linspace(0.05, 0.9, 7), p(7), 0.01, np.geomspace(5.0, 25.0, 9), 0.6) | by=0,7,8,10
[mosartwmpy.main_channel.kinematic_wave]
kinematic_wave_routing(1, 60.0, r(1, 3), r(2, 3), 9 * r(3, 3), r(4, 3), r(5, 3), 0.1 * r(6, 3), 0.1 * r(7, 3), 99 * r(8, 3), 9 * r(9, 3), r(10, 3), r(11, 3), r(12, 3), 900 * r(13, 3), r(14, 3), r(15, 3), r(16, 3), np.zeros(3), 1e-14, 1e6) | by=1,3,4,5,7,8,13,14,15,16,17,12 into=18
[mosartwmpy.main_channel.state]
update_main_channel_state(1, 9 * r(1, 3), 0.3 * r(2, 3), r(3, 3), 3 * r(4, 3), 20 * r(5, 3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), 1e-14, 0.1, 10.05) | by=1,2,3,4,5,11,12 into=9
[mosartwmpy.reservoirs.istarf]
compute_istarf_release(17.0, np.ones(3, bool), np.arange(3.0), 50 + 9 * r(1, 3), 90 + 9 * r(2, 3), r(3, 3), r(4, 3), 70 + 9 * r(5, 3), 9 * r(6, 3), 30 + 9 * r(7, 3), r(8, 3), r(9, 3), 20 + 9 * r(10, 3), -0.9 + 0 * r(11, 3), r(12, 3), 0.1 * r(13, 3), 0.1 * r(14, 3), 0.1 * r(15, 3), 0.1 * r(16, 3), 0.1 * r(17, 3), 0.1 * r(18, 3), 0.1 * r(19, 3), 9e6 + 1e6 * r(20, 3), 9 * r(21, 3), 4e6 + 1e6 * r(22, 3), 9 * r(23, 3), np.zeros(3)) | by=0,3,5,6,7,9,10,11,12,15,16,17,18,19,20,21,22,23,24,25 into=26
[qis.models.linear.ewm]
compute_ewm_covar(r(1, 8, 3), None, None, 0.9, None, True)
compute_ewm_covar_newey_west(r(1, 8, 3), 2, None, 0.9)
compute_ewm_covar_tensor_vol_norm_returns(r(1, 8, 3), None, 0.9)
compute_ewm_long_short(r(1, 8, 3), r(2, 3), 5.0, 2.0)
[qis.models.linear.auto_corr]
compute_ewm_matrix_autocorr(r(1, 8, 3), 0.9)
compute_path_autocorr(r(1, 9, 2), 3)
[qis.portfolio.risk.ewm_covar_risk]
compute_portfolio_var_np(r(1, 8, 3), r(2, 8, 3), None, 0.9)
limit_weights_to_max_var_limit(r(1, 3), 0.3 * r(2, 3), 20.0, 252.0)
[mumott.methods.utilities.tensor_operations]
_framewise_contraction(r(1, 3, 2, 4), r(2, 3, 5, 2), np.zeros((3, 5, 4))) | by=0,1 into=2
[ImageD11.forward_model.forward_model]
beam_attenuation(np.array([0.1, 0.2, 0.05]), 9.0, 0.7, 0.4, 0.5, 20.0, "cone_beam", 2.7, 0.6)
[ImageD11.forward_model.ori_converter]
u2euler(np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]]), "rzxz")
[ImageD11.sinograms.point_by_point]
compute_gve(999 * r(1, 4), 999 * r(2, 4), 90 * r(3, 4), 9 * r(4, 4), 2e5, 1000.0, 75.0, 0.1, 1000.0, 75.0, 0.1, 0.1, 1.0, 0.0, 0.0, -1.0, 0.3, 0.2, 0.1, 0.7, 0.4, 0.3)
weighted_lstsq_ubi_fit(r(1, 6), r(2, 3, 6), r(3, 3, 6))
ubi_and_ucell_to_u(r(1, 3, 3) + 4 * np.eye(3), np.array([4.0, 4.2, 4.4, 88.0, 91.0, 93.0]))
[skchange.interval_scorers._costs.multivariate_t_cost]
maximum_likelihood_mv_t_scale_matrix(r(1, 14, 3) - 0.7, 4.0, 1e-12, 1e-12, 90) | by=0,1
_iterative_mv_t_dof_estimate(np.tan(2.4 * (r(1, 14, 2) - 0.7)), 4.0, 99.0, 1e-10, 1e-10, 90) | by=0,1 rtol=1e-4
[skchange.interval_scorers._costs.linear_regression_cost]
linear_regression_cost(np.array([0, 5]), np.array([6, 12]), r(1, 12), r(2, 12, 2))
[skchange.interval_scorers._change_scores.continuous_linear_trend_score]
_lin_reg_cont_piecewise_linear_trend_score(np.array([0, 3]), np.array([4, 8]), np.array([9, 14]), r(1, 14, 2), np.cumsum(r(2, 14)))
_analytical_cont_piecewise_linear_trend_score(np.array([0, 3]), np.array([4, 8]), np.array([9, 14]), r(1, 14, 2))
[skchange.interval_scorers._costs.multivariate_gaussian_cost]
_multivariate_gaussian_cost_mle(np.array([0, 4]), np.array([7, 14]), r(1, 14, 3), 4)
[skchange.detectors._fpop]
_fpop_mean(np.concatenate((r(1, 8), 2 + r(2, 7))), 0.9)
[skchange.interval_scorers._savings.poisson_saving]
poisson_saving(np.array([0, 4]), np.array([7, 14]), np.cumsum(9 * r(1, 15, 2), 0), r(2, 2))
[skchange.utils._numeric]
kurtosis(r(1, 9, 2) - 0.7)
[alphapept.io]
centroid_data(np.linspace(500.0, 501.0, 24) + 0.01 * r(1, 24), np.abs(np.sin(np.linspace(0.0, 9.0, 24))) + 0.01 * r(2, 24))
[alphapept.quantification]
triangle_error(r(1, 4), r(2, 4, 4))
[alphapept.feature_finding]
correlate(np.array([2, 3, 4, 6, 7]), np.array([1, 3, 4, 5, 7, 8]), r(1, 5), r(2, 6))
[yadism.coefficient_functions.special.nielsen]
nielsen(2, 1, 0.37)
[yadism.coefficient_functions.asy.raw_nc]
c2g2am0_a0(0.3)
[yadism.coefficient_functions.light.n3lo.xc2ns3p]
c2np3a_fl2(0.3, np.array([4.0]))
[yadism.coefficient_functions.light.nnlo.g1]
gluon_reg(0.3, np.array([4.0]))
[xsdba.nbutils]
_escore(r(1, 2, 7), r(2, 2, 9), np.zeros(1)) | by=0,1 into=2
_nan_quantile_1d(r(1, 9), np.array([0.1, 0.45, 0.8]), 0.4, 0.4)
_pairwise_haversine_and_bins(40 * r(1, 4), 50 * r(2, 4))
[decoupler.mt._gsva]
_mat_d(r(1, 6, 3), False)
[decoupler.mt._mlm]
_fit(r(1, 9, 3), r(2, 9, 2), r(3, 3, 3), 6.0)
[cellrank.kernels.utils._similarity]
_predict_transition_probabilities_numpy(r(1, 1, 5), r(2, 4, 5), 3.0) | rtol=1e-4
[trimap.trimap_]
trimap_grad(r(1, 5, 2).astype(np.float32), 2, 2, np.array([[0, 1, 2], [1, 3, 4], [2, 0, 4], [4, 3, 1]], np.int32), r(2, 4).astype(np.float32)) | rtol=5e-2
[becquerel.core.rebin]
_rebin_interpolation(9 * r(1, 6), np.linspace(0.0, 6.0, 7), np.linspace(0.3, 5.7, 5), r(2, 6), np.zeros(5)) | into=4 by=0,3
[libfmp.c2.c2_fourier]
stft(r(1, 32), r(2, 8), 4)
[libfmp.c6.c6s2_tempo_analysis]
compute_tempogram_fourier(r(1, 24), 9.0, 8, 4, np.array([60.0, 90.0, 140.0]))
[libfmp.c8.c8s3_nmf]
nmf(r(1, 5, 6), 2, 1e-3, 9, r(2, 5, 2), r(3, 2, 6), True)
[synctoolbox.dtw.core]
__C_to_DE(r(1, 5, 6), np.array([1, 1, 0]), np.array([1, 0, 1]), np.array([2.0, 1.5, 1.0]), False)
[soapy.numbalib.numbalib]
bilinear_interp_numba(r(1, 6, 6), 3 * r(2, 4), 3 * r(3, 5), np.zeros((4, 5))) | by=0,1,2 into=3
rotate(r(1, 6, 6), np.zeros((6, 6)), 0.3) | by=0,2 into=1
[claspy.distance]
znormed_euclidean_distance(2, 3 * r(1, 9), 4, r(2, 2, 9), True) | rtol=1e-4
[systole.correction]
correct_extra_rr(900 * r(1, 12), np.array([3, 7]), np.zeros((5, 12), bool))
[arviz_stats.numba.diagnostics]
geyer(r(1, 2, 3, 12), r(2, 2), np.zeros(2)) | by=0,1 into=2
[strax.processing.peak_splitting]
natural_breaks_gof(r(1, 18), 10, True, False, 2)
symmetric_moving_average(r(1, 12), 2)
[straxen.plugins.events.event_pattern_fit]
lbinom_pmf(3.2, 9.0, 0.4)
binom_test(3.0, 9.0, 0.37)
[straxen.plugins.peaklets.peaklet_classification_som]
compute_wf_attributes(r(1, 3, 20), 10 * r(2, 3), 5)
[straxen.plugins.merged_s2s.merged_s2s]
weighted_averaged_dr(r(1, 5), r(2, 5), r(3, 5))
[GridCalEngine.Simulations.LinearFactors.linear_analysis]
make_transfer_limits(r(1, 4, 3), r(2, 4), 2 + r(3, 4))
[tests.peers.samples.tenth_functions]
quasinormal_fraction(0.4, -0.2, 0.3, 4.0, 0.1)
angular_matrix(0.4, -0.2)
overlaps(r(1, 4, 4, 4, 3), r(2, 4, 4, 4, 3), 0.7 * r(3, 4, 3))
scattering_overlaps(r(1, 5, 4, 2), r(2, 5, 4, 2))
digester(r(1, 35), 0.5 * r(2, 24), 308.0)
limb_darkening(r(1, 5), r(2, 3, 2, 4))
transmittance(r(1, 4, 4), r(2, 4), r(3, 4, 2, 3), p(3))
lyapunov_fixed(1 + r(1, 3), np.array([10.0, 28.0, 2.7])) | rtol=1e-4
lyapunov_adaptive(1 + r(1, 3), np.array([10.0, 28.0, 2.7])) | rtol=1e-3
lyapunov_of_map(np.array([0.1, 0.2]), np.array([1.2, 0.3])) | rtol=1e-4
alignment(r(1, 4), np.array([0.5, 0.7, 0.3])) | rtol=1e-4
fixed_point(np.array([0.6, 0.2]), np.array([1.2, 0.3]))
spectrum(0.2 * r(1, 2), 0.2 * r(2, 2)) | rtol=1e-4
symplectic_trajectory(0.2 * r(1, 2), 0.2 * r(2, 2))
midpoint_trajectory(0.2 * r(1, 2), 0.2 * r(2, 2))
hurst_exponents(r(1, 40, 1))
snow_heat(0.2 * r(1, 6), 300 + 90 * r(2, 6), 255 + 9 * r(3, 6))
snow_water(0.2 * r(1, 6), 300 + 90 * r(2, 6), 262 + 9 * r(3, 6), 0.03 * r(4, 6), 0.01)
snow_compaction(0.2 * r(1, 6), 300 + 90 * r(2, 6), 262 + 9 * r(3, 6), 0.03 * r(4, 6), 200.0)
snow_remeshed(0.2 * r(1, 6), 300 + 90 * r(2, 6), 262 + 9 * r(3, 6), 0.03 * r(4, 6), 0.1)
snow_surface(0.2 * r(1, 6), 300 + 90 * r(2, 6), 262 + 9 * r(3, 6), 4.0, 268.0, 60.0, 60.0, 240.0) | rtol=1e-3
spin_half(np.array([1.0, 2.0, 0.7, 3.0]))
spin_one(np.array([1.0, 2.0, 0.7, 3.0, 0.4]))
upper_envelope(np.array([0.6, 1.0, 1.6, 1.3, 1.2, 1.9, 2.6]), np.array([0.4, 0.6, 0.8, 0.7, 0.65, 0.9, 1.1]), np.array([0.1, 0.4, 0.8, 0.5, 0.45, 1.1, 1.5]), 0.05, 0.95) | by=0,1,2,3,4
simple_upper_envelope(np.array([0.6, 1.0, 1.6, 1.3, 1.2, 1.9, 2.6]), np.array([0.4, 0.6, 0.8, 0.7, 0.65, 0.9, 1.1]), np.array([0.1, 0.4, 0.8, 0.5, 0.45, 1.1, 1.5]), np.array([0.7, 1.11, 1.44, 2.2]), 0.05, 0.95) | by=0,1,2,3,4,5
smoothed(np.cumsum(r(1, 12)), r(2, 12))
smoothed_evenly(np.arange(12.0), r(2, 12)) | by=1
power_flow_slopes(r(1, 7), r(2, 7), r(3, 3), r(4, 3))
instantaneous_frequencies(r(1, 5, 4), r(2, 5, 4))
wavefront(r(1, 4, 4))
peak_fractions(r(1, 12))
electrons(r(1, 3, 4), r(2, 3, 4), 0.3, 0.2)
isotope_pattern(np.array([0.9, 0.07, 0.03]), np.array([0.85, 0.1, 0.05])) | rtol=5e-2
"""
