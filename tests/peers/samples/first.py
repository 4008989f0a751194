# ruff: noqa: E501
"""Calls of public packages' compiled functions, one a line: `function(arguments)`, under a module's name.

`v(n)`, `m(n, k)` are arrays of numbers between 0.2 and 1.2; `p(n)` adds up to 1. What stands behind `|`:
`by=0,2` the arguments to differentiate by (all floats and arrays of floats otherwise), `into=3` the argument
that holds the result; `rtol=1e-3` where numbers of 32 bits make differences rough.
"""

CALLS = """
[hapsira.core.angles]
nu_to_E(0.7, 0.3)
M_to_E(0.7, 0.3)
M_to_F(0.7, 1.3)
M_to_D(0.7)
fp_angle(0.7, 0.3)
[hapsira.core.elements]
coe2rv(398600.0, 7000.0, 0.1, 0.3, 0.4, 0.5, 0.6)
rv2coe(398600.0, np.array([7000.0, 300.0, 200.0]), np.array([0.3, 7.1, 1.2])) | by=0,1,2
mee2rv(7000.0, 0.1, 0.2, 0.1, 0.05, 0.6)
coe2mee(7000.0, 0.1, 0.3, 0.4, 0.5, 0.6)
[hapsira.core.propagation.farnocchia]
farnocchia_rv(398600.0, np.array([7000.0, 300.0, 200.0]), np.array([0.3, 7.1, 1.2]), 1000.0)
[hapsira.core.propagation.vallado]
vallado(398600.0, np.array([7000.0, 300.0, 200.0]), np.array([0.3, 7.1, 1.2]), 1000.0, 50)
[hapsira.core.propagation.markley]
markley_coe(398600.0, 7000.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1000.0)
[hapsira.core.propagation.mikkola]
mikkola_coe(398600.0, 7000.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1000.0)
[hapsira.core.propagation.danby]
danby_coe(398600.0, 7000.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1000.0) | by=0,1,2,6,7
[hapsira.core.propagation.gooding]
gooding_coe(398600.0, 7000.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1000.0) | by=1,2,6,7
[hapsira.core.propagation.recseries]
recseries_coe(398600.0, 7000.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1000.0) | by=1,2,6,7
[hapsira.core.iod]
izzo(398600.0, np.array([5000.0, 10000.0, 2100.0]), np.array([-14600.0, 2500.0, 7000.0]), 3600.0, 0, True, True, 35, 1e-8) | by=0,1,2,3
vallado(398600.0, np.array([5000.0, 10000.0, 2100.0]), np.array([-14600.0, 2500.0, 7000.0]), 3600.0, 0, True, True, 35, 1e-8) | by=0,1,2
[hapsira.core.perturbations]
J2_perturbation(0.0, np.array([7000.0, 300.0, 200.0, 0.3, 7.1, 1.2]), 398600.0, 1e-3, 6378.0)
atmospheric_drag_exponential(0.0, np.array([7000.0, 300.0, 200.0, 0.3, 7.1, 1.2]), 398600.0, 6378.0, 2.2, 0.02, 80.0, 1e-3)
[hapsira.core.flybys]
compute_flyby(np.array([7.0, 3.0, 1.0]), np.array([3.0, 1.0, 0.2]), 398600.0, 7000.0, 0.3)
[hapsira.core.maneuver]
hohmann(398600.0, (np.array([7000.0, 300.0, 200.0]), np.array([0.3, 7.1, 1.2])), 9000.0) | by=0,2
[hapsira.core.spheroid_location]
cartesian_to_ellipsoidal(6378.0, 6356.0, 3000.0, 4000.0, 3500.0)
[hapsira._math.special]
stumpff_c2(0.7)
stumpff_c3(-0.7)
hyp2f1b(0.3)
[lamberthub.universal_solvers.izzo]
izzo2015(398600.0, np.array([5000.0, 10000.0, 2100.0]), np.array([-14600.0, 2500.0, 7000.0]), 3600.0) | by=0,1,2,3
[lamberthub.utils.angles]
get_transfer_angle(np.array([5.0, 10.0, 2.1]), np.array([-14.6, 2.5, 7.0]), True)
[choclo.utils]
distance_spherical(10.0, 20.0, 6378.0, 12.0, 21.0, 6379.0)
[choclo.point]
gravity_pot(1.0, 2.0, 3.0, 0.3, 0.4, 0.5, 10.0)
gravity_nu(1.0, 2.0, 3.0, 0.3, 0.4, 0.5, 10.0)
[choclo.prism]
gravity_u(1.0, 2.0, 3.0, -0.3, 0.4, -0.5, 0.6, -1.0, 0.2, 10.0)
gravity_ee(1.0, 2.0, 3.0, -0.3, 0.4, -0.5, 0.6, -1.0, 0.2, 10.0)
magnetic_field(1.0, 2.0, 3.0, -0.3, 0.4, -0.5, 0.6, -1.0, 0.2, 10.0, 3.0, 1.0)
[choclo.dipole]
magnetic_field(1.0, 2.0, 3.0, -0.3, 0.4, -0.5, 0.6, -1.0, 0.2)
[disba._cps._surf96]
getc(np.array([5.0, 10.0]), np.array([10.0, 15.0, 30.0]), np.array([5.0, 6.0, 8.0]), np.array([3.0, 3.6, 4.6]), np.array([2.5, 2.7, 3.2]), 0, 2, 0.005) | by=1,2,3,4
fast_delta(1.9, 0.6, np.array([10.0, 15.0, 30.0]), np.array([5.0, 6.0, 8.0]), np.array([3.0, 3.6, 4.6]), np.array([2.5, 2.7, 3.2]), 0)
dltar1(1.9, 0.6, np.array([10.0, 15.0, 30.0]), np.array([5.0, 6.0, 8.0]), np.array([3.0, 3.6, 4.6]), np.array([2.5, 2.7, 3.2]), 0)
dltar4(1.9, 0.6, np.array([10.0, 15.0, 30.0]), np.array([5.0, 6.0, 8.0]), np.array([3.0, 3.6, 4.6]), np.array([2.5, 2.7, 3.2]), 0, np.zeros((5, 5))) | by=0,1,2,3,4,5
[disba._cps._swegn96]
svfunc(0.6, 0.19, np.array([10.0, 15.0, 30.0]), np.array([5.0, 6.0, 8.0]), np.array([3.0, 3.6, 4.6]), np.array([2.5, 2.7, 3.2]))
shfunc(0.6, 0.19, np.array([10.0, 15.0, 30.0]), np.array([5.0, 6.0, 8.0]), np.array([3.0, 3.6, 4.6]), np.array([2.5, 2.7, 3.2]))
[empymod.kernel]
reflections(np.array([-1e10, 0.0, 100.0]), m(1, 3) + 1j * m(1, 3), m(1, 1, 3, 4) + 0j, 2, 1) | by=0
fields(np.array([-1e10, 0.0, 100.0]), m(1, 1, 2, 4) + 0j, m(1, 1, 2, 4) + 0j, m(1, 1, 3, 4) + 0j, 2, 1, 20.0, 11, True) | by=0,6
wavenumber(20.0, np.array([30.0, 40.0]), 1, 1, np.array([-1e10, 0.0]), m(1, 2) + 1j * m(1, 2), m(1, 2) + 1j, m(1, 2) * 1j, m(1, 2) * 1j, m(1, 3), 11, False, False, False) | by=0,1,9
[antropy.fractal]
_higuchi_fd(np.cumsum(v(30)), 4)
_dfa(np.cumsum(v(60)))
[antropy.utils]
_linear_regression(v(7), v(7) * 2)
[arch.univariate.recursions_python]
garch_recursion(np.array([0.1, 0.2, 0.6]), v(8), v(8), np.sign(v(8)), 1, 0, 1, 8, 0.5, np.tile([0.01, 100.0], (8, 1))) | by=0,1,8 into=2
egarch_recursion(np.array([0.1, 0.2, 0.1, 0.6]), v(8), np.zeros(8), 1, 1, 1, 8, 0.5, np.tile([0.01, 100.0], (8, 1)), np.zeros(8), np.zeros(8), np.zeros(8)) | by=0,1,7 into=2
harch_recursion(np.array([0.1, 0.2, 0.1]), v(8), np.zeros(8), np.array([1, 3], np.int32), 8, 0.5, np.tile([0.01, 100.0], (8, 1))) | by=0,1,5
figarch_recursion(np.array([0.1, 0.2, 0.4, 0.3]), v(8), np.zeros(8), 1, 1, 8, 5, 0.5, np.tile([0.01, 100.0], (8, 1))) | by=0,1,7
aparch_recursion(np.array([0.1, 0.2, 0.3, 0.6, 1.5]), v(8), v(8), np.zeros(8), np.zeros(8), 1, 1, 1, 8, 0.5, np.tile([0.01, 100.0], (8, 1))) | by=0,1
midas_recursion(np.array([0.1, 0.2, 0.1]), p(4), v(8), np.zeros(8), 8, 0.5, np.tile([0.01, 100.0], (8, 1))) | by=0,1,2
[numba_stats.norm]
_logpdf(v(5), 0.3, 1.2)
pdf(v(5), 0.3, 1.2)
cdf(v(5), 0.3, 1.2)
ppf(p(5), 0.3, 1.2)
[numba_stats.truncnorm]
logpdf(v(5), 0.0, 2.0, 0.3, 1.2)
cdf(v(5), 0.0, 2.0, 0.3, 1.2)
[numba_stats.expon]
logpdf(v(5), 0.1, 1.2)
[numba_stats.crystalball]
logpdf(v(5) - 0.9, 0.3, 2.0, 0.6, 0.2)
cdf(v(5) - 0.9, 0.3, 2.0, 0.6, 0.2)
[numba_stats.t]
logpdf(v(5), 3.0, 0.1, 1.2)
cdf(v(5), 3.0, 0.1, 1.2) | by=0,2,3
[numba_stats.voigt]
pdf(v(5), 0.4, 0.1, 1.2)
[numba_stats.bernstein]
density(v(5) / 2, v(4), 0.0, 1.0)
integral(v(5) / 2, v(4), 0.0, 1.0)
[numba_stats.tsallis]
pdf(v(5), 1.5, 1.2, 3.0)
[numba_stats.qgaussian]
pdf(v(5), 1.5, 0.1, 1.2)
[numba_stats.cruijff]
density(v(5), 0.2, 0.3, 0.1, 0.5, 1.2)
[numba_stats.skewnorm]
logpdf(v(5), 0.5, 0.1, 1.2)
[numba_stats.lognorm]
logpdf(v(5), 0.5, 0.1, 1.2)
[numba_stats.gamma]
logpdf(v(5), 1.5, 0.1, 1.2)
[numba_stats.novosibirsk]
logpdf(v(5), 0.3, 0.4, 0.1)
[umap.distances]
minkowski(v(5), v(5) * 0.7 + 0.2, 3)
mahalanobis_f64(v(3), v(3) * 0.7 + 0.2, np.eye(3) + 0.2)
correlation(v(5), v(5) ** 2)
hellinger(v(5), v(5) ** 2)
haversine(v(2), v(2) * 0.7 + 0.2)
ll_dirichlet(v(5) * 9 + 3, v(5) * 7 + 5)
symmetric_kl(v(5), v(5) ** 2) | by=0,1
sinkhorn_distance(p(4), p(4)[::-1].copy(), np.eye(4), m(4, 4)) | by=0,1,3
gaussian_energy_grad(np.array([0.1, 0.2, 0.5, 0.6, 0.3]), np.array([0.3, 0.1, 0.7, 0.8, 0.2]))
poincare(v(3) * 0.3, v(3) * 0.2)
softmax_hellinger(v(4), v(4) ** 2)
[pynndescent.distances]
sinkhorn(p(4), p(4)[::-1].copy(), m(4, 4), 1.0)
wasserstein_1d(v(5), v(5) ** 2, 1)
circular_kantorovich(v(5), v(5) ** 2, 1)
jensen_shannon_divergence(v(5), v(5) ** 2)
tsss(v(5), v(5) ** 2)
spearmanr(v(5), v(5) ** 2 + np.arange(5))
true_angular(v(5), v(5) ** 2)
bray_curtis(v(5), v(5) ** 2)
kantorovich(p(3), p(3)[::-1].copy(), m(3, 3)) | by=2
[stumpy.core]
_welford_nanvar(v(12), 4, np.ones(9, np.bool_))
_p_norm_distance_profile(v(4), v(12), 2.0) | by=0,1
_p_norm_distance_profile(v(4), v(12), 2.5)
_sliding_dot_product(v(4), v(12))
_rolling_nanstd_1d(v(12), 4)
_calculate_squared_distance_profile(4, v(9) * 3, 0.5, 0.3, v(9), v(9), False, np.zeros(9, np.bool_)) | by=1,2,3,4,5
[aeon.distances.elastic._dtw]
dtw_distance(v(6), v(7) ** 2, 0.5) | by=0,1
dtw_cost_matrix(v(6), v(7) ** 2, 0.5) | by=0,1
[aeon.distances.elastic._soft_dtw]
soft_dtw_distance(v(6), v(7) ** 2, 0.7) | by=0,1,2
[aeon.distances.elastic._msm]
msm_distance(v(6), v(7) ** 2, 0.5, True, 0.3) | by=0,1,4
[aeon.distances.elastic._twe]
twe_distance(v(6), v(7) ** 2, 0.5, 0.01, 0.5) | by=0,1,3,4
[aeon.distances.elastic._erp]
erp_distance(v(6), v(7) ** 2, 0.5, 0.1) | by=0,1,3
[aeon.distances.elastic._wdtw]
wdtw_distance(v(6), v(7) ** 2, 0.5, 0.1) | by=0,1,3
[aeon.distances.elastic._adtw]
adtw_distance(v(6), v(7) ** 2, 0.5, None, 0.1) | by=0,1,4
[aeon.distances.elastic._ddtw]
ddtw_distance(v(6), v(7) ** 2) | by=0,1
[aeon.distances.elastic._shape_dtw]
shape_dtw_distance(v(8), v(8) ** 2, None, "identity", 2) | by=0,1
[pvlib.spa]
heliocentric_longitude(0.02)
mean_ecliptic_obliquity(0.02)
geocentric_sun_right_ascension(100.0, 23.4, 0.1)
topocentric_sun_declination(20.0, 0.8, 0.6, 0.002, 0.01, 30.0)
equation_of_time(100.0, 101.0, 0.01, 23.4)
[financepy.models.sabr]
vol_function_sabr(np.array([0.2, 0.5, -0.3, 0.4]), 0.05, 0.06, 2.0)
vol_function_sabr_beta_half(np.array([0.2, 0.5, -0.3, 0.4]), 0.05, 0.06, 2.0)
[financepy.models.volatility_fns]
vol_function_svi(np.array([0.04, 0.4, -0.3, 0.1, 0.2]), 1.1, 1.0, 2.0)
ssvi_local_varg(0.1, 0.5, 0.2, -0.3, 1.5)
[financepy.models.black_scholes_analytic]
value(100.0, 1.5, 95.0, 0.03, 0.01, 0.2, 1)
vega(100.0, 1.5, 95.0, 0.03, 0.01, 0.2, 1)
bjerksund_stensland_value(100.0, 1.5, 95.0, 0.03, 0.01, 0.2, 3)
baw_value(100.0, 1.5, 95.0, 0.03, 0.01, 0.2, 3)
[financepy.models.equity_barrier_option_bs]
value_equity_barrier_option_bs(1.5, 95.0, 80.0, 100.0, 0.03, 0.01, 0.2, 1, 252)
[financepy.models.equity_crr_tree]
crr_tree_val(100.0, 0.03, 0.01, 0.2, 12, 1.5, 3, 95.0, 1)
[financepy.models.heston]
get_paths(100.0, 0.03, 0.01, 0.04, 1.5, 0.05, 0.3, -0.5, 0.5, 0.05, 4, 7, 1) | by=0,1,2,3,4,5,6,7
[financepy.models.hw_tree]
build_tree_fast(0.1, 0.01, np.linspace(0.0, 2.0, 11), 8, np.exp(-0.03 * np.linspace(0.0, 2.0, 11))) | by=0,1,4
[financepy.models.bk_tree]
build_tree_fast(0.1, 0.2, np.linspace(0.0, 2.0, 11), 8, np.exp(-0.03 * np.linspace(0.0, 2.0, 11))) | by=0,1,4
[financepy.models.gauss_copula_lhp]
tr_surv_prob_lhp(0.03, 0.07, 5, 1 - v(5) / 10, v(5) / 3, 0.4)
[financepy.models.gauss_copula_onefactor]
loss_dbn_hetero_adj_binomial(5, v(5) / 10, v(5), v(5) / 2, 20)
homog_basket_loss_dbn(1 - v(5) / 10, 0.4 * np.ones(5), v(5) / 2, 20)
[financepy.models.cir_montecarlo]
zero_price(0.03, 0.2, 0.05, 0.1, 2.0)
rate_path_mc(0.03, 0.2, 0.05, 0.1, 1.0, 0.1, 7, 1) | by=0,1,2,3
[financepy.models.vasicek_mc]
zero_price_mc(0.03, 0.2, 0.05, 0.1, 1.0, 0.1, 5, 7) | by=0,1,2,3
[financepy.models.lmm_mc]
lmm_swaption_vol_approx(1, 4, v(5) / 20, v(5), v(5) / 5, np.eye(5))
lmm_simulate_fwds_1f(4, 6, 0, v(4) / 20, v(4) / 5, v(4), 0, 7) | by=3,4,5
[financepy.utils.math]
norminvcdf(0.3)
phi2(0.3, -0.2, 0.4)
phi3(0.3, -0.2, 0.1, 0.4, 0.2, 0.1)
solve_tridiagonal_matrix(m(5, 3) + np.array([0.0, 3.0, 0.0]), v(5))
normcdf_slow(0.3)
[financepy.market.curves.interpolator]
_uinterpolate(0.7, np.linspace(0.0, 2.0, 5), np.exp(-0.03 * np.linspace(0.0, 2.0, 5)), 1)
_uinterpolate(0.7, np.linspace(0.0, 2.0, 5), np.exp(-0.03 * np.linspace(0.0, 2.0, 5)), 2) | by=0,2
[py_vollib_vectorized._model_calls]
black_scholes_merton(1, 100.0, 95.0, 1.5, 0.03, 0.2, 0.01)
black(100.0, 95.0, 0.2, 1.5, 1)
[py_vollib_vectorized._iv_models]
implied_volatility_from_a_transformed_rational_guess(12.0, 100.0, 95.0, 1.5, 1)
[py_vollib_vectorized.util.greeks_helpers]
calerf(0.7, 0)
_asymptotic_expansion_of_normalized_black_call(-12.0, 0.2)
[quantecon._inequality]
gini_coefficient(v(6))
lorenz_curve(v(6))
[quantecon._lss]
simulate_linear_model(m(3, 3) / 3, v(3), m(3, 5), 6)
[quantecon.quad]
_qnwlege1(5, 0.1, 1.3)
_qnwcheb1(5, 0.1, 1.3)
_qnwsimp1(5, 0.1, 1.3)
_qnwbeta1(5, 1.1, 1.3)
_qnwgamma1(5, 1.1, 1.3)
gammaln(3.3)
[quantecon.markov.approximation]
_fill_tauchen(np.linspace(-1, 1, 4), np.zeros((4, 4)), 4, 0.6, 0.3, 0.3) | by=0,3,4,5 into=1
[quantecon.markov.gth_solve]
_gth_solve_jit(m(4, 4), np.zeros(4)) | by=0 into=1
[tslearn.metrics._soft_dtw]
_njit_accumulated_matrix(m(4, 2), m(5, 2), np.ones((4, 5), np.bool_), 0.7) | by=0,1,3
_njit_accumulated_matrix_from_distance_matrix(m(4, 5), np.ones((4, 5), np.bool_), 0.7) | by=0,2
[tslearn.metrics.soft_dtw_fast]
_njit_soft_dtw(m(4, 5), np.zeros((6, 7)), 0.7) | by=0,2 into=1
_njit_jacobian_product_sq_euc(m(4, 2), m(5, 2), m(4, 5), np.zeros((4, 2))) | by=0,1,2 into=3
[tslearn.metrics.dtw_variants]
_njit_subsequence_cost_matrix(m(3, 2), m(6, 2))
[tslearn.metrics._frechet]
_njit_accumulated_matrix(m(4, 2), m(5, 2), np.ones((4, 5), np.bool_)) | by=0,1
[tslearn.forecasting._arima]
_loss(m(2, 8, 2), v(2), m(2, 2, 2) / 4, m(1, 2, 2) / 4)
[fastdist.fastdist]
braycurtis(v(5), v(5) ** 2)
canberra(v(5), v(5) ** 2, p(5))
correlation(v(5), v(5) ** 2)
cosine_pairwise_distance(m(4, 3), True)
jensenshannon(p(5), v(5) ** 2)
mahalanobis(v(3), v(3) ** 2, np.eye(3) + 0.2)
minkowski(v(5), v(5) ** 2, 2.5)
seuclidean(v(5), v(5) ** 2, v(5))
explained_variance_score(v(5), v(5) ** 2)
mean_squared_log_error(v(5), v(5) ** 2)
[fastjmd95.jmd95numba]
rho(35.0, 10.0, 1000.0)
rho(v(3) * 30, v(3) * 10, v(3) * 1000)
drhodt(35.0, 10.0, 1000.0)
drhods(35.0, 10.0, 1000.0)
[hmmkay.hmm]
_forward(np.array([0, 1, 1, 0, 2]), np.log(v(2)), np.log(m(2, 2)), np.log(m(2, 3)), np.zeros((2, 5))) | by=1,2,3
_backward(np.array([0, 1, 1, 0, 2]), np.log(v(2)), np.log(m(2, 2)), np.log(m(2, 3)), np.zeros((2, 5))) | by=2,3 into=4
[resampy.interpn]
_resample_loop_s(v(12), np.linspace(0.3, 10.2, 9), v(64), v(64) - 0.7, 16, 1.0, np.zeros(9)) | by=0,2,3 into=6
[tests.peers.samples.first_functions]
sun(40.0, -105.0, 1830.0, 820.0, 11.0, 0.5667)
multivectors(0.7, 2.0)
newton_root(0.5, 2.0)
brent_root(0.5, 2.0)
brent_maximum(0.5, 2.0)
nelder_mead_minimum(0.5, 2.0)
[meepmeep.numba2d]
solve2d(0.0, 2.5, 8.0, 1.5, 0.1, 0.7)
pos_v(v(5) / 10, 0.01, 2.5, m(2, 5) / 10, 0.0)
sep_v(v(5) / 10, 0.01, 2.5, m(2, 5) / 10, 0.0)
t14(0.1, np.array([[0.1, 3.0, 0.1, 0.2, 0.1], [0.3, 0.1, 0.2, 0.1, 0.1]]))
[meepmeep.numba3d]
solve3d(0.0, 2.5, 8.0, 1.5, 0.1, 0.7)
lambert_phase_curve_v(v(5) / 10, 0.3, 0.1, 0.01, 2.5, m(3, 5) / 10, 0.0)
ev_signal_v(v(5) / 10, 0.3, 0.01, 1.5, 0.01, 2.5, m(3, 5) / 10, 0.0)
emission_phase_curve_v(v(5) / 10, 0.1, 0.3, 0.2, 0.01, 2.5, m(3, 5) / 10, 0.0)
eclipse_time_offset(2.5, 1.5, 0.1, 0.7)
eccentricity_vector(1.5, 0.1, 0.7)
mean_anomaly_at_transit(0.1, 0.7)
[pytransit.models.numba.ma_quadratic_nb]
eval_quad_z_s(0.6, 0.1, np.array([0.3, 0.2]))
eval_quad_z_s(0.95, 0.1, np.array([0.3, 0.2]))
ellk(0.6)
ellpicb(0.3, 0.6)
[pytransit.models.numba.qpower2_nb]
qpower2_z_s(0.6, 0.1, np.array([0.3, 0.2]))
qpower2_z_s(0.95, 0.1, np.array([0.3, 0.2]))
[pytransit.models.numba.ma_uniform_nb]
uniform_z_s(0.95, 0.1, 1.0)
[pytransit.models.numba.general_nb]
loggamma(3.3)
jacobi_s(4, 0.5, 1.5, 0.3, 0, np.zeros((4, 1, 1))) | by=1,2,3 into=5
[pytransit.models.numba.phasecurves]
ev_and_db(0.1, 0.2, 0.01, 2.5, 1.1, True, v(5)) | by=0,1,2,3,4
emission(0.01, 0.1, 0.7, 0.2, 0.01, 2.5, True, v(5)) | by=0,1,2,3,4,5
lambert_phase_function(8.0, 0.01, 0.3, 0.01, 2.5, True, v(5)) | by=0,1,2,3,4
[pytransit.models.numba.gdmodel]
planck(5e-7, 5800.0) | by=1
stellar_oblateness(1e-4, 1400.0)
z_and_mu_s(0.3, 0.2, 1.0, 0.1, 0.6, 0.8)
[pytransit.orbits.orbits_py]
mean_anomaly_offset(0.1, 0.7)
ea_newton_s(0.3, 0.0, 2.5, 0.1, 0.7)
ta_newton_v(v(5), 0.0, 2.5, 0.1, 0.7)
ta_ps5(0.3, 0.0, 2.5, 0.1, 0.7)
z_newton_v(v(5) / 20, (0.0, 2.5, 8.0, 1.5, 0.1, 0.7)) | by=0
z_circular(0.03, (0.01, 2.5, 8.0, 1.5, 0.0, 0.0)) | by=0
duration_eccentric(2.5, 0.1, 8.0, 1.5, 0.1, 0.7, 1)
eclipse_phase(2.5, 1.5, 0.1, 0.7)
[lenstronomy.LensModel.Profiles.epl_numba]
param_transform(0.5, 0.7, 1.2, 2.1, 0.1, 0.05)
alpha(0.5, 0.7, 1.2, 0.8, 1.1)
omega(0.7, 1.1, 0.8)
omega(v(4), 1.1, 0.8)
[lenstronomy.LensModel.Util.epl_util]
min_approx(0.1, 0.3, 0.7, 1.2, 0.5, 0.9)
cart_to_pol(0.3, 0.7)
pol_to_ell(1.2, 0.7, 0.8)
ell_to_pol(1.2, 0.7, 0.8)
solvequadeq(0.5, -2.0, 0.7)
ps(-0.3, 1.5)
[lenstronomy.Util.param_util]
phi_q2_ellipticity(0.7, 0.8)
ellipticity2phi_q(0.1, 0.05)
[neurolib.models.fhn.timeIntegration]
timeIntegration_njit_elementwise(2, np.arange(6) * 0.1, 0.1, 0.3, 0.6, 2, m(2, 2), m(2, 2), 0.6, 20.0, 0, np.array([[0, 1], [1, 0]]), m(2, 8), m(2, 8) ** 2, np.zeros(2), np.zeros(2), m(2, 8), m(2, 8) / 2, 3.0, 4.0, -1.5, 0.1, 0.5, 20.0, np.zeros(2), np.zeros(2), v(2), v(2), 0.1, 0.2, 5.0, 0.1) | by=2,3,6,8,12,13,16,17,18,19,20,21,22,23,26,27,28,29,30,31
[neurolib.models.hopf.timeIntegration]
timeIntegration_njit_elementwise(2, np.arange(6) * 0.1, 0.1, 0.3, 0.6, 2, m(2, 2), m(2, 2), 0.6, 20.0, 0, np.array([[0, 1], [1, 0]]), m(2, 8), m(2, 8) ** 2, np.zeros(2), np.zeros(2), m(2, 8), m(2, 8) / 2, 0.3, 0.2, np.zeros(2), np.zeros(2), v(2), v(2), 0.1, 0.2, 5.0, 0.1) | by=2,3,6,8,12,13,16,17,18,19,22,23,24,25,26,27
[neurolib.models.bold.timeIntegration]
integrateBOLD_numba(np.zeros((2, 5)), np.zeros(2), np.ones(2), np.ones(2), np.ones(2), m(2, 5), 0.01, 2, 0.34, 0.32, 0.02, 7.0, 2.0, 1.6, v(2), v(2), v(2)) | by=2,3,4,5,6,8,9,10,11,12,13,14,15,16 into=0 rtol=1e-3
[spherical_functions.recursions.wigner3j]
A(3.4, 2.3, 2.2, 1.3)
normalize(v(5), 0, 4)
[twed.utils]
_twed(m(5, 1), m(6, 1) ** 2, np.arange(5.0), np.arange(6.0), 2, 0.1, 0.5)
_twed(m(5, 2), m(6, 2) ** 2, np.arange(5.0), np.arange(6.0), 3, 0.1, 0.5) | by=0,1,5,6
_dist_lp(v(3), v(3) ** 2)
[vanilla_option_pricers.bachelier]
compute_normal_price(1.0, 1.1, 0.7, 0.3, 0.98, "C") | by=0,1,2,3,4
compute_normal_slice_prices(0.7, 1.0, v(4) + 0.3, v(4) / 2, np.array(["C", "P", "C", "P"]), 0.98) | by=0,1,2,3,5
compute_normal_delta(1.0, 0.7, 1.1, 0.3, "P", 0.98) | by=0,1,2,3,5
infer_normal_implied_vol(1.0, 0.7, 1.1, 0.1, 0.98, "C")
[vanilla_option_pricers.black_scholes]
compute_bsm_vanilla_price(1.0, 1.1, 0.7, 0.3, "C", 0.98)
compute_bsm_vanilla_slice_prices(0.7, 1.0, v(4) + 0.3, v(4) / 2 + 0.1, np.array(["C", "P", "C", "P"]), 0.98) | by=0,1,2,3,5
compute_bsm_vanilla_vega(1.0, 1.1, 0.7, 0.3, 0.98)
compute_bsm_vanilla_theta(1.0, 1.1, 0.7, 0.3, "P", 0.98, 0.02)
compute_bsm_vanilla_grid_deltas(0.7, v(4) + 0.3, 1.1, 0.3, "C", 0.98)
infer_bsm_implied_vol(1.0, 0.7, 1.1, 0.1, 0.98, "C") | by=0,1,2,3,4
_implied_total_vol(0.1, -0.1, 8, 1e-13, 0.4) | by=0,1
_normalised_black(-0.1, 0.4)
[vanilla_option_pricers._black_special]
_erfcx(0.7)
_one_minus_erfcx(0.3)
_small_t(-2.0, 0.1)
_asymptotic(-12.0, 0.2)
[optionpricer.analytics.volatility]
_garch_neg_loglik(v(9) - 0.6, 0.01, 0.1, 0.8)
_sabr_vol_kernel(1.0, 1.1, 0.7, 0.3, 0.5, -0.3, 0.4)
[optionpricer.models.multi_asset]
_cholesky_lower(np.eye(3) + 0.2)
_multi_asset_paths(v(3), v(3) / 10, v(3) / 3, np.tril(m(3, 3)), m(5, 4, 3) - 0.7, 5, 4, 0.25) | by=0,1,2,3,4,7
[optionpricer.analytics.risk]
_malliavin_delta_kernel(v(6), v(6) - 0.7, 100.0, 0.2, 1.0)
_malliavin_vega_kernel(v(6), v(6) - 0.7, 100.0, 0.2, 1.0)
[pyakima.pyakima]
make_akima_coeffs(np.cumsum(v(8)), v(8) ** 2)
[ffevaluation.ffevaluate]
_evaluate_angles(np.array([[1.0, 0.2, 0.1], [0.1, 0.3, 0.2], [0.4, 1.3, 0.5]]), np.array([50.0, 1.9]), np.array([30.0, 30.0, 30.0])) | by=0 rtol=1e-3
_evaluate_torsion(np.array([[1.0, 0.2, 0.1], [0.1, 0.3, 0.2], [0.4, 1.3, 0.5], [1.4, 1.6, 1.5]]), np.array([5.0, 1.9, 2.0], np.float32), np.array([30.0, 30.0, 30.0])) | by=0 rtol=1e-3
dihedralAngleFull(np.array([[1.0, 0.2, 0.1], [0.1, 0.3, 0.2], [0.4, 1.3, 0.5], [1.4, 1.6, 1.5]]), np.array([30.0, 30.0, 30.0])) | by=0 rtol=1e-3
[hyper_corr.pearsonr]
_pearsonr(v(7), v(7) ** 2 + np.array([0.3, 0.1, 0.7, 0.2, 0.9, 0.3, 0.1]))
_incbet(1.5, 2.5, 0.3)
[hyper_corr.spearmanr]
_incbet(1.5, 2.5, 0.7) | by=2
[kearsley_numba.kearsley]
fit_transform(m(5, 3) * 3, m(5, 3) ** 2 * 3, 1.5) | by=0,1
_kearsley_matrix(m(5, 3), m(5, 3) ** 2)
mean_numba(m(5, 3))
quaternion_rotation_matrix(np.zeros((3, 3)), v(4)) | by=1 into=0
[noblegasmd.engine]
compute_forces(m(5, 3) * 3, 5)
compute_potential(m(5, 3) * 3, 5)
kinetic_energy(m(5, 3), 5)
simulate(np.array([[1.0, 1.1, 1.2], [2.3, 1.0, 1.3], [1.2, 2.4, 1.0]]), m(3, 3) - 0.7, 5.0, 0.005, 6) | by=0,1,3
[tests.peers.samples.first_quaternions]
product(m(2, 4), m(2, 4) ** 2)
quotient(m(2, 4), m(2, 4) ** 2)
rotated(m(2, 4), m(2, 4) ** 2)
rotation_matrix(m(2, 4))
distance(v(4) / np.linalg.norm(v(4)), v(4) ** 2 / np.linalg.norm(v(4) ** 2))
[numbacs.utils]
curl_vel(m(5, 6), m(5, 6) ** 2, 0.1, 0.2)
composite_simpsons(v(7), 0.1)
composite_simpsons_38_irregular(v(7), v(6) / 10)
shoelace(m(5, 2))
arclength(m(5, 2))
arclength_along_arc(m(5, 2))
eigvalsh_max_2D_direct(1.2, 0.3, 0.7)
finite_diff_2D_2nd(m(6, 6), 3, 3, 0.1, 0)
[numbacs.diagnostics]
ftle_grid_2D(m(5, 6, 2), 2.0, 0.1, 0.2) | by=0,1,2,3
C_tensor_2D(m(4, 5, 4, 2), 0.1, 0.2) | by=0
ile_2D_data(m(5, 6), m(5, 6) ** 2, 0.1, 0.2) | by=0,1,2,3
[pynr.kernels.dissipation]
add_ko_dissipation(m(2, 9, 9, 9), np.zeros((2, 9, 9, 9)), np.array([1.0, 1.0, 1.0]), 3, 0.1, np.array([True, True])) | by=0,2,4 into=1
[pynr.kernels.fd]
dxy(m(2, 7, 7, 7), 1, 3, 3, 3, np.array([1.0, 2.0, 1.5]))
[pythermalcomfort.models.pmv_ppd_iso]
_pmv_ppd_optimized(25.0, 24.0, 0.2, 50.0, 1.2, 0.6, 0.0)
[pythermalcomfort.models.utci]
_utci_optimized(25.0, 2.0, 3.0, 1.5)
[pythermalcomfort.models.two_nodes_gagge]
_gagge_two_nodes_optimized(25.0, 24.0, 0.2, 1.2, 0.6, 1500.0, 0.0, 1.8, 101325.0, 1)
[pythermalcomfort.models.two_nodes_gagge_ji]
_two_nodes_ji_optimized_scalar(25.0, 24.0, 0.3, 1.2, 0.6, 1500.0, 0.0, 1.8, 101325.0, 1, True, 70.0, 10, 33.9, 36.9)
[pythermalcomfort.models.cooling_effect]
_set_for_cooling_effect(25.0, 24.0, 0.2, 50.0, 1.2, 0.6, 0.0)
[pythermalcomfort.models.solar_gain]
_solar_gain_scalar(43.0, 123.0, 800.0, 0.5, 0.5, 0.6, 0.7, 0.6, 1) | by=2,3,4,5,6,7
[pythermalcomfort.models.phs]
_phs_optimized_scalar(40.0, 40.0, 0.3, 2.5, 150.0, 0.5, 1, True, 1, 75.0, 0.0, 0.38, 0.54, 1.8, 0.0, 0.0, 6, 0.97, 34.1, 36.8, 36.8, 36.8, 0.3, 0.0, 0.0, 0) | by=0,1,2,3,4,5
[pythermalcomfort.models.ireq]
_solve_single_criterion(-10.0, -9.0, 120.0, 0.0, 1.0, 0.5, 8.0, 0.3, 50.0, 30.0, 0.1)
[tests.peers.crop]
cc_development(0.05, 0.9, 0.1, 0.08, 20.0, 0, 0.9)
cc_required_time(0.3, 0.05, 0.9, 0.1, 0.08, 0)
adjust_ccx(0.3, 0.05, 0.9, 0.1, 0.08, 1.0, 30.0, 60.0, 0.9)
growing_degree_day(3, 30.0, 8.0, 28.0, 12.0)
[chemicals.vapor_pressure]
Lee_Kesler(340.0, 500.0, 3e6, 0.3)
Wagner(340.0, 500.0, 3e6, -7.0, 1.5, -2.0, -3.0)
Sanjari(340.0, 500.0, 3e6, 0.3)
[chemicals.volume]
COSTALD(340.0, 500.0, 3e-4, 0.3)
Yamada_Gunn(340.0, 500.0, 3e6, 0.3)
Rackett(340.0, 500.0, 3e6, 0.27)
[chemicals.dippr]
EQ106(340.0, 500.0, 0.9, 0.3, 0.1, 0.05)
EQ114(340.0, 500.0, 0.9, 0.3, 0.1, 0.05)
[chemicals.virial]
BVirial_Pitzer_Curl(340.0, 500.0, 3e6, 0.3)
CVirial_Orbey_Vera(340.0, 500.0, 3e6, 0.3)
[chemicals.heat_capacity]
TRCCp(300.0, 4.0, 7.65e5, 720.0, 3.565, -0.052, -1.55e-6, 52.0, 201.0)
Shomate(300.0, 30.0, 6.8, 6.8, -2.5, 0.08)
[chemicals.rachford_rice]
Rachford_Rice_flash_error(0.4, p(4), np.array([4.2, 1.75, 0.74, 0.34]))
[fluids.friction]
Haaland(1e5, 1e-3)
Swamee_Jain_1976(1e5, 1e-3)
Churchill_1977(1e4, 1e-3)
Clamond(1e5, 1e-3)
[fluids.drag]
Barati_high(200.0)
Clift(200.0)
Khan_Richardson(200.0)
[fluids.packed_bed]
Ergun(1e-3, 0.4, 0.01, 1000.0, 1e-3, 1.0)
Jones_Krier(1e-3, 0.4, 0.01, 1000.0, 1e-3, 1.0)
[fluids.geometry]
SA_ellipsoidal_head(1.2, 0.4)
[ht.core]
LMTD(100.0, 60.0, 30.0, 40.0)
[ht.conv_external]
Nu_cylinder_Churchill_Bernstein(6071.0, 0.7)
[pymap3d.haversine]
haversine(0.3)
[cubic_spline.tools]
cubic_coef_solver(np.cumsum(v(6)), v(6) ** 2, np.zeros(6), np.zeros(6)) | by=0,1 into=2
sparse_solver(v(5) / 5, v(5) + 1, v(5) / 4, v(5))
[bztetra._cut_kernels]
small_tetra_volume_and_coefficients(1, np.array([-0.3, 0.2, 0.5, 0.9]), np.array([-0.3, 0.2, 0.5, 0.9]), m(4, 4), np.zeros((4, 4))) | by=1,2,3 into=4
_fill_simplex_affine4(np.array([-0.3, 0.2, 0.5, 0.9]), np.zeros((4, 4))) | by=0 into=1
"""
