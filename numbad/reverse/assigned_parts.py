"""Parts of arrays that expressions are assigned to; whether they lie apart from what these read."""

from dataclasses import dataclass

import numpy as np
from numba.core import ir, types

from ..ir.array_indices import is_basic_index
from ..ir.callee import callee_of
from ..ir.function import is_expr, operands
from .elementwise_loops import EXPRESSIONS, OPERATORS

_MAKERS = np.empty, np.zeros, np.ones, np.full, np.array, np.copy
_MAKERS += np.empty_like, np.zeros_like, np.ones_like, np.full_like


@dataclass
class Target:
    """`array[index] = value`, or `array += value` where `index` is None; `ndim` axes are assigned to."""

    array: ir.Var
    index: ir.Var | None
    value: ir.Var
    ndim: int


def target_of(fn, s):
    """The `Target` of a statement; None of another one, or of an index that shows no part."""
    if isinstance(s, ir.Assign) and is_expr(s.value, "inplace_binop"):
        ty = fn.type_of(s.value.lhs)
        is_known = isinstance(ty, types.Array) and s.value.immutable_fn in OPERATORS
        return Target(s.value.lhs, None, s.value.rhs, ty.ndim) if is_known else None
    if not isinstance(s, ir.SetItem | ir.StaticSetItem):
        return None
    index = s.index if isinstance(s, ir.SetItem) else s.index_var
    ndim = None if index is None else _ndim_of_part(fn.type_of(s.target), fn.type_of(index))
    return None if ndim is None else Target(s.target, index, s.value, ndim)


def _ndim_of_part(array, index):
    members = index.types if isinstance(index, types.BaseTuple) else (index,)
    if not isinstance(array, types.Array) or not is_basic_index(index):
        return None
    members = [types.unliteral(ty) for ty in members]
    if not all(isinstance(ty, types.Integer | types.SliceType) for ty in members):
        return None
    return array.ndim - sum(isinstance(ty, types.Integer) for ty in members)


def lies_apart(fn, array, others):
    """Whether an array was made by this function, and others are known to be none of its parts."""
    root = _root(fn, array)
    if root is None or not root[1]:
        return False
    roots = [_root(fn, other) for other in others]
    return all(other is not None and other[0] != root[0] for other in roots)


def _root(fn, var):
    """The name of the array that an array is a part of, and whether it was made here.

    None where that is not known. No other name stands for an array that was made here, but for its parts.
    """
    value = fn.definition(var)
    if var.name in fn.parameters:
        return var.name, False
    if isinstance(value, ir.Var):
        return _root(fn, value)
    is_turned = is_expr(value, "getattr") and value.attr == "T"
    if is_turned or is_expr(value, "getitem", "static_getitem", "cast"):
        whole = value.value
    elif is_expr(value, "inplace_binop"):
        whole = value.lhs
    else:
        return (var.name, True) if _is_made(fn, value) else None
    return _root(fn, whole) if _is_array(fn, whole) else None


def _is_made(fn, value):
    """Whether an expression makes a new array."""
    if is_expr(value, "binop", "unary"):
        tys = [types.unliteral(fn.type_of(v)) for v in operands(value)]
        return all(isinstance(ty, types.Array | types.Number) for ty in tys)
    if not is_expr(value, "call"):
        return False
    if fn.constant(value.func) in EXPRESSIONS:
        return True
    callee = callee_of(fn, value)
    if callee.kind == "method":
        return callee.key == "copy" and _is_array(fn, callee.owner)
    return callee.kind == "function" and any(callee.key is maker for maker in _MAKERS)


def _is_array(fn, var):
    return isinstance(fn.type_of(var), types.Array)
