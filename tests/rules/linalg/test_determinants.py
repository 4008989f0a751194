"""Determinants of singular matrices, which have a derivative."""

import numpy as np
import pytest

from tests.rules.linalg.test_edges import both, gradient

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")


@pytest.mark.deep(but=["reverse"])
@both
def test_the_determinant_of_a_singular_matrix_has_a_derivative(mode):
    """The cofactors, whose sign an exchange of two rows changes."""
    given = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.5, -1.0, 3.0]])
    for a in (given, given[[0, 2, 1]]):
        cofactors = [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)]
            for i in range(3)
        ]
        value, found = gradient(lambda a: np.linalg.det(a), a, mode)
        assert value == 0.0
        np.testing.assert_allclose(found, cofactors, atol=1e-13)
