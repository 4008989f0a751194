"""Where partial derivatives can be infinite or undefined, read off their expressions.

There the chain rule may meet `0 * inf`, and the engines take zero for it: what does not move, or does
not count, adds nothing. A partial that is a polynomial is finite where its arguments are, and costs no
question; an engine asks there only where it knows that something infinite may come along.
"""

import math
import operator

import numpy as np

from numbad.rules.expression import Answer, Apply, Arg, Const, walk, where

_POLYNOMIAL = {operator.add, operator.sub, operator.mul, operator.neg}

_INFINITE = {
    *(operator.truediv, operator.itruediv, np.divide, np.reciprocal),
    *(math.log, np.log, math.log2, np.log2, math.log10, np.log10, math.log1p, np.log1p),
    *(math.atanh, np.arctanh),
}
"""Functions that are infinite themselves where their partials are."""


def is_polynomial(partial):
    """Whether an expression is a polynomial in the arguments, without the function's value."""
    return all(map(_is_of_polynomial, walk(partial)))


def _is_of_polynomial(node):
    if isinstance(node, Const):
        return math.isfinite(abs(node.value))
    if isinstance(node, Apply):
        return node.fn in _POLYNOMIAL or _is_power(node)
    return isinstance(node, Arg)


def _is_power(node):
    exponent = node.args[-1]
    natural = isinstance(exponent, Const) and isinstance(exponent.value, int) and exponent.value > 0
    return node.fn is operator.pow and natural


def is_quotient(fn):
    """Whether a function divides, and so does nothing but scale what it divides."""
    return fn in (operator.truediv, operator.itruediv, np.divide)


def is_root(fn, partials):
    """Whether a function can be finite where one of its partials is not, as the square root is at 0."""
    return fn not in _INFINITE and any(_may_divide(node) for node in walk(*partials))


def _may_divide(node):
    """Whether an operation in an expression can make something infinite of finite numbers."""
    if not isinstance(node, Apply):
        return False
    last = node.args[-1]
    if node.fn is operator.pow and isinstance(last, Const):
        return isinstance(last.value, float) and -1 < last.value < 0  # of x**0.5, say
    if node.fn in (operator.truediv, operator.pow):
        by_itself = any(isinstance(part, Answer) for part in walk(node.args[0]))
        return not isinstance(last, Const) and not by_itself  # 1 / x is infinite itself
    return node.fn in (math.log, np.log)


CARRYING = {
    *(operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.truediv),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
}
"""What hands an infinite partial on."""

_RISING = {
    *(math.exp, np.exp, math.exp2, np.exp2, math.expm1, np.expm1, math.erf, math.erfc),
    *(math.log, np.log, math.log2, np.log2, math.log10, np.log10, math.log1p, np.log1p),
    *(math.sqrt, np.sqrt, np.cbrt, math.tan, np.tan, math.sinh, np.sinh, math.tanh, np.tanh),
    *(math.asin, np.arcsin, math.acos, np.arccos, math.atan, np.arctan),
    *(math.asinh, np.arcsinh, math.acosh, np.arccosh, math.atanh, np.arctanh),
    *(np.logaddexp, np.logaddexp2),
}
"""Functions whose slope is zero nowhere but where they or their arguments are infinite."""


def is_rising(fn):
    """Whether the slope of a function is known to be zero nowhere that counts."""
    return fn in _RISING


def is_flat_somewhere(fn, partials):
    """Whether a partial of a function can be zero for a finite argument, and not by a choice."""
    return not (fn in _RISING or is_quotient(fn) or all(map(is_choice, partials)))


def is_choice(partial):
    """Whether an expression is a constant, or one of several: which one is all that arguments decide."""
    if isinstance(partial, Const):
        return True
    if not isinstance(partial, Apply):
        return False
    if partial.fn is where:
        return all(map(is_choice, partial.args[1:]))
    if partial.fn is np.sign:
        return True
    return partial.fn in (operator.mul, operator.neg) and all(map(is_choice, partial.args))
