"""Singular vectors: those that fill up a basis, and their phases."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.rules.linalg.test_edges import gradient
from tests.rules.linalg.test_triangles import draws


@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
@pytest.mark.deep
def test_vectors_that_fill_up_a_basis_have_no_derivative():
    tall = np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.2]])
    _, found = gradient(lambda a: np.linalg.svd(a)[1].sum(), tall, "reverse")
    u, _, vh = np.linalg.svd(tall, full_matrices=False)
    np.testing.assert_allclose(found, u @ vh, rtol=1e-13)
    with pytest.raises(np.linalg.LinAlgError, match="full_matrices=False"):
        nd.grad(lambda a: np.linalg.svd(a)[0][0, 2], mode="forward")(tall)
    with pytest.raises(np.linalg.LinAlgError, match="full_matrices=False"):
        nd.grad(lambda a: np.linalg.svd(a)[2][2, 0], mode="reverse")(np.ascontiguousarray(tall.T))


@njit
def copied(matrix, x):
    """Both in one tuple: where `x` is differentiated, the copy of the matrix holds tangents that are zero."""
    kept, doubled = np.empty_like(matrix), np.empty_like(x)
    kept[...], doubled[...] = matrix, 2.0 * x
    return kept, doubled


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("phase", [1.0, 0.6 + 0.8j])
@pytest.mark.dear
def test_vectors_of_a_matrix_at_rest_are_constants(mode, phase):
    def beyond(x, matrix):
        kept, doubled = copied(matrix, x)
        return (np.abs(np.linalg.svd(kept)[2][2] * doubled) ** 2).sum()

    wide, x = phase * np.array([[-1.0, -1.0, 1.0], [1.0, 0.3, -1.0]]), np.array([0.3, 0.7, 1.1])
    null = np.cross(wide[0], wide[1]) / np.linalg.norm(np.cross(wide[0], wide[1]))
    found = nd.grad(beyond, 0, mode=mode)(x, wide)
    np.testing.assert_allclose(found, 8.0 * np.abs(null) ** 2 * x, rtol=1e-13, atol=1e-14)


@pytest.mark.dear
def test_a_tangent_that_moves_itself_is_no_rest():
    """The tangents by `s` and by `t` are zero where both are, the second derivative by both is not."""
    matrix, direction = np.array([[-1.0, -1.0, 1.0], [1.0, 0.3, -1.0]]), np.ones((2, 3))

    def beyond(t, s):
        return np.linalg.svd(matrix + s * t * direction)[2][2, 0]

    by_t = nd.derivative(beyond, 0)
    assert by_t(0.0, 0.0) == 0.0
    with pytest.raises(np.linalg.LinAlgError, match="full_matrices=False"):
        nd.derivative(by_t, 1)(0.0, 0.0)


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
