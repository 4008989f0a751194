"""Arrays on the stack: `carray` of memory that an intrinsic takes there, as Numba's users write them."""

from functools import cache

import numpy as np
from llvmlite import ir as llvm
from numba import carray, njit
from numba.core import ir
from numba.core.registry import cpu_target
from numba.extending import _Intrinsic
from numba.np.numpy_support import as_dtype

from ..source import define
from .function import is_expr, read_by
from .sequences import call_helper


def allocate_on_stack(fn):
    """`carray(stack_empty(n, float64), shape)` becomes an array of its own, as `np.empty` makes it.

    Nothing else may use the memory, which then is what the array alone can reach.
    """
    for block in fn.blocks.values():
        for s in list(block.body):
            shape = _shape_on_stack(fn, s)
            if shape is not None:
                made, at = [], block.body.index(s)
                array = call_helper(fn, _empty(fn.type_of(s.target).dtype), [shape], made, s.loc)
                block.body[at : at + 1] = [*made, ir.Assign(array, s.target, s.loc)]
                fn.changed()


@cache
def _empty(dtype):
    names = {"np": np, "number": as_dtype(dtype)}
    return njit(define("def empty(shape):\n    return np.empty(shape, number)\n", names))


def _shape_on_stack(fn, s):
    """The variable of the shape that an array on the stack gets, or None."""
    call = s.value if isinstance(s, ir.Assign) else None
    if not is_expr(call, "call") or fn.constant(call.func) is not carray or len(call.args) < 2:
        return None
    memory = call.args[0]
    source = fn.definition(memory)
    if not is_expr(source, "call") or _count_reads(fn, memory.name) > 1:
        return None
    made_by, given = fn.constant(source.func), [fn.type_of(v) for v in source.args]
    return call.args[1] if _takes_stack(made_by, tuple(given)) else None


def _count_reads(fn, name):
    reads = [v.name for block in fn.blocks.values() for s in block.body for v in read_by(s)]
    return reads.count(name)


def _takes_stack(fn, given):
    """Whether a function is an intrinsic whose code does nothing but take memory on the stack."""
    if not isinstance(fn, _Intrinsic):
        return False
    context = cpu_target.target_context
    try:
        signature, write = fn._defn(cpu_target.typing_context, *given)
        tys = [context.get_value_type(ty) for ty in signature.args]
        result = context.get_value_type(signature.return_type)
        function = llvm.Function(
            context.create_module("memory"), llvm.FunctionType(result, tys), "memory"
        )
        block = function.append_basic_block()
        made = write(context, llvm.IRBuilder(block), signature, list(function.args))
    except Exception:  # the user's code, which may want what only a whole function has
        return False
    return isinstance(made, llvm.AllocaInstr) and len(function.blocks) == 1
