"""Loops that write elements or rows of arrays at the number of the iteration, `r[i] = ...`."""

import math

import numpy as np
from numba import njit

from .lane_programs import P, X, Y, program

T = np.linspace(0.0, 2.0, 37)


@program(P, T, Y, argnums=(0, 1, 2), first=True)
def a_model_and_its_misfit(p, t, y):
    m = np.empty(len(t))
    for i in range(len(t)):
        m[i] = p[0] * math.exp(-p[1] * t[i]) if t[i] > 0.4 else p[2]
    return np.sum((m - y) ** 2)


@program(P, T, Y, argnums=(0, 1, 2), first=True)
def by_branches(p, t, y):
    r = np.zeros(len(t))
    for i in range(len(t)):
        if t[i] > 1.0:
            r[i] = p[0] * math.exp(-p[1] * t[i]) - y[i]
        elif y[i] > 0.0:
            r[i] = p[2] * math.sin(t[i])
    return np.sum(r * r)


@program(P, T, Y, argnums=(0, 1, 2), first=True)
def what_was_there(p, t, y):
    """Written over by a nonlinear function of itself, in some iterations, and summed as well."""
    r = y * p[2]
    total, count = 0.0, 0
    for i in range(len(t)):
        if y[i] > 0.5:
            r[i] *= math.exp(-p[1] * r[i])
            count += 1
        total += math.log1p(r[i] * r[i]) * p[0]
    return total + np.sum(r * r * r) / count


@program(P, X, argnums=(0, 1), first=True)
def rows_of_a_matrix(p, x):
    z = np.empty((len(x), 4))
    for i in range(len(x)):
        for j in range(3):
            z[i, j] = math.exp(p[j] * x[i, j])
        z[i, 3] = z[i, 0] * z[i, 1]
    return np.sum(z * z)


@program(P, X, Y, argnums=(0, 1, 2))
def columns_of_a_matrix(p, x, y):
    z = np.ones((3, len(x)))
    for i in range(len(x)):
        z[0, i] = math.exp(p[0] * x[i, 0]) * z[2, i] if y[i] > 0.2 else p[2] * p[0]
        z[1, i] += z[0, i] * p[1]
    return np.sum(z * z * y)


@program(P, X, Y, argnums=(0, 1, 2))
def elements_of_rows(p, x, y):
    z = np.zeros((len(x), 3))
    for i in range(len(x)):
        z[i, 0] = math.exp(p[0] * x[i, 0]) if y[i] > 0.2 else p[2] * p[0]
        z[i, 2] -= z[i, 0] * p[1]
    return np.sum(z * z) + z[3, 1]


@program(P, X, argnums=(0, 1))
def parts_of_rows(p, x):
    z = np.zeros((len(x), 5))
    for i in range(len(x)):
        z[i, 1:4] = np.exp(p * x[i])
        z[i, 4] = z[i, 1] * z[i, 2]
    return np.sum(z**2)


@program(P, X, argnums=(0, 1))
def a_row_by_a_name(p, x):
    z = np.zeros((len(x), 3))
    for i in range(len(x)):
        row = z[i]
        for j in range(3):
            row[j] = math.exp(p[j] - x[i, j])
    return np.sum(z**2)


@program(P, T, Y, argnums=(0, 1, 2), loops=2)
def one_loop_reads_what_another_writes(p, t, y):
    m = np.empty(len(t) + 1)
    m[0] = p[0]
    for i in range(len(t)):
        m[i + 1] = math.exp(-p[1] * t[i]) if t[i] < 1.3 else p[2]
    total = 0.0
    for i in range(len(t)):
        total += math.sin(m[i + 1] - m[i]) * y[i]
    return total


@njit
def fill(out, p, t):
    for i in range(len(t)):
        out[i] = p[0] * math.exp(-p[1] * t[i]) if t[i] > 0.4 else p[2]


@program(P, T, Y, argnums=(0, 1, 2))
def filled_by_a_callee(p, t, y):
    m = np.empty_like(t)
    fill(m, p, t)
    return np.sum((m - y) ** 2)


@program(P, T, argnums=(0, 1))
def written_over_later(p, t):
    """What the loop read is another when it is reversed, and what it wrote is gone."""
    a, m = t * p[2], np.empty(len(t))
    for i in range(len(t)):
        m[i] = math.exp(p[0] * a[i]) if t[i] > 0.4 else p[1]
    total = np.sum(m * m)
    for i in range(len(t)):
        a[i] = m[i] * p[1]
        m[i] = 0.0
    return total + np.sum(a * a) + np.sum(m)


@program(P, T)
def by_constants_and_by_what_depends_on_nothing(p, t):
    m, k = np.empty(len(t)), np.empty(len(t))
    total = 0.0
    for i in range(len(t)):
        k[i] = math.exp(-t[i])
        m[i] = 0.5
        total += math.exp(p[0] * k[i]) * m[i]
    return total + np.sum(k) + np.sum(m)


