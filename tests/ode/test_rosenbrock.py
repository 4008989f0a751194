"""Rosenbrock methods: stiff systems, and their derivatives, against closed forms and other codes."""

import math

import numba
import numpy as np
import pytest
import scipy.linalg

import numbad as nd
from numbad.errors import ArgumentError
from numbad.ode.sparsity_pattern import checked_sparsity

ROBERTSON = (0.04, 3e7, 1e4)


@numba.njit
def robertson(t, y, slow, fast, middle):
    a, b, c = y
    first, second, third = slow * a, fast * b * b, middle * b * c
    return third - first, first - second - third, second


TIMES = np.array([0.0, 100.0, 1e5])

# At the last two times: SciPy's Radau at rtol 1e-11, with the variational equations by hand beside the
# state; at 1e-10 it agrees to 1e-12 and 1e-11.
VALUES = np.array(
    [
        [0.617234882395992, 6.153591274638516e-06, 0.3827589640127335],
        [0.017865921142099263, 7.274751468436258e-08, 0.9821340061103833],
    ]
)
SLOPES = np.array(
    [
        [
            [-5.1164574524324, -3.035236721423947e-09, 1.8211809139372287e-05],
            [2.3287318029030197e-05, -8.245738640737984e-14, -1.2061507989714156e-10],
            [5.116434165114368, 3.035319178810352e-09, -1.8211688524292392e-05],
        ],
        [
            [-0.7930471281178342, -5.281803362167374e-10, 3.1690758341095176e-06],
            [-1.4688907582348132e-06, -2.1898424104324445e-15, 5.864276819569989e-12],
            [0.793048597008593, 5.281825260591321e-10, -3.1690816983865238e-06],
        ],
    ]
)


def as_algebraic(t, y, slow, fast, middle):
    """Robertson's problem with the conserved sum in place of its last equation."""
    da, db, _ = robertson(t, y, slow, fast, middle)
    return da, db, y[0] + y[1] + y[2] - 1.0


MIXED = np.array([[2.0, 1.0, 0.0], [0.5, 1.0, 0.3], [0.0, 0.0, 1.0]])


def mixed(t, y, slow, fast, middle):
    """Robertson's equations, combined."""
    a, b, c = robertson(t, (y[0], y[1], y[2]), slow, fast, middle)
    return np.array([2.0 * a + b, 0.5 * a + b + 0.3 * c, c])


@pytest.mark.dear
@pytest.mark.parametrize(
    ("fun", "start", "mass"),
    [
        (robertson, (1.0, 0.0, 0.0), None),
        pytest.param(
            as_algebraic, (1.0, 0.0, 0.0), np.diag([1.0, 1.0, 0.0]), marks=pytest.mark.deep
        ),
        pytest.param(mixed, np.array([1.0, 0.0, 0.0]), MIXED, marks=pytest.mark.deep),
    ],
)
def test_robertson_and_its_sensitivities(fun, start, mass):
    solve = nd.ode.solver(fun, method="Rodas5P", rtol=1e-8, atol=1e-12, mass_matrix=mass)

    def end(k):
        return solve(start, TIMES, (k[0], k[1], k[2]))

    rates = np.array(ROBERTSON)
    values, slopes = nd.value_and_jacobian(end)(rates)
    np.testing.assert_allclose(values[1:], VALUES, rtol=2e-7)
    np.testing.assert_allclose(slopes[1:], SLOPES, rtol=1e-6)


@pytest.mark.dear
def test_mass_matrices_that_do_not_fit():
    mass = np.diag([1.0, 1.0, 0.0])
    solve = nd.ode.solver(as_algebraic, method="Rodas5P", rtol=1e-8, atol=1e-12, mass_matrix=mass)
    with pytest.raises(nd.NumbadError, match="does not satisfy the algebraic equations"):
        solve((1.0, 0.0, 0.5), TIMES, ROBERTSON)
    with pytest.raises(nd.ArgumentError, match="mass_matrix must have a row and a column for each"):
        nd.ode.solver(forced, method="Rodas5P", mass_matrix=mass)(np.ones(2), TIMES, 1.0)
    with pytest.raises(nd.ArgumentError, match="must be square"):
        nd.ode.solver(robertson, method="Rodas4", mass_matrix=np.ones((2, 3)))
    singular = nd.ode.solver(robertson, method="Rodas5P", mass_matrix=np.ones((3, 3)))
    with pytest.raises(nd.UnsupportedError, match="by ts beside a singular mass_matrix.*Way out"):
        nd.derivative(lambda end: singular((1.0, 0.0, 0.0), (0.0, end), ROBERTSON)[1, 0])(1.0)


