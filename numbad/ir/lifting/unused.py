"""What lifting leaves behind: statements that make functions which nobody uses."""

from numba.core import ir

from ..function import read_by

_MAKING = "make_function", "build_tuple"


def statements(func_ir):
    """All of them."""
    return (s for block in func_ir.blocks.values() for s in block.body)


def used_names(func_ir):
    """The names of the variables that are read."""
    kept = (statement for statement in statements(func_ir) if not isinstance(statement, ir.Del))
    return {var.name for statement in kept for var in read_by(statement)}


def drop_unused(func_ir, calls, names):
    """Take away what made closures, where nothing needs it any more.

    `calls` are the ids of further statements that may go, `names` variables that hold operators.
    """
    dropped = True
    while dropped:
        dropped, used = False, used_names(func_ir)
        for block in func_ir.blocks.values():
            kept = [s for s in block.body if not _is_unused(s, used, calls, names)]
            dropped |= len(kept) < len(block.body)
            block.body = kept


def _is_unused(statement, used, calls, names):
    if isinstance(statement, ir.Del):
        return True  # they are put anew
    if not isinstance(statement, ir.Assign) or statement.target.name in used:
        return False
    value = statement.value
    makes = isinstance(value, ir.Expr) and value.op in _MAKING
    plain = isinstance(value, ir.Var | ir.Global | ir.FreeVar)
    return makes or plain or id(statement) in calls or statement.target.name in names
