"""Arrays handed to callees and back: written in place, returned, aliased by the result."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
State = namedtuple("State", "position velocity mass")
A = np.array([0.53, 1.47, -2.61, 0.77])
B = np.array([-1.27, 0.23, 1.94, 0.41])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])


@njit
def derivative(y, dy, x):
    for i in range(len(y)):
        dy[i] = math.sin(y[i - 1]) * y[i] * x


@njit
def add_scaled(y, dy, h):
    for i in range(len(y)):
        y[i] += h * dy[i]


@programs.on((A, 0.7, 3), (A, 0.7, 0))
def written_in_place(a, x, n):
    dy = np.empty_like(a)
    for k in range(n):
        derivative(a, dy, x)
        add_scaled(a, dy, 0.5 * x)
    return a[0] * a[1] + a[2] * dy[0] if n else a[0] * x


@programs.on((A, 0.7), wrt=(0, 1))
def same_array_twice(a, x):
    derivative(a, a, x)
    add_scaled(a, a[::-1], x)
    return a[0] * a[1] + a[2] * a[3]


@njit
def squared(a):
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = a[i] * a[i]
    a[0] = b[1]
    return b


@programs.on((A, 0.7))
def array_returned(a, x):
    total = x
    for k in range(3):
        b = squared(a)
        b[k] = b[k] * x
        a[1] = math.sin(b[0]) * b[k]
        total = total * 0.5 + a[0] * b[1]
    return total * squared(b)[2]


@njit
def tail(a):
    return a[1:]


@njit
def itself(a, x):
    a[0] = a[0] * x
    return a


@njit
def either(a, b, x):
    if x > 0:
        return a
    return b


@programs.on((A, B, 0.7), (A, B, -0.7))
def argument_returned(a, b, x):
    for k in range(2):
        c = either(a, b, x - k)
        c[1] = c[0] * c[1] + x
        e = itself(tail(c), x)
        e[1] = c[1] * c[0]
    return a[0] * a[1] * a[2] + b[1] * b[2] + e[0] * c[3]


@njit
def split_in_two(a, x):
    half = len(a) // 2
    return a[:half], a[half:] * x, x * x


@programs.on((A, 0.7))
def tuple_of_arrays_returned(a, x):
    for k in range(2):
        left, right, x = split_in_two(a, x)
        left[k] = right[k] * right[1 - k]
        right[0] = left[0] * x
        x = x + right[0]
    return a[0] * a[1] * x + right[0] * right[1]


@njit
def first_above(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return a[i] * limit
        a[i] = a[i] * a[i]
    return limit


@programs.on((A, 0.7), (B, 5.0))
def early_return_in_a_callee(a, x):
    total = x
    for k in range(3):
        total = total * 0.5 + first_above(a, total)
        a[k] = a[k] * total
    return total * a[0]


@njit
def advance(state, h):
    for i in range(len(state.position)):
        state.position[i] += h * state.velocity[i]
        state.velocity[i] -= h * state.position[i] / state.mass
    return State(state.velocity, state.position, state.mass * h)


@programs.on((State(A, B, 1.3), 0.3))
def namedtuple_of_arrays(state, h):
    for k in range(3):
        state = advance(state, h)
        h = h + state.mass
    return state.position[0] * state.velocity[1] + state.mass * state.position[2]


@njit
def fill_row(m, i, x):
    m[i] = x
    row = m[i]
    row[0] = row[1] * x
    return row


@programs.on((M, 0.7))
def rows_to_callees(m, x):
    total = x
    for i in range(2):
        total = total * m[i, 2] + m[1, 1]
        row = fill_row(m, i, total)
        row[2] = row[0] * m[1, 2]
    return total * m[0, 0] * m[0, 2] + m[1, 2]


@njit
def scan(a, x):
    work = np.zeros(len(a))
    work[0] = x
    for i in range(1, len(a)):
        work[i] = work[i - 1] * a[i] + x
    return work


@programs.on((A, 0.7))
def callee_that_allocates(a, x):
    total = x
    for k in range(3):
        w = scan(a, total)
        v = scan(w, x)
        a[k] = w[1] * v[2]
        total = v[3] * 0.125 + w[2]
    return total * a[0]


@njit
def leaf(a, i):
    a[i] = a[i] * a[i - 1]
    return a[i]


@njit
def middle(a, i, x):
    y = leaf(a, i) + leaf(a, i - 1)
    a[i] = y * x
    return leaf(a, i)


@programs.on((A, 0.7))
def three_levels(a, x):
    for i in range(3):
        x = x * 0.5 + middle(a, i, x) * middle(a, i - 1, a[2])
    return x * a[0] + a[1]


@njit
def apply(f, a, x):
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = f(a, i) * x
    return b


@programs.on((A, 0.7))
def function_that_writes_as_argument(a, x):
    b = apply(leaf, a, x)
    c = apply(leaf, b, b[1])
    return b[0] * c[1] + a[2] * c[3]


@programs.on((A, 0.7, np.zeros(4)))
def buffer_argument(a, x, buffer):
    for k in range(2):
        derivative(a, buffer, x)
        buffer[k] = buffer[k] * a[k]
        add_scaled(a, buffer, buffer[0])
    return a[0] * a[1] + buffer[2] * a[3]


@programs.on((A, 0.7, np.zeros(4)), (A, 0.7, B), wrt=(0, 1))
def buffer_argument_not_differentiated_by(a, x, buffer):
    total = buffer[3] * x
    for i in range(4):
        buffer[i] = a[i] * a[i - 1] + x
        total = total * 0.5 + buffer[i] * buffer[i - 1]
    return total * buffer[0]


@programs.on((A, B, 0.7), wrt=(2,))
def constant_arrays_read(a, b, x):
    total = x
    for i in range(4):
        total = total * a[i] + x * b[i]
        b[i] = 2.0
    return total * x


@pytest.mark.deep(
    but=[
        "argument_returned",
        "buffer_argument",
        "callee_that_allocates",
        "same_array_twice",
        "written_in_place",
        "rows_to_callees",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
