"""Right-hand sides that switch where the time or the state passes a differentiated quantity.

`if t > dose_time`, `if y[0] > threshold`, `np.sign(dose_time - t)`, `math.floor(t / period)`: when the switch
happens depends on what is differentiated, which no derivative of the right-hand side shows: it would be 0, or
leave that out, without a word. Where the right-hand side only bends there, nothing is left out; the code does
not tell which of them it is.
"""

import inspect
import math
import operator
from collections.abc import Hashable

import numpy as np
from numba.core import errors, ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.dispatcher import Dispatcher

from numbad.compilation.notices import warn_once
from numbad.ir.searches import source_line
from numbad.ir.switching_lines import note_switches
from numbad.ir.untyped import untyped

_COMPARISONS = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}


_STEPS = {
    np.sign,
    np.heaviside,
    math.floor,
    np.floor,
    math.ceil,
    np.ceil,
    math.trunc,
    np.trunc,
    np.rint,
}
_STEPS |= {round, np.round, int, np.int64, np.int32, math.copysign, np.copysign}
_STEPS |= {operator.floordiv, operator.mod, math.fmod, np.fmod, np.mod}

# The number of the argument that is searched in.
_SEARCHED_IN = {np.searchsorted: 0, np.digitize: 1}

TIME, STATE = "time", "state"  # besides them, numbers of arguments that are differentiated


def warn_of_jumps(fun, args, first, known):
    """Warn once of each line of `fun(t, y, *args)` that compares t with one of the `args` of these numbers.

    And of each that chooses by y: by a comparison, unless all that this does is to leave a loop, or by a
    step, `np.sign(y[0])`, that is no index. So of the lines of functions that `fun` calls. Not of
    `KnownSwitches`. `first` is the number of args[0] among the arguments of `fun`.
    """
    kinds = {0: {TIME}, 1: {STATE}} | {first + arg: {arg} for arg in args}
    for loc, behind in _find_jumps(fun, kinds, set()):
        by_state = STATE in behind
        if not (
            known.by_state if by_state else all(arg in known.by_args for arg in behind - {TIME})
        ):
            warn_once(_message(loc, by_state), loc)


def note_of_times(fun, known):
    """Note the lines of a `fun(t, y, *args)` of an SDE that compare t with one of `args`, but known switches.

    Choices by the state are not noted: full truncation of a variance is one.
    """
    code = fun.py_func.__code__
    count = code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)
    kinds = {0: {TIME}} | {position: {position - 2} for position in range(2, count)}
    places = (
        (loc, _message_of_sde(loc))
        for loc, behind in _find_jumps(fun, kinds, set())
        if not all(arg in known.by_args for arg in behind - {TIME})
    )
    note_switches(fun.py_func, places)


def _find_jumps(dispatcher, kinds, seen):
    """The places of such comparisons, and what decides there.

    `kinds[i]` is what argument number `i` depends on.
    """
    key = dispatcher, tuple(sorted((k, *sorted(map(str, found))) for k, found in kinds.items()))
    if key in seen:
        return
    seen.add(key)
    try:
        func_ir = untyped(dispatcher)
    except (errors.NumbaError, errors.UnsupportedBytecodeError):
        return  # the compilation proper tells what is wrong
    flow = _Flow(func_ir, kinds)
    choices, indices = _choices(func_ir, flow) | _values(func_ir, flow), _indices(func_ir, flow)
    for block in func_ir.blocks.values():
        for s in block.find_insts(ir.Assign):
            if not isinstance(s.value, ir.Expr):
                continue
            if s.value.op == "binop" and s.value.fn in _COMPARISONS:
                behind = flow.behind(_read(s.value))
                if _moves_in_time(behind):
                    yield s.loc, behind - {STATE}
                elif STATE in behind and s.target.name in choices:
                    yield s.loc, behind
            elif _jumps(func_ir, flow, s, indices):
                behind = flow.behind(_read(s.value))
                if _moves_in_time(behind) or STATE in behind:
                    yield s.loc, behind
            elif s.value.op == "call" and (callee := flow.callee(s.value)) is not None:
                yield from _find_jumps(callee, flow.handed_on(s.value, callee), seen)


def _moves_in_time(behind):
    """Whether the time is compared with what is differentiated."""
    return TIME in behind and bool(behind - {TIME, STATE})


def _jumps(func_ir, flow, statement, indices):
    """Whether what a statement computes jumps, is constant between and is no index of an interpolation."""
    value = statement.value
    if _is_step(flow, value):
        return statement.target.name not in indices
    called = flow.called(value)
    if called not in _SEARCHED_IN:
        return False
    place = _SEARCHED_IN[called]
    table = value.args[place].name if len(value.args) > place else None
    return not _interpolates(func_ir, flow, statement.target.name, table)


