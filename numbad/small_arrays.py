"""Small arrays that compiled code returns to Python, as arrays of NumPy's own.

Numba hands its memory over: a Python object owns it, and is the base of the array, which together takes
some 0.3 microseconds. Memory that NumPy allocates, and a copy, take a fifth of that.
"""

import ctypes
from contextlib import contextmanager

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, pythonapi, types
from numba.core.boxing import box_array
from numba.np import numpy_support

LARGEST = 2048
"""Bytes of an array up to which it is copied."""

_NEW, _TYPE = "numbad_new_array", "numbad_array_type"
_TABLE = {_NEW: 94, _TYPE: 2}  # places in NumPy's table of functions, fixed by its binary interface
_INT, _POINTER = ir.IntType(32), cgutils.voidptr_t


def _announce():
    """Let compiled code call NumPy's PyArray_NewFromDescr."""
    core = getattr(np, "_core", None) or np.core
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(core._multiarray_umath._ARRAY_API, None)
    table = ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))
    for name, place in _TABLE.items():
        llvm.add_symbol(name, table[place])


_announce()
_copying = [False]


@contextmanager
def copied():
    """Within the block, entry points for Python are written that copy small arrays."""
    before, _copying[0] = _copying[0], True
    try:
        yield
    finally:
        _copying[0] = before


def _box(ty, value, c):
    """An array as a Python object, as Numba makes it, but for a small one that nothing else refers to."""
    if not (_copying[0] and _is_plain(ty)):
        return box_array(ty, value, c)
    array = c.context.make_array(ty)(c.context, c.builder, value=value)
    found = cgutils.alloca_once(c.builder, c.pyapi.pyobj)
    with c.builder.if_else(_is_small_and_alone(c, array)) as (then, otherwise):
        with then:
            c.builder.store(_copy(ty, value, array, c), found)
        with otherwise:
            c.builder.store(box_array(ty, value, c), found)
    return c.builder.load(found)


def _is_plain(ty):
    plain = type(ty) is types.Array and ty.layout == "C" and ty.mutable and ty.aligned
    return plain and ty.ndim > 0 and isinstance(ty.dtype, types.Number | types.Boolean)


def _is_small_and_alone(c, array):
    """Whether it has its memory to itself: the first word of a record of Numba's counts references."""
    builder = c.builder
    small = builder.icmp_unsigned("<=", _bytes(c, array), array.nitems.type(LARGEST))
    own = builder.and_(
        cgutils.is_null(builder, array.parent), cgutils.is_not_null(builder, array.meminfo)
    )
    asked = builder.and_(small, own)
    before = builder.block
    with builder.if_then(asked):
        word = ir.IntType(64)
        count = builder.load(builder.bitcast(array.meminfo, word.as_pointer()))
        alone, within = builder.icmp_unsigned("==", count, word(1)), builder.block
    result = builder.phi(ir.IntType(1))
    result.add_incoming(ir.Constant(ir.IntType(1), 0), before)
    result.add_incoming(alone, within)
    return result


def _bytes(c, array):
    return c.builder.mul(array.nitems, array.itemsize)


def _copy(ty, value, array, c):
    """A new array of NumPy's with what is in this one, whose memory is freed."""
    builder, pyobj = c.builder, c.pyapi.pyobj
    dtype = c.env_manager.read_const(c.env_manager.add_const(numpy_support.as_dtype(ty.dtype)))
    c.pyapi.incref(dtype)  # the call takes it over
    shape = cgutils.alloca_once_value(builder, array.shape)
    kinds = [_POINTER, pyobj, _INT, _POINTER, _POINTER, _POINTER, _INT, pyobj]
    new = cgutils.get_or_insert_function(builder.module, ir.FunctionType(pyobj, kinds), _NEW)
    null = _POINTER(None)
    dims = builder.bitcast(shape, _POINTER)
    given = [array_type(builder), dtype, _INT(ty.ndim), dims, null, null, _INT(0)]
    made = builder.call(new, [*given, pyobj(None)])
    with builder.if_then(cgutils.is_not_null(builder, made), likely=True):
        cgutils.raw_memcpy(builder, _data(builder, made), array.data, _bytes(c, array), 1)
    c.context.nrt.decref(builder, ty, value)
    return made


def array_type(builder):
    """The address of NumPy's class of arrays."""
    known = builder.module.globals.get(_TYPE)
    kind = known or ir.GlobalVariable(builder.module, ir.IntType(8), _TYPE)
    return builder.bitcast(kind, _POINTER)


def _data(builder, made):
    """Where an array of NumPy's has its numbers: the first field after those of every Python object."""
    fields = builder.bitcast(made, _POINTER.as_pointer())
    place = ir.IntType(64)(object.__basicsize__ // 8)
    return builder.load(builder.gep(fields, [place]))


pythonapi._boxers.functions[types.Array] = _box
