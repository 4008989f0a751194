"""What calls `f(x, *args)` hand on, in untyped IR, where a tuple `(x,) + tuple(args)` is made first."""

import operator
from collections import Counter

from numba.core import ir

from ..ir.untyped import constant_of, definition_of


def handed_on(func_ir, var):
    """`(name, whether its members are meant)` of what `f(*var)` hands to f, in order."""
    value = _defined(func_ir, var)
    op = getattr(value, "op", None)
    if op == "build_tuple":
        return [(item.name, False) for item in value.items]
    if op == "binop" and value.fn is operator.add:
        return handed_on(func_ir, value.lhs) + handed_on(func_ir, value.rhs)
    if _makes_tuple(func_ir, value):
        return [(value.args[0].name, True)]
    return [(var.name, True)]


def is_tuple(func_ir, var):
    """Whether a variable is a tuple written out."""
    return getattr(_defined(func_ir, var), "op", None) == "build_tuple"


def passing_tuples(func_ir):
    """The temporary tuples of such calls, which nothing else reads: each member goes to its own parameter."""
    calls = [call for block in func_ir.blocks.values() for call in block.find_exprs("call")]
    pending, found = [call.vararg for call in calls if call.vararg is not None], set()
    uses = _uses(func_ir) if pending else {}
    while pending:
        var = pending.pop()
        value = _definition(func_ir, var)
        if not var.name.startswith("$") or uses[var.name] != 2 or value is None:
            continue
        if isinstance(value, ir.Var):
            pending.append(value)
        elif getattr(value, "op", None) == "binop" and value.fn is operator.add:
            pending += value.lhs, value.rhs
        elif getattr(value, "op", None) != "build_tuple" and not _makes_tuple(func_ir, value):
            continue
        found.add(var.name)
    return found


def _uses(func_ir):
    """In how many statements each variable occurs: 2 where it is assigned once and read once."""
    statements = (s for block in func_ir.blocks.values() for s in block.body)
    return Counter(
        name
        for s in statements
        if not isinstance(s, ir.Del)
        for name in {var.name for var in s.list_vars()}
    )


def made_as(func_ir, name):
    """The name that a name is a copy of, and what makes it: an expression, or None where it is not known.

    What turns a list that was made into one of duals counts as a copy.
    """
    while True:
        value = _definition(func_ir, name)
        copied = func_ir._definitions.get(name)
        if is_op(value, "call") and hasattr(constant_of(func_ir, value.func), "turns_into_duals"):
            name = value.args[0].name
        elif value is not None and isinstance(copied[0], ir.Var):
            name = copied[0].name
        elif is_op(value, "cast"):
            name = value.value.name
        else:
            return name, value


def is_op(value, *ops):
    """Whether what defines a name is an expression of one of these kinds."""
    return isinstance(value, ir.Expr) and value.op in ops


def writes_out_tuple(func_ir, value):
    """Whether what defines a name is `(u, v)`, or `Pair(u, v)` of a namedtuple."""
    if not is_op(value, "call"):
        return is_op(value, "build_tuple")
    cls = constant_of(func_ir, value.func)
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def members(value):
    """The variables of what a tuple or list that is written out holds."""
    return [*value.args, *(v for _, v in value.kws)] if value.op == "call" else value.items


def put_member(value, k, var):
    """Let `var` be the k-th of them."""
    if value.op != "call":
        value.items[k] = var
    elif k < len(value.args):
        value.args = [*value.args[:k], var, *value.args[k + 1 :]]
    else:
        k -= len(value.args)
        value.kws = [(key, var if i == k else v) for i, (key, v) in enumerate(value.kws)]


def _defined(func_ir, var):
    """The expression that a variable stands for; the variable where that is not known."""
    value = _definition(func_ir, var)
    while isinstance(value, ir.Var):
        var, value = value, _definition(func_ir, value)
    return value if isinstance(value, ir.Expr) else var


def _definition(func_ir, var):
    try:
        return definition_of(func_ir, var)
    except KeyError:
        return None


def _makes_tuple(func_ir, value):
    is_call = getattr(value, "op", None) == "call" and len(value.args) == 1
    return is_call and constant_of(func_ir, value.func) is tuple
