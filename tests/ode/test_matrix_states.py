"""States that are matrices, against exponentials, their Frechet derivatives and a Riccati equation."""

import numpy as np
import pytest
from scipy.linalg import expm, expm_frechet

import numbad as nd

A = np.array([[-1.0, 2.0], [0.3, -0.5]])
Y0 = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]])
WEIGHTS = np.array([[1.0, -2.0, 0.7], [0.5, 3.0, 0.2]])


def linear(t, y, a):
    return a @ y


def written(t, y, dy, a):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            dy[i, j] = 0.0
            for k in range(a.shape[1]):
                dy[i, j] += a[i, k] * y[k, j]


def by_matrix(end):
    """The derivative of the weighted sum of expm(end * A) @ Y0 by the entries of A."""
    units = np.eye(4).reshape(2, 2, 2, 2) * end
    return np.array(
        [[(WEIGHTS * (expm_frechet(end * A, e)[1] @ Y0)).sum() for e in row] for row in units]
    )


def weighted(solve):
    return lambda y0, a, end: (WEIGHTS * solve(y0, (0.0, end), (a,))[-1]).sum()


def check_gradient(solve, rtol):
    by_y0, by_a, by_end = nd.grad(weighted(solve), (0, 1, 2))(Y0, A, 1.5)
    flow = expm(1.5 * A)
    np.testing.assert_allclose(by_y0, flow.T @ WEIGHTS, rtol)
    np.testing.assert_allclose(by_a, by_matrix(1.5), rtol)
    np.testing.assert_allclose(by_end, (WEIGHTS * (A @ flow @ Y0)).sum(), rtol)


@pytest.mark.dear
def test_the_solution_has_the_shape_of_the_state():
    solve = nd.ode.solver(written, inplace=True, rtol=1e-9)
    times = np.array([0.0, 0.5, 1.0])
    exact = np.array([expm(t * A) @ Y0 for t in times])
    for y0 in (Y0, np.asfortranarray(Y0), Y0[::-1][::-1]):
        np.testing.assert_allclose(solve(y0, times, (A,)), exact, 1e-7)
    np.testing.assert_array_equal(solve(Y0, times, A), solve(Y0, times, (A,)))
    np.testing.assert_array_equal(solve(Y0[:, :1], times, A).shape, (3, 2, 1))


@pytest.mark.dear
def test_reverse_mode():
    check_gradient(nd.ode.solver(linear, method="RK4", first_step=0.01), 1e-7)


@pytest.mark.dear
@pytest.mark.deep(but=["start0"])
@pytest.mark.parametrize("start", [Y0[:, 0].copy(), Y0])
def test_operators_of_the_solver_itself(start):
    """A new one, which nothing has compiled yet."""
    options = dict(method="RK4", first_step=0.02 if start.ndim == 1 else 0.025)
    times, flow = np.array([0.0, 1.5]), expm(1.5 * A)
    weights = np.array([np.zeros_like(start), WEIGHTS.T[0] if start.ndim == 1 else WEIGHTS])
    value, (by_y0, *_) = nd.vjp(nd.ode.solver(linear, **options))((start, times, (A,)), weights)
    np.testing.assert_allclose(value[-1], flow @ start, 1e-6)
    np.testing.assert_allclose(by_y0, flow.T @ weights[-1], 1e-6)


@pytest.mark.deep
def test_jacobian_of_the_solver_itself():
    solve = nd.ode.solver(linear, method="RK4", first_step=0.02)
    found = nd.jacobian(solve, mode="reverse")(Y0, np.array([0.0, 1.5]), (A,))
    exact = np.einsum("ij,kl->ikjl", expm(1.5 * A), np.eye(3))
    np.testing.assert_allclose(found[-1], exact, atol=1e-6)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "RadauIIA5", "BDF", "AutoTsit5"])
def test_reverse_mode_by_method(method):
    solve = nd.ode.solver(linear, method=method, rtol=1e-9, atol=1e-11)
    check_gradient(solve, 1e-6)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_reverse_mode_where_the_slope_is_written(method):
    check_gradient(nd.ode.solver(written, method=method, inplace=True, rtol=1e-10), 1e-7)


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["forward", "gauss", "backsolve"])
def test_other_adjoints(adjoint):
    check_gradient(nd.ode.solver(linear, adjoint=adjoint, rtol=1e-10, atol=1e-10), 1e-6)


@pytest.mark.deep
def test_forward_mode():
    solve = nd.ode.solver(linear, method="RK4", first_step=0.01)
    along = np.array([[1.0, 0.0], [-2.0, 0.5]])
    value, slope = nd.jvp(weighted(solve), (1,))((Y0, A, 1.5), (along,))
    np.testing.assert_allclose(value, (WEIGHTS * (expm(1.5 * A) @ Y0)).sum(), 1e-8)
    np.testing.assert_allclose(slope, (by_matrix(1.5) * along).sum(), 1e-7)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Vern7", "Rodas5P", "KenCarp4"])
