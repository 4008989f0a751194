"""What a variable of untyped code stands for, as far as functions are concerned."""

import re
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

from numba import jit, njit
from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.dispatcher import Dispatcher

from ..functionals import functional_of
from .appended_arguments import by_name
from .cells import maker, may_change, stores

ARGUMENT_NUMBERS = "argnum", "argnums", "out"

_PLAIN = bool | int | float | complex | str | None
_OBJECTS = FunctionType | BuiltinFunctionType | ModuleType | type | Dispatcher


@dataclass(frozen=True)
class Value:
    """What is known at run time: a variable."""

    var: object

    at_run_time = True

    def key(self):
        return "value", self.var.name


@dataclass(frozen=True)
class Snapshot:
    """What a variable held when a function was made: a default."""

    var: object
    place: tuple
    statement: object = field(compare=False)  # that made the function

    at_run_time = True

    def key(self):
        return "snapshot", self.var.name, self.place


@dataclass(frozen=True)
class PythonObject:
    """A Python object."""

    value: object

    at_run_time = False

    def key(self):
        if isinstance(self.value, tuple | _PLAIN):
            return type(self.value), repr(self.value)
        return "object", id(self.value)


@dataclass(frozen=True)
class Closure:
    """A function made within the function."""

    code: CodeType
    cells: tuple  # what it captures, in the order of `code.co_freevars`
    defaults: tuple
    statement: object = field(compare=False)
    lost: str | None = None  # a variable that it may see an old value of

    @property
    def name(self):
        return self.code.co_name

    @property
    def parameters(self):
        return self.code.co_varnames[: self.code.co_argcount]

    @property
    def required(self):
        """How many of the parameters have no default."""
        return self.code.co_argcount - len(self.defaults)

    @property
    def parts(self):
        return self.cells + self.defaults

    @property
    def at_run_time(self):
        return any(part.at_run_time for part in self.parts)

    @property
    def identity(self):
        return id(self.code), len(self.cells)

    def key(self):
        return self.identity, *(part.key() for part in self.parts)


@dataclass(frozen=True)
class Applied:
    """What an operator returned for a function."""

    functional: object
    function: object
    options: tuple  # of pairs (name, value)
    statement: object = field(compare=False)

    @property
    def name(self):
        return self.functional.function.__name__

    @property
    def takes(self):
        return self.functional.takes

    @property
    def parameters(self):
        """The names of the parameters of what was returned."""
        packed = {"primals": ("primals", "direction"), "args": ("y0", "ts", "args")}
        return self.function.parameters if self.takes == "after" else packed[self.takes]

    @property
    def required(self):
        return self.function.required if self.takes == "after" else 2

    @property
    def parts(self):
        return (self.function,)

    @property
    def at_run_time(self):
        return self.function.at_run_time

    @property
    def identity(self):
        return self.name, repr(self.options)

    def key(self):
        return self.identity, self.function.key()


FUNCTIONS = Closure | Applied


def innermost(meaning):
    """The function that operators were applied to, each to the result of the one before."""
    while isinstance(meaning, Applied):
        meaning = meaning.function
    return meaning


class OptionError(Exception):
    """An option of an operator is not known when the code is compiled."""


