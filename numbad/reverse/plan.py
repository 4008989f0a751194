"""Which primal values the reverse sweep keeps, recomputes, or records on the tape.

A value from outside every loop is still there. One from inside a loop that is cheap to compute from
others is computed again; the rest is recorded, once an iteration, in the frame of its loop.
"""

import operator
from collections import defaultdict

from numba.core import ir, types

from ..forward.promote import is_own_rule
from ..ir.callee import only_reads
from ..ir.function import is_expr, operands
from ..ir.leaves import leaves
from ..rules.arrays.broadcasting import LENGTHS
from .dependence import Distances
from .nonnegative import Naturals
from .ops.array import Load, View
from .ops.base import Constant
from .ops.lists import ListItem
from .ops.moves import BuildTuple, Copy, Move, Phi, TupleItem
from .ops.objects import Entered, is_object
from .ops.scalar_function import ScalarOp
from .stored import Stored
from .unchanged import INVARIANTS, Unchanged

CHEAP = {
    *(operator.add, operator.sub, operator.mul, operator.neg, operator.pos),
}
_READ_ATTRIBUTES = {"shape", "size", "ndim", "real", "imag"}
_CHEAP_CALLS = bool, len, slice, *LENGTHS


class Plan:
    """Where the reverse sweep finds the values and shadows that it asks for."""

    def __init__(self, fn, activity, control):
        self.fn, self.activity, self.control = fn, activity, control
        self.ops = {op.target: op for op in activity.every() if isinstance(op.statement, ir.Assign)}
        self.indices = {}  # name of a loop's index -> (loop, start, step)
        self.stops = {}  # name of a loop's index -> where the range ends
        for loop in control.loops.values():
            self._find_index(loop)
            self._find_inductions(loop)
        self.naturals = Naturals(fn, self.indices, self.stops)
        self.distances = Distances(self)
        self.unchanged = Unchanged(fn, activity, control, self.ops, self.distances)
        self.frames = defaultdict(list)  # header -> names recorded an iteration
        self.used = defaultdict(set)  # (header, name) -> labels whose reverse code needs it
        self._hard, self._places, self._stored = {}, {}, Stored(self)
        self.conditions = {}  # block with two ways in -> (condition, number of the way if it holds)
        self.extras = {}  # names that statements keep things in -> their block
        self.extra_types = {}  # and the types of some of these, or functions that give them
        self.integers_change = self._find_changes_of_integers()

    # -- loops over a range ------------------------------------------------------------------

    def _find_index(self, loop):
        fn = self.fn
        for s in self._beginning(loop):
            if not (isinstance(s, ir.Assign) and is_expr(s.value, "pair_first")):
                continue
            source = fn.definition(s.value.value)
            iterator = fn.definition(source.value) if is_expr(source, "iternext") else None
            over = fn.definition(iterator.value) if is_expr(iterator, "getiter") else None
            if not is_expr(over, "call") or fn.constant(over.func) is not range:
                continue
            place = fn.definitions[source.value.name][0]
            if place in loop.body:
                continue
            args = over.args
            if not args or over.vararg is not None:
                continue
            start = args[0] if len(args) > 1 else None
            step = args[2] if len(args) > 2 else None
            self.indices[s.target.name] = loop, start, step
            self.stops[s.target.name] = args[1 if len(args) > 1 else 0]

    def _find_inductions(self, loop):
        """Integers that every iteration adds the same to."""
        for op in self.activity.ops[loop.header]:
            if not isinstance(op, Phi) or len(loop.entries) != 1:
                continue
            following = {op.incoming[n].name for n in loop.latches if n in op.incoming}
            start = op.incoming.get(loop.entries[0])
            if len(following) == 1 and start is not None:
                step = self._added(following.pop(), op.target)
                if step is not None:
                    self.indices[op.target] = loop, start, step

    def _added(self, name, to):
        """The integer that a value is more than another one, as a variable of the code, or None."""
        value = self.fn.definition(name)
        if not is_expr(value, "binop", "inplace_binop") or not isinstance(
            self.fn.type_of(to), types.Integer
        ):
            return None
        function = value.fn if value.op == "binop" else value.immutable_fn
        if function is not operator.add or value.lhs.name != to:
            return None
        return value.rhs if isinstance(self.fn.constant(value.rhs), int) else None

    def _beginning(self, loop):
        """The statements of the header, and of the blocks that always follow it."""
        for label in self.control.beginning(loop):
            yield from self.fn.blocks[label].body

    # -- what is asked for -------------------------------------------------------------------

    def decide(self, needs):
        """Fix the frames for `needs`: `(label, name)` pairs of values and of shadows."""
        order = {name: k for k, name in enumerate(self.ops)}
        wanted = sorted(set(needs), key=lambda n: (order.get(n[1], -1), str(n)))
        hard = [n for n in wanted if not self._alive(*n) and not self._can_recompute(*n)]
        for label, name in hard:
            self._record(label, name)
        for label, name in wanted:
            if not self._alive(label, name) and (label, name) not in hard:
                self._soft(label, name)

    def _soft(self, label, name):
        """Recompute if that takes at most one more recorded value, else record the value itself.

        What loops further out record counts for nothing: they take fewer iterations.
        """
        if self.recorded(label, name):
            self._record(label, name)
            return
        loop = self.control.common(label, self.block_of(name))
        new = {n for n in self._roots(label, name) if not self.recorded(label, n)}
        if sum(self.control.common(label, self.block_of(n)) is loop for n in new) > 1:
            self._record(label, name)
            return
        for root in sorted(self._roots(label, name), key=str):
            self._record(label, root)

    def _roots(self, label, name):
        """The values to be recorded for a value to be recomputed."""
        found, seen, pending = set(), set(), [name]
        while pending:
            current = pending.pop()
            if current in seen or self._alive(label, current):
                continue
            seen.add(current)
            if self.recorded(label, current) or not self._can_recompute(label, current):
                found.add(current)
            else:
                pending += self.recipe_operands(current)
        return found

    def _record(self, label, name):
        loop = self.control.common(label, self.block_of(name))
        if name not in self.frames[loop.header]:
            self.frames[loop.header].append(name)
        self.used[loop.header, name].add(label)

    def recorded(self, label, name):
        """Whether the frame of the loop that holds both the block and the definition has it."""
        loop = self.control.common(label, self.block_of(name))
        return loop is not None and name in self.frames.get(loop.header, ())

    def reach(self, label, name):
        """Whether a value can be had at a block without recording more; it is then seen to."""
        if self.roots_missing(label, name):
            return False
        for root in self._roots(label, name):
            self._record(label, root)
        return True

    def records(self, loop):
        """Whether a loop, or one within it, records anything."""
        return any(self.frames.get(h) for h in self.control.loops if h in loop.body)

    def roots_missing(self, label, name):
        """Whether a value cannot be had at a block."""
        return not all(self.recorded(label, root) for root in self._roots(label, name))

    def range_of(self, loop):
        """Start, stop and step (None: 0, 1) of a loop that always runs over its whole range, or None."""
        if not self.control.is_left_at_start(loop):
            return None
        for name, (found, start, step) in self.indices.items():
            if found is loop and name in self.stops:
                return start, self.stops[name], step
        return None

    # -- the ways to a value -----------------------------------------------------------------

    def place_of(self, name):
        """The block that a name is assigned in; the entry for parameters."""
        return self.fn.place_of(name)

    def block_of(self, name):
        """The block that defines a value, or the handle whose shadow the name is.

        Where a value is the same in every iteration of a loop, one outside of that loop stands for it.
        """
        name = name[0] if isinstance(name, tuple) else name
        if name in self.extras:
            return self.extras[name]
        if name not in self._places:
            level = self.unchanged.level(name) if INVARIANTS.is_on() else None
            self._places[name] = self.place_of(name) if level is None else level
        return self._places[name]

    def _alive(self, label, name):
        return self.control.common(label, self.block_of(name)) is None

    def alive(self, label, name):
        return self._alive(label, name)

    def _can_recompute(self, label, name):
        place = self.block_of(name)
        if self.control.innermost(place) is not self.control.common(label, place):
            return False
        if isinstance(name, tuple):
            within = self.control.innermost(label) is not self.control.innermost(place)
            return self._can_remake_shadow(name) and not (within and self._is_called(name))
        if self._is_called(name):
            return False
        if name in self.extras:
            return False
        if name in self.indices:
            return True
        if name not in self._hard:
            self._hard[name] = not self._is_cheap(name)
        return not self._hard[name]

    def _is_cheap(self, name):
        op = self.ops.get(name)
        if op is None:
            return False
        value = op.statement.value
        if not isinstance(value, ir.Expr):
            return True  # constants and globals
        if isinstance(op, Phi):
            return self._is_chosen(op)
        if isinstance(op, Copy | BuildTuple | TupleItem):
            return all(self._is_number_or_tuple(v) for v in operands(value))
        if isinstance(op, ScalarOp):
            return op.function in CHEAP or self.stored(name) is not None
        if op.cheap:
            return True
        if isinstance(op, View):
            return self._is_at_hand(op.statement.target)
        if isinstance(op, Load):
            return self._is_kept(value.value, op)
        return isinstance(op, Constant) and self._cheap_constant(op, value)

    def stored(self, name):
        """The array and the index where a function's value can be read again, or None."""
        op = self.ops.get(name)
        costly = isinstance(op, ScalarOp) and op.function not in CHEAP
        return self._stored.place(name) if costly else None

    def _is_chosen(self, phi):
        """Whether a phi is one of two numbers that are at hand, by a condition that is, too."""
        names = [v.name for v in phi.incoming.values()]
        return (
            phi.label in self.conditions
            and len(names) == 2
            and self._is_number(phi.statement.target)
            and not any(self._must_be_computed(phi, name) for name in names)
        )

    def _must_be_computed(self, phi, name):
        """Whether a value must not be computed again where the other way was taken."""
        if self.is_constant(name) or self._alive(phi.label, name) or name in self.indices:
            return False
        if not self._can_recompute(phi.label, name):
            return False
        value = self.fn.definition(name)
        if not is_expr(value, "binop") or value.fn not in CHEAP:
            return True
        return any(self._must_be_computed(phi, v.name) for v in (value.lhs, value.rhs))

    def _cheap_constant(self, op, value):
        if value.op in ("binop", "inplace_binop", "unary"):
            return all(self._is_number(v) for v in operands(value)) and value.fn not in (
                operator.pow,
                operator.ipow,
            )
        if value.op == "getattr":
            fixed = value.attr in _READ_ATTRIBUTES and not self.has_fields(value.value)
            return fixed and self._is_at_hand(value.value)
        if value.op in ("getitem", "static_getitem"):
            ty = self.fn.type_of(value.value)
            if isinstance(ty, types.Array):
                return self._is_kept(value.value, op)
            return isinstance(ty, types.BaseTuple)
        if value.op == "call":
            return self.fn.constant(value.func) in _CHEAP_CALLS and all(
                self._is_number_or_tuple(v) or (self.is_outside(v) and self._is_array(v))
                for v in value.args
            )
        return False

    def is_constant(self, var):
        """Whether a variable stands for a number that the code says."""
        return isinstance(self.fn.definition(var), ir.Const)

    def is_outside(self, var):
        """Whether a variable is defined outside every loop, or as good as that."""
        return self.control.outside(self.block_of(var.name))

    def _is_array(self, var):
        return isinstance(self.fn.type_of(var), types.Array)

    def has_fields(self, var):
        """Whether a value's attributes may be written to."""
        ty = self.fn.type_of(var)
        ty = ty.type if isinstance(ty, types.Optional) else ty
        return is_object(ty) or isinstance(ty, types.Record)

    def _writes_integers(self, s):
        """Whether a statement writes to an array or a record that may hold integers."""
        if not isinstance(s, ir.SetItem | ir.StaticSetItem | ir.SetAttr):
            return False
        ty = self.fn.type_of(s.target)
        records = isinstance(ty, types.Record) or isinstance(getattr(ty, "dtype", 0), types.Record)
        return records or not leaves(ty)

    def _find_changes_of_integers(self):
        """Whether anything may write to an array that carries no floats."""
        for op in self.activity.every():
            s = op.statement
            if self._writes_integers(s) or isinstance(op, Entered):
                return True
            value = getattr(s, "value", None)
            if is_expr(value, "inplace_binop") and self._is_integer_array(value.lhs):
                return True
            if is_expr(value, "call") and self._may_change(value):
                return True
        return False

    def _may_change(self, call):
        called = self.fn.constant(call.func)
        if only_reads(called) or is_own_rule(called):
            return False
        method = self.fn.definition(call.func)
        owners = [method.value] if is_expr(method, "getattr") else []
        return any(self._is_integer_array(v) or self.has_fields(v) for v in [*call.args, *owners])

    def _is_integer_array(self, var):
        ty = self.fn.type_of(var)
        return isinstance(ty, types.Array | types.List | types.ListType) and not leaves(ty)

    def _is_kept(self, array, op):
        """Whether what a statement reads from an array can be read again when it is reversed."""
        if not leaves(self.fn.type_of(array)):
            return self.is_outside(array) and not self.integers_change
        return self._is_at_hand(array) and self.unchanged.is_kept(array, op)

    def _is_at_hand(self, var):
        """Whether an array, say, is from outside of all loops, or part of one by an index that is at hand."""
        op = self.ops.get(var.name)
        if self.is_outside(var) or op is None or self.unchanged.has_versions(var):
            return self.is_outside(var)
        value = op.statement.value
        if isinstance(value, ir.Var):
            return self._is_at_hand(value)
        if not isinstance(op, View) or not is_expr(value, "getitem", "static_getitem", "call"):
            return False
        known = self._is_called(var.name) or all(map(self._is_cheap_index, op.recipe_operands()))
        return known and self._is_at_hand(op.base)

    def _is_number(self, var):
        return self._is_number_type(self.fn.type_of(var))

    @staticmethod
    def _is_number_type(ty):
        return isinstance(types.unliteral(ty), types.Number | types.Boolean)

    def _is_number_or_tuple(self, var):
        ty = self.fn.type_of(var)
        if isinstance(ty, types.BaseTuple):
            return all(self._is_number_type(t) or isinstance(t, types.SliceType) for t in ty)
        plain = (types.SliceType, types.NoneType, types.EllipsisType)
        return self._is_number_type(ty) or isinstance(ty, plain)

    def recipe_operands(self, name):
        """The names whose values a recomputation needs."""
        if isinstance(name, tuple):
            op = self.ops[name[0]]
            base = self.origin((op.base.name, ()))
            return [base, *(v.name for v in op.recipe_operands())]
        if name in self.indices:
            return [v.name for v in self.indices[name][1:] if v is not None]
        if self.stored(name) is not None:
            return [v.name for v in self.stored(name)]
        value = self.ops[name].statement.value
        if is_expr(value, "phi"):
            cond, _ = self.conditions[self.ops[name].label]
            return [cond.name, *(v.name for v in value.incoming_values)]
        called = value.func if is_expr(value, "call") else None
        names = [v.name for v in operands(value) if called is None or v.name != called.name]
        return [self.unchanged.same.get(name, name) for name in names]

    def is_natural(self, x):
        """Whether an index is known not to be negative, so that it need not be wrapped around."""
        return x in self.naturals

    # -- shadows -----------------------------------------------------------------------------

    def origin(self, leaf):
        """The handle leaf that a leaf is another name of."""
        op = self.ops.get(leaf[0])
        while isinstance(op, Move):
            source = op.origin(leaf)
            if source is None:
                break
            leaf = source
            op = self.ops.get(leaf[0])
        if isinstance(op, ListItem):
            return self.unchanged.same.get(leaf[0], leaf[0]), leaf[1]
        return leaf

    def _can_remake_shadow(self, leaf):
        op = self.ops.get(leaf[0])
        if not isinstance(op, View):
            return False
        return all(self._is_cheap_index(v) for v in op.recipe_operands())

    def _is_called(self, name):
        """Whether a name is that of a view by a call, `ravel` or `reshape`: too dear for each element."""
        op = self.ops.get(name[0] if isinstance(name, tuple) else name)
        return isinstance(op, View) and is_expr(op.statement.value, "call")

    def _is_cheap_index(self, var):
        name = var.name
        if name in self.indices or self.is_outside(var):
            return True
        return self._is_number(var) or (self._is_number_or_tuple(var) and self._is_cheap(name))
