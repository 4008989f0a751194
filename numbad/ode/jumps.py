"""Right-hand sides that switch where the time passes a differentiated quantity: `if t > dose_time`.

The derivative by such a time is in what the switch moves, which no derivative of the right-hand side
shows: it would be 0, or leave that out, without a word.
"""

import inspect
import linecache
import operator

from numba.core import errors, ir
from numba.core.dispatcher import Dispatcher

from numbad.ir.searches import warn_once
from numbad.ir.untyped import untyped

_COMPARISONS = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}


TIME, MOVED = "time", "moved"


def warn_of_jumps(fun, positions):
    """Warn once of each line of `fun(t, ...)` that compares t with one of the arguments at `positions`.

    So of the lines of functions that `fun` calls.
    """
    kinds = {0: {TIME}} | {position: {MOVED} for position in positions}
    for loc in _find_jumps(fun, kinds, set()):
        warn_once(_message(loc), loc)


def _find_jumps(dispatcher, kinds, seen):
    """The places of such comparisons; `kinds[i]` is what argument number `i` depends on."""
    key = dispatcher, tuple(sorted((k, *sorted(found)) for k, found in kinds.items()))
    if key in seen:
        return
    seen.add(key)
    try:
        func_ir = untyped(dispatcher)
    except (errors.NumbaError, errors.UnsupportedBytecodeError):
        return  # the compilation proper tells what is wrong
    flow = _Flow(func_ir, kinds)
    for block in func_ir.blocks.values():
        for s in block.find_insts(ir.Assign):
            if not isinstance(s.value, ir.Expr):
                continue
            if s.value.op == "binop" and s.value.fn in _COMPARISONS:
                if flow.behind(_read(s.value)) >= {TIME, MOVED}:
                    yield s.loc
            elif s.value.op == "call" and (callee := flow.callee(s.value)) is not None:
                yield from _find_jumps(callee, flow.handed_on(s.value, callee), seen)


class _Flow:
    """What is computed from which arguments, whatever the order of the statements."""

    def __init__(self, func_ir, kinds):
        self.sources, self.kinds, self.named = {}, {}, {}
        last = len(func_ir.arg_names) - 1  # that of *args, if there is one
        own = {}
        for position, found in kinds.items():
            own.setdefault(min(position, last), set()).update(found)
        for block in func_ir.blocks.values():
            for s in block.find_insts(ir.Assign):
                name = s.target.name
                if isinstance(s.value, ir.Arg):
                    self.kinds[name] = own.get(s.value.index, set())
                elif isinstance(s.value, ir.Global | ir.FreeVar):
                    self.named[name] = s.value.value
                elif getattr(s.value, "op", None) == "getattr" and s.value.value.name in self.named:
                    self.named[name] = getattr(self.named[s.value.value.name], s.value.attr, None)
                else:
                    self.sources.setdefault(name, set()).update(_read(s.value))

    def behind(self, names):
        """What variables depend on."""
        seen, pending, found = set(), list(names), set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                found |= self.kinds.get(name, set())
                pending += self.sources.get(name, ())
        return found

    def callee(self, call):
        """The dispatcher that a call names, if it names one."""
        named = self.named.get(call.func.name)
        return named if isinstance(named, Dispatcher) else None

    def handed_on(self, call, callee):
        """What the arguments of a call depend on, by their numbers in the callee."""
        names = list(inspect.signature(callee.py_func).parameters)
        given = list(enumerate(call.args))
        given += [(names.index(name), value) for name, value in call.kws if name in names]
        if call.vararg is not None:
            given += [(k, call.vararg) for k in range(len(call.args), len(names))]
        found = {k: self.behind([value.name]) for k, value in given}
        return {k: kinds for k, kinds in found.items() if kinds}


def _read(value):
    if isinstance(value, ir.Var):
        return [value.name]
    return [v.name for v in value.list_vars()] if isinstance(value, ir.Expr) else []


def _message(loc):
    line = linecache.getline(loc.filename, loc.line).strip()
    return (
        "the right-hand side of an ODE compares the time with an argument of the solver that is "
        "differentiated, or may be: derivatives by it leave out that the switch moves, so that they are 0 "
        f"where it does nothing else:\n    {line}\nWay out: solve up to the switch and from it on, in two "
        "calls, whose times may be differentiated (docs/ode.md). If the argument is a constant, or the "
        "right-hand side does not jump there, derivatives are right"
    )