class Meanings:
    """Of the variables of one function, whose code is not in SSA form yet."""

    def __init__(self, func_ir, argtypes=()):
        self.func_ir = func_ir
        self.argtypes = argtypes
        self.defined = {}
        for label, block in func_ir.blocks.items():
            for k, statement in enumerate(block.body):
                if isinstance(statement, ir.Assign):
                    self.defined.setdefault(statement.target.name, []).append((label, k))
        self.graph = compute_cfg_from_blocks(func_ir.blocks)
        self._open = set()  # closures under way, for those that capture themselves

    def statement(self, place):
        label, k = place
        return self.func_ir.blocks[label].body[k]

    def reaching(self, name, use):
        """Where what a variable holds at a place was assigned, None if that may be several places or none."""
        places = set(self.defined.get(name, ()))
        found, seen, pending = set(), set(), [use]
        while pending:
            label, k = pending.pop()
            earlier = [j for at, j in places if at == label and j < k]
            if earlier:
                found.add((label, max(earlier)))
                continue
            before = [source for source, _ in self.graph.predecessors(label)]
            if label == self.graph.entry_point():
                return None
            for source in before:
                if source not in seen:
                    seen.add(source)
                    pending.append((source, len(self.func_ir.blocks[source].body)))
        return found.pop() if len(found) == 1 else None

    def of(self, var, place, use=None):
        """What a variable stands for at a place.

        What a closure captures is read at `use`, where it is called. Without it, only what never changes
        counts as known.
        """
        where = self.reaching(var.name, place)
        if where is None:
            return Value(var)
        value = self.statement(where).value
        if isinstance(value, ir.Var):
            meant = self.of(value, where, use)
            return Value(var) if isinstance(meant, Value) else meant
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            return PythonObject(value.value) if _is_known(value.value) else Value(var)
        if isinstance(value, ir.Arg):
            return self._argument(value, var)
        if isinstance(value, ir.Expr):
            found = getattr(self, "_" + value.op, lambda *_: None)(value, where, use)
            return Value(var) if found is None else found
        return Value(var)

    def _argument(self, value, var):
        ty = self.argtypes[value.index] if value.index < len(self.argtypes) else None
        if not isinstance(ty, types.Dispatcher):
            return Value(var)
        return PythonObject(getattr(ty.dispatcher, "original", ty.dispatcher))

    def _getattr(self, e, where, use):
        owner = self.of(e.value, where, use)
        if isinstance(owner, PythonObject) and isinstance(owner.value, ModuleType):
            found = getattr(owner.value, e.attr, None)
            return PythonObject(found) if found is not None and _is_known(found) else None
        return None

    def _build_tuple(self, e, where, use):
        items = [self.of(item, where, use) for item in e.items]
        if all(isinstance(item, PythonObject) for item in items):
            return PythonObject(tuple(item.value for item in items))
        return None

    def _cast(self, e, where, use):
        meant = self.of(e.value, where, use)
        return None if isinstance(meant, Value) else meant

    def _make_function(self, e, where, use):
        if where in self._open:  # it calls itself
            return None
        self._open.add(where)
        try:
            cells = tuple(self._cell(item, where, use) for item in self._items(e.closure))
            defaults = tuple(self._default(item, where) for item in self._items(e.defaults))
        finally:
            self._open.discard(where)
        lost = next(
            (
                name
                for name, item in zip(e.code.co_freevars, self._items(e.closure), strict=True)
                if self._is_lost(e.code, name, item)
            ),
            None,
        )
        return Closure(e.code, cells, defaults, self.statement(where), lost)

    def _is_lost(self, code, name, var):
        """Whether the code may lack an assignment to a captured variable: see `cells`."""
        whole = self.func_ir.func_id.func.__code__
        around = maker(whole, code)
        if around is None or name not in around.co_cellvars:
            return False
        if around is whole:
            places = self.defined.get(var.name, ())
            kept = [p for p in places if not isinstance(self.statement(p).value, ir.Arg)]
            if len(kept) >= stores(whole, name):
                return False
        return may_change(around, code, name)

    def _items(self, captured):
        """The variables in the tuple of what is captured, or of the defaults."""
        if captured is None or isinstance(captured, tuple):
            return captured or ()
        ((label, k),) = self.defined[captured.name]
        value = self.func_ir.blocks[label].body[k].value
        if isinstance(value, ir.Const):  # of defaults
            return tuple(ir.Const(v, value.loc) for v in value.value)
        return value.items

    def _default(self, item, where):
        if isinstance(item, ir.Const):
            return PythonObject(item.value)
        meant = self.of(item, where)
        return (
            meant
            if isinstance(meant, PythonObject)
            else Snapshot(item, where, self.statement(where))
        )

    def _cell(self, var, where, use):
        """What is captured: the variable itself, not the copy that inlining makes of it."""
        while is_temporary(var):
            source = self.reaching(var.name, where)
            if source is None or not isinstance(self.statement(source).value, ir.Var):
                break
            var, where = self.statement(source).value, source
        if use is None and len(self.defined.get(var.name, ())) != 1:
            return Value(var)
        return self.of(var, where if use is None else use, use)

    def _call(self, e, where, use):
        if self.is_decoration(e, where):
            return self.of(e.args[0], where, use)
        found = self.called(e, where)
        if found is None or not found.returns_function or e.vararg is not None:
            return None
        function = self.function_given(found, e, where, use)
        if not isinstance(function, FUNCTIONS | PythonObject):
            return None
        options = self.options(found, e, where)
        if isinstance(innermost(function), Closure):  # to which arguments may be appended
            options = tuple((k, _from_start(k, v, len(function.parameters))) for k, v in options)
        return Applied(found, function, options, self.statement(where))

    def called(self, call, place):
        """The `Functional` that a call calls, None if it is none."""
        fn = self.of(call.func, place)
        return functional_of(fn.value) if isinstance(fn, PythonObject) else None

    def is_decoration(self, call, place):
        """Whether a call is `@njit` on a function within the function, which is compiled in any case."""
        if len(call.args) != 1 or call.kws or call.vararg is not None:
            return False
        fn = self.of(call.func, place)
        return isinstance(fn, PythonObject) and fn.value in (njit, jit)

    def function_given(self, functional, call, place, use):
        """The function handed over in a call; None if there is none."""
        given = by_name(functional.parameters, call)
        var = given.get(functional.parameters[0])
        return None if var is None else self.of(var, place, use)

    def options(self, functional, call, place):
        """`(name, value)` of the other arguments."""
        found = []
        for name, var in by_name(functional.parameters, call).items():
            if name == functional.parameters[0]:
                continue
            meant = self.of(var, place)
            if not isinstance(meant, PythonObject):
                raise OptionError(functional, name, call.loc)
            found.append((name, meant.value))
        return tuple(found)


def _from_start(name, value, count):
    """Argument numbers, which may count from the end, where other arguments are to come."""
    if name not in ARGUMENT_NUMBERS:
        return value
    if isinstance(value, tuple):
        return tuple(_from_start(name, k, count) for k in value)
    return value % count if isinstance(value, int) and -count <= value < 0 else value


def _is_known(value):
    return (
        isinstance(value, _OBJECTS | _PLAIN)
        or (isinstance(value, tuple) and all(map(_is_known, value)))
        or functional_of(value) is not None
    )


# What Numba calls values on the stack, "$12call.3", and what becomes of it in inlining, "f_v5__v12call_3".
_TEMPORARY = re.compile(r"\$|.*__v\d+[a-z]")


def is_temporary(var):
    """Whether a variable is a value within an expression, which no assignment comes between."""
    return _TEMPORARY.match(var.name) is not None
