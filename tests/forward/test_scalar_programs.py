"""Programs on scalars: unification, powers, control flow, tuples, calls."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import literal_unroll, njit, vectorize

from tests.forward.compare import Programs, check

programs = Programs()
Point = namedtuple("Point", "x y")
WEIGHTS = np.array([0.5, -1.5, 2.0])
SCALE = 1.25


@programs.on(0.7, 1.3, second=True)
def unification_with_float_and_int(x, y):
    s, p, n = 0.0, 1, 0
    for i in range(4):
        s += x * i
        p = p * (y + i)
        n += x if i > 1 else 0
    t = 0
    if x > 0.5:
        t = x * y
    u = 2 if y < 0 else y
    return s, p, n, t, u, s + p * t - u


@programs.on(0.7, 1.3, 3, second=True)
def powers(x, y, n):
    return (
        (x**2, x**0, x**-1, x**n, x**-n, x**0.5, x**2.0),
        (x**y, 2**x, 2.5**y, n**x, x**1, x**7, x ** (n - 3)),
        (math.pow(x, 3), pow(x, y), np.power(x, 2), (-x) ** 3, (-y) ** n, (-x) ** 2.0),
    )


@programs.on(0.0, 2.0, 2)
def powers_at_zero(x, y, n):
    return x**0, x**1, x**2, x**3, x**n, x ** (n - 2), x ** (n - 1), x**y, x**1.0, 0.0**y


@programs.on(0.7, -1.3, 0.2, second=True)
def extrema(x, y, z):
    best = min(x, y, z), max(x, y, z), min(x, 0.5), max(0, x), min(x, 1), max(1, y, x, 2.0 * z)
    return best, min((x, y, z)), max((z, y)), np.minimum(x, y), np.maximum(x, 0.1), abs(y)


@programs.on(7.3, 2.1)
def remainders(x, y):
    q, r = divmod(x, y)
    a, b = divmod(x, 3)
    c, e = divmod(10.5, y)
    return x % y, r, b, e, x % 2, 10 % y, -x % y, np.fmod(-x, y), q * x, a + c


@programs.on(0.7, 11.3)
def decomposition(x, y):
    m, e = math.frexp(y)
    return m, m * e, math.ldexp(x, e), math.copysign(x, -1.0), math.ldexp(y, -2)


@programs.on(2.7, -1.3)
def rounding_is_constant(x, y):
    return (
        (int(x) * x, round(x) * y, math.floor(y) * x, math.ceil(x) * y, math.trunc(y) * x),
        (np.floor(x) * x, np.ceil(x) * x, np.rint(x) * y, np.sign(y) * x, int(x + y) * x),
        (float(int(x)) * x, np.int64(y) * x),
    )


@programs.on(0.7, -1.3)
def comparisons(x, y):
    s = 0.0
    if x > y and x >= 0.5 and y < 0 and not x == y:
        s += x * 2
    if x:
        s += y
    if not y:
        s += 100 * x
    if x != x:
        s += 50 * x
    while s < 3:
        s = s * 1.5 + x
    t = x if x > y else y
    u = (x > 0.5) * y + (y > 0.5) * x
    b = x > y
    return s, t, u, x and y, x or y, b * x, bool(x) * y


@programs.on(0.8, 1.15, second=True)
def loops_and_exits(x, y):
    total = 0.0
    for i in range(10):
        if i == 2:
            continue
        if total > 3.0:
            break
        total += x * i + y
    else:
        total -= 1000.0 * x
    k = 0
    while True:
        k += 1
        total = total / 2 + y
        if k > 3:
            break
    for _ in range(0):
        total = x
    else:
        total *= x
    return total


@programs.on(0.8, 1.1)
def early_return(x, y):
    for i in range(5):
        x = x * y
        if x > 1.0:
            return x * i
    return 0.0


@programs.on(0.8, 1.1)
def swap_and_rename(x, y):
    a, b = x, y
    for i in range(5):
        a, b = b, a + b * i
    a, b, c = b, a, a
    return a * b - c


@programs.on((0.5, 1.5), Point(2.0, 3.0), (1.0, 4, 0.25), second=True)
def tuples_and_namedtuples(pair, point, mixed):
    a, b = pair
    moved = Point(point.x * a, point.y + b)
    grown = (*pair, moved.x)
    total = 0.0
    for v in grown:
        total += v * v
    nested = ((a, b), (moved, total))
    return moved, nested[1][0].y * mixed[1] * mixed[2], total * mixed[0], grown[-1], nested[0]


@programs.on(0.5, 1.5)
def lists(x, y):
    items = [x, y, x * y]
    items.append(x + y)
    items[1] = items[0] * items[2]
    last = items.pop()
    squares = [v * v for v in items]
    total = 0.0
    for v in squares:
        total += v
    zeros = [0.0] * 3
    for i in range(3):
        zeros[i] = zeros[i - 1] + squares[i]
    both = items + squares
    return total, last, zeros[2], both[-1], len(both) * x, sum(items), max(squares), min(both)


@njit
def helper(x, scale=2.0, shift=0.0):
    return x * scale + shift


@njit
def apply(f, x):
    return f(x) + f(2.0 * x)


@njit
def square(x):
    return x * x


@njit
def negate(x):
    return -x


@programs.on(0.5, 1.5, second=True)
def calls_with_defaults_and_keywords(x, y):
    a = helper(x) + helper(x, y) + helper(x, shift=y)
    return a, helper(shift=x, scale=y, x=2.0), helper(2.0, 3, 4) * x


@programs.on(0.5, 1.5)
def functions_as_arguments(x, y):
    return apply(square, x) + apply(math.sin, y), apply(helper, y)


@programs.on(square, 1.5)
def function_given_as_argument(f, y):
    return f(y) + apply(f, y)


@programs.on(0.5, 1.5)
def closures(x, y):
    def inner(z):
        return z * y + SCALE

    return inner(x) * inner(2.0), inner(y)


@njit
def factorial_like(x, n):
    if n == 0:
        return 1.0
    return x * factorial_like(x + 1.0, n - 1)


@njit
def even(x, n):
    if n == 0:
        return x
    return odd(x * x, n - 1)


@njit
def odd(x, n):
    if n == 0:
        return -x
    return even(x + 0.5, n - 1)


@programs.on(0.5, second=True)
def self_recursion(x):
    return factorial_like(x, 5)


@programs.on(0.5)
def mutual_recursion(x):
    return even(x, 5) + odd(x, 4)


@programs.on(0.5, 1.5)
def functions_in_a_tuple(x, y):
    total = 0.0
    for f in literal_unroll((square, negate, helper)):
        total = total * y + f(x)
    return total


@programs.on(0.5, 1.5)
def members_unrolled(x, y):
    total = 0.0
    for v in literal_unroll((x, 2, y, 0.5)):
        total = total * x + v
    return total


@vectorize
def smooth(x, y):
    return x * x / (1.0 + y)


@programs.on(0.5, 1.5)
def vectorized_function_on_scalars(x, y):
    return smooth(x, y) * smooth(2.0, y)


@programs.on(0.5, 1.5)
def constants_read(x, y):
    total = 0.0
    for i in range(3):
        total += WEIGHTS[i] * x**i
    for w in WEIGHTS:
        total += w * y
    return total * SCALE


@programs.on(0.5, 1.5, second=True)
def augmented_assignment(x, y):
    a = x
    a += y
    a *= x
    a -= 1
    a /= y
    b = y
    b **= 2
    b %= 1.7
    c = 1
    c += x
    e = 2.0
    e **= x
    return a, b, c, e, +x, -y, x / 3, 3 / y, 1 - x


@programs.on(0.5)
def unused_and_constant_results(x):
    return 3.0, x, 7, 2.0 * 3


@programs.on(2.0, 3.0)
def casts(x, y):
    return float(x) * y, complex(x, y).real * x, x.real * y, x.imag + y


@programs.on(np.float32(0.5), np.float32(1.5), rtol=1e-6)
def single_precision(x, y):
    s = np.float32(0.0)
    for i in range(3):
        s += x * y
    return s, x * x + y, math.sin(x) * y, x**2, x**y


@programs.on(1.0, 2.0)
def optional(x, y):
    a = None
    if y > 1:
        a = x * y
    if a is None:
        return 0.0
    return a * x


@programs.on(0.5, 1.5)
def exceptions_not_raised(x, y):
    if x > y:
        raise ValueError("x above y")
    return x * y


@pytest.mark.deep(
    but=[
        "augmented_assignment",
        "closures",
        "comparisons",
        "early_return",
        "lists",
        "loops_and_exits",
        "powers_at_zero",
        "swap_and_rename",
        "optional",
        "tuples_and_namedtuples",
    ]
)
@pytest.mark.filterwarnings("ignore:First-class function type:Warning")
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)
