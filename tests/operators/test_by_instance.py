"""Gradients by instances of jitted classes and structrefs: in both modes, of every operator."""

import numpy as np
import pytest
from numba import deferred_type, float64, int64, njit, optional, types
from numba.experimental import jitclass

import numbad as nd
from tests.operators.structrefs import Pair

MODES = ["forward", "reverse"]


@jitclass([("k", float64), ("rest", float64), ("calls", int64), ("w", float64[:])])
class Spring:
    """A stiffness, a rest length, how often it was asked, and weights."""

    def __init__(self, k, rest, w):
        self.k, self.rest, self.w, self.calls = k, rest, w, 5

    def energy(self, x):
        return 0.5 * self.k * (x - self.rest) ** 2 + self.w[0] * self.w[1] * x

    def asked(self, x):
        self.calls += 1
        self.k *= 2.0
        self.w[0] += 1.0
        return self.energy(x)

    def __add__(self, other):
        return Spring(self.k + other.k, self.rest + other.rest, self.w + other.w)

    def __mul__(self, factor):
        return Spring(self.k * factor, self.rest * factor, self.w * factor)

    def __getitem__(self, i):
        return self.w[i] * self.k


@jitclass([("spring", Spring.class_type.instance_type), ("tip", types.UniTuple(float64, 2))])
class Mount:
    """A spring in a field, and two floats in a tuple."""

    def __init__(self, spring, tip):
        self.spring, self.tip = spring, tip


@njit
def energy(spring, x):
    return spring.energy(x)


def spring():
    return Spring(2.0, 0.5, np.array([1.0, 3.0]))


def parts(s):
    return [s.k, s.rest, s.calls, *s.w]


GRADIENT = [0.5, -2.0, 0, 4.5, 1.5]  # of `energy(spring(), 1.5)`


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", MODES)
def test_gradient_is_an_instance(mode):
    value, (by_spring, by_x) = nd.value_and_grad(energy, (0, 1), mode=mode)(spring(), 1.5)
    assert isinstance(by_spring, Spring)
    assert (value, parts(by_spring), by_x) == (5.5, GRADIENT, 5.0)
    assert isinstance(by_spring.calls, int)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", MODES)
def test_gradient_by_a_structref(mode):
    area = njit(lambda p, c: p.weighted(c) * p.area)
    gradient = nd.grad(area, mode=mode)(Pair(2.0, 3.0), 4.0)
    assert isinstance(gradient, Pair)
    assert (gradient.x, gradient.y) == (171.0, 86.0)


def test_products_with_vectors_and_covectors():
    s = spring()
    assert nd.jvp(energy)((s, 1.5), (None, 1.0)) == (5.5, 5.0)
    value, (by_spring, by_x) = nd.vjp(energy)((s, 1.5), 2.0)
    assert (value, parts(by_spring), by_x) == (5.5, [2.0 * g for g in GRADIENT], 10.0)


@pytest.mark.deep
def test_second_order():
    """Forward over reverse, the gradient by an array going in reverse."""
    by_spring, by_x = nd.hvp(energy)((spring(), 1.5), (spring(), 1.0))
    assert (parts(by_spring), by_x) == ([0.5, -3.0, 0, 7.5, 2.5], 9.0)


def test_matrices_have_the_fields_of_the_instance():
    hessian = nd.hessian(njit(lambda p: p.x * p.x * p.y))(Pair(2.0, 3.0))
    assert (hessian.x.x, hessian.x.y, hessian.y.x, hessian.y.y) == (6.0, 4.0, 4.0, 0.0)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", MODES)
def test_operators_of_the_class(mode):
    @njit
    def f(s, t, a):
        both = (s + t) * a
        return both.energy(1.5) + both[1] * s[0]

    by_s, by_t, by_a = nd.grad(f, (0, 1, 2), mode=mode)(spring(), spring(), 2.0)
    # k = a (ks + kt), r = a (rs + rt), w alike: k (1.5 - r)^2 / 2 + 1.5 w0 w1 + k w1 ws0 ks
    assert parts(by_s)[:2] == pytest.approx([2 * (0.125 + 24.0) + 96.0, 8.0])
    assert parts(by_t)[:2] == pytest.approx([2 * (0.125 + 24.0), 8.0])
    np.testing.assert_allclose(by_s.w, [2 * 18.0 + 8.0 * 12.0 * 2.0, 2 * (6.0 + 16.0)])
    np.testing.assert_allclose(by_t.w, [2 * 18.0, 2 * (6.0 + 16.0)])
    assert by_a == pytest.approx(4 * (0.125 + 24.0) + 4.0 + 2 * 18.0 + 6 * (6.0 + 16.0))


@pytest.mark.deep
def test_instances_do_not_confuse_perturbations():
    """The inner derivative is by x; what the outer one is by stays in the fields."""

    @njit
    def f(s, x):
        return x * nd.grad(energy, 1)(s, x)

    # f = x (k (x - rest) + w0 w1), whose derivative by x is k (2 x - rest) + w0 w1
    by_spring = nd.grad(nd.grad(f, 1, mode="forward"), 0, mode="forward")(spring(), 1.5)
    assert parts(by_spring) == [2.5, -2.0, 0, 3.0, 1.0]


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", MODES)
def test_another_array_in_a_field_is_the_callers_too(mode):
    @njit
    def f(pair, x):
        pair.x = pair.x * 2.0
        return pair.x[0] * pair.y * x

    pair = Pair(np.array([1.0, 2.0]), 3.0)
    gradient = nd.grad(f, mode=mode)(pair, 1.5)
    assert (gradient.x.tolist(), gradient.y) == ([9.0, 0.0], 3.0)
    assert pair.x.tolist() == [2.0, 4.0]


node = deferred_type()


@jitclass([("v", float64), ("next", optional(node))])
class Node:
    """It refers to one of its own class, whose floats no field of a gradient has a place for."""

    def __init__(self, v, following):
        self.v, self.next = v, following


node.define(Node.class_type.instance_type)


def test_floats_that_a_gradient_has_no_place_for_are_refused():
    with pytest.raises(nd.ArgumentError, match="an instance of the same class or None"):
        nd.grad(njit(lambda n: n.next.v))(Node(1.0, Node(2.0, None)))