def _interpolates(func_ir, flow, found, table):
    """Whether a table is read where a number was found in it, as to interpolate between its elements."""
    for block in func_ir.blocks.values():
        for s in block.find_insts(ir.Assign):
            if getattr(s.value, "op", None) != "getitem" or s.value.value.name != table:
                continue
            if found in flow.variables_behind([s.value.index.name]):
                return True
    return False


def _is_step(flow, value):
    """Whether an expression is one that jumps and is constant between."""
    if value.op in ("binop", "inplace_binop"):
        return value._kws.get("immutable_fn", value.fn) in _STEPS
    return flow.called(value) in _STEPS


def _indices(func_ir, flow):
    """The variables that indices are made of."""
    names = []
    for block in func_ir.blocks.values():
        for s in block.body:
            access = getattr(s, "value", None) if isinstance(s, ir.Assign) else s
            if getattr(access, "op", None) == "getitem" or isinstance(access, ir.SetItem):
                names.append(access.index.name)
    return flow.variables_behind(names)


def _values(func_ir, flow):
    """The variables that results, elements of arrays and indices are computed from."""
    names = []
    for block in func_ir.blocks.values():
        for s in block.body:
            if isinstance(s, ir.Return):
                names.append(s.value.name)
            elif isinstance(s, ir.SetItem | ir.StaticSetItem):
                names.append(s.value.name)
                index = s.index if isinstance(s, ir.SetItem) else s.index_var
                names += [] if index is None else [index.name]
    return flow.variables_behind(names)


def _choices(func_ir, flow):
    """The variables that branches read, but for those that leave a loop, and those on the line of such a one.

    Python tests the condition of a `while` loop once more before it.
    """
    bodies = [loop.body for loop in compute_cfg_from_blocks(func_ir.blocks).loops().values()]
    branches, lines = [], set()
    for label, block in func_ir.blocks.items():
        branch = block.terminator
        if isinstance(branch, ir.Branch):
            targets = {branch.truebr, branch.falsebr}
            if any(label in body and targets - set(body) for body in bodies):
                lines.add(branch.loc.line)
            else:
                branches.append(branch)
    names = [branch.cond.name for branch in branches if branch.loc.line not in lines]
    return flow.variables_behind(names)


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
                elif not self._is_shape(s.value):
                    self.sources.setdefault(name, set()).update(_read(s.value))
            for s in block.find_insts(ir.SetItem | ir.StaticSetItem):
                self.sources.setdefault(s.target.name, set()).add(s.value.name)

    def _is_shape(self, value):
        """Whether an expression reads how long an array is, and nothing in it."""
        op = getattr(value, "op", None)
        if op == "getattr":
            return value.attr in ("shape", "size", "ndim", "dtype")
        return op == "call" and self.named.get(value.func.name) is len

    def variables_behind(self, names):
        """Variables, and all that they are computed from."""
        seen, pending = set(), list(names)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += self.sources.get(name, ())
        return seen

    def behind(self, names):
        """What variables depend on."""
        return set().union(*(self.kinds.get(name, ()) for name in self.variables_behind(names)))

    def called(self, value):
        """The function that a call names, None where it names none or one without a hash."""
        called = self.named.get(value.func.name) if value.op == "call" else None
        return called if isinstance(called, Hashable) else None

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


def _message_of_sde(loc):
    return (
        "the drift or the diffusion of an SDE compares the time with an argument that is differentiated: "
        "derivatives by it leave out that the switch moves, so that they are 0 where it does nothing else:\n"
        f"    {source_line(loc)}\nWay out: tell the solver of it, as in events=nd.ode.event(lambda t, y, "
        "*args: t - args[0]) (docs/sde.md); where there is none, a smooth step of the time"
    )


def _message(loc, by_state):
    line = source_line(loc)
    if by_state:
        return (
            "the right-hand side of an ODE chooses by its state, and is differentiated: should it jump where "
            f"the choice changes, derivatives leave out that this moves:\n    {line}\nWay out: tell the "
            "solver of it, as in events=nd.ode.event(lambda t, y, *args: y[0] - 1.0) (docs/ode.md). If the "
            "right-hand side does not jump there, or an event alone changes what it chooses by, derivatives "
            "are right"
        )
    return (
        "the right-hand side of an ODE compares the time with an argument of the solver that is "
        "differentiated, or may be: derivatives by it leave out that the switch moves, so that they are 0 "
        f"where it does nothing else:\n    {line}\nWay out: tell the solver of it, as in "
        "tstops=lambda *args: args[0] or events=nd.ode.event(...) (docs/ode.md). If the argument is a "
        "constant, or the right-hand side does not jump there, derivatives are right"
    )
