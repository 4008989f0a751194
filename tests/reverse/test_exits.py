"""Exits: `break`, `continue`, loop `else`, early `return`; each edge is retraced as it was taken."""

import math

import pytest

from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()


@programs.on((0.5, 1.25), (3.0, 1.25), (0.5, 0.5), (0.9, 1.0))
def break_out(x, y):
    for i in range(6):
        if x > 2.0:
            break
        x = x * x + y
        y = y * 0.875
    return x * y


@programs.on((0.5, 1.25), (1.0, 0.75), (3.0, 1.0))
def break_in_the_middle(x, y):
    total = 0.0
    for i in range(6):
        x = x * y + 0.25
        if x > 1.5:
            total = total * x
            break
        total += x * x
        y = y * x
    return total * x + y


@programs.on((0.5, 1.25), (1.0, 0.75))
def value_of_the_broken_iteration(x, y):
    u = 0.0
    for i in range(8):
        u = x * x * y
        if u > 2.0:
            break
        x = u + 0.75
    return u * x


@programs.on((0.5, 1.25), (-0.5, 0.75))
def continue_early(x, y):
    total = x
    for i in range(7):
        if i % 3 == 0:
            continue
        y = y * x + 0.5
        if y < 1.0:
            total += y
            continue
        total = total * 0.5 + y * y
        x = x * 0.75
    return total * y


@programs.on((0.5, 1.25), (2.0, 1.25), (0.1, 0.5))
def loop_with_else(x, y):
    for i in range(4):
        x = x * y
        if x > 1.5:
            break
    else:
        y = y * x + 1.0
    for _ in range(0):
        x = 0.0
    else:
        x = x * y
    return x * y


@programs.on((0.5, 1.1), (1.5, 1.1), (0.5, 0.1), (-1.0, 0.3))
def while_with_else(x, y):
    k = 0
    while x < 3.0:
        x = x * x + y
        k += 1
        if k > 5:
            break
    else:
        x = x * y
    return x * y


@programs.on((0.5, 1.25, 3), (0.5, 2.25, 2), (4.0, 1.25, 3), (0.5, 0.1, 3))
def break_out_of_two_loops(x, y, n):
    found = False
    total = 1.0
    for i in range(n):
        for j in range(n):
            x = x + y * (i - j) + 0.25
            total = total * 0.5 + x * x
            if total > 6.0:
                found = True
                break
            y = y * 0.875
        if found:
            total = total * y
            break
        total += y
    return total * x


@programs.on((0.5, 1.1), (1.5, 1.1), (0.1, 0.2))
def early_return_from_loop(x, y):
    for i in range(4):
        x = x * y + 0.125
        if x > 1.0:
            return x * x * i
        y = y + x
    return x * y


@programs.on((0.5, 1.1), (1.5, 1.1), (0.1, 0.2), (0.1, -3.0))
def early_return_from_nested_loops(x, y):
    if y < -2.0:
        return x
    total = y
    for i in range(3):
        u = x * total
        for j in range(i + 1):
            u = u * u + 0.5 * y
            if u > 1.2:
                return u * total
            k = 0
            while k < j:
                total = total + u * x
                k += 1
                if total > 3.0:
                    return total * total * u
        total = total + u
    return total * u


@programs.on((0.5, 1.1), (1.5, 1.1), (2.5, 0.3))
def many_returns(x, y):
    if x < 1.0:
        return x * y
    z = x * y
    if z > 1.0:
        return z * z
    elif z > 0.0:
        return math.sin(z)
    return 0.0


@programs.on((0.5, 1.1), (1.5, 1.1))
def constant_return(x, y):
    if x > 1.0:
        return 3
    return x * y * y


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
