"""Memory in pages that the system gives out zero: nothing is spent on those never touched.

As NumPy does, we ask for large pages where there are some.
"""

import ctypes
import sys

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils

# From so many bytes on memory comes in pages of two MiB where the system has such.
HUGE = 2**22
_PAGE = 4096
_CALLOC, _FREE = "PyMem_RawCalloc", "PyMem_RawFree"
_HAS_ADVICE, _ADVISE, _HUGE_PAGES = sys.platform == "linux", "madvise", 14  # MADV_HUGEPAGE

for _name in (_CALLOC, _FREE):
    _address = ctypes.cast(getattr(ctypes.pythonapi, _name), ctypes.c_void_p).value
    llvm.add_symbol(_name, _address)

_i32, _i64, _void = ir.IntType(32), ir.IntType(64), cgutils.voidptr_t


def _function(builder, name, returned, given):
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(returned, given), name)


def emit_zero_pages(builder, size):
    """The address of so many bytes, all zero, for `PyMem_RawFree`; 0 where there are none."""
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


def emit_owner(builder, memory):
    """What counts references to such memory and frees it: `manage_memory` of Numba's runtime."""
    free = _function(builder, _FREE, ir.VoidType(), [_void])
    api = builder.call(_function(builder, "NRT_get_api", _void.as_pointer(), []), [])
    managed = builder.load(builder.gep(api, [_i32(2)]))  # after allocate and allocate_external
    manage = builder.bitcast(managed, ir.FunctionType(_void, [_void, _void]).as_pointer())
    return builder.call(manage, [memory, builder.bitcast(free, _void)])
