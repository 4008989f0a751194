"""What is the same in all lanes, and what must be, for lanes to go through the code together."""

import random

import numpy as np
from numba.core import ir, types

from ..errors import UnsupportedError
from ..ir.callee import callee_of
from ..ir.fence import place
from ..ir.function import is_expr, read_by

_SHAPES = {"shape", "size", "ndim"}
_OF_BYTES = {"itemsize", "nbytes", "strides", "ctypes", "data", "flags"}
ONE_BY_ONE = "leave `lanes` out, for an evaluation one by one"
WAY_OUT = f"write it so that all lanes take the same way, or {ONE_BY_ONE}"

_DRAWING = np.random.RandomState, random.Random
_HELPERS = "numbad.ir", "numbad.reverse", "numba."


def refuse(what, loc, way_out=ONE_BY_ONE):
    """The UnsupportedError for code that cannot run for several lanes at once."""
    return UnsupportedError(
        f"several lanes cannot run {what} together: {place(loc)}\nWay out: {way_out}."
    )


def find_varying(fn, parameters):
    """The names whose values may differ from lane to lane."""
    varying = set(parameters)
    while True:
        before = len(varying)
        for _, s in fn.statements():
            if not isinstance(s, ir.Assign) or _is_of_shape(fn, s.value):
                continue
            if any(v.name in varying for v in read_by(s)):
                varying.add(s.target.name)
        if len(varying) == before:
            return varying


def _is_of_shape(fn, value):
    """Whether a right-hand side tells of an array what is the same in all lanes."""
    if is_expr(value, "getattr"):
        return isinstance(fn.type_of(value.value), types.Array) and value.attr in _SHAPES
    return is_expr(value, "call") and fn.constant(value.func) is len


def refuse_what_counts(fn, s):
    """Raise UnsupportedError where it matters whether a statement runs once for all lanes."""
    value = getattr(s, "value", None)
    if isinstance(s, ir.Print) or _recurs(fn, s):
        raise refuse("this statement", s.loc)
    if is_expr(value, "getattr") and value.attr in _OF_BYTES:
        raise refuse("code that asks where an array lies in memory", s.loc)
    if is_expr(value, "call") and not _is_known(fn, value):
        raise refuse("this call", s.loc)


def _recurs(fn, s):
    return isinstance(s, ir.Assign) and s.target.name in fn.recursive


def _is_known(fn, call):
    """Whether a call is of code that is the same for one lane and for all."""
    callee = callee_of(fn, call)
    if callee.kind == "function":
        draws = isinstance(getattr(callee.key, "__self__", None), _DRAWING)
        return not draws and callee.key is not print
    if callee.kind == "method":
        return isinstance(fn.type_of(callee.owner), types.Array | types.BaseTuple)
    if callee.kind == "class":
        return isinstance(callee.key, type) and issubclass(callee.key, tuple)
    own = callee.kind == "dispatcher" and callee.key.py_func.__module__
    return bool(own) and own.startswith(_HELPERS)


def refuse_writes(fn, varying):
    for _, s in fn.statements():
        if isinstance(s, ir.Assign | ir.Jump | ir.Branch | ir.Return):
            continue
        if any(v.name in varying for v in read_by(s)):
            raise refuse("a write of a value that differs from lane to lane", s.loc)
