"""Functions with loops that are reversed iteration by iteration, and with loops that only look so."""

import math

import numpy as np

from tests.reverse.oracle import Programs

X = np.array([0.5, -1.25, 0.75, 1.5, -0.3])
W = np.array([1.5, 0.25, -0.5, 0.875, 2.0])
M = np.array([[0.4, -0.8, 1.1], [0.9, 0.3, -0.6], [-1.2, 0.7, 0.2], [0.1, 0.6, -0.4]])

programs = Programs()
alone = {}  # name -> whether a loop of the function is reversed iteration by iteration


def independent(*runs, **options):
    def mark(f):
        alone[f.__name__] = True
        return programs.on(*runs, **options)(f)

    return mark


def dependent(*runs, **options):
    def mark(f):
        alone[f.__name__] = False
        return programs.on(*runs, **options)(f)

    return mark


# -- loops that are --------------------------------------------------------------------------


@independent((X, 0.7), (X[:0], 0.7), (X[:1], -0.2))
def paths(x, rate):
    total = 0.0
    for k in range(x.shape[0]):
        s = x[k]
        for i in range(4):
            s = s + rate * math.sin(s) * (i + 1)
        total += s * s
    return total


@independent((X, 0.7))
def mean_by_sizes(x, rate):
    total = 0.0
    for k in range(x.shape[0]):
        s = x[k]
        for i in range(4):
            s = s + rate * math.sin(s) * (i + 1)
        total += s * s
    (n,) = x.shape
    return 3.0 * total / (len(x) * x.size - n + x.ndim)


@independent((X, 0.7))
def mean_by_the_size_of_a_later_array(x, rate):
    total = 0.0
    for k in range(x.shape[0]):
        s = x[k]
        for i in range(4):
            s = s + rate * math.sin(s) * (i + 1)
        total += s * s
    return total / x[1:].size


@independent((X, 0.7), (X, 2.5))
def paths_that_pay_or_not(x, rate):
    total = 0.0
    for k in range(x.shape[0]):
        s = x[k]
        v = rate
        for i in range(5):
            r = 0.0
            if v > 0.0:
                r = math.sqrt(v)
            s = s + r * s * 0.3
            v = v + 0.4 * (0.3 - v) + r * 0.1 * s
        if s > 0.6:
            total += s - 0.6
    return math.exp(-rate) * total / x.shape[0]


@independent((X, W, 1.25))
def function_of_the_sum(x, w, c):
    total = c
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(3):
            y = y * w[k] + 0.5 * math.cos(y)
        total += y
    return math.sin(total) * c + total * total


@independent((X, 0.3))
def newton(x, e):
    total = 0.0
    for k in range(x.shape[0]):
        y = x[k] + e * math.sin(x[k])
        while True:
            d = (y - e * math.sin(y) - x[k]) / (1.0 - e * math.cos(y))
            y = y - d
            if not abs(d) > 1e-10:
                break
        total += y
    return total


@independent((M, W))
def scratch(m, w):
    n, d = m.shape
    row = np.empty(d)
    out = np.empty((d, d))
    total = 0.0
    for k in range(n):
        for i in range(d):
            row[i] = m[k, i] * w[i]
        for i in range(d):
            for j in range(d):
                out[i, j] = row[i] * math.sin(row[j])
        for i in range(1, d):
            row[i] += row[i - 1] * out[i, 0]
        for i in range(d):
            for j in range(i + 1):
                total += row[i] * out[j, i]
    return total


@independent((M, 0.5))
def scratch_of_three(m, c):
    p = np.empty(3)
    q = np.zeros(3)
    total = 0.0
    for k in range(m.shape[0]):
        p[0] = m[k, 0]
        p[1] = m[k, 1] * c
        p[2] = m[k, 2]
        for _ in range(3):
            q[0] = c * (p[1] - p[0])
            q[1] = p[0] * (1.0 - p[2]) - p[1]
            q[2] = p[0] * p[1] - p[2]
            for i in range(3):
                p[i] = p[i] + 0.1 * q[i]
        total -= p[0] * p[1] * p[2]
    return total


