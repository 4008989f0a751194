"""The arena of a tape: shadows and copies, in memory that lives until the guard ends.

Its arrays own nothing (meminfo and parent are NULL), so Numba's reference counts leave them alone.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import is_fortran

from . import memory as m
from .value_tape import check_plain, emit_borrowed, tape_address

_i64 = ir.IntType(64)


def _bytes_of(context, builder, counts, itemsize):
    """The product of counts and item size; one beyond every limit where it overflows."""
    total, overflown = _i64(itemsize), ir.IntType(1)(0)
    for count in counts:
        product = builder.smul_with_overflow(total, count)
        total = builder.extract_value(product, 0)
        overflown = builder.or_(overflown, builder.extract_value(product, 1))
    return builder.select(overflown, _i64(2**62), total)


def _take(context, builder, tape, size, where, zero=True):
    """A pointer to `size` bytes of the arena."""
    start = m.call_helper(context, builder, m.arena_take, tape_address(builder, tape), size)
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", start, _i64(0))):
        m.raise_limit(context, builder, where)
    start = builder.inttoptr(start, cgutils.voidptr_t)
    if zero and context.target_name in m.ELSEWHERE:
        cgutils.memset(builder, start, size, 0)
    elif zero:
        kept = builder.icmp_signed("<=", size, _i64(m.LARGEST_KEPT))  # more is zero already
        with builder.if_then(kept, likely=True):
            cgutils.memset(builder, start, size, 0)
    return start


def _data_size(context, ty):
    return context.get_abi_sizeof(context.get_data_type(ty))


@intrinsic
def arena_mark(typingctx, tape):
    """What the arena holds at present, for `arena_rewind`."""
    ty = types.UniTuple(types.intp, 3)

    def codegen(context, builder, sig, args):
        words = m.ARENA_BLOCKS, m.ARENA_NEXT, m.ARENA_END
        values = [m.peek(builder, tape_address(builder, args[0]), i) for i in words]
        return context.make_tuple(builder, ty, values)

    return ty(tape), codegen


@intrinsic
def arena_rewind(typingctx, tape, mark):
    """Give back what was taken from the arena since the mark."""

    def codegen(context, builder, sig, args):
        blocks, start, end = cgutils.unpack_tuple(builder, args[1], 3)
        address = tape_address(builder, args[0])
        builder.store(start, m.word_pointer(builder, address, m.ARENA_NEXT))
        if context.target_name not in m.ELSEWHERE:  # where there is a heap
            grown = builder.icmp_signed("!=", m.peek(builder, address, m.ARENA_BLOCKS), blocks)
            with cgutils.if_unlikely(builder, grown):
                m.call_helper(context, builder, m.arena_rewind, address, blocks, start, end)
        return context.get_dummy_value()

    return types.void(tape, mark), codegen


# -- arrays -----------------------------------------------------------------------------------


def _strides(builder, shape, itemsize, layout):
    """Strides of a contiguous array in the order of "F", or else of C."""
    strides, step = [], _i64(itemsize)
    for count in shape if layout == "F" else reversed(shape):
        strides.append(step)
        step = builder.mul(step, count)
    return strides if layout == "F" else strides[::-1]


def _lies_as_in_fortran(context, builder, ty, value):
    array = make_array(ty)(context, builder, value)
    counts = types.UniTuple(types.intp, ty.ndim)
    sig = types.boolean(counts, counts, types.intp)
    given = array.shape, array.strides, array.itemsize
    return context.compile_internal(builder, is_fortran, sig, given)


def new_array(context, builder, tape, ty, shape, where, zero, like=None):
    """A contiguous array of the arena, as a proxy: in C order, or in Fortran's for such a type.

    `like` is the type and the value of an array whose order is taken where `ty` tells none.
    """
    itemsize = _data_size(context, ty.dtype)
    data = _take(context, builder, tape, _bytes_of(context, builder, shape, itemsize), where, zero)
    strides = _strides(builder, shape, itemsize, ty.layout)
    if ty.layout == "A" and like is not None:
        in_order_of_fortran = _lies_as_in_fortran(context, builder, *like)
        strides = [
            builder.select(in_order_of_fortran, f, c)
            for f, c in zip(_strides(builder, shape, itemsize, "F"), strides, strict=True)
        ]
    array = make_array(ty)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(data, array.data.type),
        shape=shape,
        strides=strides,
        itemsize=itemsize,
        meminfo=None,
        parent=None,
    )
    return array


def arena_zeros_like(dtype=None, where="the shadow of an array", zero=True):
    """An intrinsic `(tape, array) -> array`: zeros of a Numba dtype that lie as `array` does.

    Without `zero`, the numbers are any.
    """

    @intrinsic
    def zeros_like(typingctx, tape, array):
        there = array.type if isinstance(array, types.Optional) else array
        if not isinstance(there, types.Array):
            return None
        ty = types.Array(dtype or there.dtype, there.ndim, there.layout)

        def codegen(context, builder, sig, args):
            value = args[1] if there is array else _array_or_empty(context, builder, array, args[1])
            shape = make_array(there)(context, builder, value).shape
            shape = cgutils.unpack_tuple(builder, shape, there.ndim)
            like = there, value
            return new_array(context, builder, args[0], ty, shape, where, zero, like)._getvalue()

        return ty(tape, array), codegen

    return zeros_like


arena_room_like = arena_zeros_like(where="what a parallel loop writes", zero=False)


def _array_or_empty(context, builder, ty, value):
    """An array that may be None; one without elements where it is."""
    found = context.make_helper(builder, ty, value=value)
    return builder.select(found.valid, found.data, cgutils.get_null_value(found.data.type))


def _copy_items(context, builder, source_ty, source, target_ty, target):
    itemsize = _data_size(context, source_ty.dtype)
    shape = cgutils.unpack_tuple(builder, source.shape, source_ty.ndim)
    if source_ty.layout == target_ty.layout != "A":
        size = _bytes_of(context, builder, shape, itemsize)
        cgutils.raw_memcpy(builder, target.data, source.data, size, 1)
        return
    with cgutils.loop_nest(builder, shape, _i64) as indices:
        pointers = [
            cgutils.get_item_pointer(context, builder, ty, array, indices)
            for ty, array in ((target_ty, target), (source_ty, source))
        ]
        cgutils.raw_memcpy(builder, *pointers, _i64(1), itemsize)


def arena_copy_at(where):
    """As `arena_copy`, with a place for the error's text."""

    @intrinsic
    def copy(typingctx, tape, array):
        if not isinstance(array, types.Array):
            return None
        ty = types.Array(array.dtype, array.ndim, array.layout)

        def codegen(context, builder, sig, args):
            return _emit_copy(context, builder, args[0], array, args[1], ty, where)

        return ty(tape, array), codegen

    return copy


