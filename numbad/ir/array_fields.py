"""Arrays that are assigned to fields of records: their elements are set, one by one."""

from functools import cache

import numpy as np
from numba import njit
from numba.core import ir, types

from ..source import define
from .sequences import call_helper

_LINES = """
    view = record[{name!r}]
    if view.shape != values.shape:
        raise ValueError("the array and the field that it is assigned to have different shapes")
    for k in np.ndindex(view.shape):
        view[k] = values[k]
"""


@cache
def _put(name):
    """`record[name][...] = values`."""
    return njit(define(f"def put_elements(record, values):{_LINES.format(name=name)}", {"np": np}))


def put_arrays(fn):
    """`r["x"] = values`, where the field is an array, becomes a call that reverse mode goes through."""
    for block in fn.blocks.values():
        for s in list(block.body):
            name = _array_field(fn, s)
            if name is not None:
                made, at = [], block.body.index(s)
                call_helper(fn, _put(name), [s.target, s.value], made, s.loc)
                block.body[at : at + 1] = made
                fn.changed()


def _array_field(fn, s):
    """The name of the field that an array is assigned to, or None."""
    if not isinstance(s, ir.StaticSetItem) or not isinstance(s.index, str):
        return None
    record, value = fn.type_of(s.target), fn.type_of(s.value)
    field = record.fields[s.index].type if isinstance(record, types.Record) else None
    fits = isinstance(field, types.NestedArray) and isinstance(value, types.Array)
    return s.index if fits and field.ndim == value.ndim else None
