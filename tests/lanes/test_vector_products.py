"""Products with vectors as loops: what NumPy gives, and its errors."""

import numpy as np
import pytest

import numbad as nd
from numbad.lanes.vector_products import _matrix_vector, _vector_matrix, _vectors

A, V, W = np.arange(6.0).reshape(2, 3), np.array([1.0, -2.0]), np.array([0.5, 1.0, 3.0])


def test_products():
    assert _vectors(W, W) == W @ W
    np.testing.assert_array_equal(_matrix_vector(A, W), A @ W)
    np.testing.assert_array_equal(_vector_matrix(V, A), V @ A)


@pytest.mark.parametrize(
    ("product", "a", "b"), [(_vectors, V, W), (_matrix_vector, A, V), (_vector_matrix, W, A)]
)
def test_sizes_that_do_not_go_together(product, a, b):
    with pytest.raises(ValueError, match="incompatible array sizes"):
        product(a, b)


def test_in_a_loop_over_points():
    def misfit(w, x):
        total = 0.0
        for i in range(len(x)):
            total += np.dot(x[i], w) ** 2
        return total

    with nd.vector_math():
        gradient = nd.grad(misfit, mode="reverse")
    np.testing.assert_allclose(gradient(W, A), 2 * A.T @ (A @ W), rtol=1e-14)
    with pytest.raises(ValueError, match="incompatible array sizes"):
        gradient(W[:2], A)
