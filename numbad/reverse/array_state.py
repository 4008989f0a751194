"""Whole arrays on the tape: their elements, in order."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from .value_tape import make_room

_i64 = ir.IntType(64)


def _elements(context, builder, ty, array):
    """The array's structure, its number of bytes, and those rounded up to 8."""
    struct = make_array(ty)(context, builder, array)
    itemsize = context.get_abi_sizeof(context.get_data_type(ty.dtype))
    size = builder.mul(struct.nitems, _i64(itemsize))
    room = builder.and_(builder.add(size, _i64(7)), _i64(-8))
    return struct, itemsize, size, room


def _copy(context, builder, ty, struct, itemsize, size, place, back):
    """Copy between an array and a place on the tape, in the order of its elements."""
    if ty.layout in "CF":
        ends = (struct.data, place) if back else (place, struct.data)
        cgutils.raw_memcpy(builder, *ends, size, 1)
        return
    shape = cgutils.unpack_tuple(builder, struct.shape, ty.ndim)
    number = cgutils.alloca_once_value(builder, _i64(0))
    with cgutils.loop_nest(builder, shape, _i64) as indices:
        count = builder.load(number)
        on_tape = builder.gep(place, [builder.mul(count, _i64(itemsize))], inbounds=True)
        element = cgutils.get_item_pointer(context, builder, ty, struct, indices)
        ends = (element, on_tape) if back else (on_tape, element)
        cgutils.raw_memcpy(builder, *ends, _i64(1), itemsize)
        builder.store(builder.add(count, _i64(1)), number)


@intrinsic(prefer_literal=True)
def push_array(typingctx, tape, top, where, array):
    """Record the elements of an array above `top`: the new top."""
    if not isinstance(where, types.StringLiteral) or not isinstance(array, types.Array):
        return None

    def codegen(context, builder, sig, args):
        struct, itemsize, size, room = _elements(context, builder, array, args[3])
        top = make_room(context, builder, args[0], args[1], room, where.literal_value)
        _copy(context, builder, array, struct, itemsize, size, top, back=False)
        return builder.gep(top, [room], inbounds=True)

    return types.voidptr(tape, types.voidptr, where, array), codegen


@intrinsic
def pop_array(typingctx, top, array):
    """Put the newest elements on the tape back into an array: the top below them."""
    if not isinstance(array, types.Array):
        return None

    def codegen(context, builder, sig, args):
        struct, itemsize, size, room = _elements(context, builder, array, args[1])
        below = builder.gep(args[0], [builder.neg(room)], inbounds=True)
        _copy(context, builder, array, struct, itemsize, size, below, back=True)
        return below

    return types.voidptr(types.voidptr, array), codegen
