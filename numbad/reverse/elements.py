"""Single elements of shadow arrays: add to one, or take one and leave zero.

The indices come from the primal, which has used them already, so they are in range.
"""

import operator

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from ..forward import dual as d
from ..forward.arithmetic import Emitter, Operand
from . import cotangents


def element_pointer(context, builder, array_type, array, index_type, index):
    """The address of an element; negative indices count from the end."""

    def part(name):
        position = context.data_model_manager[array_type].get_field_position(name)
        return builder.extract_value(array, position)

    def each(name):
        return cgutils.unpack_tuple(builder, part(name), array_type.ndim)

    shape, layout = each("shape"), array_type.layout
    if isinstance(index_type, types.BaseTuple):
        index_types = tuple(index_type)
        members = cgutils.unpack_tuple(builder, index, len(index_types))
    else:
        index_types, members = (index_type,), [index]
    indices = [
        context.cast(builder, member, ty, types.uintp if _unsigned(ty) else types.intp)
        for member, ty in zip(members, index_types, strict=True)
    ]
    indices = [
        index if _unsigned(ty) else _wrap(builder, index, size)
        for index, ty, size in zip(indices, index_types, shape, strict=False)
    ]
    strides = each("strides") if layout == "A" else ()
    return cgutils.get_item_pointer2(
        context, builder, part("data"), shape, strides, layout, indices
    )


def _unsigned(ty):
    if isinstance(ty, types.IntegerLiteral):
        return ty.literal_value >= 0
    return isinstance(ty, types.Boolean) or not ty.signed


def _wrap(builder, index, size):
    negative = builder.icmp_signed("<", index, index.type(0))
    return builder.select(negative, builder.add(index, size), index)


@intrinsic
def unsigned(typingctx, index):
    """An index that is known not to be negative."""
    if not isinstance(index, types.Integer):
        return None

    def codegen(context, builder, sig, args):
        return context.cast(builder, args[0], index, types.uintp)

    return types.uintp(index), codegen


def _load(context, builder, array_type, pointer):
    return Operand(array_type.dtype, arrayobj.load_item(context, builder, array_type, pointer))


def _store(context, builder, array_type, operand, pointer, emit):
    value = emit.cast(operand, array_type.dtype)
    arrayobj.store_item(context, builder, array_type, value, pointer)


def _emitter(context, builder, ty):
    real = d.base_scalar(ty)
    return Emitter(context, builder, getattr(real, "underlying_float", real))


@intrinsic(prefer_literal=True)
def accumulate(typingctx, array, index, x):
    """`array[index] += x`."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        if isinstance(array.dtype, cotangents.Cotangents):
            cotangents.add_at(builder, array, pointer, x, args[2])
            return context.get_dummy_value()
        emit = _emitter(context, builder, array.dtype)
        old = _load(context, builder, array, pointer)
        new = emit.apply(operator.add, (old, _real_part(emit, array.dtype, Operand(x, args[2]))))
        _store(context, builder, array, new, pointer, emit)
        return context.get_dummy_value()

    return types.void(array, index, x), codegen


def _real_part(emit, dtype, operand):
    """A complex adjoint in an array of floats: its real part counts."""
    wanted = isinstance(d.base_scalar(dtype), types.Complex)
    if not wanted and isinstance(operand.type, types.Complex):
        real = operand.type.underlying_float
        return Operand(real, emit.builder.extract_value(operand.value, 0))
    return operand


@intrinsic(prefer_literal=True)
def element(typingctx, array, index):
    """`array[index]`."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        if isinstance(array.dtype, cotangents.Cotangents):
            return cotangents.load(builder, array, pointer)
        return _load(context, builder, array, pointer).value

    return array.dtype(array, index), codegen


@intrinsic(prefer_literal=True)
def take_element(typingctx, array, index):
    """The element, which becomes zero."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        if isinstance(array.dtype, cotangents.Cotangents):
            return cotangents.take_at(builder, array, pointer)
        old = _load(context, builder, array, pointer)
        zero = context.get_constant_null(array.dtype)
        arrayobj.store_item(context, builder, array, zero, pointer)
        return old.value

    return array.dtype(array, index), codegen
