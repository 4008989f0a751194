"""Copies, phis and tuples: statements that move values about without computing."""

from numba import njit
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from ...forward import known
from ...forward.dual import join
from ...ir.leaves import HANDLES
from ..cotangents import zero_like
from .base import Op


class Move(Op):
    """Each leaf of the result is a leaf of an operand; `flows` and `aliases` say which."""

    linear = repeatable = elementary = True

    def may_raise(self, options):
        return False

    def reverse(self, e):
        for source, target in self.flows:
            if e.pending(target):
                adjoint = e.take(target)
                if e.active(source):
                    e.add(source, adjoint, of=target)

    def origin(self, identity):
        """The handle leaf of which this one is another name."""
        return next((s for s, t in self.aliases if t == identity), None)


class Copy(Move):
    """`x = y`, casts included."""

    def analyse(self):
        source = self.expr if not hasattr(self.expr, "op") else self.expr.value
        self.link(source, self.target)


class BuildTuple(Move):
    def __init__(self, fn, label, statement, items):
        self.items = items
        super().__init__(fn, label, statement)

    def analyse(self):
        for k, item in enumerate(self.items):
            self.link(item, self.target, (), (k,))


class Joined(Move):
    """`t + u` of tuples."""

    def __init__(self, fn, label, statement, parts):
        self.parts = parts
        super().__init__(fn, label, statement)

    def analyse(self):
        place = 0
        for part in self.parts:
            for k in range(len(self.fn.type_of(part))):
                self.link(part, self.target, (k,), (place,))
                place += 1


class PresentTuple(Move):
    """A tuple that may be None, where it is used as one."""

    elementary = False

    def __init__(self, fn, label, statement, source):
        self.source = source
        super().__init__(fn, label, statement)

    def may_raise(self, options):
        return True

    def analyse(self):
        self.link(self.source, self.target)


class TupleItem(Move):
    """`t[2]`, `t[1:]`, `t.field` with a position known at compile time."""

    def __init__(self, fn, label, statement, source, index):
        self.source, self.index = source, index
        super().__init__(fn, label, statement)

    def analyse(self):
        count = len(self.fn.type_of(self.source))
        if isinstance(self.index, slice):
            for k, i in enumerate(range(*self.index.indices(count))):
                self.link(self.source, self.target, (i,), (k,))
        else:
            self.link(self.source, self.target, (self.index % count,), ())


class TupleIndex(Op):
    """`t[i]`, `i` known at run time, of a tuple whose members, or those that are meant, are alike."""

    linear = True

    def __init__(self, fn, label, statement):
        self.source, self.index = statement.value.value, statement.value.index
        members = [types.unliteral(t) for t in fn.type_of(self.source)]
        self.meant = range(len(members))
        if statement.value.op == "typed_getitem":  # of `literal_unroll`: the type says which
            wanted = types.unliteral(fn.type_of(statement.target))
            self.meant = [k for k in self.meant if members[k] == wanted]
        super().__init__(fn, label, statement)

    def analyse(self):
        for k in self.meant:
            self.link(self.source, self.target, (k,), ())

    def reverse(self, e):
        index = None
        for (name, path), leaf in self.leaves(self.target):
            if leaf.kind in HANDLES or not e.pending((name, path)):
                continue
            adjoint = e.take((name, path))
            index = index or e.call(wrapped, e.value(self.index), e.const(self._count()))
            for source, target in self.flows:
                if target == (name, path) and e.active(source):
                    e.add(source, e.call(picked, index, e.const(source[1][0]), adjoint))

    def forward(self, e):
        """Beside duals the members need not be alike any more."""
        plain = self.expr.op != "typed_getitem" and e.dual is None
        if plain or not self.leaves(self.target):
            e.append(self.statement)
            return
        items = {k: e.item(self.source, k) for k in self.meant}
        e.assign(self._chosen(e, items, self.index), self.statement.target)

    def _count(self):
        return len(self.fn.type_of(self.source))

    def _chosen(self, e, members, index):
        """The one of `members`, by number, that the index says."""
        some = members[self.meant[0]]
        alike = e.tuple([members.get(k, some) for k in range(self._count())])
        return e.call(member, alike, index)

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                shadows = {s[1][0]: e.shadow(s) for s, t in self.aliases if t == identity}
                e.set_shadow(identity, self._chosen(e, shadows, e.value(self.index)))


class Phi(Op):
    """A name that is one of several, depending on where control came from."""

    linear = repeatable = elementary = True

    def may_raise(self, options):
        return False

    def analyse(self):
        self.incoming = {}
        for block, var in zip(self.expr.incoming_blocks, self.expr.incoming_values, strict=True):
            if not hasattr(var, "name"):  # undefined on this way
                continue
            if var.name not in {v.name for v in self.incoming.values()}:
                self.link(var, self.target)
            self.incoming[block] = var

    def from_block(self, block):
        """`(source, target)` pairs of scalar leaves for one predecessor."""
        var = self.incoming.get(block)
        if var is None:
            return []
        return [(s, t) for s, t in self.flows if s[0] == var.name]


def is_tuple(ty):
    return isinstance(ty, types.BaseTuple)


@njit
def wrapped(i, n):
    """An index from 0 on; negative ones count from the end."""
    return i + n if i < 0 else i


@intrinsic
def chosen(typingctx, condition, x, y):
    """`x if condition else y`, of two numbers that are both there."""
    ty = typingctx.unify_types(types.unliteral(x), types.unliteral(y))
    if ty is None:
        return None

    def codegen(context, builder, sig, args):
        taken = context.cast(builder, args[0], sig.args[0], types.boolean)
        values = [
            context.cast(builder, v, t, ty) for v, t in zip(args[1:], sig.args[1:], strict=True)
        ]
        return builder.select(taken, *values)

    return ty(condition, x, y), codegen


@njit
def picked(i, k, x):
    """`x` if `i` is `k`, else nothing."""
    return x if i == k else zero_like(x)


@njit
def member(t, i):
    """A member of a tuple whose members are numbers, or arrays of one rank and dtype."""
    return alike(t)[i]


@intrinsic
def alike(typingctx, t):
    """The tuple with members of one type: arrays of any layout, numbers and duals joined."""
    ty = types.unliteral(t.types[0])
    for other in t.types[1:]:
        ty = ty and _joined(typingctx, ty, types.unliteral(other))
    if ty is None:
        return None
    target = types.UniTuple(ty, len(t))

    def codegen(context, builder, sig, args):
        value = context.cast(builder, args[0], t, target)
        return impl_ret_borrowed(context, builder, target, value)

    return target(t), codegen


known.WALKING.add(alike)


def _joined(typingctx, first, second):
    if first == second:
        return first
    if isinstance(first, types.Array) and isinstance(second, types.Array):
        return first.copy(layout="A") if first.dtype == second.dtype else None
    return join(typingctx, first, second)
