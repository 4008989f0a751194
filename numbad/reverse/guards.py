"""Indices that may lie beyond their arrays, checked in the forward sweep.

Numba checks no index unless it is asked to, so that a stray read gives what happens to lie there. Its
adjoint would be a stray write, into the adjoint of another array or the bookkeeping of the heap. What
the code tells to be within bounds (`extents.py`) needs no check. An index that follows that of a loop
is checked once, before the loop, by its first and its last value; any other where it is used.
"""

import operator
from collections import defaultdict
from functools import cache
from typing import NamedTuple

from numba.core import cgutils, ir, types
from numba.extending import intrinsic

from ..ir.fence import place
from ..ir.function import is_expr
from ..ir.sequences import unravel
from ..ir.stray import refuse_stray
from .extents import Extents
from .memory import ELSEWHERE
from .memory_helpers import range_length
from .ops.array import Load, Store, View
from .ops.records import RecordStore

_AFFINE = operator.add, operator.sub, operator.mul


class Guard(NamedTuple):
    """An index, a variable or an int, of an axis of an array, met at a statement.

    The axis is None where the index is the number of an element (`a.flat[i]`). Where the index is a tuple
    that is not put together in the code, the axis is a tuple: of each member, None for what is no integer.
    """

    array: ir.Var
    axis: int
    index: object
    op: object

    @property
    def key(self):
        index = self.index if isinstance(self.index, int) else self.index.name
        return self.array.name, self.axis, index


