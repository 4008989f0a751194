"""Mass matrices beside a sparse Jacobian: finite elements, and a chain with algebraic equations."""

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array, diags_array

import numbad as nd
from numbad.errors import ArgumentError

N = 12  # enough for factors within a band
METHODS = [
    "Rodas5P",
    pytest.param("RadauIIA5", marks=pytest.mark.deep),
    pytest.param("BDF", marks=pytest.mark.deep),
]


def heat(t, y, dy, rate):
    """Linear finite elements: M y' = -rate K y, with h M = tridiag(1, 4, 1) / 6, h K = tridiag(-1, 2, -1)."""
    n = len(y)
    for i in range(n):
        left = y[i - 1] if i > 0 else 0.0
        right = y[i + 1] if i < n - 1 else 0.0
        dy[i] = rate * (n + 1) ** 2 * (left - 2.0 * y[i] + right)


def tridiagonal(side, middle, n=N):
    return diags_array([side, middle, side], offsets=[-1, 0, 1], shape=(n, n)).tocsr()


MASS, PATTERN = tridiagonal(1 / 6, 4 / 6), tridiagonal(1.0, 1.0)


def decay(rate, n=N):
    """The exact rate at which the first mode of `heat` dies out."""
    cosine = np.cos(np.pi / (n + 1))
    return rate * (n + 1) ** 2 * (2.0 - 2.0 * cosine) / ((4.0 + 2.0 * cosine) / 6.0)


@pytest.mark.deep
@pytest.mark.parametrize("method", METHODS)
def test_a_mode_of_finite_elements_dies_out_at_its_rate(method):
    solve = nd.ode.solver(
        heat,
        method=method,
        inplace=True,
        jac_sparsity=PATTERN,
        mass_matrix=MASS,
        rtol=1e-9,
        atol=1e-12,
    )
    mode, ts = np.sin(np.pi * np.arange(1, N + 1) / (N + 1)), np.array([0.0, 0.1])

    def end(rate):
        return solve(mode, ts, rate)[-1].sum()

    exact = mode.sum() * np.exp(-0.1 * decay(0.7))
    assert end(0.7) == pytest.approx(exact, rel=1e-6)
    slope = -0.1 * decay(1.0) * exact
    for way in ("forward", "reverse"):
        assert nd.grad(end, mode=way)(0.7) == pytest.approx(slope, rel=1e-6)


def chain(t, y, dy, rate):
    """Odd components are algebraic, means of their neighbours cubed and weighed."""
    n = len(y)
    for i in range(n):
        left, right = y[max(i - 1, 0)], y[min(i + 1, n - 1)]
        if i % 2 == 0:
            dy[i] = rate * (left - 2.0 * y[i] + right) - y[i] ** 3 + np.sin(t)
        else:
            dy[i] = y[i] + 0.1 * y[i] ** 3 - 0.5 * (left + right)


def chain_start():
    """A state that satisfies the algebraic equations."""
    y = np.linspace(1.0, 2.0, N + 1)
    for i in range(1, N + 1, 2):
        total = 0.5 * (y[i - 1] + y[min(i + 1, N)])
        y[i] = min(np.roots([0.1, 0.0, 1.0, -total]), key=lambda root: abs(root.imag)).real
    return y


def both_ways(method, **options):
    """A loss by the rate and by the start of component 0 with a dense Jacobian, and with a sparse one."""
    mass = np.diag((np.arange(N + 1) % 2 == 0).astype(float)) * 2.0
    mass[0, 2] = 0.5
    given = dict(method=method, inplace=True, rtol=1e-9, atol=1e-11, mass_matrix=mass) | options
    patterns = {}, dict(jac_sparsity=tridiagonal(1.0, 1.0, N + 1))

    def loss_by(solve):
        start, ts = chain_start(), np.array([0.0, 0.4, 1.0])

        def loss(p):
            ys = solve(start, ts, p[0])
            return (ys**2).sum() + p[1] * ys[-1, 1]

        return loss

    return [loss_by(nd.ode.solver(chain, **given, **pattern)) for pattern in patterns]


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Rodas5P", "RadauIIA5", "BDF"])
def test_sparse_and_dense_algebraic_chains_agree_in_value_and_gradient(method):
    dense, sparse = both_ways(method)
    p = np.array([3.0, 0.5])
    assert sparse(p) == pytest.approx(dense(p), rel=1e-9)
    expected = nd.grad(dense, mode="forward")(p)
    np.testing.assert_allclose(nd.grad(sparse, mode="reverse")(p), expected, rtol=1e-7)


@pytest.mark.dear
def test_wide_patterns_and_tuple_states_take_a_mass_matrix():
    def three(t, y, rate):
        return rate * (y[2] - y[0]), rate * (y[0] - y[1]), y[0] + y[1] + y[2] - 3.0

    mass = np.array([[1.0, 0.2, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    given = dict(method="Rodas5P", rtol=1e-9, atol=1e-11, mass_matrix=mass)
    dense = nd.ode.solver(three, **given)
    sparse = nd.ode.solver(three, jac_sparsity=np.ones((3, 3)), **given)
    start, ts = (2.0, 1.0, 0.0), (0.0, 1.0)
    np.testing.assert_allclose(sparse(start, ts, 2.0), dense(start, ts, 2.0), rtol=1e-10)


@pytest.mark.deep
def test_events_and_times_are_differentiated_beside_sparse_mass():
    dose = nd.ode.at_times(lambda rate, when: (when,), change=lambda t, y, k, rate, when: y + 1.0)

    diffuse = njit(heat)

    def driven(t, y, dy, rate, when):
        diffuse(t, y, dy, rate)

    mode = np.sin(np.pi * np.arange(1, N + 1) / (N + 1))
    given = dict(
        method="Rodas5P", inplace=True, mass_matrix=MASS, events=dose, rtol=1e-9, atol=1e-12
    )

    def slope(**pattern):
        solve = nd.ode.solver(driven, **given, **pattern)
        return nd.derivative(lambda when: solve(mode, (0.0, 0.2), (0.7, when))[-1].sum())(0.1)

    assert slope(jac_sparsity=PATTERN) == pytest.approx(slope(), rel=1e-7)


def test_shapes_and_starts_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="one shape; theirs are"):
        nd.ode.solver(
            heat, method="BDF", inplace=True, mass_matrix=np.eye(3), jac_sparsity=np.eye(4)
        )
    mass = csr_array(np.diag([1.0, np.nan]))
    with pytest.raises(ArgumentError, match="finite"):
        nd.ode.solver(heat, method="BDF", inplace=True, mass_matrix=mass, jac_sparsity=np.eye(2))


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Rodas5P", "BDF"])
def test_starts_that_do_not_satisfy_the_equations_are_refused(method):
    mass = csr_array(np.diag((np.arange(N + 1) % 2 == 0).astype(float)))
    solve = nd.ode.solver(
        chain,
        method=method,
        inplace=True,
        mass_matrix=mass,
        jac_sparsity=tridiagonal(1.0, 1.0, N + 1),
    )
    with pytest.raises(nd.IntegrationError, match="does not satisfy the algebraic equations"):
        solve(np.linspace(1.0, 2.0, N + 1), (0.0, 1.0), 1.0)