@pytest.mark.deep
def test_statistics():
    given = robertson, (0.0, 1e5), [1.0, 0.0, 0.0]
    own = nd.ode.solve_ivp(*given, method="Rodas5P", args=ROBERTSON, rtol=1e-6, atol=1e-8)
    assert own.success
    assert own.njev == len(own.t) - 1  # one a step
    assert own.njev <= own.nlu == (own.nfev - 2 - own.njev) // 7


def forced(t, y, stiffness):
    """Prothero and Robinson: y = cos t, and a component that follows it."""
    return np.array([-stiffness * (y[0] - math.cos(t)) - math.sin(t), y[0] - y[1]])


def forced_in_place(t, y, dy, stiffness):
    dy[0] = -stiffness * (y[0] - math.cos(t)) - math.sin(t)
    dy[1] = y[0] - y[1]


@pytest.mark.deep
@pytest.mark.parametrize("inplace", [False, True])
def test_arrays_and_time(inplace):
    fun = forced_in_place if inplace else forced
    solve = nd.ode.solver(fun, method="Rodas5P", rtol=1e-8, atol=1e-10, inplace=inplace)
    times = np.linspace(0.0, 3.0, 31)
    ys = solve(np.array([1.0, 0.0]), times, 1e5)
    follower = 0.5 * (np.cos(times) + np.sin(times) - np.exp(-times))
    np.testing.assert_allclose(ys, np.stack([np.cos(times), follower], axis=1), atol=1e-7)
    slope = nd.derivative(lambda start: solve(np.array([1.0, start]), times, 1e5)[-1, 1])(0.0)
    assert slope == pytest.approx(math.exp(-3.0), rel=1e-6)


def brusselator(t, y, dy, p):
    """In one dimension, species interleaved: Hairer & Wanner, II, IV.10, (10.4)."""
    n = len(y) // 2
    spread = p[2] * (n + 1) ** 2
    for i in range(n):
        u, v = y[2 * i], y[2 * i + 1]
        left_u, left_v = (1.0, 3.0) if i == 0 else (y[2 * i - 2], y[2 * i - 1])
        right_u, right_v = (1.0, 3.0) if i == n - 1 else (y[2 * i + 2], y[2 * i + 3])
        dy[2 * i] = p[0] + u * u * v - (p[1] + 1.0) * u + spread * (left_u - 2.0 * u + right_u)
        dy[2 * i + 1] = p[1] * u - u * u * v + spread * (left_v - 2.0 * v + right_v)


@pytest.fixture(scope="module")
def diffusing():
    """A start, parameters, the pattern, and solvers: dense, and by the pattern."""
    options = dict(method="Rodas5P", inplace=True, rtol=1e-7, atol=1e-9)
    y, p = np.linspace(0.5, 3.0, 24), np.array([1.0, 3.0, 0.02])
    pattern = nd.sparsity(brusselator, 1, out=2)(0.0, y, np.empty_like(y), p)
    dense = nd.ode.solver(brusselator, **options)
    return y, p, pattern, dense, nd.ode.solver(brusselator, jac_sparsity=pattern, **options)


@pytest.mark.dear
def test_a_sparse_jacobian_gives_the_same_steps(diffusing):
    y, p, _, dense, banded = diffusing
    ts = np.linspace(0.0, 3.0, 4)
    np.testing.assert_allclose(banded(y, ts, (p,)), dense(y, ts, (p,)), rtol=1e-12)


@pytest.mark.deep
def test_derivatives_through_a_sparse_jacobian(diffusing):
    y, p, _, dense, banded = diffusing

    def by(solve):
        return nd.jacobian(lambda p: solve(y, (0.0, 2.0), (p,))[-1])(p)

    np.testing.assert_allclose(by(banded), by(dense), rtol=1e-10, atol=1e-12)


