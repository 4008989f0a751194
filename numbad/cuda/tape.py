"""The tape on a GPU: of a fixed size, in a thread's local memory or in a slice of a workspace.

The adjoint's code uses the intrinsics of `reverse.value_tape`, whose helpers on the heap a GPU does not
have. Here are those that take their place for this target: a stack that cannot grow, an arena that
hands out what there is, and an error code in place of an exception with a text, which the caller of
the adjoint sees.
"""

from llvmlite import ir
from numba.core import types
from numba.cuda import cgutils

from ..errors import TapeLimitError, UnsupportedError
from ..reverse import memory as m

# Bytes a thread: of the stack that records the forward sweep, and of the arena for shadows of work
# arrays. Local memory is set aside for every thread that can be resident (some 200,000 on a large
# GPU), so that each KiB costs some 200 MB of the device's memory.
TAPE_BYTES = 16 * 1024
ARENA_BYTES = 1024

# Error codes from here on mean that a tape is full; the number after it says where.
FULL = 0x4E440000
_places = []

_i8, _i64 = ir.IntType(8), ir.IntType(64)


def _call_helper(context, builder, helper, *args):
    if helper is m.grow:
        return _i64(0)
    if helper is m.arena_take:
        return _arena_take(builder, *args)
    raise UnsupportedError(
        "what needs a tape of its own within the function (nd.checkpoint, an operator's result) "
        "cannot run on a GPU; leave it out of the function"
    )


def _arena_take(builder, tape, size):
    """The address of `size` bytes of the arena, or 0 where it has no room for them."""
    start = builder.load(m.word_pointer(builder, tape, m.ARENA_NEXT))
    end = builder.load(m.word_pointer(builder, tape, m.ARENA_END))
    room = builder.sub(end, start)
    fits = builder.icmp_unsigned("<=", size, room)
    rounded = builder.and_(builder.add(size, _i64(15)), _i64(-16))
    following = builder.select(fits, builder.add(start, rounded), start)
    builder.store(following, m.word_pointer(builder, tape, m.ARENA_NEXT))
    return builder.select(fits, start, _i64(0))


def _raise_limit(context, builder, where):
    if where not in _places:
        _places.append(where)
    builder.ret(ir.IntType(32)(FULL + _places.index(where)))


def is_full(builder, code):
    """Whether an error code says that a tape was full."""
    return builder.icmp_unsigned(">=", code, code.type(FULL))


def errors():
    """What the error codes mean, as numba-cuda keeps it for a kernel: class, arguments, place."""
    return {
        FULL + number: (TapeLimitError, (_message(where),), None)
        for number, where in enumerate(_places)
    }


def _message(where):
    return (
        f"{where}: the tape on the GPU has no room for the values that the reverse sweep needs; "
        "give nd.cuda.grad more with tape=, or a slice of a workspace with tape=None"
    )


def _stack_chunk(builder, size):
    """The address and the end of memory in the frame of the function that is emitted."""
    with builder.goto_entry_block():
        chunk = builder.alloca(ir.ArrayType(_i8, size))
    chunk.align = 16
    start = builder.ptrtoint(chunk, _i64)
    return start, builder.add(start, _i64(size))


def new_tape(builder, size, workspace=None):
    """An empty tape; its stack is `workspace`, an address and a size, or `size` local bytes."""
    if workspace is None:
        base, end = _stack_chunk(builder, size)
    else:
        aligned = builder.and_(builder.add(workspace[0], _i64(7)), _i64(-8))
        base, end = aligned, builder.add(*workspace)
    arena, arena_end = _stack_chunk(builder, ARENA_BYTES)
    state = {m.BASE: base, m.END: end, m.ARENA_NEXT: arena, m.ARENA_END: arena_end}
    tape = cgutils.alloca_once(builder, ir.ArrayType(_i64, m.TAPE_FIELDS), name="tape")
    for i in range(m.TAPE_FIELDS):
        builder.store(state.get(i, _i64(0)), cgutils.gep_inbounds(builder, tape, 0, i))
    return builder.bitcast(tape, cgutils.voidptr_t)


def workspace_of(context, builder, ty, array):
    """The address and the size in bytes of a contiguous array."""
    struct = context.make_helper(builder, ty, array)
    itemsize = context.get_abi_sizeof(context.get_data_type(ty.dtype))
    return builder.ptrtoint(struct.data, _i64), builder.mul(struct.nitems, _i64(itemsize))


def is_workspace(ty):
    return isinstance(ty, types.Array) and ty.layout in "CF" and ty.mutable


m.ELSEWHERE["cuda"] = _call_helper, _raise_limit
