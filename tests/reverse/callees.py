"""Functions that the random programs call: one for each way to pass, write, or return values."""

import math

import numpy as np
from numba import njit, vectorize
from numba.typed import List

from tests.reverse.pair import Pair

WEIGHTS = np.array([0.5, -1.5, 2.0, 0.75])
ORDER = np.array([2, 0, 1, 1])


@njit
def blend(x, y=0.5, n=2):
    return x * y + math.sin(x) / n


@njit
def bend(x):
    return x / (1.0 + x * x)


@njit
def both(x, y):
    return x * y, x - y, 3


@njit
def paired(x, y=1.0):
    return Pair(math.tanh(x), y)


@njit
def spread(*xs):
    s = 0.0
    for x in xs:
        s = s * 0.5 + x
    return s


@njit
def apply(f, x):
    return f(x) * 0.5 + f(0.5 * x)


@vectorize
def smooth(x, y):
    return x * y / (1.0 + x * x)


@njit(inline="always")
def near(x, y):
    return x + 0.5 * y


@njit
def climb(x, n):
    if n <= 0:
        return x
    return math.sin(climb(0.5 * x + 0.1, n - 1)) + x


@njit
def even(x, n):
    if n <= 0:
        return x
    return odd(math.tanh(x), n - 1)


@njit
def odd(x, n):
    if n <= 0:
        return -x
    return even(x + 0.5, n - 1) * x


@njit
def root(x):
    """The square root of 1 + x**2 by Newton's method."""
    z, d, n = 1.0, 1.0, 0
    while abs(d) > 1e-3 and n < 9:
        d = (z * z - 1.0 - x * x) / (2.0 * z)
        z -= d
        n += 1
    return z


@njit
def put(b, i, x):
    b[i] = x


@njit
def scale(b, x):
    for i in range(len(b)):
        b[i] *= x


@njit
def pour(b, c):
    for i in range(len(b)):
        b[i] = 0.5 * b[i] + c[-1 - i % len(c)]


@njit
def shifted(b, x):
    out = np.zeros(len(b))
    for i in range(len(b)):
        out[i] = b[i - 1] + x
    return out


@njit
def either(b, c, x):
    return b if x > 0 else c


@njit
def back(b):
    return b[::-1]


@njit
def first_above(b, x):
    for i, v in enumerate(b):
        if v > x:
            return v * (i + 1)
    return x


@njit
def total(b):
    s = 0
    for v in b:
        s += v
    return s


@njit
def weigh(b):
    s, w = 0.0, 0.3
    for v in b:
        s += v * w
        w += 0.2
    return s


@njit
def weigh2(m):
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s += m[i, j] * (0.3 + 0.2 * i + 0.5 * j)
    return s


@njit
def typed(x, y):
    items = List()
    items.append(1.0 * x)
    items.append(1.0 * y)
    return items


_FUNCTIONS = (
    *(blend, bend, both, paired, spread, apply, smooth, near, climb, even, root, put, scale, pour),
    *(shifted, either, back, first_above, total, weigh, weigh2, typed),
)
NAMES = {getattr(f, "py_func", f).__name__: f for f in _FUNCTIONS if f is not smooth}
NAMES |= {"smooth": smooth, "Pair": Pair, "WEIGHTS": WEIGHTS, "ORDER": ORDER}
NAMES |= {"math": math, "np": np}
