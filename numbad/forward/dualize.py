"""Compiles a function for dual numbers: the same code, with callees and allocations adapted.

A function called with duals is compiled anew from its Python source by a pipeline with two passes
of its own, run before type inference: every function that it mentions is replaced by the one meant
for duals (callees compiled by this same pipeline, the user's rules, array functions that Numba's own
version cannot do), and the allocations that must hold duals are promoted.
"""

import operator
from collections import defaultdict
from inspect import signature
from types import ModuleType

from numba import njit
from numba.core import ir, types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher, LiftedCode
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.typed_passes import NopythonRewrites, NopythonTypeInference
from numba.core.untyped_passes import MakeFunctionToJitFunction, ReconstructSSA
from numba.extending import _Intrinsic
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from ..compilation.memo import remembered
from ..ir import chosen
from ..ir.complete_calls import CompleteCalls, taken_by_rule
from ..ir.declared import ConvertDeclared
from ..ir.dictionaries import TakeTables, is_table, keep_lengths
from ..ir.untyped import constant_of, definition_of, drop_unread, method_of
from ..ir.unwind import nopython_pipeline
from ..rules.foreign import dispatcher_of
from ..rules.intrinsics import bring_rule
from ..rules.registry import CONSTANT_CALLS, GIVEN, JVP, SCALAR, VJP
from ..source import define
from . import custom, entered, gufunc_duals, known, overloads, vectorized
from . import dual as d
from .beside_roots import StrongProducts
from .checked_stores import CheckStores
from .complex_parts import TakeParts
from .data_flow import spread
from .dual_dispatcher import DualDispatcher, dualized
from .instances import instances_met
from .object_mode import in_object_mode
from .promote import PromoteAllocations, refresh
from .shown import show_values
from .stand_ins import (
    ATTRIBUTES,
    CLASSES,
    REPLACED,
    REPLACED_COMPARISONS,
    stand_in_for_method,
)
from .warned import WarnOfSearches

_NAMED = ir.Const | ir.Global | ir.FreeVar
_OPERATORS = ("binop", "inplace_binop")
_COMPARISONS = {getattr(operator, name) for name in "is_ is_not eq ne lt le gt ge".split()}
_OWN_NAMES = "len", "range", "slice"  # which Numba lets nothing else have


def replacement(value):
    """What stands in for a global of a function that is compiled for duals; itself if nothing does."""
    if isinstance(value, tuple):
        replaced = [replacement(v) for v in value]
        same = all(a is b for a, b in zip(value, replaced, strict=True))
        return value if same or type(value) is not tuple else tuple(replaced)
    value = dispatcher_of(value)
    if isinstance(value, Dispatcher):
        foreign = hasattr(value, "numbad_foreign")
        return ruled(value) if foreign or has_own_rule(value) else dualized(value)
    if _has_given_rule(value):
        return ruled(value)
    if isinstance(value, DUFunc):
        return broadcast(value)
    if isinstance(value, GUFunc):
        return gufunc_duals.stand_in(value)
    if (code := known.jitable(value)) is not None:
        return dualized(code)
    return value


def dispatcher_for_duals(fn):
    """The dispatcher to call for duals in place of another: for one with a rule, one that calls it."""
    if not has_own_rule(fn):
        return replacement(fn)
    callers = remembered(fn, "called as a rule says")
    if not callers:
        callers[fn] = njit(_calling(fn))
    return dualized(callers[fn])


def _calling(fn):
    """A Python function with the parameters of a dispatcher, as many as its rule takes, that calls it."""
    parameters = list(signature(fn.py_func).parameters.values())
    taken = parameters[: taken_by_rule(fn) or None]
    given = ", ".join("*" * (p.kind is p.VAR_POSITIONAL) + p.name for p in taken)
    call = f"def call({given}): return numbad_ruled({given})"
    made = define(call, {"numbad_ruled": fn}, like=fn.py_func)
    made.__defaults__ = tuple(p.default for p in taken if p.default is not p.empty)
    return made


