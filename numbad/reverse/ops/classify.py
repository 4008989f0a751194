"""Tells for every statement which `Op` it is."""

import operator
import random
import types as python_types

import numpy as np
from numba.core import ir, types

from ...forward.array import as_dual
from ...ir.callee import callee_of, implementation
from ...ir.fence import refuse
from ...ir.function import operands
from ...ir.leaves import leaves
from ...rules.registry import CONSTANT, JVP, STOPPING, VJP, name_of
from . import list_changes, list_helpers, lists, objects, records, structure
from .array import Fresh, Load, Store, View, is_basic_index, is_element_index
from .base import Constant, Op, Unknown
from .call import Call, Pure, StopGradient
from .pulled import Custom, Pulled
from .recursive import Recursive
from .scalar import INPLACE, Scalar, has_rule, is_scalar
from .special import ATTRIBUTES, FUNCTIONS, METHODS, READING_METHODS


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


class GlobalHandle(Op):
    """A global or closure variable that is an array or a list: constant.

    A name may stand for it on one path and for an active array on another; what is added to its
    shadow is never looked at.
    """

    def forward(self, e):
        """Beside dual numbers, a name that stands for an active array elsewhere holds duals."""
        s = self.statement
        if e.dual is None or not any(e.active(identity) for identity in self.defined()):
            e.append(s)
            return
        dual = e.dual(self.fn.type_of(s.target).dtype)
        e.assign(e.call(as_dual(dual), e.assign(s.value)), s.target)

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, e.new_shadow(self.statement.target))


def _assign(fn, label, s):
    value = s.value
    if isinstance(value, ir.Var):
        return structure.Copy(fn, label, s)
    if not isinstance(value, ir.Expr):
        handles = any(leaf.kind != "scalar" for leaf in leaves(fn.type_of(s.target)))
        return (GlobalHandle if handles else Constant)(fn, label, s)
    if value.op == "call":
        return _call(fn, label, s, value)
    if value.op in _EXPRESSIONS:
        return _EXPRESSIONS[value.op](fn, label, s, value)
    if _without_floats(fn, s):
        return Constant(fn, label, s)
    return Unknown(fn, label, s)


def _without_floats(fn, s):
    names = [s.target, *operands(s.value)]
    return not any(leaves(fn.type_of(v)) for v in names)


def _phi(fn, label, s, value):
    return structure.Phi(fn, label, s)


def _cast(fn, label, s, value):
    return structure.Copy(fn, label, s)


def _exhaust(fn, label, s, value):
    kind = structure.Copy if structure.is_tuple(fn.type_of(value.value)) else Unknown
    return kind(fn, label, s)


def _build_tuple(fn, label, s, value):
    return structure.BuildTuple(fn, label, s, value.items)


def _static_getitem(fn, label, s, value):
    ty = fn.type_of(value.value)
    if structure.is_tuple(ty):
        return structure.TupleItem(fn, label, s, value.value, value.index)
    return _array_item(fn, label, s, value, _static_index_type(fn, value))


def _static_index_type(fn, value):
    """The type of a static index, whose variable is sometimes gone."""
    if value.index_var is not None and fn.type_of(value.index_var) is not None:
        return fn.type_of(value.index_var)
    return types.intp if isinstance(value.index, int) else types.none


def _getitem(fn, label, s, value):
    ty = fn.type_of(value.value)
    if structure.is_tuple(ty):
        constant = fn.constant(value.index)
        if isinstance(constant, int):
            return structure.TupleItem(fn, label, s, value.value, constant)
        return structure.TupleIndex(fn, label, s)
    return _array_item(fn, label, s, value, fn.type_of(value.index))


def _array_item(fn, label, s, value, index):
    ty = fn.type_of(value.value)
    if lists.is_list(ty):
        return lists.list_item(fn, label, s, value, index)
    found = FUNCTIONS.get(("getitem", type(ty)))
    if found:
        return found(fn, label, s, value, index)
    if not isinstance(ty, types.Array):
        return Constant(fn, label, s) if _without_floats(fn, s) else Unknown(fn, label, s)
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
        return structure.TupleItem(fn, label, s, value.value, ty.fields.index(value.attr))
    found = ATTRIBUTES.get(value.attr)
    op = found(fn, label, s, value, ty) if found else None
    if op is None and _without_floats_in(fn, value):
        return Constant(fn, label, s)
    return op or Unknown(fn, label, s)


def _without_floats_in(fn, value):
    return not any(leaves(fn.type_of(v)) for v in operands(value))


def _binary(fn, label, s, value):
    function = value.fn if value.op == "binop" else INPLACE.get(value.fn, value.immutable_fn)
    return _operator(fn, label, s, function, [value.lhs, value.rhs], value)


