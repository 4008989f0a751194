"""Functions of the packages of `twelfth.py` behind ours: for complex arrays and functions as arguments."""

import numpy as np
from jitr.rmatrix import core as rmatrix
from jitr.xs import elastic
from linsolve._kernels import nb as linear_solvers
from numba import njit
from PyMPDATA import Options
from PyMPDATA.impl.formulae_antidiff import __dict__ as antidiffusive
from PyMPDATA.impl.indexers import make_indexers
from robust_fourier.hermite_functions._numba_funcs import nb_hermite_function_vander
from scijit.integrate import _ivp
from scijit.interpolate import _bspline, _cubic
from scijit.optimize import _minimize_py, _scalar
from shapley_numba.examples import finance
from shapley_numba.shapley import shapley_jit

# -- linear equations ----------------------------------------------------------------------------

gauss_solve, lu_factor, lu_solve, jacobi, seidel, relax = (
    linear_solvers.gauss_solve,
    linear_solvers.lu_factor,
    linear_solvers.lu_solve_from_factor,
    linear_solvers.jacobi,
    linear_solvers.gauss_seidel,
    linear_solvers.sor,
)
cholesky_factor, cholesky_solve = (
    linear_solvers.cholesky_factor,
    linear_solvers.cholesky_solve_from_factor,
)


@njit
def solved_by_gauss(a, b):
    return gauss_solve(a, b)


@njit
def solved_by_lu(a, b):
    m, pivots = lu_factor(a)
    return lu_solve(m, pivots, b)


@njit
def solved_by_cholesky(a, b):
    return cholesky_solve(cholesky_factor(a @ a.T + np.eye(len(a))), b)


@njit
def solved_by_steps(a, b, omega):
    x, _, _, _ = jacobi(a, b, np.zeros(len(b)), 1e-13, 300)
    y, _, _, _ = seidel(a, b, np.zeros(len(b)), 1e-13, 300)
    z, _, _, _ = relax(a, b, omega, np.zeros(len(b)), 1e-13, 300)
    return x + 0.7 * y + 0.3 * z


# -- scattering ----------------------------------------------------------------------------------

s_matrix_of, coefficients_of, total_of, differential_of = (
    rmatrix.solve_smatrix_with_inverse,
    rmatrix.solution_coeffs_with_inverse,
    elastic.integral_elastic_xs,
    elastic.differential_elastic_xs,
)


@njit
def channels(matrix, basis, re, im, slopes, weights, radius):
    out, into = re + 1j * im, re - 1j * im
    r, s, inverse, boundary = s_matrix_of(
        matrix + 0.1j * np.eye(6),
        basis + 0j,
        out,
        into,
        slopes + 0.3j,
        slopes - 0.3j,
        weights + 0j,
        radius,
        2,
        3,
    )
    return r, s, coefficients_of(inverse, basis + 0j, s, boundary, 2, 3)


@njit
def cross_sections(k, up, down, legendre, associated, phases):
    plus, minus = np.exp(1j * up), 0.9 * np.exp(1j * down)
    orders, angles = np.arange(3), np.zeros(4)
    total = total_of(k, plus, minus, orders)
    rest = differential_of(
        k, angles, plus, minus, orders, legendre, associated, 0.1 * angles + 0.2j, phases
    )
    return total, rest


# -- roots, minima and paths ---------------------------------------------------------------------

brent_root, ridder_root, toms_root, secant_root, halley_root, newton_root = (
    _scalar._brentq_core,
    _scalar._ridder_core,
    _scalar._toms748_core,
    _scalar._secant,
    _scalar._halley,
    _scalar._newton_core,
)
fixed_point, newton_roots, bounded_minimum, golden_minimum = (
    _scalar._fixed_point_core,
    _scalar._array_newton,
    _scalar._bounded_min,
    _scalar._golden_min,
)
minimum_of, path_of = _minimize_py._bfgs_core, _ivp._rk_core


@njit
def cubic(x, a, b):
    return a * x**3 + x - b


@njit
def cubic_slope(x, a, b):
    return 3 * a * x**2 + 1


@njit
def cubic_bend(x, a, b):
    return 6 * a * x


@njit
def brent(a, b):
    return brent_root(cubic, 0.0, 2.0, (a, b)).root


@njit
def ridder(a, b):
    return ridder_root(cubic, 0.0, 2.0, (a, b)).root


@njit
def toms(a, b):
    return toms_root(cubic, 0.0, 2.0, (a, b)).root


@njit
def secant(a, b):
    return secant_root(cubic, 0.3, 0.5, 1e-12, 50, 0.0, True, True, (a, b)).root


