"""The precision of a device function: that of its arguments, for its literals too.

`2.0 * x` of a float32 is a float64 in Numba. On a GPU one such number makes double precision arithmetic
of all that follows, at half the speed or far less. So floats that the code names (literals, globals,
`math.pi`) are float32 where every float among the arguments is.
"""

import numpy as np
from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass

from ..forward.dual import base_scalar, primal_type
from ..ir.function import is_expr
from ..ir.untyped import constant_of


def is_single(argtypes):
    """Whether there are floats among the types of arguments, and all in single precision."""
    found = {base for ty in argtypes for base in _floats(primal_type(ty))}
    return bool(found) and found <= {types.float32, types.complex64}


def _floats(ty):
    if isinstance(ty, types.BaseTuple):
        for member in ty:
            yield from _floats(member)
    elif isinstance(ty, types.Array | types.Optional):
        yield from _floats(ty.dtype if isinstance(ty, types.Array) else ty.type)
    elif isinstance(base_scalar(ty), types.Float | types.Complex):
        yield types.unliteral(ty)


def in_single(value):
    """A Python number, or a tuple of such, in single precision; any other object as it is."""
    if type(value) is float or isinstance(value, np.float64):
        return np.float32(value)
    if type(value) is complex or isinstance(value, np.complex128):
        return np.complex64(value)
    if type(value) is tuple:
        return tuple(map(in_single, value))
    return value


@register_pass(mutates_CFG=False, analysis_only=False)
class InSingle(FunctionPass):
    """Puts a function whose floats are all float32 in single precision, before its types are known."""

    _name = "numbad_cuda_in_single"
    retypes = True

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        single = is_single(state.args)
        if single:
            make_single(state.func_ir)
        return single


def stages_of(argtypes):
    """What code for types of arguments is captured by besides."""
    return (InSingle,) if is_single(argtypes) else ()


def make_single(func_ir):
    """Put what the code names in single precision."""
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            value = statement.value
            if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
                value.value = in_single(value.value)
            elif is_expr(value, "getattr"):
                found = constant_of(func_ir, statement.target)
                if type(found) in (float, complex):  # math.pi
                    statement.value = ir.Const(in_single(found), value.loc)
