"""Blocks of lanes: out of arrays with an axis of the batch, and back into them.

A block begins at element `first` of the batch. The last one may have lanes beyond the end; they
repeat the last element of the batch, and nothing of them is kept.
"""

from functools import cache

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from ..lanes.varying import Varying, any_lane, gathered, lane, splat, vector_of

_i64 = ir.IntType(64)


class _Place:
    """Where the elements of a block are: `index` within each lane's own array, `axis` the batch's."""

    def __init__(self, context, builder, ty, array, first, index, axis):
        self.context, self.builder, self.ty = context, builder, ty
        proxy = make_array(ty)(context, builder, array)
        shape = [builder.extract_value(proxy.shape, k) for k in range(ty.ndim)]
        strides = [builder.extract_value(proxy.strides, k) for k in range(ty.ndim)]
        rest = [k for k in range(ty.ndim) if k != axis]
        self.first, self.count, self.stride = first, shape[axis], strides[axis]
        address = builder.ptrtoint(proxy.data, _i64)
        for position, k in enumerate(rest):
            at = builder.extract_value(index, position)
            address = builder.add(address, builder.mul(at, strides[k]))
        self.address, self.pointer_type = address, proxy.data.type

    def pointer(self, k):
        """The address of lane `k`, the last element's beyond the end."""
        builder = self.builder
        number = builder.add(self.first, _i64(k))
        last = builder.sub(self.count, _i64(1))
        number = builder.select(builder.icmp_signed("<", number, last), number, last)
        address = builder.add(self.address, builder.mul(number, self.stride))
        return builder.inttoptr(address, self.pointer_type)

    def load(self, n):
        items = [
            self.context.unpack_value(self.builder, self.ty.dtype, self.pointer(k))
            for k in range(n)
        ]
        return gathered(self.builder, items)


def valid(builder, first, count, n):
    """The mask of the lanes that the batch has elements for."""
    numbers = ir.Constant(ir.VectorType(_i64, n), list(range(n)))
    numbers = builder.add(numbers, splat(builder, first, n))
    return builder.icmp_signed("<", numbers, splat(builder, count, n))


@cache
def load_lanes(axis, n):
    """An intrinsic `(array, first, index)`: the elements of a block."""

    @intrinsic
    def load(typingctx, array, first, index):
        if not isinstance(array, types.Array):
            return None

        def codegen(context, builder, sig, args):
            return _Place(context, builder, array, *args, axis).load(n)

        return Varying(array.dtype, n)(array, types.intp, index), codegen

    return load


@cache
def store_lanes(n):
    """An intrinsic `(array, first, value)`: set elements of a vector, as far as it goes."""

    @intrinsic
    def store(typingctx, array, first, value):
        if not isinstance(array, types.Array):
            return None
        ty = Varying(array.dtype, n)

        def codegen(context, builder, sig, args):
            place = _Place(context, builder, array, args[0], args[1], None, 0)
            vector = context.cast(builder, args[2], value, ty)
            _for_valid(context, builder, place, vector, n, lambda old, item: item)
            return context.get_dummy_value()

        return types.void(array, types.intp, value), codegen

    return store


@cache
def add_lanes(axis, n):
    """An intrinsic `(array, first, index, value)`: add to the elements of a block."""

    @intrinsic
    def add(typingctx, array, first, index, value):
        if not isinstance(array, types.Array):
            return None
        ty = Varying(array.dtype, n)

        def codegen(context, builder, sig, args):
            place = _Place(context, builder, array, *args[:3], axis)
            vector = context.cast(builder, args[3], value, ty)
            _for_valid(context, builder, place, vector, n, builder.fadd)
            return context.get_dummy_value()

        return types.void(array, types.intp, index, value), codegen

    return add


def _for_valid(context, builder, place, vector, n, change):
    """Write `change(old, new)` to each element; one after the other, as elements may be one."""
    mask = valid(builder, place.first, place.count, n)
    full = builder.not_(any_lane(builder, builder.not_(mask)))
    with builder.if_else(full, likely=True) as (whole, part):
        with whole:
            for k in range(n):
                _change(context, builder, place, k, lane(builder, vector, k), change)
        with part:
            for k in range(n):
                with builder.if_then(lane(builder, mask, k)):
                    _change(context, builder, place, k, lane(builder, vector, k), change)


def _change(context, builder, place, k, item, change):
    pointer = place.pointer(k)
    old = context.unpack_value(builder, place.ty.dtype, pointer)
    context.pack_value(builder, place.ty.dtype, change(old, item), pointer)


@cache
def kept_lanes(scalar, n):
    """An intrinsic `(value, old, first, count)`: the value in lanes that the batch has elements for,
    what it was before in the others."""
    ty = Varying(scalar, n)

    @intrinsic
    def keep(typingctx, value, old, first, count):
        def codegen(context, builder, sig, args):
            new = context.cast(builder, args[0], value, ty)
            before = context.cast(builder, args[1], old, ty)
            return builder.select(valid(builder, args[2], args[3], n), new, before)

        return ty(value, old, types.intp, types.intp), codegen

    return keep


@cache
def total(scalar, n):
    """An intrinsic `(value)`: the sum over the lanes, from the first on."""
    ty = Varying(scalar, n)

    @intrinsic
    def add_up(typingctx, value):
        def codegen(context, builder, sig, args):
            vector = context.cast(builder, args[0], value, ty)
            found = ir.Constant(vector_of(ty).element, 0.0)
            for k in range(n):
                found = builder.fadd(found, lane(builder, vector, k))
            return found

        return scalar(value), codegen

    return add_up