@njit
def halley(a, b):
    return halley_root(cubic, 0.3, cubic_slope, cubic_bend, 1e-12, 50, 0.0, True, (a, b)).root


@njit
def newton(a, b):
    return newton_root(cubic, 0.3, cubic_slope, (a, b), 1e-12).root


@njit
def several_roots(start, a, b):
    return newton_roots(cubic, start, cubic_slope, (a, b), 1e-12).root


@njit
def cosine(x, a, b):
    return a * np.cos(b * x)


@njit
def fixed(a, b):
    return fixed_point(cosine, 0.4, (a, b), 1e-12, 100).x


@njit
def valley(x, a, b):
    return (x - a) ** 2 + b * np.exp(x)


@njit
def golden_valley(a, b):
    count = np.zeros(1, np.int64)
    return golden_minimum(valley, 0.0, 1.0, 1e-9, 200, count, "", (a, b)).fun


@njit
def bounded_valley(a, b):
    count = np.zeros(1, np.int64)
    return bounded_minimum(valley, -2.0, 2.0, 1e-9, 200, count, (a, b), 0).fun


@njit
def bowl(x, a, b):
    return a * (x[0] - b) ** 2 + (x[1] - x[0] ** 2) ** 2


@njit
def bowl_slope(x, a, b):
    steep = x[1] - x[0] ** 2
    return np.array([2 * a * (x[0] - b) - 4 * x[0] * steep, 2 * steep])


@njit
def descended(start, a, b):
    none = np.zeros((0, 0))
    steps = np.full(2, 1e-8)
    found = minimum_of(
        bowl,
        bowl_slope,
        False,
        start,
        (a, b),
        1e-9,
        np.inf,
        steps,
        60,
        1e-4,
        0.9,
        0.0,
        none,
        False,
        False,
    )
    return found[0], found[1]


@njit
def oscillator(t, y, args):
    return np.array([y[1], args[0] * (1 - y[0] ** 2) * y[1] - args[1] * y[0]])


@njit
def path(start, end, args):
    times = np.linspace(0.0, end, 4)
    return path_of(
        oscillator, 0.0, end, start, 0, 1e-3, 1e-6, times, np.inf, False, 0.1, args, True
    )[1]


@njit
def finer_path(start, end, args):
    times = np.linspace(0.0, end, 4)
    return path_of(
        oscillator, 0.0, end, start, 2, 1e-3, 1e-6, times, np.inf, True, 0.1, args, True
    )[1]


# -- curves --------------------------------------------------------------------------------------

spline_of, interpolating_of, cubic_spline, pchip, akima = (
    _bspline.BSpline,
    _bspline.make_interp_spline,
    _cubic.CubicSpline,
    _cubic.PchipInterpolator,
    _bspline.Akima1DInterpolator,
)


@njit
def spline(knots, coefficients, points):
    s = spline_of(knots, coefficients, 3)
    return s.ev(points), s.integral(points[0], points[1])


@njit
def interpolating(x, y, points):
    return interpolating_of(x, y, 3).ev(points)


@njit
def akima_curve(x, y, points):
    return akima(x, y).ev(points)


@njit
def cubic_curve(x, y, points):
    curve = cubic_spline(x, y)
    return curve.ev(points), curve.derivative_ev(points, 2), curve.integral(points[0], points[1])


@njit
def monotone_curve(x, y, points):
    curve = pchip(x, y)
    return curve.ev(points), curve.derivative_ev(points, 1)


@njit
def hermite(x):
    return nb_hermite_function_vander(x, 5)


# -- games ---------------------------------------------------------------------------------------

parts_of, put_of = shapley_jit, finance.black_scholes_put_price
CallGame = finance.BlackScholesCallGame(np.ones(4), np.ones(4), 1.0).jitted_class


@njit
def price_parts(old, new, strike):
    game = CallGame(old, new, strike)
    return parts_of(4, game, np.array([1.0, 1 / 3, 1 / 3, 1.0, 0.0]))


@njit
def put_price(spot, strike, years, rate, volatility):
    return put_of([spot, strike, years, rate, volatility])


# -- advection -----------------------------------------------------------------------------------

line = make_indexers(Options().jit_flags)[1]
line_antidiffusion = antidiffusive["__make_antidiff"](
    atv=line.atv[-1],
    ats=line.ats[-1],
    non_unit_g_factor=False,
    options=Options(third_order_terms=True, divergent_flow=True),
    n_dims=1,
    last_pass=True,
)


@njit
def antidiffusion(psi, courant):
    focus = (-1, -1, 3)
    return line_antidiffusion((focus, psi), (focus, (courant, courant, courant)), (focus, psi))
