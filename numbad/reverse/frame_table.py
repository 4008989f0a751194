"""Frames of a loop that is known to run `n` times: rows of a table on the tape.

Room is made once, before the loop, and a row is found by its number, so that nothing passes from one
iteration to the next. A table of columns, one for each value, was slower by a factor of two where
many values are recorded (the Brusselator).
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from .value_tape import check_plain, layout_of, load_slots, make_room, store_slots

_i64 = ir.IntType(64)


def _plain(values):
    tys = [types.unliteral(v) for v in values]
    for ty in tys:
        check_plain(ty)
    return tys, types.StarArgTuple.from_types(tys)


def _bytes(context, builder, tys, n):
    """The size of a number of rows."""
    return builder.mul(n, _i64(layout_of(context, tys)[1]))


@intrinsic(prefer_literal=True)
def reserve(typingctx, tape, top, n, where, *values):
    """Room above `top` for `n` frames of the types of `values`: the bottom of that room."""
    if not isinstance(where, types.StringLiteral):
        return None
    tys, given = _plain(values)

    def codegen(context, builder, sig, args):
        many = builder.icmp_signed(
            ">", args[2], _i64(2**40)
        )  # beyond every limit, without overflow
        size = builder.select(many, _i64(2**62), _bytes(context, builder, tys, args[2]))
        return make_room(context, builder, args[0], args[1], size, where.literal_value)

    return types.voidptr(tape, types.voidptr, types.intp, where, given), codegen


@intrinsic
def above(typingctx, base, n, *values):
    """The top above the rows that begin at `base`."""
    tys, given = _plain(values)

    def codegen(context, builder, sig, args):
        return builder.gep(args[0], [_bytes(context, builder, tys, args[1])], inbounds=True)

    return types.voidptr(types.voidptr, types.intp, given), codegen


@intrinsic
def below(typingctx, top, n, *values):
    """The bottom of the rows that end at `top`."""
    tys, given = _plain(values)

    def codegen(context, builder, sig, args):
        size = _bytes(context, builder, tys, args[1])
        return builder.gep(args[0], [builder.neg(size)], inbounds=True)

    return types.voidptr(types.voidptr, types.intp, given), codegen


def _row(context, builder, tys, base, number):
    return builder.gep(base, [_bytes(context, builder, tys, number)], inbounds=True)


@intrinsic
def put(typingctx, base, number, *values):
    """Record values as a row."""
    tys, given = _plain(values)

    def codegen(context, builder, sig, args):
        values = cgutils.unpack_tuple(builder, args[2], len(tys))
        put_values(context, builder, tys, *args[:2], values)
        return context.get_dummy_value()

    return types.void(types.voidptr, types.intp, given), codegen


def put_values(context, builder, tys, base, number, values):
    """Record values of these types as a row."""
    row = _row(context, builder, tys, base, number)
    store_slots(builder, row, layout_of(context, tys)[0], values)


@intrinsic
def get(typingctx, base, number, *values):
    """The values of a row, in a tuple; `values` tell the types alone."""
    tys, given = _plain(values)
    result = types.BaseTuple.from_types(tys)

    def codegen(context, builder, sig, args):
        items = read_values(context, builder, tys, *args[:2])
        return context.make_tuple(builder, result, items)

    return result(types.voidptr, types.intp, given), codegen


def read_values(context, builder, tys, base, number):
    """The values of a row."""
    return load_slots(context, builder, tys, _row(context, builder, tys, base, number))
