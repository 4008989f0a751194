"""Puts functions without closures where untyped code hands closures to operators and their kin."""

from dataclasses import replace
from types import BuiltinFunctionType, FunctionType

from numba.core import ir
from numba.core.ir_utils import build_definitions

from ...rules.registry import generation
from .appended_arguments import Put, UntypedCall, by_name
from .function_meaning import (
    ARGUMENT_NUMBERS,
    Applied,
    Closure,
    Meanings,
    OptionError,
    PythonObject,
    Snapshot,
    Value,
    innermost,
)
from .lifted import Lifted, captured_by, plain, shape
from .refusals import check_code, check_single, check_values, handed_on, refusal, unknown_option
from .unused import drop_unused, statements, used_names

_MEMO = "__numbad_lifted__"  # attribute of the function around them


def lift(func_ir, argtypes=()):
    """Lift the closures that a function hands to operators, in place."""
    try:
        _Lift(func_ir, argtypes).run()
    except OptionError as error:
        raise unknown_option(*error.args) from None


class _Lift:
    """The work on one function."""

    def __init__(self, func_ir, argtypes):
        self.func_ir = func_ir
        self.meanings = Meanings(func_ir, argtypes)
        self.py_func = func_ir.func_id.func
        self.memo = _memo(self.py_func)
        self.before = {}  # id of a statement -> those to be put before it
        self.snapshots = {}  # key of a default -> the variable that keeps it
        self.pending = []  # calls of operators for functions that need something from the run time
        self.called = set()  # the names of the operators
        self.decorations = set()  # ids of statements that jit a function within the function
        self.changed = False

    def run(self):
        calls = [
            ((label, k), statement)
            for label, block in self.func_ir.blocks.items()
            for k, statement in enumerate(block.body)
            if _is_call(statement)
        ]
        self.decorations = {
            id(s) for where, s in calls if self.meanings.is_decoration(s.value, where)
        }
        functionals = [self.meanings.called(s.value, where) for where, s in calls]
        for functional, (where, statement) in zip(functionals, calls, strict=True):
            if functional is not None:
                self.called.add(statement.value.func.name)
                self._functional_call(functional, where, statement)
        for functional, (where, statement) in zip(functionals, calls, strict=True):
            if functional is None and self.pending:
                self._call(where, statement)
        if self.changed:
            for block in self.func_ir.blocks.values():
                block.body = [s for old in block.body for s in (*self.before.get(id(old), ()), old)]
            calls = {id(statement) for _, _, statement in self.pending} | self.decorations
            drop_unused(self.func_ir, calls, self.called)
            self.func_ir._definitions = build_definitions(self.func_ir.blocks)
        self._refuse_rest()

    def _call(self, where, statement):
        called = self.meanings.of(statement.value.func, where, use=where)
        if isinstance(called, Applied) and any(called.statement is s for _, _, s in self.pending):
            self._result_call(called, where, statement)

    # -- functions that need nothing from the run time -----------------------------------------

    def _functional_call(self, functional, where, statement):
        use = None if functional.returns_function else where
        function = self.meanings.function_given(functional, statement.value, where, use)
        if function is None or statement.value.vararg is not None:
            return
        if isinstance(function, Value | Snapshot):
            check_single(functional, function.var, self.meanings, statement.loc)
        elif function.at_run_time and functional.returns_function:
            self.pending.append((functional, function, statement))
        elif function.at_run_time:
            self._own_args(functional, function, where, statement)
        elif _is_new(functional, function):
            self._fold(functional, function, where, statement)

    def _fold(self, functional, function, where, statement):
        check_values(function, self._function_var(functional, statement.value))
        known = self._known(function)
        call = UntypedCall(self.meanings, where)
        if functional.returns_function:
            options = self.meanings.options(functional, statement.value, where)
            result = self._result(functional, known, options)
            statement.value = Put(functional.function.__name__, result, statement.loc)
        else:
            dispatcher = functional.as_dispatcher(known)
            self._hand_over(call, functional, call.constant(dispatcher, "function"))
        self._changed(call)

    def _known(self, function):
        """The Python function, or dispatcher, that is meant."""
        if isinstance(function, PythonObject):
            return function.value
        if isinstance(function, Applied):
            inner = self._known(function.function)
            return self._result(function.functional, inner, function.options)
        return self._remembered(function, None, ())

    # -- functions that do ---------------------------------------------------------------------

    def _own_args(self, functional, function, where, statement):
        check_values(function, self._function_var(functional, statement.value))
        call = UntypedCall(self.meanings, where)
        given = by_name(functional.parameters, call.expr).get("args")
        length = 0 if given is None else call.length(given)
        leading = functional.leading({}) if functional.leading else 1
        own = self._own(function, leading, length, call)
        result, captured = self._bound(function, own)
        call.expr = self._hand_over(
            call, functional, call.constant(functional.as_dispatcher(result), "function")
        )
        args = call.extended(given, self._variables(captured))
        kws = [(name, var) for name, var in call.expr.kws if name != "args"]
        positional, at = list(call.expr.args), functional.parameters.index("args")
        if at < len(positional):
            positional[at] = args
        else:
            kws.append(("args", args))
        statement.value = ir.Expr.call(call.expr.func, positional, kws, call.expr.loc)
        self._changed(call)

    @staticmethod
    def _function_var(functional, expr):
        return by_name(functional.parameters, expr)[functional.parameters[0]]

    def _hand_over(self, call, functional, var):
        """The call with another function handed over."""
        first, old = functional.parameters[0], call.expr
        args = [var, *old.args[1:]] if old.args else []
        kws = [(name, var if name == first else value) for name, value in old.kws]
        call.statement.value = ir.Expr.call(old.func, args, kws, old.loc)
        return call.statement.value

    def _result_call(self, called, where, statement):
        """A call of what an operator returned."""
        call = UntypedCall(self.meanings, where)
        if call.expr.vararg is not None:
            raise refusal(called, "is called with '*args'", call.expr.loc, "name the arguments")
        check_values(called, call.expr.func)
        takes, names = called.functional.takes, called.function.parameters
        if takes == "after":
            given = by_name(names, call.expr)
            last = max((k for k, name in enumerate(names) if name in given), default=-1)
            own = names[: max(called.function.required, last + 1, _last_option(called) + 1)]
        else:
            at = {"primals": 0, "args": 2}[takes]
            packed = by_name(called.parameters, call.expr).get(called.parameters[at])
            leading = called.functional.leading(dict(called.options)) if takes == "args" else 0
            length = 0 if packed is None else call.length(packed)
            own = self._own(called.function, leading, length, call)
        result, captured = self._applied(called, own)
        function, variables = call.constant(result, "function"), self._variables(captured)
        if takes == "after":
            arguments = [self._argument(call, called, name, given) for name in own] + variables
            kws = ()
        else:
            arguments, kws = list(call.expr.args), list(call.expr.kws)
            new = call.extended(packed, variables)
            if at < len(arguments):
                arguments[at] = new
            else:
                kws = [
                    *((n, v) for n, v in kws if n != called.parameters[at]),
                    (called.parameters[at], new),
                ]
        statement.value = ir.Expr.call(function, arguments, kws, call.expr.loc)
        self._changed(call)

    def _own(self, function, leading, length, call):
        """The function's own arguments, of which a tuple has all but the leading ones."""
        names, least = function.parameters, function.required
        if length is None and least < len(names):
            told = "has defaults, and gets a tuple of arguments whose length is not seen here"
            raise refusal(function, told, call.expr.loc, "write the tuple in the call")
        given = least if length is None else leading + length
        if given < least:
            told = f"is called without its argument '{names[given]}'"
            raise refusal(function, told, call.expr.loc, "give it")
        return names[:given]

    def _argument(self, call, called, name, given):
        """The variable for one of the function's own arguments: the default where it is left out."""
        if name in given:
            return given[name]
        closure = innermost(called)
        optional = dict(zip(closure.parameters[closure.required :], closure.defaults, strict=True))
        if name not in optional:
            told = f"is called without its argument '{name}'"
            raise refusal(called, told, call.expr.loc, "give it")
        default = optional[name]
        if isinstance(default, PythonObject):
            return call.constant(default.value, name)
        return self._variables([default])[0]

    def _applied(self, applied, own):
        """An operator's result for the lifted function, and what it takes besides."""
        function, captured = self._bound(applied.function, own)
        counts = len(own), len(captured)
        return self._result(applied.functional, function, applied.options, *counts), captured

    def _result(self, functional, function, options, *counts):
        """What an operator returns, the same object each time the code is compiled."""
        key = functional.function, function, repr(options), counts
        if key not in self.memo:
            self.memo[key] = functional.applied(function, dict(options), *counts)
        return self.memo[key]

    def _bound(self, meaning, own):
        """A function of its own arguments and what it captures, and the list of that."""
        if isinstance(meaning, Applied) and meaning.functional.takes == "after":
            return self._applied(meaning, own)
        trimmed = _without_given(meaning, own)
        captured = captured_by(trimmed)
        return self._remembered(trimmed, own, captured), [needed for needed, _ in captured]

    def _remembered(self, meaning, own, captured):
        in_place = own is not None or any(map(_is_function, meaning.parts))
        check_code(meaning, in_place)
        key = own, shape(meaning, captured)
        if key not in self.memo:
            namespace = self.py_func.__globals__
            if in_place:
                own = meaning.parameters if own is None else own
                self.memo[key] = Lifted(own, captured).written(meaning, namespace)
            else:
                self.memo[key] = plain(meaning, namespace)
        return self.memo[key]

    def _variables(self, captured):
        """The variables that hold what is captured."""
        return [
            needed.var if isinstance(needed, Value) else self._snapshot(needed)
            for needed in captured
        ]

    def _snapshot(self, default):
        key = default.key()
        if key not in self.snapshots:
            made, loc = default.statement, default.statement.loc
            var = made.target.scope.redefine("$numbad_default", loc)
            self.before.setdefault(id(made), []).append(ir.Assign(default.var, var, loc))
            self.snapshots[key] = var
        return self.snapshots[key]

    def _changed(self, call):
        self.before.setdefault(id(call.statement), []).extend(call.before)
        self.changed = True

    def _refuse_rest(self):
        left, used = {id(s) for s in statements(self.func_ir)}, used_names(self.func_ir)
        for functional, function, statement in self.pending:
            if id(statement) in left and statement.target.name in used:
                names = [name for _, name in captured_by(function)]
                raise handed_on(functional, names, statement.loc)


