"""What a branch passes by adds nothing to a gradient, whatever was computed of it before."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd

GAP = np.array([1.0, np.nan, 2.0, 0.5])
ZERO = np.array([1.0, 0.0, 2.0, 0.5])
FAR = np.array([1.0, -1e3, 2.0, 0.5])
COSTS = np.array([[0.0, 1.0, np.inf], [np.inf, 0.0, 2.0], [np.inf, np.inf, 0.0]])


def residuals(a, x):
    total = 0.0
    for i in range(x.size):
        r = 1.0 - (0.2 + a * x[i])
        if not math.isnan(r):
            total += r * r
    return total


def continued(a, x):
    total = 0.0
    for i in range(x.size):
        m = a * x[i]
        if np.isnan(m):
            continue
        total += m * m
    return total


def compared_with_itself(a, x):
    total = 0.0
    for i in range(x.size):
        m = a * x[i]
        v = m * a + m
        if m == m:
            for _ in range(3):
                total += v * m
    return total


def finite(a, x):
    total = 0.0
    for i in range(x.size):
        m = (x[i] - a) ** 2
        total += m if np.isfinite(m) else 0.0
    return total


def the_datum_is_told(a, x):
    total = 0.0
    for i in range(x.size):
        m = a * math.exp(x[i])
        if not math.isnan(x[i]):
            total += m * m
    return total


def left_early(a, x):
    total = 0.0
    for i in range(x.size):
        m = a * x[i]
        v = m * a
        if math.isnan(m):
            break
        total += v * v
    return total


def below_a_huge_number(a, x):
    total = 0.0
    for i in range(x.size):
        m = a * np.log(x[i])
        if m > -1e9:
            total += m * m
    return total


def infinite(a, x):
    total = 0.0
    for i in range(x.size):
        m = (x[i] - a) * np.log(x[i])
        if np.isinf(m):
            continue
        total += m
    return total


def overflown(a, x):
    total = 0.0
    for i in range(x.size):
        m = a * math.exp(-x[i])
        if m < np.inf:
            total += m * m
    return total


def returned_early(a, x):
    m = a * x[1]
    if math.isnan(m):
        return a * a
    return m * m


PROGRAMS = [
    *((f, GAP) for f in (residuals, continued, compared_with_itself, finite)),
    *((f, GAP) for f in (the_datum_is_told, left_early, returned_early)),
    *((below_a_huge_number, ZERO), (infinite, ZERO), (overflown, FAR)),
]


@pytest.mark.parametrize(("function", "x"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_first_and_second_order(function, x):
    compiled, h = njit(function), 1e-4
    at = [compiled(0.5 + k * h, x) for k in (-2, -1, 0, 1, 2)]
    slope = (8 * (at[3] - at[1]) - (at[4] - at[0])) / (12 * h)
    bend = (16 * (at[3] + at[1]) - (at[4] + at[0]) - 30 * at[2]) / (12 * h * h)
    assert nd.grad(function, mode="reverse")(0.5, x) == pytest.approx(slope, rel=1e-8)
    assert nd.grad(function, mode="forward")(0.5, x) == pytest.approx(slope, rel=1e-8)
    assert nd.hessian(function)(0.5, x) == pytest.approx(bend, rel=1e-5, abs=1e-5)


def test_shortest_paths_with_infinite_costs():
    def shortest(c, scale):
        n = c.shape[0]
        d = np.full(n, np.inf)
        d[0] = scale
        for _ in range(n):
            for i in range(n):
                for j in range(n):
                    q = d[i] + c[i, j] * scale
                    if q < d[j]:
                        d[j] = q
        return d[n - 1]

    by_costs, by_scale = nd.grad(shortest, (0, 1), mode="reverse")(COSTS, 1.5)
    assert by_scale == 4.0  # itself, and the edges 1 and 2
    np.testing.assert_array_equal(by_costs, 1.5 * np.eye(3, k=1))


def decay(p, x):
    total = 0.0
    for i in range(x.size):
        m = p[0] * math.exp(-p[1] * x[i])
        if math.isnan(x[i]):
            continue
        total += math.log1p(m * m)
    return total


def decay_in_an_array(p, x):
    m = np.empty(x.size)
    for i in range(x.size):
        m[i] = p[0] * math.exp(-p[1] * x[i])
    total = 0.0
    for i in range(x.size):
        if math.isnan(x[i]):
            continue
        total += math.log1p(m[i] * m[i])
    return total


@njit(parallel=True)
def decay_in_parallel(p, x):
    m = np.empty(x.size)
    for i in prange(x.size):
        m[i] = p[0] * math.exp(-p[1] * x[i])
    total = 0.0
    for i in range(x.size):
        if not math.isnan(x[i]):
            total += math.log1p(m[i] * m[i])
    return total


@pytest.mark.parametrize("f", [decay, decay_in_an_array, decay_in_parallel])
@pytest.mark.parametrize("in_lanes", [False, True])
def test_in_lanes_and_in_parallel(f, in_lanes):
    p, x = np.array([0.3, 0.7]), np.linspace(-1.0, 2.0, 37)
    x[5] = np.nan
    seen = x[~np.isnan(x)]
    m = p[0] * np.exp(-p[1] * seen)
    by_m = 2.0 * m / (1.0 + m * m)
    expected = [np.sum(by_m * m / p[0]), -np.sum(by_m * m * seen)]
    with nd.vector_math() if in_lanes else nullcontext():
        gradient = nd.grad(f, mode="reverse")
    np.testing.assert_allclose(gradient(p, x), expected, rtol=1e-13)


def test_a_number_that_is_used_anyway_counts():
    """NaN is not left out where code that always runs uses what it came into."""

    def f(a, x):
        m = a * x
        if math.isnan(m):
            return a + m
        return m * m

    assert math.isnan(nd.grad(f, mode="reverse")(0.5, np.nan))
