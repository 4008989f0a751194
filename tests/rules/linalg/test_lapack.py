"""Substitution by the factors of a matrix: in loops for few numbers, by LAPACK for more."""

import numpy as np
import pytest
from numba import njit

from numbad.rules.linalg import lapack


@njit
def solved(a, b):
    lu, pivots = lapack.factors(a)
    return lapack.substitute(lu, pivots, b), lapack.substitute_transposed(lu, pivots, b)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(1,), (4,), (4, 1), (4, 3), (9, 12), (40,), (40, 5), (3, 0)])
def test_substitution(shape, dtype):
    rng = np.random.default_rng(shape[0])
    a, b = rng.normal(size=(shape[0],) * 2).astype(dtype), rng.normal(size=shape).astype(dtype)
    if dtype is complex:
        a += 1j * rng.normal(size=a.shape)
        b += 1j * rng.normal(size=shape)
    x, y = solved(a, b)
    assert x.shape == y.shape == shape
    np.testing.assert_allclose(a @ x, b, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(a.T @ y, b, rtol=1e-11, atol=1e-11)


def test_cases_are_on_both_sides_of_the_limit():
    assert 4 * 4 * 3 <= lapack.FEW < 40 * 40
