"""Functions that a branch picks, as in `kernel = wide if far else narrow`, called by their number.

Numba types such a variable as a pointer to code, which has no derivative. Here a variable beside it
holds the number of the function, and a call goes to a function that branches on that number. So
derivatives flow as through any branch, and nothing else needs to know of functions that are picked.
"""

from numba import njit
from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions

from ..compilation.linking import PLAIN
from ..source import define


@register_pass(mutates_CFG=False, analysis_only=False)
class CallPicked(FunctionPass):
    """Calls by their number the functions that a branch picks, where they are called and no more."""

    _name = "numbad_call_picked"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        blocks = state.func_ir.blocks
        values = _values(blocks)
        held = _functions_held(values)
        picked = {name: functions for name, functions in held.items() if len(functions) > 1}
        if not picked or _used_otherwise(blocks, picked):
            return False
        _Numbering(values, picked, state.func_ir).run()
        state.func_ir._definitions = build_definitions(blocks)
        return True


def _values(blocks):
    """What each variable is assigned, by name; None for one that is assigned twice."""
    values = {}
    for block in blocks.values():
        for s in block.find_insts(ir.Assign):
            values[s.target.name] = None if s.target.name in values else s.value
    return values


def _sources(value):
    """The names that a phi or a copy takes its value from: None among them if it may have none."""
    if isinstance(value, ir.Var):
        return [value.name]
    if isinstance(value, ir.Expr) and value.op == "phi":
        return [getattr(source, "name", None) for source in value.incoming_values]
    return []


def _is_function(value):
    return isinstance(value, ir.Global | ir.FreeVar) and type(value.value) in PLAIN


def _functions_held(values):
    """The dispatchers that a variable may hold, of those that hold nothing else."""
    held = {
        name: [value.value] if _is_function(value) else []
        for name, value in values.items()
        if _is_function(value) or _sources(value)
    }
    while mixed := [name for name in held if not all(s in held for s in _sources(values[name]))]:
        for name in mixed:
            del held[name]
    changed = True
    while changed:
        changed = False
        for name, functions in held.items():
            for function in (f for source in _sources(values[name]) for f in held[source]):
                if not any(function is known for known in functions):
                    functions.append(function)
                    changed = True
    return held


def _used_otherwise(blocks, names):
    """Whether something is done with one of these variables besides calling and copying it."""
    for block in blocks.values():
        for s in block.body:
            value = s.value if isinstance(s, ir.Assign) else None
            if isinstance(s, ir.Del) or _sources(value):
                continue
            used = {var.name for var in (value.list_vars() if _is_call(value) else s.list_vars())}
            if _is_call(value) and value.vararg is None:
                given = [*value.args, *(arg for _, arg in value.kws)]
                used = {arg.name for arg in given}
            if used & names.keys():
                return True
    return False


def _is_call(value):
    return isinstance(value, ir.Expr) and value.op == "call"


class _Numbering:
    """The work on one function whose variables `picked` hold one of several functions."""

    def __init__(self, values, picked, func_ir):
        self.values = values
        self.picked = picked
        self.func_ir = func_ir
        self.functions = []  # their places in here are their numbers
        self.numbers = {}  # name of a variable that holds a function -> that of its number
        self.made = {}  # name of a variable -> what calls the function that it holds

    def run(self):
        pending = list(self.picked)
        while pending:
            name = pending.pop()
            if name not in self.numbers:
                self.numbers[name] = f"{name}.number"
                pending += _sources(self.values[name])
        for block in self.func_ir.blocks.values():
            block.body = [made for statement in block.body for made in self._written(statement)]

    def _written(self, statement):
        """A statement with the number of what it assigns; what held a pointer to code is gone."""
        if isinstance(statement, ir.Del):
            return [] if statement.value in self.picked else [statement]
        if not isinstance(statement, ir.Assign):
            return [statement]
        target, value, loc = statement.target, statement.value, statement.loc
        if target.name in self.numbers:
            number = ir.Assign(self._number(value, loc), self._numbered(target), loc)
            return [number] if target.name in self.picked else [statement, number]
        if _is_call(value) and value.func.name in self.picked:
            return self._call(target, value, loc)
        return [statement]

    def _numbered(self, var):
        return ir.Var(var.scope, self.numbers[var.name], var.loc)

    def _number(self, value, loc):
        if isinstance(value, ir.Var):
            return self._numbered(value)
        if isinstance(value, ir.Expr):
            phi = ir.Expr.phi(loc)
            phi.incoming_values += map(self._numbered, value.incoming_values)
            phi.incoming_blocks += value.incoming_blocks
            return phi
        return ir.Const(self._number_of(value.value), loc)

    def _number_of(self, function):
        for k, known in enumerate(self.functions):
            if known is function:
                return k
        self.functions.append(function)
        return len(self.functions) - 1

    def _call(self, target, call, loc):
        """The statements of a call by number."""
        names = [name for name, _ in call.kws]
        caller = target.scope.redefine(f"${call.func.name}.by_number", loc, rename=True)
        made = self._caller(call.func, len(call.args), names)
        args = [self._numbered(call.func), *call.args, *(arg for _, arg in call.kws)]
        return [
            ir.Assign(ir.Global(made.__name__, made, loc), caller, loc),
            ir.Assign(ir.Expr.call(caller, args, (), loc), target, loc),
        ]

    def _caller(self, var, positional, names):
        """The function that takes a number and arguments, and calls what is meant."""
        key = var.name, positional, *names
        if key not in self.made:
            args = [f"arg{k}" for k in range(positional)]
            given = ", ".join([*args, *(f"{name}={name}" for name in names)])
            functions = self.picked[var.name]
            lines = [f"def call_picked({', '.join(['number', *args, *names])}):"]
            for k, function in enumerate(functions[:-1]):
                lines += [f"    if number == {self._number_of(function)}:"]
                lines += [f"        return function_{k}({given})"]
            lines += [f"    return function_{len(functions) - 1}({given})", ""]
            namespace = {f"function_{k}": function for k, function in enumerate(functions)}
            self.made[key] = njit(define("\n".join(lines), namespace))
        return self.made[key]
