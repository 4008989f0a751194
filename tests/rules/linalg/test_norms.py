"""Norms of zero, and conditions that are infinite."""

import numpy as np
import pytest

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