def _memo(py_func):
    """What has been made for a function since rules, or what it calls, changed last."""
    made = vars(py_func).setdefault(_MEMO, {})
    if generation() not in made:
        made.clear()
    return made.setdefault(generation(), {})


def _is_call(statement):
    value = getattr(statement, "value", None)
    return isinstance(statement, ir.Assign) and isinstance(value, ir.Expr) and value.op == "call"


def _is_new(functional, function):
    """Whether Numba does not come to know by itself what is handed over."""
    if isinstance(function, PythonObject):
        plain = isinstance(function.value, FunctionType | BuiltinFunctionType)
        dispatcher = hasattr(function.value, "py_func")
        return plain or (dispatcher and not functional.in_nopython)
    return True


def _is_function(part):
    return isinstance(part, Closure | Applied)


def _without_given(meaning, own):
    """A closure without the defaults of the arguments that are given."""
    if not isinstance(meaning, Closure):
        return meaning
    given = max(0, len(own) - meaning.required)
    return replace(meaning, defaults=meaning.defaults[given:])


def _last_option(applied):
    """The last argument that the operator is told to differentiate by."""
    numbers = [-1]
    for name, value in applied.options:
        if name in ARGUMENT_NUMBERS:
            numbers += [k for k in (value if isinstance(value, tuple) else (value,)) if k]
    return max(numbers)
