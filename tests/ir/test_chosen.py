"""Operators, functions, methods and attributes that somebody overloads for namedtuples.

The classes have the same operators in Python, which the oracles run: an overload is differentiated by
its own code, whatever the operator means for tuples that nobody overloads it for.
"""

import math
import operator
from functools import wraps
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit, types
from numba.extending import overload, overload_attribute, overload_method

import numbad as nd
from tests.forward import compare
from tests.forward.compare import Programs
from tests.operators.extension_types import Cartesian, Point
from tests.reverse import plain

programs = Programs()


class Vec(NamedTuple):
    """A vector of the plane; `*` is that of complex numbers."""

    x: float
    y: float

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    __iadd__ = __add__

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, other):
        return Vec(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __abs__(self):
        return self.x**2 + self.y**2

    def __getitem__(self, k):
        if isinstance(k, str):
            return self.x * 2.0 if k == "x" else self.y * 3.0
        return tuple.__getitem__(self, k)

    def copy(self, k):
        return Vec(self.x * k, self.y * k * k)

    @property
    def real(self):
        return self.x * self.y


def _is_vec(*tys):
    return all(isinstance(t, types.BaseNamedTuple) and t.instance_class is Vec for t in tys)


def _like(method):
    """The method of the class as an overload of a function of one or two arguments."""
    code = getattr(method, "fget", method)
    if code.__code__.co_argcount == 1:
        return lambda self: code if _is_vec(self) else None
    names = code.__code__.co_varnames[:2]
    typed = {
        "other": lambda self, other: code if _is_vec(self, other) else None,
        "k": lambda self, k: code if _is_vec(self) else None,
    }
    return typed[names[1]]


for _name in ("add", "iadd", "sub", "mul", "neg", "matmul"):
    overload(getattr(operator, _name))(_like(getattr(Vec, f"__{_name}__")))
overload(abs)(_like(Vec.__abs__))
overload_method(types.BaseNamedTuple, "copy")(_like(Vec.copy))
overload_attribute(types.BaseNamedTuple, "real")(_like(Vec.real))


@overload(operator.getitem)
def _getitem(self, k):
    if _is_vec(self) and isinstance(k, types.UnicodeType):
        return lambda self, k: self.x * 2.0 if k == "x" else self.y * 3.0


P, Q = Vec(0.7, 1.3), Vec(0.4, -0.9)


@programs.on(P, Q)
def sums(p, q):
    s = Vec(0.0, 1.0)
    for k in range(3):
        s += q * p
        s = s + p if k == 1 else -(s - q)
    return s.x * s.y


@programs.on(P, Q)
def numbers_of(p, q):
    s = (-p @ q) * abs(p) + p["x"] * q["y"]
    return s * p.real if q @ p < 0.0 else s


@programs.on(P, Q)
def called_by_name(p, q):
    return operator.add(p, q).x * operator.neg(q).y + p.copy(q.x).y * q[1]


# -- overloads that know exactly the types of floats -------------------------------------------


class Span(NamedTuple):
    low: float
    high: float

    def __add__(self, other):
        return Span(self.low + other.low, self.high + other.high)

    def __mul__(self, k):
        return Span(self.low * k, self.high * k * k)

    @property
    def width(self):
        return self.high - self.low * self.low

    def index(self, v):
        return self.high * v


SPAN = types.NamedUniTuple(types.float64, 2, Span)


@overload(operator.add)
def _add(p, q):
    if p == SPAN and q == SPAN:
        return lambda p, q: Span(p.low + q.low, p.high + q.high)


@overload(operator.mul)
def _mul(p, k):
    if p == SPAN and k == types.float64:
        return lambda p, k: Span(p.low * k, p.high * k * k)


@overload_attribute(types.BaseNamedTuple, "width")
def _width(p):
    if p == SPAN:
        return lambda p: p.high - p.low * p.low


@overload_method(types.BaseNamedTuple, "index")
def _index(p, v):
    if p == SPAN:
        return lambda p, v: p.high * v


def scaled(a, k=2.0):
    return np.array([v * k for v in a])


@overload(scaled)
def _scaled(a, k=2.0):
    if isinstance(a, types.Array) and isinstance(a.dtype, types.Float):

        def code(a, k=2.0):
            out = np.zeros(a.shape)
            for i in range(a.size):
                out[i] = a[i] * k
            return out

        return code


S, T = Span(0.7, 1.3), Span(0.4, 0.9)


@programs.on(S, T)
def of_exact_types(p, q):
    s = (p + q).low * (q * p.high).high
    return s + p.width * q.low + p.index(q.low)


@programs.on(0.7)
def of_what_may_be_none(x):
    """Numba has `*` for it, and asks the overloads as well."""
    y = None
    if x > 0.0:
        y = x * 2.0
    return 0.0 if y is None else y * x


@programs.on(0.7, 1.3)
def by_name_and_default(x, y):
    a = np.array([x * y, y])
    return scaled(a, k=x)[1] * scaled(a)[0]


@pytest.mark.deep(but=["called_by_name", "sums", "of_exact_types"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_programs_in_reverse_mode(f, args, options):
    plain.check(f, *args, **options)


@pytest.mark.deep(but=["numbers_of", "of_what_may_be_none"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_programs_in_forward_mode(f, args, options):
    compare.check(f, *args, second=True, **options)


def test_an_attribute_of_others_leaves_that_of_arrays_as_it_is():
    def square(z):
        return (z * np.conj(z)).real.sum()

    z, v = np.array([1.0 + 2.0j, 3.0 - 1.0j]), np.array([0.5j, 1.0 + 1.0j])
    value, tangent = nd.jvp(square)((z,), (v,))
    assert (value, tangent) == (15.0, 2.0 * (z.conj() * v).real.sum())


def test_patterns_know_what_an_overload_reads():
    def crossed(x):
        p = Vec(x[0], x[1]) * Vec(x[2], x[3])
        return np.array([p.x, (Vec(x[0], x[1]) + Vec(x[2], x[3])).y])

    x = np.array([0.5, 1.5, 2.5, 3.5])
    pattern = nd.sparsity(crossed)(x).toarray()
    exact = np.array([[2.5, -3.5, 0.5, -1.5], [0.0, 1.0, 0.0, 1.0]])
    assert (pattern >= (exact != 0.0)).all()
    assert np.array_equal(nd.jacobian(crossed, sparsity="detect")(x).toarray(), exact)
    assert math.prod(pattern.shape) == 8


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_attribute_is_asked_for_by_a_name_in_a_string(mode):
    def distance(x):
        return Point(Cartesian(x, 4.0)).distance

    assert nd.grad(distance, mode=mode)(3.0) == pytest.approx(0.6)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_method_may_have_the_name_of_one_of_sets(mode):
    def moved(x):
        kinds = set()
        kinds.add(3)
        point = Point(Cartesian(x, 1.0))
        return point.add(Point(Cartesian(x, 3.0))).coordinates.x * len(kinds)

    assert nd.grad(moved, mode=mode)(3.0) == pytest.approx(2.0)


@njit
def _square(x):
    return _square_of(x)


def _square_of(x):
    raise NotImplementedError


@overload(_square_of)
def _square_of_a_number(x):
    @wraps(_square)  # which puts `py_func` and all else of a dispatcher on the function
    def square(x):
        return x * x

    return square


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_overload_has_the_name_of_the_jitted_function_that_calls_it(mode):
    def f(x):
        return _square(x) * x

    assert nd.grad(f, mode=mode)(2.0) == pytest.approx(12.0)
