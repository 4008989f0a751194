"""P7: tr(x1 @ x2) for matrices of 30 x 30, a call from Python each; by both matrices."""

import numpy as np
from numba import njit

ARGNUMS = (0, 1)


@njit
def primal(x1, x2):
    n, m = x1.shape
    s = 0.0
    for i in range(n):
        for k in range(m):
            s += x1[i, k] * x2[k, i]
    return s


@njit
def adjoint(x1, x2):
    """Hand adjoint of the scalar loop (not forming the product matrix)."""
    n, m = x1.shape
    s = 0.0
    g1 = np.empty((n, m))
    g2 = np.empty((m, n))
    for i in range(n):
        for k in range(m):
            s += x1[i, k] * x2[k, i]
            g1[i, k] = x2[k, i]
            g2[k, i] = x1[i, k]
    return s, (g1, g2)


def draw(rng):
    """The arguments of `primal`."""
    return rng.standard_normal((30, 30)), rng.standard_normal((30, 30))


def shorten(arguments):
    """A small case for tests."""
    x1, x2 = arguments
    return np.ascontiguousarray(x1[:3, :4]), np.ascontiguousarray(x2[:4, :3])
