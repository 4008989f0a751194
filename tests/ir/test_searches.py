"""Searches by comparisons alone have the derivative 0, and say so; ordinary code says nothing."""

import math
import warnings

import numpy as np
import pytest
from numba import njit
from numba.core.compiler import run_frontend

import numbad as nd
from numbad.ir import searches
from numbad.ir.function import read_by

from .marked_lines import line_that_chooses


def excess(x, p):
    return x * x * x - p


excess = njit(excess)


def bisection(p):
    low, high = 0.0, 4.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        if excess(middle, p) > 0.0:  # chooses
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def bisection_by_signs(p):
    low, high = 0.0, 4.0
    at_low = excess(low, p)
    while high - low > 1e-9:
        middle = low + 0.5 * (high - low)
        found = excess(middle, p)
        if found == 0.0:
            return middle
        if at_low * found < 0.0:  # chooses
            high = middle
            continue
        low, at_low = middle, found
    return low


@njit
def halved(f, low, high, p):
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if f(middle, p) > 0.0 else (middle, high)  # chooses
    return low


def by_a_callee(p):
    total = 0.0
    for k in range(1, 4):
        total += halved(excess, 0.0, 4.0, p * k) * k
    return total * p


def stepping(p):
    x, step = 1.0, 0.5
    while step > 1e-9:
        if excess(x, p) > 0.0:  # chooses
            x -= step
        else:
            x += step
        step *= 0.5
    return x


def golden_section(p):
    a, b = 0.0, 4.0
    for _ in range(40):
        c, d = b - 0.6180339887 * (b - a), a + 0.6180339887 * (b - a)
        if (c - p) ** 2 < (d - p) ** 2:  # chooses
            b = d
        else:
            a = c
    return a


def by_factors(p):
    low, high = 0.0, 4.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        beyond = excess(middle, p) > 0.0  # chooses
        low += (middle - low) * (not beyond)
        high += (middle - high) * beyond
    return low


def by_a_sign(p):
    x, h = 0.0, 2.0
    for _ in range(50):
        x -= h * np.sign(excess(x, p))  # chooses
        h *= 0.5
    return x


def by_a_copied_sign(p):
    x, h = 0.0, 2.0
    for _ in range(50):
        x -= math.copysign(h, excess(x, p))  # chooses
        h *= 0.5
    return x


def by_slots(p):
    bracket = np.array([0.0, 4.0])
    for _ in range(50):
        middle = 0.5 * (bracket[0] + bracket[1])
        bracket[int(excess(middle, p) > 0.0)] = middle  # chooses
    return bracket[0]


def by_slots_in_branches(p):
    bracket = np.array([0.0, 4.0])
    for _ in range(50):
        middle = 0.5 * (bracket[0] + bracket[1])
        if excess(middle, p) > 0.0:  # chooses
            bracket[1] = middle
        else:
            bracket[0] = middle
    return bracket[0]


SEARCHES = [
    *(by_factors, bisection, bisection_by_signs, by_a_callee, stepping, golden_section),
    *(by_a_sign, by_a_copied_sign, by_slots, by_slots_in_branches),
]
CALLEES = {by_a_callee: halved}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", SEARCHES, ids=lambda f: f.__name__)
def test_a_search_by_comparisons_says_so(f, mode):
    with pytest.warns(nd.ControlDependenceWarning, match="nd.root") as told:
        nd.grad(f, mode=mode)(2.0)
    assert {(w.filename, w.lineno) for w in told} == {
        (__file__, line_that_chooses(CALLEES.get(f, f)))
    }


def test_it_is_said_once():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for operator in (nd.grad(bisection), nd.value_and_grad(bisection), nd.hessian(bisection)):
            operator(2.0)
    assert len(told) <= 1


# -- ordinary code -------------------------------------------------------------------------------


def newton(p, a):
    x, dx = p, 1.0
    while abs(dx) > 1e-12:
        dx = excess(x, p) / (3.0 * x * x)
        x -= dx
    return x


def secant_in_a_bracket(p, a):
    low, high = 0.0, 4.0
    at_low, at_high = excess(low, p), excess(high, p)
    x = low
    for _ in range(60):
        x = high - at_high * (high - low) / (at_high - at_low)
        found = excess(x, p)
        if abs(found) < 1e-12:
            break
        if found * at_low < 0.0:
            high, at_high = x, found
        else:
            low, at_low = x, found
    return x


def halved_steps(p, a):
    t, y, h = 0.0, p, 0.5
    while t < 1.0:
        h = min(h, 1.0 - t)
        one = y * (1.0 - h)
        two = y * (1.0 - 0.5 * h) ** 2
        if abs(one - two) > 1e-3:
            h *= 0.5
        else:
            t += h
            y = two
            h *= 1.5
    return y


