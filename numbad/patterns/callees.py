"""Calls of functions whose code is known: they are run by the machine as well."""

from numba.core import ir, types

from ..errors import NumbadError
from ..ir.callee import callee_of
from ..ir.inline import bind
from ..ir.sequences import call_helper
from ..reverse.ops.classify import classify
from ..rules.registry import JVP, SCALAR, VJP
from . import sets
from .values import NoWayError, deps_of, unknown_of


def call_step(fn, s, call, compiled):
    """The step of a call that is not treated by name; None where it cannot be followed."""
    callee = callee_of(fn, call)
    if callee.kind == "dispatcher":
        dispatcher = callee.key
        ruled = any(dispatcher in table for table in (SCALAR, VJP, JVP))
        if ruled or hasattr(dispatcher, "operator") or not hasattr(dispatcher, "py_func"):
            return _bounded(fn, s, call)
        return _entered(fn, s, call, dispatcher, None, compiled)
    try:
        op = classify(fn, _label(fn, s), s)
    except NumbadError:
        return _bounded(fn, s, call)
    if not getattr(op, "expandable", False):
        return _bounded(fn, s, call)
    before = []
    if hasattr(op, "arguments"):
        call_helper(fn, op.dispatcher, op.arguments, before, s.loc)
        made = before.pop()
        fn.changed()
        return _entered(fn, s, made.value, op.dispatcher, None, compiled, before)
    return _entered(fn, s, call, op.dispatcher, getattr(op, "owner", None), compiled)


def _label(fn, s):
    return next(label for label, block in fn.blocks.items() if s in block.body)


def _entered(fn, s, call, dispatcher, owner, compiled, before=()):
    """The step that runs the code of a dispatcher."""
    before = list(before)
    if owner is not None:
        call = ir.Expr.call(call.func, [owner, *call.args], call.kws, call.loc, call.vararg)
    arguments = bind(fn, call, dispatcher.py_func, before)
    argtypes = tuple(types.unliteral(fn.type_of(v)) for v in arguments)
    steps = [compiled(fn, each) for each in before]
    names, target = [v.name for v in arguments], getattr(s, "target", None)

    def step(frame):
        weak, frame.weak = frame.weak, 0
        for each in steps:
            each(frame)
        frame.weak = weak
        machine = frame.machine
        calls, machine.calls = machine.calls, (*machine.calls, id(step))
        try:
            found = machine.call(dispatcher, argtypes, [frame.env[name] for name in names])
        finally:
            machine.calls = calls
        if found is None:
            raise NoWayError
        if isinstance(s, ir.Assign):
            frame.assign(target.name, found[0])

    return step


def _bounded(fn, s, call):
    """The step of a call that is not looked into: its numbers depend on all that goes in.

    Of numbers alone, as arrays may be written to.
    """
    names = [v.name for v in (*call.args, *(v for _, v in call.kws))]
    tys = [types.unliteral(fn.type_of(name)) for name in names]
    if not all(map(_without_memory, tys)) or callee_of(fn, call).owner is not None:
        return None
    ty = fn.type_of(s.target)
    if unknown_of(ty, sets.EMPTY) is None and not isinstance(ty, types.NoneType):
        return None

    def step(frame):
        deps = sets.union_all(deps_of(frame.env[name]) for name in names)
        if frame.machine.interactions is not None:
            frame.machine.interactions.add(deps, deps)
        frame.assign(s.target.name, unknown_of(ty, deps))

    return step


def _without_memory(ty):
    if isinstance(ty, types.BaseTuple):
        return all(map(_without_memory, ty))
    plain = types.Number | types.Boolean | types.NoneType | types.UnicodeType
    return isinstance(ty, plain | types.NumberClass | types.Dispatcher)
