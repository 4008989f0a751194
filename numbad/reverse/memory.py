"""Raw memory of the adjoint's records: blocks, their limit, and the pool they return to.

Everything here works on addresses (intp) and needs neither the GIL nor a reference count. The limit
and the pool live at external symbols, so that machine code from a cache on disk finds those of the
process that runs it.
"""

import ctypes
import os
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.codegen import CodeLibrary
from numba.extending import intrinsic

from numbad.compilation.caching import before_loading, jit
from numbad.compilation.relinking import is_recording
from numbad.compilation.zero_pages import zero_pages
from numbad.errors import TapeLimitError

from .limit import limit_from

# A block of heap memory: capacity in bytes, next block, then the memory itself.
HEADER = 16
CAPACITY, NEXT = 0, 1

# The fields of a tape, each 8 bytes.
BASE, END, BLOCK, ARENA_NEXT, ARENA_END, ARENA_BLOCKS, ARENA_CHUNK, HEAP = range(8)
TAPE_FIELDS = 8

STACK_BYTES = 16 * 1024  # first chunk of the value stack
ARENA_BYTES = 8 * 1024  # first chunk of the arena
FIRST_BLOCK = 64 * 1024  # first chunk of either on the heap
LARGEST_KEPT = 32 * 1024 * 1024  # of an arena; C's allocator, too, returns what is larger at once

SLOTS = 16  # of the pool, for each of the three kinds of blocks: value stacks, then arenas.
# Numba compiles a function anew for each int, but once for all of NumPy's.
FOR_STACKS, FOR_FIRST_CHUNKS, FOR_LARGE = map(np.int64, range(0, 3 * SLOTS, SLOTS))
NO_BLOCK = np.int64(0)

_limit = ctypes.c_int64(0)
_pool = (ctypes.c_int64 * (3 * SLOTS))()
llvm.add_symbol("numbad_tape_limit", ctypes.addressof(_limit))
llvm.add_symbol("numbad_tape_pool", ctypes.addressof(_pool))
for _name in ("PyMem_RawMalloc", "PyMem_RawRealloc", "PyMem_RawFree"):
    _address = ctypes.cast(getattr(ctypes.pythonapi, _name), ctypes.c_void_p).value
    llvm.add_symbol(_name, _address)

_malloc = types.ExternalFunction("PyMem_RawMalloc", types.intp(types.intp))
_realloc = types.ExternalFunction("PyMem_RawRealloc", types.intp(types.intp, types.intp))
_free = types.ExternalFunction("PyMem_RawFree", types.void(types.intp))


# -- the limit --------------------------------------------------------------------------------


def set_tape_limit(limit):
    """Let one tape hold at most `limit` bytes of heap memory."""
    _limit.value = TapeLimitError.limit = limit


set_tape_limit(limit_from(os.environ.get("NUMBAD_TAPE_LIMIT")))


# -- memory -----------------------------------------------------------------------------------

_i64 = ir.IntType(64)


def word_pointer(builder, address, i=0):
    """The pointer to 8-byte word number `i` at an address (LLVM integer)."""
    pointer = builder.inttoptr(address, _i64.as_pointer())
    return builder.gep(pointer, [i if isinstance(i, ir.Value) else _i64(i)])


def peek_word(builder, address, i):
    """Emit a load of word number `i` at an address."""
    return builder.load(word_pointer(builder, address, i))


@intrinsic
def peek(typingctx, address, i):
    """The word number `i` at an address."""

    def codegen(context, builder, sig, args):
        return peek_word(builder, *args)

    return types.intp(types.intp, types.intp), codegen


