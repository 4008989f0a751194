"""Rosenbrock methods: stiff systems, and their derivatives, against closed forms and other codes."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.ode.methods import ROSENBROCK
from tests.ode.test_tableau import density, elementary_weights, interpolation_weights, trees

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


@pytest.fixture(params=ROSENBROCK, ids=lambda method: method.name)
def rosenbrock(request):
    return request.param


# -- Rosenbrock methods --------------------------------------------------------------------------


def rosenbrock_residuals(method, weights, order, theta=1.0):
    """What is left of the order conditions for u = Gamma k, in the coefficients of the k."""
    stages = method.stages
    a = np.zeros((stages, stages))
    inverse = np.eye(stages) / method.gamma
    for i in range(stages):
        a[i, :i] = method.a[i]
        inverse[i, :i] -= method.couplings[i]
    gammas = np.linalg.inv(inverse)
    alpha, b = a @ gammas, np.asarray(weights) @ gammas
    np.testing.assert_allclose(alpha.sum(axis=1), method.c, atol=1e-12)
    np.testing.assert_allclose(gammas.sum(axis=1), method.d, atol=1e-12)
    return np.array(
        [
            b @ elementary_weights(alpha, tree, alpha + gammas) - theta**order / density(tree)
            for tree in trees(order)
        ]
    )


def test_order_of_rosenbrock_methods(rosenbrock):
    solution, embedded = np.array(rosenbrock.b), np.array(rosenbrock.b) - rosenbrock.error
    for weights, its_order in (solution, rosenbrock.order), (embedded, rosenbrock.embedded_order):
        for order in range(1, its_order + 1):
            assert np.abs(rosenbrock_residuals(rosenbrock, weights, order)).max() < 1e-11
        assert np.abs(rosenbrock_residuals(rosenbrock, weights, its_order + 1)).max() > 1e-6


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.83])
def test_order_of_the_interpolant_of_rosenbrock_methods(rosenbrock, theta):
    weights = interpolation_weights(rosenbrock, theta)[: rosenbrock.stages]
    for order in range(1, rosenbrock.dense_order + 1):
        left = rosenbrock_residuals(rosenbrock, weights, order, theta)
        assert np.abs(left).max() < 1e-11
    ends = interpolation_weights(rosenbrock, 1.0)[: rosenbrock.stages]
    np.testing.assert_allclose(ends, rosenbrock.b, rtol=1e-12)
