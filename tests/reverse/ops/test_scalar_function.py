"""Scalar arithmetic in the adjoint: every rule, every type, mixed with ints and bools."""

import functools
import math
import operator

import numba
import numpy as np
import pytest
from mpmath import mp

import numbad as nd
from numbad.source import define
from tests.reverse import oracle
from tests.reverse.oracle import Programs, check_gradient, check_second_order
from tests.rules.oracle import exact_partial, exact_point, relative_error
from tests.rules.scalar_cases import CASES

programs = Programs()
F32 = np.float32


@programs.on((0.7, 1.3), (-0.7, -2.3))
def integers_among_floats(x, y):
    total, product, n = 0, 1, 3
    for i in range(4):
        total = total + x * i
        product = product * (y + i)
        n = n * 2 - i
        x = x / n + total if i > 1 else x * n
    return total * product / n + x // 1 * y


@programs.on((0.7, 1.3))
def bools_among_floats(x, y):
    above = x > 0.5
    total = above * x + (y > 2.0) * y + True * x
    for flag in (True, False, above):
        total = total * (x if flag else y) + flag
        above = not above and flag
    return total * total + above * x


@programs.on((0.7, 1.3, 3, True), (0.7, 1.3, -2, False))
def integer_and_boolean_arguments(x, y, n, flag):
    total = x
    for i in range(abs(n)):
        total = total * n + y * i
        n = -n
        total = total * x if flag else total - y
        flag = not flag
    return total * n + flag * y


@programs.on((0.7, 1.3, 3), (0.7, 1.3, 0), (1.7, 0.3, -2))
def powers(x, y, n):
    total = x**2 + x**0 + x**-1 + x**3 * y**7
    for i in range(3):
        total = total * 0.1 + x**n + x ** (n - i) + x**0.5 * 2**y + y**x
        x = x**1.5 + n**2 * 0.1
    return total + math.pow(x, 2) * pow(x, y) + (-x) ** 3 + (-y) ** 2.0


@programs.on((0.0, 2.0, 2))
def powers_of_zero(x, y, n):
    return 1.5 * x**1 + 2 * x**2 + 3 * x**3 + 4 * x**n + 5 * x ** (n - 1) + 6 * x**0 + x**1.0


@programs.on((7.3, 2.1), (-7.3, 2.1), (7.3, -2.1))
def remainders(x, y):
    q, r = divmod(x, y)
    s, t = divmod(x, 3)
    total = x % y * r + q * x + s * t
    for i in range(1, 3):
        x = x % (y * i) + 10 % y
        total = total + x * x + x // y * y
    return total + np.fmod(x, y) + 7.5 % x


@programs.on((0.7, -1.3, 0.2), (-0.7, 1.3, 0.9))
def extrema(x, y, z):
    total = 0.0
    for i in range(3):
        total += min(x, y, z) * max(x, y, z) + max(x, i * 0.4) * min(y, 1)
        x, y, z = max((y, z)), min(x, z, 0.6), x * y + abs(z)
    return total * x + np.minimum(y, z) * np.maximum(x, 0.1)


@programs.on((2.7, -1.3))
def rounded(x, y):
    total = int(x) * y + round(x) * y + math.floor(y) * x + math.ceil(x) * y
    total += math.trunc(y) * x + np.floor(x) * x + np.sign(y) * x + float(int(x)) * x
    return total * total + int(total) * y


@programs.on((2.7, 11.3))
def decomposed(x, y):
    m, e = math.frexp(y)
    total = m * e * x
    for i in range(2):
        total = math.ldexp(total, e - i) * m + math.copysign(x, -total)
        m, e = math.frexp(total)
    return total * m


@programs.on((0.7, 1.3))
def casts(x, y):
    u = float(x) * np.float64(y) + x.real * y + x.imag * y
    z = complex(x, y)
    return u * z.real * z.imag + u * np.float64(3)


@programs.on((0.7, 1.3))
def augmented(x, y):
    a, b, c, e = x, y, 1, 2.0
    for i in range(2):
        a += y
        a *= x
        a -= 1
        a /= y
        b **= 2
        b %= 1.7
        c += x * a
        e **= x
        a, b = +b, -a
    return a * b + c * e


@programs.on((0.7, 1.3))
def same_operand_twice(x, y):
    for i in range(3):
        x = x * x + x / (x + y) + x**x - (x - x)
        y = y + y - math.atan2(y, y + x) + math.hypot(x, x)
        x = x * 0.25
    return x * x * y


@programs.on((0.7, 1.3))
def many_uses_of_one_value(x, y):
    u = x * y
    v = u + u
    w = u * v + u
    for i in range(3):
        v = v * u + w * u
        w = w + u * 0.5
        u = u + v * 0.125
    return u * v * w + u


@programs.on((F32(0.7), F32(1.3)), rtol=2e-6)
def single_precision(x, y):
    total = np.float32(1.0)
    for i in range(3):
        total = total * x + y * y
        x = x * np.float32(0.5) + total * np.float32(0.125)
        y = np.float32(math.sin(y)) * x
    return total * x


@programs.on((F32(0.7), 1.3, F32(0.4)), rtol=1e-5)
def mixed_precision(x, y, z):
    total = 0.0
    u = z
    for i in range(3):
        total = total * x + y * u
        u = np.float32(total) * z + x
        y = y * 0.5 + u
    return total * u


A32 = np.array([0.53, 1.47, -0.61, 0.77], np.float32)


@programs.on((A32, F32(0.7)), rtol=2e-5)
def single_precision_arrays(a, x):
    b = np.zeros(4, np.float32)
    for i in range(4):
        b[i] = a[i] * b[i - 1] + x
        a[i] = b[i] * b[i]
        x = a[i] * np.float32(0.5)
    return a[0] * a[1] + b[2] * a[3] + x


