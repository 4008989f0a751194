"""Constructs that tempt a compiler into a silent zero: each is right, or refused with its place."""

import math
import operator

import numpy as np
import pytest
from numba import guvectorize, njit, stencil, typed, types, vectorize
from numba.experimental import structref
from numba.extending import overload_method

from tests.reverse.refusal import Slopes

X = 1.5
slope = Slopes(X)


# -- scalars that are more than they seem ----------------------------------------------------


@slope(1 + 2 * X)
def booleans_as_numbers(x):
    return (x > 1.0) * x + x * x * (not x > 10.0)


@slope(0.5)
def frexp(x):
    m, e = math.frexp(x)
    return m * e


@slope(8.0 + 2.0)
def ldexp_and_fmod(x):
    return math.ldexp(x, 3) + 2.0 * np.fmod(x, 0.7)


@slope(1.0 - 2 * 2.0)
def divmod_of_floats(x):
    q, r = divmod(x, 0.7)
    return q + r - 2.0 * (2.0 * x)


@slope(2 * X)
def rounded(x):
    return round(x, 1) + x * x


@slope(3 * X**2)
def powers_by_builtin(x):
    return pow(x, 3)


@slope(1 + 2 * X)
def builtins_on_tuples(x):
    return max((x, 0.5)) + min((x * x, 9.0)) + sum((1.0, 2.0))


@slope(1 + 2 * X + 1)
def builtin_sum_of_a_tuple(x):
    return sum((x, x * x, x))


@slope(2 * X)
def operators_as_functions(x):
    return operator.mul(x, operator.iadd(x, 0.0))


@slope(1 + 4 * X)
def map_and_filter(x):
    s = 0.0
    for v in map(lambda t: t * t, (x, x)):  # noqa: C417
        s += v
    for v in filter(lambda t: t > 0, (x, -1.0)):
        s += v
    return s


@slope(2 * X)
def single_precision_in_between(x):
    return np.float64(np.float32(1.0)) * x * x


@slope(2 * X)
def through_complex(x):
    z = complex(x, 2.0)
    return (z * z.conjugate()).real


@slope(3 * X**2)
def type_tests(x):
    return x * x * x if isinstance(x, float) else 0.0


@slope(2.0)
def where_of_scalars(x):
    return np.where(x > 1.0, 2.0 * x, x).item()


@slope(2 * X)
def zero_dimensional(x):
    a = np.array(x)
    return a[()] * a.item()


# -- containers ------------------------------------------------------------------------------


@slope(3 * X**2)
def dictionary_of_floats(x):
    d = {0: x, 1: x * x}
    d[2] = d[0] * d[1]
    return d[2]


@slope(3 * X**2)
def typed_dictionary_of_floats(x):
    d = typed.Dict.empty(types.int64, types.float64)
    d[0] = x
    d[1] = d[0] * x
    return d.get(1, 0.0) * d.pop(0)


@slope(2 * X)
def floats_as_keys(x):
    d = {x: 1.0}
    s = 0.0
    for key in d:
        s += key * x
    return s


@slope(3 * X**2)
def dictionary_of_arrays(x):
    d = {}
    d[0] = np.zeros(2)
    d[0][1] = x
    for a in d.values():
        a[0] = a[1] * x
    return d[0][0] * x


@slope(3 * X**2)
def dictionary_with_keys_of_strings(x):
    d = {"a": x, "b": x * x, "n": 1}
    return d["a"] * d["b"] * d["n"]


@slope(2 * X)
def set_of_floats(x):
    s = {x, 1.0}
    total = 0.0
    for v in s:
        total += v * x
    return total - x


@slope(3 * X**2)
def list_of_lists(x):
    rows = [[x], [x * x]]
    return rows[0][0] * rows[1].pop()


@slope(2 * X)
def sorted_list(x):
    items = [x * x, -1.0, 7.0]
    items.sort()
    return items[1]


@slope(2 * X)
def builtin_sorted(x):
    return sorted([x * x, -1.0, 7.0])[1]


@slope(2 * X)
def optional_unwrapped(x):
    y = maybe(x)
    return y * x if y is not None else 0.0


@njit
def maybe(x):
    if x > 1.0:
        return x
    return None


# -- control flow ----------------------------------------------------------------------------


@njit
def powers_of(x, n):
    p = 1.0
    for _ in range(n):
        p *= x
        yield p


@slope(1 + 2 * X + 3 * X**2)
def generator(x):
    s = 0.0
    for v in powers_of(x, 3):
        s += v
    return s


@slope(2 * X + 2 * X)
def generator_expression(x):
    return sum([v * v for v in (x, x)])


@slope(2 * X)
def exception_caught(x):
    try:
        if x > 1.0:
            raise ValueError
        y = x
    except Exception:
        y = x * x
    return y


@slope(2 * X + 3 * X**2)
def exception_not_thrown(x):
    y = x * x
    try:
        y = y + x * x * x
    except Exception:
        y = 0.0
    return y


@njit
def raising(a, x):
    a[0] = x * x
    if x > 1.0:
        raise ValueError("too large")
    a[0] = 7.0


@slope(3 * X**2)
def exception_from_a_callee_that_wrote(x):
    a = np.ones(2)
    try:
        raising(a, x)
    except Exception:
        a[1] = x
    return a[0] * a[1]


@slope(2 * X)
def finally_clause(x):
    y = 0.0
    try:
        y = x * x
    finally:
        y = y + 1.0
    return y


# -- other compilers of Numba ----------------------------------------------------------------


@vectorize
def squared(x):
    return x * x


@slope(4 * X)
def ufunc_of_the_user_on_arrays(x):
    a = squared(np.full(2, x))
    return a[0] + a[1]


@guvectorize([(types.float64[:], types.float64[:])], "(n)->(n)")
def running_sum(a, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i]
        out[i] = s


@slope(4 * X)
def generalized_ufunc(x):
    a, out = np.full(2, x), np.zeros(2)
    running_sum(a, out)
    return out[1]


@stencil
def neighbours(a):
    return a[-1] * a[1]


@slope(2 * X)
def stencil_function(x):
    return neighbours(np.full(3, x))[1]


@structref.register
class CellType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(ty)) for name, ty in fields)


class Cell(structref.StructRefProxy):
    def __new__(cls, value):
        return structref.StructRefProxy.__new__(cls, value)


structref.define_proxy(Cell, CellType, ["value"])


@overload_method(CellType, "grow")
def _grow(self, factor):
    def grow(self, factor):
        self.value = self.value * factor

    return grow


@slope(3 * X**2)
def mutable_structure(x):
    cell = Cell(x)
    cell.grow(x)
    return cell.value * x


@pytest.mark.dear
@pytest.mark.deep(
    but=[
        "builtin_sorted",
        "dictionary_of_floats",
        "exception_caught",
        "finally_clause",
        "generator",
        "map_and_filter",
        "mutable_structure",
        "rounded",
        "through_complex",
        "type_tests",
        "where_of_scalars",
    ]
)
@pytest.mark.parametrize(("f", "expected"), slope)
def test_right_or_refused(f, expected):
    slope.check(f, expected)
