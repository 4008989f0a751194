"""Sizes of arrays that code asks for late, and that are known as soon as the arrays are.

`total / x.shape[0]` after a loop: the adjoint of the sum is known before it.
"""

import operator

from numba.core import ir, types

from numbad.ir.function import is_expr

_ARITHMETIC = operator.add, operator.sub, operator.mul


def is_early_size(fn, var, is_given):
    """Whether a value is made of sizes of arrays and of constants, by arrays for which `is_given(array)`."""

    def early(var):
        value = fn.definition(var)
        if isinstance(value, ir.Const):
            return isinstance(value.value, int)
        if isinstance(value, ir.Var):
            return early(value)
        if is_expr(value, "static_getitem") or is_expr(value, "exhaust_iter"):
            return early(value.value)
        if is_expr(value, "binop"):
            return value.fn in _ARITHMETIC and early(value.lhs) and early(value.rhs)
        array = _asked(fn, value)
        return array is not None and isinstance(fn.type_of(array), types.Array) and is_given(array)

    return early(var)


def _asked(fn, value):
    """The array whose size an expression is, or None."""
    if is_expr(value, "getattr") and value.attr in ("shape", "size", "ndim"):
        return value.value
    if is_expr(value, "call") and len(value.args) == 1 and not value.kws:
        return value.args[0] if fn.constant(value.func) is len else None
    return None
