"""Norms of zero, and conditions that are infinite."""

import numpy as np
import pytest

import numbad as nd
from tests.rules.linalg.test_edges import both, gradient

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@both
def test_norms_of_zero_have_the_derivative_zero(mode):
    def f(x):
        norm = np.linalg.norm
        return norm(x) + norm(x, 1) + norm(x, 3) + norm(x, 0.5) + norm(x, np.inf) + norm(x, -2)

    assert not gradient(f, np.zeros(3), mode)[1].any()


@pytest.mark.deep
@both
def test_a_condition_that_is_infinite_has_the_derivative_zero(mode):
    value, found = gradient(lambda a: np.linalg.cond(a), np.zeros((2, 2)), mode)
    assert value == np.inf
    assert not found.any()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170])
def test_the_euclidean_norm_of_very_small_and_very_large_numbers(mode, size):
    """The squares of the numbers are beyond what a float holds."""
    x = size * np.array([[3.0, 4.0], [0.0, 12.0]])
    np.testing.assert_allclose(
        nd.grad(lambda v: np.linalg.norm(v), mode=mode)(x), x / (13.0 * size), rtol=1e-15
    )
    along = nd.grad(lambda t: np.linalg.norm(t * x) / size, mode=mode)(1.0)
    assert along == pytest.approx(13.0, rel=1e-14)
