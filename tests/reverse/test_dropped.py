"""Data with gaps: what a mask or a test for NaN leaves out adds nothing to a gradient."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

SEEN = np.array([1.0, np.nan, 3.0, 2.0])
X = np.array([0.5, 1.0, np.nan, 2.0])
ROWS = np.array([[1.0, np.nan, 2.0], [0.3, 1.0, np.nan]])
MASK = ~np.isnan(SEEN) & ~np.isnan(X)
PLACE = 2.0, 1.5


@njit
def is_gap(v):
    return np.isnan(v)


def total_of_numbers(a, b):
    return np.nansum((a * X * X + b * X - SEEN) ** 2)


def mean_of_rows(a, b):
    r = (a * ROWS - b) * ROWS
    return np.nanmean(r * r)


def chosen_by_a_mask(a, b):
    r = a * X - b * SEEN
    return np.sum(np.where(MASK, r * r * r, 0.0))


def picked_by_a_mask(a, b):
    r = a * X - b * SEEN
    squared = r * r
    return np.sum(squared[MASK])


def filled(a, b):
    r = a * X - b * SEEN
    return np.sum(np.nan_to_num(r * r))


def overwritten(a, b):
    r = a * X - b * SEEN
    squared = r * r
    squared[~MASK] = 0.0
    return np.sum(squared)


def looped_over(a, b):
    r = np.empty(4)
    for i in range(4):
        r[i] = (a * X[i] - b * SEEN[i]) * X[i]
    total = 0.0
    for v in r:
        if not math.isnan(v):
            total += v * v
    return total


def told_by_a_callee(a, b):
    r = a * X - b * SEEN
    squared = r * r
    total = 0.0
    for i in range(4):
        if not is_gap(squared[i]):
            total += squared[i]
    return total


def of_order(a, b):
    r = a * X - b * SEEN
    squared = r * r
    return np.nanmax(squared) + np.nanvar(squared) + np.nanmedian(squared)


def complex_numbers(a, b):
    r = (a + 1j * b) * X - SEEN
    return np.nansum((r * r).real) + np.nansum(np.abs(r) ** 2)


PROGRAMS = [
    *(total_of_numbers, mean_of_rows, chosen_by_a_mask, picked_by_a_mask, filled, overwritten),
    *(looped_over, told_by_a_callee, of_order, complex_numbers),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_gaps_add_nothing(function, mode):
    gradient = nd.grad(function, argnums=(0, 1), mode=mode)(*PLACE)
    a, b = PLACE
    h = 1e-5
    by_a = (function(a + h, b) - function(a - h, b)) / (2.0 * h)
    by_b = (function(a, b + h) - function(a, b - h)) / (2.0 * h)
    np.testing.assert_allclose(gradient, (by_a, by_b), rtol=1e-7, atol=1e-8)


def test_gaps_add_nothing_at_second_order():
    hessian = nd.hessian(total_of_numbers, argnums=(0, 1))(*PLACE)
    x = X[MASK]
    by_hand = 2.0 * np.array([[np.sum(x**4), np.sum(x**3)], [np.sum(x**3), np.sum(x**2)]])
    np.testing.assert_allclose(np.array(hessian), by_hand, rtol=1e-13)


def test_many_parameters():
    def loss(p):
        return np.nansum((p * X - SEEN) ** 2)

    p = np.array([0.5, 1.0, 2.0, 3.0])
    expected = np.where(MASK, 2.0 * (p * X - SEEN) * X, 0.0)
    np.testing.assert_allclose(nd.grad(loss)(p), expected, rtol=1e-14)
    _, (cotangent,) = nd.vjp(lambda p: (p * X - SEEN) ** 2)((p,), np.ones(4))
    np.testing.assert_allclose(cotangent, 2.0 * (p * X - SEEN) * X, rtol=1e-14)  # NaN in the gaps


# -- roots at zero of what was stored in arrays, or summed by NumPy or BLAS ----------------------

ORIGIN_FIRST = np.array([[0.0, 0.0], [3.0, 4.0]])
UNIT = np.array([[0.0, 0.0], [0.6, 0.8]])
BETWEEN = np.array([[-1.2, -1.6], [1.2, 1.6]])  # two distances, each from both sides


def stored_squares(x):
    squares = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            squares[i] += x[i, j] ** 2
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sqrt(squares[i])
    return total


def along_an_axis(x):
    return np.sqrt(np.sum(x**2, axis=1)).sum()


def by_blas(x):
    return math.sqrt(x[0] @ x[0]) + np.sqrt(x[1].dot(x[1]))


def of_means(x):
    total = 0.0
    for row in x:
        total += math.sqrt(2.0) * math.sqrt(np.mean(row**2))
    return total


def all_distances(x):
    return np.sqrt(((np.expand_dims(x, 1) - np.expand_dims(x, 0)) ** 2).sum(2)).sum()


ROOTS = [
    *((f, UNIT) for f in (stored_squares, along_an_axis, by_blas, of_means)),
    (all_distances, BETWEEN),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("function", "expected"), ROOTS, ids=lambda p: getattr(p, "__name__", ""))
def test_zero_stays_zero_below_roots(function, expected, mode):
    gradient = nd.grad(function, mode=mode)(ORIGIN_FIRST.copy())
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)


def test_a_root_is_no_less_infinite_for_it():
    """By what is not zero, the slope at zero is infinite; and undecided where the root is multiplied."""

    def root_of_product(x):
        return math.sqrt(x[0] * x[1]) + math.sqrt(x[:2] @ x[1:])

    gradient = nd.grad(root_of_product, mode="reverse")(np.array([0.0, 3.0, 0.0]))
    np.testing.assert_array_equal(gradient, [np.inf, 0.0, np.inf])
    squared = nd.grad(lambda x: math.sqrt(x[:1] @ x[1:]) ** 2, mode="reverse")
    assert np.isnan(squared(np.array([0.0, 3.0]))[0])
