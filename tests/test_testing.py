"""The checker is checked: what is right passes, and what is slightly wrong does not."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.testing import GradientError
from tests.reverse.refusal import assert_clear


@njit
def square(x):
    return x * x


@njit
def cube(x):
    return x * x * x


@njit
def tilted(x):
    return x * x


nd.scalar_rule(square, lambda ans, x: 2 * x * 1.0005)  # wrong by 0.05 %
nd.rule(
    cube,
    jvp=lambda primals, tangents: (cube(primals[0]), 3.0 * primals[0] ** 2 * tangents[0] * 0.9995),
)
nd.rule(
    tilted,
    jvp=lambda primals, tangents: (primals[0] ** 2 * (1.0 + 1e-12), 2.0 * primals[0] * tangents[0]),
)


@pytest.mark.parametrize("wrong", [square, cube])
@pytest.mark.parametrize("x", [0.7, -3.1, 250.0])
def test_a_rule_wrong_by_half_a_thousandth_fails(wrong, x):
    with pytest.raises(GradientError, match="differences of the function give"):
        nd.check_grads(lambda x: wrong(x) + 1.0, (x,), order=1)


def test_a_wrong_second_derivative_fails():
    @njit
    def wave(x):
        return math.sin(x)

    # The first derivative is right in value; its own derivative is that of a constant.
    nd.scalar_rule(wave, lambda ans, x: math.copysign(math.fabs(math.cos(x)), 1.0))
    nd.check_grads(wave, (0.4,))
    flat = njit(lambda x: math.sin(x))
    nd.rule(
        flat,
        jvp=lambda primals, tangents: (
            math.sin(primals[0]),
            math.cos(nd.stop_gradient(primals[0])) * tangents[0],
        ),
    )
    nd.check_grads(flat, (0.4,), order=1, modes=("forward",))
    with pytest.raises(GradientError, match="second derivative"):
        nd.check_grads(flat, (0.4,), modes=("forward",))
    steep = njit(lambda x: math.sin(x))
    nd.rule(steep, vjp=(lambda x: (math.sin(x), x), lambda x, w: (math.cos(x) * w,)))
    with pytest.raises(nd.UnsupportedError, match="whose rule has a vjp but no jvp") as caught:
        nd.check_grads(steep, (0.4,), modes=("forward",))
    assert_clear(caught.value, __file__, source="lambda x: math.sin(x)")


def test_a_value_that_differs_from_the_primal_fails():
    with pytest.raises(GradientError, match="is not that of the function"):
        nd.check_grads(tilted, (0.7,))


def scattered(p, x):
    """A gradient, computed once by itself and once in the course of its derivative, adds in another order."""
    total = 0.0
    for i in range(1, x.size):
        decay = math.exp(-p[0] * 0.1)
        spread = p[1] * p[1] * (1.0 - decay * decay) / (2.0 * p[0])
        off = x[i] - x[i - 1] * decay
        total += 0.5 * (math.log(2.0 * math.pi * spread) + off * off / spread)
    return total


def test_values_may_differ_by_rounding():
    given = np.array([0.4, 0.05]), 0.05 + 0.01 * np.sin(np.arange(300.0) ** 2)
    gradient = nd.grad(scattered, mode="reverse")
    nd.check_grads(gradient, given, modes=("forward",), order=1)


@njit
def total(a):
    s = 0.0
    for v in a:
        s += v
    return s


@pytest.mark.deep
def test_arguments_of_every_structure_pass():
    Point = namedtuple("Point", "x y")

    def f(point, a, weights, count):
        out = np.zeros(count)
        for i in range(count):
            out[i] = weights[0] * math.exp(a[i] * point.x) + weights[1][0] * point.y
        return out, total(a) * point.x

    nd.check_grads(f, (Point(0.3, 1.2), np.array([0.5, -1.0, 2.0]), (1.5, (0.2,)), 3))


@pytest.mark.dear
def test_many_inputs_are_checked_along_random_directions():
    @njit
    def last_is_wrong(a):
        return total(a * a) + square(a[-1])

    a = np.linspace(0.5, 1.5, 40)
    nd.check_grads(lambda a: total(a * a) + a[-1] ** 2, (a,), order=1)
    with pytest.raises(GradientError):
        nd.check_grads(last_is_wrong, (a,), order=1)


def test_many_inputs_of_all_sizes_are_moved_by_what_they_measure():
    def f(a):
        if a.min() <= 0.0:
            raise ValueError("not positive")
        return np.log(a).sum()

    nd.check_grads(f, (np.geomspace(0.2, 1e9, 20),), order=1, modes=("forward",))


def test_what_cannot_be_decided_is_no_pass():
    with pytest.raises(GradientError, match="differences of the function are not finite"):
        nd.check_grads(lambda x: math.sqrt(x) if x >= 0.0 else math.nan, (0.0,), order=1)
    with pytest.raises(GradientError, match="not smooth here"):
        nd.check_grads(lambda x: math.sqrt(x) if x > 0.0 else x, (0.0,), order=1)


def test_wrong_use_is_told():
    with pytest.raises(nd.ArgumentError, match="no float among the arguments"):
        nd.check_grads(lambda n: n, (3,))
    with pytest.raises(nd.ArgumentError, match="args is a tuple"):
        nd.check_grads(math.sin, 0.5)
    with pytest.raises(nd.ArgumentError, match="order is 1 or 2"):
        nd.check_grads(math.sin, (0.5,), order=3)


@pytest.mark.parametrize("f", [lambda x: (x**3).sum(), lambda x: np.sin(x).sum()])
def test_single_precision_is_compared_with_double(f):
    nd.check_grads(f, (np.linspace(0.5, 1.5, 3, dtype=np.float32),))


def test_single_precision_that_a_function_insists_on():
    nd.check_grads(njit("f4(f4[:])")(lambda x: np.sin(x).sum()), (np.ones(3, np.float32),), order=1)


def test_a_wrong_rule_is_found_in_single_precision():
    @njit
    def squared(x):
        return x * x

    nd.rule(squared, jvp=lambda x, t: (squared(x[0]), np.float32(2.01) * x[0] * t[0]))
    with pytest.raises(GradientError, match="the derivative along"):
        nd.check_grads(lambda x: squared(x), (np.float32(1.5),), modes=("forward",))