@independent((M, 0.5))
def arrays_of_an_iteration(m, c):
    total = 0.0
    for k in range(m.shape[0]):
        row = m[k]
        y = np.empty(row.size + 1)
        y[0] = c
        for i in range(row.size):
            y[i + 1] = y[i] * row[i] + math.sin(y[i])
        total += y[row.size] * y[1]
    return total


@independent((X, 0.4), (-X, 0.4))
def sums_in_branches(x, c):
    total = 0.0
    for k in range(x.shape[0]):
        y = math.exp(c * x[k])
        for _ in range(2):
            y = y * y * c
        if x[k] > 0.0:
            total += y
            if y > 1.0:
                total = total - x[k] * y
            continue
        for i in range(k):
            total += y * x[i]
    return total


@independent((X, 0.4))
def two_loops(x, c):
    first = 0.0
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(3):
            y = math.sin(y * c)
        first += y
    second = 0.0
    for k in range(x.shape[0]):
        y = x[k] * first
        for _ in range(3):
            y = y * y + c
        second += y
    return first * second


@independent((X, 0.4))
def sum_with_a_start(x, c):
    total = math.sin(c) * x[0]
    for k in range(x.shape[0]):
        y = x[k] * c
        for _ in range(2):
            y = y * y + c
        total = y + total
    return (total, c * c)[0]


@independent((X, 0.4))
def array_written_before_and_after(x, c):
    a = x.copy()
    for i in range(a.shape[0]):
        a[i] = a[i] * c
    total = 0.0
    for k in range(a.shape[0]):
        y = a[k]
        for _ in range(2):
            y = y * y + a[0]
        total += y
    a[0] = total * c
    a[1] = a[0] * a[2]
    return total + a[1] * a[0]


# -- loops that are not ----------------------------------------------------------------------


@dependent((X, 0.4))
def partial_sums_are_kept(x, c):
    out = np.empty(x.shape[0])
    total = 0.0
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        total += y
        out[k] = total
    return out[1] * out[3] + total


@dependent((X, 0.4))
def partial_sums_are_used(x, c):
    total = 0.1
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        total += y * total
    return total


@dependent((X, 0.4))
def sums_that_shrink(x, c):
    total = 0.1
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        total = c * total + y
    return total


@dependent((X, 0.4))
def sums_that_turn(x, c):
    total = 0.1
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        total = y - total
    return total


@dependent((X, 0.4))
def sums_that_start_again(x, c):
    total = 0.1
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        if y > 0.9:
            total = y
        else:
            total += y
    return total


@dependent((X, 0.4))
def added_to_itself(x, c):
    total = 0.1
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        total += y
        total += total
    return total


@dependent((M, 0.4))
def scratch_that_is_read_before(m, c):
    n, d = m.shape
    row = np.zeros(d)
    total = 0.0
    for k in range(n):
        for i in range(d):
            total += row[i] * c
            row[i] = m[k, i] * m[k, i] + row[i] * c
    return total


@dependent((M, 0.4))
def scratch_that_is_written_in_part(m, c):
    n, d = m.shape
    row = np.zeros(d)
    total = 0.0
    for k in range(n):
        for i in range(1, d):
            row[i] = m[k, i] * m[k, i]
        for i in range(d):
            total += row[i] * row[i] * c
        row[0] = m[k, 0] * c
    return total


@dependent((M, 0.4))
def scratch_that_is_written_at_times(m, c):
    n, d = m.shape
    row = np.zeros(d)
    total = 0.0
    for k in range(n):
        for i in range(d):
            if m[k, i] > 0.0:
                row[i] = m[k, i] * m[k, i]
        for i in range(d):
            total += row[i] * row[i] * c
    return total


@dependent((M, 0.4))
def scratch_that_is_left(m, c):
    n, d = m.shape
    row = np.zeros(d)
    total = 0.0
    for k in range(n):
        for i in range(d):
            if m[k, i] < -1.0:
                break
            row[i] = m[k, i] * m[k, i]
        for i in range(d):
            total += row[i] * row[i] * c
    return total


@dependent((M, 0.4))
def scratch_that_is_seen_after(m, c):
    n, d = m.shape
    row = np.zeros(d)
    total = 0.0
    for k in range(n):
        for i in range(d):
            row[i] = m[k, i] * m[k, i]
        for i in range(d):
            total += row[i] * row[i] * c
    return total * row[1]


