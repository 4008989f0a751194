"""Blocks of lanes: out of arrays with an axis of the batch, and back into them.

A block begins at element `first` of the batch. The last one may have lanes beyond the end; they
repeat the last element of the batch, and nothing of them is kept.
"""

from functools import cache

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numpy.lib.stride_tricks import as_strided

from ..lanes.varying import Varying, any_lane, gathered, lane, splat, vector_of

_i64 = ir.IntType(64)
_NUMBERS = types.Float | types.Integer | types.Boolean


class LanePlace:
    """Where the elements of a block are: `index` within each lane's own array, `axis` the batch's.

    Integers and truth values are loaded as floats.
    """

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
        self.size = context.get_abi_sizeof(self.pointer_type.pointee)
        self.may_be_in_a_row = axis == ty.ndim - 1 and isinstance(ty.dtype, _NUMBERS)
        self.is_in_a_row = ir.IntType(1)(ty.layout == "C")
        if ty.layout != "C":
            size = _i64(self.size if self.may_be_in_a_row else 0)
            self.is_in_a_row = builder.icmp_signed("==", self.stride, size)

    def pointer(self, k):
        """The address of lane `k`, the last element's beyond the end."""
        builder = self.builder
        number = builder.add(self.first, _i64(k))
        last = builder.sub(self.count, _i64(1))
        number = builder.select(builder.icmp_signed("<", number, last), number, last)
        address = builder.add(self.address, builder.mul(number, self.stride))
        return builder.inttoptr(address, self.pointer_type)

    def vector_pointer(self, n):
        """The address of the lanes of a block where they lie in a row, all of them there."""
        address = self.builder.mul(self.first, self.stride)
        address = self.builder.add(self.address, address)
        vector_type = ir.VectorType(self.pointer_type.pointee, n)
        return self.builder.inttoptr(address, vector_type.as_pointer())

    def load(self, n):
        """The elements of a block: one vector of memory where they lie in a row, all of them there."""
        builder = self.builder
        if not self.may_be_in_a_row:
            return self._load_each(n)
        end = builder.add(self.first, _i64(n))
        found = cgutils.alloca_once(builder, self.vector_type(n))
        whole = builder.and_(builder.icmp_signed("<=", end, self.count), self.is_in_a_row)
        with builder.if_else(whole, likely=True) as (yes, no):
            with yes:
                loaded = builder.load(self.vector_pointer(n), align=self.size)
                builder.store(self.as_lanes(loaded, n), found)
            with no:
                builder.store(self._load_each(n), found)
        return builder.load(found)

    def load_some(self, n):
        """The elements of a block: beyond the end the last of the array, zeros where it has none."""
        builder, vector_type = self.builder, self.vector_type(n)
        found = cgutils.alloca_once_value(builder, ir.Constant(vector_type, None))
        with builder.if_then(builder.icmp_signed(">", self.count, _i64(0)), likely=True):
            builder.store(self._load_each(n), found)
        return builder.load(found)

    def _load_each(self, n):
        items = [self.builder.load(self.pointer(k)) for k in range(n)]
        return self.as_lanes(gathered(self.builder, items), n)

    def vector_type(self, n):
        """The LLVM type of the lanes of a block."""
        return vector_of(lanes_of(self.ty, n))

    def as_lanes(self, vector, n):
        """The lanes that numbers as they lie in memory are."""
        builder, dtype = self.builder, self.ty.dtype
        if isinstance(dtype, types.Float):
            return vector
        lanes = ir.VectorType(ir.DoubleType(), n)
        if isinstance(dtype, types.Boolean):
            vector = builder.icmp_unsigned("!=", vector, ir.Constant(vector.type, [0] * n))
        signed = isinstance(dtype, types.Integer) and dtype.signed
        return (builder.sitofp if signed else builder.uitofp)(vector, lanes)


def lanes_of(array, n):
    """The type of `n` lanes of elements of an array."""
    return Varying(array.dtype if isinstance(array.dtype, types.Float) else types.float64, n)


@njit
def given_or_zeros(array, size, axis):
    """An array, in place of one without elements zeros of this size along an axis."""
    if array.size > 0:
        return array
    shape = array.shape
    return np.zeros(tuple_setitem(shape, axis, max(size, shape[axis])), array.dtype)


@njit
def stretched(array, count, step):
    """A view of a vector with `count` elements, all of them the first where `step` is 0."""
    return as_strided(array, (count,), (array.strides[0] * step,))


def valid(builder, first, count, n):
    """The mask of the lanes that the batch has elements for."""
    numbers = ir.Constant(ir.VectorType(_i64, n), list(range(n)))
    numbers = builder.add(numbers, splat(builder, first, n))
    return builder.icmp_signed("<", numbers, splat(builder, count, n))


@cache
def load_lanes(axis, n, whole=True):
    """An intrinsic `(array, first, index)`: the elements of a block.

    Of an array that is not known to be `whole`, the last element is repeated; zero if there is none.
    """

    @intrinsic
    def load(typingctx, array, first, index):
        if not isinstance(array, types.Array):
            return None

        def codegen(context, builder, sig, args):
            place = LanePlace(context, builder, array, *args, axis)
            return place.load(n) if whole else place.load_some(n)

        return lanes_of(array, n)(array, types.intp, index), codegen

    return load


def tile_of(n):
    """How many elements of a row are fetched at a time, for `n` lanes; 0 where that is no use."""
    return next((size for size in (8, 4) if n % size == 0), 0)


