"""Arrays, numbers and tuples of the surroundings are constants; active values in them are refused."""

from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
TABLE = np.array([2.0, 3.0, 5.0])
MATRIX = np.arange(6.0).reshape(2, 3)
COUNTS = np.array([1, 2, 3])
RATE = 0.75
NAMES = ("first", "second")
PARTS = (np.array([1.0, 2.0]), 3.0, np.array([4, 5]))
Options = namedtuple("Options", "scale table")
OPTIONS = Options(2.0, np.array([7.0, 11.0]))
SCRATCH = np.zeros(4)


@programs.on(0.5)
def global_arrays(x):
    s = RATE * x
    for i in range(3):
        s = s * x + TABLE[i] * COUNTS[i]
    return s + MATRIX[1, 2] * x * x + MATRIX.T[0, 1] * x


@programs.on(0.5)
def global_tuples(x):
    s = PARTS[0][1] * x * PARTS[1] + PARTS[2][0] * x**2
    return s + OPTIONS.scale * x + OPTIONS.table[1] * x**3 + len(NAMES) * x


def factory():
    table, rate = np.array([2.0, 7.0]), 3.0

    def f(x):
        return table[1] * x * x + rate * x + table.sum() * x

    return f


@programs.on(0.5, second=True)
def closure_arrays(x):
    return captured(x) * x


captured = njit(factory())


@programs.on(0.5)
def views_and_copies_of_globals(x):
    a = TABLE[1:].copy()
    a[0] = x
    b = TABLE[::-1]
    c = TABLE * x
    c[2] *= a[0]
    return a[0] * a[1] + b[0] * x + c[2] * b[1]


@programs.on(0.5, True)
def global_or_local(x, flag):
    a = TABLE
    if flag:
        a = TABLE * x
    return a[0] * a[1] * x


@programs.on(np.array([0.5, 1.5, 2.5]), 4)
def handle_that_starts_as_a_global(a, n):
    y = TABLE
    for _ in range(n):
        y = y * a
    return y[0] + y[1] * y[2]


@pytest.mark.deep(but=["closure_arrays", "global_arrays", "handle_that_starts_as_a_global"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- writing to one --------------------------------------------------------------------------
# Numba takes global arrays as read-only constants; what can be written to is what has no such type.


def stores(x):
    SCRATCH[0] = x
    return SCRATCH[0] * x


def stores_through_a_view(x):
    view = SCRATCH[1:]
    view[0] = x * x
    return SCRATCH[1]


def stores_by_slice(x):
    SCRATCH[:2] = x
    return SCRATCH[1] * x


@njit
def put(a, x):
    a[0] = x


def stores_in_a_callee(x):
    put(SCRATCH, x)
    return SCRATCH[0] * x


def stores_to_either(x):
    a = SCRATCH
    if x > 100.0:
        a = np.zeros(4)
    a[0] = x
    return a[0] * x


def augments(x):
    SCRATCH[0] += x
    return SCRATCH[0]


@pytest.mark.parametrize(
    "f",
    [
        stores,
        stores_through_a_view,
        stores_by_slice,
        stores_in_a_callee,
        stores_to_either,
        augments,
    ],
)
def test_writing_active_values_to_a_global_is_refused(f):
    from numba.core.errors import TypingError

    before = SCRATCH.copy()
    with pytest.raises(TypingError):  # of which nd.UnsupportedError is one, and Numba's own is
        nd.grad(f, 0, mode="reverse")(1.5)
    np.testing.assert_array_equal(SCRATCH, before)
