"""Arrays and tuples as results: cotangents of every structure, of results that alias arguments."""

import math

import numpy as np
import pytest

from tests.reverse.oracle import Programs, check_pullback, check_pullback_twice

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77])
B = np.array([-1.27, 0.23, 1.94, 0.41])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])


@programs.on((A, 0.7), (np.zeros(0), 0.7))
def new_array(a, x):
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = a[i] * a[i - 1] * x
        x = b[i] * 0.5 + x
    return b


@programs.on((A, 0.7))
def argument_changed_and_returned(a, x):
    for i in range(1, 4):
        a[i] = a[i] * a[i - 1] + x
    return a


@programs.on((A, B))
def argument_itself(a, b):
    return b


@programs.on((A, 0.7))
def the_same_array_twice(a, x):
    b = a * x
    b[1] = b[0] * b[2]
    return b, b[::-1], b


@programs.on((M, 0.7), (np.asfortranarray(M), 0.7))
def views(m, x):
    n = m * x
    n[0, 1] = n[1, 1] * m[0, 0]
    return n.T, n[1], n[:, ::2], n[0, 1]


@programs.on((A, 0.7), (B, 0.7), (-A, 0.7))
def one_of_several(a, x):
    b = a * a
    if a[0] < 0 and a[1] > 0:
        return b
    for i in range(4):
        b[i] = b[i] * x
        if b[i] > 1.0:
            return b[::-1].copy()
    return a


@programs.on((A, 0.7))
def nested_tuples(a, x):
    b = a[:2] * x
    y = x * x
    return (b, (y, a[3] * y)), a[1:], y


@programs.on((A, 0.7, 3))
def with_an_integer(a, x, n):
    k = 0
    for i in range(n):
        if a[i] > 0:
            k += 1
            x = x * a[i]
    return x, k, a[k] * x


@programs.on((A, 0.7, 3), (A, 0.7, 0))
def handles_round_a_loop(a, x, n):
    y, new = a.copy(), np.zeros(4)
    for k in range(n):
        for i in range(4):
            new[i] = y[i] * y[i - 1] * x
        y, new = new, y
    return y, new


@programs.on((0.7, 1.3))
def scalars_to_matrix(x, y):
    m = np.zeros((2, 2))
    for i in range(2):
        m[i, i] = x * y
        m[1 - i, i] = math.sin(m[0, 0]) * x
        x = m[i, i]
    return m


@programs.on((0.7 + 0.2j, np.array([0.3 + 1j, 0.4 - 0.5j])))
def complex_results(z, a):
    for i in range(2):
        a[i] = a[i] * z
        z = z * a[i] + a[i].conjugate()
    return a, z, abs(z)


@pytest.mark.deep(
    but=[
        "argument_changed_and_returned",
        "argument_itself",
        "new_array",
        "the_same_array_twice",
        "with_an_integer",
    ]
)
@programs.parametrize()
def test_pullback(program):
    check_pullback(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_pullback_twice(program)
