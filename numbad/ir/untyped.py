"""The untyped SSA IR of functions, for what can be read off it before types are known."""

import builtins
from types import CodeType

from numba.core import compiler, ir
from numba.core.errors import NumbaError
from numba.core.ir_utils import build_definitions

from ..compilation.memo import remembered
from .function import read_by
from .lifting.appended_arguments import Put
from .lifting.rewriting import lift_closures


def untyped(dispatcher):
    """The IR of a dispatcher's Python function, which must not be changed.

    It is remembered for as long as the globals and closure cells that it names mean the same.
    """
    known = remembered(dispatcher, "untyped")
    if "ir" not in known or not _is_current(known["ir"], dispatcher.py_func):
        known["ir"] = _read(dispatcher.py_func)
    return known["ir"]


def _read(py_func):
    """The IR as Numba types it: closures that are called in place, others without what they capture."""
    if not any(isinstance(constant, CodeType) for constant in py_func.__code__.co_consts):
        func_ir = compiler.run_frontend(py_func)
        func_ir._definitions = build_definitions(func_ir.blocks)  # some of f(x, *args) are left out
        return func_ir
    try:
        func_ir = compiler.run_frontend(py_func, inline_closures=True)
        lift_closures(func_ir)
    except NumbaError:  # told where it is compiled
        return compiler.run_frontend(py_func)
    return func_ir


def _is_current(func_ir, py_func):
    cells = dict(zip(py_func.__code__.co_freevars, py_func.__closure__ or (), strict=True))
    values = (
        statement.value
        for block in func_ir.blocks.values()
        for statement in block.find_insts(ir.Assign)
    )
    return all(
        _meant(value, py_func, cells) is value.value
        for value in values
        if isinstance(value, ir.Global | ir.FreeVar) and not isinstance(value, Put)
    )


def _meant(value, py_func, cells):
    """What a name means now."""
    if isinstance(value, ir.Global):
        fallback = getattr(builtins, value.name, ir.UNDEFINED)
        return py_func.__globals__.get(value.name, fallback)
    try:
        return cells[value.name].cell_contents
    except ValueError:  # not assigned yet
        return ir.UNDEFINED


def definition_of(func_ir, var):
    """What defines a variable; where code stands several times, each says the same."""
    try:
        return func_ir.get_definition(var)
    except KeyError:
        found = func_ir._definitions.get(getattr(var, "name", var), [])
        if len({repr(value) for value in found}) != 1:
            raise
        return found[0]


def constant_of(func_ir, var):
    """The Python object behind a variable: a global, a closure cell, or a module's attribute."""
    try:
        definition = definition_of(func_ir, var)
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
        definition = definition_of(func_ir, var)
    except KeyError:
        return None
    if isinstance(definition, ir.Expr) and definition.op == "getattr":
        return definition.value, definition.attr
    return None


def drop_unread(blocks, names):
    """Let those of the names that nothing reads any more, and what they alone are copies of, be None."""
    assigned = [s for block in blocks.values() for s in block.find_insts(ir.Assign)]
    while names:
        read = {v.name for block in blocks.values() for s in block.body for v in read_by(s)}
        dropped = [s for s in assigned if s.target.name in names - read]
        names = {v.name for s in dropped for v in _copied(s.value)}
        for s in dropped:
            s.value = ir.Const(None, s.loc)


def _copied(value):
    """The variables whose value is handed on as it is."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Expr) and value.op == "phi":
        return [v for v in value.incoming_values if isinstance(v, ir.Var)]
    return []
