"""Dictionaries that hold floats, as tables: a list of their values beside a dictionary of places in it.

Each statement about a dictionary of the user's own becomes one about a dictionary of integers and a typed
list (`PlacedValues`), through both of which derivatives go.
"""

import operator

from numba.core import ir, types
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.registry import CPUDispatcher
from numba.core.untyped_passes import ReconstructSSA, RewriteSemanticConstants
from numba.typed import Dict

from ..compilation.linking import PLAIN
from ..compilation.memo import remembered
from ..rules.registry import CONSTANT_CALLS, JVP, STOPPING, VJP
from .fence import refuse
from .function import read_by
from .leaves import leaves
from .named_values import take_tuples
from .placed_values import (
    METHODS,
    PlacedValues,
    delete_of_dictionary,
    item_of_dictionary,
    maker,
    store_in_dictionary,
    store_pairs_in_dictionary,
)
from .trial_types import types_so_far
from .typing import RememberingContext
from .untyped import constant_of, method_of

_RULES = JVP, VJP, STOPPING
MADE = "numbad_tables"  # in a compilation's metadata: whether tables were made


# -- which dictionaries become tables --------------------------------------------------------


@register_pass(mutates_CFG=False, analysis_only=False)
class TakeTables(FunctionPass):
    """Makes tables of the dictionaries of floats that a function makes, and takes those that it is given."""

    _name = "numbad_take_tables"
    callee_type = None  # as that of `RememberingContext`

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        if state.func_id.func.__module__ == PlacedValues.__module__:  # of tables as they are
            return False
        given = {k for k, ty in enumerate(state.args) if is_table(ty)}
        made = _made(state.func_ir)
        if not (given or made):
            return False
        typemap = self._types(state) if made else {}
        chosen = {
            name: ty
            for name, value in made.items()
            if holds_floats(ty := typemap.get(name)) and _is_filled(value, typemap)
        }
        uses = _Uses(state.func_ir, set(chosen), given)
        tables = uses.tables()
        if unknown := uses.given - tables:
            what = f"what is done with the dictionary {min(unknown)!r}"
            raise refuse(
                what, state.func_ir.loc, "forward mode, or a list or an array in its place"
            )
        if tables:
            _TableRewriting(state.func_ir, tables, chosen, uses).run()
            state.metadata[MADE] = bool(tables & chosen.keys())
        changed = take_tuples(state.func_ir, typemap) or bool(tables)
        if changed:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return changed

    def _types(self, state):
        context = RememberingContext(state.typingctx, self.callee_type)
        args = [as_dictionary(ty) for ty in state.args]
        return types_so_far(state.func_ir, context, state.targetctx, args)


class TablesCompiler(CompilerBase):
    """Compiles a function that is given tables, as it stands: where it has no derivative."""

    def define_pipelines(self):
        pm = DefaultPassBuilder.define_nopython_pipeline(self.state)
        keep_lengths(pm, self.state.args)
        pm.add_pass_after(TakeTables, ReconstructSSA)
        pm.finalize()
        return [pm]


def keep_lengths(pm, args):
    """Keep Numba from taking the length of a table, a tuple, for that of the dictionary."""
    if any(map(is_table, args)):
        pm.passes = [entry for entry in pm.passes if entry[0] is not RewriteSemanticConstants]


def takes_tables(function):
    """Whether there is a function that takes tables where this one takes dictionaries."""
    if type(function) not in PLAIN or function in CONSTANT_CALLS:
        return False
    plain = function._compiler.pipeline_class is Compiler and function._can_compile
    return plain and not any(function in rules for rules in _RULES)


def with_tables(dispatcher):
    """The same function, for tables."""
    known = remembered(dispatcher, "with tables")
    if "made" not in known:
        options = dict(dispatcher.targetoptions)
        known["made"] = CPUDispatcher(
            dispatcher.py_func, dispatcher.locals, options, pipeline_class=TablesCompiler
        )
    return known["made"]


def is_table(ty):
    """Whether a type is that of a table."""
    return isinstance(ty, types.BaseNamedTuple) and ty.instance_class is PlacedValues


def as_dictionary(ty):
    """The type of the dictionary that a table stands for; other types as they are."""
    if not is_table(ty):
        return ty
    places, values = ty.types
    return types.DictType(places.key_type, values.item_type)


def holds_floats(ty):
    """Whether a type is that of a dictionary with floats in its values that a list may hold."""
    if not isinstance(ty, types.DictType) or leaves(ty.key_type):
        return False
    kinds = {leaf.kind for leaf in leaves(ty.value_type)}
    return bool(kinds) and "opaque" not in kinds


