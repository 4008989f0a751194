"""Elements chosen by position: what is unpacked, `np.take`, `np.where`, tuples indexed at run time."""

import numpy as np
import pytest
from numba import literal_unroll, njit

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, 0.75])
M = np.array([[0.4, -0.8, 1.1], [0.9, 0.3, -0.6]])
PLACES = np.array([[1, 0], [3, 3]])


@programs.on(A, 1.3)
def unpacked(a, x):
    p, q, r, s = a
    u, v = [p * x, q * r]
    return p * q * r + s * u * v


@programs.on(A, 1.3)
def taken(a, x):
    b = np.take(a, PLACES)
    c = a.take(np.array([1, 1, -1]))
    d = np.take(a, [1, 1, -1])
    return b[0, 0] * b[1, 1] * b[1, 0] * x + np.take(a, 2) * c[0] * c[1] * d[2] * d[0]


@programs.on(M, 1.3)
def taken_along_an_axis(m, x):
    b = np.take(m, np.array([1, 1]), axis=0)
    c = np.take(m, np.array([2, -2]), axis=-1)
    return b[0, 0] * b[1, 1] * b[1, 2] * x + c[0, 0] * c[1, 1]


@programs.on(M, 1.3)
def chosen_with_broadcasting(m, x):
    c = np.where(m > 0.0, m * x, m[0])
    d = np.where(m[1] > 0.0, 1.0, m)
    return c[0, 0] * c[1, 1] * d[0, 1] + c[1, 2] * d[1, 1] * d[0, 0] + c[0, 1] * d[1, 2]


@programs.on((0.5, 1.5), 1.3)
def array_of_tuples(p, x):
    a = np.array((p, (x, x * x)))
    b = np.asarray(p)
    a[1] *= a[0]
    return a[1, 0] * a[1, 1] + a[0, 1] * b[0] * b[1]


@programs.on(0.5, 1.5)
def tuple_with_a_constant(x, y):
    t = (x, 0.5, y)
    s = 0.0
    for i in range(3):
        s = s * x + t[i] * t[i - 1]
    return s


@programs.on(0.5, 1.5)
def tuple_of_tuples(x, y):
    t = ((x, 0.5), (y, x * y), (1.0, y))
    s = 0.0
    for i in range(3):
        p = t[i]
        s = s * x + p[0] * p[1]
    for p, q in t:
        s = s * x + p * q
    return s


@programs.on(A, 1.5)
def unrolled_over_two_layouts(a, x):
    s = 0.0
    for c in literal_unroll((a, a[::2], a[1:].copy())):
        c[0] *= x
        s += c[1] * s + x * c[0]
    return s


@pytest.mark.deep(but=["unpacked", "taken"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


def test_unpacking_too_many():
    def program(a):
        x, y = a
        return x * y

    with pytest.raises(ValueError):  # noqa: PT011 (Numba's has no message)
        njit(program)(A)
    with pytest.raises(ValueError):  # noqa: PT011
        nd.grad(program, mode="reverse")(A)


def test_take_out_of_bounds():
    def program(a):
        return np.take(a, np.array([0, 4]))[0]

    with pytest.raises(IndexError, match="out of bounds"):
        nd.grad(program, mode="reverse")(A)
