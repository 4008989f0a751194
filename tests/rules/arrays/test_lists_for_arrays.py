"""Lists, tuples and single numbers where NumPy's functions take arrays, and elements by `[..., i]`."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

H = np.array([1.0, 2.0, 4.0])


@njit
def crosses(h):
    """By h: of -h[1] + 2 h[0], of 2 h[2] - h[1], and of h[1] h[1] h[0], in this order."""
    turned = np.cross([0, 0, 1], h)
    around = np.cross((1, 0, 0), h)
    both = np.cross([h[0], 0.0, 0.0], (0.0, h[1], 0.0))
    return turned[0] + 2.0 * turned[1] - 2.0 * around[1] + around[2] * -2.0 + both[2] * h[1]


@njit
def beside_lists(h):
    total = np.sum(np.outer([1, 2], h)) + np.trapezoid(h, [0, 1, 3])
    return total + np.sum(np.interp([0.5], [0.0, 1.0, 2.0], h)) + np.sum(np.convolve(h, [1, 2]))


@njit
def without_axes(h):
    y = np.asarray(h[0])
    return np.sum(y * y) + np.sin(np.asarray(h[1])) * y.item() + np.sum(np.asarray(h[2])) ** 2


@njit
def by_ellipsis(h):
    """Of 3 h[0]**2 h[1]**2 + h[2]."""
    square = np.empty((2, 2))
    square[..., 0, 1] = h[..., 0] * h[..., 1]
    row = np.zeros(2)
    row[..., 1] = square[0, ..., 1]
    row[..., -2] = square[..., 0, 1]
    return row[1] * row[1] + row[0] * row[..., 1] + square[0, 1] ** 2 + h[-1, ...]


GRADIENTS = {
    crosses: [2.0 + 4.0, -1.0 - 2.0 + 4.0, 2.0],
    beside_lists: [3.0 + 0.5 + 0.5 + 3.0, 3.0 + 1.5 + 0.5 + 3.0, 3.0 + 1.0 + 3.0],
    without_axes: [2.0 + np.sin(2.0), np.cos(2.0), 8.0],
    by_ellipsis: [24.0, 12.0, 1.0],
}


@pytest.mark.deep(but=["without_axes-reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", GRADIENTS, ids=lambda f: f.__name__)
def test_gradients_beside_lists_and_single_numbers(f, mode):
    value, gradient = nd.value_and_grad(f, mode=mode)(H)
    assert value == f(H)
    np.testing.assert_allclose(gradient, GRADIENTS[f], rtol=1e-14)
