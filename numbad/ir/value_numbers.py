"""Names of one and the same value: `u[i + 1, j] * u[i + 1, j]` computes its index twice."""

from numba.core import ir, types

from .function import is_expr

_INTEGERS = types.Integer | types.Boolean


def value_numbers(fn):
    """Name -> the first name of the same value, for integers, tuples, and views of arrays.

    A value is the same where the same is done with the same values (Alpern, Wegman & Zadeck, "Detecting
    Equality of Variables in Programs", POPL 1988); `fn` assigns each name once.
    """
    found, first = {}, {}
    for _, s in fn.statements():
        if isinstance(s, ir.Assign):
            name = s.target.name
            if isinstance(s.value, ir.Var):
                found[name] = found.get(s.value.name, s.value.name)
                continue
            key = _what_is_done(fn, s, found)
            found[name] = name if key is None else first.setdefault(key, name)
    return found


def _what_is_done(fn, s, found):
    """What tells a value from others, or None where it is known by its name alone."""
    value, ty = s.value, fn.type_of(s.target)
    if isinstance(value, ir.Const):
        return (
            ("constant", type(value.value), value.value) if isinstance(value.value, int) else None
        )

    def names(*variables):
        return tuple(found.get(v.name, v.name) for v in variables)

    def integers(*variables):
        return all(isinstance(fn.type_of(v), _INTEGERS) for v in variables)

    if is_expr(value, "build_tuple"):
        return ("tuple", *names(*value.items))
    if isinstance(ty, _INTEGERS):
        if is_expr(value, "binop", "inplace_binop") and integers(value.lhs, value.rhs):
            function = value.fn if value.op == "binop" else value.immutable_fn
            return ("integer", function, *names(value.lhs, value.rhs))
        if is_expr(value, "unary") and integers(value.value):
            return ("integer", value.fn, *names(value.value))
    elif isinstance(ty, types.Array) and is_expr(value, "getitem", "static_getitem"):
        return _view(fn, value, names)
    return None


def _view(fn, value, names):
    if not isinstance(fn.type_of(value.value), types.Array):
        return None
    if value.op == "static_getitem":
        return ("view", *names(value.value), repr(value.index))
    index = fn.type_of(value.index)
    members = index.types if isinstance(index, types.BaseTuple) else (index,)
    if not all(isinstance(t, types.Integer) for t in members):
        return None
    return ("view", *names(value.value, value.index))