@programs.on((A32, 0.7), rtol=2e-5)
def single_precision_store_of_double(a, x):
    total = x
    for i in range(4):
        a[i] = a[i] * total + x
        total = total * 0.5 + a[i] * a[i - 1]
    return total * x


@programs.on((0.7, 1.3))
def clipped(x, y):
    total = x
    for i in range(3):
        total = total + min(max(total * y, 0.2), 1.1) * x
        y = y * (0.5 if total > 2.0 else 1.5)
    return total * np.exp(-y) + np.log1p(total) * np.tanh(x)


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


# Every rule, a dozen to a function

GROUP = 12
REAL = [case for case in CASES if case.fn.__module__ != "cmath"]
GROUPS = [REAL[i : i + GROUP] for i in range(0, len(REAL), GROUP)]


def weighted_sum(cases):
    """A function of one tuple of arguments for each case: the sum of their values with weights.

    The values are taken twice, in a loop, so that rules also run on values of the last iteration.
    """
    lines = ["def weighted_sum(args, weights):", "    total = 0.0", "    for k in range(2):"]
    namespace = {}
    for i, case in enumerate(cases):
        arguments = ", ".join(f"args[{i}][{k}]" for k in range(len(case.domain)))
        lines.append(f"        total += fn{i}({arguments}) * weights[k]")
        namespace[f"fn{i}"] = case.fn
    return define("\n".join([*lines, "    return total\n"]), namespace)


@functools.cache
def compiled(group):
    f = numba.njit(error_model="numpy")(weighted_sum(GROUPS[group]))
    gradient = nd.grad(f, mode=oracle.MODE)
    return gradient, nd.jvp(gradient, 0)


WEIGHTS = (0.75, 1.25)  # they add up to 2, exactly


@pytest.fixture
def many_digits():
    with mp.workdps(50):
        yield


def rows(samples):
    """The samples of all cases side by side; those of a case with few are repeated."""
    return [tuple(s[i % len(s)] for s in samples) for i in range(max(map(len, samples)))]


@pytest.mark.deep(but=["0", "4", "7"])
@pytest.mark.parametrize("group", range(len(GROUPS)))
@pytest.mark.usefixtures("many_digits")
def test_rules(group):
    cases = GROUPS[group]
    for args in rows([case.samples(3) for case in cases]):
        found = compiled(group)[0](args, WEIGHTS)
        for case, point, partials in zip(cases, args, found, strict=True):
            exact = exact_point(case, point)
            for k, partial in enumerate(partials):
                expected = 0 if k in case.integers else 2 * exact_partial(case, exact, k)
                error = relative_error(partial, expected, 2 * case.atol)
                assert error < 3e-13, (str(case), point, k, partial, expected)


@pytest.mark.deep(but=["0"])
@pytest.mark.parametrize("group", range(len(GROUPS)))
@pytest.mark.usefixtures("many_digits")
def test_rules_twice(group):
    cases = GROUPS[group]
    for args in rows([case.samples(3) for case in cases]):
        for along in range(2):
            direction = tuple(tuple(1.0 * (k == along) for k in range(len(p))) for p in args)
            _, found = compiled(group)[1]((args, WEIGHTS), (direction,))
            for case, point, seconds in zip(cases, args, found, strict=True):
                if along < len(point) and along not in case.integers:
                    check_seconds(case, point, along, seconds)


def check_seconds(case, point, along, seconds):
    exact = exact_point(case, point)
    for k, second in enumerate(seconds):
        if k in case.integers:
            continue
        firsts = [exact_partial(case, exact, i) for i in (k, along)]
        scale = max(1.0, *(abs(1 / x) for x in point if x), *map(abs, map(float, point)))
        noise = 1e-13 * float(sum(map(abs, firsts))) * scale + 10 * case.atol
        expected = exact_partial(case, exact, k, along)
        if abs(expected) < 1e300:
            error = relative_error(second, 2 * expected, 2 * noise)
            assert error < 1e-10, (str(case), point, k, along, second, expected)


KINKS = [(case, *kink) for case in REAL for kink in case.kinks]


@pytest.mark.dear
@pytest.mark.parametrize("k", [0, 1])
def test_kinks_are_as_documented(k):
    kinks = [kink for kink in KINKS if k < len(kink[1])]
    calls, namespace = [], {}
    for i, (case, point, _) in enumerate(kinks):
        calls.append(f"fn{i}({', '.join(f'{name}[{i}]' for name, _ in zip('xy', point))})")  # noqa: B905
        namespace[f"fn{i}"] = case.fn
    f = numba.njit(error_model="numpy")(
        define(f"def sum_of_all(x, y):\n    return {' + '.join(calls)}\n", namespace)
    )
    x, y = (np.array([point[j % len(point)] for _, point, _ in kinks]) for j in range(2))
    found = nd.grad(f, k, mode=oracle.MODE)(x, y)
    for (case, point, partials), number in zip(kinks, found, strict=True):
        np.testing.assert_array_equal(number, partials[k], f"{case} at {point}, argument {k}")


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_arctangent_at_infinity_is_flat_as_documented(mode):
    of_ratio = numba.njit(error_model="numpy")(lambda x, y: math.atan(x / y))
    assert nd.grad(of_ratio, (0, 1), mode=mode)(2.0, 0.0) == (0.0, 0.0)
    way_out = nd.grad(lambda x, y: math.atan2(x, y), (0, 1), mode=mode)
    assert way_out(2.0, 0.0) == (0.0, -0.5)


def test_groups_hold_every_rule():
    assert sum(map(len, GROUPS)) == len(REAL) == len({(c.fn, len(c.domain)) for c in REAL})
    assert operator.mul in {case.fn for case in REAL}
