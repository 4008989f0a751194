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
from llvmlite import ir
from numba.core import cgutils
from numba.core.codegen import CodeLibrary

from numbad.compilation.caching import before_loading
from numbad.compilation.relinking import is_recording
from numbad.compilation.word_functions import WordFunction, emitted, i64, machine_code
from numbad.compilation.zero_pages import emit_zero_pages
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
FOR_STACKS, FOR_FIRST_CHUNKS, FOR_LARGE = range(0, 3 * SLOTS, SLOTS)

_limit = ctypes.c_int64(0)
_pool = (ctypes.c_int64 * (3 * SLOTS))()
llvm.add_symbol("numbad_tape_limit", ctypes.addressof(_limit))
llvm.add_symbol("numbad_tape_pool", ctypes.addressof(_pool))
for _name in ("PyMem_RawMalloc", "PyMem_RawRealloc", "PyMem_RawFree"):
    _address = ctypes.cast(getattr(ctypes.pythonapi, _name), ctypes.c_void_p).value
    llvm.add_symbol(_name, _address)


# -- the limit --------------------------------------------------------------------------------


def set_tape_limit(limit):
    """Let one tape hold at most `limit` bytes of heap memory."""
    _limit.value = TapeLimitError.limit = limit


set_tape_limit(limit_from(os.environ.get("NUMBAD_TAPE_LIMIT")))


# -- memory -----------------------------------------------------------------------------------


def word_pointer(builder, address, i=0):
    """The pointer to 8-byte word number `i` at an address (LLVM integer)."""
    pointer = builder.inttoptr(address, i64.as_pointer())
    return builder.gep(pointer, [i if isinstance(i, ir.Value) else i64(i)])


@emitted
def peek(builder, address, i):
    """The word number `i` at an address."""
    return builder.load(word_pointer(builder, address, i))


@emitted
def _poke(builder, address, i, value):
    """Store a word."""
    builder.store(value, word_pointer(builder, address, i))


@emitted
def _exchange(builder, address, value):
    """Store a word atomically and return what was there."""
    return builder.atomic_rmw("xchg", word_pointer(builder, address), value, "seq_cst")


@emitted
def _store_if_zero(builder, address, value):
    """Store a word atomically where there is a zero; return whether there was."""
    pointer = word_pointer(builder, address)
    found = builder.cmpxchg(pointer, i64(0), value, "seq_cst", "seq_cst")
    return builder.zext(builder.extract_value(found, 1), i64)


@emitted
def _copy_bytes(builder, target, source, n):
    """Copy memory that does not overlap."""
    target, source = (builder.inttoptr(a, cgutils.voidptr_t) for a in (target, source))
    cgutils.raw_memcpy(builder, target, source, n, 1)


def _symbol_address(name):
    @emitted
    def address(builder):
        found = builder.module.globals.get(name)
        if found is None:
            found = cgutils.add_global_variable(builder.module, i64, name)
        return builder.ptrtoint(found, i64)

    return address


_limit_address = _symbol_address("numbad_tape_limit")
_pool_address = _symbol_address("numbad_tape_pool")


def _external(name, returned, *given):
    @emitted
    def call(builder, *args):
        fnty = ir.FunctionType(returned, given)
        called = builder.call(cgutils.get_or_insert_function(builder.module, fnty, name), args)
        return None if isinstance(returned, ir.VoidType) else called

    return call


_malloc = _external("PyMem_RawMalloc", i64, i64)
_realloc = _external("PyMem_RawRealloc", i64, i64, i64)
_free = _external("PyMem_RawFree", ir.VoidType(), i64)
_zero_pages = emitted(emit_zero_pages)


# -- what generated code calls ----------------------------------------------------------------

_HELPERS = {}  # by their names


def _called_by_name(function):
    """A function of addresses that is compiled once a process: see `call_helper`."""
    helper = _HELPERS[f"numbad_{function.__name__}"] = WordFunction(function)
    return helper


# -- the pool ---------------------------------------------------------------------------------


@WordFunction
def _take(first):
    """A block from the slots that begin at `first`, or 0."""
    slot = first
    while slot < first + SLOTS:
        address = _pool_address() + 8 * slot
        if peek(address, 0) != 0:
            block = _exchange(address, 0)
            if block != 0:
                return block
        slot += 1
    return 0


@WordFunction
def _give(block, first):
    """Put a block into a free slot, or free it where there is none."""
    slot = first
    while slot < first + SLOTS:
        address = _pool_address() + 8 * slot
        if peek(address, 0) == 0 and _store_if_zero(address, block):
            return
        slot += 1
    _free(block)