def _made(func_ir):
    """The names of the dictionaries that a function makes, and how."""
    return {
        s.target.name: s.value
        for block in func_ir.blocks.values()
        for s in block.find_insts(ir.Assign)
        if _makes_dictionary(func_ir, s.value)
    }


def _makes_dictionary(func_ir, value):
    if not isinstance(value, ir.Expr):
        return False
    if value.op != "call":
        return value.op == "build_map"
    called = constant_of(func_ir, value.func)
    if called is dict and len(value.args) == 1 and not value.kws:
        return True
    if getattr(called, "__func__", None) is Dict.empty.__func__:
        return True
    return (called is dict or called is Dict) and not (value.args or value.kws)


def _is_filled(value, typemap):
    """Whether a dictionary is made of what there is code for: of pairs of a list, if of anything."""
    if value.op == "build_map" or not value.args or len(value.args) == 2:
        return True
    ty = typemap.get(value.args[0].name)
    return isinstance(ty, types.List | types.ListType) and isinstance(ty.dtype, types.BaseTuple)


class _Uses:
    """Which names are tables, in all that is done with them."""

    def __init__(self, func_ir, made, given):
        self.func_ir, self.sources, self.others = func_ir, set(made), set()
        self.given = set()  # the names of parameters that are tables
        self.copies = []  # pairs of names that are one and the same
        for block in func_ir.blocks.values():
            for s in block.body:
                self._statement(s, given)

    def tables(self):
        """The names that are tables wherever they come from, and of which all that is done is known."""
        groups = {}
        for a, b in self.copies:
            joined = groups.get(a, {a}) | groups.get(b, {b})
            groups.update(dict.fromkeys(joined, joined))
        found = set()
        for name in self.sources:
            group = groups.get(name, {name})
            if not group & self.others:
                found |= group
        return found

    def _statement(self, s, given):
        if isinstance(s, ir.Del):
            return
        value = s.value if isinstance(s, ir.Assign) else None
        if isinstance(value, ir.Arg):
            (self.sources if value.index in given else self.others).add(s.target.name)
            self.given |= {s.target.name} if value.index in given else set()
        elif isinstance(value, ir.Var):
            self.copies.append((s.target.name, value.name))
        elif (owner := self._copied(value)) is not None:
            self.copies.append((s.target.name, owner))
        elif isinstance(value, ir.Expr) and value.op == "phi":
            for v in value.incoming_values:
                if isinstance(v, ir.Var):
                    self.copies.append((s.target.name, v.name))
                else:
                    self.others.add(s.target.name)
        else:
            if value is not None and s.target.name not in self.sources:
                self.others.add(s.target.name)
            self.others |= {v.name for v in read_by(s)} - set(self.known(s))

    def _copied(self, value):
        """The name of what an expression makes a copy of by its method."""
        if not isinstance(value, ir.Expr) or value.op != "call" or value.args:
            return None
        owner, name = self.method(value)
        return owner if name == "copy" else None

    def known(self, s):
        """The names of a statement that may be tables."""
        value = s.value if isinstance(s, ir.Assign) else None
        if isinstance(s, ir.SetItem | ir.StaticSetItem | ir.DelItem):
            return [s.target.name]
        if not isinstance(value, ir.Expr):
            return []
        if value.op in ("getitem", "static_getitem", "getiter"):
            return [value.value.name]
        if value.op == "binop" and value.fn is operator.contains:
            return [value.lhs.name]
        if value.op == "getattr":
            return [value.value.name] if self._is_called(s) else []
        return self._given_to(value) if value.op == "call" and not value.kws else []

    def _given_to(self, call):
        """The arguments of a call that may be tables."""
        called, (_, name) = constant_of(self.func_ir, call.func), self.method(call)
        if called is len or called is bool or takes_tables(called) or name == "update":
            return [v.name for v in call.args]
        return []

    def method(self, call):
        """`(name of the owner, name of the method)` of a call; Nones of what is none."""
        owner, name = method_of(self.func_ir, call.func) or (None, None)
        return (owner and owner.name), name

    def _is_called(self, getattr_):
        """Whether a method is called, as one that there is a function for."""
        name = getattr_.target.name
        for block in self.func_ir.blocks.values():
            for s in block.body:
                value = s.value if isinstance(s, ir.Assign) else None
                call = isinstance(value, ir.Expr) and value.op == "call" and value.func.name == name
                if call and not value.kws and self._stands_for(value):
                    continue
                if any(v.name == name for v in read_by(s)):
                    return False
        return True

    def _stands_for(self, call):
        return METHODS.get((self.method(call)[1], len(call.args)))