class Guards:
    """What a `Sweep` checks, and where."""

    def __init__(self, sweep):
        self.plan, self.fn, self.control = sweep.plan, sweep.fn, sweep.control
        self.e, self.extents = sweep.e, Extents(sweep.plan)
        self.before = defaultdict(list)  # header -> guards of a loop, checked where it is entered
        self.at = defaultdict(list)  # statement -> guards that are checked there
        self.ranges = {}  # header -> start, stop, step
        known = set()
        for op in sweep.activity.every():
            for guard in self._guards(op) if self._adds_or_takes(op) else ():
                self._place(guard, known)

    def _adds_or_takes(self, op):
        """Whether the adjoint of a statement writes to the adjoint of an array, at its index."""
        active = self.e.active
        if isinstance(op, Load):
            return active((op.target, ())) and active((op.expr.value.name, ()))
        if isinstance(op, Store | RecordStore):
            return active((op.statement.target.name, ()))
        return isinstance(op, View) and any(active(leaf) for leaf in op.defined())

    def _guards(self, op):
        """One for each index of a statement that is not known to be within bounds."""
        access = op.expr if isinstance(op, Load | View) else op.statement
        if isinstance(access, ir.Expr) and access.op not in ("getitem", "static_getitem"):
            return
        array = access.value if isinstance(access, ir.Expr) else access.target
        ty = self.fn.type_of(array)
        if not isinstance(ty, types.Array):
            return
        for axis, index in self._indices(access.index, ty.ndim):
            known = _is_int(axis) and self.extents.is_within(index, array, axis, op.label)
            if not known:
                yield Guard(array, axis, index, op)

    def _indices(self, index, ndim):
        """The axis and the variable or number of each integer in an index."""
        number = self._number(index)
        if number is not None:
            yield None, number
            return
        members = self._members(index)
        axes = _axes([self._kind(member) for member in members], ndim)
        if isinstance(index, ir.Var) and members and isinstance(members[0], types.Type):
            if any(axis is not None for axis in axes):
                yield axes, index
            return
        for member, axis in zip(members, axes, strict=True):
            if axis is not None:
                constant = self.fn.constant(member) if isinstance(member, ir.Var) else member
                yield axis, constant if _is_int(constant) else member

    def _number(self, index):
        """The number of the element, of an index that was made of it, else None."""
        value = self.fn.definition(index) if isinstance(index, ir.Var) else None
        while is_expr(value, "cast") or isinstance(value, ir.Var):
            value = self.fn.definition(value.value if is_expr(value, "cast") else value)
        if not is_expr(value, "call") or self.fn.constant(value.func) is not unravel:
            return None
        number = value.args[1]
        constant = self.fn.constant(number)
        return constant if _is_int(constant) else number

    def _members(self, index):
        """The variables or numbers in an index; their types for a tuple from elsewhere."""
        if not isinstance(index, ir.Var):
            return index if isinstance(index, tuple) else [index]
        build = self.fn.definition(index)
        if is_expr(build, "build_tuple"):
            return build.items
        ty = self.fn.type_of(index)
        return list(ty) if isinstance(ty, types.BaseTuple) else [index]

    def _kind(self, member):
        """What a member of an index does."""
        if not isinstance(member, ir.Var | types.Type):
            return (
                "integer" if _is_int(member) else "slice" if isinstance(member, slice) else "other"
            )
        ty = types.unliteral(self.fn.type_of(member) if isinstance(member, ir.Var) else member)
        kinds = (types.Integer, "integer"), (types.SliceType, "slice")
        kinds = *kinds, (types.EllipsisType, "ellipsis"), (types.NoneType, "new")
        return next((kind for cls, kind in kinds if isinstance(ty, cls)), "other")

    # -- where --------------------------------------------------------------------------------

    def _place(self, guard, known):
        """Note where an index is checked, unless that has been done on every way to it."""
        loop = self._loop(guard)
        label = loop.header if loop else guard.op.label
        if any(key == guard.key and self.control.dominates(at, label) for key, at in known):
            return
        known.add((guard.key, label))
        if loop:
            self.before[loop.header].append(guard)
            if _is_int(guard.axis) and not _is_int(guard.index):
                self.extents.learn_of_loop(guard.index, guard.array, guard.axis, loop)
        else:
            self.at[guard.op].append(guard)
            if _is_int(guard.axis):
                self.extents.learn(guard.index, guard.array, guard.axis, label)

    def _loop(self, guard):
        """The loop before which an index can be checked: every iteration comes to it."""
        control, label = self.control, guard.op.label
        loop = control.innermost(label)
        if (
            loop is None
            or loop is control.root
            or self.plan.place_of(guard.array.name) in loop.body
        ):
            return None
        found = self.plan.range_of(loop)
        if found is None or not all(control.dominates(label, n) for n in loop.latches):
            return None
        self.ranges[loop.header] = found
        return loop if self._degree(guard.index, loop) is not None else None

    def _degree(self, x, loop):
        """0 for what is the same in all iterations, 1 for what follows the loop's index, else None."""
        if (
            _is_int(x)
            or self.plan.place_of(x.name) not in loop.body
            or self._constant(x) is not None
        ):
            return 0
        if x.name in self.plan.indices:
            found, start, step = self.plan.indices[x.name]
            steady = all(v is None or self._degree(v, loop) == 0 for v in (start, step))
            return 1 if found is loop and steady else None
        parts = self._parts(x)
        degrees = [self._degree(v, loop) for v in parts[1:]] if parts else [None]
        if None in degrees:
            return None
        total = sum(degrees) if parts[0] is operator.mul else max(degrees)
        return total if total < 2 else None

    def _constant(self, x):
        found = self.fn.constant(x)
        return found if _is_int(found) else None

    def _parts(self, x):
        """An operator and its operands, for a variable that they make; None for any other."""
        value = self.fn.definition(x)
        if isinstance(value, ir.Var) or is_expr(value, "cast"):
            return operator.pos, value if isinstance(value, ir.Var) else value.value
        if is_expr(value, "binop", "inplace_binop"):
            function = value.fn if value.op == "binop" else value.immutable_fn
            whole = all(isinstance(self._type(v), types.Integer) for v in (value.lhs, value.rhs))
            return (function, value.lhs, value.rhs) if function in _AFFINE and whole else None
        return None

    def _type(self, x):
        return types.unliteral(self.fn.type_of(x))

    # -- code ---------------------------------------------------------------------------------

    def enter(self, source, target):
        """On an edge into a loop: check what its iterations will use."""
        loop = self.control.every.get(target)
        if not self.before.get(target) or loop is None or source in loop.body:
            return
        e, loc = self.e, self.e.loc
        start, stop, step = self.ranges[target]
        start, step = e.const(0) if start is None else start, e.const(1) if step is None else step
        count = e.call(range_length, start, stop, step)
        last = e.binop(operator.sub, count, e.const(1))
        for guard in self.before[target]:
            e.loc = guard.op.loc
            steady, natural = self._degree(guard.index, loop) == 0, self._is_natural(guard)
            ends = [self._at(guard.index, loop, last)]
            if not (steady or (natural and self._rises(guard.index, loop))):
                ends.append(self._at(guard.index, loop, e.const(0)))
            check = all_within(guard.axis, natural)
            for index in ends:
                e.call(check, guard.array, count, index, e.const(_where(guard)))
        e.loc = loc

    def _is_natural(self, guard):
        return not isinstance(guard.axis, tuple) and self._is_number(guard.index)

    def _is_number(self, x):
        """Whether an index is known not to be negative."""
        return x >= 0 if _is_int(x) else self.plan.is_natural(x)

    def _rises(self, x, loop):
        """Whether the last value of an index that follows that of a loop is the largest."""
        if x.name in self.plan.indices:
            step = self.plan.indices[x.name][2]
            return step is None or (self._constant(step) or 0) > 0
        function, first, *others = self._parts(x)
        follows = [v for v in (first, *others) if self._degree(v, loop) == 1]
        if function is operator.mul and not all(map(self._is_number, (first, *others))):
            return False
        return (
            follows in ([first], others)
            and (follows != others or function is not operator.sub)
            and all(self._rises(v, loop) for v in follows)
        )

    def _at(self, x, loop, number):
        """What an index is in an iteration of a loop."""
        e = self.e
        constant = x if _is_int(x) else self._constant(x)
        if constant is not None:
            return e.const(constant)
        if self.plan.place_of(x.name) not in loop.body:
            return x
        if x.name in self.plan.indices:
            _, start, step = self.plan.indices[x.name]
            by = number if step is None else e.binop(operator.mul, number, self._at(step, loop, 0))
            return by if start is None else e.binop(operator.add, by, self._at(start, loop, 0))
        function, *parts = self._parts(x)
        values = [self._at(v, loop, number) for v in parts]
        return values[0] if function is operator.pos else e.binop(function, *values)

    def check(self, op):
        """Before a statement: check its indices."""
        e = self.e
        for guard in self.at.get(op, ()):
            index = e.const(guard.index) if _is_int(guard.index) else guard.index
            check = within(guard.axis, self._is_natural(guard))
            e.call(check, guard.array, index, e.const(_where(guard)))


