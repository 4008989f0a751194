"""Expressions that say in a roundabout way what another one says plainly."""

import operator

from numba import literally
from numba.core import ir, types

from .callee import callee_of
from .function import accessed, is_expr
from .inline import unpacked


def rewrite(fn):
    """Write `f(*t)`, `getattr(x, "name")`, `operator.getitem(x, i)`, `z.imag[i]`, `a[..., i]` plainly.

    The truth of None is known, and a branch on `is None` is decided.
    """
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            *before, s = _unstarred(fn, s)
            *index, s = _without_ellipsis(fn, s)
            body += [*before, *index, *_plain(fn, s)]
        block.body = body
    fn.changed()
    for block in fn.blocks.values():
        _decide(fn, block)


def _decide(fn, block):
    """A branch on whether a value that is never None is None, or on what is known, becomes a jump."""
    branch = block.terminator
    if not isinstance(branch, ir.Branch):
        return
    known = fn.type_of(branch.cond)
    if isinstance(known, types.BooleanLiteral):
        taken = branch.truebr if known.literal_value else branch.falsebr
        block.body[-1] = ir.Jump(taken, branch.loc)
        return
    test = fn.definition(branch.cond)
    if is_expr(test, "call") and fn.constant(test.func) is bool and len(test.args) == 1:
        test = fn.definition(test.args[0])
    if not is_expr(test, "binop") or test.fn not in (operator.is_, operator.is_not):
        return
    tys = [fn.type_of(v) for v in (test.lhs, test.rhs)]
    others = [ty for ty in tys if not isinstance(ty, types.NoneType)]
    if len(others) == 1 and isinstance(others[0], types.Number | types.Array):
        answer = test.fn is operator.is_not
        block.body[-1] = ir.Jump(branch.truebr if answer else branch.falsebr, branch.loc)


def _unstarred(fn, s):
    """The statements that stand for `s`: a call with `*t` takes the members of the tuple one by one."""
    call = getattr(s, "value", None)
    if not is_expr(call, "call") or call.vararg is None:
        return [s]
    before = []
    given = [*call.args, *unpacked(fn, call.vararg, before)]
    plain = ir.Expr.call(call.func, given, call.kws, call.loc)
    if call in fn.calls:
        fn.calls[plain] = fn.calls[call]
    return [*before, ir.Assign(plain, s.target, s.loc)]


def _plain(fn, s):
    """The statements that stand for `s`."""
    access = s.value if isinstance(s, ir.Assign) else s
    if _is_truth_of_none(fn, access):
        return [ir.Assign(ir.Const(is_expr(access, "unary"), s.loc), s.target, s.loc)]
    if is_expr(access, "call") and not access.kws:
        return _plain_call(fn, s, access)
    if is_expr(access, "getitem", "static_getitem"):
        return _part_of_element(fn, s, access)
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        return _set_part(fn, s)
    return [s]


def _is_truth_of_none(fn, expr):
    """Whether an expression is `bool(x)` or `not x` of what is None."""
    if is_expr(expr, "call") and len(expr.args) == 1 and not expr.kws:
        operand = expr.args[0] if callee_of(fn, expr).key in (bool, operator.truth) else None
    else:
        operand = (
            expr.value if is_expr(expr, "unary") and expr.fn in ("not", operator.not_) else None
        )
    return operand is not None and isinstance(fn.type_of(operand), types.NoneType)


def _plain_call(fn, s, call):
    key = callee_of(fn, call).key
    if key is getattr and len(call.args) == 2:
        name = fn.constant(call.args[1])
        if isinstance(name, str):
            return [ir.Assign(ir.Expr.getattr(call.args[0], name, s.loc), s.target, s.loc)]
    if key is literally:
        return [ir.Assign(call.args[0], s.target, s.loc)]
    if key is operator.getitem:
        return [ir.Assign(ir.Expr.getitem(*call.args, s.loc), s.target, s.loc)]
    if key is operator.setitem:
        none = ir.Assign(ir.Const(None, s.loc), s.target, s.loc)
        return [ir.SetItem(*call.args, s.loc), none]
    if key is operator.delitem:
        none = ir.Assign(ir.Const(None, s.loc), s.target, s.loc)
        return [ir.DelItem(*call.args, s.loc), none]
    return [s]


# -- elements by an index with an ellipsis that stands for no axis ----------------------------------