def _emit_copy(context, builder, tape, array, value, ty, where):
    source = make_array(array)(context, builder, value)
    shape = cgutils.unpack_tuple(builder, source.shape, array.ndim)
    target = new_array(context, builder, tape, ty, shape, where, False, (array, value))
    _copy_items(context, builder, array, source, ty, target)
    return target._getvalue()


def emit_kept(context, builder, tape, ty, value, target):
    """A value with its arrays, those in tuples too, copied to the arena."""
    if isinstance(ty, types.Array):
        return _emit_copy(context, builder, tape, ty, value, target, "a copy of an array")
    if isinstance(ty, types.BaseTuple):
        items = [
            emit_kept(context, builder, tape, t, builder.extract_value(value, i), u)
            for i, (t, u) in enumerate(zip(ty, target, strict=True))
        ]
        return context.make_tuple(builder, target, items)
    return context.cast(builder, value, ty, target)


arena_copy = arena_copy_at("a copy of an array")


@intrinsic
def borrow(typingctx, x):
    """An array that owns nothing, or a (nested) tuple of such; the original must outlive it."""
    check_plain(x)

    def codegen(context, builder, sig, args):
        return emit_borrowed(context, builder, x, args[0])

    return x(x), codegen


@intrinsic
def held(typingctx, x):
    """Nothing: what is passed is there until then, for those who borrowed it."""

    def codegen(context, builder, sig, args):
        return context.get_dummy_value()

    return types.none(x), codegen


# -- shadows of lists -------------------------------------------------------------------------


class ShadowVector(types.Type):
    """A pointer to (data, capacity) in the arena: zeros until they are set, and room to grow."""

    def __init__(self, elem):
        self.elem = elem
        super().__init__(f"ShadowVector({elem})")

    @property
    def key(self):
        return self.elem


register_model(ShadowVector)(models.OpaqueModel)


def _words(builder, handle):
    words = builder.bitcast(handle, _i64.as_pointer())
    return words, builder.gep(words, [_i64(1)], inbounds=True)


def _vector_item(context, builder, ty, handle, i):
    data = builder.inttoptr(
        builder.load(_words(builder, handle)[0]), context.get_data_type(ty.elem).as_pointer()
    )
    return builder.gep(data, [i], inbounds=True)


def new_vector(context, builder, tape, elem, n):
    """A vector of `n` zeros of the Numba type `elem`."""
    where = "the shadow of a list"
    size = _bytes_of(context, builder, [n], _data_size(context, elem))
    data = _take(context, builder, tape, size, where)
    handle = _take(context, builder, tape, _i64(16), where)
    first, second = _words(builder, handle)
    builder.store(builder.ptrtoint(data, _i64), first)
    builder.store(n, second)
    return handle


def vector_new(elem):
    """An intrinsic `(tape, n)`: a vector of `n` zeros of the Numba type `elem`."""
    ty = ShadowVector(elem)

    @intrinsic
    def new(typingctx, tape, n):
        check_plain(elem)

        def codegen(context, builder, sig, args):
            return new_vector(context, builder, args[0], elem, args[1])

        return ty(tape, types.intp), codegen

    return new