_UNARY = {"-": operator.neg, "+": operator.pos, "not": operator.not_, "~": operator.invert}


def _unary(fn, label, s, value):
    return _operator(fn, label, s, _UNARY.get(value.fn, value.fn), [value.value], value)


def _operator(fn, label, s, function, arguments, value):
    if objects.instance_type(fn.type_of(arguments[0])):
        op = objects.operation(fn, label, s, function, arguments, value)
        if op is not None:
            return op
    if not leaves(fn.type_of(s.target)) or _without_floats(fn, s):
        return Constant(fn, label, s)
    if any(lists.is_list(fn.type_of(v)) for v in arguments):
        return list_changes.operation(fn, label, s, function, arguments, value)
    if function is operator.add and all(structure.is_tuple(fn.type_of(v)) for v in arguments):
        return structure.Joined(fn, label, s, arguments)
    if all(is_scalar(fn.type_of(v)) for v in arguments):
        if function in CONSTANT:
            return Constant(fn, label, s)
        if has_rule(function):
            return Scalar(fn, label, s, function, arguments)
    if any(isinstance(fn.type_of(v), types.Array) for v in arguments):
        return FUNCTIONS["array operator"](fn, label, s, function, arguments, value)
    found = FUNCTIONS.get((function, type(fn.type_of(arguments[0]))))
    return found(fn, label, s, value) if found else Unknown(fn, label, s)


def _build_list(fn, label, s, value):
    op = lists.build_list(fn, label, s, value)
    if op is None:
        op = (Constant if _without_floats(fn, s) else Unknown)(fn, label, s)
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


# -- calls -----------------------------------------------------------------------------------


def _call(fn, label, s, call):
    if s.target.name in fn.recursive:
        return Recursive(fn, label, s, call.args, *fn.recursive[s.target.name])
    callee = callee_of(fn, call)
    if callee.kind == "ufunc":
        return _ufunc(fn, label, s, call, callee.key)
    if callee.kind == "dispatcher":
        return _dispatcher(fn, label, s, call, callee.key)
    if lists.is_list(fn.type_of(s.target)) and not _has_own_floats(fn, call):
        op = lists.new_list(fn, label, s, call)
        if op is not None:
            return op
    op = list_changes.typed_from_values(fn, label, s, call)
    if op is not None:
        return op
    if callee.kind == "method":
        return _method(fn, label, s, call, callee)
    if callee.kind == "class":
        found = FUNCTIONS.get("class")
        return found(fn, label, s, call, callee.key)
    if callee.kind == "function":
        return _function(fn, label, s, call, callee)
    return _opaque(fn, label, s)


def _ufunc(fn, label, s, call, ufunc):
    """A call of what `numba.vectorize` made."""
    if isinstance(fn.type_of(s.target), types.Array):
        operator = FUNCTIONS["array operator"]
        return operator(fn, label, s, ufunc._dispatcher, call.args, call, ufunc.ufunc.nin)
    return _dispatcher(fn, label, s, call, ufunc._dispatcher)


def _has_own_floats(fn, call):
    """Whether a call is none that makes an empty list: those are of nothing that holds floats."""
    callee = callee_of(fn, call)
    if callee.kind == "dispatcher" or any(leaves(fn.type_of(v)) for v in call.args):
        return True
    return callee.kind == "method" and bool(leaves(fn.type_of(callee.owner)))


def _opaque(fn, label, s):
    floats = _without_floats(fn, s)
    return Constant(fn, label, s) if floats else Unknown(fn, label, s)


def _dispatcher(fn, label, s, call, dispatcher):
    if dispatcher in list_helpers.FINDS_ORDER:
        return Constant(fn, label, s)
    if has_rule(dispatcher):
        return Scalar(fn, label, s, dispatcher, arguments_of(fn, call, dispatcher))
    if dispatcher in VJP:
        return Custom(fn, label, s, arguments_of(fn, call, dispatcher), dispatcher)
    if dispatcher in JVP:
        return RuledForward(fn, label, s, dispatcher)
    if hasattr(dispatcher, "numbad_pullback"):
        return Pulled(fn, label, s, arguments_of(fn, call, dispatcher), dispatcher)
    return Call(fn, label, s, dispatcher)


def arguments_of(fn, call, dispatcher):
    """The arguments of a call in the order of the parameters."""
    import inspect

    named = dict(call.kws)
    names = list(inspect.signature(dispatcher.py_func).parameters)
    return [*call.args, *(named[n] for n in names[len(call.args) :] if n in named)]


