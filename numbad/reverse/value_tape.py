"""The tape of the adjoint: a stack of plain values, and the guard that owns its memory.

The code that the adjoint consists of calls these intrinsics. `top`, the address above the newest
frame, is a variable of that code, so that LLVM keeps it in a register; the stack may move when it
grows, so only the newest `top` is valid.

Nothing on the tape is reference-counted: arrays are non-owning handles (see `arena.borrow`).
"""

from llvmlite import ir
from numba.core import cgutils, imputils, types
from numba.core.datamodel import default_manager, models
from numba.core.typing import signature
from numba.extending import intrinsic, register_model

from numbad.errors import UnsupportedError

from . import memory as m

_i8, _i64 = ir.IntType(8), ir.IntType(64)


class TapeType(types.Type):
    """A pointer to the bookkeeping of a tape, which lies on the machine stack of its guard."""

    holds_arrays = False  # forward mode asks: arrays that are kept share nothing with it

    def __init__(self):
        super().__init__("Tape")


tape_type = TapeType()
register_model(TapeType)(models.OpaqueModel)


def tape_address(builder, tape):
    """The address of a tape, as the functions of `memory` take it."""
    return builder.ptrtoint(tape, _i64)


def _field(builder, tape, i):
    words = builder.bitcast(tape, _i64.as_pointer())
    return builder.gep(words, [_i64(i)], inbounds=True)


# -- the layout of a frame --------------------------------------------------------------------


def check_plain(ty):
    """Refuse types that hold references; arrays pass, as handles that own nothing."""
    if isinstance(ty, types.BaseTuple):
        for member in ty:
            check_plain(member)
        return
    counted = default_manager.lookup(ty).contains_nrt_meminfo()
    if counted and not isinstance(ty, types.Array):
        raise UnsupportedError(f"a value of type {ty} cannot be recorded for the adjoint")


def size_of(ty):
    """Bytes of a scalar or vector."""
    if isinstance(ty, ir.VectorType):
        return ty.count * size_of(ty.element)
    if isinstance(ty, ir.IntType):
        return (ty.width + 7) // 8
    if isinstance(ty, ir.PointerType | ir.DoubleType):
        return 8
    if isinstance(ty, ir.FloatType):
        return 4
    if isinstance(ty, ir.HalfType):
        return 2
    raise UnsupportedError(f"a value of machine type {ty} cannot be recorded for the adjoint")


def _align(ty):
    return size_of(ty.element if isinstance(ty, ir.VectorType) else ty)


def _scalars(ty, path=()):
    """Yield (path, type) of each scalar or vector within an LLVM type."""
    if isinstance(ty, ir.ArrayType):
        members = [ty.element] * ty.count
    elif isinstance(ty, ir.BaseStructType):
        members = ty.elements
    else:
        yield path, ty
        return
    for i, member in enumerate(members):
        yield from _scalars(member, (*path, i))


def _recorded(context, ty, path=()):
    """Yield (path, LLVM type) of what is recorded of a value: of an array not what owns its memory."""
    if isinstance(ty, types.BaseTuple):
        for i, member in enumerate(ty):
            yield from _recorded(context, member, (*path, i))
        return
    owned = _owners(ty) if isinstance(ty, types.Array) else ()
    for rest, item in _scalars(context.get_value_type(ty)):
        if rest[:1] not in owned:
            yield (*path, *rest), item


def _owners(ty):
    """The paths to what owns an array's memory."""
    model = default_manager.lookup(ty)
    return [(model.get_field_position(name),) for name in ("meminfo", "parent")]


