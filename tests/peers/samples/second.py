# ruff: noqa: E501
"""Calls of more public packages' compiled functions, written as in `first.py`."""

CALLS = """
[skgstat.estimators]
matheron(v(6))
cressie(v(6))
cross_matheron(m(6, 2))
[numba_extinction.models.gordon_23]
compute_exctinction(v(4) / 4 + 0.1, 0.7, 3.1)
Go23_inum(0.22, 4.5)
[numba_extinction.models.ccm_89]
compute_exctinction(v(4) * 2000 + 1000, 0.7, 3.1)
ccm89_invum(4.4)
ccm89_invum(9.4)
[numba_extinction.models.fitzpatrick_99]
Fi99_y_knots(3.1, np.array([0.8, -0.3, 3.2, 0.4, 4.6, 0.99])) | by=0
k_Fi99(5.5, 3.1, np.array([2.0, 0.7, 3.2, 0.4, 4.6, 0.99, 0.5]))
[numba_extinction.models.calzetti_00]
compute_extinction(v(4) * 5000 + 2000, 0.7, 4.05)
[numba_extinction.models.odonnell_94]
compute_exctinction(v(4) * 5000 + 3500, 0.7, 3.1)
[numba_extinction.utils.helpers]
mod_D(9.7, 9.8, 2.2, -0.3)
W(3.0, 4.5, 4.6)
[consav.linear_interp_1d]
interp_1d(np.cumsum(v(6)), v(6), 1.7)
interp_1d_vec(np.cumsum(v(6)), v(6), v(4) * 2, np.zeros(4)) | by=1,2 into=3
interp_1d_vec_mon_noprep(np.cumsum(v(6)), v(6), np.cumsum(v(4)), np.zeros(4)) | by=1,2 into=3
[consav.linear_interp_2d]
interp_2d(np.cumsum(v(5)), np.cumsum(v(6)), m(5, 6), 1.3, 1.7)
interp_2d_vec(np.cumsum(v(5)), np.cumsum(v(6)), m(5, 6), v(3) * 2, v(3) * 1.7, np.zeros(3)) | by=0,1,2,3,4 into=5
[consav.linear_interp_3d]
interp_3d(np.cumsum(v(4)), np.cumsum(v(5)), np.cumsum(v(6)), m(4, 5, 6), 1.3, 1.7, 1.1)
[consav.grids]
nonlinspace_jit(0.1, 3.0, 7, 1.2)
[HARK.numba_tools]
linear_interp_fast(v(4) * 4, np.cumsum(v(5)), np.cumsum(v(5)) ** 0.5, 0.4, 0.3, False) | by=0,1,2,3,4
linear_interp_deriv_fast(v(4) * 4, np.cumsum(v(5)), np.cumsum(v(5)) ** 0.5, 0.4, 0.3, False) | by=0,1,2,3,4
linear_interp_fast(v(4) * 2, np.cumsum(v(5)), v(5), None, None, False) | by=0,1,2
cubic_interp_fast(v(4) * 4, np.cumsum(v(5)), np.cumsum(v(5)) ** 0.5, v(5), 0.4, 0.3, False) | by=0,1,2,3
[HARK.utilities]
jump_to_grid_1D(v(4) * 2, p(4), np.linspace(0.0, 3.0, 6))
gen_tran_matrix_1D(np.linspace(0.1, 3.0, 5), v(5) * 2, p(3), v(3) + 0.4, v(3), 0.98, p(5)) | by=1,2,3,4,5,6
[HARK.simulator]
aggregate_blobs_onto_polynomial_grid(v(6), p(6), np.array([0, 0, 1, 1, 2, 2]), np.linspace(0.0, 2.0, 5) ** 2, 3, 2.0) | by=0,1
[HARK.dcegm]
calc_linear_crossing(np.array([0.3, 0.9]), np.array([0.2, 1.1]), np.array([0.9, 0.4]))
[HARK.ConsumptionSaving.ConsIndShockModelFast]
_cFuncLinear(np.linspace(0.1, 5.0, 6), 0.0, np.linspace(0.2, 4.0, 5), np.linspace(0.2, 4.0, 5) ** 0.5, 0.1, 5.0) | by=2,3,4,5
_find_mNrmStELinear(1.3, 1.01, 1.02, 1.0, 0.0, np.linspace(0.2, 4.0, 5), np.linspace(0.2, 4.0, 5) ** 0.5, v(5), 0.1, 5.0) | by=0,1,2,3
[interpolation.splines.hermite]
hermite_interp(0.3, 0.1, 0.9, 1.0, 1.4, 0.2, 0.5)
HermiteInterpolation(1.3, np.cumsum(v(6)), v(6), v(6))
HermiteInterpolationVect(v(3) + 0.5, np.cumsum(v(6)), v(6), v(6)) | by=0,1,2
[interpolation.splines.filter_cubic]
filter_coeffs_1d(np.array([1.5]), v(6))
filter_coeffs_2d(np.array([1.5, 1.2]), m(5, 6))
[interpolation.complete_poly]
_complete_poly_impl_vec(v(2), 3, np.zeros(10)) | by=0 into=2
_complete_poly_der_impl_vec(v(2), 2, 1, np.zeros(6)) | by=0 into=3
[sequence_jacobian.utilities.interpolate]
interpolate_coord_njit(np.cumsum(v(6)), np.cumsum(v(3)) + 0.4)
interpolate_point(0.5, 0.1, 1.2, 0.4, 0.9)
apply_coord_njit(np.array([0, 2, 1]), v(3), v(6))
[sequence_jacobian.utilities.optimized_routines]
fast_aggregate(m(4, 2, 3), m(4, 2, 3))
[sequence_jacobian.blocks.support.het_compiled]
forward_policy_1d(m(2, 4), np.array([[0, 1, 2, 2], [0, 0, 1, 2]]), m(2, 4)) | by=0,2
expectation_policy_2d(m(2, 4, 4), np.ones((2, 4, 4), np.int64), np.ones((2, 4, 4), np.int64), m(2, 4, 4), m(2, 4, 4)) | by=0,3,4
[pastas.recharge]
FlexModel.get_root_zone_balance(v(9) * 5, v(9), 250.0, 0.25, 100.0, 4.0, 1.0)
FlexModel.get_interception_balance(v(9) * 5, v(9), 2.0, 1.0)
FlexModel.get_snow_balance(v(9) * 5, v(9) * 10 - 7, 0.0, 2.0)
Berendrecht.get_recharge(v(9) * 5, v(9), 0.9, 1.0, 0.5, 250.0, -2.0, 0.5, 50.0, 1.0)
Peterson.get_recharge(v(9) * 5, v(9), 1.5, 1.0, 1.0, 0.5, 1.0, 1.0)
[miepython.mie_jit]
_an_bn_nb(1.5 - 0.1j, 2.3, 0) | by=1
_cn_dn_nb(1.5 - 0.1j, 2.3, 5) | by=1
_S1_S2_nb(1.5 - 0.1j, 2.3, v(4) - 0.5, 0) | by=1,2
_small_sphere_nb(1.5 - 0.1j, 0.05) | by=1
_small_conducting_sphere_nb(1.5 - 0.1j, 0.05) | by=1
_single_sphere_nb(1.5 - 0.1j, 2.3, 0, False) | by=1
_pi_tau_nb(0.3, np.zeros(6), np.zeros(6)) | by=0 into=2
[ta_numba.trend]
sma_numba(v(12), 4, 1)
ema_numba(v(12), 4, True)
weighted_moving_average(v(12), 4)
vortex_indicator_numba(v(12) + 2, v(12), v(12) + 1, 4)
cci_numba(v(12) + 2, v(12), v(12) + 1, 4, 0.015) | by=0,1,2
parabolic_sar_numba(np.cumsum(v(12)) + 1, np.cumsum(v(12)), np.cumsum(v(12)) + 0.5, 0.02, 0.02, 0.2)
trix_numba(v(30) + 1, 4)
[ta_numba.momentum]
relative_strength_index_numba(v(15), 5)
kaufmans_adaptive_moving_average_numba(v(15), 4, 2, 6)
true_strength_index_numba(v(30), 6, 4)
stochastic_oscillator_numba(v(15) + 2, v(15), v(15) + 1, 5, 3)
[ta_numba.volume]
money_flow_index_numba(v(12) + 2, v(12), v(12) + 1, v(12) * 9, 4)
chaikin_money_flow_numba(v(12) + 2, v(12), v(12) + 1, v(12) * 9, 4)
volume_weighted_average_price_numba(v(12) + 2, v(12), v(12) + 1, v(12) * 9, 4)
[ta_numba.volatility]
average_true_range_numba(v(12) + 2, v(12), v(12) + 1, 4)
bollinger_bands_numba(v(12), 4, 2.0)
[ta_numba.others]
rolling_zscore_numba(v(12), 4)
linear_regression_slope_numba(v(12), 4)
cumulative_return_numba(v(12))
[harmonica._spherical_harmonics.legendre]
associated_legendre(0.3, 4, np.zeros((5, 5))) | by=0 into=2
associated_legendre_full(0.3, 4, np.zeros((5, 5))) | by=0 into=2
associated_legendre_schmidt_derivative(4, np.tril(m(5, 5)), np.zeros((5, 5))) | by=1 into=2
[harmonica._forward.utils]
distance_spherical((10.0, 20.0, 6378.0), (12.0, 21.0, 6379.0)) | by=0,1
[harmonica._forward.point]
gravity_u_spherical(0.1, 0.9, 0.4, 6378.0, 0.2, 0.8, 0.6, 6379.0)
[symplectic_map.cpu_symplectic_map]
iterate(0.3, 0.2, v(6), 0.1, 1.0, 1.0, 0.5, 0.1, 0.2, 0.1, 0.05, 9.0, 0) | by=0,1,2,3,4,5,6,7,8,9,10
[refnx.reflect._numba_reflect]
_numba_kernel(v(4) / 10, v(2) * 100, v(4) * 1e-6, v(4) * 1e-8, v(3) * 3, 1.0, 1e-7)
[timml.besselnumba]
besselk0(1.3, 0.4, 2.0 + 0j)
besselk1(1.3, 0.4, 2.0 + 0j)
bessells_int(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, 2.0 + 0j)
bessells_gauss(1.3, 2.4, -1.0 + 0j, 1.0 + 0.2j, 2.0 + 0j)
bessells(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, 2.0 + 0j, 2, -1.0, 1.0)
bessellsqxqyv2(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, np.array([2.0 + 0j, 1.5 + 0j]), 1, 8.0) | by=0,1
besselld(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, 2.0 + 0j, 2, -1.0, 1.0)
lapls_int_ho(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, 2)
lapld_int_ho_wdis(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, 2)
find_d1d2(-1.0 + 0j, 1.0 + 0.2j, 0.3 + 0.4j, 0.8)
[timml.besselaesnumba.besselaesnumba]
potbeslsho(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, np.array([0.0, 2.0]), 1, 1, 2) | by=0,1
disbeslsho(1.3, 0.4, -1.0 + 0j, 1.0 + 0.2j, np.array([0.0, 2.0]), 1, 1, 2) | by=0,1
[ttim.invlapnumba]
compute_laplace_parameters_numba(10.0, 5, 1e-10, 1e-9) | by=0
invlap(v(3), 1.5, m(1, 11) + 1j * m(1, 11), 5, 1e-10, 1e-9) | by=0,1
"""