def damped(p, a):
    x, damping = 1.0, 1.0
    for _ in range(30):
        step = excess(x, p) / (3.0 * x * x + damping)
        if abs(excess(x - step, p)) < abs(excess(x, p)):
            x -= step
            damping *= 0.3
        else:
            damping *= 3.0
    return x


def backtracking(p, a):
    x, step = 0.0, 1.0
    while (x - step * (x - p)) ** 2 > x * x + 0.5 * p:
        step *= 0.5
    return x - step * (x - p)


def clipped(p, a):
    total = 0.0
    for v in a:
        w = v * p
        if w > 1.0:
            w = 1.0
        total += max(w, -1.0)
    return total


def mean_above(p, a):
    total, count = 0.0, 0.0
    for v in a:
        if v > p:
            total += v * p
            count += 1.0
    return total / max(count, 1.0)


def counted(p, a):
    hits = 0.0
    for v in a:
        if v > p:
            hits += 1.0
    return hits + p


def first_passage(p, a):
    t, x = 0.0, 0.0
    while t < 5.0:
        x += 0.1 * p
        t += 0.1
        if x > 1.0:
            break
    return t * p


def looked_up(p, a):
    low, high = 0, len(a) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if a[middle] > p:
            high = middle
        else:
            low = middle
    return a[low] + (p - a[low]) * 2.0


def nearest(p, a):
    best, where = math.inf, 0.0
    for v in a:
        if (v - p) ** 2 < best:
            best, where = (v - p) ** 2, v
    return best + where


def sorted_by_insertion(p, a):
    b = a * p
    for i in range(1, len(b)):
        key = b[i]
        j = i - 1
        while j >= 0 and b[j] > key:
            b[j + 1] = b[j]
            j -= 1
        b[j + 1] = key
    return b[0] + 2.0 * b[1]


def thermostat(p, a):
    temperature, heater = 18.0, 0.0
    for _ in range(50):
        if temperature < p:
            heater = 1.0
        elif temperature > p + 1.0:
            heater = 0.0
        temperature += 0.3 * heater - 0.01 * (temperature - p)
    return temperature


def friction(p, a):
    v = 0.0
    for force in a:
        v += 0.1 * (force * p - 0.2 * np.sign(v))
    return v


def into_an_array(p, a):
    b, total = a * p, 0.0
    for _ in range(3):
        total += np.sum(np.multiply(b, b, b))
    return total


def histogram(p, a):
    counts = np.zeros(4)
    for v in a:
        counts[min(int(v * p), 3)] += 1.0
    return counts[1] * p


def marked(p, a):
    mask = np.zeros(len(a))
    for i in range(len(a)):
        if a[i] > p:
            mask[i] = 1.0
    return np.sum(mask * a) * p


def nearest_first(p, a):
    """Distances along a chain, from the nearest that is left."""
    distance, left = np.full(len(a), math.inf), np.ones(len(a))
    distance[0] = p
    for _ in range(len(a)):
        best = -1
        for i in range(len(a)):
            if left[i] > 0.0 and (best < 0 or distance[i] < distance[best]):
                best = i
        left[best] = 0.0
        if best + 1 < len(a):
            distance[best + 1] = min(distance[best + 1], distance[best] + a[best] * p)
    return distance[-1]


@njit
def meant(p, a):
    return halved(excess, 0.0, 4.0, nd.stop_gradient(p)) * p


ORDINARY = [
    *(
        newton,
        secant_in_a_bracket,
        halved_steps,
        damped,
        backtracking,
        clipped,
        mean_above,
        counted,
    ),
    *(first_passage, looked_up, nearest, sorted_by_insertion, thermostat, meant),
    *(friction, into_an_array, histogram, marked, nearest_first),
]


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_ordinary_loops_say_nothing(mode):
    a = np.array([0.2, 0.9, 1.4, 2.5])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for f in ORDINARY:
            nd.grad(f, mode=mode)(1.7, a)
    assert [str(w.message) for w in told] == []


def three_loops(p):
    total = 0.0
    for i in range(3):
        total += p * i
    for i in range(4):
        total -= p * i
    for i in range(5):
        total *= p
    return total


def test_each_statement_is_read_once_however_many_loops_there_are(monkeypatch):
    blocks = run_frontend(three_loops).blocks
    read = []
    monkeypatch.setattr(searches, "read_by", lambda s: read.append(s) or read_by(s))
    searches.find_searches(blocks, *3 * [lambda name: True])
    assert len(read) == sum(len(block.body) for block in blocks.values())
