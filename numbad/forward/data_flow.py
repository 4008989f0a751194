"""The facts about one function's names: what flows where, and what may share memory.

They are read off its untyped SSA IR; `promote.py` concludes from them.
"""

import inspect
import operator
from collections import defaultdict
from dataclasses import dataclass, field
from types import FunctionType

import numpy as np
from numba.core import ir, types
from numba.core.dispatcher import Dispatcher
from numba.experimental.jitclass.base import JitClassType
from numba.np.ufunc.gufunc import GUFunc

from ..ir.function import is_expr, read_by
from ..ir.untyped import constant_of, method_of
from ..rules.registry import COPYING, JVP, STOPPING
from . import known
from .handed_on import (
    handed_on,
    is_op,
    is_tuple,
    made_as,
    members,
    passing_tuples,
    writes_out_tuple,
)
from .instances import Instances


def _is_hashable(fn):
    """Whether a function can be looked up in tables: those of ctypes cannot."""
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def _has_given_rule(fn):
    """Whether a function of Python's has a `jvp` of the user's, so that its code is not gone through."""
    return isinstance(fn, FunctionType) and fn in JVP


def _belongs_to_array(fn):
    """Whether a function is the method of an array that the code reads as a constant."""
    return isinstance(getattr(fn, "__self__", None), np.ndarray)


def _constants(func_ir):
    """The names of what the code has as literals: one text may be given to many calls."""
    values = {}
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            values.setdefault(statement.target.name, []).append(statement.value)
    return [name for name, given in values.items() if all(isinstance(v, ir.Const) for v in given)]


