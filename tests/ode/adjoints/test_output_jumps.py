"""Continuous adjoints beside mass matrices: outputs of algebraic components, against closed forms."""

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array

import numbad as nd
from numbad.errors import ArgumentError

MASS = np.array([[2.0, 1.0, 0.5], [0.3, 1.0, 0.0], [0.0, 0.0, 0.0]])
WEIGHTS = np.cos(np.arange(9.0)).reshape(3, 3)
TIMES = np.array([0.1, 0.7, 1.6])
X = np.array([1.2, 0.8, 0.9, 1.4, 0.5, *TIMES])


@njit
def product(t, y, dy, rate, p):
    """u' = -rate u, v' = p[1], and w = p[0] u v, which M mixes."""
    u, v, w = y[0], y[1], y[2]
    du, dv, dw = -rate * u, p[1], p[0] * p[1] * u - rate * w
    dy[0] = 2.0 * du + dv + 0.5 * dw
    dy[1] = 0.3 * du + dv
    dy[2] = p[0] * u * v - w


def product_solution(x):
    passed = x[5:] - x[5]
    u, v = x[0] * np.exp(-x[2] * passed), x[1] + x[4] * passed
    return np.stack([u, v, x[3] * u * v], axis=1)


def gradient(x):
    """By complex steps, of the closed form."""
    moved = (x + 1e-30j * row for row in np.eye(len(x)))
    return np.array([(WEIGHTS * product_solution(each)).sum().imag / 1e-30 for each in moved])


def loss_of(tolerance=1e-8, mass=MASS, **options):
    solve = nd.ode.solver(
        product, inplace=True, mass_matrix=mass, rtol=tolerance, atol=tolerance, max_steps=10**6,
        **options,
    )  # fmt: skip

    def loss(x, times):
        y0 = np.array([x[0], x[1], x[3] * x[0] * x[1]])
        return (WEIGHTS * solve(y0, times, (x[2], x[3:5]))).sum()

    return loss


@pytest.mark.dear
@pytest.mark.deep(but=["Rodas5P-gauss"])
@pytest.mark.parametrize("adjoint", ["gauss", "quadrature", "interpolating"])
@pytest.mark.parametrize("method", ["Rodas5P", "RadauIIA5", "BDF"])
def test_all_components_and_times_against_the_closed_form(method, adjoint):
    operator = nd.grad(loss_of(method=method, adjoint=adjoint), argnums=(0, 1), mode="reverse")
    found, expected = np.concatenate(operator(X[:5].copy(), TIMES)), gradient(X)
    assert abs(found - expected).max() < 1e-6 * abs(expected).max(), found - expected


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["gauss", "interpolating"])
def test_a_matrix_of_other_units(adjoint):
    """A rotation by equations multiplied by 1e9, which have lambda divided by it; its tolerances follow."""
    mass = 1e9 * MASS[:2, :2]

    def rotation(t, y, speed):
        u, v = speed * y[1], -speed * y[0]
        return mass[0, 0] * u + mass[0, 1] * v, mass[1, 0] * u + mass[1, 1] * v

    solve = nd.ode.solver(
        rotation, method="Rodas5P", mass_matrix=mass, rtol=1e-8, atol=1e-8, adjoint=adjoint
    )

    def end(x):
        return solve((x[0], x[1]), (0.0, 5.0), (x[2],))[-1, 0]

    def closed(x):
        return x[0] * np.cos(5.0 * x[2]) + x[1] * np.sin(5.0 * x[2])

    x = np.array([1.0, 0.5, 1.3])
    np.testing.assert_allclose(nd.grad(end, mode="reverse")(x), nd.grad(closed)(x), rtol=1e-5)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Rodas5P", "RadauIIA5"])
@pytest.mark.parametrize("adjoint", ["gauss", "interpolating"])
def test_second_order(method, adjoint):
    loss = loss_of(1e-9, method=method, adjoint=adjoint)
    along, x = np.array([1.0, 0.8, 0.6, 0.4, 0.1]), X[:5].copy()
    moved = nd.jvp(nd.grad(loss, mode="reverse"), argnums=0)((x, TIMES), (along,))[1]
    step = 1e-5 * np.append(along, np.zeros(3))
    expected = (gradient(X + step) - gradient(X - step))[:5] / 2e-5
    np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.deep
def test_a_sparse_matrix():
    pattern = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 1]])
    options = dict(method="Rodas5P", adjoint="gauss", jac_sparsity=pattern)
    loss = loss_of(mass=csr_array(MASS), **options)
    found, expected = nd.grad(loss, mode="reverse")(X[:5].copy(), TIMES), gradient(X)[:5]
    assert abs(found - expected).max() < 1e-6 * abs(expected).max()


@pytest.mark.deep
def test_events_beside_algebraic_equations():
    """At a time that is differentiated half of u goes; w follows."""
    half = nd.ode.at_times(
        lambda rate, p, when: when, change=lambda t, y, k, rate, p, when: np.array([0.5 * y[0], y[1], y[2]])
    )  # fmt: skip

    def fun(t, y, rate, p, when):
        return np.array([-rate * y[0], p[1], p[0] * y[0] * y[1] - y[2]])

    solve = nd.ode.solver(
        fun, method="Rodas5P", mass_matrix=np.diag([1.0, 1.0, 0.0]), rtol=1e-8, atol=1e-8,
        events=half, adjoint="gauss",
    )  # fmt: skip

    def loss(x):
        y0 = np.array([x[0], x[1], x[3] * x[0] * x[1]])
        return (WEIGHTS * solve(y0, TIMES, (x[2], x[3:5], x[5]))).sum()

    def closed(x):
        ys = product_solution(np.append(x[:5], TIMES))
        return (WEIGHTS * ys * np.array([[1.0], [0.5], [0.5]]) ** np.array([1, 0, 1])).sum()

    x = np.append(X[:5], 0.4)
    expected = [closed(x + 1e-30j * row).imag / 1e-30 for row in np.eye(6)]
    np.testing.assert_allclose(nd.grad(loss, mode="reverse")(x), expected, rtol=1e-5, atol=1e-6)


def test_a_singular_matrix_without_rows_of_zeros_is_refused():
    with pytest.raises(ArgumentError, match="adjoint=.gauss. beside a singular.*Way out"):
        loss_of(mass=np.ones((3, 3)), method="Rodas5P", adjoint="gauss")
