"""The untyped SSA IR of functions, for what can be read off it before types are known."""

import builtins

from numba.core import compiler, ir

from ..remembered import remembered


def untyped(dispatcher):
    """The IR of a dispatcher's Python function, which must not be changed.

    It is remembered for as long as the globals and closure cells that it names mean the same.
    """
    known = remembered(dispatcher, "untyped")
    if "ir" not in known or not _is_current(known["ir"], dispatcher.py_func):
        known["ir"] = compiler.run_frontend(dispatcher.py_func)
    return known["ir"]


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
        if isinstance(value, ir.Global | ir.FreeVar)
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
