"""The adjoint of backward differentiation of variable order: the derivative of the steps taken."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.ode import multistep
from tests.ode.adjoints.test_discrete import TIMES, WEIGHTS, assert_as_forward
from tests.ode.adjoints.test_rosenbrock_adjoint import (
    BAND,
    CELLS,
    SPREAD,
    algebraic,
    diffusing,
    forced,
)
from tests.ode.test_rosenbrock import ROBERTSON, SLOPES, robertson
from tests.ode.test_rosenbrock import TIMES as ROBERTSON_TIMES

change_size = numba.njit(lambda T, order, factor: multistep.rescale(T, order, factor))
put_rescaling = numba.njit(lambda R, order, factor: multistep.put_rescaling(R, order, factor))


@pytest.mark.parametrize("order", [1, 3, 5])
def test_the_matrix_of_a_change_of_step_size(order):
    """Its columns are what becomes of the unit vectors."""
    T, R = np.zeros((multistep.DIFFERENCES + 8, order)), np.zeros((5, 5))
    first = multistep.DIFFERENCES + 1
    T[first : first + order] = np.eye(order)
    change_size(T, order, 1.7)
    put_rescaling(R, order, 1.7)
    np.testing.assert_allclose(R[:order, :order], T[first : first + order], rtol=1e-13, atol=1e-13)


ROBERTSON_GIVEN = (1.0, 0.0, 0.0), np.array(ROBERTSON)
solve_robertson = nd.ode.solver(robertson, method="BDF", rtol=1e-8, atol=1e-12)


def robertson_loss(y0, k):
    ys = solve_robertson(y0, ROBERTSON_TIMES, (k[0], k[1], k[2]))
    return ys[1, 2] + ys[2, 2]  # within a step, and at the end of the last one


@pytest.mark.dear
def test_robertson_against_references():
    """By the rates, at orders up to 5, where slopes at 100 and 1e5 come from another code and method."""
    by_rates = nd.grad(robertson_loss, argnums=1, mode="reverse")(*ROBERTSON_GIVEN)
    np.testing.assert_allclose(by_rates, SLOPES[0, 2] + SLOPES[1, 2], rtol=3e-6)


@pytest.mark.deep
def test_robertson_as_forward_mode_has_it():
    """By the start, too."""
    assert_as_forward(robertson_loss, (0, 1), *ROBERTSON_GIVEN)


@pytest.mark.deep
def test_a_slope_that_depends_on_time():
    """In tuples, by the start, arguments and all times, with outputs within steps; and backwards."""
    solve = nd.ode.solver(forced, method="BDF", rtol=1e-3, atol=1e-5, adjoint="discrete")

    def loss(y0, ts, rate):
        return (WEIGHTS * solve(y0, ts, (rate, 2))).sum()

    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), TIMES, 0.7)
    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), -1e-3 * TIMES, 0.7)


def diffusing_loss(form):
    pattern = BAND if form == "band" else np.ones((12, 12))
    options = {} if form == "dense" else {"jac_sparsity": pattern}
    solve = nd.ode.solver(diffusing, method="BDF", inplace=True, rtol=1e-3, **options)

    def loss(y0, spread, growth):
        ys = solve(y0, TIMES, (spread, growth))
        return (ys * ys * ys).sum()

    return numba.njit(loss)


@pytest.mark.deep
@pytest.mark.parametrize("form", ["dense", "band", "sparse"])
def test_states_in_arrays(form):
    """By a start and parameters in arrays and by a number."""
    assert_as_forward(diffusing_loss(form), (0, 1, 2), CELLS, SPREAD, 0.7)


@pytest.mark.deep
@pytest.mark.parametrize("form", ["dense", "band"])
def test_hessian_vector_product(form):
    """Forward over reverse against forward over forward."""
    loss = diffusing_loss(form)

    def small(q):
        return loss(CELLS + q[0] * CELLS[::-1], SPREAD * q[1], q[2])

    point, along = np.array([0.1, 0.9, 0.7]), np.array([0.3, -0.2, 0.5])
    found, expected = (
        nd.jvp(nd.grad(small, mode=mode))((point,), (along,))[1] for mode in ("reverse", "forward")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.deep
def test_mass_matrices():
    """Singular, and not symmetric."""
    solve = nd.ode.solver(algebraic, method="BDF", rtol=1e-4, mass_matrix=np.diag([1.0, 0.0]))

    def loss(rate):
        return (WEIGHTS * solve((rate, rate ** (1.0 / 3.0)), TIMES, rate)).sum()

    assert_as_forward(loss, 0, 0.7)
    mass = np.array([[2.0, 1.0], [0.3, 1.0]])
    mixed = nd.ode.solver(forced, method="BDF", rtol=1e-3, mass_matrix=mass)
    assert_as_forward(lambda y0: (WEIGHTS * mixed(y0, TIMES, (0.7, 2))).sum(), 0, (1.3, 0.2))


@pytest.mark.deep
def test_doses_at_times_that_are_differentiated():
    """A segment between events begins at order 1 again; against the closed form."""
    doses = nd.ode.at_times(lambda rate, at: (at,), change=lambda t, y, k, rate, at: y + 2.0)
    body = nd.ode.solver(
        lambda t, y, rate, at: -rate * y, events=doses, method="BDF", rtol=1e-10, atol=1e-12
    )

    def amount(x):
        return body(1.0, (0.0, 4.0), (x[0], x[1]))[-1, 0]

    found = nd.grad(amount, mode="reverse")(np.array([0.5, 1.0]))
    early, late = math.exp(-2.0), 2.0 * math.exp(-1.5)
    np.testing.assert_allclose(found, [-4.0 * early - 3.0 * late, 0.5 * late], rtol=1e-7)