def test_components_in_any_order_have_a_narrow_band(diffusing):
    pattern = diffusing[2]
    mixed = np.random.default_rng(0).permutation(24)
    widths = checked_sparsity(pattern[mixed][:, mixed]).widths
    assert checked_sparsity(pattern).widths == (2, 2, 4)
    assert max(widths[:2]) <= 4


@pytest.mark.dear
def test_three_colours_take_dual_numbers_of_four_partials():
    """Heat in a rod, against its exponential and that of its slope by the rate."""
    n = 14
    A = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    assert type(checked_sparsity(A)).__name__ == "FewBanded"

    def rod(t, y, dy, rate):
        for i in range(n):
            left, right = (y[i - 1] if i > 0 else 0.0), (y[i + 1] if i < n - 1 else 0.0)
            dy[i] = rate * (left - 2.0 * y[i] + right)

    solve = nd.ode.solver(
        rod, method="Rodas5P", inplace=True, jac_sparsity=A, rtol=1e-9, atol=1e-12
    )
    start = np.arange(float(n))

    def end(rate):
        return solve(start, (0.0, 0.3), rate)[-1]

    exact = scipy.linalg.expm(0.3 * 40.0 * A) @ start
    np.testing.assert_allclose(end(40.0), exact, rtol=1e-7)
    slope = nd.jacobian(end, mode="reverse")(40.0)
    np.testing.assert_allclose(slope, 0.3 * A @ exact, rtol=1e-6, atol=1e-9)


@pytest.mark.deep
def test_a_wide_band_is_factored_as_a_whole():
    """A ring, each with its neighbours and the one opposite: y' = A y, against its exponential."""
    A = np.zeros((10, 10))
    for i in range(10):
        A[i, [i, (i + 1) % 10, (i - 1) % 10, (i + 5) % 10]] = -50.0, 20.0, 10.0, 15.0

    def ring(t, y, dy, rate):
        for i in range(10):
            others = 20.0 * y[(i + 1) % 10] + 10.0 * y[i - 1] + 15.0 * y[(i + 5) % 10]
            dy[i] = rate * (others - 50.0 * y[i])

    assert type(checked_sparsity(A)).__name__ == "Coloured"
    solve = nd.ode.solver(
        ring, method="Rodas5P", inplace=True, jac_sparsity=A, rtol=1e-9, atol=1e-12
    )
    start = np.arange(10.0)

    def end(rate):
        return solve(start, (0.0, 0.3), rate)[-1]

    exact = scipy.linalg.expm(0.3 * A) @ start
    np.testing.assert_allclose(end(1.0), exact, rtol=1e-8)
    np.testing.assert_allclose(nd.derivative(end)(1.0), 0.3 * A @ exact, rtol=1e-6)


@pytest.mark.deep
def test_the_band_of_solve_ivp(diffusing):
    y, p, pattern, _, _ = diffusing

    def fun(t, y, p):
        dy = np.empty_like(y)
        brusselator_compiled(t, y, dy, p)
        return dy

    given = dict(method="BDF", args=(p,), rtol=1e-7, atol=1e-9)
    by_widths = nd.ode.solve_ivp(fun, (0.0, 1.0), y, lband=2, uband=2, **given)
    by_pattern = nd.ode.solve_ivp(fun, (0.0, 1.0), y, jac_sparsity=pattern, **given)
    np.testing.assert_array_equal(by_widths.y[:, -1], by_pattern.y[:, -1])


brusselator_compiled = numba.njit(brusselator)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("pattern", "error", "message"),
    [
        (np.eye(24), nd.IntegrationError, "entries that are not in jac_sparsity"),
        (np.eye(23), ArgumentError, "a row and a column for each component"),
        (np.ones((2, 3)), ArgumentError, "must be a square matrix"),
    ],
)
def test_patterns_that_do_not_fit(diffusing, pattern, error, message):
    y, p = diffusing[:2]
    with pytest.raises(error, match=message):
        nd.ode.solver(brusselator, method="Rodas5P", inplace=True, jac_sparsity=pattern)(
            y, (0.0, 1.0), (p,)
        )
