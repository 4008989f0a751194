"""Masked arrays: NaN where they mask data, refused where Python code calls compiled code.

Numba refuses them as it looks for their type. Its C code, which knows the types of earlier calls, takes
them for plain arrays, and what they mask for numbers. So does `np.asarray`.
"""

from contextlib import contextmanager

import numpy as np
from llvmlite import ir
from numba.core import cgutils, pythonapi, types
from numba.core.boxing import unbox_array

from .errors import ArgumentError
from .small_arrays import array_type

MESSAGE = (
    "an argument is a masked array, or holds one, and compiled code does not see masks: pass .filled(...) of "
    "it, or its .data and its .mask"
)
_refusing = [False]


def nan_where_masked(values):
    """A masked array as a plain one of floats, NaN where it masks; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray) or values.dtype.kind not in "biuf":
        return values
    return values.astype(np.float64).filled(np.nan)


def refuse_masked(values):
    """Raise ArgumentError for a masked array."""
    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentError(MESSAGE)


@contextmanager
def refused():
    """Within the block, entry points for Python are written that refuse masked arrays."""
    before, _refusing[0] = _refusing[0], True
    try:
        yield
    finally:
        _refusing[0] = before


def _unbox(ty, given, c):
    """An array from Python, as Numba takes it; one of a subclass only where it has no mask."""
    if not _refusing[0]:
        return unbox_array(ty, given, c)
    builder, kind = c.builder, c.context.get_value_type(ty)
    found = cgutils.alloca_once_value(builder, ir.Constant(kind, None))
    failed = cgutils.alloca_once_value(builder, cgutils.true_bit)
    with builder.if_else(_is_masked(c, given), likely=False) as (refuse, otherwise):
        with refuse, _constant(c, ArgumentError) as error:
            c.pyapi.err_set_string(error, MESSAGE)
        with otherwise:
            taken = unbox_array(ty, given, c)
            builder.store(taken.value, found)
            builder.store(taken.is_error, failed)
    return pythonapi.NativeValue(builder.load(found), is_error=builder.load(failed))


def _is_masked(c, given):
    """Whether an object is a masked array; NumPy's own arrays are known by their class."""
    builder, masked = c.builder, cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    subclass = builder.icmp_unsigned("!=", _class(builder, given), array_type(builder))
    with builder.if_then(subclass, likely=False):
        builder.store(_is_instance(c, given, np.ma.MaskedArray), masked)
    return builder.load(masked)


def _is_instance(c, given, kind):
    known = ir.FunctionType(ir.IntType(32), [c.pyapi.pyobj, c.pyapi.pyobj])
    ask = cgutils.get_or_insert_function(c.builder.module, known, "PyObject_IsInstance")
    with _constant(c, kind) as kind:
        answer = c.builder.call(ask, [given, kind])
    return c.builder.icmp_signed("!=", answer, answer.type(0))


@contextmanager
def _constant(c, value):
    """An object that compiled code holds within the block."""
    found = c.pyapi.unserialize(c.pyapi.serialize_object(value))
    yield found
    c.pyapi.decref(found)


def _class(builder, given):
    """The class of an object: the last field that every object has."""
    fields = builder.bitcast(given, cgutils.voidptr_t.as_pointer())
    return builder.load(builder.gep(fields, [ir.IntType(64)(object.__basicsize__ // 8 - 1)]))


pythonapi._unboxers.functions[types.Array] = _unbox
