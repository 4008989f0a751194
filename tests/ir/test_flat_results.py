"""Results picked by an index, or rounded, alone have the derivative 0, and say so."""

import ctypes
import math
import warnings

import numpy as np
import pytest
from numba import njit
from numba.extending import get_cython_function_address
from scipy.special import j0, j1

import numbad as nd

from .marked_lines import line_that_chooses

GRID = np.linspace(0.0, 4.0, 9)


def least_cost(p):
    return GRID[np.argmin((GRID - p) ** 2)]  # chooses


def least_cost_by_sorting(p):
    order = np.argsort((GRID - p) ** 2)  # chooses
    return GRID[order][:2].sum()


def step_above(p):
    return 2.0 * GRID[np.searchsorted(GRID, p)]  # chooses


def filled(p):
    costs = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            costs[i, j] = (GRID[i] + GRID[j] - p) ** 2
    k = costs.argmin()  # chooses
    return GRID[k // 3] + GRID[k % 3]


def index_kept(p):
    best, least = 0, math.inf
    for i in range(len(GRID)):
        cost = (GRID[i] - p) ** 2
        if cost < least:  # chooses
            best, least = i, cost
    return GRID[best] + 1.0


def element_kept(p):
    best, least = 0.0, math.inf
    for candidate in GRID:
        cost = (candidate - p) ** 2
        if cost < least:  # chooses
            best, least = candidate, cost
    return best


def step_kept(p):
    best, least, i = 0, math.inf, 0
    while i < 9:
        cost = (0.5 * i - p) ** 2
        if cost < least:  # chooses
            best, least = i, cost
        i += 1
    return 0.5 * best


@njit
def place_of_least(costs):
    k = 0
    for i in range(costs.size):
        if costs[i] < costs[k]:  # chooses
            k = i
    return k


@njit
def place_of_a_square(v):
    return place_of_least(v * v) + 0


def index_of_a_callee_of_a_callee(p):
    """Nothing says so in reverse mode, which looks into callees once."""
    return GRID[place_of_a_square(GRID - p)]


def index_of_a_callee(p):
    return GRID[place_of_least((GRID - p) ** 2)]


def stored(p):
    out = np.zeros(3)
    for i in range(3):
        out[i] = GRID[np.argmin((GRID - p * i) ** 2)]  # chooses
    return out[0] + out[2]


def stored_in_rows(p):
    out = np.zeros((2, 3))
    for i in range(2):
        row = out[i]
        for j in range(3):
            best, least = 0, math.inf
            for k in range(len(GRID)):
                cost = (GRID[k] - p * i - j) ** 2
                if cost < least:  # chooses
                    best, least = k, cost
            row[j] = GRID[best]
    return out.sum()


def appended(p):
    out = []
    for i in range(3):
        out.append(GRID[np.searchsorted(GRID, p * i)])  # chooses
    return out[2]


GRID_SEARCHES = [
    *(least_cost, least_cost_by_sorting, step_above, filled),
    *(index_kept, element_kept, step_kept, index_of_a_callee),
    *(stored, stored_in_rows, appended),
]


def rounded(p):
    return round(p * p, 3)  # chooses


def rounded_by_numpy(p):
    cost = np.around((GRID - p) ** 2, decimals=3)  # chooses
    return 2.0 * cost[1] + cost[2:].sum()


@njit
def to_digits(x):
    return np.round(x, 3)  # chooses


def rounded_by_a_callee(p):
    return to_digits(p * p) / 2.0


def rounded_into_an_array(p):
    """Says so in reverse mode; in forward mode whatever is stored makes the array one of dual numbers."""
    out = np.zeros(3)
    for i in range(3):
        out[i] = round(p * i, 3)  # chooses
    return out.sum()


CALLEES = {index_of_a_callee: place_of_least, rounded_by_a_callee: to_digits}


@pytest.mark.deep(
    but=["index_kept-forward", "least_cost-reverse", "index_of_a_callee-*", "stored-*"]
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", GRID_SEARCHES, ids=lambda f: f.__name__)
def test_a_grid_search_says_so(f, mode):
    with pytest.warns(nd.ControlDependenceWarning, match="through an index alone") as told:
        assert nd.grad(f, mode=mode)(1.7) == 0.0
    assert {(w.filename, w.lineno) for w in told} == {
        (__file__, line_that_chooses(CALLEES.get(f, f)))
    }


@pytest.mark.filterwarnings("ignore::numbad.ControlDependenceWarning")
def test_callees_of_callees_are_in_no_way():
    assert nd.grad(index_of_a_callee_of_a_callee, mode="reverse")(1.7) == 0.0


@pytest.mark.parametrize(
    ("f", "mode"),
    [
        (f, mode)
        for mode in ("forward", "reverse")
        for f in (rounded, rounded_by_numpy, rounded_by_a_callee)
    ]
    + [(rounded_into_an_array, "reverse")],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_rounding_to_digits_says_so(f, mode):
    with pytest.warns(nd.ControlDependenceWarning, match="through rounded numbers alone") as told:
        assert nd.grad(f, mode=mode)(1.7) == 0.0
    assert {(w.filename, w.lineno) for w in told} == {
        (__file__, line_that_chooses(CALLEES.get(f, f)))
    }


# -- ordinary code -------------------------------------------------------------------------------


def value_at_the_least(p, a):
    b = (a - p) ** 2
    return b[np.argmin(b)] + b[place_of_least(b)]


def rate_of_a_bracket(p, a):
    return GRID[np.searchsorted(a, p)] * p


def policy_and_value(p, a):
    k = np.argmin((GRID - p) ** 2)
    return (GRID[k] - p) ** 2 + least_cost_of(p) * p


def forcing(p, a):
    y = 0.0
    for i in range(5):
        k = np.searchsorted(a, p + 0.1 * i)
        y = 0.9 * y + p * GRID[k]
    return y


def count_above(p, a):
    n = 0
    for v in a:
        if v > p:
            n += 1
    return n / len(a)


def mark(p, a):
    hit = 0.0
    for v in a:
        if v > p:
            hit = 1.0
    return hit


def meant_to_be_constant(p, a):
    return GRID[np.argmin(nd.stop_gradient((GRID - p) ** 2))]


def counted_in_bins(p, a):
    counts = np.zeros(9)
    for x in a:
        counts[np.searchsorted(GRID, x * p) % 9] += 1.0
    return counts.max()


def marks_stored(p, a):
    passed = np.zeros(a.size)
    for i in range(a.size):
        passed[i] = 1.0 if a[i] > p else 0.0
    return passed.sum()


def picked_among_others(p, a):
    work = np.zeros(a.size)
    for i in range(a.size):
        work[i] = GRID[np.argmin((GRID - p * a[i]) ** 2)]
    return p * work.sum()


def whole_number(p, a):
    return round(p * a[0]) + np.round(a * p).sum()


def rounded_in_part(p, a):
    return round(p, 3) * p


def overwritten(p, a):
    b = np.round(a * p, 3)
    b[0] = p
    return b[0] + b[1]


least_cost_of = njit(least_cost)

ORDINARY = [
    *(value_at_the_least, rate_of_a_bracket, policy_and_value, forcing),
    *(count_above, mark, meant_to_be_constant, counted_in_bins, marks_stored, picked_among_others),
    *(whole_number, rounded_in_part, overwritten),
]


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_ordinary_results_say_nothing(mode):
    a = np.array([0.2, 0.9, 1.4, 2.5])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for f in ORDINARY:
            nd.grad(f, mode=mode)(1.7, a)
    assert [str(w.message) for w in told] == []


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_without_a_hash_are_in_no_way(mode):
    address = get_cython_function_address("scipy.special.cython_special", "j0")
    bessel = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)

    def f(x):
        return bessel(x) * x + round(nd.stop_gradient(x), 3)

    assert nd.grad(f, mode=mode)(0.7) == pytest.approx(j0(0.7) - 0.7 * j1(0.7), rel=1e-12)