# -- the statements about tables ---------------------------------------------------------------


class _TableRewriting:
    """Puts calls in the place of what is done with the dictionaries with these names."""

    def __init__(self, func_ir, tables, made, uses):
        self.func_ir, self.tables, self.made, self.uses = func_ir, tables, made, uses
        self.body = []

    def run(self):
        new = {}
        for label, block in self.func_ir.blocks.items():
            self.body = new[label] = []
            for s in block.body:
                self._statement(s)
        for label, block in self.func_ir.blocks.items():
            block.body = new[label]

    def _statement(self, s):
        value = s.value if isinstance(s, ir.Assign) else None
        if isinstance(s, ir.SetItem) and self._is_table(s.target):
            self._call(store_in_dictionary, [s.target, s.index, s.value], s)
        elif isinstance(s, ir.StaticSetItem) and self._is_table(s.target):
            self._call(store_in_dictionary, [s.target, self._index(s, s.target), s.value], s)
        elif isinstance(s, ir.DelItem) and self._is_table(s.target):
            self._call(delete_of_dictionary, [s.target, s.index], s)
        elif isinstance(value, ir.Expr) and value.op != "phi":
            self._expression(s, value)
        else:
            self.body.append(s)

    def _expression(self, s, value):
        if s.target.name in self.tables and s.target.name in self.made:
            self._make(s, value)
        elif value.op in ("getitem", "static_getitem") and self._is_table(value.value):
            index = value.index if value.op == "getitem" else self._index(value, s.target)
            self._call(item_of_dictionary, [value.value, index], s, s.target)
        elif value.op == "getiter" and self._is_table(value.value):
            self._assign(s, ir.Expr.getiter(self._places(value.value, s), s.loc))
        elif value.op == "binop" and self._is_table(value.lhs):
            places = self._places(value.lhs, s)
            self._assign(s, ir.Expr.binop(value.fn, places, value.rhs, s.loc))
        elif value.op == "getattr" and self._is_table(value.value):
            pass  # the method is called by another name
        elif value.op == "call":
            self._given(s, value)
        else:
            self.body.append(s)

    def _given(self, s, call):
        """A call of a method of a table, of `len`, or of a function that is given one."""
        owner, name = self.uses.method(call)
        called = constant_of(self.func_ir, call.func)
        if owner in self.tables:
            table, _ = method_of(self.func_ir, call.func)
            self._call(METHODS[name, len(call.args)], [table, *call.args], s, s.target)
        elif (called is len or called is bool) and self._is_table(call.args[0]):
            places = self._places(call.args[0], s)
            self._assign(s, ir.Expr.call(call.func, [places], (), s.loc))
        elif takes_tables(called) and any(map(self._is_table, call.args)):
            self._call(with_tables(called), call.args, s, s.target)
        else:
            self.body.append(s)

    def _make(self, s, value):
        ty = self.made[s.target.name]
        make = maker(types.unliteral(ty.key_type), types.unliteral(ty.value_type))
        self._call(make, [], s, s.target)
        if value.op == "build_map":
            for key, item in value.items:
                self._call(store_in_dictionary, [s.target, key, item], s)
        elif len(value.args) == 1:
            self._call(store_pairs_in_dictionary, [s.target, value.args[0]], s)

    def _is_table(self, var):
        return var.name in self.tables

    def _places(self, table, s):
        places = table.scope.redefine("$places", s.loc)
        self.body.append(ir.Assign(ir.Expr.getattr(table, "places", s.loc), places, s.loc))
        return places

    def _index(self, access, near):
        """The variable of an index that is known."""
        if access.index_var is not None:
            return access.index_var
        index = near.scope.redefine("$key", access.loc)
        self.body.append(ir.Assign(ir.Const(access.index, access.loc), index, access.loc))
        return index

    def _assign(self, s, value):
        self.body.append(ir.Assign(value, s.target, s.loc))

    def _call(self, function, args, s, target=None):
        scope = next(iter(self.func_ir.blocks.values())).scope
        target = target or scope.redefine("$nothing", s.loc)
        name = scope.redefine("$of_table", s.loc)
        self.body.append(ir.Assign(ir.Global(function.__name__, function, s.loc), name, s.loc))
        self.body.append(ir.Assign(ir.Expr.call(name, args, (), s.loc), target, s.loc))
