"""Tuples of dual numbers with floats beside them, where Numba wants members of one type."""

import operator

from numba.core import cgutils, types
from numba.core.imputils import lower_cast
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import intrinsic, overload

from ..source import define
from . import dual as d
from .retyped import named_tuple


def _alike(typingctx, ty):
    """The type with members of one type, dual numbers; None for tuples without duals or with others."""
    if not isinstance(ty, types.Tuple) or not any(True for _ in d.duals_in(ty)):
        return None
    joined = ty[0]
    for member in ty[1:]:
        joined = joined and _joined(typingctx, joined, member)
    return joined and types.UniTuple(types.unliteral(joined), len(ty))


def _joined(typingctx, first, second):
    """The type of numbers, or of tuples of them, that both convert to; None where there is none."""
    if first == second:
        return first
    pair = first, second
    if all(isinstance(ty, types.BaseTuple) for ty in pair) and len(first) == len(second):
        members = [_joined(typingctx, a, b) for a, b in zip(first, second, strict=True)]
        named = getattr(first, "instance_class", None)
        if not all(members) or named is not getattr(second, "instance_class", None):
            return None
        return types.Tuple(members) if named is None else named_tuple(members, named)
    if all(isinstance(ty, types.Number | d.Dual) for ty in pair):
        return d.join(typingctx, first, second)
    return None


@infer
class GetIter(AbstractTemplate):
    key = "getiter"

    def generic(self, args, kws):
        alike = _alike(self.context, args[0])
        return alike and signature(alike.iterator_type, alike)


@infer_global(operator.getitem)
class GetItem(AbstractTemplate):
    def generic(self, args, kws):
        alike = _alike(self.context, args[0])
        if alike and isinstance(args[1], types.Integer):
            return signature(alike.dtype, alike, args[1])
        return None


@infer_global(enumerate)
class Enumerate(AbstractTemplate):
    def generic(self, args, kws):
        alike = _alike(self.context, args[0])
        return alike and signature(types.EnumerateType(alike), alike, *args[1:])


@infer_global(zip)
class Zip(AbstractTemplate):
    def generic(self, args, kws):
        alike = [_alike(self.context, ty) for ty in args]
        if not any(alike):
            return None
        args = [new or old for new, old in zip(alike, args, strict=True)]
        return signature(types.ZipType(args), *args)


@intrinsic
def _with_members_alike(typingctx, t):
    alike = _alike(typingctx, t)

    def codegen(context, builder, sig, args):
        return context.cast(builder, args[0], t, alike)

    return alike and (alike(t), codegen)


def _takes_members_alike(fn):
    """Let a function of one tuple take such tuples."""

    @overload(fn)
    def of_tuple(t):
        from numba.core.registry import cpu_target

        if _alike(cpu_target.typing_context, t):
            return lambda t: fn(_with_members_alike(t))


for _fn in (min, max, list):
    _takes_members_alike(_fn)


# -- membership --------------------------------------------------------------------------------


def _of_numbers(t):
    """Whether a tuple's members are numbers, of several types, duals among them."""
    members = types.Number | types.Boolean | d.Dual
    return (
        isinstance(t, types.Tuple | types.NamedTuple)
        and all(isinstance(ty, members) for ty in t)
        and any(isinstance(ty, d.Dual) for ty in t)
    )


@overload(operator.contains)
def _contains(seq, key):
    if not _of_numbers(seq):
        return None
    equal = " or ".join(f"seq[{k}] == key" for k in range(len(seq)))
    return define(f"def contains(seq, key):\n    return {equal}\n", {})


# -- namedtuples of dual numbers, and of floats --------------------------------------------------


def _of_duals(ty, other):
    """Whether two namedtuples are of one class, and one of them holds dual numbers."""
    named = isinstance(ty, types.BaseNamedTuple) and isinstance(other, types.BaseNamedTuple)
    if not named or ty.instance_class is not other.instance_class:
        return False
    return any(True for member in (ty, other) for _ in d.duals_in(member))


def _unify(self, typingctx, other):
    """Numba joins plain tuples member by member, and namedtuples only where they are the same."""
    if not _of_duals(self, other):
        return None
    members = [typingctx.unify_pairs(mine, yours) for mine, yours in zip(self, other, strict=True)]
    return named_type(members, self.instance_class) if all(members) else None


def _can_convert_to(self, typingctx, other):
    if not _of_duals(self, other):
        return None
    kinds = [typingctx.can_convert(mine, yours) for mine, yours in zip(self, other, strict=True)]
    return max(kinds, default=None) if None not in kinds else None


def named_type(members, cls):
    """The type of a namedtuple, as Numba spells it."""
    if members and len(set(members)) == 1:
        return types.NamedUniTuple(members[0], len(members), cls)
    return types.NamedTuple(members, cls)


for _kind in (types.NamedTuple, types.NamedUniTuple):
    _kind.unify, _kind.can_convert_to = _unify, _can_convert_to


@lower_cast(types.BaseNamedTuple, types.BaseNamedTuple)
def _cast(context, builder, fromty, toty, value):
    members = cgutils.unpack_tuple(builder, value, len(fromty))
    cast = [
        context.cast(builder, member, mine, yours)
        for member, mine, yours in zip(members, fromty, toty, strict=True)
    ]
    return context.make_tuple(builder, toty, cast)