@intrinsic
def poke(typingctx, address, i, value):
    """Store a word."""

    def codegen(context, builder, sig, args):
        builder.store(args[2], word_pointer(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), codegen


@intrinsic
def exchange(typingctx, address, value):
    """Store a word atomically and return what was there."""

    def codegen(context, builder, sig, args):
        return builder.atomic_rmw("xchg", word_pointer(builder, args[0]), args[1], "seq_cst")

    return types.intp(types.intp, types.intp), codegen


@intrinsic
def store_if_zero(typingctx, address, value):
    """Store a word atomically where there is a zero; return whether there was."""

    def codegen(context, builder, sig, args):
        pointer = word_pointer(builder, args[0])
        found = builder.cmpxchg(pointer, _i64(0), args[1], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(types.intp, types.intp), codegen


@intrinsic
def copy_bytes(typingctx, target, source, n):
    """Copy memory that does not overlap."""

    def codegen(context, builder, sig, args):
        target, source = (builder.inttoptr(a, cgutils.voidptr_t) for a in args[:2])
        cgutils.raw_memcpy(builder, target, source, args[2], 1)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), codegen


def _symbol(builder, name):
    """The pointer to what lies at an external symbol."""
    found = builder.module.globals.get(name)
    return cgutils.add_global_variable(builder.module, _i64, name) if found is None else found


def _symbol_address(name):
    @intrinsic
    def address(typingctx):
        def codegen(context, builder, sig, args):
            return builder.ptrtoint(_symbol(builder, name), _i64)

        return types.intp(), codegen

    return address


_limit_address = _symbol_address("numbad_tape_limit")
_pool_address = _symbol_address("numbad_tape_pool")


# -- what generated code calls ----------------------------------------------------------------

_HELPERS = {}  # by their symbols


def _called_by_name(function):
    """A function of addresses that is compiled once a process: see `call_helper`."""
    helper = jit(function)
    helper.symbol = f"numbad_tape_{function.__name__}"
    _HELPERS[helper.symbol] = helper
    return helper


# -- the pool ---------------------------------------------------------------------------------


@jit
def _take(first):
    """A block from the slots that begin at `first`, or 0."""
    for slot in range(first, first + SLOTS):
        address = _pool_address() + 8 * slot
        if peek(address, 0) != 0:
            block = exchange(address, 0)
            if block != 0:
                return block
    return 0


@jit
def _give(block, first):
    """Put a block into a free slot, or free it where there is none."""
    for slot in range(first, first + SLOTS):
        address = _pool_address() + 8 * slot
        if peek(address, 0) == 0 and store_if_zero(address, block):
            return
    _free(block)


@jit
def _take_for(size, allowed):
    """A large block that holds `size` bytes and at most twice as many, or 0.

    Fresh pages cost more than what a sweep does with them, so shadows of large arrays are kept. Where
    no block fits, one that waits is freed: no more blocks are kept than were in use at one time.
    """
    unfit = 0
    for slot in range(FOR_LARGE, FOR_LARGE + SLOTS):
        address = _pool_address() + 8 * slot
        if peek(address, 0) == 0:
            continue
        block = exchange(address, 0)  # its capacity may be read by its one owner alone
        if block == 0:
            continue
        if size <= peek(block, CAPACITY) <= min(2 * size, allowed):
            if unfit != 0:
                _give(unfit, FOR_LARGE)
            return block
        if unfit != 0:
            _give(unfit, FOR_LARGE)
        unfit = block
    if unfit != 0:
        _free(unfit)
    return 0


@jit
def _drain():
    for slot in range(3 * SLOTS):
        block = exchange(_pool_address() + 8 * slot, 0)
        if block != 0:
            _free(block)


def release_pool():
    """Free the blocks that wait for the next call."""
    _drain()


def pool_bytes():
    """The memory that waits for the next call (no tape may be released meanwhile)."""
    return sum(ctypes.c_int64.from_address(block).value for block in _pool if block)


# -- blocks -----------------------------------------------------------------------------------


@jit
def _resize(block, capacity):
    """A block of at least `capacity` that keeps its content, or 0; `block` may be 0."""
    if block == 0:
        block = _malloc(HEADER + capacity)
    elif peek(block, CAPACITY) >= capacity:
        return block
    else:
        block = _realloc(block, HEADER + capacity)
    if block != 0:
        poke(block, CAPACITY, capacity)
    return block


@jit
def _first_block(capacity, allowed):
    """A block from the pool where one fits under the limit, made larger where it must be."""
    block = _take(FOR_STACKS)
    if block != 0:
        if peek(block, CAPACITY) <= allowed:
            larger = _resize(block, capacity)
            if larger == 0:
                _free(block)
            return larger
        _free(block)
    return _resize(NO_BLOCK, capacity)


@_called_by_name
def grow(tape, top, need):
    """Make room for `need` bytes at `top`: the new top, or 0 beyond the limit or out of memory."""
    base, old = peek(tape, BASE), peek(tape, BLOCK)
    used = top - base
    held = peek(old, CAPACITY) if old != 0 else 0
    allowed = peek(_limit_address(), 0) - peek(tape, HEAP) + held
    capacity = max(2 * (peek(tape, END) - base), FIRST_BLOCK)
    while capacity < used + need:
        capacity *= 2
    capacity = min(capacity, allowed)
    capacity -= capacity % 8
    if capacity < used + need:
        return 0
    block = _resize(old, capacity) if old != 0 else _first_block(capacity, allowed)
    if block == 0:
        return 0
    if old == 0:
        copy_bytes(block + HEADER, base, used)
    poke(tape, BLOCK, block)
    poke(tape, BASE, block + HEADER)
    poke(tape, END, block + HEADER + peek(block, CAPACITY))
    poke(tape, HEAP, peek(tape, HEAP) - held + peek(block, CAPACITY))
    return block + HEADER + used


@jit
def _arena_block(tape, size, allowed):
    """A block of `size` bytes or more for the arena, in its list of blocks; 0 where there is none."""
    if size > LARGEST_KEPT:
        block = zero_pages(HEADER + size)
        if block != 0:
            poke(block, CAPACITY, size)
    else:
        block = _take(FOR_FIRST_CHUNKS) if size == FIRST_BLOCK else _take_for(size, allowed)
        if block == 0:
            block = _resize(NO_BLOCK, size)
    if block != 0:
        poke(block, NEXT, peek(tape, ARENA_BLOCKS))
        poke(tape, ARENA_BLOCKS, block)
        poke(tape, HEAP, peek(tape, HEAP) + peek(block, CAPACITY))
    return block


@_called_by_name
def arena_take(tape, n):
    """The address of `n` bytes of the arena, aligned to 16; 0 where there are none.

    More than LARGEST_KEPT are zero, others not.
    """
    allowed = peek(_limit_address(), 0) - peek(tape, HEAP)
    start = peek(tape, ARENA_NEXT)
    room = peek(tape, ARENA_END) - start
    if n > room and n > allowed:
        return 0
    n = max(16, (n + 15) // 16 * 16)
    if n <= room and n <= LARGEST_KEPT:
        poke(tape, ARENA_NEXT, start + n)
        return start
    chunk = peek(tape, ARENA_CHUNK)
    if (
        n > min(chunk, LARGEST_KEPT) or chunk > allowed
    ):  # a block of its own; the chunk in use stays in use
        block = _arena_block(tape, n, allowed) if n <= allowed else 0
        return block + HEADER if block != 0 else 0
    block = _arena_block(tape, chunk, allowed)
    if block == 0:
        return 0
    poke(tape, ARENA_CHUNK, 2 * chunk)
    poke(tape, ARENA_NEXT, block + HEADER + n)
    poke(tape, ARENA_END, block + HEADER + peek(block, CAPACITY))
    return block + HEADER


@_called_by_name
def arena_rewind(tape, blocks, start, end):
    """Give back what was taken since ARENA_BLOCKS, ARENA_NEXT and ARENA_END had these values.

    A chunk that was added since stays, empty, so that the next iteration need not ask for one.
    """
    block = peek(tape, ARENA_BLOCKS)
    kept = 0
    while block != blocks:
        following, capacity = peek(block, NEXT), peek(block, CAPACITY)
        if kept == 0 and block + HEADER + capacity == peek(tape, ARENA_END):
            kept = block
        else:
            poke(tape, HEAP, peek(tape, HEAP) - capacity)
            _give_arena(block)
        block = following
    if kept != 0:
        poke(kept, NEXT, blocks)
        poke(tape, ARENA_BLOCKS, kept)
        poke(tape, ARENA_NEXT, kept + HEADER)
    else:
        poke(tape, ARENA_BLOCKS, blocks)
        poke(tape, ARENA_NEXT, start)
        poke(tape, ARENA_END, end)
    return 0


@jit
def _give_arena(block):
    capacity = peek(block, CAPACITY)
    if capacity > LARGEST_KEPT:
        _free(block)
    else:
        _give(block, FOR_FIRST_CHUNKS if capacity == FIRST_BLOCK else FOR_LARGE)


@_called_by_name
def release(tape):
    """Give back all heap memory of a tape."""
    block = peek(tape, BLOCK)
    if block != 0:
        _give(block, FOR_STACKS)
    block = peek(tape, ARENA_BLOCKS)
    while block != 0:
        following = peek(block, NEXT)
        _give_arena(block)
        block = following
    return 0


ELSEWHERE = {}
"""name of a target that has no heap -> what it has for `call_helper` and `raise_limit`."""


@dataclass(frozen=True)
class DefinesHelper:
    """Compiles a helper that generated code calls by name; code from a cache on disk does so when loaded."""

    symbol: str

    def __call__(self):
        define_helper(self.symbol)


@cache
def define_helper(symbol):
    helper = _HELPERS[symbol]
    tys = (types.intp,) * helper.py_func.__code__.co_argcount
    helper.compile(tys)
    compiled = helper.overloads[tys]
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    llvm.add_symbol(symbol, address)


# Code from a cache needs the helpers when it is loaded; older versions of Numba have no place to say which.
_LIBRARIES_RELOAD = "_reload_init" in CodeLibrary.__init__.__code__.co_names
if not _LIBRARIES_RELOAD:
    before_loading.extend(map(DefinesHelper, _HELPERS))


def call_helper(context, builder, helper, *args):
    """Call one of the functions above, on LLVM integers, out of line; none of them raises.

    They are compiled once a process, and found by name.
    """
    if context.target_name in ELSEWHERE:
        return ELSEWHERE[context.target_name][0](context, builder, helper, *args)
    define_helper(helper.symbol)
    if _LIBRARIES_RELOAD:
        context.active_code_library._reload_init.add(DefinesHelper(helper.symbol))
    tys = [types.intp] * len(args)
    fnty = context.call_conv.get_function_type(types.intp, tys)
    fn = cgutils.get_or_insert_function(builder.module, fnty, helper.symbol)
    _, result = context.call_conv.call_function(builder, fn, types.intp, tys, args)
    return result


def may_take_heap(library):
    """Whether compiled code, or what it calls, may take heap memory for its tape: it needs helpers then.

    Of the code alone that is called from here today, unless the caller is to be linked with other code.
    """
    if is_recording():
        return True
    loads = vars(library).get(
        "_reload_init"
    )  # older versions of Numba, and other targets, have none
    if loads is None or not library._finalized:
        return True
    return any(isinstance(load, DefinesHelper) for load in loads)


def raise_limit(context, builder, where):
    """Emit the error of a tape that can hold no more."""
    if context.target_name in ELSEWHERE:
        return ELSEWHERE[context.target_name][1](context, builder, where)
    message = (
        f"{where}: the reverse sweep needs to record more than the limit of {{limit}} bytes "
        "allows (or memory ran out); wrap a part of the computation in nd.checkpoint, or raise "
        "the environment variable NUMBAD_TAPE_LIMIT"
    )
    return context.call_conv.return_user_exc(builder, TapeLimitError, (message,))