def _method(fn, label, s, call, callee):
    owner = fn.type_of(callee.owner)
    if objects.is_object(owner):
        return objects.method(fn, label, s, call, callee)
    found = METHODS.get(callee.key)
    op = found(fn, label, s, call, callee.owner, owner) if found else None
    if op is not None:
        return op
    if not leaves(owner) and _without_floats(fn, s):
        return Constant(fn, label, s)
    if callee.key in READING_METHODS and not leaves(fn.type_of(s.target)):
        return Constant(fn, label, s)
    if isinstance(owner, types.NumPyRandomGeneratorType) and callee.key not in PATHWISE:
        return NoPathwise(fn, label, s, callee.key)
    dispatcher = implementation(fn, call, callee)
    if dispatcher is not None:
        return Call(fn, label, s, dispatcher, callee.owner)
    return Unknown(fn, label, s)


def _function(fn, label, s, call, callee):
    key = callee.key
    if _in(key, STOPPING):
        return StopGradient(fn, label, s)
    if _in(key, VJP) and not call.kws:
        return Custom(fn, label, s, call.args, key)
    if _in(key, JVP):
        return RuledForward(fn, label, s, key)
    found = _look_up(key)
    op = found(fn, label, s, call) if found else None
    if op is not None:
        return op
    arguments = [*call.args, *(v for _, v in call.kws)]
    if _known_constant(key):
        return Constant(fn, label, s)
    if has_rule(key) and all(is_scalar(fn.type_of(v)) for v in arguments):
        return Scalar(fn, label, s, key, arguments)
    if any(isinstance(fn.type_of(v), types.Array) for v in arguments) and has_rule(key):
        return FUNCTIONS["array operator"](fn, label, s, key, arguments, call)
    if _draws(key) and key.__name__ not in PATHWISE:
        return NoPathwise(fn, label, s, key.__name__)
    dispatcher = implementation(fn, call, callee)
    if dispatcher is not None and not _without_floats(fn, s):
        return Call(fn, label, s, dispatcher)
    return _unknown_function(fn, label, s, call, key)


def _in(key, rules):
    try:
        return key in rules
    except TypeError:  # unhashable
        return False


class RuledForward(Unknown):
    """A function with a rule for forward mode alone."""

    def __init__(self, fn, label, statement, callee):
        self.callee = callee
        super().__init__(fn, label, statement)

    def refusal(self):
        name = name_of(self.callee)
        return refuse(
            f"{name}, whose rule has a jvp but no vjp",
            self.loc,
            f'give it one, nd.rule({name}, jvp=..., vjp=(forward, backward)), or use mode="forward"',
        )


PATHWISE = {
    *("random", "random_sample", "ranf", "sample", "rand", "randn", "standard_normal"),
    *("normal", "gauss", "normalvariate", "uniform", "exponential", "expovariate"),
    *("standard_exponential", "lognormal", "lognormvariate", "laplace", "logistic", "gumbel"),
    *("rayleigh", "weibull", "weibullvariate", "pareto", "paretovariate", "power", "triangular"),
}
"""Distributions whose draws depend smoothly on their parameters, the random numbers given."""


def _draws(key):
    return isinstance(getattr(key, "__self__", None), np.random.RandomState | random.Random)


class NoPathwise(Unknown):
    """A draw; if its parameters are differentiated, the draw is no smooth function of them."""

    def __init__(self, fn, label, statement, name):
        self.name = name
        super().__init__(fn, label, statement)

    def fresh(self):
        return True

    def writes(self):
        return False

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, e.new_shadow(self.statement.target))

    def takes_constants(self):
        return True

    def construct(self):
        return f"a draw of '{self.name}' by its parameters, which has no pathwise derivative"


def _look_up(key):
    try:
        return FUNCTIONS.get(key)
    except TypeError:
        return None


def _known_constant(key):
    try:
        return key in CONSTANT or key in READING
    except TypeError:
        return False


READING = {len, print, range, isinstance, hash, id, str, repr, slice, type, np.shape}
READING |= {np.size, np.ndim, np.argmax, np.argmin, np.argsort, np.searchsorted, np.any, np.all}
READING |= {np.nonzero, np.count_nonzero, np.array_equal, np.allclose}


def _unknown_function(fn, label, s, call, key):
    random = isinstance(getattr(key, "__self__", None), np.random.RandomState)
    if _without_floats_in(fn, call) and not any(
        leaf.kind != "scalar" for leaf in leaves(fn.type_of(s.target))
    ):
        return Constant(fn, label, s)
    name = f"{getattr(key, '__module__', '')}.{getattr(key, '__name__', key)}"
    if random and _without_floats_in(fn, call):
        return Fresh(fn, label, s)
    function = python_types.BuiltinFunctionType | python_types.FunctionType | np.ufunc
    returns = not isinstance(fn.type_of(s.target), types.NoneType)
    if isinstance(key, function) and name.startswith("numpy") and returns:
        return Pure(fn, label, s)
    return Unknown(fn, label, s)
