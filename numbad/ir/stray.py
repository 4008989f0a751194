"""The check of one index of an array, and its error."""

import ctypes

import llvmlite.binding as llvm
from llvmlite import ir as ll
from numba.core import cgutils, types

from ..errors import BoundsError

SYMBOL = "numbad_stray_index"
_last = (ctypes.c_int64 * 2)()  # the index and the size that the last BoundsError is of
llvm.add_symbol(SYMBOL, ctypes.addressof(_last))
BoundsError.last = _last
_i64 = ll.IntType(64)


def refuse_stray(context, builder, access, index_type, index, where, wanted=None):
    """Emit the error for an index that is not within bounds, where `wanted` holds.

    `access` is the type and the value of the array, the axis (None where all elements are numbered, as by
    `a.flat`), and whether the index is known not to be negative; `where` is the end of the message.
    """
    array, value, axis, natural = access
    made = cgutils.create_struct_proxy(array)(context, builder, value)
    size = made.nitems if axis is None else builder.extract_value(made.shape, axis)
    index = wrapped = context.cast(builder, index, index_type, types.intp)
    if not natural:
        negative = builder.icmp_signed("<", index, index.type(0))
        wrapped = builder.select(negative, builder.add(index, size), index)
    stray = builder.icmp_unsigned(">=", wrapped, size)
    stray = stray if wanted is None else builder.and_(stray, wanted)
    with cgutils.if_unlikely(builder, stray):
        _note(builder, index, size)
        part = "an array" if axis is None else f"axis {axis}"
        message = f"index {{index}} is out of bounds for {part} with size {{size}}, {where}"
        context.call_conv.return_user_exc(builder, BoundsError, (message,))


def _note(builder, *words):
    """Keep the words that the message is made with."""
    first = builder.module.globals.get(SYMBOL)
    first = cgutils.add_global_variable(builder.module, _i64, SYMBOL) if first is None else first
    for k, word in enumerate(words):
        builder.store(word, builder.gep(first, [_i64(k)]))
