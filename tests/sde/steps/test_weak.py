"""Weak orders without sampling: expectations over the noise of a step by quadrature."""

import itertools
import math

import numpy as np
import pytest
from numba import njit
from scipy.linalg import expm

import numbad as nd
from numbad.sde.methods import find_scheme

METHODS = pytest.mark.parametrize("method", ["RI1", "DRI1", "NON"])
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

DRIFT = np.array([[-0.7, 0.4], [0.2, -0.3]])
COLUMNS = np.array(  # they do not commute
    [[[0.5, 0.3], [-0.2, 0.4]], [[0.1, -0.6], [0.5, 0.2]], [[0.2, 0.1], [0.7, -0.3]]]
)


@njit
def _linear(t, y):
    return DRIFT[0, 0] * y[0] + DRIFT[0, 1] * y[1], DRIFT[1, 0] * y[0] + DRIFT[1, 1] * y[1]


@njit
def _two_channels(t, y):
    first, second = COLUMNS[0], COLUMNS[1]
    return (
        (first[0, 0] * y[0] + first[0, 1] * y[1], second[0, 0] * y[0] + second[0, 1] * y[1]),
        (first[1, 0] * y[0] + first[1, 1] * y[1], second[1, 0] * y[0] + second[1, 1] * y[1]),
    )


@njit
def _three_channels(t, y):
    (a, b), (c, d) = _two_channels(t, y)
    third = COLUMNS[2]
    return (a, b, third[0, 0] * y[0] + third[0, 1] * y[1]), (
        c,
        d,
        third[1, 0] * y[0] + third[1, 1] * y[1],
    )


def _moments_of_step(method, channels, h):
    """E of M x M over the noise of a step, where the step is the linear map M: a polynomial in the noise."""
    diffusion = _two_channels if channels == 2 else _three_channels
    given = {"noise": "general", "calculus": find_scheme(method).calculus}
    solve = nd.sde.solver(_linear, diffusion, method=method, dt=h, **given)

    @njit
    def end(first, second, ws, hs):
        return solve((first, second), (0.0, h), (), (ws, hs))[-1]

    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    weights, total = weights / weights.sum(), np.zeros((4, 4))
    for at in np.ndindex((6,) * channels):
        ws, weight = math.sqrt(h) * nodes[[at]], np.prod(weights[[at]]) / 2.0**channels
        for signs in itertools.product((-1.0, 1.0), repeat=channels):
            hs = np.array([signs])
            step = np.column_stack([end(1.0, 0.0, ws, hs), end(0.0, 1.0, ws, hs)])
            total += weight * np.kron(step, step)
    return total


@pytest.mark.deep(but=["3-RI1", "3-NON"])
@METHODS
@pytest.mark.parametrize("channels", [2, 3])
def test_second_moments_of_a_linear_system(method, channels):
    """Of three channels, areas of pairs with one in common are uncorrelated, or the order is 1."""
    one, columns, drift = np.eye(2), COLUMNS[:channels], DRIFT
    if find_scheme(method).calculus == "stratonovich":
        drift = DRIFT + 0.5 * sum(column @ column for column in columns)
    generator = np.kron(drift, one) + np.kron(one, drift)
    generator = generator + sum(np.kron(column, column) for column in columns)
    exact, errors = expm(generator), []
    for steps in (4, 8, 16):
        found = np.linalg.matrix_power(_moments_of_step(method, channels, 1.0 / steps), steps)
        errors.append(np.abs(found - exact).max())
    assert errors[0] < 0.02
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders[-1] == pytest.approx(2.0, abs=0.15)


@njit
def _wave_drift(t, x):
    return -0.36 * math.sin(x) * math.cos(x) ** 3


@njit
def _wave(t, x):
    return 0.6 * math.cos(x) ** 2


@METHODS
def test_one_step_of_a_nonlinear_equation(method):
    """The solution is atan(0.6 W + tan x0), Kloeden & Platen (1992), 4.4; a step errs by h**3 in the mean."""
    solve = nd.sde.solver(_wave_drift, _wave, method=method, dt=1.0)

    @njit
    def end(h, w):
        return solve(0.4, (0.0, h), (), (np.array([[w]]), np.array([[1.0]])))[-1, 0]

    errors = []
    for h in (0.125, 0.0625, 0.03125):
        ws = math.sqrt(h) * NODES
        found = np.array([end(h, w) for w in ws])
        exact = np.arctan(0.6 * ws + math.tan(0.4))
        errors.append(
            max(abs(WEIGHTS @ (test(found) - test(exact))) for test in (np.sin, np.exp, np.square))
        )
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders[-1] > 2.8
    assert errors[0] < 2e-4


@pytest.mark.parametrize("method", ["DRI1", pytest.param("NON", marks=pytest.mark.deep)])
def test_diagonal_noise_is_that_of_a_matrix(method):
    drift = njit(lambda t, y: (y[1] - y[0], math.sin(t) * y[0]))
    noise = njit(lambda t, y: (0.3 * y[0] + t, 0.2 * math.cos(y[1])))
    matrix = njit(lambda t, y: ((0.3 * y[0] + t, 0.0), (0.0, 0.2 * math.cos(y[1]))))
    rng = np.random.default_rng(3)
    path = tuple(rng.normal(size=(8, 2)) * math.sqrt(0.125 / k) for k in (1.0, 12.0))
    found = [
        nd.sde.solver(drift, diffusion, method=method, noise=kind, dt=0.125)(
            (1.0, 0.5), (0.0, 1.0), (), path
        )[-1]
        for diffusion, kind in ((noise, "diagonal"), (matrix, "general"))
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.deep
def test_slopes_in_both_modes():
    drift = njit(lambda t, y, a: (a * y[1] - y[0], -y[0] * y[1]))
    noise = njit(lambda t, y, a: ((0.3 * y[0], a), (0.1 * y[1], 0.2 * y[0])))
    solve = nd.sde.solver(drift, noise, method="RI1", noise="general", dt=0.125)
    key = nd.random.key(5)

    def end(a):
        return solve((1.0, 0.5), (0.0, 1.0), (a,), key)[-1].sum()

    forward, reverse = nd.derivative(end)(0.4), nd.grad(end, mode="reverse")(0.4)
    assert reverse == pytest.approx(forward, rel=1e-12)
    assert forward == pytest.approx((end(0.4 + 1e-6) - end(0.4 - 1e-6)) / 2e-6, rel=1e-7)


def test_matrices_in_arrays_are_refused():
    solve = nd.sde.solver(
        njit(lambda t, y: -y), njit(lambda t, y: np.eye(2)), method="RI1", noise="general", dt=0.1
    )
    with pytest.raises(nd.ModelError, match="for states in tuples, not in arrays. Ways out"):
        solve(np.ones(2), (0.0, 1.0), (), nd.random.key(1))
