"""Variables whose types `njit(locals=...)` declares: what is assigned to them is converted.

Numba converts by the types that it is told. Here the code says so, as the user could have written:
`y = np.float32(x)`. So derivatives flow through it, and nothing else needs to know of declarations.
"""

from numba import njit
from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions
from numba.np import numpy_support

from ..errors import UnsupportedError
from ..source import define
from .fence import place


@register_pass(mutates_CFG=False, analysis_only=False)
class ConvertDeclared(FunctionPass):
    """Puts a conversion before each assignment to a variable whose type is declared."""

    _name = "numbad_convert_declared"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        declared, state.locals = state.locals or {}, {}
        if not declared:
            return False
        for block in state.func_ir.blocks.values():
            block.body = [
                made
                for statement in block.body
                for made in _converted(statement, declared, state.func_id)
            ]
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


def _converted(statement, declared, function):
    """The statement, with the conversion of what it assigns."""
    ty = declared.get(statement.target.name) if isinstance(statement, ir.Assign) else None
    if ty is None or not _holds_numbers(ty):  # a layout at most: the values are the same
        return [statement]
    target, loc = statement.target, statement.loc
    given = target.scope.redefine(f"{target.name}.given", loc, rename=True)
    conversion = target.scope.redefine(f"${target.name}.type", loc, rename=True)
    call = ir.Expr.call(conversion, [given], (), loc)
    return [
        ir.Assign(statement.value, given, loc),
        ir.Assign(
            ir.Global(f"declared_{ty}", _class_of(ty, target, function), loc), conversion, loc
        ),
        ir.Assign(call, target, loc),
    ]


def _holds_numbers(ty):
    """Whether a value of a type may be other numbers than those that it is made of."""
    if isinstance(ty, types.BaseTuple):
        return any(map(_holds_numbers, ty))
    inner = ty.type if isinstance(ty, types.Optional) else ty
    return isinstance(inner, types.Number | types.Boolean)


def _class_of(ty, target, function):
    """What converts to a type, called: a class of NumPy's, or a function that does so by members."""
    if isinstance(ty, types.Boolean):
        return bool
    if isinstance(ty, types.BaseTuple):
        return _of_members(ty, [_class_of(t, target, function) for t in ty])
    if not _holds_numbers(ty):
        return None
    if not isinstance(ty, types.Number):
        raise UnsupportedError(
            f"cannot differentiate {function.func_name}, in which njit(locals=...) declares "
            f"'{target.name}' as {ty}: {place(target.loc)}\nWay out: leave the declaration out, of what "
            "is no number and no array, or keep the function out of the derivative with "
            "nd.stop_gradient."
        )
    return numpy_support.as_dtype(ty).type


def _of_members(ty, classes):
    """A compiled function that makes a tuple of a type of one with the same members, some to be converted."""
    names = {f"number{k}": cls for k, cls in enumerate(classes) if cls is not None}
    members = [f"x[{k}]" if cls is None else f"number{k}(x[{k}])" for k, cls in enumerate(classes)]
    made = "".join(f"{member}, " for member in members)
    if isinstance(ty, types.BaseNamedTuple):
        names["made"] = ty.instance_class
    call = f"made({made})" if "made" in names else f"({made})"
    return njit(define(f"def converted(x):\n    return {call}\n", names))
