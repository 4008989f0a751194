"""What is the same in all lanes, and what must be, for lanes to go through the code together."""

import random

import numpy as np
from numba.core import ir, types

from ..errors import UnsupportedError
from ..ir.callee import callee_of
from ..ir.capture import capture
from ..ir.fence import place
from ..ir.function import is_expr, is_phi, read_by
from .arrays import makes_array, same_memory
from .varying import anywhere

SHAPES = {"shape", "size", "ndim"}
_OF_BYTES = {"itemsize", "nbytes", "strides", "ctypes", "data", "flags"}
ONE_BY_ONE = "leave `lanes` out, for an evaluation one by one"
WAY_OUT = f"write it so that all lanes take the same way, or {ONE_BY_ONE}"

_WRITES = ir.SetItem | ir.StaticSetItem
_OF_LANES = _WRITES | ir.Jump | ir.Branch | ir.Return
_DRAWING = np.random.RandomState, random.Random
_HELPERS = "numbad.ir", "numbad.reverse", "numba."


def refuse(what, loc, way_out=ONE_BY_ONE):
    """The UnsupportedError for code that cannot run for several lanes at once."""
    return UnsupportedError(
        f"several lanes cannot run {what} together: {place(loc)}\nWay out: {way_out}."
    )


def find_varying(fn, parameters):
    """The names whose values may differ from lane to lane, and of arrays that such are written to."""
    varying = set(parameters)
    while True:
        before = len(varying)
        for _, s in fn.statements():
            if isinstance(s, _WRITES) and {s.target.name, s.value.name} & varying:
                varying |= same_memory(fn, s.target.name)
            if not isinstance(s, ir.Assign) or _is_same_in_all(fn, s.value):
                continue
            if any(v.name in varying for v in read_by(s)):
                varying.add(s.target.name)
            if s.target.name in varying and is_phi(s):
                varying |= same_memory(fn, s.target.name)
        if len(varying) == before:
            return varying


def _is_same_in_all(fn, value):
    """Whether a right-hand side tells of an array, or of a mask, what is the same in all lanes."""
    if is_expr(value, "getattr"):
        return isinstance(fn.type_of(value.value), types.Array) and value.attr in SHAPES
    return is_expr(value, "call") and fn.constant(value.func) in (len, anywhere)


def refuse_what_counts(fn, s, varying):
    """Raise UnsupportedError where it matters whether a statement runs once for all lanes."""
    value = getattr(s, "value", None)
    if isinstance(s, ir.Print) or _recurs(fn, s):
        raise refuse("this statement", s.loc)
    if is_expr(value, "getattr") and value.attr in _OF_BYTES:
        raise refuse("code that asks where an array lies in memory", s.loc)
    if is_expr(value, "call") and not _is_known(fn, value):
        shared = not any(v.name in varying for v in read_by(s))
        if not (shared and is_repeatable(fn, value)):
            raise refuse("this call", s.loc)


def _recurs(fn, s):
    return isinstance(s, ir.Assign) and s.target.name in fn.recursive


def _is_known(fn, call):
    """Whether a call is of code that is the same for one lane and for all."""
    callee, made = callee_of(fn, call), fn.constant(call.func)
    if isinstance(made, type) and issubclass(made, Exception):
        return True  # where only some lanes raise it, their branch is refused
    if callee.kind == "function":
        draws = isinstance(getattr(callee.key, "__self__", None), _DRAWING)
        return not draws and callee.key is not print
    if callee.kind == "method":
        return isinstance(fn.type_of(callee.owner), types.Array | types.BaseTuple)
    if callee.kind == "class":
        return isinstance(callee.key, type) and issubclass(callee.key, tuple)
    own = callee.kind == "dispatcher" and callee.key.py_func.__module__
    return bool(own) and own.startswith(_HELPERS)


def is_repeatable(fn, call):
    """Whether a call of what all lanes share may run once for them all: it draws and prints nothing."""
    callee = callee_of(fn, call)
    if callee.kind != "dispatcher" or call not in fn.calls:
        return False
    return _is_silent(callee.key, fn.calls[call].args, set())


def _is_silent(dispatcher, tys, seen):
    """Whether the code of a function, and what it calls, is known to draw and print nothing."""
    if (dispatcher, tys) in seen:
        return True
    seen.add((dispatcher, tys))
    fn = capture(dispatcher, tys)
    for _, s in fn.statements():
        value = getattr(s, "value", None)
        if isinstance(s, ir.Print):
            return False
        if is_expr(value, "call"):
            callee = callee_of(fn, value)
            if callee.kind != "dispatcher":
                known = _is_known(fn, value)
            else:
                known = value in fn.calls and _is_silent(callee.key, fn.calls[value].args, seen)
            if not known:
                return False
    return True


def refuse_writes(fn, parameters, varying):
    """Raise UnsupportedError for what lanes are written to, where there is no place for them."""
    for _, s in fn.statements():
        if isinstance(s, ir.Assign):
            _refuse_memory(fn, s, parameters, varying)
        elif isinstance(s, ir.SetItem) and s.index.name in varying:
            raise refuse("a write at an index that differs from lane to lane", s.loc)
        elif not isinstance(s, _OF_LANES) and any(v.name in varying for v in read_by(s)):
            raise refuse("this statement", s.loc)


def _refuse_memory(fn, s, parameters, varying):
    """Of arrays, those alone can hold lanes that `np.empty` and the like make, and what is made of lanes."""
    ty, value = fn.type_of(s.target), s.value
    if s.target.name not in {*varying} - {*parameters} or not isinstance(ty, types.Array):
        return
    if makes_array(fn, value):
        known = isinstance(ty.dtype, types.Float)
    else:
        known = any(v.name in varying for v in read_by(s))
    if not known:
        raise refuse(f"what is written to this array of {ty.dtype}", s.loc)
