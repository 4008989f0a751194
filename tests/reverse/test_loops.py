"""Loops by `range` and `while`: what they carry, and what is used after them."""

import math

import pytest

from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()

# Range


@programs.on((0.5, 7, 2, -1), (0.5, 7, -3, -2), (0.5, 2, 7, 1), (0.5, 2, 7, -1), (0.5, -3, 8, 4))
def range_with_bounds(x, start, stop, step):
    total = x
    for i in range(start, stop, step):
        total = total * x + math.sin(total) * i
    return total


@programs.on((0.7, 0), (0.7, 1), (0.7, 4))
def loop_that_may_not_run(x, n):
    y = x * x
    z = x
    for i in range(n):
        z = y * z
        y = y + z * i
    return y * z


@programs.on((0.7, 1.25, 0), (0.7, 1.25, 1), (0.7, 1.25, 7))
def swap(x, y, n):
    for _ in range(n):
        x, y = y, x
    return x * x * y


@programs.on((0.7, 1.25, 6), (0.7, 1.25, 1))
def fibonacci(x, y, n):
    for i in range(n):
        x, y = y, x + y * y * 0.125
    return x * y


@programs.on((0.7, 1.25, 0.5, 7), (0.7, 1.25, 0.5, 2))
def rotation_of_three(x, y, z, n):
    for i in range(n):
        if i % 3 == 1:
            x, y, z = z, x, y
        else:
            x, y = y * z, x
    return x * y * y + z


@programs.on((0.7, 5), (0.7, 0))
def previous_values(x, n):
    before, now = 1.0, x
    for i in range(n):
        older = before
        before = now
        now = now * older + math.sin(before)
    return now * before


@programs.on((0.7, 1.25, 3, 3), (0.7, 1.25, 0, 3), (0.7, 1.25, 3, 0))
def inner_value_used_after_inner_loop(x, y, n, m):
    total = 0.0
    u = x
    for i in range(n):
        for j in range(m):
            u = u * y + j
            y = y * 0.75
        total += u * u
        y = y + u * 0.125
    return total * u


@programs.on((0.7, 3), (0.7, 0), (0.7, 1))
def last_of_inner_loop_feeds_the_next(x, n):
    last = x
    for i in range(n):
        v = last * last
        for j in range(i):
            v = v * x + last
            last = math.cos(v)
        x = x + last * v
    return x * last


@programs.on((0.7, 4))
def triangular_nest(x, n):
    total = 1.0
    for i in range(n):
        for j in range(i, n):
            for k in range(j, i, -1):
                total = total * 0.5 + x * math.sin(total + i * j - k)
            x = x + 0.01 * total
    return total * x


@programs.on((0.7, 3))
def loop_variable_after_the_loop(x, n):
    i = 0
    for i in range(1, n):
        x = x * x + i
    return x * i + math.sin(x * i)


@programs.on((0.7, 3))
def loop_variable_overwritten(x, n):
    total = x
    for i in range(n):
        i = i * 2 + 1
        total = total * x + i
        i = 7
    return total * i


@programs.on((0.5, 4), (0.5, 9))
def float_that_counts(x, n):
    t = 0.0
    total = x
    for i in range(n):
        t += 0.25
        total += math.sin(t * total)
    return total * t


# While


@programs.on((0.5, 1.3), (9.0, 1.3), (0.1, 1.1))
def while_rotated(x, y):
    while x < 4.0:
        x = x * y + 0.25
    return x * x * y


@programs.on((0.5, 1.3), (9.0, 1.3))
def while_of_one_block_with_two_values(x, y):
    z = x * y
    while z < 20.0:
        x, z = z, z * y + x * x
        y = y + 0.125 * x
    return x * y * z


@programs.on((0.5, 1.3), (5.0, 0.4))
def while_true(x, y):
    k = 0
    while True:
        k += 1
        x = x / 2 + y * x
        if x > 3.0:
            x = x * y
            break
        if k > 3:
            break
        y = y * 1.125
    return x * y


@programs.on((0.5, 1.3), (5.0, 1.1))
def while_in_while(x, y):
    total = 0.0
    while x < 6.0:
        z = y
        while z < x + 1.0:
            z = z * 1.5 + 0.25 * x
            total += z * z
        x = x * 1.75 + 0.0625 * z
    return total * x


@programs.on((0.5, 1.3), (2.5, 0.3))
def while_with_and(x, y):
    k = 0
    while x < 4.0 and (k < 3 or y < 2.0):
        x = x * x + y
        y = y * 1.25
        k += 1
    return x * y


@programs.on((0.5, 0.9), (0.5, 0.1), (3.0, 0.1))
def newton(target, e):
    z = target
    step = 1.0
    while abs(step) > 1e-3:
        step = (z - e * math.sin(z) - target) / (1.0 - e * math.cos(z))
        z = z - step
    return z * z


@programs.on((0.5, 1.3), (1.75, 0.5))
def while_continue(x, y):
    k = 0
    while k < 6:
        k += 1
        if x > 1.5:
            x = x * 0.5
            continue
        x = x * x + y
    return x * y


@pytest.mark.deep(
    but=[
        "loop_that_may_not_run",
        "newton",
        "previous_values",
        "swap",
        "triangular_nest",
        "while_continue",
        "while_true",
        "range_with_bounds",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
