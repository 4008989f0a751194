"""Statements that Numba's IR says in many ways."""

import numpy as np
import pytest

import numbad as nd


def counted_by_floats(a, first, last):
    """Numba's `range` of floats runs over integers: it drops what stands behind the point."""
    total = 0.0
    for k in range(first, last):
        total += a[0] * a[1] * k
        a[0] = a[0] * a[1]
    return total


def _by_integers(a, first, last):
    total = 0.0
    for k in range(int(first), int(last)):
        total += a[0] * a[1] * k
        a[0] = a[0] * a[1]
    return total


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_range_of_floats(mode):
    gradient = nd.grad(counted_by_floats, 0, mode=mode)
    for first, last in ((1.7, 4.9), (-1.7, 2.0)):
        steps = 1e-30j * np.eye(2)
        a = np.array([1.3, 0.7])
        exact = [_by_integers(a + step, first, last).imag / 1e-30 for step in steps]
        np.testing.assert_allclose(gradient(a.copy(), first, last), exact, rtol=1e-14)
