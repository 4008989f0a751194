"""Adjoints of the fields of class instances and of records: add to one, or take one and leave zero.

An instance's shadow is a struct of the arena: floats for floats, shadow handles for arrays and
nested instances. A record's shadow is a record of the same type.
"""

import operator
from functools import cache

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from ..forward.arithmetic import Operand, RuleEmitter
from ..forward.retyped import opened, root_of
from ..ir.leaves import fields_of, leaves
from . import arena
from .elements import element_pointer
from .shadow_types import field_leaves, label, struct_type

new_struct, get_field, set_field = map(
    cache, (arena.struct_new, arena.struct_get, arena.struct_set)
)


# -- shadows of arguments ----------------------------------------------------------------------


@cache
def blank(ty, dual=None):
    """An intrinsic `(tape, value)`: a zeroed shadow for an instance or a record of type `ty`.

    Beside dual numbers, the instance may be one of these, but need not.
    """
    out = struct_type(ty, dual) if fields_of(ty) is not None else ty

    @intrinsic
    def make(typingctx, tape, value):
        there = value.type if isinstance(value, types.Optional) else value

        def codegen(context, builder, sig, args):
            given = context.cast(builder, args[1], sig.args[1], there)
            return _blank(context, builder, args[0], there, given, out)

        return out(tape, value), codegen

    return make


def _blank(context, builder, tape, ty, value, shadow):
    if isinstance(ty, types.Record):
        data = _zeros(context, builder, tape, ty.size, "the shadow of a record")
        return builder.bitcast(data, context.get_value_type(ty))
    if isinstance(ty, types.List | types.ListType):
        return _blank_list(context, builder, tape, ty, value, shadow.elem)
    if isinstance(ty, types.Array):
        array = make_array(ty)(context, builder, value)
        shape = cgutils.unpack_tuple(builder, array.shape, ty.ndim)
        where = "the shadow of an array"
        return arena.new_array(context, builder, tape, shadow, shape, where, True)._getvalue()
    return _blank_instance(context, builder, tape, ty, value, shadow)


def _blank_list(context, builder, tape, ty, value, elem):
    """A vector of zeros as long as a list, of no length for a field that was never assigned."""
    length = cgutils.alloca_once_value(builder, context.get_constant(types.intp, 0))
    memory = context.make_helper(builder, ty, value=value).meminfo
    with builder.if_then(cgutils.is_not_null(builder, memory)):
        counted = context.compile_internal(builder, lambda x: len(x), types.intp(ty), [value])
        builder.store(counted, length)
    return arena.new_vector(context, builder, tape, elem, builder.load(length))


def _zeros(context, builder, tape, size, where):
    return arena._take(context, builder, tape, context.get_constant(types.intp, size), where)


def _blank_instance(context, builder, tape, ty, value, shadow):
    types_of = dict(shadow.fields)
    size = context.get_abi_sizeof(arena._struct_data(context, shadow))
    handle = _zeros(context, builder, tape, size, "the shadow of an instance")
    pointer, read = opened(context, builder, ty, value)
    with builder.if_then(cgutils.is_not_null(builder, pointer)):  # null: a field never assigned
        for name, path in _handles(ty):
            place, field = label(name, path), fields_of(ty)[name]
            there, member = _member(context, builder, field, read(name), path)
            made = _blank(context, builder, tape, there, member, types_of[place])
            pointer = arena._struct_field(context, builder, shadow, handle, place)
            context.pack_value(builder, types_of[place], made, pointer)
    return handle


def _handles(ty):
    """The places in an instance that have shadows of their own: names of fields, and paths."""
    return [
        (name, leaf.path)
        for name, field in fields_of(root_of(ty)).items()
        for leaf in (field_leaves(root_of(ty), name) and leaves(field)) or ()
        if leaf.kind != "scalar"
    ]


def _member(context, builder, ty, value, path):
    """The type and the value at a place in a field: through tuples and optional types."""
    if isinstance(ty, types.Optional):
        inner = context.make_helper(builder, ty, value=value).data
        return _member(context, builder, ty.type, inner, path)
    if not path:
        return ty, value
    member = builder.extract_value(value, path[0])
    return _member(context, builder, ty.types[path[0]], member, path[1:])


# -- adjoints in shadows -----------------------------------------------------------------------