def has_own_rule(dispatcher):
    """Whether a dispatcher has a rule, so that its code is not what is differentiated."""
    return any(dispatcher in table for table in (SCALAR, JVP, VJP, CONSTANT_CALLS))


def _has_given_rule(value):
    """Whether a function of NumPy's, say, has a rule of the user's: lest it takes duals itself."""
    try:
        if not callable(value):
            return False
        if isinstance(value, _Intrinsic):
            bring_rule(value)
        given = value in GIVEN or isinstance(value, _Intrinsic)
        return value in JVP or value in VJP or (value in SCALAR and given)
    except TypeError:  # unhashable
        return False


def broadcast(ufunc):
    """The stand-in for what `numba.vectorize` made."""
    return vectorized.stand_in(ufunc)


def ruled(fn):
    """The stand-in for a function with a rule of the user's."""
    return custom.stand_in(fn)


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceFunctions(FunctionPass):
    """Puts the functions meant for duals where the code names the usual ones."""

    _name = "numbad_replace_functions"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        func_ir = state.func_ir
        given = chosen.names_given()
        self.own, self.attributes = (
            given[0].union(instances_met(func_ir, state.args).methods),
            given[1],
        )
        self.asked = set()  # names that were methods
        self.rule_of = getattr(state.func_id.func, "__numbad_rule_of__", None)
        called, passed = _called_names(func_ir), _passed_names(func_ir)
        left = _plain_tests(func_ir)
        for block in func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign) and statement.target.name not in left:
                    name = statement.target.name
                    self._value(func_ir, statement, name in called, name in passed)
        self._methods(func_ir)
        drop_unread(func_ir.blocks, self.asked)
        func_ir._definitions = build_definitions(func_ir.blocks)
        refresh(state)
        return True

    def _value(self, func_ir, statement, called, passed):
        value = statement.value
        if isinstance(value, _NAMED) and isinstance(value.value, LiftedCode):
            block = in_object_mode(value.value, value.loc)
            statement.value = ir.Global("object_mode", block, value.loc)
            return
        if isinstance(value, ir.Global | ir.FreeVar):
            found = value.value
        elif isinstance(value, ir.Expr) and value.op == "getattr":
            owner = constant_of(func_ir, value.value)
            if not isinstance(owner, ModuleType):
                return
            found = getattr(owner, value.attr, None)
        else:
            return
        if isinstance(found, ModuleType):
            return
        if overloads.is_number_class(found) and not _has_given_rule(found):
            return  # it may be a `dtype` as well: replaced where it is called
        replaced = called or (passed and not isinstance(found, type | Dispatcher | types.Type))
        new = _stand_in(found) if replaced and not _has_given_rule(found) else None
        if found is self.rule_of and isinstance(found, Dispatcher) and found not in JVP:
            new = dualized(found)  # within its own rule, a function means its code
        elif new is None and not called and isinstance(found, Dispatcher) and has_own_rule(found):
            new = dispatcher_for_duals(found)  # an argument, of which the code may be asked for
        new = replacement(found) if new is None else new
        named = isinstance(found, type) and found.__module__ == "builtins" and not called
        if callable(found) and not named:  # `isinstance(x, bool)` calls no bool
            new = entered.instead_of(found, new)
        if new is not found:
            name = getattr(new, "__name__", "replaced")
            name = f"{name}_" if name in _OWN_NAMES else name
            statement.value = ir.Global(name, new, value.loc)

    def _methods(self, func_ir):
        for block in func_ir.blocks.values():
            body = []
            for statement in block.body:
                expr = getattr(statement, "value", None)
                entered.enter_operators(statement)
                if (name := _attribute_asked_for(func_ir, expr)) in self.attributes:
                    statement.value = expr = ir.Expr.getattr(expr.args[0], name, expr.loc)
                if isinstance(expr, ir.Expr) and expr.op == "call":
                    self._class_call(func_ir, expr, body)
                    self._method_call(func_ir, expr, statement, body)
                elif isinstance(expr, ir.Expr) and expr.op in _OPERATORS and expr.fn in REPLACED:
                    self._operator(REPLACED[expr.fn], expr, statement, body)
                elif _compares_dtypes(func_ir, expr):
                    self._operator(REPLACED_COMPARISONS[expr.fn], expr, statement, body)
                elif _is_attribute(func_ir, expr, self.attributes):
                    self._attribute(expr, statement, body)
                elif isinstance(statement, ir.DynamicRaise | ir.DynamicTryRaise | ir.Print):
                    show_values(statement, body)
                body.append(statement)
            block.body = body

    def _class_call(self, func_ir, call, body):
        """A call such as `np.float32(x)`."""
        found = constant_of(func_ir, call.func)
        if not overloads.is_number_class(found) or _has_given_rule(found):
            return
        stand_in = _stand_in(found)
        if stand_in is not None:
            target = call.func.scope.redefine("$numbad_class", call.loc)
            body.append(ir.Assign(ir.Global(found.__name__, stand_in, call.loc), target, call.loc))
            call.func = target

    def _method_call(self, func_ir, call, statement, body):
        method = method_of(func_ir, call.func)
        if method is None:
            return
        owner, name = method
        left = _is_namespace(func_ir, owner) or (name == "add" and _is_set(func_ir, owner))
        stand_in = None if left else stand_in_for_method(name, self.own)
        if stand_in is None:
            return
        target = call.func.scope.redefine(f"$numbad_{name}", call.loc)
        body.append(ir.Assign(ir.Global(name, stand_in, call.loc), target, call.loc))
        self.asked.add(call.func.name)
        call.func = target
        call.args = [owner, *call.args]

    def _operator(self, stand_in, expr, statement, body):
        target = statement.target.scope.redefine("$numbad_operator", expr.loc)
        body.append(ir.Assign(ir.Global("operator", stand_in, expr.loc), target, expr.loc))
        statement.value = ir.Expr.call(target, [expr.lhs, expr.rhs], (), expr.loc)

    def _attribute(self, expr, statement, body):
        target = statement.target.scope.redefine("$numbad_attribute", expr.loc)
        found = ATTRIBUTES.get(expr.attr) or entered.attribute(expr.attr)
        stand_in = ir.Global(expr.attr, found, expr.loc)
        body.append(ir.Assign(stand_in, target, expr.loc))
        statement.value = ir.Expr.call(target, [expr.value], (), expr.loc)


