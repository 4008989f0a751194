"""Single elements of shadow arrays: add to one, or take one and leave zero.

The indices come from the primal, which has used them already, so they are in range.
"""

import functools
import operator

from llvmlite import ir as ll
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from ..forward import dual as d
from ..forward.arithmetic import Operand, RuleEmitter
from . import cotangents
from .aliasing import ADJOINT, PRIMAL, mark

_UNIT_AXIS = {"C": -1, "F": 0}
"""The axis along which elements of a contiguous array lie next to each other."""


class Parts:
    """The fields of an array, as values; of an array in memory, those that are asked for are read."""

    def __init__(self, context, builder, ty, array):
        self._model, self._builder, self._array = context.data_model_manager[ty], builder, array
        self.ndim = ty.ndim

    def __getitem__(self, name):
        position = self._model.get_field_position(name)
        if not cgutils.is_pointer(self._array.type):
            return self._builder.extract_value(self._array, position)
        place = cgutils.gep_inbounds(self._builder, self._array, 0, position)
        return self._builder.load(place)

    def each(self, name):
        return cgutils.unpack_tuple(self._builder, self[name], self.ndim)


def members_of(builder, ty, value):
    """`(type, value)` of each member of an index."""
    if not isinstance(ty, types.BaseTuple):
        return [(ty, value)]
    return list(zip(ty, cgutils.unpack_tuple(builder, value, len(ty)), strict=True))


def element_pointer(context, builder, array_type, array, index_type, index, natural=()):
    """The address of an element; negative indices count from the end.

    `natural` tells of the members of the index whether they are known not to be negative.
    """
    parts = Parts(context, builder, array_type, array)
    shape, layout = parts.each("shape"), array_type.layout
    members = members_of(builder, index_type, index)
    natural = natural or [False] * len(members)
    indices = [
        context.cast(builder, *reversed(member), types.intp)
        if known
        else _position(context, builder, *member, size)
        for member, size, known in zip(members, shape, natural, strict=True)
    ]
    strides = parts.each("strides") if layout == "A" else ()
    return cgutils.get_item_pointer2(
        context, builder, parts["data"], shape, strides, layout, indices
    )


def _position(context, builder, ty, index, size):
    if _unsigned(ty):
        return context.cast(builder, index, ty, types.uintp)
    return _wrap(builder, context.cast(builder, index, ty, types.intp), size)


def view(context, builder, array_type, array, index_type, index, result):
    """The value of type `result` that integers and slices without steps show of an array."""
    parts = Parts(context, builder, array_type, array)
    shape, strides = parts.each("shape"), parts.each("strides")
    if array_type.layout in _UNIT_AXIS:
        # A number that LLVM knows, for vector code; what it loads might be any.
        item = context.get_abi_sizeof(context.get_data_type(array_type.dtype))
        strides[_UNIT_AXIS[array_type.layout]] = context.get_constant(types.intp, item)
    starts, counts, steps = [], [], []
    for (ty, member), size, step in zip(
        members_of(builder, index_type, index), shape, strides, strict=False
    ):
        if isinstance(ty, types.SliceType):
            start, count = _extent(builder, member, size)
            counts.append(count)
            steps.append(step)
        else:
            start = _position(context, builder, ty, member, size)
        starts.append(start)
    rest = len(starts)
    starts += [size.type(0) for size in shape[rest:]]
    layout = array_type.layout
    fields = {
        "meminfo": parts["meminfo"],
        "parent": parts["parent"],
        "itemsize": parts["itemsize"],
        "data": cgutils.get_item_pointer2(
            context, builder, parts["data"], shape, strides, layout, starts
        ),
        "shape": [*counts, *shape[rest:]],
        "strides": [*steps, *strides[rest:]],
    }
    fields["nitems"] = functools.reduce(builder.mul, fields["shape"])
    return _packed(context, builder, result, fields)


def _extent(builder, value, size):
    """The start of a slice without step, and its length."""
    start, stop = (_clamped(builder, builder.extract_value(value, k), size) for k in range(2))
    count, zero = builder.sub(stop, start), size.type(0)
    return start, builder.select(builder.icmp_signed("<", count, zero), zero, count)


def _clamped(builder, bound, size):
    zero, bound = size.type(0), _wrap(builder, bound, size)
    bound = builder.select(builder.icmp_signed("<", bound, zero), zero, bound)
    return builder.select(builder.icmp_signed(">", bound, size), size, bound)


def _packed(context, builder, ty, fields):
    """An array of these fields."""
    model, whole = context.data_model_manager[ty], context.get_value_type(ty)
    array = whole(ll.Undefined)
    for name, value in fields.items():
        position = model.get_field_position(name)
        for path, x in enumerate(value) if isinstance(value, list) else [(None, value)]:
            where = position if path is None else (position, path)
            array = builder.insert_value(array, x, where)
    return array


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
    return Operand(array_type.dtype, load_marked(context, builder, array_type, pointer, ADJOINT))


def load_marked(context, builder, array_type, pointer, kind):
    """An element of an array of the primal or of an adjoint."""
    if array_type.dtype not in (types.float64, types.float32):
        return arrayobj.load_item(context, builder, array_type, pointer)
    value = builder.load(pointer, align=_alignment(array_type))
    mark(builder, value, kind)
    return value


def store_marked(context, builder, array_type, value, pointer, kind):
    """Write an element of an array of the primal or of an adjoint."""
    if array_type.dtype not in (types.float64, types.float32):
        arrayobj.store_item(context, builder, array_type, value, pointer)
    else:
        mark(builder, builder.store(value, pointer, align=_alignment(array_type)), kind)


def _alignment(array_type):
    """What Numba says of the addresses of elements: fields of records may lie anywhere."""
    return None if array_type.aligned else 1


def _store(context, builder, array_type, operand, pointer, emit):
    value = emit.cast(operand, array_type.dtype)
    store_marked(context, builder, array_type, value, pointer, ADJOINT)


def _emitter(context, builder, ty):
    real = d.base_scalar(ty)
    real = getattr(real, "underlying_float", real)
    return RuleEmitter(context, builder, real, flags=cotangents.linear_flags(context))


@intrinsic(prefer_literal=True)
def accumulate(typingctx, array, index, x):
    """`array[index] += x`."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        if isinstance(array.dtype, cotangents.Cotangents):
            flags = cotangents.linear_flags(context)
            cotangents.add_at(builder, array, pointer, x, args[2], flags)
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
    """`array[index]` of a shadow array."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        if isinstance(array.dtype, cotangents.Cotangents):
            return cotangents.load(builder, array, pointer)
        return _load(context, builder, array, pointer).value

    return array.dtype(array, index), codegen


@intrinsic(prefer_literal=True)
def primal_element(typingctx, array, index):
    """`array[index]` of an array of the primal."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        return load_marked(context, builder, array, pointer, PRIMAL)

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
        store_marked(context, builder, array, zero, pointer, ADJOINT)
        return old.value

    return array.dtype(array, index), codegen
