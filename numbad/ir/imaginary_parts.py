"""Writes to slices of imaginary parts: their adjoints need no array beside that of the whole array."""

import numpy as np
from numba import njit
from numba.core import ir, types

from .function import is_expr
from .rewrite import items_of_parts
from .sequences import call_helper


@njit
def _put_number(z, index, value):
    view = z[index]
    for k in np.ndindex(view.shape):
        view[k] = complex(view[k].real, value)


@njit
def _put_array(z, index, values):
    """The values are copied first, as they may lie in `z`."""
    view = z[index]
    given = np.broadcast_to(values.copy(), view.shape)
    for k in np.ndindex(view.shape):
        view[k] = complex(view[k].real, given[k])


def put_imaginary(fn):
    """`z.imag[a:b] = v` sets the numbers of `z[a:b]`; loops that others wrote out set single numbers."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            new = _put(fn, s) if isinstance(s, ir.SetItem | ir.StaticSetItem) else None
            body += new or items_of_parts(fn, s)
        block.body = body
    fn.changed()


def _put(fn, s):
    """The statements that do the same with the array; None where `s` is no such write."""
    part, index = fn.definition(s.target), s.index if isinstance(s, ir.SetItem) else s.index_var
    if not is_expr(part, "getattr") or part.attr != "imag" or index is None:
        return None
    ty, kinds = fn.type_of(part.value), _kinds(types.unliteral(fn.type_of(index)))
    if not isinstance(ty, types.Array) or not isinstance(ty.dtype, types.Complex):
        return None
    numbers = sum(isinstance(kind, types.Integer) for kind in kinds)
    slices = sum(isinstance(kind, types.SliceType) for kind in kinds)
    if numbers == ty.ndim or numbers + slices < len(kinds):
        return None
    made = []
    put = _put_array if isinstance(fn.type_of(s.value), types.Array) else _put_number
    call_helper(fn, put, [part.value, index, s.value], made, s.loc)
    return made


def _kinds(ty):
    return tuple(ty) if isinstance(ty, types.BaseTuple) else (ty,)
