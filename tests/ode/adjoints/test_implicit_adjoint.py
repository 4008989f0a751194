"""The adjoint of steps of implicit stages: the derivative of the steps taken, as forward mode has it."""

import numba
import numpy as np
import pytest

import numbad as nd
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

METHODS = pytest.mark.parametrize("method", ["RadauIIA5", "KenCarp4"])


@pytest.mark.dear
@pytest.mark.deep(but=["RadauIIA5"])
@METHODS
def test_a_decay_against_its_closed_form(method):
    """By the start and the rate; `y0 exp(-k t)`."""
    solve = nd.ode.solver(lambda t, y, k: (-k * y[0],), method=method, rtol=1e-9, atol=1e-12)

    def end(y0, k):
        return solve((y0,), TIMES, k)[-1, 0]

    left, t = np.exp(-0.7 * (TIMES[-1] - TIMES[0])), TIMES[-1] - TIMES[0]
    by_start, by_rate = nd.grad(end, argnums=(0, 1), mode="reverse")(1.3, 0.7)
    assert by_start == pytest.approx(left, rel=1e-7)
    assert by_rate == pytest.approx(-t * 1.3 * left, rel=1e-7)


@pytest.mark.deep
@METHODS
def test_a_slope_that_depends_on_time(method):
    """In tuples, by the start, arguments and all times, with outputs within steps; and backwards."""
    solve = nd.ode.solver(forced, method=method, rtol=1e-3, atol=1e-5, adjoint="discrete")

    def loss(y0, ts, rate):
        return (WEIGHTS * solve(y0, ts, (rate, 2))).sum()

    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), TIMES, 0.7)
    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), -1e-3 * TIMES, 0.7)


@pytest.mark.deep
def test_robertson_against_references():
    """A row of the sensitivities at 1e5, where they come from another code and method."""
    solve = nd.ode.solver(robertson, method="RadauIIA5", rtol=1e-8, atol=1e-12)

    def loss(k):
        return solve((1.0, 0.0, 0.0), ROBERTSON_TIMES, (k[0], k[1], k[2]))[-1, 2]

    by_rates = nd.grad(loss, mode="reverse")(np.array(ROBERTSON))
    np.testing.assert_allclose(by_rates, SLOPES[1, 2], rtol=1e-6)


def diffusing_loss(method, **options):
    solve = nd.ode.solver(diffusing, method=method, inplace=True, rtol=1e-3, **options)

    def loss(y0, spread, growth):
        ys = solve(y0, TIMES, (spread, growth))
        return (ys * ys * ys).sum()

    return numba.njit(loss)


@pytest.mark.deep
@METHODS
def test_states_in_arrays(method):
    """By a start and parameters in arrays and by a number."""
    assert_as_forward(diffusing_loss(method, adjoint="discrete"), (0, 1, 2), CELLS, SPREAD, 0.7)


@pytest.mark.deep
def test_hessian_vector_product():
    """Forward over reverse against forward over forward."""
    loss = diffusing_loss("RadauIIA5")

    def small(q):
        return loss(CELLS + q[0] * CELLS[::-1], SPREAD * q[1], q[2])

    point, along = np.array([0.1, 0.9, 0.7]), np.array([0.3, -0.2, 0.5])
    found, expected = (
        nd.jvp(nd.grad(small, mode=mode))((point,), (along,))[1] for mode in ("reverse", "forward")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("method", "form"), [("RadauIIA5", "band"), ("RadauIIA5", "whole"), ("KenCarp4", "band")]
)
def test_sparse_jacobians(method, form):
    """Within a band, whose stages lie side by side, and without one."""
    pattern = np.ones((12, 12)) if form == "whole" else BAND
    loss = diffusing_loss(method, jac_sparsity=pattern, adjoint="discrete")
    assert_as_forward(loss, (0, 1, 2), CELLS, SPREAD, 0.7)


@pytest.mark.deep
def test_mass_matrices():
    """Singular, and not symmetric."""
    solve = nd.ode.solver(algebraic, method="RadauIIA5", rtol=1e-4, mass_matrix=np.diag([1.0, 0.0]))

    def loss(rate):
        return (WEIGHTS * solve((rate, rate ** (1.0 / 3.0)), TIMES, rate)).sum()

    assert_as_forward(loss, 0, 0.7)
    mass = np.array([[2.0, 1.0], [0.3, 1.0]])
    mixed = nd.ode.solver(forced, method="RadauIIA5", rtol=1e-3, mass_matrix=mass)
    assert_as_forward(lambda y0: (WEIGHTS * mixed(y0, TIMES, (0.7, 2))).sum(), 0, (1.3, 0.2))
