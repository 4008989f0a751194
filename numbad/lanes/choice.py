"""Statements that choose by mask, in the code of a `Function`."""

import operator

from numba.core import ir, types
from numba.core.typing import signature

from ..ir.function import is_expr
from .varying import select


def choose_extrema(fn):
    """`max(x, y)` becomes a choice: `y` where it is greater, else `x`, as Numba has it."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            body += _chosen(fn, s) if _is_extremum(fn, s) else [s]
        block.body = body
    fn.changed()


def _is_extremum(fn, s):
    value = getattr(s, "value", None)
    if not is_expr(value, "call") or fn.constant(value.func) not in (min, max):
        return False
    floats = all(isinstance(types.unliteral(fn.type_of(v)), types.Number) for v in value.args)
    return len(value.args) > 1 and floats and value.vararg is None


def _chosen(fn, s):
    better = operator.gt if fn.constant(s.value.func) is max else operator.lt
    made, (found, *others) = [], s.value.args
    for x in others:
        ty = types.unliteral(fn.type_of(s.target))
        mask = fn.fresh("$better", types.boolean, s.loc)
        test = ir.Expr.binop(better, x, found, s.loc)
        tys = [types.unliteral(fn.type_of(v)) for v in (x, found)]
        fn.calls[test] = signature(types.boolean, *tys)
        made.append(ir.Assign(test, mask, s.loc))
        found = made_call(fn, made, select, ty, [mask, x, found], s.loc)
    return [*made, ir.Assign(found, s.target, s.loc)]


def made_call(fn, made, function, result, arguments, loc):
    """Append a call of one of the functions of masks; its result."""
    func, target = fn.fresh("$of_lanes", None, loc), fn.fresh("$lanes", result, loc)
    made.append(ir.Assign(ir.Global(function.__name__, function, loc), func, loc))
    call = ir.Expr.call(func, list(arguments), (), loc)
    fn.calls[call] = signature(result, *(types.unliteral(fn.type_of(v)) for v in arguments))
    made.append(ir.Assign(call, target, loc))
    return target
