"""Loops over points that stay where they are, for what they do or since they are cheap."""

import math

import numpy as np
from numba import njit

from .lane_programs import REST, P, X, Y, program


@program(P, Y, loops=0)
def cheap(p, y):
    total = 0.0
    for i in range(len(y)):
        total += (y[i] - p[0]) ** 2
    return total


@program(P, X, loops=0, first=True)
def written_after_it_is_read(p, x):
    n, d = x.shape
    b = np.zeros(d)
    total = 0.0
    for i in range(n):
        total += math.exp(b[0] * x[i, 0])
        for j in range(d):
            b[j] = x[i, j] * p[j]
    return total


@program(P, X, loops=0, first=True)
def written_in_part(p, x):
    n, d = x.shape
    b = np.zeros(d)
    total = 0.0
    for i in range(n):
        for j in range(1, d):
            b[j] = x[i, j] * p[j]
        s = 0.0
        for j in range(d):
            s += b[j]
        b[0] = s
        total += math.exp(s)
    return total


@program(P, X, loops=0, first=True)
def read_afterwards(p, x):
    n, d = x.shape
    b = np.zeros(d)
    total = 0.0
    for i in range(n):
        for j in range(d):
            b[j] = x[i, j] * p[j]
        s = 0.0
        for j in range(d):
            s += b[j] * b[j]
        total += s
    return total + b[1]


@program(P, X, loops=0, first=True)
def read_afterwards_as_an_index(p, x):
    n, d = x.shape
    b = np.zeros(d)
    total = 0.0
    for i in range(n):
        for j in range(d):
            b[j] = x[i, j]
        s = 0.0
        for j in range(d):
            s += b[j] * p[j]
        total += math.exp(s)
    return total * p[np.argmax(b)]


@program(P, X, loops=0, first=True)
def asked_before_it_is_written(p, x):
    """What is asked of the array carries no derivative."""
    n, d = x.shape
    b = np.zeros(d)
    total = 0.0
    for i in range(n):
        weight = 1.0 if np.argmax(b) == 0 else 2.0
        for j in range(d):
            b[j] = x[i, j]
        total += weight * math.exp(b[0] * p[0])
    return total


@njit
def first_above(b, bound):
    for k in range(len(b)):
        if b[k] > bound:
            return k
    return 0


@program(P, X, loops=0, first=True)
def read_afterwards_by_a_callee(p, x):
    """What is in the array depends on no argument, and what the callee returns is an integer."""
    n, b = len(x), np.zeros(3)
    total = 0.0
    for i in range(n):
        for j in range(3):
            b[j] = 0.5 * j
        total += math.exp(b[0] * p[0] - x[i, 0])
    return total * p[first_above(b, 0.7)]


@program(P, Y, loops=0)
def carried(p, y):
    total = before = 0.0
    for i in range(len(y)):
        before = p[0] * before + y[i]
        total += math.exp(before)
    return total


@program(P, Y, loops=0)
def returned_early(p, y):
    total = 0.0
    for i in range(len(y)):
        if y[i] > 1e9:
            return total
        total += math.exp(p[0] * y[i])
    return total


@program(P, Y, argnums=(0, 1), loops=0, first=True)
def first_neighbour_is_the_last(p, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(y[i] - p[0] * y[i - 1])
    return total


@program(P, Y, argnums=(0, 1), loops=0)
def from_below_zero(p, y):
    total = 0.0
    for i in range(-2, 5):
        total += math.exp(y[i] - p[0])
    return total


@program(P, X, np.arange(37) % 3, loops=0)
def looked_up_twice(p, x, k):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(p[k[k[i]]] * x[i, 0])
    return total


@njit
def tick(counter):
    counter[0] += 1.0


@program(P, Y, loops=0, first=True)
def counted_by_a_callee(p, y):
    total, counter = 0.0, np.zeros(1)
    for i in range(len(y)):
        tick(counter)
        total += math.exp(p[0] * y[i]) * counter[0]
    return total


@program(P, Y, loops=0)
def counted_in_an_array(p, y):
    total, counter = 0.0, np.zeros(1, np.int64)
    for i in range(len(y)):
        counter.fill(counter[0] + 1)
        total += math.exp(p[0] * y[i]) * counter[0]
    return total


@program(P, Y, loops=0)
def with_a_draw(p, y):
    np.random.seed(3)
    total = 0.0
    for i in range(len(y)):
        total += math.exp(p[0] * y[i]) * np.random.normal()
    return total


@njit(boundscheck=True)
def with_checked_bounds(p, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-((y[i] - p[0]) ** 2))
    return total


REST.append((with_checked_bounds, (P, Y), 0, 0))


LARGE = 1_700_000_000_000_000_000


@program(P, Y, np.arange(37) + LARGE, np.arange(37)[::-1] + LARGE, loops=0, first=True)
def large_integers_compared(p, y, start, stop):
    """Floats do not hold nanoseconds since 1970."""
    total = 0.0
    for i in range(len(y)):
        if start[i] < stop[i]:
            total += math.exp(p[0] * y[i])
    return total


@program(P, X, np.arange(37) % 4, np.ones((4, 3)), argnums=(0, 3), loops=0)
def rows_picked_for_cheap_loops(p, x, k, levels):
    total = 0.0
    for i in range(len(x)):
        z = 0.0
        for j in range(3):
            z += levels[k[i], j] * x[i, j]
        total += z * z * p[0]
    return total
