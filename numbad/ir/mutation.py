"""Whether a loop may change the length of a list that it goes through."""

from numba.core import ir, types
from numba.core.ir_utils import compute_cfg_from_blocks

from .callee import callee_of, only_reads
from .function import is_expr
from .leaves import fields_of

_CHANGING = {"append", "clear", "extend", "insert", "pop", "remove"}
_LISTS = types.List, types.ListType


def may_change_lists(fn, header):
    """Whether the loop with this header has a statement that may make a list longer or shorter."""
    loop = compute_cfg_from_blocks(fn.blocks).loops().get(header)
    body = loop.body if loop else ()
    return any(_may_change(fn, s) for label in body for s in fn.blocks[label].body)


def _may_change(fn, s):
    if isinstance(s, ir.DelItem):
        return _reaches_list(fn.type_of(s.target))
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        by_slice = isinstance(s, ir.StaticSetItem) and isinstance(s.index, slice)
        by_slice = by_slice or isinstance(
            fn.type_of(getattr(s, "index_var", None) or s.index), types.SliceType
        )
        return by_slice and isinstance(fn.type_of(s.target), _LISTS)
    if isinstance(s, ir.SetAttr):  # a property may do anything
        return isinstance(fn.type_of(s.target), types.ClassInstanceType)
    value = getattr(s, "value", None)
    if is_expr(value, "inplace_binop"):
        return isinstance(fn.type_of(value.lhs), _LISTS)
    if is_expr(value, "getattr"):
        ty = fn.type_of(value.value)
        if isinstance(ty, types.StructRef):
            return value.attr not in ty.field_dict
        return isinstance(ty, types.ClassInstanceType) and value.attr in ty.jit_props
    return is_expr(value, "call") and _call_may_change(fn, value)


def _call_may_change(fn, call):
    callee = callee_of(fn, call)
    if callee.kind == "method" and isinstance(fn.type_of(callee.owner), _LISTS):
        return callee.key in _CHANGING
    if callee.kind == "function" and only_reads(callee.key):
        return False
    given = [*call.args, *(v for _, v in call.kws)]
    given += [v for v in (callee.owner, call.vararg) if v is not None]
    return any(_reaches_list(fn.type_of(v)) for v in given)


def _reaches_list(ty):
    """Whether a value is or holds a list, as far as can be seen."""
    if isinstance(ty, types.Optional):
        return _reaches_list(ty.type)
    if isinstance(ty, types.BaseTuple):
        return any(map(_reaches_list, ty.types))
    return isinstance(ty, (*_LISTS, types.DeferredType)) or fields_of(ty) is not None