def _is_int(x):
    return isinstance(x, int) and not isinstance(x, bool)


def _axes(kinds, ndim):
    """The axis of each integer in an index, None for all else, and behind what is not known."""
    axes, known = [], True
    for k, kind in enumerate(kinds):
        known = known and kind != "other"
        behind = "ellipsis" in kinds[:k]
        axis = (ndim - len(kinds) + k if behind else k) - kinds[:k].count("new")
        axes.append(axis if known and kind == "integer" else None)
    return tuple(axes)


def _where(guard):
    name = getattr(guard.op.loc, "function", None)
    return f"{f'in {name}, ' if name else ''}{place(guard.op.loc)}"


def _check(context, builder, access, index_type, index, where, wanted=None):
    """As `refuse_stray`, on targets that can raise; for each integer of a tuple."""
    if context.target_name in ELSEWHERE:
        return
    array, value, axis, natural = access
    indices = [(axis, index_type, index)]
    if isinstance(axis, tuple):
        indices = zip(axis, index_type, cgutils.unpack_tuple(builder, index), strict=True)
        indices = [one for one in indices if one[0] is not None]
    for one, ty, number in indices:
        at = array, value, one, natural
        refuse_stray(context, builder, at, ty, number, where.literal_value, wanted)


@cache
def within(*place):
    """An intrinsic that raises BoundsError unless an index is one of an axis.

    `place` is the axis, as a `Guard` has it, and whether the index is known not to be negative.
    """

    @intrinsic(prefer_literal=True)
    def check(typingctx, array, index, where):
        if not isinstance(where, types.StringLiteral):
            return None

        def codegen(context, builder, sig, args):
            _check(context, builder, (array, args[0], *place), index, args[1], where)
            return context.get_dummy_value()

        return types.void(array, index, where), codegen

    return check


@cache
def all_within(*place):
    """The same for an index that is used if a count is not zero."""

    @intrinsic(prefer_literal=True)
    def check_all(typingctx, array, count, index, where):
        if not isinstance(where, types.StringLiteral):
            return None

        def codegen(context, builder, sig, args):
            some = builder.icmp_signed(">", args[1], args[1].type(0))
            _check(context, builder, (array, args[0], *place), index, args[2], where, some)
            return context.get_dummy_value()

        return types.void(array, count, index, where), codegen

    return check_all
