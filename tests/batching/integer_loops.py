"""Loops over points that go in lanes: integers that an iteration computes from those it reads."""

import math

import numpy as np
from numba import njit

from .lane_programs import P, X, Y, program

rng = np.random.default_rng(1)
COUNTS = rng.poisson(3.0, len(Y))
TRIALS = COUNTS + rng.integers(0, 4, len(Y))
# Nanoseconds since 1970: a float does not hold them, and it does hold their differences.
TIMES = np.cumsum(rng.integers(1, 1_000_000_000, len(Y))) + 1_700_000_000_000_000_001


@program(P, X, COUNTS, argnums=(0, 1), first=True)
def poisson(p, x, y):
    total = 0.0
    for i in range(len(y)):
        eta = p[0] + p[1] * x[i, 0]
        total += y[i] * eta - math.exp(eta) - math.lgamma(y[i] + 1)
    return total


@program(P, X, COUNTS.astype(np.int32), TRIALS.astype(np.int16))
def binomial(p, x, y, n):
    total = 0.0
    for i in range(len(y)):
        q = 1.0 / (1.0 + math.exp(-p[0] - p[1] * x[i, 0]))
        total += y[i] * math.log(q) + (n[i] - y[i]) * math.log(1.0 - q)
        total -= math.lgamma(n[i] - y[i] + 1)
    return total


@program(P, X, COUNTS, 20)
def as_many_trials_each(p, x, y, trials):
    total = 0.0
    for i in range(len(y)):
        q = 1.0 / (1.0 + math.exp(-p[0] - p[1] * x[i, 0]))
        total += y[i] * math.log(q) + (trials - y[i]) * math.log(1.0 - q)
    return total


@njit
def negative_binomial(k, mean, size):
    coefficient = math.lgamma(k + size) - math.lgamma(size) - math.lgamma(k + 1)
    return coefficient + size * math.log(size / (size + mean)) + k * math.log(mean / (size + mean))


@program(P, X, COUNTS)
def by_a_callee(p, x, y):
    total = 0.0
    for i in range(len(y)):
        total += negative_binomial(y[i], math.exp(p[0] + p[1] * x[i, 0]), math.exp(p[2]))
    return total


@program(P, TIMES, Y, argnums=(0, 2))
def differences_of_what_no_float_holds(p, t, y):
    total = 0.0
    for i in range(1, len(t)):
        total += y[i] * math.exp(-(p[0] ** 2) * (t[i] - t[i - 1]) * 1e-9)
    return total


@program(P, COUNTS, TRIALS)
def ratios_squares_and_signs(p, y, n):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-p[0] * (y[i] + 1) / (n[i] + 2)) * math.log(n[i] + 2)
        total += math.exp(-((y[i] - 2) ** 2) * p[1] ** 2) + math.sin(-y[i] * p[2])
        total += math.tanh((3 * y[i] - 2 * n[i]) * p[0])
    return total


@program(P, COUNTS, TRIALS)
def compared(p, y, n):
    total = 0.0
    for i in range(len(y)):
        failed = n[i] - y[i]
        if failed > 1:
            total += failed * math.log(1.0 + p[0] ** 2)
        elif n[i] <= 2:
            total += math.exp(p[1] * y[i])
    return total


@program(P, TIMES, TIMES[::-1].copy() + 1, loops=0)
def two_that_no_float_holds_stay(p, t, u):
    total = 0.0
    for i in range(len(t)):
        if t[i] + 1 == u[len(u) - 1 - i]:
            total += math.exp(p[0])
        if t[i] < u[i]:
            total += math.exp(p[1] * (t[i] - u[i]) * 1e-11)
    return total


CUTS = np.array([-1.5, -0.5, 0.3, 1.1, 2.0, 2.5, 3.0, 3.7, 4.1, 4.5, 5.0, 5.5, 6.0, 6.2, 6.4, 6.6])


@program(CUTS, COUNTS, Y, argnums=(0, 2))
def a_number_and_an_index(cuts, k, y):
    total = 0.0
    for i in range(len(k)):
        total += math.exp(-((y[i] - cuts[k[i] + 1]) ** 2)) * (k[i] + 1)
    return total


@program(P, COUNTS[: len(Y) // 2], Y)
def under_a_condition(p, k, y):
    """An array that ends before the loop does, and is read where it has elements."""
    total = 0.0
    for i in range(len(y)):
        if i < len(k):
            total += math.exp(p[0] * (k[i] - 1))
        else:
            total += math.exp(p[1] * y[i])
    return total


@program(P, COUNTS, np.zeros(0, np.int64), 0)
def in_a_loop_that_is_not_run(p, k, none, count):
    total = 0.0
    for i in range(len(k)):
        s = p[0] * (k[i] + 1)
        for _ in range(count):
            s += p[1] * (none[i] - 1)
        total += math.exp(-s * s)
    return total


TABLE = np.stack([COUNTS, TRIALS], axis=1)


@program(P, TABLE)
def of_a_table(p, d):
    total = 0.0
    for i in range(len(d)):
        total += (d[i, 1] - d[i, 0]) * math.log(1.0 + p[0] ** 2) + math.exp(p[1] * d[i, 0])
    return total


@program(P, Y, argnums=(0, 1))
def functions_of_the_number(p, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-p[0] * math.log(i + 1)) * y[i] + math.sqrt(i) / (i + 2) * p[1]
    return total


@program(P, np.stack([Y, Y], axis=1), COUNTS, argnums=(0, 1), loops=0)
def rows_over_counts_stay(p, x, k):
    total = 0.0
    for i in range(len(k)):
        total += math.exp(np.sum(x[i] / (k[i] + 1) * p[0]))
    return total


@program(P, COUNTS, loops=0)
def wrapped_indices_stay(p, k):
    total = 0.0
    for i in range(len(k)):
        total += math.exp(p[(k[i] + 1) % 3])
    return total
