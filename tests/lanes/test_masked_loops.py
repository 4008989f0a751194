"""Loops that some lanes leave before others."""

import math

import numba
import numpy as np
import pytest
from numba import types

import numbad as nd
from numbad.batching.lane_sweep import compiled_sweep
from numbad.lanes.lane_functions import by_calls, by_instructions
from numbad.lanes.varying import Varying
from tests.lanes.by_lanes import compare


def newton(x, y, a, p):
    """Kepler's equation, by a loop that ends when it has converged."""
    e, m = 0.5 + 0.1 * math.sin(x), y + p[0]
    anomaly, n = m, 0
    while True:
        step = anomaly - e * math.sin(anomaly) - m
        if abs(step) < 1e-13 or n > 80:
            break
        anomaly -= step * (0.9 + 0.1 * p[1] * p[1])
        n += 1
    return anomaly * a[0]


def returns(x, y, a, p):
    s = x
    for k in range(4):
        s = s * s * p[1] + y
        if s > 0.9:
            return s * p[0]
        if s < -0.6:
            return x * x
    s += a[1]
    for k in range(3):
        if s * a[k] > 1.0:
            break
        s += 0.3 * a[k]
    else:
        s *= y
    return s * x


def in_branches(x, y, a, p):
    s = x
    if x > 0.0:
        t = y
        while abs(t) > 0.2:
            t *= 0.7
            if t * p[2] > 0.1 and s > 0.1:
                continue
            s += t * p[0]
        s *= t
    elif y > 0.0:
        for i in range(p.size):
            s += p[i] * a[i]
    return s * y


def filled(x, y, a, p):
    u = np.zeros(3)
    k = 0
    while u[0] < 1.0 and k < 9:
        u[0] += x * x + 0.1
        for i in range(1, 3):
            u[i] += u[0] * p[i] * a[i]
            if u[i] > 0.5:
                break
        k += 1
    count, s = 0.0, abs(y)
    while s < 2.0:
        s = s * 1.5 + 0.1
        count += 1.0
    return u[1] * u[2] + u[0] * s * count


def bisected(x, y, a, p):
    s = x
    if y > -0.5:
        low, high = 0.0, 4.0
        while high - low > 0.01:
            middle = 0.5 * (low + high)
            if middle * middle > abs(s) + p[0] * p[0]:
                low, high = low, middle
            else:
                low, high = middle, high
        s = (middle - (middle * middle - abs(s) - p[0] * p[0]) / (2.0 * middle)) * a[1]
    return s * y


@pytest.mark.filterwarnings(
    "ignore::numbad.ControlDependenceWarning"
)  # meant: a last step has the slope
@pytest.mark.deep(but=["newton", "bisected"])
@pytest.mark.parametrize("f", [newton, returns, in_branches, filled, bisected])
def test_loops(f):
    compare(f)


def test_the_count_of_iterations_is_refused():
    def f(x):
        n = 0
        while x > 1.0:
            x *= 0.5
            n += 1
        return x * n

    x = np.array([0.5, 3.0, 20.0, 1.5, 7.0])
    with pytest.raises(nd.UnsupportedError, match="after which its int64 is read"):
        nd.batch(f, lanes=4)(x)
    np.testing.assert_array_equal(nd.batch(f)(x), [f(v) for v in x])


def test_what_takes_longer_in_lanes_goes_one_by_one():
    """As long as one lane goes on, a function without vector instructions is called for all of them."""

    def f(x):
        while x > 1.0:
            x = math.log(x)
        return x

    x = np.array([0.5, 3.0, 20.0, 1.5, 7.0])
    expected = [numba.njit(f)(v) for v in x]
    np.testing.assert_array_equal(nd.batch(f, lanes=4)(x), expected)
    np.testing.assert_array_equal(nd.batch(f)(x), expected)
    given = numba.njit(f), (), 4, (0,), [Varying(types.float64, 4)], [types.none], types.none
    with pytest.raises(nd.UnsupportedError, match="with this call"):
        compiled_sweep(*given, fits=by_instructions)
    assert compiled_sweep(*given, fits=by_calls)
