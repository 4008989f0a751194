"""Textbook algorithms on arrays: many constructs at once, overwriting as they go."""

import math

import numpy as np
import pytest

from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77, -1.19, 0.89])
M = np.array([[0.2, 1.47, -0.61], [1.27, -0.71, 0.41], [-2.3, 0.35, 1.13]])
B = np.array([0.3, -0.8, 1.7])


@programs.on((M, B), (M[::-1].copy(), B))
def gauss_with_pivoting(m, b):
    n = len(b)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(m[i, k]) > abs(m[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(n):
                m[k, j], m[pivot, j] = m[pivot, j], m[k, j]
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k]
            for j in range(k, n):
                m[i, j] -= factor * m[k, j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= m[i, j] * b[j]
        b[i] /= m[i, i]
    return b[0] * b[1] + b[2]


@programs.on((A, 0.7))
def bubble_sort(a, x):
    n = len(a)
    swapped = True
    while swapped:
        swapped = False
        for i in range(n - 1):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
        n -= 1
    total = x
    for i in range(len(a)):
        total = total * 0.5 + a[i] * i * x
    return total * a[0] * a[5]


@programs.on((A, 0.7), (A[::-1].copy(), -0.3))
def insertion_sort(a, x):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a[0] * a[1] * x + a[2] * a[3] ** 2 + a[4] * a[5] ** 3


@programs.on((M + 4.0 * np.eye(3), B), (M + 2.5 * np.eye(3), B))
def gauss_seidel(m, b):
    x = np.zeros(3)
    sweeps = 0
    while sweeps < 6:
        change = 0.0
        for i in range(3):
            s = b[i]
            for j in range(3):
                if j != i:
                    s -= m[i, j] * x[j]
            s /= m[i, i]
            change = max(change, abs(s - x[i]))
            x[i] = s
        sweeps += 1
        if change < 0.05:
            break
    return x[0] * x[1] + x[2] * x[2]


@programs.on((A, 0.7))
def thomas(d, x):
    n = len(d)
    c = np.empty(n)
    c[0] = x / 4.0
    d[0] = d[0] / 4.0
    for i in range(1, n):
        w = 4.0 - x * c[i - 1]
        c[i] = x / w
        d[i] = (d[i] - x * d[i - 1]) / w
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d[0] * d[1] + d[2] * d[3] + d[4] * d[5]


@programs.on((np.sin(np.arange(8.0) + 0.3), 0.7))
def haar_butterflies(a, x):
    half = len(a) // 2
    while half >= 1:
        for start in range(0, len(a), 2 * half):
            for k in range(start, start + half):
                u, v = a[k], a[k + half] * x
                a[k], a[k + half] = u + v, (u - v) * x
        half //= 2
    return a[0] * a[1] + a[3] * a[6] + a[7]


@programs.on((A, np.array([0.4, 1.2, -0.9, 0.1])))
def soft_time_warping(a, b):
    table = np.full((len(a) + 1, len(b) + 1), 1e3)
    table[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            p, q, r = table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]
            low = min(p, q, r)
            soft = math.exp(low - p) + math.exp(low - q) + math.exp(low - r)
            table[i, j] = (a[i - 1] - b[j - 1]) ** 2 + low - math.log(soft)
    return table[len(a), len(b)]


@programs.on((A, 0.2, 7), (A, 0.2, 0))
def heat_equation(u, alpha, steps):
    old, new = u.copy(), np.zeros_like(u)
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            new[i] = old[i] + alpha * (old[i - 1] - 2.0 * old[i] + old[i + 1]) * old[i]
        new[0], new[-1] = new[1], old[-1]
        old, new = new, old
    total = 0.0
    for v in old:
        total += v * v
    return total


@programs.on((A, 0.7))
def horner_newton_deflation(coefficients, start):
    c = coefficients.copy()
    product = 1.0
    for degree in range(5, 3, -1):
        z = start
        for _ in range(12):
            p, dp = c[degree], 0.0
            for k in range(degree - 1, -1, -1):
                dp = dp * z + p
                p = p * z + c[k]
            if abs(p) < 1e-4:
                break
            z -= 0.5 * p / (1.0 + dp * dp)
        quotient = np.empty(degree)
        carry = 0.0
        for k in range(degree, 0, -1):
            carry = carry * z + c[k]
            quotient[k - 1] = carry
        c = quotient
        product *= z
    return product + c[0] * c[1]


@programs.on((A, 5), (A, 23))
def random_walk_by_congruence(a, seed):
    x, lowest = 0.0, 0.0
    for step in range(9):
        seed = (seed * 1103 + 12345) % 65536
        if seed % 3 == 0:
            x += a[seed % 6]
        elif seed % 3 == 1:
            x = x * a[seed % 5]
        else:
            a[seed % 4] = x - a[seed % 6]
        if x < lowest:
            lowest = x
    return x * x + lowest * a[0] + a[3]


@programs.on((0.7, 1.3, 1e-3), (0.2, 1.1, 1e-1))
def adaptive_steps(y, k, tolerance):
    t, h = 0.0, 0.3
    rejected = 0
    while t < 1.0:
        h = min(h, 1.0 - t)
        slope = -k * y * y
        middle = y + 0.5 * h * slope
        better = y + h * (-k * middle * middle)
        error = abs(better - (y + h * slope))
        if error > tolerance:
            h *= 0.5
            rejected += 1
            continue
        y = better
        t += h
        h *= 1.5
    return y * y + rejected


@pytest.mark.deep(but=["insertion_sort", "heat_equation", "thomas", "adaptive_steps"])
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