def layout_of(context, tys):
    """The slots of a frame, as (number of the value, path, LLVM type, offset), and its size."""
    slots, offset = [], 0
    for k, ty in enumerate(tys):
        for path, item in _recorded(context, ty):
            offset = -(-offset // _align(item)) * _align(item)
            slots.append((k, path, item, offset))
            offset += size_of(item)
    return slots, -(-offset // 8) * 8


def _slot(builder, top, offset, ty):
    """The pointer to a slot; a truth value takes a byte. `cuda.narrowing` knows it by its name."""
    stored = _i8 if ty == ir.IntType(1) else ty
    pointer = builder.gep(top, [_i64(offset)], inbounds=True)
    return builder.bitcast(pointer, stored.as_pointer(), name="tape_slot")


def store_slot(builder, top, offset, ty, value):
    pointer = _slot(builder, top, offset, ty)
    if ty == ir.IntType(1):
        value = builder.zext(value, _i8)
    builder.store(value, pointer, align=_align(ty))


def load_slot(builder, top, offset, ty):
    value = builder.load(_slot(builder, top, offset, ty), align=_align(ty))
    return builder.trunc(value, ty) if ty == ir.IntType(1) else value


def store_slots(builder, top, slots, values):
    """Store values in the slots of a frame."""
    for k, path, ty, offset in slots:
        value = builder.extract_value(values[k], path) if path else values[k]
        store_slot(builder, top, offset, ty, value)


def load_slots(context, builder, tys, top):
    """The values in the slots of a frame."""
    items = [ir.Constant(context.get_value_type(ty), ir.Undefined) for ty in tys]
    for k, path, ty, offset in layout_of(context, tys)[0]:
        value = load_slot(builder, top, offset, ty)
        items[k] = builder.insert_value(items[k], value, path) if path else value
    return items


def emit_borrowed(context, builder, ty, value):
    """A value whose arrays own nothing; the originals must outlive it."""
    if isinstance(ty, types.BaseTuple):
        items = [
            emit_borrowed(context, builder, member, builder.extract_value(value, i))
            for i, member in enumerate(ty)
        ]
        return context.make_tuple(builder, ty, items)
    if isinstance(ty, types.Array):
        for (position,) in _owners(ty):
            null = ir.Constant(value.type.elements[position], None)
            value = builder.insert_value(value, null, position)
        return value
    return value


# -- the value stack --------------------------------------------------------------------------


@intrinsic
def tape_start(typingctx, tape):
    """The top of an empty tape."""

    def codegen(context, builder, sig, args):
        base = builder.load(_field(builder, args[0], m.BASE))
        return builder.inttoptr(base, cgutils.voidptr_t)

    return types.voidptr(tape), codegen


@intrinsic
def top_offset(typingctx, tape, top):
    """How far the top is above the bottom of the tape, which may move."""

    def codegen(context, builder, sig, args):
        base = builder.load(_field(builder, args[0], m.BASE))
        return builder.sub(builder.ptrtoint(args[1], _i64), base)

    return types.intp(tape, top), codegen


@intrinsic
def top_at(typingctx, tape, offset):
    """The top that is so far above the bottom of the tape."""

    def codegen(context, builder, sig, args):
        base = builder.load(_field(builder, args[0], m.BASE))
        return builder.inttoptr(builder.add(base, args[1]), cgutils.voidptr_t)

    return types.voidptr(tape, offset), codegen


def make_room(context, builder, tape, top, size, where):
    """The top at which `size` bytes have room, perhaps elsewhere than before."""
    end = builder.load(_field(builder, tape, m.END))
    room = builder.sub(end, builder.ptrtoint(top, _i64))
    before = builder.block
    full = builder.icmp_signed("<", room, size)
    with cgutils.if_unlikely(builder, full):
        args = tape_address(builder, tape), builder.ptrtoint(top, _i64), size
        moved = m.call_helper(context, builder, m.grow, *args)
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", moved, _i64(0))):
            m.raise_limit(context, builder, where)
        moved = builder.inttoptr(moved, cgutils.voidptr_t)
        after = builder.block
    found = builder.phi(cgutils.voidptr_t)
    found.add_incoming(top, before)
    found.add_incoming(moved, after)
    return found


@intrinsic(prefer_literal=True)
def push_frame(typingctx, tape, top, where, *values):
    """Record values above `top`: the new top. `where`, a literal, is for the error's text."""
    if not isinstance(where, types.StringLiteral):
        return None
    tys = [types.unliteral(v) for v in values]
    for ty in tys:
        check_plain(ty)

    def codegen(context, builder, sig, args):
        values = cgutils.unpack_tuple(builder, args[3], len(tys))
        return push_values(context, builder, tys, *args[:2], where.literal_value, values)

    return types.voidptr(tape, types.voidptr, where, types.StarArgTuple.from_types(tys)), codegen


def push_values(context, builder, tys, tape, top, where, values):
    """Record values of these types above `top`: the new top."""
    slots, size = layout_of(context, tys)
    if size == 0:
        return top
    top = make_room(context, builder, tape, top, _i64(size), where)
    store_slots(builder, top, slots, values)
    return builder.gep(top, [_i64(size)], inbounds=True)


@intrinsic
def pop_frame(typingctx, top, *values):
    """The top below the newest frame, whose types are those of `values`; these are not read."""
    tys = [types.unliteral(v) for v in values]

    def codegen(context, builder, sig, args):
        _, size = layout_of(context, tys)
        return builder.gep(args[0], [_i64(-size)], inbounds=True)

    return types.voidptr(types.voidptr, types.StarArgTuple.from_types(tys)), codegen


@intrinsic
def read_frame(typingctx, top, *values):
    """The values of the frame at `top`, as lowered by `pop_frame`, in a tuple."""
    tys = [types.unliteral(v) for v in values]
    result = types.BaseTuple.from_types(tys)

    def codegen(context, builder, sig, args):
        return context.make_tuple(builder, result, read_values(context, builder, tys, args[0]))

    return result(types.voidptr, types.StarArgTuple.from_types(tys)), codegen


read_frame.numbad_gives_back = 1


def read_values(context, builder, tys, top):
    """The values of the frame at `top`; arrays own nothing."""
    items = load_slots(context, builder, tys, top)
    return [emit_borrowed(context, builder, *pair) for pair in zip(tys, items, strict=True)]


# -- the guard --------------------------------------------------------------------------------


def _new_tape(builder):
    """An empty tape on the machine stack of the function being emitted."""
    tape = cgutils.alloca_once(builder, _i64, size=m.TAPE_FIELDS, name="tape")
    state = [_i64(0)] * m.TAPE_FIELDS
    chunks = (m.BASE, m.END, m.STACK_BYTES), (m.ARENA_NEXT, m.ARENA_END, m.ARENA_BYTES)
    for start, end, size in chunks:
        chunk = cgutils.alloca_once(builder, ir.VectorType(_i64, 2), size=size // 16)
        state[start] = builder.ptrtoint(chunk, _i64)
        state[end] = builder.add(state[start], _i64(size))
    state[m.ARENA_CHUNK] = _i64(m.FIRST_BLOCK)
    for i, value in enumerate(state):
        builder.store(value, _field(builder, tape, i))
    return builder.bitcast(tape, cgutils.voidptr_t)


def _release(context, builder, tape):
    heap = builder.load(_field(builder, tape, m.HEAP))
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", heap, _i64(0))):
        m.call_helper(context, builder, m.release, tape_address(builder, tape))


def _emit_guarded(context, builder, dispatcher, inner, sig, args, in_place):
    """Call `dispatcher` with a tape that lives as long as the call."""
    tape = _new_tape(builder)
    given = zip(args, sig.args, inner.args[1:], strict=True)
    passed = [tape, *(context.cast(builder, *arg) for arg in given)]
    compiled = dispatcher.get_compile_result(inner)
    context.add_linking_libs((compiled.library,))
    function = context.declare_function(builder.module, compiled.fndesc)
    in_place = in_place or getattr(sig.args[-1], "once", False)
    status, result = context.call_conv.call_function(
        *(builder, function, inner.return_type, inner.args, passed),
        attrs=("alwaysinline",) if in_place else (),
    )
    if m.may_take_heap(compiled.library):
        _release(context, builder, tape)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return imputils.fix_returning_optional(context, builder, inner, status, result)


def _guarded_call(in_place):
    """An intrinsic `(fn, args, shadows, seed)`: `fn(tape, args, shadows, seed)`, where `fn` is a dispatcher.

    The tape's memory is released after the call, also when it raises. What the caller holds is the
    caller's to free: it is compiled with `ir.unwind`. Numba keeps every signature for good, so that
    nothing here holds the dispatcher but its type, which lets it go.
    """

    @intrinsic
    def call(typingctx, fn, args, shadows, seed):
        if not isinstance(fn, types.Dispatcher):
            return None
        tys = [types.unliteral(ty) for ty in (args, shadows, seed)]
        inner = typingctx.resolve_function_type(fn, (tape_type, *tys), {})
        result = inner.return_type

        def codegen(context, builder, sig, args):
            outer = signature(result, *tys)
            inner = signature(result, tape_type, *tys)
            return _emit_guarded(context, builder, fn.dispatcher, inner, outer, args[1:], in_place)

        return result(fn, *tys), codegen

    return call


call_guarded = _guarded_call(in_place=False)
call_guarded_in_place = _guarded_call(in_place=True)
"""The same in the caller's code, where what only makes a value that is not used goes."""
