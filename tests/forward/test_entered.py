"""What others told Numba of their types, by `@overload` and `@intrinsic`, in code for dual numbers."""

import math
import operator
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, types
from numba.experimental import structref
from numba.extending import intrinsic, overload

import numbad as nd
from tests.operators.extension_types import Quaternion

Vector = namedtuple("Vector", "x y")


def _is_vector(ty):
    return isinstance(ty, types.BaseNamedTuple) and ty.instance_class is Vector


@overload(operator.mul)
def _times(a, b):
    if _is_vector(a) and isinstance(b, types.Float):
        return lambda a, b: Vector(a.x * b, a.y * b)


@overload(operator.matmul)
def _product(a, b):
    if _is_vector(a):
        return lambda a, b: a.x * b.x + a.y * b.y


@structref.register
class PairType(types.StructRef):
    pass


class Pair(structref.StructRefProxy):
    pass


structref.define_proxy(Pair, PairType, ["a", "b"])


@overload(len)
def _area(pair):
    if isinstance(pair, PairType):
        return lambda pair: pair.a * pair.b


@intrinsic
def multiplied_and_added(typingctx, a, b, c):
    def codegen(context, builder, sig, args):
        return builder.fadd(builder.fmul(args[0], args[1]), args[2])

    return a(a, b, c), codegen


def test_a_product_beside_a_root():
    """The place of a product of a root by a number is taken by another function; not of these."""

    def scaled(x):
        v = Vector(x, 2 * x) * math.sqrt(x)
        return v.x * v.y

    assert nd.derivative(scaled)(1.5) == pytest.approx(6 * 1.5**2)
    assert nd.derivative(nd.derivative(scaled))(1.5) == pytest.approx(12 * 1.5)


def test_a_product_of_constants():
    def scaled(x, n):
        d = Vector(0.2 * n, 0.1 * n)
        return x * (d @ d) + (d @ Vector(x, 2.0)) * 0.3

    slope = nd.derivative(scaled)(1.0, 3)
    assert slope == pytest.approx(0.45 + 0.6 * 0.3)
    assert nd.grad(scaled, mode="reverse")(1.0, 3) == pytest.approx(slope)


def test_len():
    f = njit(lambda x: len(Pair(x, x * x)))
    assert nd.derivative(f)(1.3) == pytest.approx(3 * 1.3**2)
    assert nd.grad(f, mode="reverse")(1.3) == pytest.approx(3 * 1.3**2)


def test_an_intrinsic_without_a_rule_is_told():
    def f(x, y):
        return multiplied_and_added(x, y, x)

    with pytest.raises(
        nd.UnsupportedError, match="multiplied_and_added, which is an intrinsic without"
    ) as told:
        nd.grad(f, (0, 1), mode="forward")(2.0, 3.0)
    assert "defect" not in str(told.value)


def test_an_instance_made_of_a_differentiated_root():
    x = np.array([1.5, 0.5])
    f = njit(lambda x: (Vector(x[0], x[1]) * np.sqrt(x[1])).y)
    np.testing.assert_allclose(nd.grad(f, mode="forward")(x), [0.0, 1.5 * np.sqrt(0.5)])


@overload(bool)
def _is_not_flat(a):
    if isinstance(a, PairType):
        return lambda a: a.a != 0.0


def test_what_numba_puts_in_place_of_its_call_beside_another_type_of_it():
    """Numba has no code of its own for `bool` of None."""

    @njit
    def scaled(x, factor=None):
        if not factor:
            factor = 2.0 * x
        return factor * x if bool(Pair(x, x)) else 0.0

    assert nd.derivative(njit(lambda x: scaled(x)))(1.5) == pytest.approx(6.0)
    assert nd.derivative(njit(lambda x: scaled(x, 3.0)))(1.5) == pytest.approx(3.0)


_DOUBLED = False


@njit
def weighted(x, span=None, other=None):
    if isinstance(x, (bool, np.bool_)):
        raise ValueError("x is no number")
    if hasattr(span, "dtype"):
        x = x * span.sum()
    elif isinstance(span, float):
        x = x / span
    if other is None:
        other = x
    elif span.shape != other.shape:
        raise ValueError("shapes differ")
    if _DOUBLED:
        return other.doubled
    return np.sum(other)


@pytest.mark.parametrize(
    ("span", "other", "slope"), [(None, None, 1.0), (np.ones(3), None, 3.0), (4.0, None, 0.25)]
)
def test_branches_that_types_and_constants_choose(span, other, slope):
    """Numba leaves out the others, which do not compile, whoever overloads `bool`."""

    @njit
    def f(x, span, other):
        return weighted(x, span, other)

    assert nd.grad(f, mode="forward")(1.5, span, other) == slope


@overload(operator.getitem)
def _component(pair, k):
    if isinstance(pair, PairType):
        return lambda pair, k: pair.a if k == 0 else pair.b


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_lists_of_extension_types_beside_overloads_for_other_types(mode):
    """What others say of their pairs does not hold for lists, whatever is in them."""

    def product(p, q):
        some = [p, q, p * q]
        some.append(q)
        return some[2].w * len(some) + some[-1].w

    p, q = Quaternion(0.5, 0.0, 0.0, 0.0), Quaternion(2.0, 0.0, 0.0, 0.0)
    value, (by_p, by_q) = nd.value_and_grad(product, (0, 1), mode=mode)(p, q)
    assert (value, by_p.w, by_q.w) == (6.0, 8.0, 3.0)
