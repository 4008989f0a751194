"""Linear systems in an order that fills little in, against LAPACK."""

import pickle

import numpy as np
import pytest
from numba import njit
from scipy.linalg import expm
from scipy.sparse import csr_array

import numbad as nd
from numbad.ode import sparse_linear
from numbad.ode.adjoints.transposed import solve_transposed
from numbad.ode.sparse_mass import by_entries
from numbad.ode.sparsity_pattern import checked_sparsity
from tests.ode.grids import grid_pattern, ring_pattern

H, GAMMA = 0.3, 0.7


@njit
def solved(W, exchanges, J, mass, sparsity, b, columns):
    """The solutions of W x = b, for vectors and several at once, and of W^T x = b."""
    sparse_linear.factor(W, exchanges, J, mass, sparsity, H, GAMMA)
    x, y, z = b.copy(), columns.copy(), b.copy()
    sparse_linear.substitute(W, exchanges, sparsity, x)
    sparse_linear.substitute(W, exchanges, sparsity, y)
    solve_transposed(W, exchanges, J, sparsity, H, z)
    return x, y, z


def wide():
    """A ring of 90 whose members are joined to three hubs: its band is the matrix."""
    pattern = ring_pattern(90).toarray()
    pattern[:3] = pattern[:, :3] = 1.0
    return csr_array(pattern)


def narrow():
    return grid_pattern(12, 12)


PATTERNS = pytest.mark.parametrize(
    ("pattern", "kind"), [(narrow, "LowFillBanded"), (wide, "LowFillColoured")]
)


def system(pattern, diagonal, mass):
    """A Jacobian with its columns of one colour added, and the matrix M / gamma - h J."""
    rng, n = np.random.default_rng(1), pattern.shape[0]
    given = checked_sparsity(pattern, mass)
    dense = pattern.toarray() * rng.normal(size=(n, n))
    np.fill_diagonal(dense, diagonal)
    J = np.zeros((n, given.widths[2]))
    for i, j in np.argwhere(pattern.toarray()):
        J[i, given.colours[j]] = dense[i, j]
    identity = np.eye(n) if mass is None else mass.toarray()
    return given, J, identity / GAMMA - H * dense


@PATTERNS
def test_patterns_go_to_other_processes(pattern, kind):
    given = checked_sparsity(pattern())
    back = pickle.loads(pickle.dumps(given))
    assert back == given
    assert type(back) is type(given)
    assert type(given).__name__.removeprefix("Few") == kind


@PATTERNS
@pytest.mark.parametrize("diagonal", [-9.0, 1.0 / (H * GAMMA)])
def test_systems(pattern, kind, diagonal):
    """With pivots on the diagonal; or, where some are zero at the start, with exchanges of rows."""
    given, J, matrix = system(pattern(), diagonal, None)
    assert type(given).__name__.removeprefix("Few") == kind
    n, rng = len(J), np.random.default_rng(2)
    W, exchanges = np.empty((n, given.widths[3])), np.empty(n, np.int64)
    b, columns = rng.normal(size=n), rng.normal(size=(n, 3))
    arrays = given._make(map(np.array, given))
    x, y, z = solved(W, exchanges, J, None, arrays, b, columns)
    for found, expected in [
        (x, np.linalg.solve(matrix, b)),
        (y, np.linalg.solve(matrix, columns)),
        (z, np.linalg.solve(matrix.T, b)),
    ]:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    assert (exchanges[0] == sparse_linear.IN_LOW_FILL) == (diagonal < 0.0)


@pytest.mark.dear
def test_mass_matrices():
    """M with entries off the diagonal, which belong to the pattern."""
    n = 144
    mass = csr_array(np.eye(n) + 0.2 * np.eye(n, k=70))
    given, J, matrix = system(narrow(), -9.0, mass)
    W, exchanges = np.empty((n, given.widths[3])), np.empty(n, np.int64)
    entries = by_entries(mass)
    entries = entries._make(map(np.array, entries))
    b, arrays = np.arange(float(n)), given._make(map(np.array, given))
    x, _, z = solved(W, exchanges, J, entries, arrays, b, b.reshape(n, 1))
    assert exchanges[0] == sparse_linear.IN_LOW_FILL
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), rtol=1e-10)
    np.testing.assert_allclose(z, np.linalg.solve(matrix.T, b), rtol=1e-10)


def spread(t, y, dy, rate):
    """Diffusion on a periodic grid of 12 by 12 points."""
    for i in range(12):
        for j in range(12):
            around = y[12 * i + j - 1 if j else 12 * i + 11] + y[12 * i + (j + 1) % 12]
            around += y[12 * (i - 1 if i else 11) + j] + y[12 * ((i + 1) % 12) + j]
            dy[12 * i + j] = rate * (around - 4.0 * y[12 * i + j])


@pytest.mark.dear
@pytest.mark.parametrize("method", ["Rodas5P", "RadauIIA5", "BDF"])
def test_solutions_and_their_derivatives(method):
    """Against the exponential of the matrix, and that of its slope by the rate."""
    pattern = narrow()
    A = pattern.toarray() - 5.0 * np.eye(144)
    solve = nd.ode.solver(
        spread, method=method, inplace=True, jac_sparsity=pattern, rtol=1e-8, atol=1e-10
    )
    start = np.cos(np.arange(144.0))
    weights = np.sin(np.arange(144.0))

    def end(rate):
        return weights @ solve(start, (0.0, 0.3), rate)[-1]

    exact = expm(0.3 * 40.0 * A) @ start
    value, slope = nd.value_and_grad(end, mode="reverse")(40.0)
    assert value == pytest.approx(weights @ exact, rel=1e-5)
    assert slope == pytest.approx(0.3 * weights @ A @ exact, rel=1e-5)
    assert nd.derivative(end)(40.0) == pytest.approx(slope, rel=1e-6)