@WordFunction
def _take_for(size, allowed):
    """A large block that holds `size` bytes and at most twice as many, or 0.

    Fresh pages cost more than what a sweep does with them, so shadows of large arrays are kept. Where
    no block fits, one that waits is freed: no more blocks are kept than were in use at one time.
    """
    unfit = 0
    slot = FOR_LARGE
    while slot < FOR_LARGE + SLOTS:
        address = _pool_address() + 8 * slot
        slot += 1
        if peek(address, 0) == 0:
            continue
        block = _exchange(address, 0)  # its capacity may be read by its one owner alone
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


@WordFunction
def _drain():
    slot = 0
    while slot < 3 * SLOTS:
        block = _exchange(_pool_address() + 8 * slot, 0)
        if block != 0:
            _free(block)
        slot += 1


def release_pool():
    """Free the blocks that wait for the next call."""
    ctypes.CFUNCTYPE(ctypes.c_int64)(machine_code(_drain))()


def pool_bytes():
    """The memory that waits for the next call (no tape may be released meanwhile)."""
    return sum(ctypes.c_int64.from_address(block).value for block in _pool if block)


# -- blocks -----------------------------------------------------------------------------------


@WordFunction
def _resize(block, capacity):
    """A block of at least `capacity` that keeps its content, or 0; `block` may be 0."""
    if block == 0:
        block = _malloc(HEADER + capacity)
    elif peek(block, CAPACITY) >= capacity:
        return block
    else:
        block = _realloc(block, HEADER + capacity)
    if block != 0:
        _poke(block, CAPACITY, capacity)
    return block


@WordFunction
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
    return _resize(0, capacity)


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
    capacity &= -8
    if capacity < used + need:
        return 0
    block = _resize(old, capacity) if old != 0 else _first_block(capacity, allowed)
    if block == 0:
        return 0
    if old == 0:
        _copy_bytes(block + HEADER, base, used)
    _poke(tape, BLOCK, block)
    _poke(tape, BASE, block + HEADER)
    _poke(tape, END, block + HEADER + peek(block, CAPACITY))
    _poke(tape, HEAP, peek(tape, HEAP) - held + peek(block, CAPACITY))
    return block + HEADER + used


@WordFunction
def _arena_block(tape, size, allowed):
    """A block of `size` bytes or more for the arena, in its list of blocks; 0 where there is none."""
    if size > LARGEST_KEPT:
        block = _zero_pages(HEADER + size)
        if block != 0:
            _poke(block, CAPACITY, size)
    else:
        block = _take(FOR_FIRST_CHUNKS) if size == FIRST_BLOCK else _take_for(size, allowed)
        if block == 0:
            block = _resize(0, size)
    if block != 0:
        _poke(block, NEXT, peek(tape, ARENA_BLOCKS))
        _poke(tape, ARENA_BLOCKS, block)
        _poke(tape, HEAP, peek(tape, HEAP) + peek(block, CAPACITY))
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
    n = max(16, (n + 15) & -16)
    if n <= room and n <= LARGEST_KEPT:
        _poke(tape, ARENA_NEXT, start + n)
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
    _poke(tape, ARENA_CHUNK, 2 * chunk)
    _poke(tape, ARENA_NEXT, block + HEADER + n)
    _poke(tape, ARENA_END, block + HEADER + peek(block, CAPACITY))
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
            _poke(tape, HEAP, peek(tape, HEAP) - capacity)
            _give_arena(block)
        block = following
    if kept != 0:
        _poke(kept, NEXT, blocks)
        _poke(tape, ARENA_BLOCKS, kept)
        _poke(tape, ARENA_NEXT, kept + HEADER)
    else:
        _poke(tape, ARENA_BLOCKS, blocks)
        _poke(tape, ARENA_NEXT, start)
        _poke(tape, ARENA_END, end)
    return 0


@WordFunction
def _give_arena(block):
    capacity = peek(block, CAPACITY)
    if capacity > LARGEST_KEPT:
        _free(block)
    else:
        first = FOR_FIRST_CHUNKS if capacity == FIRST_BLOCK else FOR_LARGE
        _give(block, first)


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

    name: str

    def __call__(self):
        define_helper(self.name)


@cache
def define_helper(name):
    llvm.add_symbol(name, machine_code(_HELPERS[name]))


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
    define_helper(helper.name)
    if _LIBRARIES_RELOAD:
        context.active_code_library._reload_init.add(DefinesHelper(helper.name))
    return helper.call(builder, *args)


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
