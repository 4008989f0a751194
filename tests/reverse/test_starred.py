"""Calls that are given a tuple by `*`: their arguments count as if they were written one by one."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd


@njit
def product(x, y):
    return x * y


nd.rule(product, vjp=(lambda x, y: (x * y, (x, y)), lambda kept, c: (c * kept[1], c * kept[0])))

slope = nd.grad(njit(lambda c, x: c * (x**3).sum()), 1)


def special(x, y):
    t = (x, y)
    return math.hypot(*t)


def ufunc(x, y):
    t = (y,)
    return np.arctan2(x, *t)


def ruled(x, y):
    t = (x, y)
    return product(*t)


def whole_arrays(x, y):
    z = np.array([x, y])
    t = (z, z[::-1] * 2.0)
    return np.maximum(*t)[0] + np.dot(*t)


def operator(x, y):
    t = (np.array([x, y]),)
    return slope(x, *t).sum()


EXPECTED = {
    special: (0.6, 0.8),
    ufunc: (0.16, -0.12),
    ruled: (4.0, 3.0),
    whole_arrays: (16.0, 14.0),  # 2 y + 4 x y
    operator: (3.0 * 25.0 + 6.0 * 9.0, 6.0 * 12.0),  # 3 x (x^2 + y^2)
}


@pytest.mark.parametrize("f", EXPECTED, ids=lambda f: f.__name__)
def test_starred_arguments_are_differentiated(f):
    found = nd.grad(f, (0, 1), mode="reverse")(3.0, 4.0)
    np.testing.assert_allclose(found, EXPECTED[f], rtol=1e-14)
