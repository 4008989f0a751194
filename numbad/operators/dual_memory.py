"""Arrays of dual numbers in memory that is there already, and their numbers as plain arrays."""

from functools import cache

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import make_array, populate_array

from ..forward.dual_arrays import dtype_of_type
from ..forward.layout import empty_as

_i64 = ir.IntType(64)
LINE = 64  # bytes; arrays start on lines of the cache of their own


@cache
def duals_in(dual):
    """A nopython function `(a, memory, offset)`: an array of duals of the shape of `a`, and its end.

    `a` is contiguous. The array lies in the bytes of `memory` from `offset` on where it fits there, else
    in new memory.
    """
    place, item, dtype = _placed(dual), _itemsize(dual), dtype_of_type(dual)

    @register_jitable
    def duals(a, memory, offset):
        end = offset + -(-(a.size * item()) // LINE) * LINE
        if end <= memory.size:
            return place(a, memory, offset), end
        return empty_as(a, dtype()), end

    return duals


def _itemsize(dual):
    @intrinsic
    def itemsize(typingctx):
        def codegen(context, builder, sig, args):
            return _i64(context.get_abi_sizeof(context.get_data_type(dual)))

        return types.intp(), codegen

    return itemsize


def _placed(dual):
    @intrinsic
    def place(typingctx, a, memory, offset):
        ty = types.Array(dual, a.ndim, "C")

        def codegen(context, builder, sig, args):
            source = make_array(a)(context, builder, args[0])
            owner = make_array(memory)(context, builder, args[1])
            made = make_array(ty)(context, builder)
            size = context.get_abi_sizeof(context.get_data_type(dual))
            shape = cgutils.unpack_tuple(builder, source.shape, a.ndim)
            data = cgutils.gep(builder, owner.data, args[2])
            populate_array(
                made,
                data=builder.bitcast(data, made.data.type),
                shape=shape,
                strides=_strides(builder, shape, size),
                itemsize=size,
                meminfo=owner.meminfo,
                parent=None,
            )
            return impl_ret_borrowed(context, builder, ty, made._getvalue())

        return ty(a, memory, types.intp), codegen

    return place


def _strides(builder, shape, size):
    """Strides in C order."""
    strides, step = [], _i64(size)
    for count in reversed(shape):
        strides.append(step)
        step = builder.mul(step, count)
    return strides[::-1]


@intrinsic
def as_numbers(typingctx, flat):
    """The numbers of the duals of a contiguous array, each value followed by its partials."""
    dual = flat.dtype
    if not isinstance(dual.scalar, types.Float):
        return None
    ty = types.Array(dual.scalar, 1, "C")

    def codegen(context, builder, sig, args):
        source = make_array(sig.args[0])(context, builder, args[0])
        made = make_array(ty)(context, builder)
        size = _i64(context.get_abi_sizeof(context.get_data_type(dual.scalar)))
        populate_array(
            made,
            data=builder.bitcast(source.data, made.data.type),
            shape=[builder.mul(source.nitems, _i64(1 + dual.n))],
            strides=[size],
            itemsize=size,
            meminfo=source.meminfo,
            parent=None,
        )
        return impl_ret_borrowed(context, builder, ty, made._getvalue())

    return ty(flat), codegen