@intrinsic
def vector_reserve(typingctx, tape, v, n):
    """Let a vector have at least `n` elements; new ones are zero."""

    def codegen(context, builder, sig, args):
        tape, handle, n = args
        first, second = _words(builder, handle)
        capacity = builder.load(second)
        with cgutils.if_unlikely(builder, builder.icmp_signed("<", capacity, n)):
            doubled = builder.mul(capacity, _i64(2))
            larger = builder.select(builder.icmp_signed(">", doubled, n), doubled, n)
            itemsize = _data_size(context, v.elem)
            size = _bytes_of(context, builder, [larger], itemsize)
            data = _take(context, builder, tape, size, "the shadow of a list")
            old = builder.inttoptr(builder.load(first), cgutils.voidptr_t)
            cgutils.raw_memcpy(builder, data, old, capacity, itemsize)
            builder.store(builder.ptrtoint(data, _i64), first)
            builder.store(larger, second)
        return context.get_dummy_value()

    return types.void(tape, v, types.intp), codegen


@intrinsic
def vector_get(typingctx, v, i):
    """Element `i`, which is not checked."""

    def codegen(context, builder, sig, args):
        return context.unpack_value(builder, v.elem, _vector_item(context, builder, v, *args))

    return v.elem(v, types.intp), codegen


@intrinsic
def vector_set(typingctx, v, i, x):
    """Set element `i`, which is not checked."""

    def codegen(context, builder, sig, args):
        handle, i, x = args
        context.pack_value(builder, v.elem, x, _vector_item(context, builder, v, handle, i))
        return context.get_dummy_value()

    return types.void(v, types.intp, v.elem), codegen


def _moved(context, builder, v, handle, target, source, count):
    """Move elements within a vector."""
    target, source = (_vector_item(context, builder, v, handle, i) for i in (target, source))
    cgutils.raw_memmove(builder, target, source, count, _data_size(context, v.elem))


def _cleared(context, builder, v, handle, i):
    pointer = builder.bitcast(_vector_item(context, builder, v, handle, i), cgutils.voidptr_t)
    cgutils.memset(builder, pointer, _i64(_data_size(context, v.elem)), 0)


@intrinsic
def vector_open(typingctx, v, i, n):
    """Move the elements from `i` on up by one, to be `n` in all; element `i` is zero."""

    def codegen(context, builder, sig, args):
        handle, i, n = args
        above = builder.add(i, _i64(1))
        _moved(context, builder, v, handle, above, i, builder.sub(n, above))
        _cleared(context, builder, v, handle, i)
        return context.get_dummy_value()

    return types.void(v, types.intp, types.intp), codegen


@intrinsic
def vector_close(typingctx, v, i, n):
    """Of `n` elements, move those after `i` down by one; the last is zero."""

    def codegen(context, builder, sig, args):
        handle, i, n = args
        above = builder.add(i, _i64(1))
        _moved(context, builder, v, handle, i, above, builder.sub(n, above))
        _cleared(context, builder, v, handle, builder.sub(n, _i64(1)))
        return context.get_dummy_value()

    return types.void(v, types.intp, types.intp), codegen


# -- shadows of class instances ---------------------------------------------------------------


class ShadowStruct(types.Type):
    """A pointer to named fields in the arena; `fields` holds (name, Numba type)."""

    def __init__(self, fields):
        self.fields = tuple(fields)
        self.names = [name for name, _ in self.fields]
        super().__init__(f"ShadowStruct({', '.join(f'{n}: {t}' for n, t in self.fields)})")

    @property
    def key(self):
        return self.fields


register_model(ShadowStruct)(models.OpaqueModel)


def _struct_data(context, ty):
    return ir.LiteralStructType([context.get_data_type(t) for _, t in ty.fields])


def _struct_field(context, builder, ty, handle, name):
    data = builder.bitcast(handle, _struct_data(context, ty).as_pointer())
    return cgutils.gep_inbounds(builder, data, 0, ty.names.index(name))


def struct_new(ty, where="the shadow of an instance"):
    """An intrinsic `(tape)`: a struct of type `ty` whose fields are zero."""

    @intrinsic
    def new(typingctx, tape):
        for _, field in ty.fields:
            check_plain(field)

        def codegen(context, builder, sig, args):
            size = context.get_abi_sizeof(_struct_data(context, ty))
            return _take(context, builder, args[0], _i64(size), where)

        return ty(tape), codegen

    return new


def struct_get(name):
    """An intrinsic `(s)`: the field `name`."""

    @intrinsic
    def get(typingctx, s):
        ty = dict(s.fields)[name]

        def codegen(context, builder, sig, args):
            return context.unpack_value(
                builder, ty, _struct_field(context, builder, s, args[0], name)
            )

        return ty(s), codegen

    return get


def struct_set(name):
    """An intrinsic `(s, x)`: set the field `name`."""

    @intrinsic
    def put(typingctx, s, x):
        ty = dict(s.fields)[name]

        def codegen(context, builder, sig, args):
            pointer = _struct_field(context, builder, s, args[0], name)
            context.pack_value(builder, ty, args[1], pointer)
            return context.get_dummy_value()

        return types.void(s, ty), codegen

    return put
