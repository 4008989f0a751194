"""`nd.root` and its relatives as they are called: with what they do not take, and in compiled code."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

from .test_linear_systems import affine
from .test_root import square


def test_number_of_equations():
    with pytest.raises(nd.ConvergenceError, match="as many numbers"):
        nd.root(lambda x: np.array([x[0], x[1], 1.0]), np.ones(2))


def test_arguments():
    with pytest.raises(nd.ArgumentError, match="no value for 'a'"):
        nd.root(square, 1.0)
    with pytest.raises(nd.ArgumentError, match="2 args for square"):
        nd.root(square, 1.0, (1.0, 2.0))
    with pytest.raises(nd.ArgumentError, match="x0 is a float or a 1-D array"):
        nd.root(affine, np.ones((2, 2)), (np.ones((2, 2)), np.ones(2)))
    with pytest.raises(nd.ArgumentError, match=r"returns a float.* returns a tuple$"):
        nd.root(lambda x: (x, x), 1.0)
    with pytest.raises(nd.ArgumentError, match=r"nd.root: xtol and rtol are not negative"):
        nd.root(square, 1.0, (2.0,), xtol=-1.0)
    with pytest.raises(nd.ArgumentError, match="1-D array"):
        nd.root(lambda x: x[0], np.ones(1))
    with pytest.raises(nd.ArgumentError, match="pair"):
        nd.root(square, 1.0, (2.0,), bracket=(1.0,))
    with pytest.raises(nd.ArgumentError, match="function or a Numba"):
        nd.root(3.0, 1.0)


def test_functions_that_are_refused():
    def draws(x):
        return x - np.random.random()

    def starred(x, *rest):
        return x

    for function, what in ((draws, "random"), (starred, "args")):
        with pytest.raises(nd.UnsupportedError, match=what):
            nd.root(function, 1.0)


def test_lists_are_refused():
    def f(a):
        return nd.root(square, 1.0, ([a],))

    with pytest.raises(nd.UnsupportedError, match="holds a"):
        nd.grad(f)(2.0)


@njit
def decay(a):
    return nd.quad(lambda t: math.exp(-a * t), 0.0, 1.0)


@njit
def moments(a, p):
    """Of captured floats, tuples and arrays, beside arguments that are given."""
    b, pair = p[0] * a, (a, p[1])
    one = nd.quad(lambda t, k: b * k * t * pair[1], 0.0, 1.0, 2.0)
    return one + nd.quad(lambda t, k: pair[0] * t + k, 0.0, 2.0, args=p[:1])


@njit
def roots(a, b):
    @njit
    def equation(x):
        return x * x * a - b

    middle = nd.root(equation, 1.0)
    fixed = nd.fixed_point(lambda y: 0.5 * y + middle * a, 0.0)  # 2 a sqrt(b / a)
    lowest = nd.minimize(lambda z, w: (z - w * fixed) ** 2, 0.0, (b,))  # 2 b sqrt(a b)
    return nd.minimize_scalar(lambda z: (z - lowest) ** 2 + a, bracket=(-50.0, 50.0))


A, B = 2.0, 3.0
P = (A, B)
PROGRAMS = [
    (decay, (1.0,), 1 - math.exp(-1.0), (2 * math.exp(-1.0) - 1.0,)),
    # a p0 p1 + 2 a + 2 p0
    (moments, (0.7, P), 0.7 * 6.0 + 1.4 + 4.0, (6.0 + 2.0, 0.7 * B + 2.0, 0.7 * A)),
    (roots, (A, B), 2 * B * math.sqrt(A * B), (B**2 / math.sqrt(A * B), 3 * math.sqrt(A * B))),
]


@pytest.mark.dear
@pytest.mark.deep(but=["decay-*"])
@pytest.mark.parametrize(("f", "args", "value", "grad"), PROGRAMS)
def test_program(f, args, value, grad):
    assert f(*args) == pytest.approx(value, rel=1e-9)
    for mode in ("forward", "reverse"):
        found = nd.grad(f, tuple(range(len(args))), mode=mode)(*args)
        np.testing.assert_allclose(np.hstack(found), grad, rtol=1e-7)


@pytest.mark.deep
def test_second_derivative():
    """Of (1 - exp(-a)) / a, at 1: 2 - 5 / e."""
    second = nd.derivative(nd.derivative(decay))(1.0)
    assert second == pytest.approx(2.0 - 5.0 * math.exp(-1.0), rel=1e-7)


def test_a_function_that_is_not_compiled():
    assert njit(lambda x: nd.quad(_square, 0.0, x))(2.0) == pytest.approx(8.0 / 3.0)


def _square(t):
    return t * t


def test_what_does_not_fit():
    with pytest.raises(nd.UnsupportedError, match="without its argument 'k'"):
        njit(lambda x: nd.quad(lambda t, k: t * k * x, 0.0, 1.0))(1.0)
    with pytest.raises(nd.UnsupportedError, match="whose length is not seen"):
        njit(lambda x, p: nd.quad(lambda t, k=2.0: t * k * x, 0.0, 1.0, p))(1.0, (1.0,))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: nd.root(_square, np.array([1 + 2j])),
            r"nd.root: x0 is real, not array\(\[1.\+2.j",
        ),
        (lambda: nd.minimize(_square, 1 + 2j), "nd.minimize: x0 is real"),
        (lambda: nd.fixed_point(_square, "1"[:0]), "nd.fixed_point: x0 is a float, not ''"),
        (
            lambda: nd.root(_square, np.ones(2), bracket=(0.0, 2.0)),
            "bracket= is for a float x; x0 is an",
        ),
        (
            lambda: nd.root(_square, 1.0, bracket=(0.0, 2j)),
            r"nd.root: bracket\[1\] is a float, not 2j",
        ),
        (
            lambda: nd.root(_square, 1.0, bracket=0.0),
            "nd.root: bracket is a pair of floats, not 0.0",
        ),
        (
            lambda: nd.root(_square, 1.0, ({"a": 2.0},)),
            "args is a tuple of numbers, arrays of numbers",
        ),
        (lambda: nd.quad(_square, 0.0, 1j), "nd.quad: limit b is a float, not 1j"),
    ],
)
def test_values_that_do_not_fit(call, told):
    with pytest.raises(nd.ArgumentError, match=told):
        call()
