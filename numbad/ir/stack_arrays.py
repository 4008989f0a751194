"""Arrays on the stack of functions that Numba inlines and numbad calls: they do not outlive the call."""

from numba import carray
from numba.core import ir

from ..errors import UnsupportedError
from .fence import place
from .function import is_expr
from .untyped import constant_of, definition_of


def refuse_stack_arrays(dispatcher, func_ir):
    """Raise UnsupportedError where a function that is to be inlined makes an array of memory that it takes.

    So do those who write arrays on the stack: `carray(stack_empty(n, float64), shape)`, by an intrinsic.
    """
    if dispatcher.targetoptions.get("inline", "never") == "never":
        return
    for block in func_ir.blocks.values():
        for s in block.find_insts(ir.Assign):
            if is_expr(s.value, "call") and _is_of_own_memory(func_ir, s.value):
                raise UnsupportedError(
                    f"cannot differentiate an array on the stack of {dispatcher.py_func.__name__}, which "
                    f"njit(inline=...) inlines and numbad calls: {place(s.loc)}\n"
                    "Way out: make the array by np.empty, or keep the function out of the derivative with "
                    "nd.stop_gradient."
                )


def _is_of_own_memory(func_ir, call):
    if constant_of(func_ir, call.func) is not carray or not call.args:
        return False
    return is_expr(definition_of(func_ir, call.args[0]), "call")
