"""Statements that choose by mask, in the code of a `Function`, and conversions that lanes need not."""

import operator

from numba.core import ir, types
from numba.core.typing import signature

from ..ir.function import is_expr, map_vars
from .varying import select


def choose_extrema(fn):
    """`max(x, y)` becomes a choice: `y` where it is greater, else `x`, as Numba has it."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            body += _chosen(fn, s) if _is_extremum(fn, s) else [s]
        block.body = body
    fn.changed()


def drop_conversions(fn):
    """`float64(x)` of what is a float64 is `x`, as the sum of an array has it; there is none of lanes."""
    for _, s in fn.statements():
        value = getattr(s, "value", None)
        made = is_expr(value, "call") and isinstance(fn.type_of(value.func), types.NumberClass)
        if made and [fn.type_of(v) for v in value.args] == [fn.type_of(s.target)]:
            s.value = value.args[0]
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


def renamed(fn, s, names):
    """A statement with `names[name]` in place of a name; the statement itself where it has none of them."""
    if not any(v.name in names for v in s.list_vars()):
        return s
    copy = map_vars(s, lambda var: names.get(getattr(var, "name", None), var))
    for node in (s, getattr(s, "value", None)):
        if isinstance(node, ir.Inst) and node in fn.calls:
            fn.calls[copy if node is s else copy.value] = fn.calls[node]
    return copy
