"""Tells for every statement which `Op` it is."""

import operator

from numba.core import ir, types

from ...ir.array_indices import is_basic_index
from ...ir.function import unary_function
from ...ir.leaves import leaves
from ...rules.registry import CONSTANT
from . import list_changes, lists, moves, objects, records
from .array import Load, Store, View, is_element_index
from .base import Constant, Unknown, without_floats, without_floats_in
from .by_name import ATTRIBUTES, FUNCTIONS
from .classify_calls import classify_call
from .globals import GlobalHandle
from .scalar_function import INPLACE, ScalarOp, has_rule, is_scalar


def classify(fn, label, statement):
    """The `Op` of a statement of a normalised `Function`."""
    if isinstance(statement, ir.Assign):
        return _assign(fn, label, statement)
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        return _set_item(fn, label, statement)
    if isinstance(statement, ir.SetAttr):
        of_record = isinstance(fn.type_of(statement.target), types.Record)
        return (records if of_record else objects).set_attribute(fn, label, statement)
    if isinstance(
        statement, ir.Print | ir.Jump | ir.Branch | ir.Return | ir.Raise | ir.StaticRaise
    ):
        return Constant(fn, label, statement)
    if isinstance(statement, ir.DelItem):
        return list_changes.delete_item(fn, label, statement)
    if isinstance(statement, ir.DynamicRaise):
        return Constant(fn, label, statement)
    return Unknown(fn, label, statement)


def _assign(fn, label, s):
    value = s.value
    if isinstance(value, ir.Var):
        return moves.Copy(fn, label, s)
    if not isinstance(value, ir.Expr):
        handles = any(leaf.kind != "scalar" for leaf in leaves(fn.type_of(s.target)))
        return (GlobalHandle if handles else Constant)(fn, label, s)
    if value.op == "call":
        return classify_call(fn, label, s, value)
    if value.op in _EXPRESSIONS:
        return _EXPRESSIONS[value.op](fn, label, s, value)
    if without_floats(fn, s):
        return Constant(fn, label, s)
    return Unknown(fn, label, s)


def _phi(fn, label, s, value):
    return moves.Phi(fn, label, s)


def _cast(fn, label, s, value):
    return moves.Copy(fn, label, s)


def _exhaust(fn, label, s, value):
    kind = moves.Copy if moves.is_tuple(fn.type_of(value.value)) else Unknown
    return kind(fn, label, s)


def _build_tuple(fn, label, s, value):
    return moves.BuildTuple(fn, label, s, value.items)


def _static_getitem(fn, label, s, value):
    ty = fn.type_of(value.value)
    if moves.is_tuple(ty):
        return moves.TupleItem(fn, label, s, value.value, value.index)
    return _array_item(fn, label, s, value, _static_index_type(fn, value))


def _static_index_type(fn, value):
    """The type of a static index, whose variable is sometimes gone."""
    if value.index_var is not None and fn.type_of(value.index_var) is not None:
        return fn.type_of(value.index_var)
    return types.intp if isinstance(value.index, int) else types.none


def _getitem(fn, label, s, value):
    ty = fn.type_of(value.value)
    if moves.is_tuple(ty):
        constant = fn.constant(value.index)
        if isinstance(constant, int):
            return moves.TupleItem(fn, label, s, value.value, constant)
        return moves.TupleIndex(fn, label, s)
    return _array_item(fn, label, s, value, fn.type_of(value.index))


def _array_item(fn, label, s, value, index):
    ty = fn.type_of(value.value)
    if lists.is_list(ty):
        return lists.list_item(fn, label, s, value, index)
    found = FUNCTIONS.get(("getitem", type(ty)))
    if found:
        return found(fn, label, s, value, index)
    if fn.is_type(s.target):
        return Constant(fn, label, s)
    if not isinstance(ty, types.Array):
        return Constant(fn, label, s) if without_floats(fn, s) else Unknown(fn, label, s)
    if not leaves(ty):
        return Constant(fn, label, s)
    op = records.array_item(fn, label, s, value, index) if records.has_records(ty) else None
    if op is not None:
        return op
    if is_element_index(index, ty.ndim):
        return Load(fn, label, s)
    if is_basic_index(index):
        return View(fn, label, s, value.value)
    return FUNCTIONS["fancy"](fn, label, s)


