"""Loops over points that go in lanes: what an iteration reads at its own number, and what it does with it."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .lane_programs import REST, P, X, Y, program, rng

# -- what is the iteration's own -----------------------------------------------------------------------


@program(P, X, Y, argnums=(0, 1, 2), first=True)
def elements(p, x, y):
    total = 1.5
    for i in range(1, len(y)):
        mean = p[0] + p[1] * x[i, 0] + p[2] * x[i, 2]
        total -= math.exp(-((y[i] - mean) ** 2))
    return total * p[0]


@program(P, Y, argnums=(0, 1), first=True)
def neighbours(p, y):
    total = 0.0
    for i in range(2, len(y)):
        total += math.tanh(y[i] - p[0] * y[i - 1] - p[1] * y[i - 2])
    return total


@program(P, Y, argnums=(0, 1))
def ahead(p, y):
    total = 0.0
    for i in range(len(y) - 1):
        total += math.exp(-((y[i + 1] - p[0] * y[i]) ** 2)) * (i + 1) * 0.1
    return total


@program(P, np.ascontiguousarray(X.T), Y, argnums=(0, 1))
def along_the_second_axis(p, x, y):
    total = 0.0
    for i in range(x.shape[1]):
        mean = 0.0
        for j in range(3):
            mean += p[j] * x[j, i]
        total += math.sin(mean) * y[i]
    return total


@program(P, X, argnums=(0, 1), first=True)
def rows(p, x):
    total = 0.0
    for row in x:
        total += math.tanh((row * p).sum())
    return total


@program(P, X, Y, argnums=(0, 1, 2))
def zipped(p, x, y):
    total = 0.0
    for row, v in zip(x, y):  # noqa: B905  (Numba knows no strict)
        total += math.exp(p[2] - (v - p[0] * row[1]) ** 2)
    return total


@program(P, X, Y, argnums=(0, 1, 2))
def enumerated(p, x, y):
    total = 0.0
    for i, v in enumerate(y):
        total += math.exp(-((v - p[0] * x[i, 1]) ** 2))
    return total


@program(P, X, Y, argnums=(0, 1, 2))
def enumerated_and_zipped(p, x, y):
    total = 0.0
    for i, (v, w) in enumerate(zip(x[:, 0], y)):  # noqa: B905  (Numba knows no strict)
        total += math.exp(-((v - p[0] * w * x[i, 1]) ** 2))
    return total


@program(P, np.asfortranarray(X), Y[::-1], argnums=(0, 1, 2))
def other_orders(p, x, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-((y[i] - p[0] * x[i, 1]) ** 2))
    return total


@program(P, X.astype(np.float32), Y)
def single_precision(p, x, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-((y[i] - p[0] * x[i, 1]) ** 2))
    return total


@program(P, Y, first=True)
def numbers(p, y):
    total = 0.0
    for i in range(3, len(y)):
        t = float(i)
        total += (y[i] - p[0] * math.exp(-p[1] * (i * 0.1))) ** 2 / (i + 1.0) + math.cos(p[1] * t)
    return total


@program(P, X, np.arange(37) % 3, first=True)
def counts(p, x, k):
    total = 0.0
    for i in range(x.shape[0]):
        log_rate = p[0] + p[1] * x[i, 0]
        total += k[i] * log_rate - math.exp(log_rate)
        if k[i] == 0 or k[i] > 1:
            total += log_rate * log_rate * k[i]
    return total


@program(P, X, np.arange(37) % 3 == 1)
def masked(p, x, mask):
    total = 0.0
    for i in range(x.shape[0]):
        if mask[i]:
            total += math.exp(x[i, 0] - p[0])
        elif i > 20:
            total += (i - 3) * p[1]
    return total


@program(P, X, np.arange(111).reshape(37, 3) % 2)
def rows_of_integers(p, x, k):
    total = 0.0
    for i in range(x.shape[0]):
        found = 0.0
        for j in range(3):
            found += k[i, j] * p[j]
        total += found * found * x[i, 1]
    return total


GROUPS = np.arange(37) % 10 - 5


@program(rng.normal(size=5), X, GROUPS, rng.normal(size=(5, 3)), argnums=(0, 1, 3), first=True)
def groups(p, x, k, slopes):
    """Some groups count from the end."""
    total = 0.0
    for i in range(x.shape[0]):
        own = k[i]
        mean = p[own] + own * 0.1
        for j in range(3):
            mean += slopes[own, j] * x[i, j]
        total += math.exp(-mean * mean) + slopes[own, 1]
    return total


@program(rng.normal(size=5), X, np.arange(37) % 6 - 1, rng.normal(size=(5, 3)), argnums=(0, 1, 3))
def some_without_a_group(p, x, k, slopes):
    total = 0.0
    for i in range(x.shape[0]):
        mean = x[i, 0]
        if k[i] >= 0:
            mean += p[k[i]]
            mean += slopes[k[i], 2]
        total += math.exp(-mean * mean)
    return total


@program(P, X, np.arange(74).reshape(37, 2) % 3, argnums=(0, 1))
def two_groups(p, x, k):
    total = 0.0
    for i in range(x.shape[0] - 1):
        row = x[k[i, 1]]
        total += math.exp(-(p[k[i, 0]] ** 2) - p[k[i + 1, 0]]) + row[0] * row[1] * p[0]
    return total


@program(rng.normal(size=7), X, np.arange(37) % 5, first=True)
def groups_in_one_array_with_others(p, x, k):
    total = 0.0
    for i in range(x.shape[0]):
        rate = p[2 + k[i]] + p[0] * x[i, 0]
        total += math.exp(-rate * rate) + p[k[i] - 1] * k[i]
    return total


@program(P, X, np.array([2, 0, 1]), argnums=(0, 1))
def shared_integers(p, x, order):
    total = 0.0
    for i in range(x.shape[0]):
        mean = p[order[0]]
        for j in range(3):
            mean += p[order[j]] * x[i, order[j]]
        total += math.exp(-mean * mean)
    return total


@program(P, X, np.zeros(0), False, argnums=(0, 1, 2), first=True)
def optional(p, x, y, given):
    """`y` is read by nobody, and has no element."""
    total = 0.0
    for i in range(len(x)):
        residual = x[i, 0] * p[0]
        if given:
            residual -= y[i]
        total += math.exp(-residual * residual)
    return total


@program(P, X, np.ones((3, 5)), argnums=(0, 1, 2))
def shorter(p, x, y):
    total = 0.0
    for i in range(len(x)):
        residual = x[i, 0] * p[0]
        if i <= 2:
            for k in range(y.shape[1]):
                residual -= y[i, k] * p[1]
        total += residual * residual
    return total


@program(P, X, 2, argnums=(0, 1))
def no_iteration(p, x, n):
    total = 1.0 * p[0]
    for i in range(2, n):
        total += math.exp(x[i, 0] - p[0])
    return total


@program(P, X, 9, argnums=(0, 1))
def fewer_than_lanes(p, x, n):
    total = 0.0
    for i in range(2, n):
        total += math.exp(x[i, 0] - p[0])
    return total


@program(P, X, Y, np.array([0.3]), argnums=(0, 2, 3), loops=2, first=True)
def whole_arrays(p, x, y, one):
    residuals = y - p[0] * np.exp(-p[1] * x[:, 1]) + one
    return np.sum(np.tanh(residuals) ** 2) + (np.exp(one) * np.sin(y)).sum()


# -- sums ----------------------------------------------------------------------------------------------


@program(P, X, Y, argnums=(0, 1, 2), first=True)
def two_sums(p, x, y):
    total, weight = 0.0, 2.0
    for i in range(len(y)):
        residual = y[i] - p[0] * x[i, 0]
        total += residual * residual
        if residual > p[1]:
            weight += math.log(1 + residual * residual)
    return total / weight


@program(P, Y, argnums=(0, 1), first=True)
def added_to_what_is_there(p, y):
    """Where the loop is reversed, its elements have adjoints already; two rows are of one array."""
    total, weight = 0.0, 2.0
    for i in range(1, len(y)):
        bell = math.exp(-((y[i] - p[0] * y[i - 1]) ** 2))
        total += bell
        weight += bell * bell
    return total / weight + y[3] * p[1] * y[20]


@program(P, X)
def three_sums(p, x):
    a, b, c = 0.0, 0.0, 5.0
    for i in range(len(x)):
        r = math.sin(x[i, 0] * p[0])
        a += r
        b += r * r
        if r > 0:
            c -= r**3
        else:
            c += 1.0
    return a / len(x) + b * c


@program(P, X, np.arange(37) % 3 == 1, argnums=(0, 1), first=True)
def counted(p, x, mask):
    total, count = 0.0, 0
    for i in range(len(x)):
        if mask[i]:
            total += math.exp(x[i, 0] * p[0])
            count += 1
    return total / count * p[count // 12]


@program(P, Y, 2**60 + 1, first=True)
def counted_from_a_large_number(p, y, start):
    """Which no float holds."""
    total, count = 0.0, start
    for i in range(len(y)):
        total += math.exp(y[i] * p[0])
        count += 1
    return total * p[count % 3]


@program(P, Y, np.array([2**60 + 1, 1]), loops=0, first=True)
def large_numbers_added(p, y, steps):
    total, check = 0.0, 0
    for i in range(len(y)):
        total += math.exp(y[i] * p[0])
        check += steps[0] * steps[1]
    return total * p[check % 3]


@program(P, Y, loops=2, first=True)
def one_after_the_other(p, y):
    """What the first loop reads is written to before the second."""
    q, total = p * 2.0, 0.0
    for i in range(len(y)):
        total += math.exp(q[0] * y[i])
    q[0] = 7.0 * total
    for i in range(len(y)):
        total += math.sin(q[0] * y[i] * 0.001)
    return total


# -- arrays, branches, loops within, callees -----------------------------------------------------------


@program(P, X, first=True)
def arrays_to_write_in(p, x):
    n, d = x.shape
    b, c = np.empty(d), np.zeros((d, d))
    total = 0.0
    for i in range(n):
        for j in range(d):
            b[j] = x[i, j] * p[j]
        for j in range(d):
            for k in range(d):
                c[j, k] = b[j] * b[k]
        s = 0.0
        for j in range(d):
            for k in range(d):
                s += c[j, k] * c[k, j]
        total += math.log(1 + s)
    return total


@program(P, X, Y)
def arrays_of_its_own(p, x, y):
    total = 0.0
    for i in range(len(y)):
        a = np.zeros(4)
        a[0] = x[i, 0]
        for k in range(3):
            a[k + 1] = a[k] * p[k] + math.sin(a[k])
        total += (y[i] - a[3]) ** 2
    return total


@program(np.array([0.1, 0.5, 0.7]), Y, first=True)
def newton(p, y):
    total = 0.0
    for i in range(len(y)):
        z, step = y[i], 1.0
        while abs(step) > 1e-13:
            step = (z - p[0] * math.sin(z) - y[i]) / (1 - p[0] * math.cos(z))
            z = z - step
        total += z * z
    return total


@program(P, X, Y, argnums=(0, 1))
def left_early(p, x, y):
    total = 0.0
    for i in range(len(y)):
        if y[i] < -1:
            continue
        s = 0.0
        for j in range(3):
            if x[i, j] > 1:
                break
            s += p[j] * x[i, j]
        total += s * s
    return total


@njit
def model(p, t):
    return p[0] * math.exp(-p[1] * t)


@njit
def misfit(p, y):
    total = 0.0
    for i in range(len(y)):
        total += (model(p, y[i]) - 1.0) ** 2
    return total


@program(P, Y, loops=2)
def callees(p, y):
    return misfit(p, y) * p[0] + misfit(2.0 * p, y)


class Pair(NamedTuple):
    a: float
    b: np.ndarray


@program(Pair(0.3, np.array([0.2, 0.1])), Y)
def named_tuple(q, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-((q.a * y[i] + q.b[0]) ** 2)) + q.b[1]
    return total


@program(0.7, Y, argnums=(0, 1))
def number_and_branches(a, y):
    total = 0.0
    for i in range(y.size):
        if y[i] > 0:
            total += math.exp(math.sqrt(y[i] * a))
        else:
            total += a / (1 - y[i])
    return total


@njit(fastmath=True)
def with_fastmath(p, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(-((y[i] - p[0]) ** 2))
    return total


@njit(error_model="numpy")
def with_numpys_errors(p, y):
    total = 0.0
    for i in range(len(y)):
        total += math.exp(p[0] / (1 + y[i] ** 2 / p[1]))
    return total


REST += [(with_fastmath, (P, Y), 0, 1), (with_numpys_errors, (P, Y), 0, 1)]


@program(P, X, Y, first=True)
def zipped_without_derivative(p, x, y):
    """The call that fetches an item of what is not differentiated writes to nothing."""
    total, nu = 0.0, 4.0
    const = math.lgamma(0.5 * (nu + 1)) - math.lgamma(0.5 * nu)
    for a, b in zip(x[:, 0], y):  # noqa: B905  (Numba knows no strict)
        z = (b - p[0] - p[1] * a) / abs(p[2])
        total += const - math.log(abs(p[2])) - 0.5 * (nu + 1) * math.log1p(z * z / nu)
    return total


@program(P, X, Y, first=True)
def mixture(p, x, y):
    total, logs = 0.0, np.empty(3)
    for i in range(len(y)):
        for k in range(3):
            logs[k] = -0.5 * (y[i] - p[k]) ** 2
        most = logs.max()
        total += most + np.log(np.sum(np.exp(logs - most)))
    return total


@program(P, X, Y)
def mixture_of_whole_arrays(p, x, y):
    total = 0.0
    for i in range(len(y)):
        logs = -0.5 * (y[i] - p) ** 2
        most = np.max(logs)
        total += most + np.log(np.sum(np.exp(logs - most))) + np.min(logs)
    return total


GAPS = np.where(np.arange(37) % 5, Y, np.nan)


@program(P, X, GAPS, first=True)
def gaps(p, x, y):
    total, count = 0.0, 0
    for i in range(x.shape[0]):
        if np.isnan(y[i]):
            continue
        total += np.exp(-((y[i] - p[0] * x[i, 0]) ** 2))
        count += 1
    return total / count


TIMES, WEIGHTS = np.linspace(0.0, 1.0, 37), np.array([1.0, 2.0, 0.5])


@program(P, X, argnums=(0, 1), first=True)
def global_arrays(p, x):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(-((x[i, 0] - p[0] * TIMES[i]) ** 2)) * WEIGHTS[1]
    return total


class Data(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    group: np.ndarray


@program(P, Data(X, Y, np.arange(37) % 3), argnums=0, first=True)
def named_tuple_of_data(p, data):
    total = 0.0
    for i in range(data.y.size):
        total += math.exp(-((data.x[i, 0] - p[data.group[i]] * data.y[i]) ** 2))
    return total


@program((P, (X, Y)))
def nested_tuples(q):
    total = 0.0
    for i in range(len(q[1][1])):
        total += math.exp(-((q[1][0].T[0, i] - q[0][1] * q[1][1][i]) ** 2))
    return total


@program(P, X, Y, argnums=(0, 1, 2))
def scalar_products(p, x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(-((np.dot(x[i], p) - y[i]) ** 2))
    return total


@program(P, X, np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3), argnums=(0, 1, 2), first=True)
def products_of_vectors(p, x, c):
    """What is put in place of products comes to code with names of its own."""
    total = 0.0
    for i in range(x.shape[0]):
        d = x[i] - p
        total += d @ c @ d + (c @ d)[1] + (d @ c).sum()
    return total


@program(P, X, argnums=(0, 1), first=True)
def shapes_asked_inside(p, x):
    """The array is not one of those that lanes share for that."""
    total = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(x.shape[1]):
            z += x[i, j] * p[j]
        total += math.log1p(math.exp(z)) / len(x)
    return total


@program(P, np.zeros(0), np.zeros((0, 0)), Y, argnums=(0, 2), first=True)
def a_loop_over_no_columns(p, b, x, y):
    total, n = 0.0, len(b)
    for i in range(len(y)):
        z = p[0] * y[i]
        for j in range(n):
            z += x[i, j] * b[j]
        total += math.log1p(math.exp(z))
    return total


@program(P, np.zeros(0), np.zeros((0, 2)), np.arange(37) % 3, Y, argnums=(0, 2))
def groups_of_no_columns(p, b, levels, k, y):
    total, n = 0.0, len(b)
    for i in range(len(y)):
        z = p[0] * y[i]
        for j in range(n):
            z += levels[k[i], j] * b[j]
        total += math.log1p(math.exp(z))
    return total


FEW = np.arange(37) % 3


@program(P, X, first=True)
def global_groups(p, x):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(p[FEW[i]] * x[i, 0])
    return total


@program(P + 1.0, np.abs(Y), argnums=(0, 1), first=True)
def logarithms_of_gamma(p, y):
    total = 0.0
    for i in range(len(y)):
        total += math.lgamma(p[0] + y[i]) - p[1] * math.exp(-y[i])
    return total
