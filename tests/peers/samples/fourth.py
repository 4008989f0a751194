# ruff: noqa: E501
"""Calls of other public packages' compiled functions, written as in `first.py`."""

CALLS = """
[astromodels.functions.numba_functions]
plaw_eval(r(1, 4) * 9, 2.0, -1.5, 3.0)
cplaw_eval(r(1, 4) * 9, 2.0, 5.0, -1.5, 3.0)
band_eval(r(1, 4) * 9, 2.0, -0.9, -2.3, 4.0, 3.0)
sbplaw_eval(r(1, 4) * 9, 2.0, -1.2, 4.0, 0.6, -2.3, 3.0)
mbb_eval(r(1, 4) * 9, 2.0, 3.0)
ggrb_int_pl(-0.9, -2.3, 4.0, 3.0, 9.0)
dbl_sbpl(r(1, 4) * 9, 2.0, -0.6, -1.4, -2.6, 4.0, 2.0, 3.0, 2.5, 1.5)
[burnman.eos.debye]
thermal_energy(300.0, 900.0, 5.0)
molar_heat_capacity_v(1900.0, 700.0, 5.0)
helmholtz_free_energy(40.0, 900.0, 5.0)
[burnman.eos.einstein]
dmolar_heat_capacity_v_dT(300.0, 900.0, 5.0)
[burnman.eos.slb]
_grueneisen_parameter_slb(1.1, 0.9, 1.3, 1.7)
_delta_pressure(0.9, 25.0, 1900.0, 1.1, 300.0, 900.0, 5.0, 7.8, 31.0, 700.0, 900.0, 0.01, 1.4)
[burnman.eos.macaw]
make_params(160.0, 4.1, 3.0)
[openquake.hazardlib.geo.geodetic]
distances(0.3, 0.4, r(1, 4), r(2, 4))
distances_to_arc(13.0, 42.0, 35.0, 13 + r(1, 4), 42 + r(2, 4))
fast_azimuth(13.0, 42.0, 14 + r(1, 4), 42 + r(2, 4))
fast_point_at(13.0, 42.0, 35.0, 90.0)
[openquake.hazardlib.geo.utils]
project_reverse(0.3, 0.7, r(1, 4) * 900, r(2, 4) * 700)
cartesian_to_spherical(r(1, 4, 3) * 6000)
min_distance(r(1, 3), r(2, 5, 3) * 3)
[openquake.hazardlib.geo.line]
get_ti_weights(r(1, 2, 4) * 9, r(2, 2, 4), r(3, 2) * 9)
get_tuw(0.3, 0.7, r(1, 3, 3), r(2, 2) * 9, r(3, 2, 2), r(4, 2, 2), 20 + r(5, 4), 40 + r(6, 4)) | rtol=2e-2
find_t(r(1, 3), r(2, 3) + 2, r(3, 3), 1.4)
[openquake.hazardlib.geo.multiline]
_build3(r(1, 2), np.array([35.0, 50.0]), 0.3, 0.7, r(3, 2, 2, 2)) | by=0,1,2,3,4 rtol=2e-2
[openquake.hazardlib.geo.surface.planar]
_build_corners(0.0, 20.0, 1.5, 200.0, 6.0, 35.0, 60.0, 90.0, 13.0, 42.0, np.array([4.0, 10.0]), np.array([0.5, 0.4]))
[openquake.hazardlib.stats]
truncnorm_sf(0.99, r(1, 5) - 0.7)
[openquake.hazardlib.tom]
get_pnes(0.02, r(1, 3) / 3, r(2, 4) / 2, 50.0)
[openquake.hazardlib.contexts]
_set_poes(r(1, 2, 3, 4), r(2, 3, 5), 0.99, np.zeros((15, 4), np.float32)) | by=0,1,2 into=3 rtol=2e-2
[tsdate.hypergeo]
_digamma(0.7)
_hyp2f1_laplace(1.3, 2.2, 3.1, -0.6)
_gammainc_der(2.3, 1.7)
[tsdate.approx]
approximate_gamma_kl(2.1, 0.4)
approximate_gamma_iqr(0.3, 0.7, 1.1, 2.3, 1000.0)
moments(2.3, 1.1, 1.7, 0.8, 3.0, 0.6)
rootward_moments(0.7, 2.3, 1.1, 3.0, 0.6)
gamma_projection(np.array([2.3, 1.1]), np.array([1.7, 0.8]), np.array([3.0, 0.6]))
average_gammas(r(1, 4) * 3, r(2, 4))
[ctapipe.fitting]
linear_regression(r(1, 6, 2), r(2, 6))
residual_sum_of_squares(r(1, 6, 2), r(2, 6), r(3, 2))
[ctapipe.image.statistics]
skewness(r(1, 7))
kurtosis(r(1, 7), 0.5)
[ctapipe.reco.impact_utilities]
rotate_translate(r(1, 2, 4), r(2, 2, 4), 0.4, 0.3, r(3, 2))
[stingray.fourier]
_intrinsic_coherence_array(r(1, 4) * 2 + 1j * r(2, 4), r(3, 4) * 9 + 4, r(4, 4) * 9 + 4, r(5, 4) / 9, r(6, 4) / 9, np.array([200])) | by=1,2,3,4
[stingray.deadtime.model]
A_single_k(3, 1.3, 0.26, 0.6, 0.75)
_inner_loop_pds_zhang(6, 0.75, 1.3, 0.26, 0.6)
[stingray.stats]
_log_asymptotic_incomplete_gamma(3.3, 60.0)
[stingray.pulse.pulsar]
z_n_events_all(r(1, 8), 4)
[pytreegrav.bruteforce]
Potential_bruteforce(r(1, 5, 3), r(2, 5), r(3, 5), 1.3)
Accel_bruteforce(r(1, 5, 3), r(2, 5), r(3, 5) / 2)
TidalTensor_bruteforce(r(1, 4, 3), r(2, 4), r(3, 4) / 2)
[thewalrus._torontonian]
numba_tor(0.3 * np.eye(4) + (r(1, 4, 4) + r(1, 4, 4).T) / 20)
rec_torontonian(0.3 * np.eye(4) + (r(1, 4, 4) + r(1, 4, 4).T) / 20)
numba_ltor(0.3 * np.eye(4) + (r(1, 4, 4) + r(1, 4, 4).T) / 20, r(2, 4))
numba_vac_prob(r(1, 4), 2 * np.eye(4) + r(2, 4, 4) / 5)
[thewalrus._hafnian]
recursive_hafnian(r(1, 4, 4))
_calc_hafnian(r(1, 4, 4), np.array([1, 1]))
[thewalrus._permanent]
perm_ryser(r(1, 3, 3))
perm_bbfg(r(1, 3, 3))
[thewalrus._montrealer]
lmontrealer(r(1, 4, 4), r(2, 4))
[thewalrus.charpoly]
powertrace(r(1, 3, 3), 5)
[thewalrus.fock_gradients]
displacement(0.4, 0.7, 5)
squeezing(0.4, 0.7, 5)
beamsplitter(0.4, 0.7, 4)
mzgate(0.4, 0.7, 3)
[statsforecast.arima]
arima_transpar(r(1, 5) - 0.7, np.array([2, 1, 1, 1, 3, 0, 0]), True)
arima_css(np.cumsum(r(1, 9)), np.array([2, 1, 0, 0, 1, 1, 0]), r(2, 2) / 2, r(3, 1) / 2, 3)
arima_like(np.cumsum(r(1, 7)), r(2, 2) / 3, r(3, 1) / 3, np.array([1.0]), r(4, 3), np.eye(3) + r(5, 3, 3), 2 * np.eye(3) + r(6, 3, 3), 0, False) | by=0,1,2,3
_make_arima(r(1, 2) / 3, r(2, 1) / 2, np.array([1.0]))
kalman_forecast(4, r(1, 3), r(2, 3), np.eye(3) + r(3, 3, 3), r(4, 3, 3), r(5, 3, 3), 0.3)
[statsforecast.garch]
garch_loglik(np.array([0.1, 0.2, 0.1, 0.3]), r(1, 9) - 0.7, 2, 1)
[statsforecast.ets]
etscalc(np.cumsum(r(1, 8)) + 3, 8, r(2, 45), 3, 1, 1, 2, 0.4, 0.2, 0.1, 0.9, np.zeros(8), np.zeros(3), 3) | by=0,2,7,8,9,10
[statsforecast.ces]
cescalc(np.cumsum(r(1, 8)) + 3, r(2, 11, 4), 1, 0, 1.3, 0.9, 1.1, 0.8, np.zeros(8), np.zeros(3), 3, 0) | by=0,4,5 rtol=2e-2
[statsforecast.theta]
thetacalc(np.cumsum(r(1, 8)) + 3, np.zeros((8, 5)), 4, 1.3, 0.4, 2.1, np.zeros(8), np.zeros(3), 3) | by=0,3,4,5 rtol=2e-2
[statsforecast.models]
_ses_fcst_mse(np.cumsum(r(1, 8)), 0.4) | rtol=2e-2
[PyFlyt.core.abstractions.gimbals]
Gimbals._jitted_compute_rotation(r(1, 2, 2, 1, 1), r(2, 3, 3), r(3, 3, 3), r(4, 3, 3), r(5, 3, 3))
[PyFlyt.core.abstractions.lifting_surfaces]
LiftingSurface._compute_aoa_freestream(r(1, 3), r(2, 3), r(3, 3))
LiftingSurface._jitted_compute_aero_data(0.2, 5.0, 0.3, 0.6, 0.4, 20.0, 0.65, 4.2, 0.3, -0.02, -0.25, 0.01)
LiftingSurface._jitted_compute_aero_data(0.9, 5.0, 0.3, 0.6, 0.4, 20.0, 0.65, 4.2, 0.3, -0.02, -0.25, 0.01)
LiftingSurface._jitted_compute_force_torque(0.2, 11.0, 0.7, 0.04, -0.1, 0.6, 0.3, 0.2, r(1, 3), r(2, 3), r(3, 3))
[PyFlyt.core.abstractions.motors]
Motors._jitted_compute_thrust_torque(None, r(2, 2), r(3, 2) * 9, r(4, 2, 3, 1), r(5, 2, 1), r(6, 2, 1))
[aotools.turbulence.profile_compression]
_Gjit(np.array([1, 3]), np.cumsum(r(1, 7)), r(2, 7)) | by=1,2
[quimb.tensor.decomp]
svd_truncated_numba(r(1, 4, 3))
svd_truncated_numba(r(1, 4, 3), 0.1, 4, 2, None, 2)
_svd_via_eig_truncated_numba(r(1, 4, 3))
eigh_truncated_numba(r(1, 3, 3) + r(1, 3, 3).T + 2 * np.eye(3))
_cholesky_regularized_numba(3 * np.eye(3) + r(1, 3, 3) / 9)
_similarity_compress_eigh_numba(r(1, 3, 3) + 2 * np.eye(3), 2, 1)
[swiftsimio.visualisation.projection_backends.fast]
scatter(r(1, 3) / 2, r(2, 3) / 2, r(3, 3).astype(np.float32), (r(4, 3) / 4).astype(np.float32), 6, 1.0, 1.0) | by=0,1,2,3 rtol=5e-2
[swiftsimio.visualisation.slice_backends.sph]
slice_scatter(r(1, 3) / 2, r(2, 3) / 2, r(3, 3) / 2, r(4, 3).astype(np.float32), (r(5, 3) / 2).astype(np.float32), 0.4, 5, 6) | by=0,1,2,3,4,5 rtol=5e-2
[meshoid.derivatives]
gradient_weights(r(1, 8, 2), np.arange(14).reshape(2, 7) % 8, r(2, 2) + 1.2, np.array([1, 5]))
polyfit_leastsq_matrices(r(1, 7, 2), r(2, 7), 2)
[meshoid.grid_deposition]
GridSurfaceDensity_core(r(1, 4), r(2, 4, 3), r(3, 4) / 2, r(4, 3), 2.0, 7)
GridAverage(r(1, 4), r(2, 4, 3), r(3, 4) + 1.4, r(4, 3), 2.0, 5)
WeightedGridInterp3D(r(1, 3), r(2, 3), r(3, 3, 3), r(4, 3) + 0.9, r(5, 3), 2.0, 4)
[meshoid.radiation.blackbody]
modified_planck_function(np.array([3e11, 6e11, 9e11]), -1.2, 1.7, 25.0)
modified_blackbody_fit_gaussnewton(np.array([1.1e-14, 5.2e-14, 9.1e-14, 1.1e-13]), np.array([1e-15, 2e-15, 3e-15, 4e-15]), np.array([850.0, 500.0, 350.0, 250.0]), (0.01, 1.7, 21.0)) | by=0
[meshoid.radiation.radtransfer]
radtransfer_singlethread(r(1, 4, 2), r(2, 4), r(3, 4, 2), r(4, 4, 3), r(5, 4), 5, 2.0)
[meshoid.kernel_density]
dkernel_ngb_sum(r(1, 5, 3), r(2, 5) + 0.5, np.array([[1, 2], [0, 3], [4, 1], [2, 0], [3, 1]]), None)
[pyflwdir.arithmetics]
moving_average(r(1, 6), r(2, 6), 1, np.array([0, 0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 5, -1]), None, -9999.0, -1) | by=0,1
[pyflwdir.dem]
slope(r(1, 4, 5), -9999.0, True, (0.1, 0.0, 3.0, 0.0, -0.1, 40.0)) | by=0 rtol=2e-2
adjust_elevation(np.array([0, 0, 1, 2, 3, 4]), np.array([0, 1, 2, 3, 4, 5]), r(1, 6), -1)
[pyflwdir.gis_utils]
spread2d(np.array([[0.7, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.3], [0.0, 0.0, 0.0, 0.0]]), None, 0, r(1, 3, 4)) | by=0,3 rtol=2e-2
[pysheds._sview]
_view_fill_by_entries_linear_numba(r(1, 5, 6), np.zeros(4), r(2, 4) * 3, r(3, 4) * 4, np.nan) | by=0,2,3 into=1
[mrmustard.math.lattice.strategies.squeezer]
squeezer((4, 5), 0.4, 0.7)
[mrmustard.math.lattice.strategies.displacement]
laguerre(0.7, 5, 0.4)
[piquasso._math.hermite]
density_matrix_from_gaussian(r(1, 4, 4) + 0.2j * r(2, 4, 4), r(3, 4) + 0.1j * r(4, 4), 0.7, np.array([[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [2, 0]])) | by=2
[matchms.similarity.spectrum_similarity_functions]
collect_peak_pairs(np.array([[1.0, 0.4], [2.0, 0.7], [3.0, 0.9]]), np.array([[1.1, 0.5], [2.05, 0.3], [4.0, 0.8]]), 0.2, 0.0, 0.5, 0.7) | by=0,1,4,5
score_best_matches(np.array([[0.0, 0.0, 0.3], [1.0, 1.0, 0.7]]), r(1, 3, 2), r(2, 3, 2), 0.5, 0.7) | by=1,2,3,4
[finmlkit.feature.core.volatility]
ewms(np.cumsum(r(1, 9)), 4)
realized_vol(r(1, 8), 3, True)
variance_ratio_1_4_core(np.cumsum(r(1, 12)), 4, 1, "log")
[finmlkit.feature.core.correlation]
rolling_price_volume_correlation(r(1, 12), r(2, 12), 5)
[finmlkit.feature.core.trend]
adx_core(np.cumsum(r(1, 12)) + 2, np.cumsum(r(2, 12)) * 0.9, np.cumsum(r(3, 12)) + 1, 4)
[tests.peers.samples.fourth_functions]
response_spectrum(r(1, 12), r(2, 3), 0.05, r(3, 8, 3) / 2)
hermite(r(1, 2, 2), r(2, 2))
fock_state(r(1, 2, 2), r(2, 2))
next_amplitude(r(1, 3, 3), r(2, 2, 2), r(3, 2))
read_at_points(r(1, 1, 5, 6), r(2, 3, 2) * 3)
read_on_line(r(1, 1, 6), r(2, 3, 1) * 4)
spread_on_grid(r(1, 1, 3), r(2, 3, 2) * 3)
spiral_step(0.1, 0.7, r(1, 3), 2.0)
thresholded(0.6, r(1, 6) - 0.5)
crps(r(1, 3), r(2, 3, 5))
rescaled_crps(r(1, 3), r(2, 3, 5), r(3, 3), r(4, 3, 5))
energy_score(r(1, 2, 3), r(2, 2, 4, 3))
kernel_score(r(1, 2, 3), r(2, 2, 4, 3))
rescaled_kernel_score(r(1, 3), r(2, 3, 5), r(3, 3), r(4, 3, 5))
variogram_score(r(1, 2, 3), r(2, 2, 4, 3), r(3, 3, 3))
"""
