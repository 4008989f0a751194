"""Elements and rows by integers, one for each iteration, `p[group[i]]`: for a block of lanes, and back."""

from functools import cache

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from ..lanes.varying import Varying, gathered, lane
from .blocks import LanePlace

_i64 = ir.IntType(64)


@njit
def check_picks(numbers, more, size, count):
    """Raise IndexError unless there are `count` numbers, of elements that an array of `size` has."""
    least, most = 0, -1
    for i in range(min(count, len(numbers))):
        k = np.int64(numbers[i]) + more
        least, most = min(least, k), max(most, k)
    if len(numbers) < count or least < -size or most >= size:
        raise IndexError("an index is out of bounds")


@njit
def largest(numbers):
    """The largest of some numbers; -1 of none, or where all are negative."""
    most = -1
    for i in range(len(numbers)):
        most = max(most, np.int64(numbers[i]))
    return most


def _pointers(context, builder, tys, args, n, whole):
    """Where the elements of `n` lanes are; for lanes that there are none for, a place that holds zero.

    Where they are `whole`, lanes beyond the end have the last one's.
    """
    (array, numbers, *_), (values, integers, more, first, index, *_) = tys, args
    place = LanePlace(context, builder, array, values, _i64(0), index, 0)
    read = LanePlace(context, builder, numbers, integers, first, None, 0)
    nothing = cgutils.alloca_once_value(builder, ir.Constant(place.pointer_type.pointee, 0.0))
    no_number = cgutils.alloca_once_value(builder, ir.Constant(read.pointer_type.pointee, 0))
    for k in range(n):
        there = builder.icmp_signed("<", builder.add(first, _i64(k)), read.count)
        pointer = read.pointer(k)
        number = builder.load(pointer if whole else builder.select(there, pointer, no_number))
        number = builder.add(context.cast(builder, number, numbers.dtype, types.intp), more)
        from_end = builder.icmp_signed("<", number, _i64(0))
        number = builder.select(from_end, builder.add(number, place.count), number)
        address = builder.add(place.address, builder.mul(number, place.stride))
        pointer = builder.inttoptr(address, place.pointer_type)
        if not whole:
            there = builder.and_(there, builder.icmp_unsigned("<", number, place.count))
            pointer = builder.select(there, pointer, nothing)
        yield pointer


@cache
def load_picked(n, whole):
    """An intrinsic `(array, numbers, more, first, index)`: `array[numbers[i] + more, *index]` of a block.

    Of numbers that are not known to be those of elements, not `whole`, zero stands for what is not there.
    """

    @intrinsic
    def load(typingctx, array, numbers, more, first, index):
        def codegen(context, builder, sig, args):
            pointers = list(_pointers(context, builder, sig.args, args, n, whole))
            return gathered(builder, [builder.load(pointer) for pointer in pointers])

        given = array, numbers, types.intp, types.intp, index
        return Varying(array.dtype, n)(*given), codegen

    return load


@cache
def add_picked(n, whole):
    """An intrinsic `(array, numbers, more, first, index, value)`: add to these elements, one after the other.

    Of `whole` numbers, a value beyond the end goes to the last element: it has to be zero.
    """

    @intrinsic
    def add(typingctx, array, numbers, more, first, index, value):
        ty = Varying(array.dtype, n)

        def codegen(context, builder, sig, args):
            vector = context.cast(builder, args[5], value, ty)
            pointers = list(_pointers(context, builder, sig.args, args, n, whole))
            for k, pointer in enumerate(pointers):
                total = builder.fadd(builder.load(pointer), lane(builder, vector, k))
                builder.store(total, pointer)
            return context.get_dummy_value()

        given = array, numbers, types.intp, types.intp, index, value
        return types.void(*given), codegen

    return add
