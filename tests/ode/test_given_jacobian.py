"""`jac=`: the user's Jacobian makes the steps, and no derivative."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.errors import ArgumentError

TIMES = np.array([0.0, 1.0, 3.0])
START = np.array([1.0, 0.0])


@numba.njit
def forced(t, y, stiffness):
    """y = cos t, and a component that follows it, (cos t + sin t - exp(-t)) / 2."""
    return np.array([-stiffness * (y[0] - math.cos(t)) - math.sin(t), y[0] - y[1]])


@numba.njit
def exact(t, y, stiffness):
    return np.array([[-stiffness, 0.0], [1.0, -1.0]])


@numba.njit
def roughly(t, y, stiffness):
    return np.array([[-1.1 * stiffness, 0.0], [0.9, -1.0]])


@numba.njit
def one_row(t, y, stiffness):
    return np.array([[-stiffness, 0.0]])


def follower(t):
    return 0.5 * (np.cos(t) + np.sin(t) - np.exp(-t))


@pytest.fixture(scope="module")
def rosenbrock():
    return nd.ode.solver(forced, method="Rosenbrock23", rtol=1e-5, atol=1e-8, jac=exact)


@pytest.fixture(scope="module")
def newton():
    return nd.ode.solver(forced, method="RadauIIA5", rtol=1e-9, atol=1e-11, jac=roughly)


@pytest.mark.dear
def test_steps_rest_on_the_jacobian_given(rosenbrock):
    """Of a right-hand side that reads the time, whose derivative by it is our own."""
    ys = rosenbrock(START, TIMES, 1e4)
    np.testing.assert_allclose(ys[:, 1], follower(TIMES), atol=1e-4)


@pytest.mark.deep
def test_derivatives_rest_on_our_own(rosenbrock):
    def end(start):
        return rosenbrock(np.array([1.0, start]), TIMES, 1e4)[-1, 1]

    slopes = [nd.grad(end, mode=mode)(0.0) for mode in ("forward", "reverse")]
    np.testing.assert_allclose(slopes, math.exp(-3.0), rtol=1e-4)
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-10)


@pytest.mark.deep
def test_newtons_method_takes_what_is_near_the_jacobian(newton):
    ys = newton(START, TIMES, 1e4)
    np.testing.assert_allclose(ys[:, 1], follower(TIMES), atol=1e-8)
    own = nd.ode.solver(forced, method="RadauIIA5", rtol=1e-9, atol=1e-11)(START, TIMES, 1e4)
    assert np.any(ys != own)  # it is what the steps rest on


@pytest.mark.deep
def test_derivatives_beside_a_jacobian_that_is_near(newton):
    def end(start):
        return newton(np.array([1.0, start]), TIMES, 1e4)[-1, 1]

    slope = nd.derivative(end)(0.0)
    np.testing.assert_allclose(slope, math.exp(-3.0), rtol=1e-7)


@pytest.mark.parametrize(
    ("jac", "error", "message"),
    [
        (roughly, nd.IntegrationError, "does not return the Jacobian of the right-hand side"),
        pytest.param(
            one_row,
            nd.ModelError,
            r"must return an array of shape \(n, n\)",
            marks=pytest.mark.deep,
        ),
        (lambda t, y, stiffness: y, nd.ModelError, r"must return an array of shape \(n, n\)"),
        (lambda t, y: y, nd.ModelError, "Numba cannot compile"),
        ("exact", ArgumentError, 'jac must be "auto"'),
        (np.ones((2, 3)), ArgumentError, 'jac must be "auto"'),
    ],
)
def test_jacobians_that_are_refused(jac, error, message):
    with pytest.raises(error, match=message):
        nd.ode.solver(forced, method="Rosenbrock23", jac=jac)(START, TIMES, 1e4)


def test_options_that_a_jacobian_does_not_go_with():
    with pytest.raises(ArgumentError, match="jac needs an implicit method"):
        nd.ode.solver(forced, jac=exact)
    with pytest.raises(ArgumentError, match="do not go together"):
        nd.ode.solver(forced, method="Rodas5P", jac=exact, jac_sparsity=np.eye(2))


@pytest.mark.deep
def test_a_constant_jacobian_as_in_scipy():
    """y' = A y, of a right-hand side that the time does not move."""
    A = np.array([[-100.0, 1.0], [0.0, -1.0]])
    found = nd.ode.solve_ivp(
        lambda t, y: (-100.0 * y[0] + y[1], -y[1]),
        (0.0, 1.0),
        [1.0, 1.0],
        method="Rosenbrock23",
        jac=A,
        rtol=1e-6,
        atol=1e-9,
    )
    assert found.y[1, -1] == pytest.approx(math.exp(-1.0), rel=1e-4)
