"""What the generated code of a Jacobian in reverse mode calls: rows out of lanes."""

from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import make_array

from ..lanes.varying import splat
from ..reverse.cotangents import Cotangents, RowSeed, converted, zero_like

_i64 = ir.IntType(64)


@cache
def row_seed(n, shapes, once):
    """An intrinsic `(row)`: the seed of the `n` rows from that one on."""
    ty = RowSeed(n, shapes, once)

    @intrinsic
    def seed(typingctx, row):
        def codegen(context, builder, sig, args):
            return args[0]

        return ty(types.intp), codegen

    return seed


@cache
def as_cotangents(scalar, n):
    """An intrinsic `(x)`: an adjoint as cotangents; where nothing flows, it is the number zero."""
    ty = Cotangents(scalar, n)

    @intrinsic
    def convert(typingctx, x):
        def codegen(context, builder, sig, args):
            if isinstance(x, Cotangents):
                return converted(builder, args[0], x, ty)
            return splat(builder, context.cast(builder, args[0], sig.args[0], scalar), n)

        return ty(x), codegen

    return convert


@cache
def as_lanes(n):
    """An intrinsic `(x)`: what an adjoint is in each of its `n` lanes, as a tuple."""

    @intrinsic
    def lanes(typingctx, x):
        ty = types.UniTuple(x.scalar, n)

        def codegen(context, builder, sig, args):
            found = [builder.extract_element(args[0], ir.IntType(32)(k)) for k in range(n)]
            zero = context.get_constant(x.scalar, 0.0)  # no adjoint comes out as -0.0
            return context.make_tuple(builder, ty, [builder.fadd(v, zero) for v in found])

        return ty(x), codegen

    return lanes


@cache
def lane_of(ty, lane):
    """An intrinsic `(adjoints)`: one lane of the adjoint of an argument, as floats in a structure `ty`."""

    @intrinsic
    def take(typingctx, adjoints):
        def codegen(context, builder, sig, args):
            return _emit_lane(context, builder, sig.args[0], args[0], ty, lane)

        return ty(adjoints), codegen

    return take


def _emit_lane(context, builder, source, value, target, lane):
    if isinstance(source, types.BaseTuple):
        items = [
            _emit_lane(context, builder, t, builder.extract_value(value, k), u, lane)
            for k, (t, u) in enumerate(zip(source, target, strict=True))
        ]
        return context.make_tuple(builder, target, items)
    if isinstance(source, Cotangents):
        value, source = builder.extract_element(value, ir.IntType(32)(lane)), source.scalar
    value = context.cast(builder, value, source, target)
    return builder.fadd(value, context.get_constant(target, 0.0))  # no -0.0 comes out


@intrinsic
def put_lanes(typingctx, out, rows, size, first, k, x):
    """Lanes of `x` as elements `k` of rows `first`, `first + 1`, ... of the matrix that `out` holds.

    It has `rows` rows of `size` elements in C order, whatever the shape of `out`; lanes without a row
    are left out.
    """

    def codegen(context, builder, sig, args):
        array, rows, size, first, k, value = args
        array = make_array(out)(context, builder, array)
        for lane in range(x.n):
            row = builder.add(first, _i64(lane))
            item = builder.extract_element(value, ir.IntType(32)(lane))
            with builder.if_then(builder.icmp_unsigned("<", row, rows)):
                place = builder.add(builder.mul(row, size), k)
                pointer = builder.gep(array.data, [place])
                item = context.cast(builder, item, x.scalar, out.dtype)
                item = builder.fadd(item, context.get_constant(out.dtype, 0.0))
                context.pack_value(builder, out.dtype, item, pointer)
        return context.get_dummy_value()

    return types.void(out, *[types.intp] * 4, x), codegen


@register_jitable
def put_rows(out, rows, first, shadow):
    """Lanes of the cotangents of an array into rows `first`, `first + 1`, ... of the matrix `out`."""
    k, size = 0, shadow.size
    for x in shadow.flat:
        put_lanes(out, rows, size, first, k, x)
        k += 1


@register_jitable
def clear_strided(shadow):
    """The same for an array of any order."""
    for index in np.ndindex(shadow.shape):
        shadow[index] = zero_like(shadow[index])