def _given(dispatcher, args, kws, others):
    """For each of the callee's parameters, the names of what it may be given; `others`: of `*args`."""
    given, found = dict(kws), []
    code = getattr(dispatcher, "py_func", dispatcher)
    for k, parameter in enumerate(inspect.signature(code).parameters.values()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            found.append((*args[k:], *others))
        elif k < len(args):
            found.append((args[k],))
        else:
            found.append((given[parameter.name],) if parameter.name in given else tuple(others))
    return found


def spread(names, edges):
    """Add to `names` whatever the edges lead to from them."""
    pending = list(names)
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in names:
                names.add(other)
                pending.append(other)


def used_as_numbers(func_ir):
    """Names that code adds to and the like, `s = p[0]; s *= x`, and uses in arithmetic alone."""
    others, same, changed = set(), defaultdict(set), set()
    for block in func_ir.blocks.values():
        for statement in block.body:
            value = statement.value if isinstance(statement, ir.Assign) else None
            added_to = is_expr(value, "inplace_binop")
            if added_to:
                changed.add(value.lhs.name)
            if added_to or isinstance(value, ir.Var) or is_expr(value, "phi"):
                read = [value.lhs] if added_to else read_by(statement)
                for name in (v.name for v in read):
                    same[name].add(statement.target.name)
                    same[statement.target.name].add(name)
            elif isinstance(statement, ir.SetItem | ir.StaticSetItem):
                others.add(statement.target.name)
            elif not (_makes_numbers(func_ir, value) or isinstance(statement, ir.Return)):
                others.update(v.name for v in read_by(statement))
    spread(others, same)
    spread(changed, same)
    return frozenset(changed - others - set(func_ir.arg_names))


def _makes_numbers(func_ir, value):
    """Whether an expression is one of numbers, or packs some."""
    if is_expr(value, "call"):
        called = constant_of(func_ir, value.func)
        return getattr(called, "__module__", None) == "math" or isinstance(called, np.ufunc)
    return is_expr(value, "binop", "unary", "build_tuple", "build_list", "cast")


RESULT = "$result"  # what a function with several returns gives


@dataclass
class Flow:
    """The facts about one function's names: what flows where, and what may share memory."""

    func_ir: object
    args: tuple
    scalars: frozenset = frozenset()  # names of numbers and texts, which share no memory
    instances: Instances = field(default_factory=Instances)
    forward: dict = field(default_factory=lambda: defaultdict(set))
    shares: dict = field(default_factory=lambda: defaultdict(set))
    derived: dict = field(default_factory=lambda: defaultdict(set))  # name -> what comes of it
    origins: dict = field(default_factory=lambda: defaultdict(set))  # name -> what it comes of
    put: list = field(default_factory=list)  # (container, value), stored in it by reference
    stores: list = field(default_factory=list)  # (container, values stored into it)
    merges: list = field(default_factory=list)  # names that unify what comes in: phis, lists
    inside: set = field(default_factory=set)  # names of tuples and lists that lists or tuples unify
    walked: set = field(default_factory=set)  # names of what has its members picked at run time
    calls: list = field(
        default_factory=list
    )  # (target, callee, names for each parameter, all names)
    kept: list = field(default_factory=list)  # (container, value), by reference if it is a list
    copied: list = field(default_factory=list)  # (list, what it is made of), which share its items
    copied_lists: list = field(default_factory=list)  # (copy, what it is of, if that is a list)
    containers: set = field(default_factory=set)  # lists and dicts made here
    refined: set = field(
        default_factory=set
    )  # those among them whose type what is stored first decides
    done: dict = field(default_factory=dict)  # id of a statement -> its stores and its calls
    fresh: set = field(default_factory=set)
    made: set = field(default_factory=set)  # new instances of the user's classes
    parameters: dict = field(default_factory=dict)
    results: set = field(default_factory=set)
    unified_results: set = field(default_factory=set)  # what is of one type as several returns are
    assigned: set = field(default_factory=set)
    draws: bool = False  # it calls a function of np.random or random itself
    unknown: list = field(default_factory=list)  # arguments of calls that may change them, and draw
    given_back: dict = field(default_factory=dict)  # tuple that a call gives -> its members
    typemap: dict = field(default_factory=dict)  # name -> type, where types are known

    def build(self):
        self.scalars = self.scalars.union(_constants(self.func_ir))
        passing = passing_tuples(self.func_ir)
        for block in self.func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign) and statement.target.name in passing:
                    continue
                before = len(self.stores), len(self.calls)
                self._statement(statement)
                done = self.stores[before[0] :], self.calls[before[1] :]
                if any(done):
                    self.done[id(statement)] = done
        lists = types.List | types.ListType | types.DictType
        for k, ty in enumerate(self.args):
            if isinstance(ty, lists) and k in self.parameters:
                self.containers.add(self.parameters[k])
        for name in tuple(self.walked):
            self.unify_members(name)
        for container, value in self.kept:
            if self.reached({container}) & self.containers:
                self._keep(container, value)
        for target, source in self.copied:
            if self._may_hold_arrays(source):
                self._share(target, source)
        for target, source in self.copied_lists:
            if made_as(self.func_ir, source)[0] in self.containers:
                self._share(target, source)
        return self

    def _may_hold_arrays(self, name):
        """Whether a name is a list or a tuple made here, or a parameter that may be one."""
        name, made = made_as(self.func_ir, name)
        if name in self.containers or writes_out_tuple(self.func_ir, made):
            return True
        numbers = self.parameters_among({name})
        return any(
            k >= len(self.args) or isinstance(self.args[k], types.BaseTuple) for k in numbers
        )

    def unify_results(self):
        """Let what several returns give be of one type, as Numba needs it to be."""
        if len(self.results) > 1:
            self.merges.append(RESULT)
            self._share(RESULT, *self.results)
            before = set(self.inside)
            self._unify_inside(self.results)
            self.unified_results = self.inside - before | {RESULT}
        return self

    def unify_members(self, name):
        """Let the members of a tuple be of one type: `for y in (u, v)`, `(u, v)[k]`."""
        name, made = made_as(self.func_ir, name)
        if writes_out_tuple(self.func_ir, made) and name not in self.merges:
            self.merges.append(name)
            self._unify_inside(var.name for var in members(made))
        self.walked.add(name)

    def _unify_inside(self, names):
        """Let tuples and lists that are alike: `[(u, v), (w, z)]`, be of one type."""
        for name in names:
            name, made = made_as(self.func_ir, name)
            written_out = is_op(made, "build_list") or writes_out_tuple(self.func_ir, made)
            if written_out and name not in self.inside:
                self.inside.add(name)
                self._unify_inside(var.name for var in members(made))

    def _keep(self, container, *values):
        """A list keeps a reference: what is stored in one of duals must hold duals itself."""
        self._put_in(container, *values)
        self.stores.append((container, {container, *values}))

    def _put_in(self, container, *values):
        self._share(container, *values)
        self.put.extend((container, value) for value in values)

    def types_of(self, given):
        """The types of what a callee's parameters are given; None where one is not known."""
        tys = tuple(self.typemap.get(names[0]) if len(names) == 1 else None for names in given)
        return None if None in tys else tuple(map(types.unliteral, tys))

    def reached(self, start):
        """The names that may share memory with those in `start`."""
        seen = set(start)
        spread(seen, self.shares)
        return seen

    def derived_with(self, name):
        """The names that are, hold or come of the memory that a name stands for.

        In `l = [u, v]` writes to `v`, which shares memory with `l`, do not change `u`.
        """
        found, before = {name}, None
        spread(found, self.origins)
        while found != before:
            before = set(found)
            spread(found, self.derived)
            holders = {container for container, value in self.put if value in found}
            spread(
                holders, self.origins
            )  # other names of a container, and what it is part of, hold it too
            found |= holders
        return found

    def returned(self):
        """The parameters whose memory the result may share, or which may hold it."""
        reached, before = self.reached(self.results), None
        while reached != before:
            before = reached
            holders = {container for container, value in self.kept if value in reached}
            reached = self.reached(reached | holders)
        return self.parameters_among(reached)

    def parameters_among(self, names):
        """The numbers of the parameters whose names are among these."""
        return frozenset(i for i, name in self.parameters.items() if name in names)

    def _statement(self, s):
        if isinstance(s, ir.Assign):
            self._assign(s.target.name, s.value)
        elif isinstance(s, ir.SetItem | ir.StaticSetItem):
            self._store(s.target.name, s.value.name)
            index = s.index_var if isinstance(s, ir.StaticSetItem) else s.index
            self._operator(s.target.name, "setitem", s.target, index, s.value)
        elif isinstance(s, ir.DelItem):
            self.stores.append((s.target.name, set()))
        elif isinstance(s, ir.SetAttr):
            self._set_attribute(s.target.name, s.attr, s.value.name)
        elif isinstance(s, ir.Return):
            self.results.add(s.value.name)

    def _store(self, container, value):
        self.stores.append((container, {value}))
        self.kept.append((container, value))

    def _set_attribute(self, owner, name, value):
        self._store(owner, value)
        if self.instances.may_refer(name):
            self._put_in(owner, value)
        for setter in self.instances.setters.get(name, ()):
            self._dispatch(f"{owner}.{name}", setter, [owner, value])

    def _dispatch(self, target, dispatcher, args, kws=(), others=()):
        """A call of a function; `others`: the names of `*args`."""
        kws = dict(kws)
        given = _given(dispatcher, args, kws, others)
        taken = set().union(*given)  # where no parameter is left, `*args` is empty
        names = [*args, *kws.values(), *(name for name in others if name in taken)]
        self.calls.append((target, dispatcher, given, names))

    def _operator(self, target, name, *operands):
        """What an operator means for an instance of a class; returns whether it has a meaning there."""
        names = [v if v is None else v.name for v in operands]
        kinds = [(f"__{name.strip('_')}__", names), (f"__r{name.strip('_')}__", names[::-1])]
        found = [(m, args) for kind, args in kinds for m in self.instances.methods.get(kind, ())]
        for method, args in found:
            self._dispatch(target, method, args)
        return bool(found)

    def _flow(self, target, *sources):
        for source in sources:
            self.forward[source].add(target)

    def _share(self, target, *sources):
        self._flow(target, *sources)
        self._alias(target, *sources)

    def _mingle(self, target, *names):
        """A call that may give each of the names, and store one in another."""
        self._share(target, *names)
        for name in (target, *names):
            self._alias(name, target, *names)
            self.put.extend((name, other) for other in names)

    def _alias(self, target, *sources):
        for source in sources:
            if source not in self.scalars and target not in self.scalars:
                self.shares[source].add(target)
                self.shares[target].add(source)
                self.derived[source].add(target)
                self.origins[target].add(source)

    def _assign(self, target, value):
        if not self._is_given_back(value):
            if target in self.assigned:
                self.merges.append(target)
            self.assigned.add(target)
        if isinstance(value, ir.Arg):
            self.parameters[value.index] = target
        elif isinstance(value, ir.Var):
            self._share(target, value.name)
        elif isinstance(value, ir.Expr):
            getattr(self, "_" + value.op, self._other)(target, value)

    def _other(self, target, e):
        self._share(target, *(v.name for v in e.list_vars()))

    def _phi(self, target, e):
        incoming = [v for v in e.incoming_values if isinstance(v, ir.Var)]
        self._share(target, *(v.name for v in incoming))
        self.merges.append(target)
        self._unify_inside(v.name for v in incoming)

    def _binop(self, target, e):
        if e.fn not in known.COMPARISONS:
            self._flow(target, e.lhs.name, e.rhs.name)
            self.fresh.add(target)
        if self._operator(target, e.fn.__name__, e.lhs, e.rhs):
            self.fresh.discard(target)
        if e.fn is operator.add and any(is_tuple(self.func_ir, v) for v in (e.lhs, e.rhs)):
            self._share(target, e.lhs.name, e.rhs.name)
            self.fresh.discard(target)
        if e.fn in (operator.add, operator.mul):
            self._join_lists(target, e.lhs, e.rhs)

    def _join_lists(self, target, *operands):
        """`[u, v] + [w]`, `[u] * n`: a new list, of what is in those."""
        made = [made_as(self.func_ir, var.name) for var in operands]
        lists = {name: value for name, value in made if name in self.containers}
        if lists:
            self._share(target, *lists)
            self.containers.add(target)
            self.merges.append(target)
            self.inside.update(name for name, value in lists.items() if is_op(value, "build_list"))

    def _unary(self, target, e):
        if e.fn not in known.COMPARISONS and e.fn != "not":
            self._flow(target, e.value.name)
            self.fresh.add(target)
        if self._operator(target, getattr(e.fn, "__name__", e.fn), e.value):
            self.fresh.discard(target)

    def _inplace_binop(self, target, e):
        self._inplace(target, e.lhs.name, e.rhs.name)
        self._operator(target, e.fn.__name__, e.lhs, e.rhs)

    def _inplace(self, target, left, right):
        self._share(target, left)
        self._flow(target, right)
        self.stores.append((left, {right}))
        owner, others = made_as(self.func_ir, left)[0], made_as(self.func_ir, right)[1]
        if owner in self.containers or is_op(others, "build_list"):
            self._mingle(left, right)

    def _getattr(self, target, e):
        inactive = e.attr in known.INACTIVE_ATTRIBUTES - self.instances.references
        if not inactive and constant_of(self.func_ir, e.value) is None:
            self._share(target, e.value.name)
        for getter in self.instances.getters.get(e.attr, ()):
            self._dispatch(target, getter, [e.value.name])

    def _getitem(self, target, e):
        self._share(target, e.value.name)
        self.walked.add(e.value.name)
        self._operator(target, "getitem", e.value, e.index)

    _typed_getitem = _getitem

    def _is_given_back(self, value):
        picked = isinstance(value, ir.Expr) and value.op == "static_getitem"
        return picked and value.value.name in self.given_back

    def _static_getitem(self, target, e):
        if self._is_given_back(e):
            self._share(target, self.given_back[e.value.name][e.index])
            return
        self._share(target, e.value.name)
        self._operator(target, "getitem", e.value, e.index_var)

    def _getiter(self, target, e):
        self._share(target, e.value.name)
        self.walked.add(e.value.name)

    def _pair_second(self, target, e):
        pass

    def _build_map(self, target, e):
        self._build_set(target, e)
        self.refined.add(target)
        if e.items:  # an empty dict takes its type from what is stored
            self.fresh.add(target)
            self.stores.append((target, {value.name for _, value in e.items}))

    def _build_set(self, target, e):
        self._other(target, e)
        self.containers.add(target)

    def _build_list(self, target, e):
        self.containers.add(target)
        self._share(target, *(v.name for v in e.items))
        if e.items:  # an empty list takes its type from what is appended
            self.fresh.add(target)
        if any(v.name not in self.scalars for v in e.items):  # its items are of one type
            self.merges.append(target)
            self._unify_inside(v.name for v in e.items)

    def _call(self, target, e):
        args, kws = [v.name for v in e.args], {key: v.name for key, v in e.kws}
        passed = [] if e.vararg is None else handed_on(self.func_ir, e.vararg)
        while passed and not passed[0][1]:
            args.append(passed.pop(0)[0])
        others = [name for name, _ in passed]
        fn = constant_of(self.func_ir, e.func)
        if fn is None:  # what a call has returned: `nd.grad(f)(x)`
            fn = getattr(self.typemap.get(e.func.name), "dispatcher", None)
        if fn is not None and _is_hashable(fn):
            fn = known.STANDS_FOR.get(fn, fn)
        if isinstance(fn, Dispatcher) or _has_given_rule(fn):
            self._dispatch(target, fn, args, kws, others)
        elif fn is not None and not _belongs_to_array(fn) and _is_hashable(fn):
            self._plain_call(target, fn, args, kws, others)
        elif method := method_of(self.func_ir, e.func):
            owner, name = method
            self._named_method(target, name, [owner.name, *args], kws, others)
        else:
            self._opaque_call(target, [e.func.name, *args, *kws.values(), *others])

    def _plain_call(self, target, fn, args, kws, others):
        names = [*args, *kws.values(), *others]
        self.draws |= known.draws(fn)
        if fn in known.WALKING:
            self.walked.update(names)
        if known.makes_instances(fn):
            self.made.add(target)
        if (first := known.gives_back(fn)) is not None:
            self.given_back[target] = args[first:]
        elif isinstance(fn, str):
            self._named_method(target, fn, args, kws, others)
        elif fn in known.INPLACE:
            self._inplace(target, *names)
        elif fn in known.CONTAINERS:
            self._flow(target, *names)
            self.containers.add(target)
            self.copied.extend((target, name) for name in names)
            if fn in known.REFINED:
                self.refined.add(target)
            if names:  # an empty list takes its type from what is appended
                self.fresh.add(target)
        elif isinstance(fn, JitClassType):
            self._share(target, *names)
            initialize = fn.class_type.jit_methods["__init__"]
            self._dispatch(f"{target}.__init__", initialize, [target, *args], kws, others)
        elif isinstance(fn, GUFunc):
            self.stores.extend((name, set(names)) for name in names[fn.nin :])
        elif fn not in known.INACTIVE and (code := known.jitable(fn)) is not None:
            self._dispatch(target, code, args, kws, others)
        elif fn not in known.INACTIVE:
            self._function_call(target, fn, names)

    def _function_call(self, target, fn, names):
        if known.is_fresh(fn):
            self._flow(target, *names)
            if (out := known.output(fn, names)) is None:
                self.fresh.add(target)
            else:
                self.stores.append((out, set(names)))
                self._share(target, out)
        elif fn in known.MUTATING:
            self.stores.append((names[0], set(names)))
            self._mingle(target, *names)  # what `heappop` returns
        elif (getattr(fn, "__module__", None) or "").split(".")[0] in ("math", "cmath"):
            self._flow(target, *names)
        elif fn in COPYING:
            self.fresh.add(target)
        elif fn in STOPPING:
            self._alias(target, *names)
        elif known.is_understood(fn):
            self._share(target, *names)
        else:
            self._mingle(target, *names)
            self.unknown.append(names)

    def _named_method(self, target, name, args, kws, others):
        """A method of the first argument, which is an array, a list or an instance of a class."""
        own = self.instances.methods.get(name, ())
        functions = self.instances.functions.get(name, ())
        for method in own:
            self._dispatch(target, method, args, kws, others)
        for function in functions:
            self._dispatch(target, function, args[1:], kws, others)
        if not (own or functions):
            self._foreign_method(target, name, [*args, *kws.values(), *others])
        elif name in known.KNOWN_METHODS or not self.instances.complete:
            self._foreign_method(target, name, [*args, *kws.values(), *others])
            self.fresh.discard(target)  # it may be what the method of the class returns

    def _foreign_method(self, target, name, names):
        owner, *args = names
        if name in known.FRESH_METHODS and not self.instances.opaque:
            self._flow(target, owner, *args)
            self.fresh.add(target)
            if name == "copy":
                self.copied_lists.append((target, owner))
        else:
            self._share(target, owner)
            self._flow(target, *args)
            if name in known.KEEPING_METHODS:
                self._keep(owner, *args)
            if name not in known.VIEWING_METHODS:
                self.stores.append((owner, set(args)))
            if name not in known.VIEWING_METHODS | known.KEEPING_METHODS:  # it may be a class's
                self.stores.extend((arg, {owner, *args}) for arg in args)

    def _opaque_call(self, target, names):
        self._mingle(target, *names)
        for name in names:
            self.stores.append((name, set(names)))
