"""Consistent initial states, against closed forms."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.errors import ArgumentError

MASS = np.diag([1.0, 0.0])


def cubic(t, y, p):
    """The second component is the cube root of p y[0]**2 + t."""
    return -y[0] + t, p * y[0] ** 2 + t - y[1] ** 3


@pytest.fixture(scope="module")
def solve():
    return nd.ode.solver(cubic, method="Rodas5P", rtol=1e-9, atol=1e-9, mass_matrix=MASS)


X = np.array([1.3, 0.7, 0.4])  # the first component, p and the time


def closed(x):
    return (x[1] * x[0] ** 2 + x[2]) ** (1.0 / 3.0)


@pytest.mark.dear
def test_value_and_derivatives_in_both_modes(solve):
    def second(x):
        return nd.ode.consistent_state(solve, (x[0], 1.0), x[1], x[2])[1]

    assert second(X) == pytest.approx(closed(X), rel=1e-14)
    expected = [closed(X + 1e-30j * row).imag / 1e-30 for row in np.eye(3)]
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(nd.grad(second, mode=mode)(X), expected, rtol=1e-12)


@pytest.mark.deep
def test_second_order(solve):
    def second(x):
        return nd.ode.consistent_state(solve, (x[0], 1.0), x[1], x[2])[1]

    np.testing.assert_allclose(nd.hessian(second)(X), nd.hessian(closed)(X), rtol=1e-10)


@pytest.mark.dear
def test_a_solution_begins_there(solve):
    """From Python and compiled code; y' = -y + t has the solution (y0 + 1) exp(-t) + t - 1."""

    @njit
    def end(first):
        start = nd.ode.consistent_state(solve, (first, 1.0), 0.7)
        return solve(start, (0.0, 1.0), 0.7)[-1]

    first = 2.2 * np.exp(-1.0)
    np.testing.assert_allclose(end(1.2), [first, closed([first, 0.7, 1.0])], rtol=1e-7)
    np.testing.assert_allclose(
        nd.ode.consistent_state(solve, [1.2, 1.0], 0.7), [1.2, closed([1.2, 0.7, 0.0])], rtol=1e-14
    )


@pytest.mark.deep
def test_matrices_and_complex_states():
    def fun(t, y):
        return np.array([[-y[0, 0], y[0, 0] - y[0, 1]]])

    of_matrices = nd.ode.solver(fun, method="Rodas5P", mass_matrix=MASS)
    found = nd.ode.consistent_state(of_matrices, np.array([[3.0, 0.0]]))
    np.testing.assert_allclose(found, [[3.0, 3.0]])
    of_complex = nd.ode.solver(
        lambda t, y: (-y[0], y[1] * y[1] - y[0]), method="Rodas5P", mass_matrix=MASS
    )
    found = nd.ode.consistent_state(of_complex, (2.0j, 1.0 + 0.5j))
    np.testing.assert_allclose(found, [2.0j, 1.0 + 1.0j], rtol=1e-14)


def test_what_is_refused(solve):
    with pytest.raises(ArgumentError, match="no algebraic equations"):
        nd.ode.consistent_state(nd.ode.solver(cubic), (1.0, 1.0), 0.7)
    with pytest.raises(ArgumentError, match="takes what nd.ode.solver returned"):
        nd.ode.consistent_state(cubic, (1.0, 1.0), 0.7)
    with pytest.raises(nd.ModelError, match="cubic"):
        nd.ode.consistent_state(solve, (1.0, 1.0))  # without p
    with pytest.raises(nd.IntegrationError, match="not of index 1"):
        nd.ode.consistent_state(solve, (1.0, 0.0), 0.7)
    with pytest.raises(nd.IntegrationError, match=r"consistent_state finds what is missing"):
        solve((1.0, 1.0), (0.0, 1.0), 0.7)