@cache
def load_tile(n):
    """An intrinsic `(array, first, j, block)`: elements j, j + 1, ... of the rows of a block.

    The rows of the matrix `array`, in C order, are the elements of the batch. Squares of the matrix
    are transposed in registers, which takes half the instructions of single elements.
    """
    size = tile_of(n)

    @intrinsic
    def load(typingctx, array, first, j, block):
        if not isinstance(array, types.Array):
            return None

        def codegen(context, builder, sig, args):
            index = cgutils.pack_array(builder, [args[2]])
            place = LanePlace(context, builder, array, args[0], args[1], index, 0)
            square = ir.VectorType(place.pointer_type.pointee, size)
            align = array.dtype.bitwidth // 8
            target = make_array(block)(context, builder, args[3])
            start = builder.gep(target.data, [args[2]])
            start = builder.bitcast(start, square.as_pointer())
            for group in range(0, n, size):
                rows = [
                    builder.load(
                        builder.bitcast(place.pointer(group + k), square.as_pointer()), align=align
                    )
                    for k in range(size)
                ]
                for element, lanes in enumerate(transposed(builder, rows)):
                    position = _i64((element * n + group) // size)
                    builder.store(lanes, builder.gep(start, [position]), align=align)
            return context.get_dummy_value()

        return types.void(array, types.intp, types.intp, block), codegen

    return load


def transposed(builder, rows):
    """The columns of a square matrix, by exchanges of blocks off its diagonal."""
    size, rows, step = len(rows), list(rows), 1
    numbers = range(size)
    while step < size:
        low = [p if not p & step else size + (p ^ step) for p in numbers]
        high = [p | step if not p & step else size + p for p in numbers]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), size), m) for m in (low, high)]
        for k in numbers:
            if not k & step:
                pair = rows[k], rows[k | step]
                rows[k], rows[k | step] = (builder.shuffle_vector(*pair, m) for m in masks)
        step *= 2
    return rows


@cache
def store_lanes(n, axis=0):
    """An intrinsic `(array, first, index, value)`: set the elements of a block, as far as the array goes."""

    @intrinsic
    def store(typingctx, array, first, index, value):
        if not isinstance(array, types.Array):
            return None
        ty = Varying(array.dtype, n)

        def codegen(context, builder, sig, args):
            place = LanePlace(context, builder, array, *args[:3], axis)
            vector = context.cast(builder, args[3], value, ty)
            _for_valid(context, builder, place, vector, n, lambda old, item: item)
            return context.get_dummy_value()

        return types.void(array, types.intp, index, value), codegen

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
            place = LanePlace(context, builder, array, *args[:3], axis)
            vector = context.cast(builder, args[3], value, ty)
            _for_valid(context, builder, place, vector, n, builder.fadd)
            return context.get_dummy_value()

        return types.void(array, types.intp, index, value), codegen

    return add


def _for_valid(context, builder, place, vector, n, change):
    """Write `change(old, new)` to each element; one after the other where they may be one."""
    mask = valid(builder, place.first, place.count, n)
    full = builder.not_(any_lane(builder, builder.not_(mask)))
    with builder.if_else(full, likely=True) as (whole, part):
        with whole:
            _change_whole(context, builder, place, vector, n, change)
        with part:
            for k in range(n):
                with builder.if_then(lane(builder, mask, k)):
                    _change(context, builder, place, k, lane(builder, vector, k), change)


def _change_whole(context, builder, place, vector, n, change):
    def one_by_one():
        for k in range(n):
            _change(context, builder, place, k, lane(builder, vector, k), change)

    if not place.may_be_in_a_row or not isinstance(place.ty.dtype, types.Float):
        one_by_one()
        return
    with builder.if_else(place.is_in_a_row, likely=True) as (in_a_row, apart):
        with in_a_row:
            pointer, align = place.vector_pointer(n), place.size
            old = builder.load(pointer, align=align)
            builder.store(change(old, vector), pointer, align=align)
        with apart:
            one_by_one()


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


@cache
def add_each(n):
    """An intrinsic `(total, value, first, count)`: a sum and what the lanes hold, one after the other."""
    ty = Varying(types.float64, n)

    @intrinsic
    def add(typingctx, total, value, first, count):
        def codegen(context, builder, sig, args):
            vector = context.cast(builder, args[1], value, ty)
            mask = valid(builder, args[2], args[3], n)
            found = cgutils.alloca_once_value(builder, args[0])
            full = builder.not_(any_lane(builder, builder.not_(mask)))
            with builder.if_else(full, likely=True) as (whole, part):
                with whole:
                    _add_lanes_to(builder, found, vector, range(n))
                with part:
                    for k in range(n):
                        with builder.if_then(lane(builder, mask, k)):
                            _add_lanes_to(builder, found, vector, [k])
            return builder.load(found)

        return types.float64(types.float64, value, types.intp, types.intp), codegen

    return add


def _add_lanes_to(builder, place, vector, numbers):
    total = builder.load(place)
    for k in numbers:
        total = builder.fadd(total, lane(builder, vector, k))
    builder.store(total, place)


@cache
def numbers(n):
    """An intrinsic `(begin, first, count)`: the numbers of a block's elements, which go on from `begin`."""
    ty = Varying(types.float64, n)

    @intrinsic
    def numbered(typingctx, begin, first, count):
        def codegen(context, builder, sig, args):
            begin, first, count = args
            own = builder.add(
                ir.Constant(ir.VectorType(_i64, n), list(range(n))), splat(builder, first, n)
            )
            last = splat(builder, builder.sub(count, _i64(1)), n)
            own = builder.select(builder.icmp_signed("<", own, last), own, last)
            return builder.sitofp(builder.add(own, splat(builder, begin, n)), vector_of(ty))

        return ty(types.intp, types.intp, types.intp), codegen

    return numbered
