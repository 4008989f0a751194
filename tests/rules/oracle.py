"""Evaluates rules without any differentiation engine: in mpmath, in floats, symbolically.

The derivative that they are held against is mpmath's numerical one of the function itself.
"""

import math
import operator

import numpy as np
from mpmath import mp, mpf

from numbad.rules import COMPARISONS, CONSTANT, SCALAR, Apply, Arg, Const, evaluate, where
from numbad.rules.expression import call
from tests.rules.scalar_cases import CASES

EXACT = {
    **{case.fn: case.exact for case in CASES},
    **{fn: fn for fn in COMPARISONS},
    operator.and_: operator.and_,
    np.rint: mp.nint,
    where: lambda condition, a, b: a if condition else b,
}

UFUNCS = {name for name, value in vars(np).items() if isinstance(value, np.ufunc)}

FLOAT = {
    **{fn: getattr(np, name) for name, fn in vars(math).items() if name in UFUNCS},
    **{getattr(math, "a" + name): getattr(np, "arc" + name) for name in ("sin", "cos", "tan")},
    **{getattr(math, f"a{name}h"): getattr(np, f"arc{name}h") for name in ("sin", "cos", "tan")},
    math.atan2: np.arctan2,
    math.pow: np.power,
    where: EXACT[where],
}


def exactly(exprs, point, ans):
    """Expressions evaluated in mpmath; what divides by zero is nan."""
    return evaluate(exprs, point, ans, _exact_const, _exact_apply)


def _exact_const(value):
    return value if isinstance(value, (bool, int)) else mp.mpmathify(value)


def _exact_apply(fn, operands):
    try:
        return EXACT[fn](*operands)
    except ZeroDivisionError:
        return mp.nan


def in_floats(exprs, point, ans):
    """Expressions evaluated in NumPy's floats, with infinities as in compiled code."""
    with np.errstate(all="ignore"):
        return evaluate(exprs, point, ans, lambda value: value, float_call)


def float_call(fn, operands):
    """`fn` of NumPy scalars: IEEE arithmetic instead of Python's exceptions."""
    with np.errstate(all="ignore"):
        return FLOAT.get(fn, fn)(*operands)


def exact_point(case, point):
    """The very numbers in mpmath."""
    return tuple(
        value if k in case.integers else mp.mpmathify(value) for k, value in enumerate(point)
    )


def exact_partial(case, point, *by):
    """mpmath's numerical derivative of the function by the arguments `by`, one after another."""
    if not by:
        return case.exact(*point)
    k, *rest = by
    count = by.count(k)
    rest = tuple(j for j in rest if j != k)

    def along(value):
        return exact_partial(case, (*point[:k], value, *point[k + 1 :]), *rest)

    step = mp.ldexp(1, -mp.prec - 60 + (mp.mag(point[k]) if point[k] else 0))
    return mp.diff(along, point[k], count, h=step, addprec=60)


def symbolic_partial(expr, by):
    """The derivative of an expression by `Arg(by)`, by the chain rule over the rule table.

    `ans` may not occur in it: substitute the function's own `Apply` node first.
    """
    known = {}

    def derivative(node):
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node):
        if not isinstance(node, Apply):
            return Const(1) if node is Arg(by) else Const(0)
        if node.fn is where:
            return where(node.args[0], derivative(node.args[1]), derivative(node.args[2]))
        if node.fn in CONSTANT:
            return Const(0)
        partials = substitute(SCALAR[node.fn].trace(len(node.args)), node.args, node)
        terms = map(operator.mul, partials, map(derivative, node.args))
        return sum(terms, start=Const(0))

    return derivative(expr)


def substitute(exprs, args, ans):
    """Expressions with other expressions in the place of `Arg(k)` and `Answer()`."""
    return evaluate(exprs, args, ans, Const, lambda fn, operands: call(fn, *operands))


def second_partials(case, rule):
    """`{(j, k): expression}` for the second derivatives of `case.fn`, of real arguments alone."""
    count = len(case.domain)
    args = tuple(map(Arg, range(count)))
    firsts = substitute(rule.trace(count), args, Apply(case.fn, args))
    active = [k for k in range(count) if k not in case.integers]
    return {(j, k): symbolic_partial(firsts[j], k) for j in active for k in active}


def relative_error(value, exact, atol=0.0):
    """|value - exact| beyond `atol`, over |exact|; infinite for nan."""
    error = abs(mpf(0) + value - exact)
    if mp.isnan(error):
        return math.inf
    if error <= atol:
        return 0.0
    return float((error - atol) / abs(exact)) if exact else math.inf
