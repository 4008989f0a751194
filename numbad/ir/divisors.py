"""What Numba's arithmetic raises for: a divisor that is zero, zero to a negative power."""

import operator

from numba import njit
from numba.core import types

from .function import is_expr

_BY_SECOND = operator.truediv, operator.floordiv, operator.mod


def may_divide_by_zero(loc, options):
    """Whether a division by zero raises at a place, in code compiled with these options of `njit`."""
    return (getattr(loc, "error_model", None) or options.get("error_model")) != "numpy"


@njit
def is_zero(x):
    return x == 0


@njit
def has_no_power(x, n):
    """Whether `x**n` divides by zero: the power is made first, and may be too small to be told from zero."""
    return n < 0 and x ** (-n) == 0


def operator_of(value):
    """`(function, operands)` of an expression that is a binary operator, None of another."""
    if is_expr(value, "binop"):
        return value.fn, [value.lhs, value.rhs]
    if is_expr(value, "inplace_binop"):
        return value.immutable_fn, [value.lhs, value.rhs]
    return None


def zero_test(fn, value):
    """`(helper, arguments)` that tell whether an operator of numbers divides by zero; None of another.

    Numba's powers divide where the exponent is an integer.
    """
    function, arguments = operator_of(value) or (None, ())
    kinds = [types.unliteral(fn.type_of(v)) for v in arguments]
    if not all(isinstance(ty, types.Number) for ty in kinds):
        return None
    if function in _BY_SECOND:
        return is_zero, arguments[1:]
    if function is not operator.pow or not isinstance(kinds[1], types.Integer):
        return None
    return None if isinstance(kinds[0], types.Complex) else (has_no_power, arguments)