def _plain_tests(func_ir):
    """The variables of `bool` by which a branch asks what Numba may know when it compiles.

    It leaves out the branch that is not taken, as for `x is None`, and knows the question by its name.
    """
    found = set()
    for block in func_ir.blocks.values():
        for call in block.find_exprs("call"):
            if len(call.args) == 1 and constant_of(func_ir, call.func) is bool:
                asked = guard(get_definition, func_ir, call.args[0])
                if isinstance(asked, ir.Const | ir.Global | ir.FreeVar) or _compares(
                    func_ir, asked
                ):
                    found.add(call.func.name)
    return found


def _compares(func_ir, expr):
    """Whether an expression is a comparison, or asks for a type: its value is a bool."""
    if not isinstance(expr, ir.Expr):
        return False
    if expr.op == "call":
        return constant_of(func_ir, expr.func) in (isinstance, hasattr)
    return expr.op == "binop" and expr.fn in _COMPARISONS


def _is_namespace(func_ir, owner):
    """Whether what is asked for an attribute is a module or a class."""
    return isinstance(constant_of(func_ir, owner), ModuleType | type)


def _attribute_asked_for(func_ir, expr):
    """The name in `getattr(x, "name")`; None of any other expression."""
    called = isinstance(expr, ir.Expr) and expr.op == "call" and len(expr.args) == 2
    if not called or constant_of(func_ir, expr.func) is not getattr:
        return None
    name = definition_of(func_ir, expr.args[1])
    return name.value if isinstance(name, _NAMED) else None


