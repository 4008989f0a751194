"""The adjoint of Rosenbrock steps: the derivative of the steps taken, as forward mode has it."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from tests.ode.adjoints.test_discrete import TIMES, WEIGHTS, assert_as_forward
from tests.ode.test_rosenbrock import ROBERTSON, SLOPES, robertson
from tests.ode.test_rosenbrock import TIMES as ROBERTSON_TIMES


@pytest.mark.dear
def test_robertson_against_references():
    """A row of the sensitivities at 1e5, where they come from another code and method."""
    solve = nd.ode.solver(robertson, method="Rodas5P", rtol=1e-8, atol=1e-12)

    def loss(y0, k):
        return solve(y0, ROBERTSON_TIMES, (k[0], k[1], k[2]))[-1, 2]

    start, rates = (1.0, 0.0, 0.0), np.array(ROBERTSON)
    by_start, by_rates = nd.grad(loss, argnums=(0, 1), mode="reverse")(start, rates)
    np.testing.assert_allclose(by_rates, SLOPES[1, 2], rtol=1e-6)
    assert sum(by_start) / 3 == pytest.approx(0.98, rel=0.02)  # nearly all of the mass is there


def forced(t, y, rate, k):
    """Stiff in its first component, which follows the time and the second one."""
    first = -1e3 * rate * (y[0] - math.sin(k * t)) + y[1] * y[1]
    return first, math.cos(rate * t) * y[0] - y[0] * y[1]


@pytest.mark.dear
@pytest.mark.deep(but=["Rosenbrock23"])
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas4", "Rodas5P"])
def test_a_slope_that_depends_on_time(method):
    """In tuples, by the start, arguments and all times, with outputs within steps; and backwards."""
    solve = nd.ode.solver(forced, method=method, rtol=1e-3, atol=1e-5)

    def loss(y0, ts, rate):
        return (WEIGHTS * solve(y0, ts, (rate, 2))).sum()

    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), TIMES, 0.7)
    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), -1e-3 * TIMES, 0.7)


# Neighbours in a row of cells that are numbered in another order.
ORDER = np.random.default_rng(3).permutation(12)
LEFT, RIGHT = np.empty(12, int), np.empty(12, int)
LEFT[ORDER], RIGHT[ORDER] = ORDER[[0, *range(11)]], ORDER[[*range(1, 12), 11]]


def diffusing(t, y, dy, spread, growth):
    for i in range(len(y)):
        flow = spread[i] * (y[LEFT[i]] - 2.0 * y[i] + y[RIGHT[i]])
        dy[i] = 300.0 * flow + growth * math.sin(t) * y[i] * (1.0 - y[RIGHT[i]])


CELLS = np.linspace(0.2, 1.8, 12)
SPREAD = np.linspace(0.5, 1.5, 12)
BAND = np.eye(12)
BAND[np.arange(12), LEFT] = BAND[np.arange(12), RIGHT] = 1.0


def diffusing_loss(form):
    """A loss; with a Jacobian that is dense, sparse in a band, or sparse without a narrow one."""
    pattern = BAND if form == "band" else np.ones((12, 12))
    options = {} if form == "dense" else {"jac_sparsity": pattern}
    solve = nd.ode.solver(diffusing, method="Rosenbrock23", inplace=True, rtol=1e-3, **options)

    def loss(y0, spread, growth):
        ys = solve(y0, TIMES, (spread, growth))
        return (ys * ys * ys).sum()

    return numba.njit(loss)


@pytest.mark.dear
@pytest.mark.deep(but=["dense"])
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


def algebraic(t, y, rate):
    """Its second equation has no derivative."""
    return -rate * y[0] * y[1] + math.sin(t), y[0] + y[1] ** 3 - 2.0 * rate


@pytest.mark.deep
def test_mass_matrices():
    """Singular, and not symmetric."""
    solve = nd.ode.solver(
        algebraic, method="Rosenbrock23", rtol=1e-4, mass_matrix=np.diag([1.0, 0.0])
    )

    def loss(rate):
        return (WEIGHTS * solve((rate, rate ** (1.0 / 3.0)), TIMES, rate)).sum()

    assert_as_forward(loss, 0, 0.7)
    mass = np.array([[2.0, 1.0], [0.3, 1.0]])
    mixed = nd.ode.solver(forced, method="Rosenbrock23", rtol=1e-3, mass_matrix=mass)
    assert_as_forward(lambda y0: (WEIGHTS * mixed(y0, TIMES, (0.7, 2))).sum(), 0, (1.3, 0.2))
    assert_as_forward(lambda ts: (WEIGHTS * mixed((1.3, 0.2), ts, (0.7, 2))).sum(), 0, TIMES)


def rotating(t, y, p):
    return p * y[0] * y[0] + 1j * y[1] * math.sin(t), -y[0] * p


@pytest.mark.deep
def test_complex_states():
    solve = nd.ode.solver(rotating, method="Rosenbrock23", rtol=1e-4)

    def loss(x):
        return (WEIGHTS * solve((x[0] + 0.2j * x[1], x[1] + 0.1j), TIMES, x[2])).real.sum()

    assert_as_forward(loss, 0, np.array([0.3, 0.2, 0.7]))


@pytest.mark.deep
def test_doses_at_times_that_are_differentiated():
    """Events cut the solution into segments, each with its record."""

    def dosed(t, y, k, amount, when, fast, slow):
        return y[0] + amount, y[1]

    def transit(t, y, amount, when, fast, slow):
        return -fast * y[0], fast * y[0] - slow * y[1]

    dose = nd.ode.at_times(lambda amount, when, fast, slow: when, change=dosed)
    solve = nd.ode.solver(transit, method="Rodas5P", rtol=1e-8, atol=1e-10, events=dose)

    def level(amount, when, fast, slow):
        return solve((0.0, 0.0), (0.0, 3.0), (amount, when, fast, slow))[-1, 1]

    def closed(amount, when, fast, slow):
        after = 3.0 - when
        return amount * fast / (slow - fast) * (math.exp(-fast * after) - math.exp(-slow * after))

    given = 2.0, 0.8, 50.0, 0.7
    found, expected = (
        nd.grad(f, argnums=(0, 1, 2, 3), mode=mode)(*given)
        for f, mode in ((level, "reverse"), (closed, "forward"))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)
