"""Moves what fetches arrays, and what asks for shapes, in front of loops: `data.x`, `x.T`, `len(x)`."""

from numba.core import ir, types

from .function import is_expr, operands
from .loops import Control

_MEMBERS = "getattr", "static_getitem", "exhaust_iter"
_OF_ARRAYS = "T", "shape", "size", "ndim"


def hoist_members(fn):
    """Fetch members of tuples, constants, transposes and shapes before outermost loops of a `Function`."""
    for loop in Control(fn).loops.values():
        if loop.parent is None and len(loop.entries) == 1:
            _hoist(fn, loop, fn.blocks[loop.entries[0]])


def _hoist(fn, loop, before):
    inside = {
        s.target.name
        for label in loop.body
        for s in fn.blocks[label].body
        if isinstance(s, ir.Assign)
    }
    found = True
    while found:  # a member may be one of a member
        found = []
        for label in loop.body:
            can_move = [_can_move(fn, s, inside) for s in fn.blocks[label].body]
            pairs = list(zip(fn.blocks[label].body, can_move, strict=True))
            fn.blocks[label].body = [s for s, moves in pairs if not moves]
            found += [s for s, moves in pairs if moves]
        inside -= {s.target.name for s in found}
        before.body[-1:-1] = found
    fn.changed()


def _can_move(fn, s, inside):
    value = getattr(s, "value", None)
    if not isinstance(s, ir.Assign) or any(v.name in inside for v in operands(value)):
        return False
    if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
        return True
    if is_expr(value, "call"):
        counted = value.args and isinstance(fn.type_of(value.args[0]), types.Array)
        return bool(counted) and fn.constant(value.func) is len
    if not is_expr(value, *_MEMBERS):
        return False
    owner = fn.type_of(value.value)
    told = isinstance(owner, types.Array) and value.op == "getattr" and value.attr in _OF_ARRAYS
    return told or isinstance(owner, types.BaseTuple | types.Module)
