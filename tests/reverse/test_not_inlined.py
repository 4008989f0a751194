"""Overloads that Numba puts in place, where nothing is differentiated."""

import numpy as np
import pytest
from numba import njit
from numba.extending import overload, register_jitable

import numbad as nd

EPSILON = np.finfo(np.float64).eps


@register_jitable(inline="always")
def epsilon(x):
    return EPSILON


@register_jitable(inline="always")
def is_resolved(x, tolerance):
    return abs(x) > tolerance(x)


def threshold(x, least=2.0):
    raise NotImplementedError


@overload(threshold, inline="always")
def _threshold(x, least=2.0):
    return lambda x, least=2.0: least * np.floor(x)


@njit
def positive(a):
    total = 0.0
    for x in a:
        square = x * x
        total += square if is_resolved(square, epsilon) else 0.0
        total += x if square < threshold(x) else 0.0
        total += x if square < threshold(x, least=1.0) else 0.0
    return total


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_decisions_by_overloads_put_in_place(mode):
    gradient = nd.grad(positive, mode=mode)(np.array([0.0, 1.2, 2.5]))
    np.testing.assert_allclose(gradient, [0.0, 3.4, 5.0], rtol=1e-15)
    assert positive(np.array([0.0, 1.2])) == 1.44 + 1.2  # as Numba does after that, too
