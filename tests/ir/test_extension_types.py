"""Derivatives by, and through, values of types that packages add to Numba."""

import operator

import numpy as np
import pytest
from numba import njit, types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    models,
    overload,
    register_model,
    typeof_impl,
)

import numbad as nd
from tests.forward import compare
from tests.forward.compare import Programs
from tests.operators.extension_types import (
    Polynomial,
    Quaternion,
    lerp,
    polynomial,
    quaternion,
)
from tests.reverse import plain

programs = Programs()

P, Q = Quaternion(0.7, 1.3, -0.4, 0.9), Quaternion(0.3, -0.6, 1.1, 0.2)
C = Polynomial(np.array([0.5, -1.5, 2.5]), 2.0, 2)


@njit
def stretched(p, k):
    if p < quaternion(1.0, 1.0, 1.0, 1.0):
        return p.scale(k)
    return p * p


@programs.on(P, Q)
def in_a_loop(p, q):
    s = quaternion(1.0, 0.0, 0.0, 0.0)
    for k in range(3):
        s = s * p + q
        if s < p:
            s = s.scale(k * 0.5)
    return abs(s) * s.square


@programs.on(0.7, 1.3)
def of_floats(x, y):
    q = quaternion(x, y, x * y, 1).scale(x or 2.0)
    q = q.scale(x if x > y else y)  # the method goes round the branch
    r = stretched(q, y) * stretched(q.scale(), 1.0)
    return r.conj().z * r.w


@programs.on((P, 0.6), Q)
def in_containers(t, q):
    p, x = t
    some = [p, lerp(q, p)]
    some.append(p.scale(x))
    s = 0.0
    for r in some:
        s += r.w * r.x
    pair = (p, some[1])
    return s + pair[0].y * pair[1].z


@programs.on(C, 1.5)
def of_an_array(c, x):
    d = c * x
    other = polynomial(np.array([x, x * x, 1.0]), 3.0, 1)
    return d.at(x * 0.5) * d.coefficients[2] + other.at(x) * c.unit


@pytest.mark.deep(but=["of_floats"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_programs_in_reverse_mode(f, args, options):
    plain.check(f, *args, **options)


@pytest.mark.deep(but=["of_floats"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_programs_in_forward_mode(f, args, options):
    if f is of_an_array:  # whose coefficients are an array in a tuple
        compare.check(f, *args, **options)
    else:
        compare.check(f, *args, second=True, **options)


def test_results_are_of_the_type():
    def product(p, q):
        return p * q

    value, tangent = nd.jvp(product)((P, Q), (Q, P))
    assert isinstance(value, Quaternion)
    assert tangent == pytest.approx(tuple(Q * Q + P * P))
    value, (p_bar, q_bar) = nd.vjp(product)((P, Q), Q)
    assert value == pytest.approx(tuple(P * Q))
    assert p_bar == pytest.approx(tuple(Q * Q.conj()))
    assert q_bar == pytest.approx(tuple(P.conj() * Q))
    assert isinstance(q_bar, Quaternion)


def test_gradients_are_taken_in_compiled_code():
    gradient = nd.grad(njit(lambda p, q: (p * q).w))

    @njit
    def through(p, x):
        g = gradient(p.scale(x), p.scale(x * x))
        return g.w * g.x

    h = 1e-6
    steep = (through(P, 0.7 + h) - through(P, 0.7 - h)) / (2 * h)
    for mode in ("forward", "reverse"):
        assert nd.grad(through, 1, mode=mode)(P, 0.7) == pytest.approx(steep)


# -- a member without data, whose type says all ---------------------------------------------------


class Frame:
    """What positions are told in."""


class FrameType(types.Dummy):
    def __init__(self):
        super().__init__("frame")


class PositionType(types.Type):
    def __init__(self):
        super().__init__("position")


FRAME, HERE = FrameType(), Frame()
register_model(FrameType)(models.OpaqueModel)
typeof_impl.register(Frame)(lambda value, c: FRAME)
lower_constant(FrameType)(lambda context, builder, ty, value: context.get_dummy_value())


@register_model(PositionType)
class PositionModel(models.StructModel):
    def __init__(self, manager, ty):
        members = [("frame", FRAME), ("u", types.float64), ("v", types.float64)]
        super().__init__(manager, ty, members)


for _name in ("frame", "u", "v"):
    make_attribute_wrapper(PositionType, _name, _name)


@intrinsic
def position(typingctx, frame, u, v):
    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        made.frame, made.u, made.v = args
        return made._getvalue()

    return PositionType()(frame, types.float64, types.float64), codegen


@overload(operator.mul)
def _times(p, q):
    if isinstance(p, PositionType) and isinstance(q, PositionType):
        return lambda p, q: position(p.frame, p.u * q.u - p.v * q.v, p.u * q.v + p.v * q.u)


class Position:
    u, v = 0.0, 1.0


typeof_impl.register(Position)(lambda value, c: PositionType())


@lower_constant(PositionType)
def _lower_position(context, builder, ty, value):
    made = cgutils.create_struct_proxy(ty)(context, builder)
    made.frame = context.get_dummy_value()
    made.u, made.v = (context.get_constant(types.float64, x) for x in (value.u, value.v))
    return made._getvalue()


TURN = Position()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_member_without_data_and_constants_go_along(mode):
    """As the layout of a multivector of the package `clifford` does."""
    turn = Position()

    def product(x, y):
        p = position(HERE, x, y) * TURN
        return (p * turn * p * position(p.frame, y, 2.0)).v

    x, y = 3.0, 5.0  # of the imaginary part of -i z^2 (y + 2 i), which is (y^2 - x^2) y + 4 x y
    assert nd.grad(product, (0, 1), mode=mode)(x, y) == (4 * y - 2 * x * y, 3 * y**2 - x**2 + 4 * x)
