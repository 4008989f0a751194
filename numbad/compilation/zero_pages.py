"""Large arrays of zeros, in pages that the system gives out zero: nothing is spent on those never touched.

Numba's `np.zeros` writes to all of its memory. A gradient of a large array that a function reads a little of,
such as a table of words, is mostly zeros, and the pages of others come zero as well. As NumPy does, we ask
for large pages where there are some.
"""

import ctypes
import sys

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

# From so many bytes on memory comes from the system, and from so many in pages of two MiB where it has such.
LARGE, HUGE = 2**20, 2**22
_PAGE, _LINE = 4096, 64
_CALLOC, _FREE = "PyMem_RawCalloc", "PyMem_RawFree"
_HAS_ADVICE, _ADVISE, _HUGE_PAGES = sys.platform == "linux", "madvise", 14  # MADV_HUGEPAGE

for _name in (_CALLOC, _FREE):
    _address = ctypes.cast(getattr(ctypes.pythonapi, _name), ctypes.c_void_p).value
    llvm.add_symbol(_name, _address)

_i32, _i64, _void = ir.IntType(32), ir.IntType(64), cgutils.voidptr_t


@intrinsic
def zero_pages(typingctx, size):
    """The address of so many bytes, all zero, for `PyMem_RawFree`; 0 where there are none."""

    def codegen(context, builder, signature, arguments):
        return _zero_pages(builder, arguments[0])

    return types.intp(types.intp), codegen


@intrinsic
def is_large(typingctx, a, dtype):
    """Whether an array like another one, with elements of a type, has so many bytes."""

    def codegen(context, builder, signature, arguments):
        given = make_array(a)(context, builder, arguments[0])
        size = builder.mul(given.nitems, _i64(_bytes_of(context, dtype.dtype)))
        return builder.icmp_signed(">=", size, _i64(LARGE))

    return types.boolean(a, dtype), codegen


@intrinsic
def large_zeros(typingctx, shape, dtype):
    """`np.zeros(shape, dtype)`, which frees its pages itself."""
    ty = types.Array(dtype.dtype, len(shape), "C")

    def codegen(context, builder, signature, arguments):
        counts = cgutils.unpack_tuple(builder, arguments[0], ty.ndim)
        step = item = _i64(_bytes_of(context, ty.dtype))
        strides = []
        for count in reversed(counts):
            strides.append(step)
            step = builder.mul(step, count)
        line = _i64(_LINE)
        address = _zero_pages(builder, builder.add(step, line))
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", address, _i64(0))):
            context.call_conv.return_user_exc(builder, MemoryError, ("Allocation failed",))
        data = builder.mul(builder.udiv(builder.add(address, line), line), line)
        made = make_array(ty)(context, builder)
        populate_array(
            made,
            data=builder.inttoptr(data, made.data.type),
            shape=counts,
            strides=strides[::-1],
            itemsize=item,
            meminfo=_owner(builder, builder.inttoptr(address, _void)),
            parent=None,
        )
        return made._getvalue()

    return ty(shape, dtype), codegen


def _bytes_of(context, dtype):
    return context.get_abi_sizeof(context.get_data_type(dtype))


def _function(builder, name, returned, given):
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(returned, given), name)


def _zero_pages(builder, size):
    address = builder.call(_function(builder, _CALLOC, _i64, [_i64, _i64]), [_i64(1), size])
    if _HAS_ADVICE:
        huge = builder.icmp_signed(">=", size, _i64(HUGE))
        with builder.if_then(builder.and_(huge, builder.icmp_signed("!=", address, _i64(0)))):
            page = _i64(_PAGE)
            first = builder.mul(builder.udiv(builder.add(address, _i64(_PAGE - 1)), page), page)
            room = builder.sub(builder.add(address, size), first)
            advise = _function(builder, _ADVISE, _i32, [_i64, _i64, _i32])
            builder.call(advise, [first, room, _i32(_HUGE_PAGES)])
    return address


def _owner(builder, memory):
    """What counts references to memory and frees it: `manage_memory` of Numba's runtime."""
    free = _function(builder, _FREE, ir.VoidType(), [_void])
    api = builder.call(_function(builder, "NRT_get_api", _void.as_pointer(), []), [])
    managed = builder.load(builder.gep(api, [_i32(2)]))  # after allocate and allocate_external
    manage = builder.bitcast(managed, ir.FunctionType(_void, [_void, _void]).as_pointer())
    return builder.call(manage, [memory, builder.bitcast(free, _void)])