def _set_item(fn, label, s):
    ty = fn.type_of(s.target)
    index = _static_index_type(fn, s) if isinstance(s, ir.StaticSetItem) else fn.type_of(s.index)
    if lists.is_list(ty):
        return lists.set_list_item(fn, label, s, index)
    found = FUNCTIONS.get(("setitem", type(ty)))
    if found:
        return found(fn, label, s, index)
    if not leaves(ty):
        floats = leaves(fn.type_of(s.value))
        return (
            Unknown(fn, label, s)
            if floats and not isinstance(ty, types.Array)
            else Constant(fn, label, s)
        )
    if not isinstance(ty, types.Array):
        return Unknown(fn, label, s)
    op = records.set_array_item(fn, label, s, index) if records.has_records(ty) else None
    if op is not None:
        return op
    if is_element_index(index, ty.ndim):
        return Store(fn, label, s)
    return FUNCTIONS["assign"](fn, label, s, index)


def _getattr(fn, label, s, value):
    ty = fn.type_of(value.value)
    if objects.is_object(ty):
        return objects.get_attribute(fn, label, s, value)
    if isinstance(ty, types.Record) or records.has_records(ty):
        op = records.get_attribute(fn, label, s, value)
        if op is not None:
            return op
    if not leaves(fn.type_of(s.target)) or isinstance(ty, types.Module | None):
        return Constant(fn, label, s)
    if isinstance(ty, types.BaseNamedTuple):
        return moves.TupleItem(fn, label, s, value.value, ty.fields.index(value.attr))
    found = ATTRIBUTES.get(value.attr)
    op = found(fn, label, s, value, ty) if found else None
    if op is None and without_floats_in(fn, value):
        return Constant(fn, label, s)
    return op or Unknown(fn, label, s)


def _binary(fn, label, s, value):
    function = value.fn if value.op == "binop" else INPLACE.get(value.fn, value.immutable_fn)
    return _operator(fn, label, s, function, [value.lhs, value.rhs], value)


def _unary(fn, label, s, value):
    return _operator(fn, label, s, unary_function(value), [value.value], value)


def _operator(fn, label, s, function, arguments, value):
    if objects.instance_type(fn.type_of(arguments[0])):
        op = objects.operation(fn, label, s, function, arguments, value)
        if op is not None:
            return op
    if not leaves(fn.type_of(s.target)) or without_floats(fn, s):
        return Constant(fn, label, s)
    if any(lists.is_list(fn.type_of(v)) for v in arguments):
        return list_changes.operation(fn, label, s, function, arguments, value)
    if function is operator.add and all(moves.is_tuple(fn.type_of(v)) for v in arguments):
        return moves.Joined(fn, label, s, arguments)
    if all(is_scalar(fn.type_of(v)) for v in arguments):
        if function in CONSTANT:
            return Constant(fn, label, s)
        if has_rule(function):
            return ScalarOp(fn, label, s, function, arguments)
    if any(isinstance(fn.type_of(v), types.Array) for v in arguments):
        return FUNCTIONS["array operator"](fn, label, s, function, arguments, value)
    found = FUNCTIONS.get((function, type(fn.type_of(arguments[0]))))
    return found(fn, label, s, value) if found else Unknown(fn, label, s)


def _build_list(fn, label, s, value):
    op = lists.build_list(fn, label, s, value)
    if op is None:
        op = (Constant if without_floats(fn, s) else Unknown)(fn, label, s)
    return op


_EXPRESSIONS = {
    "build_list": _build_list,
    "phi": _phi,
    "cast": _cast,
    "exhaust_iter": _exhaust,
    "build_tuple": _build_tuple,
    "static_getitem": _static_getitem,
    "typed_getitem": _getitem,
    "getitem": _getitem,
    "getattr": _getattr,
    "binop": _binary,
    "inplace_binop": _binary,
    "unary": _unary,
}
