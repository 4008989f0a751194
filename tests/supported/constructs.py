"""Probes of the language: statements and expressions."""

import numba
import numpy as np
from numba import literal_unroll, njit, prange

from .probe import Section

constructs = Section("Language: constructs")


@constructs.feature("`if`, `elif`, `else`")
def branch(x):
    if x > 1.0:
        r = x
    elif x > 0.5:
        r = x * x
    else:
        r = -x
    return r


@constructs.feature("conditional expression")
def conditional(x):
    return x * x if x > 0.5 else -x


@constructs.feature("`and`, `or`, `not` in a condition")
def short_circuit(x, y):
    if (x > 0.5 and y > 1.0) or not x > 0.0:
        return x * y
    return x


@constructs.feature("`and`, `or` as values")
def or_value(x, y):
    return (x or y) * (x and y)


@constructs.feature("chained comparison")
def chained(x):
    return x * x * x if 0.0 < x < 1.0 else x


@constructs.feature("`for` over `range`")
def for_range(x, n):
    r = 1.0
    for k in range(n):
        r = r * x + k
    return r


@constructs.feature("`for` over `range` with a negative step")
def for_range_down(x, n):
    r = 1.0
    for k in range(n, -2, -2):
        r = r * x + k
    return r


@constructs.feature("`for` over an array")
def for_array(a):
    r = 1.0
    for v in a:
        r = r * v + v
    return r


@constructs.feature("`for` over a tuple")
def for_tuple(x, y):
    r = 1.0
    for v in (x, y, x * y):
        r = r * v + v
    return r


@constructs.feature("nested loops")
def nested(a, n):
    r = 0.0
    for k in range(n):
        for j in range(k):
            r += a[k] * a[j] * a[j]
    return r


@constructs.feature("`while`")
def while_loop(x):
    r = x
    while r < 3.0:
        r = r * r + x
    return r


@constructs.feature("`break`")
def break_loop(a):
    r = 1.0
    for v in a:
        if v > 2.0:
            break
        r *= v * v
    return r


@constructs.feature("`continue`")
def continue_loop(a):
    r = 1.0
    for v in a:
        if v > 2.0:
            continue
        r *= v * v
    return r


@constructs.feature("`else` of a loop")
def loop_else(x, n):
    r = x
    for k in range(n):
        r *= x
        if r > 100.0:
            break
    else:
        r = r * r
    return r


@constructs.feature("several `return`")
def returns(a):
    for v in a:
        if v > 2.0:
            return v * a[0]
    return a[1]


@constructs.feature("augmented assignment")
def augmented(x, y):
    r = x
    r += y
    r *= x
    r -= x
    r /= y
    r **= 2
    return r


@constructs.feature("assignment of several names, swap")
def swap(x, y):
    p, q = x * y, x
    p, q = q, p
    return p - q * q


@constructs.feature("`pass`, `...`")
def nothing(x):
    pass  # noqa: PIE790
    return x * x


@constructs.feature("`is None`, `is not None`")
def is_none(x, missing):
    return x * x if missing is None else x


@constructs.feature("f-string", constant=True)
def f_string(x, n):
    return x * len(f"{n}")


@constructs.feature("`match`")
def match_statement(x, n):
    match n:
        case 1:
            return x
        case 3:
            return x * x
        case _:
            return -x


FACTOR = 2.5
TABLE = np.array([1.0, 3.0])


@constructs.feature("global number")
def global_number(x):
    return FACTOR * x * x


@constructs.feature("global array, read")
def global_array(x):
    return TABLE[1] * x * x


@constructs.feature("`prange`", names=("numba.prange",))
def parallel_range(a):
    r = 0.0
    for k in prange(a.shape[0]):
        r += a[k] * a[k]
    return r


@constructs.feature("`literal_unroll`", names=("numba.literal_unroll",))
def unrolled(x, n):
    r = 1.0
    for v in literal_unroll((x, n, x * x)):
        r *= v
    return r


@constructs.feature("`literally`", names=("numba.literally",), constant=True)
def literal(x, n):
    return x * two_times(n)


@njit
def two_times(k):
    return 2 * numba.literally(k)