@dependent((X, 0.4))
def two_sums(x, c):
    first = 0.0
    second = 0.0
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        first += y
        second += y * y
    return first * second


@dependent((X, 0.4))
def left_early(x, c):
    total = 0.0
    for k in range(x.shape[0]):
        y = x[k]
        for _ in range(2):
            y = y * y + c
        if y > 3.0:
            break
        total += y
    return total


# -- what is known without being recorded ----------------------------------------------------


@programs.on((M, 0.4))
def invariant_loads(m, c):
    n, d = m.shape
    a = np.zeros(n)
    for k in range(n):
        a[k] = m[k, 0] * c
        for i in range(d):
            for j in range(i, d):
                a[0] += 0.1
                c = c + m[k, i] * m[k, j] * 0.1
        for i in range(d):
            a[k] = a[k] + a[0] * m[k, i] * a[k]
    return a[0] * a[n - 1] + c


@programs.on((X, 3), (X, 0))
def load_that_is_never_made(x, n):
    y = 0.5
    for k in range(x.shape[0] + 1):
        for _ in range(n if k < x.shape[0] else 0):
            y = y * 0.5 + math.sin(y) * x[k]
    return y


@programs.on((X, 0.3))
def updates_with_repeated_loads(x, c):
    a = np.zeros(x.shape[0])
    for k in range(x.shape[0]):
        a[k] = x[k]
        a[k] += a[k] * a[k]
        a[k] += c * a[k] * a[0]
        a[k] -= x[k] * a[k]
        a[k] = x[k] - a[k]
    return a[0] * a[1] + a[4]


@programs.on((X, 0.3))
def loaded_once_and_used_twice(x, c):
    a = x.copy()
    for k in range(1, x.shape[0]):
        v = a[k]
        w = v * x[k - 1] + c * v
        a[k] = v + w * w
        a[k - 1] = a[k] * v
    return a[0] * a[1] + a[4]


@programs.on((X, 0.3))
def inductions(x, c):
    at = 0
    down = 2 * x.shape[0]
    y = c
    for k in range(1, x.shape[0]):
        for i in range(k):
            y = y + math.sin(y) * x[(at // 3) % x.shape[0]]
            at += 2
        for i in range(k, 0, -1):
            down = down - 1
            y = y * 0.5 + math.cos(y) * x[down % x.shape[0]]
            if y > 0.7:
                at += 1
    return y


@programs.on((X, 0.3), (-X, 0.3))
def ways_that_follow(x, c):
    y = c
    for k in range(x.shape[0]):
        a = c
        b = 1.0
        if x[k] * y > 0.1:
            a = math.exp(y)
            if a > 1.5:
                b = a * c
        elif y < 0.0:
            b = math.sin(y)
        else:
            a = y
        y = y * a * b + x[k]
    return y


@programs.on((X, 0.3))
def ring(x, c):
    n = x.shape[0]
    y = x.copy()
    new = np.empty(n)
    for _ in range(3):
        for i in range(n):
            left = i - 1 if i > 0 else n - 1
            right = i + 1 if i < n - 1 else 0
            new[i] = y[left] * y[right] * c + y[i] * y[i]
        for i in range(n):
            y[i] = new[i]
    return y[0] * y[1]


@programs.on((0.3, 0.8))
def values_that_are_known(x, y):
    for _ in range(3):
        s = math.sin(x)
        c = math.cos(x)
        e = math.exp(-y)
        t = math.tan(x * y)
        x = s * e + math.log(1.0 + c * c)
        y = math.exp(-y) * c + math.sin(x) * t
    return x * y


@programs.on((X, 1), (X, -1), (X, 2), (X, -2))
def ranges(x, step):
    y = 0.3
    n = x.shape[0]
    for k in range(n - 1 if step < 0 else 0, -1 if step < 0 else n, step):
        for i in range(k, n, 2):
            y = y + math.sin(y * x[i]) * x[-1 - k]
    for k in range(3, 3):
        y = y * y
    for k in range(5, 2):
        y = y * y * x[0]
    return y


@programs.on((X, 0.7), (X[::-1], -0.4))
def bells(x, width):
    bell = np.exp(-(x**2) / (1.0 + width * width))
    return np.sum(bell * x) + (np.sin(x) * bell).sum()


by_name = {program.f.__name__: program for program in programs}
