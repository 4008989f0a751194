"""Branches, the integers and flags that choose among them, values that die in one."""

import math

import numba
import numpy as np
import pytest

from tests.reverse.oracle import Programs, check_gradient, check_second_order

pytestmark = pytest.mark.filterwarnings("ignore:First-class function type")
programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77, 1.21])
B = np.array([-1.27, 0.23, 1.94, 0.41, 0.89])

# Branches


@programs.on((0.53, 1.47), (1.52, 0.48), (-0.51, 0.26), (-2.1, -1.3))
def elif_chain_in_loop(x, y):
    total = 1.0
    for i in range(5):
        if x > 1.0:
            x = x * 0.5 + y
        elif x > 0.0:
            x = x * x - y
            total *= x
        elif y > 0.0:
            y = math.sin(y) * x
        else:
            x, y = y * y, x * 0.5
        total += x * y
    return total * x


@programs.on((0.5, 1.5), (-0.5, 1.5), (-0.5, -1.5))
def assigned_in_one_branch_only(x, y):
    z = y * y
    if x > 0:
        z = x * y
    w = z
    if y > 0:
        w = w * z + x
    return w * z


@programs.on((0.5, 1.5, 3), (-0.5, 1.5, 4))
def assigned_in_some_iterations(x, y, n):
    last = x
    for i in range(n):
        if i % 2 == 1:
            last = last * y + i
        y = y * 0.75 + last
    return last * last + y


@programs.on((1.1, 0.97, 0.6), (0.7, 1.6, 0.4))
def powers_that_some_choose(x, u, p):
    """An American option on a binomial tree: whole powers, negative ones too, in what is left out."""
    v = np.zeros((6, 6))
    for i in range(4, -1, -1):
        for j in range(i + 1):
            hold = p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j]
            v[i, j] = max(hold * u, 1.3 - x * u ** (2 * j - i))
    return v[0, 0] * x


@programs.on((0.0, 0.8, 3), (0.7, -0.2, 4))
def powers_of_zero_and_below(x, y, n):
    total = 0.0
    for k in range(n):
        total += max(x**k * y, y * k - 1.0) + min((y + 1.0) ** (1 - k), x + 9.0)
    return total * y


@programs.on((0.53, 1.47), (2.52, -1.48), (-1.1, -1.2))
def ternaries(x, y):
    total = 0.0
    for i in range(4):
        u = x * y if x > y else (x - y if y > 0 else math.exp(x))
        total += u * (y if u > 0.3 else 2.0 * x)
        x = u if i > 1 else x + 0.25
    return total


@programs.on((0.5, 1.5), (-0.5, 1.5), (0.5, -1.5), (-0.5, -2.5))
def and_or(x, y):
    total = x * y
    if (x > 0 and y > 0) or x * y > 1.0:
        total *= x
    if (x > 0 or y > 0) and not (x > 0 and y > 0):
        total = total * total + y
    z = x and y
    w = (x > 0 and x * x) or y
    return total + z * w


@programs.on((0.5, 1.5), (1.5, 0.5))
def branch_that_does_not_matter(x, y):
    if x > y:
        u = x
    else:
        u = y
    if u > 1.0:
        pass
    else:
        u = u * 1.0
    return u * u


@programs.on((1.5, 0.5), (-1.5, 0.5), (2.5, 0.5))
def branch_guards_a_pole(x, y):
    total = y
    for i in range(3):
        if x > 0:
            total += math.sqrt(x) * y
        total *= y
        x = x - 1.0
    return total


# Integers and booleans that loops carry


@programs.on((A, 9), (A, 0))
def integer_recurrence_as_index(a, n):
    i = 3
    total = 1.0
    for _ in range(n):
        i = (i * 5 + 1) % 5
        total = total * 0.5 + a[i] * a[i]
        i = (i + 3) % 5
        total += a[i] * total
    return total


@programs.on((A, 13), (A, 10))
def collatz_index(a, n):
    total = a[0]
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        total = total * a[n % 5] + a[(n + 1) % 5]
    return total


@programs.on((A, 0.3), (B, 0.3))
def flags_carried(a, x):
    rising, seen = True, False
    total = x
    for i in range(5):
        if rising and a[i] > 1.0:
            rising = not rising
            total = total * a[i]
        elif not rising:
            total += a[i] * x
            seen = seen or a[i] > 0.0
            rising = seen
        x = x * total if seen else x + total
    return total * x


@programs.on((A,), (B,))
def argmax_by_hand(a):
    best, where = a[0], 0
    for i in range(1, len(a)):
        if a[i] * a[i] > best:
            best = a[i] * a[i]
            where = i
    return best * a[where] + a[where - 1]


@programs.on((A, B), (B, A))
def float_truncated_to_an_index(a, b):
    total = 0.0
    for i in range(5):
        k = int(abs(a[i]) * 2.0) % 5
        total += b[k] * a[i] * (k + 1)
        b[k] = b[k] * b[k] + total
    return total


@programs.on((0.5, 0.25, 6), (1.5, 0.75, 6))
def state_machine(x, y, n):
    state = 0
    for i in range(n):
        if state == 0:
            x = x * x + y
            state = 1 if x > 0.6 else 2
        elif state == 1:
            y = y * x
            state = 2
        else:
            x = math.sin(x) - y
            state = 0
    return x * y


# Functions that a branch picks


@numba.njit
def squared(v):
    return v * v


@numba.njit
def waved(v):
    return math.sin(v) * v


@numba.njit
def halved(v):
    return 0.5 * v


@numba.njit
def squares_added(a):
    return (a * a).sum()


@numba.njit
def changed_and_added(a):
    a[0] = a[0] * a[1]
    return np.sin(a).sum()


@programs.on((0.5, 1.5), (0.5, -1.5))
def one_of_two(x, y):
    f = squared if y > 0 else waved
    return f(x) * y + squared(y)


@programs.on((0.5, 0), (0.5, 1), (0.5, 2))
def one_of_three(x, kind):
    if kind == 0:
        f = squared
    elif kind == 1:
        f = waved
    else:
        f = halved
    return f(x) * f(x * x)


@programs.on((0.5, 5), (1.7, 5))
def picked_in_each_iteration(x, n):
    f = squared
    total = 0.0
    for i in range(n):
        total += f(x) * (i + 1)
        f = waved if total > 4.0 else f
        x = halved(x) + 0.3
    return total


@programs.on((A, 2), (B, 0))
def picked_that_changes_its_argument(a, k):
    f = squares_added
    if k > 0:
        f = changed_and_added
    total = f(a)
    return total * a[0]


# Dead ends and constants


@programs.on((0.5, 0.25))
def value_overwritten_unused(x, y):
    z = math.exp(x)
    z = x * y
    w = z
    z = 3.0
    for i in range(2):
        u = z * x
        z = 2.0
        w = w * u
    z = w * y
    return z


@programs.on((0.5, 0.25))
def active_then_constant(x, y):
    z = x
    for i in range(4):
        z = z * y if i < 2 else 1.5
    return z * x


@programs.on((0.5, 0.25))
def nothing_depends_on_the_second(x, y):
    y = 2.0
    return x * x * y


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
