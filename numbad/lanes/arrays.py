"""Arrays that a function makes and writes lanes to: each element is a vector, one number a lane."""

import numpy as np
from numba.core import ir, types
from numba.core.typing import signature

from ..ir.function import is_expr
from .varying import Varying

_BEFORE_DTYPE = {
    **dict.fromkeys([np.empty, np.zeros, np.ones], ("shape",)),
    **dict.fromkeys([np.empty_like, np.zeros_like, np.ones_like], ("prototype",)),
    np.full: ("shape", "fill_value"),
    np.full_like: ("a", "fill_value"),
}
_VIEWS = "getitem", "static_getitem", "cast"


def same_memory(fn, name):
    """The names of arrays that an array's memory was handed on from, its own among them."""
    found, pending = set(), [name]
    while pending:
        name = pending.pop()
        if name not in found and isinstance(fn.type_of(name), types.Array):
            found.add(name)
            pending += _handed_on(fn, fn.definition(name))
    return found


def _handed_on(fn, value):
    """The names that a right-hand side, an array, is or is a view of."""
    if isinstance(value, ir.Var):
        return [value.name]
    if is_expr(value, "phi"):
        return [v.name for v in value.incoming_values if v is not ir.UNDEFINED]
    if is_expr(value, *_VIEWS) or (is_expr(value, "getattr") and value.attr == "T"):
        made = fn.origin(value.value)
        if is_expr(made, "build_tuple") and is_expr(value, "static_getitem"):
            return [made.items[value.index].name]
        return [value.value.name]
    return []


def makes_array(fn, value):
    """Whether a right-hand side is a call of `np.empty` or the like, which can be told a dtype."""
    function = is_expr(value, "call") and fn.constant(value.func)
    return any(function is known for known in _BEFORE_DTYPE)


def hold_lanes(fn, varying, lanes):
    """Give the arrays among `varying` that the function makes elements of `lanes` numbers, in place."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            made = isinstance(s, ir.Assign) and makes_array(fn, s.value)
            body += _of_lanes(fn, s, lanes) if made and s.target.name in varying else [s]
        block.body = body
    fn.changed()


def _of_lanes(fn, s, lanes):
    """The statement that makes an array, with the type of its elements written out."""
    call, ty = s.value, fn.type_of(s.target)
    names, named = _BEFORE_DTYPE[fn.constant(call.func)], dict(call.kws)
    given = [*call.args[: len(names)], *(named[name] for name in names[len(call.args) :])]
    dtype = fn.fresh("$of_lanes", types.DType(ty.dtype), s.loc)
    made = ir.Expr.call(call.func, [*given, dtype], (), s.loc)
    fn.calls[made] = signature(ty, *map(fn.type_of, [*given, dtype]))
    element = Varying(ty.dtype, lanes)
    return [
        ir.Assign(ir.Global("lanes", element, s.loc), dtype, s.loc),
        ir.Assign(made, s.target, s.loc),
    ]
