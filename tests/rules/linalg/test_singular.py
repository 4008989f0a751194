"""Singular vectors: those that fill up a basis, and their phases."""

import numpy as np
import pytest

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