@program(P, T)
def only_the_sum_matters(p, t):
    m = np.empty(len(t))
    total = 0.0
    for i in range(len(t)):
        m[i] = math.exp(p[0] * t[i])
        total += m[i] * m[i]
    return total if total < 0.0 else total * 2 + len(m)


@program(P, T, Y, argnums=(0, 1, 2))
def by_enumerate_and_zip(p, t, y):
    m = np.zeros(len(t))
    for i, (a, b) in enumerate(zip(t, y)):  # noqa: B905  (Numba knows no `strict`)
        m[i] = math.exp(p[0] * a) * b if b > 0.0 else 0.5 * b
    return np.sum(m**2)


@program(P, T, argnums=(0, 1), loops=2)
def a_second_time(p, t):
    m = np.ones(len(t))
    for i in range(len(t)):
        m[i] = math.exp(p[0] * m[i] * t[i]) if t[i] > 0.4 else p[2]
    for i in range(len(t)):
        m[i] = math.sin(p[1] * m[i]) if t[i] < 1.4 else m[i]
    return np.sum(m**2)


@program(P, T, argnums=(0, 1))
def a_view(p, t):
    z = np.ones((len(t), 2))
    column = z[:, 1]
    for i in range(len(t)):
        column[i] *= math.exp(p[0] * t[i]) if t[i] > 0.4 else p[2]
    return np.sum(z**2 * p[1])


@program(P, T[:5], argnums=(0, 1))
def fewer_than_there_are_lanes(p, t):
    m = np.ones(7)
    for i in range(len(t)):
        m[i] += math.exp(p[0] * t[i]) if t[i] > 0.1 else p[2]
    return np.sum(m**2)


@program(P, X)
def every_second_column(p, x):
    z = np.zeros((6, len(x)))[::2]
    for i in range(len(x)):
        for j in range(3):
            z[j, i] = math.exp(p[j] * x[i, j])
    return np.sum(z**2)


@program(P, T, np.ones(37), argnums=(0, 1, 2), first=True)
def into_an_argument(p, t, m):
    for i in range(len(t)):
        m[i] *= math.exp(-p[0] * t[i]) if t[i] > 0.4 else p[2]
    return np.sum(m * m)


@program(P, T, np.zeros(0), argnums=(0, 1), first=True)
def written_in_a_loop_that_is_not_run(p, t, b):
    z, n = np.ones((len(t), 2)) * p[1], len(b)
    for i in range(len(t)):
        for j in range(n):
            z[i, 0] = math.exp(p[0] * t[i]) * b[j]
        z[i, 1] *= math.exp(p[0] * z[i, 1])
    return np.sum(z * z)


# -- what stays where it is ----------------------------------------------------------------------------


@program(P, T, Y, argnums=(0, 1, 2), loops=0, first=True)
def straight_on(p, t, y):
    """LLVM makes vector code of it."""
    m = np.empty(len(t))
    for i in range(len(t)):
        m[i] = p[0] * math.exp(-p[1] * t[i]) + p[2]
    return np.sum((m - y) ** 2)


@program(P, T, loops=0, first=True)
def recurrence(p, t):
    m = np.zeros(len(t) + 1)
    for i in range(len(t)):
        m[i + 1] = math.exp(-p[0] * m[i]) + t[i]
    return m[-1]


@program(P, T, loops=0)
def a_neighbour_is_read(p, t):
    m = np.zeros(len(t) + 1)
    for i in range(len(t)):
        m[i] = math.exp(-p[0] * t[i]) + m[i + 1]
    return np.sum(m)


@program(P, T, loops=0, first=True)
def by_two_names(p, t):
    m = np.ones(len(t) + 1)
    before = m[:-1]
    for i in range(len(t)):
        m[i + 1] = math.exp(-p[0] * before[i]) + t[i]
    return np.sum(m)


@program(P, T, loops=0)
def at_the_other_end(p, t):
    m = np.ones(len(t))
    for i in range(len(t)):
        m[len(t) - 1 - i] = math.exp(-p[0] * t[i])
    return np.sum(m * t)


@program(P, T, loops=0)
def at_one_place(p, t):
    m = np.ones(3)
    for i in range(len(t)):
        m[1] = math.exp(-p[0] * t[i])
        m[0] += m[1]
    return np.sum(m)


@program(P, T, loops=0)
def the_array_itself_is_asked(p, t):
    m = np.ones(len(t))
    for i in range(len(t)):
        m[i] = math.exp(-p[0] * t[i]) * m.sum()
    return np.sum(m)


@program(P, T, loops=0)
def the_number_itself(p, t):
    m = np.ones(len(t))
    total = 0.0
    for i in range(len(t)):
        m[i] = i
        total += math.exp(-p[0] * t[i]) * m[i]
    return total
