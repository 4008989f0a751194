"""What derivatives of linear algebra consist of, where the cases of small matrices do not reach."""

import numpy as np
import pytest

import numbad as nd
from numbad.rules.linalg.triangles import above, below

STEP = 1e-30


def draws(*shapes):
    draw = np.random.default_rng(8)
    return tuple(draw.uniform(-1.0, 1.0, shape) for shape in shapes)


def change(f, x, direction):
    """The derivative by a complex step."""
    return f(x + 1j * STEP * direction).imag / STEP


# -- Cholesky by blocks --------------------------------------------------------------------------


def factor(a):
    """The lower triangle of a symmetric matrix, column by column, of complex numbers as of real ones."""
    low = np.zeros_like(a)
    for j in range(len(a)):
        low[j:, j] = a[j:, j] - low[j:, :j] @ low[j, :j]
        low[j:, j] /= np.sqrt(low[j, j])
    return low


@pytest.mark.deep
def test_cholesky_of_several_blocks():
    """Reverse mode goes by blocks of 64 columns."""
    n = 150
    a, weights, d = draws((n, n), (n, n), (n, n))
    a = a @ a.T + n * np.eye(n)
    found = nd.grad(lambda a: (np.linalg.cholesky(a) * weights).sum(), mode="reverse")(a)
    exact = change(lambda a: (factor(a) * weights).sum(), a, d)
    np.testing.assert_allclose((found * d).sum(), exact, rtol=1e-11)


# -- triangles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [below, above])
def test_systems_with_a_triangle(solve):
    low, b, weights, dlow, db = draws((3, 3), (3, 2), (3, 2), (3, 3), (3, 2))
    low += 2.0 * np.eye(3)

    def exact(step):
        matrix = np.tril(low + step * dlow)
        return np.linalg.solve(matrix if solve is below else matrix.T, b + step * db)

    value, (by_low, by_b) = nd.vjp(lambda low, b: solve(low, b))((low, b), weights)
    np.testing.assert_allclose(value, exact(0.0), rtol=1e-13)
    expected = (weights * exact(1j * STEP).imag / STEP).sum()
    np.testing.assert_allclose((by_low * dlow).sum() + (by_b * db).sum(), expected, rtol=1e-12)
    assert not np.triu(by_low, 1).any()


# -- least squares by one argument -----------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("argnums", [0, 1])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_least_squares_by_one_argument(shape, argnums):
    a, b, da, db = draws(shape, shape[:1], shape, shape[:1])

    def exact(a, b):
        if a.shape[0] > a.shape[1]:
            return np.linalg.solve(a.T @ a, a.T @ b)
        return a.T @ np.linalg.solve(a @ a.T, b)

    moves = ((da, 0.0 * db), (0.0 * da, db))[argnums]
    expected = exact(*(x + 1j * STEP * d for x, d in zip((a, b), moves, strict=True))).imag / STEP
    compiled = nd.jvp(lambda a, b: np.linalg.lstsq(a, b)[0], argnums)
    _, found = compiled((a, b), (moves[argnums],))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


# -- wide complex matrices -------------------------------------------------------------------------


def vectors(a):
    u, s, vh = np.linalg.svd(a, False)
    return ((u[:, 0] + u[:, 1]) * (0.3 + 0.8j)).sum().real * ((vh[0] + vh[1]) ** 2).sum().imag + s[
        0
    ]


@pytest.mark.deep
def test_svd_of_a_wide_complex_matrix_has_the_phases_of_the_left_vectors():
    re, im, dre, dim = draws((3, 4), (3, 4), (3, 4), (3, 4))
    a, d = re + 1j * im, dre + 1j * dim
    steps = 0.01 * np.array([1, 2, 3, 4])
    weights = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
    pairs = [vectors(a + h * d) - vectors(a - h * d) for h in steps]
    expected = weights @ pairs / steps[0]
    np.testing.assert_allclose(nd.jvp(vectors)((a,), (d,))[1], expected, rtol=1e-8)
    found = nd.grad(vectors, mode="reverse")(a)
    np.testing.assert_allclose((found * d).sum().real, expected, rtol=1e-8)