def _without_ellipsis(fn, s):
    """The statements that stand for `s`: `a[..., i]` of one axis is the element `a[i]`."""
    access, base = accessed(s) or (None, None)
    if access is None:
        return [s]
    static = isinstance(access, ir.StaticSetItem) or is_expr(access, "static_getitem")
    index = access.index_var if static else access.index
    numbers = isinstance(index, ir.Var) and _numbers_beside_ellipsis(fn.type_of(index))
    if not numbers or getattr(fn.type_of(base), "ndim", None) != len(numbers):
        return [s]
    made, loc = [], s.loc
    index = _picked(fn, index, numbers, loc, made)
    if isinstance(s, ir.Assign):
        return [*made, ir.Assign(ir.Expr.getitem(base, index, loc), s.target, loc)]
    return [*made, ir.SetItem(base, index, s.value, loc)]


def _numbers_beside_ellipsis(ty):
    """The places of the integers in an index of these and an ellipsis; none in any other."""
    members = ty.types if isinstance(ty, types.BaseTuple) else ()
    places = [k for k, t in enumerate(members) if isinstance(t, types.Integer)]
    others = [t for k, t in enumerate(members) if k not in places]
    return places if len(others) == 1 and isinstance(others[0], types.EllipsisType) else []


def _picked(fn, index, places, loc, made):
    """The members of a tuple in these places: a variable, or a tuple of several."""
    parts = []
    for k in places:
        part = fn.fresh("$index", types.unliteral(fn.type_of(index).types[k]), loc)
        made.append(ir.Assign(ir.Expr.static_getitem(index, k, None, loc), part, loc))
        parts.append(part)
    if len(parts) == 1:
        return parts[0]
    whole = fn.fresh("$index", types.Tuple([fn.type_of(v) for v in parts]), loc)
    made.append(ir.Assign(ir.Expr.build_tuple(parts, loc), whole, loc))
    return whole


# -- parts of complex arrays, whose shadows are no views of the arrays' shadows -----------------


def _complex_part(fn, access, base):
    """`(array, "real" or "imag")` where an element of a part of a complex array is meant."""
    part = fn.definition(base)
    if not is_expr(part, "getattr") or part.attr not in ("real", "imag"):
        return None
    ty = fn.type_of(part.value)
    if not isinstance(ty, types.Array) or not isinstance(ty.dtype, types.Complex):
        return None
    return (part.value, part.attr) if _picks_element(fn, access, ty.ndim) else None


def _picks_element(fn, access, ndim):
    if isinstance(access.index, int):
        return ndim == 1
    static = isinstance(access, ir.StaticSetItem) or is_expr(access, "static_getitem")
    ty = fn.type_of(access.index_var if static else access.index)
    members = ty.types if isinstance(ty, types.BaseTuple) else (ty,)
    return len(members) == ndim and all(
        isinstance(types.unliteral(t), types.Integer) for t in members
    )


def _element(fn, access, array, loc, made):
    """The element of `array` that an access means, as a variable."""
    target = fn.fresh("$element", fn.type_of(array).dtype, loc)
    if isinstance(access, ir.SetItem) or is_expr(access, "getitem"):
        value = ir.Expr.getitem(array, access.index, loc)
    else:
        value = ir.Expr.static_getitem(array, access.index, access.index_var, loc)
    made.append(ir.Assign(value, target, loc))
    return target


def items_of_parts(fn, s):
    """The statements that stand for `s`, where it reads or sets a number of a part of a complex array."""
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        return _set_part(fn, s)
    access, _ = accessed(s) or (None, None)
    return [s] if access is None else _part_of_element(fn, s, access)


def _part_of_element(fn, s, access):
    """`z.imag[i]`: `z[i].imag`."""
    found = _complex_part(fn, access, access.value)
    if found is None:
        return [s]
    made = []
    element = _element(fn, access, found[0], s.loc, made)
    return [*made, ir.Assign(ir.Expr.getattr(element, found[1], s.loc), s.target, s.loc)]


def _set_part(fn, s):
    """`z.imag[i] = v`: `z[i] = complex(z[i].real, v)`."""
    found = _complex_part(fn, s, s.target)
    if found is None:
        return [s]
    array, name = found
    made, dtype, loc = [], fn.type_of(array).dtype, s.loc
    element = _element(fn, s, array, loc, made)
    other = fn.fresh("$part", dtype.underlying_float, loc)
    kept = "real" if name == "imag" else "imag"
    made.append(ir.Assign(ir.Expr.getattr(element, kept, loc), other, loc))
    func, whole = fn.fresh("$complex", None, loc), fn.fresh("$whole", types.complex128, loc)
    made.append(ir.Assign(ir.Global("complex", complex, loc), func, loc))
    parts = [other, s.value] if name == "imag" else [s.value, other]
    made.append(ir.Assign(ir.Expr.call(func, parts, (), loc), whole, loc))
    if isinstance(s, ir.SetItem):
        made.append(ir.SetItem(array, s.index, whole, loc))
    else:
        made.append(ir.StaticSetItem(array, s.index, s.index_var, whole, loc))
    return made
