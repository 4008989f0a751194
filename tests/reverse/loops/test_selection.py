"""Loops that carry what one of their iterations has chosen, and loops that only look so; loops in loops
that are passed by where nothing depends on them."""

import math

import numpy as np
import pytest

from numbad.reverse import switches
from numbad.reverse.loops.skip import Skip
from tests.reverse.oracle import Programs, check_gradient, check_second_order
from tests.reverse.stages import sweep_of

X = np.array([[0.5, -1.25], [0.75, 1.5], [-0.3, 0.2], [1.1, -0.4]])
C = np.array([[0.4, -0.8], [1.1, 0.9], [-0.6, 0.3]])
Y = np.array([0.5, -1.25, 0.75, 1.5, -0.3])

programs = Programs()
chosen = {}  # name -> how many loops of the function have one iteration reversed


def choosing(count, *runs, **options):
    def mark(f):
        chosen[f.__name__] = count
        return programs.on(*runs, **options)(f)

    return mark


@choosing(1, (C, X), (C[:0], X[:0]), (C[::-1].copy(), X))
def nearest(c, x):
    total = 0.0
    for i in range(x.shape[0]):
        best = np.inf
        for k in range(c.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                t = x[i, j] - c[k, j]
                d += t * t
            if d < best:
                best = d
        total += best
    return total


@choosing(2, (C, X, 0.7))
def smallest_and_greatest_with_records(c, x, w):
    total = w
    for i in range(x.shape[0]):  # every iteration needs the total of the one before
        best, worst = 50.0, -1.0
        for k in range(c.shape[0]):
            d = w
            for j in range(x.shape[1]):
                d = d + math.sin(d * (x[i, j] - c[k, j]))
            best = min(best, d * d)
        for k in range(c.shape[0]):
            worst = max(math.exp(w * (c[k, 0] - x[i, 1])), worst)
        total = math.sin(total) + best * total + worst
    return total


@choosing(1, (Y, 0.3), (Y[:0], 0.3), (Y - 5.0, 0.3), (Y + 5.0, 0.3))
def last_hit_with_its_weight(y, a):
    hit, weight = a, 1.0
    for v in y:
        if v < 0.0:
            continue
        e = math.exp(a * v)
        if e < 1.5:
            hit = e * v
            weight = e + a
    return hit * weight


@choosing(1, (Y, 0.3, True), (Y, 0.3, False))
def taken_and_then_dropped(y, a, keeps):
    best = a
    for k in range(y.shape[0]):
        t = math.sin(y[k] * a) if y[k] > -1.0 else best
        if keeps or k % 2 == 0:
            best = t
    return best * best


@choosing(1, (Y, 0.3, 1.0), (Y, 0.3, -9.0), (-Y, 0.3, 0.6))
def dropped_for_another(y, a, limit):
    best = a
    for k in range(y.shape[0]):
        t = best
        if y[k] > limit:
            t = a
            for _ in range(k):
                t = math.sin(t * y[k]) + a
        if k % 2 == 0:
            best = t
        elif y[k] > 0.0:
            best = math.cos(y[k] * a)
    return best * best


@choosing(0, (Y, 0.3))
def two_smallest(y, a):
    first, second = 10.0, 20.0
    for k in range(y.shape[0]):
        d = (y[k] - a) * (y[k] - a)
        if d < first:
            second = first
            first = d
        elif d < second:
            second = d
    return first * second


@choosing(0, (Y, 0.3))
def replaced_apart(y, a):
    p, q = a, a
    for k in range(y.shape[0]):
        if y[k] > 0.0:
            p = math.sin(y[k] * a)
        if y[k] < 1.0:
            q = math.cos(y[k] * a)
    return p * q


@choosing(0, (Y, 0.3))
def made_of_what_was_carried(y, a):
    best = 10.0
    for k in range(y.shape[0]):
        d = y[k] * y[k] + a
        if d < best:
            best = 0.9 * best + 0.1 * d
    return best


@choosing(0, (Y, 0.3))
def left_in_the_middle(y, a):
    best = a
    for k in range(y.shape[0]):
        if y[k] > 0.0:
            best = y[k] * math.exp(a)
        if y[k] > 1.0:
            break
    return best


@choosing(0, (Y, 0.3))
def writes_what_it_chooses(y, a):
    seen = np.zeros(y.shape[0])
    best = 10.0
    for k in range(y.shape[0]):
        d = math.exp(y[k] * a)
        seen[k] = d * a
        if d < best:
            best = d
    return best + seen.sum()


@choosing(0, (X, 1.5, 0.5), (X, 1.5, 0.0))
def cut_off(x, r, w):  # the inner loop is passed by beyond it, not where `w` is zero and moves
    total = 1.0
    for i in range(x.shape[0]):
        for k in range(i):
            d = 0.1
            for j in range(x.shape[1]):
                d = d + (x[i, j] - x[k, j]) ** 2
            if d < r:
                total = math.sin(total) + w * d
    return total


@pytest.mark.deep(
    but=[
        "cut_off",
        "nearest",
        "smallest_and_greatest_with_records",
        "taken_and_then_dropped",
        "two_smallest",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


@pytest.mark.deep(but=["cut_off", "nearest", "two_smallest"])
@pytest.mark.shows("selected", "independent", "replay")
@programs.parametrize()
def test_loops_are_told_apart(program):
    sweep = sweep_of(program.f, program)
    assert len(sweep.selected) == chosen[program.f.__name__]
    if program.f is dropped_for_another:
        assert not any(map(sweep.only_way, sweep.fn.blocks))
    if program.f is cut_off:
        assert len(sweep.found(Skip)) == 1


@pytest.mark.deep
@pytest.mark.parametrize("name", ["selected", "skip"])
def test_gradient_without(name):
    for program in programs:
        with switches.without(name):
            check_gradient(program)
