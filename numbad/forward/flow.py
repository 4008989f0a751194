"""The facts about one function's names: what flows where, and what may share memory.

They are read off its untyped SSA IR; `promote.py` concludes from them.
"""

import inspect
import operator
import random
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numba.core import ir, types
from numba.core.dispatcher import Dispatcher
from numba.typed import Dict, List

from ..rules.functions import Function

# Calls whose result shares no memory with any argument; only these are ever promoted.
FRESH = {
    getattr(np, name)
    for name in (
        "zeros empty ones full eye identity arange linspace zeros_like empty_like ones_like full_like"
        " array copy concatenate stack hstack vstack column_stack repeat outer diag kron tile cumsum"
        " sum mean prod min max amin amax var std dot"
        " cumprod diff sort roll where interp exp log sin cos sqrt abs power random clip"
    ).split()
    if hasattr(np, name)
}
_ELEMENTWISE = np.ufunc | Function  # their results are new arrays too, unless they are given one
FRESH_METHODS = set(
    "copy astype flatten cumsum cumprod repeat item sum mean prod min max var std dot take argmin argmax"
    " argsort any all nonzero".split()
)
KEEPING_METHODS = {"append", "insert", "extend"}  # the object keeps its arguments
VIEWING_METHODS = {"reshape", "ravel", "transpose", "view", "conjugate", "conj", "values", "items"}

# Results that carry no derivative, whatever goes in.
INACTIVE = {len, range, int, bool, isinstance, id, hash, str, np.shape, np.size, np.ndim}
INACTIVE_ATTRIBUTES = {"shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides", "flags"}
COMPARISONS = {
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    operator.is_,
    operator.is_not,
    operator.contains,
    operator.not_,
}
CONTAINERS = {list, dict, set, List, Dict}
MUTATING = {np.copyto, np.fill_diagonal, np.random.shuffle, random.shuffle}
INPLACE = {
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
}

STANDS_FOR = {}
"""stand-in -> the function, or the name of the method, that the user's code calls."""


def _definition(func_ir, var):
    """What defines a variable; where code stands several times, each says the same."""
    try:
        return func_ir.get_definition(var)
    except KeyError:
        known = func_ir._definitions.get(getattr(var, "name", var), [])
        if len({repr(value) for value in known}) != 1:
            raise
        return known[0]


def constant_of(func_ir, var):
    """The Python object behind a variable: a global, a closure cell, or a module's attribute."""
    try:
        definition = _definition(func_ir, var)
    except KeyError:
        return None
    if isinstance(definition, ir.Global | ir.FreeVar):
        return definition.value
    if isinstance(definition, ir.Expr) and definition.op == "getattr":
        owner = constant_of(func_ir, definition.value)
        if owner is not None:
            return getattr(owner, definition.attr, None)
    return None


def method_of(func_ir, var):
    """`(object variable, method name)` where a variable is a bound method, else None."""
    try:
        definition = _definition(func_ir, var)
    except KeyError:
        return None
    if isinstance(definition, ir.Expr) and definition.op == "getattr":
        return definition.value, definition.attr
    return None


def _is_number_class(fn):
    """Whether a call makes a number; other classes (namedtuples) hold on to their arguments."""
    return isinstance(fn, type) and issubclass(fn, np.generic | float | complex)


def _is_hashable(fn):
    """Whether a function can be looked up in tables: those of ctypes cannot."""
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def _positional(dispatcher, call):
    """The argument names of a call in the order of the callee's parameters; those of `*args` not."""
    parameters = inspect.signature(dispatcher.py_func).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return []
    given = dict(call.kws)
    names = [v.name for v in call.args]
    names += [
        given[p.name].name if p.name in given else None for p in list(parameters)[len(names) :]
    ]
    return names


def _output(fn, args):
    """The array that a function is given for its result, None if it makes a new one."""
    inputs = fn.nin if isinstance(fn, _ELEMENTWISE) else {np.dot: 2, np.clip: 3}.get(fn)
    return args[-1] if inputs is not None and len(args) > inputs else None


def _draws(fn):
    """Whether a function is one of `np.random` or `random`, which share a hidden state."""
    return isinstance(getattr(fn, "__self__", None), np.random.RandomState | random.Random)


def spread(names, edges):
    """Add to `names` whatever the edges lead to from them."""
    pending = list(names)
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in names:
                names.add(other)
                pending.append(other)


