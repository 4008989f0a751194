"""Cholesky factors of several blocks."""

import numpy as np
import pytest

import numbad as nd
from tests.rules.linalg.test_triangles import STEP, draws


def change(f, x, direction):
    """The derivative by a complex step."""
    return f(x + 1j * STEP * direction).imag / STEP


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


@pytest.mark.dear
def test_tangents_of_cholesky_by_blocks():
    """Forward mode goes by blocks of 32; of a factor that is linear in two numbers they are known."""
    n = 75
    start, first, second, weights = (np.tril(x) for x in draws(*[(n, n)] * 4))
    start += n * np.eye(n)

    def weighted(s, t):
        low = start + s * first + t * second
        return (np.linalg.cholesky(low @ low.T) * weights).sum()

    found = nd.grad(weighted, (0, 1), mode="forward")(0.3, -0.7)
    np.testing.assert_allclose(
        found, ((first * weights).sum(), (second * weights).sum()), rtol=1e-11
    )
    curvature = nd.hessian(weighted, (0, 1), mode="forward")(0.3, -0.7)
    np.testing.assert_allclose(np.array(curvature), 0.0, atol=1e-11)
