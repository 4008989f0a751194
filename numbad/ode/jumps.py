"""Right-hand sides that switch where the time passes a differentiated quantity: `if t > dose_time`.

The derivative by such a time is in what the switch moves, which no derivative of the right-hand side
shows: it would be 0, or leave that out, without a word.
"""

import linecache
import operator

from numba.core import errors, ir

from numbad.ir.searches import warn_once
from numbad.ir.untyped import untyped

_COMPARISONS = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}


def warn_of_jumps(fun, positions):
    """Warn once of each line of `fun(t, ...)` that compares t with one of the arguments at `positions`."""
    try:
        func_ir = untyped(fun)
    except (errors.NumbaError, errors.UnsupportedBytecodeError):
        return  # the compilation proper tells what is wrong
    for loc in _find_jumps(func_ir, set(positions)):
        warn_once(_message(loc), loc)


def _find_jumps(func_ir, positions):
    """The places of such comparisons."""
    flow = _Flow(func_ir)
    last = len(func_ir.arg_names) - 1  # that of *args, if there is one
    wanted = {min(position, last) for position in positions}
    for block in func_ir.blocks.values():
        for s in block.find_insts(ir.Assign):
            if (
                isinstance(s.value, ir.Expr)
                and s.value.op == "binop"
                and s.value.fn in _COMPARISONS
            ):
                reached = flow.arguments_behind(s.value)
                if 0 in reached and wanted & reached:
                    yield s.loc


class _Flow:
    """What is computed from which arguments, whatever the order of the statements."""

    def __init__(self, func_ir):
        self.sources, self.arguments = {}, {}
        for block in func_ir.blocks.values():
            for s in block.find_insts(ir.Assign):
                if isinstance(s.value, ir.Arg):
                    self.arguments[s.target.name] = s.value.index
                else:
                    self.sources.setdefault(s.target.name, set()).update(_read(s.value))

    def arguments_behind(self, value):
        seen, pending = set(), _read(value)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += self.sources.get(name, ())
        return {self.arguments[name] for name in seen if name in self.arguments}


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