def _add(context, builder, ty, pointer, operand, align=None):
    """`*pointer += x`; of a complex x, the real part counts for a float."""
    real = getattr(ty, "underlying_float", ty)
    emit = RuleEmitter(context, builder, real)
    if isinstance(operand.type, types.Complex) and not isinstance(ty, types.Complex):
        part = builder.extract_value(operand.value, 0)
        operand = Operand(operand.type.underlying_float, part)
    old = Operand(ty, context.unpack_value(builder, ty, pointer, align))
    new = emit.cast(emit.apply(operator.add, (old, operand)), ty)
    context.pack_value(builder, ty, new, pointer, align=align)


def _take(context, builder, ty, pointer, align=None):
    """The value, which becomes zero."""
    old = context.unpack_value(builder, ty, pointer, align)
    context.pack_value(builder, ty, context.get_constant_null(ty), pointer, align=align)
    return old


@cache
def accumulate_field(name):
    """An intrinsic `(s, x)`: `s.name += x` in the shadow of an instance."""

    @intrinsic
    def accumulate(typingctx, s, x):
        ty = dict(s.fields)[name]

        def codegen(context, builder, sig, args):
            pointer = arena._struct_field(context, builder, s, args[0], name)
            _add(context, builder, ty, pointer, Operand(x, args[1]))
            return context.get_dummy_value()

        return types.void(s, x), codegen

    return accumulate


@cache
def take_field(name):
    """An intrinsic `(s)`: a float in the shadow of an instance, which becomes zero."""

    @intrinsic
    def take(typingctx, s):
        ty = dict(s.fields)[name]

        def codegen(context, builder, sig, args):
            pointer = arena._struct_field(context, builder, s, args[0], name)
            return _take(context, builder, ty, pointer)

        return ty(s), codegen

    return take


def _record_field(context, builder, record, value, name):
    """The type of a field, its address, and how it is aligned (None: as its type needs)."""
    ty = record.typeof(name)
    data = context.get_data_type(ty)
    pointer = cgutils.get_record_member(builder, value, record.offset(name), data)
    return ty, pointer, None if record.aligned else 1


@cache
def accumulate_record(name):
    """An intrinsic `(record, x)`: `record.name += x`."""

    @intrinsic
    def accumulate(typingctx, record, x):
        def codegen(context, builder, sig, args):
            ty, pointer, align = _record_field(context, builder, record, args[0], name)
            _add(context, builder, ty, pointer, Operand(x, args[1]), align)
            return context.get_dummy_value()

        return types.void(record, x), codegen

    return accumulate


@cache
def take_record(name):
    """An intrinsic `(record)`: a float of a record, which becomes zero."""

    @intrinsic
    def take(typingctx, record):
        def codegen(context, builder, sig, args):
            return _take(context, builder, *_record_field(context, builder, record, args[0], name))

        return record.typeof(name)(record), codegen

    return take


@intrinsic(prefer_literal=True)
def move_record(typingctx, array, index, record):
    """`record += array[index]; array[index] = 0`, of all floats of the records."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        source = builder.bitcast(pointer, context.get_value_type(array.dtype))
        _move(context, builder, array.dtype, source, args[2])
        return context.get_dummy_value()

    return types.void(array, index, record), codegen


@intrinsic(prefer_literal=True)
def clear_record(typingctx, array, index):
    """`array[index] = 0`, for an array of records."""

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, array, args[0], index, args[1])
        cgutils.memset(builder, pointer, context.get_constant(types.intp, array.dtype.size), 0)
        return context.get_dummy_value()

    return types.void(array, index), codegen


def _move(context, builder, record, source, target):
    for name in record.fields:
        ty, there, align = _record_field(context, builder, record, source, name)
        _, here, _ = _record_field(context, builder, record, target, name)
        if leaves(ty):
            _move_field(context, builder, ty, there, here, align)


def _move_field(context, builder, ty, source, target, align):
    if isinstance(ty, types.Record):
        _move(context, builder, ty, source, target)
    elif isinstance(ty, types.NestedArray):
        data = context.get_data_type(ty.dtype).as_pointer()
        source, target = (builder.bitcast(p, data) for p in (source, target))
        with cgutils.for_range(builder, context.get_constant(types.intp, ty.nitems)) as loop:
            parts = (builder.gep(p, [loop.index]) for p in (source, target))
            _move_field(context, builder, ty.dtype, *parts, align)
    else:
        taken = Operand(ty, _take(context, builder, ty, source, align))
        _add(context, builder, ty, target, taken, align)
