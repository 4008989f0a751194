# ruff: noqa: E501
"""Calls of yet more public packages' compiled functions, written as in `first.py`."""

CALLS = """
[baseflow.methods.Eckhardt]
Eckhardt(v(12), v(12) / 2, 0.95, 0.7)
[baseflow.methods.LH]
LH(v(12))
[baseflow.methods.Willems]
Willems(v(12), v(12) / 2, 0.95, 0.3, True)
[baseflow.methods.Fixed]
Fixed_interpolation(v(12), 5)
[baseflow.methods.Slide]
Slide_interpolation(v(12), 5)
[baseflow.methods.Local]
Local_turn(v(12), 5)
[baseflow.methods.UKIH]
linear_interpolation(v(12), np.array([1, 4, 9]))
[baseflow.methods.Boughton]
Boughton(v(12), v(12) / 2, 0.95, 0.1)
[fteikpy._fteik._fteik2d]
fteik2d(m(5, 6) + 0.3, 0.1, 0.12, 0.13, 0.25, 2, False)
t_anad(2, 3, 0.1, 0.12, 0.13, 0.25, 0.7)
[fteikpy._interp._vinterp2d]
_vinterp2d(np.cumsum(v(5)), np.cumsum(v(6)), m(5, 6), 1.3, 1.7, 0.4, 0.5, 1.2, np.nan) | by=2,3,4,5,6,7
vinterp2d(np.cumsum(v(5)), np.cumsum(v(6)), m(5, 6), m(3, 2) * 1.5, np.array([0.4, 0.5]), 1.2, np.nan) | by=2,3,4,5
[fteikpy._interp._interp3d]
interp3d(np.cumsum(v(4)), np.cumsum(v(5)), np.cumsum(v(4)), m(4, 5, 4), m(3, 3), np.nan) | by=3,4
[fteikpy._fteik._ray2d]
_ray2d(np.arange(6.0), np.arange(6.0), m(6, 6) + 1, m(6, 6) + 1, 4.1, 4.3, 0.5, 0.6, 0.3, 60, False) | by=2,3,4,5
[genx.models.lib.paratt_numba]
ReflNB(v(3) * 2, 1.54, 1 - np.array([5e-6, 8e-6, 3e-6, 0.0]) + 1e-8j, v(4) * 90, v(3) * 4) | by=0,1,3,4
AmpQNB(v(3) / 9, 1.54, 1 - np.array([5e-6, 8e-6, 3e-6, 0.0]) + 1e-8j, v(4) * 90, v(3) * 4) | by=0,1,3,4
[genx.models.lib.neutron_numba]
ReflNB(v(3) / 9, np.array([5e-5, 8e-5, 3e-5, 0.0]) + 1e-8j, np.array([4e-5, 7e-5, 2e-5, 0.0]) + 1e-8j, v(4) * 90, v(4)) | by=0,3,4
[genx.models.lib.instrument_numba]
SquareIntensity(v(4), 10.0, 0.05)
ResolutionVectorScalar(v(4), 0.02, 5, 3.0)
[einsteinpy.coordinates.utils]
cartesian_to_spherical(0.1, 0.7, 0.3, 0.5, 0.2, 0.1, 0.4)
cartesian_to_bl(0.1, 0.7, 0.3, 0.5, 0.3, 0.2, 0.1, 0.4)
bl_to_cartesian(0.1, 0.7, 0.3, 0.5, 0.3, 0.2, 0.1, 0.4)
[hiphive.calculators.zbl]
zbl_energy(13, 29, 1.3) | by=2
zbl_force(13, 29, 1.3) | by=2
inner_loop(0, m(4, 3) * 3, np.eye(3) * 5, np.zeros((2, 3)), np.array([1, 3]), np.zeros((4, 3)), np.zeros(1), np.array([13, 29, 13, 8])) | by=1,2,5,6 into=5
[hiphive.calculators.numba_calc]
tvl(m(3, 3).ravel(), v(3), 2) | by=0,1 into=0
[verde.spline]
greens_func_jit(1.3, 0.7, 0.1)
predict_numba(v(4), v(4), v(3), v(3), 0.1, v(3), np.zeros(4)) | by=0,1,2,3,4,5 into=6
jacobian_numba(v(4), v(4), v(3), v(3), 0.1, np.zeros((4, 3))) | by=0,1,2,3,4 into=5
[verde.vector]
predict_2d_numba(v(4), v(4), v(3), v(3), 0.1, 0.4, v(6), np.zeros(4), np.zeros(4)) | by=0,1,2,3,4,5,6 into=7
GREENS_FUNC_2D_JIT(1.3, 0.7, 0.1, 0.4)
[taurex.util.emission]
black_body_numba(v(3) * 9, 900.0)
[taurex.util.math_numba]
interp_exp_and_lin_broken(v(4), v(4), v(4), v(4), 300.0, 250.0, 400.0, 1.3, 0.9, 1.8)
intepr_bilin_numba_II(v(4), v(4), v(4), v(4), 300.0, 250.0, 400.0, 1.3, 0.9, 1.8)
interp_exp_numba(v(4), v(4), 300.0, 250.0, 400.0)
[taurex.contributions.contribution]
contribute_tau(0, 3, 1, m(5, 4), v(5), v(5), 5, 4, 1, np.zeros((5, 4))) | by=3,4,5,9 into=9
[taurex.contributions.absorption]
contribute_ktau(0, 3, 1, np.ones((5, 4, 3)) * v(3), v(5), v(5), p(3), np.zeros((5, 4)), 4, 1, 3) | by=3,4,5,6,7 into=7
[pybaselines._spline_utils]
_numba_btb_bty(np.linspace(0.01, 0.99, 8), np.linspace(-1, 2, 10), 3, v(8), v(8), np.zeros((4, 6)), np.zeros(6), np.zeros(32)) | by=3,4 into=6
[pybaselines.polynomial]
_loess_solver(m(3, 8), v(8))
_loess_low_memory(np.linspace(-1, 1, 9), v(9), v(9), np.zeros((9, 3)), np.polynomial.polynomial.polyvander(np.linspace(-1, 1, 9), 2), 9, np.array([[max(0, min(i - 2, 4)), max(0, min(i - 2, 4)) + 5] for i in range(9)]), np.arange(9)) | by=1,2 into=3
[pybaselines.classification]
_rolling_std(v(12), 2, 1)
[pybaselines.smooth]
_directional_min_moving_avg(v(12), 12, 2)
[pybaselines.spline]
_quadratic_bezier(v(3), v(4))
_quadratic_bezier_spline(np.arange(12.0), v(12), np.array([0, 3, 6, 11])) | by=1
[pybaselines.utils]
_interp_inplace(np.arange(5.0), np.zeros(5), 0.3, 0.9) | by=1,2,3 into=1
[mne._chpi_numba]
_magnetic_dipole_delta(m(3, 6) - 0.7, m(6, 6), v(6), 3.0)
_chpi_objective(v(6) / 3, m(4, 3), m(4, 3), p(4))
_fast_fit(m(5, 8) - 0.7, m(5, 5), 3, m(8, 6), m(6, 8) - 0.6)
_fast_fit_snr(m(5, 8) - 0.7, 3, m(8, 6), m(6, 8) - 0.6, np.array([0, 1]), np.array([2, 3, 4])) | by=0,2,3
[mne._surface_numba]
_fast_cross_nd_sum(m(5, 3), m(5, 3) ** 2, m(5, 3) ** 3)
_jit_cross(np.zeros((5, 3)), m(5, 3), m(5, 3) ** 2) | by=1,2 into=0
_accumulate_normals(np.array([[0, 1, 2], [1, 2, 3]]), m(2, 3), 4) | by=1
_triangle_coords(v(3), 1, m(4, 3), m(4, 3), m(4, 3), m(4, 3), v(4) + 3, v(4) + 3, v(4)) | by=0,2,3,4,5,6,7,8
_nearest_tri_edge(np.array([0, 2, 3]), m(3, 2), v(3), v(4) + 2, v(4) + 2, v(4)) | by=1,2,3,4,5
_get_solids(m(3, 3, 3), m(4, 3))
[mne._transforms_numba]
_quat_to_rot(v(3) / 3)
_fit_matched_points(m(5, 3), m(5, 3), v(5), True) | by=0,1,2
[mne.forward._compute_forward_numba]
_bem_inf_pots(m(3, 3), m(4, 3) + 1.5, None) | by=0,1
_do_sphere_field(m(3, 3) / 9, m(4, 3) + 1, m(4, 3), v(4), np.array([0, 0, 1, 1]), v(3) / 99)
_do_lin_field_coeff(m(4, 3), np.array([[0, 1, 2], [1, 2, 3]]), m(2, 3), v(2), m(4, 3) + 2, m(4, 3), v(4), np.array([0, 0, 1, 1])) | by=0,2,3,4,5,6
_do_eeg_spherepot_coil(m(3, 3) / 9, m(4, 3) + 1, v(4), np.array([0, 0, 1, 1]), v(3) / 99, 2.0, v(3), v(3))
_compute_mdfv(m(3, 3), m(4, 3) + 1, m(4, 3), v(4), np.array([0, 0, 1, 1]), "raise") | by=0,1,2,3
[mne.decoding.time_delaying_ridge]
_toeplitz_dot(v(4), v(4))
[librosa.sequence]
_viterbi(np.log(m(6, 3)), np.log(m(3, 3)), np.log(v(3)))
[pyts.metrics._dtw]
_accumulated_cost_matrix_no_region(m(5, 6))
[pyts.metrics._lower_bounds]
_lower_bound_yi_x_y(v(6), 0.4, 0.9, v(6), 0.3, 0.8)
_clip_2d(m(2, 6), 0.4 + m(2, 6) / 9, 0.8 + m(2, 6) / 9, 2, 2, 6)
[ssqueezepy._gmw]
_gmw_l1(v(6) * 3, 3.0, 20.0, 1.88, 1.0 + 0.2)
_gmw_l2(v(6) * 3, 3.0, 20.0, 1.88, 13.7, 22.0)
_gmw_l1_k(v(6) * 3, 3.0, 20.0, 1.88, v(3))
[ssqueezepy.algos]
_phase_cwt(m(3, 4) + 1j * m(3, 4), m(3, 4) - 0.3j * m(3, 4), np.zeros((3, 4)), 0.1) | by=2 into=2
_ssq_cwt_log(m(3, 4) + 1j * m(3, 4), m(3, 4) - 0.3j * m(3, 4), np.zeros((3, 4), complex), v(3), 0.1, -2.0, 0.3, 2) | by=3 into=2
[skglm.utils.prox_funcs]
ST(0.7, 0.3)
ST_vec(v(5) - 0.7, 0.2)
proj_L2ball(v(5))
BST(v(5), 0.3)
value_MCP(v(5) - 0.6, 0.3, 1.5)
prox_MCP(0.7, 0.5, 0.3, 3.0)
value_SCAD(v(5) - 0.6, 0.3, 2.5)
prox_SCAD(0.7, 0.5, 0.3, 3.0)
prox_05(0.9, 0.2)
prox_2_3(0.9, 0.2)
prox_SLOPE(v(5), np.array([0.5, 0.4, 0.3, 0.2, 0.1]))
prox_log_sum(0.9, 0.1, 0.5)
[skglm.covariance]
barebones_cd_gram(np.eye(4) * 2 + m(4, 4) / 9, v(4), v(4), 0.1, v(4), 30)
[skglm.utils.sparse_ops]
spectral_norm(v(6), np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 3]), 4, 20) | by=0
_X_dot_vec(v(6), np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 3]), v(3), 4) | by=0,3
_sparse_xj_dot(v(6), np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 3]), 1, v(4)) | by=0,4
"""
