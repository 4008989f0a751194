"""Elements of arrays that are read and written in branches that lanes take differently."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from tests.lanes.by_lanes import compare


def greatest(x, y, a, p):
    m = a[0] * x
    for i in range(1, 3):
        if a[i] > m:
            m = a[i]
    return m * y


def written(x, y, a, p):
    u = np.zeros(3)
    for i in range(3):
        if x > 0.0:
            if x > p[i]:
                u[i] = x * p[i]
            else:
                u[i] = p[i] * a[i]
            u[i] += y
        elif x < -0.5:
            u[i] -= math.log(-x) * p[i]
    if y > 0.0:
        u[0] += u[2] * a[0]
        s = u[1]
    else:
        s = math.sqrt(2.0 - u[1] * y) if u[1] * y < 2.0 else y
    return u[0] + u[1] * u[2] + s


def knocked_out(x, y, a, p):
    """A path that ends where it crosses a barrier, by numbers of all and of its own."""
    alive, s = 1.0, math.exp(0.3 * x)
    for i in range(p.size):
        if alive > 0.5:
            s *= math.exp(0.2 * p[i] * y - 0.1 * s + 0.1 * a[i])
            if s < 0.9:
                alive = 0.0
    return s * alive


def early(x, y, a, p):
    u = np.zeros(3)
    for i in range(3):
        u[i] = x + p[i] * a[i]
    if u[0] < 0.0 and u[1] * p[2] > -10.0:
        return u[1] * x
    if u[2] > 0.3:
        return u[2] * p[0]
    return u[1] * u[0] * y


@pytest.mark.deep(but=["written"])
@pytest.mark.parametrize("f", [greatest, written, knocked_out, early])
def test_branches(f):
    compare(f)


def test_an_element_that_no_lane_comes_to_is_not_touched():
    """An index far beyond the end: reading there, or adding to its adjoint, would be fatal."""

    def f(x, p):
        u = np.zeros(2)
        if x > 5.0:
            u[p.size + 50_000_000] = x * p[p.size + 50_000_000]
        else:
            u[1] = x * p[1]
        return u[1]

    x, p = np.linspace(-1.0, 1.0, 7), np.array([1.0, 2.0])
    batch = nd.batch(f, (0, None), lanes=4)
    np.testing.assert_array_equal(batch(x, p), 2.0 * x)
    _, (by_x, by_p) = nd.vjp(batch)((x, p), np.ones(7))
    np.testing.assert_array_equal(by_x, 2.0)
    np.testing.assert_allclose(by_p, [0.0, x.sum()], atol=1e-15)


def test_what_a_lane_would_ask_for_that_does_not_come_is_not_touched():
    """The inner branch would be taken by lanes that do not come to it, beside one that comes and does not."""

    def f(x, p):
        u = np.zeros(2)
        if x > 0.5:
            if x * x < 0.26:  # so it is for what stands for x in the others
                u[p.size + 50_000_000] = x * p[p.size + 50_000_000]
            u[1] = x * p[1]
        return u[1]

    x, p = np.array([-0.4, 1.0, 0.1, 0.8, -0.2, 0.9, 0.3]), np.array([1.0, 2.0])
    batch = nd.batch(f, (0, None), lanes=4)
    expected = np.where(x > 0.5, 2.0 * x, 0.0)
    np.testing.assert_array_equal(batch(x, p), expected)
    _, (by_x, by_p) = nd.vjp(batch)((x, p), np.ones(7))
    np.testing.assert_array_equal(by_x, np.where(x > 0.5, 2.0, 0.0))
    np.testing.assert_allclose(by_p, [0.0, expected.sum() / 2.0], atol=1e-15)


def test_what_no_lane_asked_for_makes_no_nan():
    """The logarithm of what is negative where no lane comes, times an element of the array of all."""

    def f(x, p):
        return math.log(-x) * p[0] if x < -0.5 else x * p[0]

    x, p = np.array([-1.0, 0.5, 2.0, -2.0, 1.0]), np.array([3.0])
    _, (by_x, by_p) = nd.vjp(nd.batch(f, (0, None), lanes=4))((x, p), np.ones(5))
    np.testing.assert_allclose(by_x, [-3.0, 3.0, 3.0, -1.5, 3.0])
    np.testing.assert_allclose(by_p, [3.5 + math.log(2.0)])


@numba.njit
def _put(into):
    into[0] = 1.0


def test_a_callee_that_writes_to_what_all_share_is_not_called_for_all():
    def f(x):
        u = np.zeros(2)
        if x > 0.0:
            _put(u)
        return u[0] * x

    x = np.array([-1.0, 2.0, -3.0, 4.0, 5.0])
    with pytest.raises(nd.UnsupportedError, match="cannot run in 4 lanes"):
        nd.batch(f, lanes=4)(x)
    np.testing.assert_array_equal(nd.batch(f)(x), np.maximum(x, 0.0))