def test_riccati_equation(method):
    """Y' = Q + A Y + Y A^T - Y S Y is Y = Z X^-1 with (X, Z)' linear."""
    q, s = np.array([[1.0, 0.2], [0.2, 2.0]]), np.array([[0.5, 0.1], [0.1, 0.3]])
    start = np.array([[1.0, 0.3], [0.3, 0.6]])
    hamiltonian = np.block([[-A.T, s], [q, A]])
    x, z = np.vsplit(expm(2.0 * hamiltonian) @ np.vstack([np.eye(2), start]), 2)
    solve = nd.ode.solver(
        lambda t, y, q, s, a: q + a @ y + y @ a.T - y @ s @ y, method=method, rtol=1e-9, atol=1e-9
    )
    found = solve(start, (0.0, 2.0), (q, s, A))[-1]
    np.testing.assert_allclose(found, z @ np.linalg.inv(x), 1e-6)


@pytest.mark.deep
def test_more_dimensions_complex_states_and_a_jacobian():
    rates = np.arange(1.0, 13.0).reshape(2, 3, 2)
    solve = nd.ode.solver(lambda t, y, rates: 1j * rates * y, rtol=1e-9)
    found = solve(np.ones((2, 3, 2), complex), (0.0, 1.0), (rates,))[-1]
    np.testing.assert_allclose(found, np.exp(1j * rates), 1e-6)

    solve = nd.ode.solver(
        lambda t, y, rates: -rates * y,
        jac=lambda t, y, rates: np.diag(-rates.ravel()),
        method="Rodas5P",
        rtol=1e-8,
    )
    np.testing.assert_allclose(
        solve(np.ones((2, 3, 2)), (0.0, 0.5), (rates,))[-1], np.exp(-0.5 * rates), 1e-5
    )


@pytest.mark.deep
def test_events():
    """Doses to all entries, and a doubling where the last one falls to 2."""
    doses = nd.ode.at_times(lambda rate, when: when, change=lambda t, y, k, rate, when: y + 1.0)
    halved = nd.ode.event(
        lambda t, y, rate, when: y[1, 1] - 2.0,
        direction=-1,
        change=lambda t, y, rate, when: 2.0 * y,
    )
    solve = nd.ode.solver(
        lambda t, y, rate, when: -rate * y, events=[doses, halved], keep_events=3, rtol=1e-10
    )
    start = np.array([[1.0, 2.0], [3.0, 4.0]])

    def exact(rate, when):
        """Before, at and after the dose; the last entry then is doubled once, at a time that moves."""
        dosed = start * np.exp(-rate * when) + 1.0
        doubled = when + np.log(dosed[1, 1] / 2.0) / rate
        return doubled, dosed * np.exp(-rate * (1.5 - when)) * 2.0

    ys, times, states, numbers = solve(start, (0.0, 1.5), (1.1, 0.3))
    doubled, end = exact(1.1, 0.3)
    np.testing.assert_allclose(ys[-1], end, 1e-8)
    np.testing.assert_allclose(times[:2], (0.3, doubled), 1e-8)
    assert states.shape == (3, 2, 2)
    np.testing.assert_allclose(states[0], start * np.exp(-0.33), 1e-8)
    assert list(numbers) == [0, 1, -1]

    first = lambda rate, when: solve(start, (0.0, 1.5), (rate, when))[0][-1, 0, 1]  # noqa: E731
    step = 1e-6
    for k, found in enumerate(nd.grad(first, (0, 1))(1.1, 0.3)):
        up, down = ([1.1, 0.3] for _ in range(2))
        up[k] += step
        down[k] -= step
        np.testing.assert_allclose(
            found, (exact(*up)[1] - exact(*down)[1])[0, 1] / (2.0 * step), 1e-6
        )


@pytest.mark.parametrize(
    ("fun", "said"),
    [
        (lambda t, y: y.sum(), "2 dimensions, the right-hand side must return one of its shape"),
        (lambda t, y: y[0], "2 dimensions, the right-hand side must return one of its shape"),
        (lambda t, y: 1j * y, "must return one of its shape"),
        (lambda t, y: y[0, 0, 0, 0], "Numba cannot compile <lambda>"),
        (lambda t, y, rate: y, "missing a required argument: 'rate'"),
    ],
)
def test_what_is_no_slope_is_told(fun, said):
    with pytest.raises(nd.ModelError, match=said):
        nd.ode.solver(fun)(np.ones((2, 3)), (0.0, 1.0))


def test_another_shape_is_told():
    solve = nd.ode.solver(lambda t, y: y.T, method="Euler", first_step=0.1)
    with pytest.raises(nd.ModelError, match="an array of the shape of the state"):
        solve(np.ones((2, 3)), (0.0, 1.0))
    assert solve(np.ones((2, 2)), (0.0, 1.0)).shape == (2, 2, 2)


def test_changes_of_another_shape_are_told():
    flat = nd.ode.event(lambda t, y: y[0, 0], change=lambda t, y: y.ravel())
    with pytest.raises(nd.ModelError, match="the change of an event must return one of its shape"):
        nd.ode.solver(lambda t, y: -y, events=flat)(np.ones((2, 2)), (0.0, 1.0))


def test_solve_ivp_says_where_to_go():
    with pytest.raises(nd.ModelError, match=r"nd\.ode\.solver takes states of any shape"):
        nd.ode.solve_ivp(lambda t, y: y, (0.0, 1.0), np.ones((2, 2)))
