"""Memory without floats: index arrays, counters, lists of integers. It carries no derivative, but what is
evaluated again has to find it as it was."""

from numba.core import ir, types
from numba.core.dispatcher import Dispatcher

from ..forward.promote import effects
from ..ir.callee import callee_of, only_reads
from ..ir.function import is_expr, successors
from ..ir.leaves import fields_of, leaves

_CHANGING = {
    *("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "fill", "add"),
    *("discard", "update", "setdefault", "popitem"),
}


def constant_parts(ty):
    """The types of the mutable parts of a value that hold no floats."""
    if isinstance(ty, types.BaseTuple):
        return [part for member in ty.types for part in constant_parts(member)]
    if isinstance(ty, types.Optional):
        return constant_parts(ty.type)
    kinds = types.Array, types.List, types.ListType, types.DictType, types.Set, types.Record
    mutable = (isinstance(ty, kinds) or fields_of(ty) is not None) and not leaves(ty)
    return [ty] if mutable else []


def may_change_from(fn, label, statement, ty):
    """Whether memory of a type is changed by a statement or by what may be run after it."""
    return any(_changes(fn, s, ty) for s in _from(fn, label, statement))


def _from(fn, label, statement):
    body = fn.blocks[label].body
    yield from body[body.index(statement) :]
    seen, pending = set(), [label]
    while pending:
        for target in successors(fn.blocks[pending.pop()]):
            if target not in seen:
                seen.add(target)
                pending.append(target)
                yield from fn.blocks[target].body


def _changes(fn, s, ty):
    if isinstance(s, ir.SetItem | ir.StaticSetItem | ir.SetAttr | ir.DelItem):
        return _alike(fn.type_of(s.target), ty)
    value = getattr(s, "value", None)
    if is_expr(value, "inplace_binop"):
        return _alike(fn.type_of(value.lhs), ty)
    return is_expr(value, "call") and _call_changes(fn, value, ty)


def _alike(ty, other):
    """Whether two values may share memory, as far as their types tell."""
    if isinstance(ty, types.Array) and isinstance(other, types.Array):
        return ty.dtype == other.dtype
    return ty == other


def _call_changes(fn, call, ty):
    callee = callee_of(fn, call)
    given = [*call.args, *(v for _, v in call.kws)]
    hit = [k for k, v in enumerate(given) if _holds(fn.type_of(v), ty)]
    if call.vararg is not None and _holds(fn.type_of(call.vararg), ty):
        return True
    if callee.kind == "method":
        own = _holds(fn.type_of(callee.owner), ty)
        return bool(hit) or (own and callee.key in _CHANGING)
    if callee.kind == "dispatcher" and isinstance(callee.key, Dispatcher):
        changed = effects(callee.key, (), [fn.type_of(v) for v in given]).changed
        return bool(set(hit) & changed) or (bool(changed and hit) and bool(call.kws))
    return bool(hit) and not only_reads(callee.key)


def _holds(ty, part):
    return any(_alike(found, part) for found in constant_parts(ty))