@dataclass
class Flow:
    """The facts about one function's names: what flows where, and what may share memory."""

    func_ir: object
    args: tuple
    scalars: frozenset = frozenset()  # names known to be scalars, which share no memory
    forward: dict = field(default_factory=lambda: defaultdict(set))
    shares: dict = field(default_factory=lambda: defaultdict(set))
    stores: list = field(default_factory=list)  # (container, values stored into it)
    merges: list = field(default_factory=list)  # names that unify what comes in: phis
    calls: list = field(default_factory=list)  # (target, callee, argument names)
    kept: list = field(default_factory=list)  # (container, value), by reference if it is a list
    containers: set = field(default_factory=set)  # lists and dicts made here
    fresh: set = field(default_factory=set)
    parameters: dict = field(default_factory=dict)
    results: set = field(default_factory=set)
    assigned: set = field(default_factory=set)
    draws: bool = False  # calls a function of np.random or random itself

    def build(self):
        for block in self.func_ir.blocks.values():
            for statement in block.body:
                self._statement(statement)
        lists = types.List | types.ListType | types.DictType
        for k, ty in enumerate(self.args):
            if isinstance(ty, lists) and k in self.parameters:
                self.containers.add(self.parameters[k])
        for container, value in self.kept:
            if self.reached({container}) & self.containers:
                self._keep(container, value)
        return self

    def _keep(self, container, *values):
        """A list keeps a reference: what is stored in one of duals must hold duals itself."""
        self._share(container, *values)
        self.stores.append((container, {container, *values}))

    def reached(self, start):
        """The names that may share memory with those in `start`."""
        seen = set(start)
        spread(seen, self.shares)
        return seen

    def returned(self):
        """The parameters whose memory the result may share, or which may hold it."""
        reached, before = self.reached(self.results), None
        while reached != before:
            before = reached
            holders = {container for container, value in self.kept if value in reached}
            reached = self.reached(reached | holders)
        return frozenset(i for i, name in self.parameters.items() if name in reached)

    def _statement(self, s):
        if isinstance(s, ir.Assign):
            self._assign(s.target.name, s.value)
        elif isinstance(s, ir.SetItem | ir.StaticSetItem):
            self.stores.append((s.target.name, {s.value.name}))
            self.kept.append((s.target.name, s.value.name))
        elif isinstance(s, ir.Return):
            self.results.add(s.value.name)

    def _flow(self, target, *sources):
        for source in sources:
            self.forward[source].add(target)

    def _share(self, target, *sources):
        self._flow(target, *sources)
        for source in sources:
            if source not in self.scalars and target not in self.scalars:
                self.shares[source].add(target)
                self.shares[target].add(source)

    def _assign(self, target, value):
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
        names = [v.name for v in e.incoming_values if isinstance(v, ir.Var)]
        self._share(target, *names)
        self.merges.append(target)

    def _binop(self, target, e):
        if e.fn not in COMPARISONS:
            self._flow(target, e.lhs.name, e.rhs.name)
            self.fresh.add(target)

    def _unary(self, target, e):
        if e.fn not in COMPARISONS and e.fn != "not":
            self._flow(target, e.value.name)
            self.fresh.add(target)

    def _inplace_binop(self, target, e):
        self._inplace(target, e.lhs.name, e.rhs.name)

    def _inplace(self, target, left, right):
        self._share(target, left)
        self._flow(target, right)
        self.stores.append((left, {right}))

    def _getattr(self, target, e):
        if e.attr not in INACTIVE_ATTRIBUTES and constant_of(self.func_ir, e.value) is None:
            self._share(target, e.value.name)

    def _getitem(self, target, e):
        self._share(target, e.value.name)

    _static_getitem = _typed_getitem = _getitem

    def _pair_second(self, target, e):
        pass

    def _build_map(self, target, e):
        self._other(target, e)
        self.containers.add(target)

    _build_set = _build_map

    def _build_list(self, target, e):
        self.containers.add(target)
        self._share(target, *(v.name for v in e.items))
        if e.items:  # an empty list takes its type from what is appended
            self.fresh.add(target)
        if any(self._is_list(v) for v in e.items):  # lists in a list are of one type
            self.merges.append(target)

    def _is_list(self, var):
        try:
            value = _definition(self.func_ir, var)
        except KeyError:
            return False
        return isinstance(value, ir.Expr) and value.op == "build_list"

    def _call(self, target, e):
        args = [v.name for v in e.args] + [v.name for _, v in e.kws]
        args += [e.vararg.name] if e.vararg is not None else []
        fn = constant_of(self.func_ir, e.func)
        if isinstance(fn, Dispatcher):
            self.calls.append((target, fn, _positional(fn, e), args))
        elif fn is not None and _is_hashable(fn):
            self._plain_call(target, fn, args)
        elif method := method_of(self.func_ir, e.func):
            owner, name = method
            self._named_method(target, owner.name, name, args)
        else:
            self._opaque_call(target, [e.func.name, *args])

    def _plain_call(self, target, fn, args):
        fn = STANDS_FOR.get(fn, fn)
        self.draws |= _draws(fn)
        if fn in INACTIVE:
            return
        if isinstance(fn, str):
            self._named_method(target, args[0], fn, args[1:])
        elif fn in INPLACE:
            self._inplace(target, *args)
        elif fn in CONTAINERS:
            self._flow(target, *args)
            self.containers.add(target)
            if args:  # an empty list takes its type from what is appended
                self.fresh.add(target)
        elif fn in FRESH or isinstance(fn, _ELEMENTWISE) or _is_number_class(fn):
            self._flow(target, *args)
            if (out := _output(fn, args)) is None:
                self.fresh.add(target)
            else:
                self.stores.append((out, set(args)))
                self._share(target, out)
        elif fn in MUTATING:
            self.stores.append((args[0], set(args)))
        elif (getattr(fn, "__module__", None) or "").split(".")[0] in ("math", "cmath"):
            self._flow(target, *args)
        else:
            self._share(target, *args)

    def _named_method(self, target, owner, name, args):
        if name in FRESH_METHODS:
            self._flow(target, owner, *args)
            self.fresh.add(target)
        else:
            self._share(target, owner)
            self._flow(target, *args)
            if name in KEEPING_METHODS:
                self._keep(owner, *args)
            if name not in VIEWING_METHODS:
                self.stores.append((owner, set(args)))
            if name not in VIEWING_METHODS | KEEPING_METHODS:  # of a user's class, it may be
                self.stores.extend((arg, {owner, *args}) for arg in args)

    def _opaque_call(self, target, names):
        self._share(target, *names)
        for name in names:
            self.stores.append((name, set(names)))