def _is_set(func_ir, var):
    """Whether a variable is a set made here: `add` tells Numba what it is of, and stays as it is."""
    found = func_ir._definitions.get(var.name, [])
    if any(isinstance(made, ir.Var) for made in found):
        return any(_is_set(func_ir, made) for made in found if isinstance(made, ir.Var))
    return any(
        made.op == "build_set" or (made.op == "call" and constant_of(func_ir, made.func) is set)
        for made in found
        if isinstance(made, ir.Expr)
    )


def _called_names(func_ir):
    """The names that occur as the function of a call: `np.float64` is not always called.

    In a `try` block a function is copied from block to block before it is called.
    """
    called, copied = set(), defaultdict(set)
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            value = statement.value
            if isinstance(value, ir.Var):
                copied[statement.target.name].add(value.name)
            elif isinstance(value, ir.Expr) and value.op == "call":
                called.add(value.func.name)
    spread(called, copied)
    return called


def _passed_names(func_ir):
    """The names that are given to functions, or put into tuples: `along(np.mean, a)`."""
    passed = set()
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            value = statement.value
            if isinstance(value, ir.Expr) and value.op in ("call", "build_tuple"):
                given = value.items if value.op == "build_tuple" else value.args
                passed.update(v.name for v in given)
    return passed


def _is_attribute(func_ir, expr, given):
    """Whether an expression asks an object, not a module or a class, for an attribute by these names."""
    if not (isinstance(expr, ir.Expr) and expr.op == "getattr"):
        return False
    if expr.attr not in ATTRIBUTES and expr.attr not in given:
        return False
    return constant_of(func_ir, expr.value) is None


def _compares_dtypes(func_ir, expr):
    """Whether an expression is `==` or `!=` with the `dtype` of something on a side."""
    if not (isinstance(expr, ir.Expr) and expr.op == "binop" and expr.fn in REPLACED_COMPARISONS):
        return False
    attributes = (method_of(func_ir, side) for side in (expr.lhs, expr.rhs))
    return any(found is not None and found[1] == "dtype" for found in attributes)


def _stand_in(fn):
    if type(fn) in CLASSES:
        return CLASSES[type(fn)](fn)
    try:
        return REPLACED.get(fn)
    except TypeError:  # unhashable
        return None


def without_wrappers(state):
    """Functions of duals are called from compiled code alone: no entry from Python or C."""
    if any(True for ty in state.args for _ in d.duals_in(ty)):
        state.flags.no_cpython_wrapper = True
        state.flags.no_cfunc_wrapper = True


class DualCompiler(CompilerBase):
    """Numba's nopython pipeline with passes of its own among the untyped ones."""

    def define_pipelines(self):
        without_wrappers(self.state)
        pm = nopython_pipeline(self.state)
        # Numba's fusion of array expressions knows no dtype but NumPy's.
        pm.passes = [entry for entry in pm.passes if entry[0] is not NopythonRewrites]
        pm.add_pass_after(CheckStores, NopythonTypeInference)
        pm.add_pass_after(StrongProducts, NopythonTypeInference)
        pm.add_pass_after(WarnOfSearches, NopythonTypeInference)
        pm.add_pass_after(PromoteAllocations, ReconstructSSA)
        pm.add_pass_after(TakeParts, ReconstructSSA)
        # Before the unrolling of tuples, which infers types.
        pm.add_pass_after(ReplaceFunctions, MakeFunctionToJitFunction)
        if any(map(is_table, self.state.args)):  # what reverse mode made of a dictionary
            keep_lengths(pm, self.state.args)
            pm.add_pass_after(TakeTables, MakeFunctionToJitFunction)
        pm.add_pass_after(ConvertDeclared, MakeFunctionToJitFunction)
        pm.add_pass_after(CompleteCalls, MakeFunctionToJitFunction)
        pm.finalize()
        return [pm]


DualDispatcher.compiler = DualCompiler
