"""Arrays that a function of one element makes and fills, in lanes."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from tests.lanes.by_lanes import compare


@numba.njit
def _fill(into, x, p):
    for i in range(into.size):
        into[i] = p[i] * x


@numba.njit
def _made(x, p):
    out = np.empty(p.size)
    for i in range(out.size):
        out[i] = math.sin(p[i] * x)
    return out


def rows_and_views(x, y, a, p):
    w = np.zeros((2, 3))
    for j in range(2):
        row = w[j]
        for i in range(3):
            row[i] += p[i] * x * (j + 1) + a[i]
    w.T[2, 0] *= y
    s = 0.0
    for j in range(2):
        for i in range(3):
            s += w[j, i] * w[j, i]
    return s


def two_buffers(x, y, a, p):
    now, then = np.empty(3), np.empty(3)
    for i in range(3):
        now[i] = x * p[i]
    for _ in range(3):
        for i in range(3):
            then[i] = now[i] * now[(i + 1) % 3] + y
        now, then = then, now
    return now[0] + now[1] * now[2] * a[0]


def callees(x, y, a, p):
    u = np.empty(3)
    _fill(u, x, p)
    v = _made(y, p)
    v[0] *= x
    chosen = u if p[0] > 10.0 else v
    chosen[1] = a[1]
    return u[0] * u[2] + v[0] * v[1]


def tuples_and_slices(x, y, a, p):
    t = np.zeros(4), np.full(shape=3, fill_value=x)
    t[0][:] = y
    t[0][1:3] = p[:2]
    t[1][2] *= t[0][1]
    t[0][3] -= x
    return t[0][0] * t[1][1] + t[0][3] * t[1][2] + a[0]


def whole_arrays(x, y, a, p):
    u = np.zeros_like(p)
    u[0] = x
    u += p
    u *= y
    e = np.exp(a - u)
    return (e / e.sum())[1] + u.mean() * np.std(u) + np.array([x, y * y, p[0]]).sum()


def what_all_lanes_share(x, y, a, p):
    """An array that no lane writes to keeps its numbers, and its shadow is one of lanes."""
    shared = np.empty(3)
    for i in range(3):
        shared[i] = p[i] * p[i]
    own = np.empty(3)
    for i in range(3):
        own[i] = shared[i] * x + a[i]
    return own[0] * own[1] + shared[2] * y


@pytest.mark.dear
def test_in_a_row():
    compare(rows_and_views)


@pytest.mark.deep(but=["two_buffers", "whole_arrays"])
@pytest.mark.parametrize(
    "f", [two_buffers, callees, tuples_and_slices, whole_arrays, what_all_lanes_share]
)
def test_written_arrays(f):
    compare(f)


def _counted(x):
    n = np.zeros(2, np.int64)
    if x > 0.0:
        n[0] += 1
    return x * n[0]


def test_an_array_of_ints_is_refused():
    with pytest.raises(nd.UnsupportedError, match="what is written to this array of int64"):
        nd.batch(_counted, lanes=4)(np.ones(5))
    np.testing.assert_array_equal(nd.batch(_counted)(np.array([2.0, -1.0])), [2.0, 0.0])


def test_single_precision():
    @numba.njit
    def f(x):
        u = np.zeros(2, np.float32)
        u[1] = x
        return u[1] * 3.0

    x = np.array([0.1, 0.7, -0.3])
    found = nd.batch(f, lanes=4)(x)
    np.testing.assert_array_equal(found, [f(v) for v in x])
    _, (by_x,) = nd.vjp(nd.batch(f, lanes=4))((x,), np.ones(3))
    np.testing.assert_allclose(by_x, 3.0)
