"""Whether a right-hand side with `inplace=True` reads the `dy` that it writes: `dy[i] += rate`."""

from numba.core import errors, ir

from ..ir.untyped import constant_of, untyped

_SLOPE = 2  # the number of dy among the arguments


def reads_slope(dispatcher):
    """Whether `fun(t, y, dy, ...)` may read an element of dy, or hands dy on."""
    try:
        func_ir = untyped(dispatcher)
    except (errors.NumbaError, errors.UnsupportedBytecodeError):
        return True
    names = set()
    while True:
        before = len(names)
        for block in func_ir.blocks.values():
            for s in block.find_insts(ir.Assign):
                own = isinstance(s.value, ir.Arg) and s.value.index == _SLOPE
                if own or (isinstance(s.value, ir.Var) and s.value.name in names):
                    names.add(s.target.name)
        if len(names) == before:
            break
    return any(_reads(func_ir, s, names) for block in func_ir.blocks.values() for s in block.body)


def _reads(func_ir, s, names):
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        return s.value.name in names
    if isinstance(s, ir.Assign):
        value = s.value
        if isinstance(value, ir.Var):
            return False
        if getattr(value, "op", None) == "getattr" and value.attr in ("shape", "size", "ndim"):
            return False
        if getattr(value, "op", None) == "call" and constant_of(func_ir, value.func) is len:
            return False
        held = value.list_vars() if isinstance(value, ir.Expr) else []
        return any(v.name in names for v in held)
    return not isinstance(s, ir.Del) and any(v.name in names for v in s.list_vars())
