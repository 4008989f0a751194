"""Tuples that a callee may not return: they are taken apart, and raise where there is none."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


@njit
def pair(x, y):
    if x < 1.0:
        return x * y, y
    elif x < 2.0:
        return y * y * x, x


def taken_apart(x, y):
    a, b = pair(x, y)
    return a * a + 3.0 * b * x


def asked_first(x, y):
    total = 0.0
    for i in range(4):
        t = pair(x * i, y)
        if t is not None:
            a, b = t
            total += a * b
    return total


def carried(x, y):
    t = pair(x, y)
    for _ in range(2):
        a, b = t
        t = pair(0.5 * a, b)
    a, b = t
    return a * b


@njit
def halves(v, s):
    if s < 1.0:
        return v * s, v[1:]
    elif s < 2.0:
        return v, v[:1]


def of_arrays(v, s):
    first, second = halves(v, s)
    second[0] *= s
    return first.sum() * second[0]


@njit
def absorbed(u, s, way):
    if way == 0:
        return u * s, None
    if way == 1:
        return u, s
    return None, None


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_members_that_may_be_none(mode):
    def f(v, way):
        u, s = absorbed(v * v, 3.0 * v, way)
        return u.sum() if s is None else (u * s * s).sum()

    v, gradient = np.array([0.6, 1.3]), nd.grad(f, mode=mode)
    np.testing.assert_allclose(gradient(v, 0), 9.0 * v**2, rtol=1e-14)
    np.testing.assert_allclose(gradient(v, 1), 36.0 * v**3, rtol=1e-14)
    with pytest.raises(TypeError):
        gradient(v, 2)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_tuples_that_may_be_none_are_taken_apart(mode):
    x, y = 0.6, 0.7
    gradient = nd.grad(taken_apart, (0, 1), mode=mode)
    np.testing.assert_allclose(gradient(x, y), (2 * x * y**2 + 3 * y, 2 * x**2 * y + 3 * x))
    x = 1.5
    expected = 2 * x * y**4 + 6 * x, 4 * x**2 * y**3
    np.testing.assert_allclose(gradient(x, y), expected)
    with pytest.raises(TypeError, match="got None"):
        gradient(2.5, y)


def test_loops_ask_whether_there_is_a_tuple():
    x, y = 0.6, 0.7  # x * i is 0, 0.6, 1.2, 1.8: (iy, ix) once, then twice (y^2 x i)(x i)
    expected = y * y + 2 * x * 13 * y * y, 2 * x * y + x * x * 13 * 2 * y
    np.testing.assert_allclose(nd.grad(asked_first, (0, 1), mode="reverse")(x, y), expected)


def test_loops_carry_such_tuples():
    x, y = 0.6, 0.7  # a = x y, then x y^2 / 2, then x y^3 / 4; b = y: x y^4 / 4
    gradient = nd.grad(carried, (0, 1), mode="reverse")
    np.testing.assert_allclose(gradient(x, y), (y**4 / 4, x * y**3))
    second = nd.jacobian(gradient, (0, 1), mode="reverse")(x, y)
    np.testing.assert_allclose(second, ((0, y**3), (y**3, 3 * x * y**2)), atol=1e-15)


def test_tuples_of_arrays_that_may_be_none_share_memory():
    gradient = nd.grad(of_arrays, (0, 1), mode="reverse")
    v, s = np.array([2.0, 3.0]), 0.5
    by_v, by_s = gradient(v.copy(), s)  # (v0 + v1) s * v1 s
    np.testing.assert_allclose(by_v, [v[1] * s**2, (v[0] + 2 * v[1]) * s**2])
    np.testing.assert_allclose(by_s, 2 * s * v.sum() * v[1])
    s = 1.5
    by_v, by_s = gradient(v.copy(), s)  # (v0 s + v1) v0 s
    np.testing.assert_allclose(by_v, [2 * v[0] * s**2 + v[1] * s, v[0] * s])
    np.testing.assert_allclose(by_s, 2 * v[0] ** 2 * s + v[0] * v[1])
