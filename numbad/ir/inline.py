"""Puts the code of a callee in place of a call."""

import inspect
import os

import numba
from numba import typeof
from numba.core import ir, types

from .function import is_expr, is_phi, map_vars, successors

_OWN = os.path.dirname(os.path.dirname(__file__))
WRITTEN = "<numbad"
"""What the names of files of code begin with that numbad wrote, see `source`."""

_LIBRARIES = (
    os.path.dirname(numba.__file__),
    *(os.path.join(_OWN, x) for x in ("ir", "reverse", "rules")),
)


def bind(fn, call, py_func, before):
    """What a call gives to the parameters of a Python function: variables, one a parameter.

    Statements that make them (constants of defaults, tuples of `*args`) are appended to `before`.
    """
    given = list(call.args)
    if call.vararg is not None:
        given += unpacked(fn, call.vararg, before)
    parameters = inspect.signature(py_func).parameters.values()
    named = dict(call.kws)
    bound = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            bound.append(_tuple(fn, given, call.loc, before))
            given = []
        elif given:
            bound.append(given.pop(0))
        elif parameter.name in named:
            bound.append(named[parameter.name])
        else:
            bound.append(_default(fn, parameter, call.loc, before))
    return bound


def unpacked(fn, var, before):
    """The members of a tuple as variables; the statements that make them are appended to `before`."""
    members = fn.type_of(var).types
    found = []
    for k, ty in enumerate(members):
        target = fn.fresh("$star", ty, var.loc)
        before.append(ir.Assign(ir.Expr.static_getitem(var, k, None, var.loc), target, var.loc))
        found.append(target)
    return found


def _tuple(fn, given, loc, before):
    ty = types.BaseTuple.from_types([types.unliteral(fn.type_of(v)) for v in given])
    target = fn.fresh("$args", ty, loc)
    before.append(ir.Assign(ir.Expr.build_tuple(list(given), loc), target, loc))
    return target


def _default(fn, parameter, loc, before):
    value = parameter.default
    simple = value is None or isinstance(value, bool | int | float | complex | str)
    node = ir.Const(value, loc) if simple else ir.Global(f"default_{parameter.name}", value, loc)
    target = fn.fresh("$default", typeof(value), loc)
    before.append(ir.Assign(node, target, loc))
    return target


def inline(fn, label, index, callee, arguments, before=(), place=None):
    """Replace statement `index` of block `label`, a call, by the code of `callee`.

    `arguments` are variables, one for each of its parameters; `before` are statements that make
    them; `place` is where messages place the code of libraries. The callee's names get fresh ones,
    its labels too. Returns the names of what it calls.
    """
    block = fn.blocks[label]
    call = block.body[index]
    rest = ir.Block(block.scope, block.loc)
    rest.body = block.body[index + 1 :]
    block.body = [*block.body[:index], *before]
    fn.serial += 1
    suffix = f"#{fn.serial}"
    if callee.loc.filename.startswith(WRITTEN):
        fn.written.add(suffix[1:])
    base = fn.new_label() - callee.entry
    names = {}

    def rename(var):
        if var is ir.UNDEFINED or not isinstance(var, ir.Var):
            return var
        return ir.Var(block.scope, var.name + suffix, var.loc)

    for name, ty in callee.types.items():
        fn.types[name + suffix] = ty
    fn.names.update({name + suffix: known + suffix for name, known in callee.names.items()})
    for name, argument in zip(callee.parameters, arguments, strict=True):
        names[name] = argument
        target = ir.Var(block.scope, name + suffix, call.loc)
        block.append(ir.Assign(argument, target, call.loc))
    block.append(ir.Jump(callee.entry + base, call.loc))
    end = max(callee.blocks) + base + 1
    returned = _copy(fn, callee, base, rename, end)
    if is_of_library(callee.loc.filename):  # messages name the user's own line
        for own in callee.blocks:
            for s in fn.blocks[own + base].body:
                s.loc = place or call.loc
                if isinstance(getattr(s, "value", None), ir.Inst):
                    s.value.loc = s.loc
    elsewhere = fn.sites.get(label, ())
    fn.sites.update({own + base: (*elsewhere, call.loc) for own in callee.blocks})
    fn.sites[end] = elsewhere
    fn.blocks[end] = rest
    _receive(fn, rest, call, returned)
    redirect(fn, rest, label, end)
    fn.changed([label, *(own + base for own in callee.blocks), end])
    return [
        s.target.name + suffix
        for _, s in callee.statements()
        if isinstance(s, ir.Assign) and is_expr(s.value, "call")
    ]


def is_of_library(filename):
    """Whether a file is Numba's or numbad's own, whose loops and lines nobody looks for."""
    return filename.startswith((*(f"{x}{os.sep}" for x in _LIBRARIES), WRITTEN))


def _copy(fn, callee, base, rename, end):
    """Copies the callee's blocks; `[(label, returned variable)]`."""
    returned, scope = [], fn.scope
    for label, block in callee.blocks.items():
        new = ir.Block(scope, block.loc)
        for s in block.body:
            if isinstance(s, ir.Return):
                returned.append((label + base, rename(s.value)))
                new.append(ir.Jump(end, s.loc))
                continue
            copy = map_vars(s, rename)
            _relabel(copy, base)
            if isinstance(s, ir.Assign) and s.value in callee.calls:
                fn.calls[copy.value] = callee.calls[s.value]
            elif s in callee.calls:
                fn.calls[copy] = callee.calls[s]
            new.append(copy)
        fn.blocks[label + base] = new
    return returned


def _relabel(s, base):
    if isinstance(s, ir.Jump):
        s.target += base
    elif isinstance(s, ir.Branch):
        s.truebr += base
        s.falsebr += base
    elif is_phi(s):
        s.value._kws["incoming_blocks"] = [b + base for b in s.value.incoming_blocks]


def _receive(fn, rest, call, returned):
    """The call's target takes the returned value; a phi where there are several returns."""
    if len(returned) == 1:
        value = returned[0][1]
    elif not returned:  # it always raises: what follows is never reached
        value = ir.Const(None, call.loc)
    else:
        value = ir.Expr.phi(call.loc)
        value._kws["incoming_blocks"] = [label for label, _ in returned]
        value._kws["incoming_values"] = [var for _, var in returned]
    rest.body.insert(0, ir.Assign(value, call.target, call.loc))


def redirect(fn, block, old, new):
    """What came from block `old` comes from `new`, in the phis of what follows it."""
    for label in successors(block):
        for s in fn.blocks[label].body:
            if is_phi(s):
                s.value._kws["incoming_blocks"] = [
                    new if b == old else b for b in s.value.incoming_blocks
                ]
