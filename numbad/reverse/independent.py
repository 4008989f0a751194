"""Loops whose iterations meet only in a sum, `total += g(i)`: found here, without annotation.

The adjoint of such an iteration depends on the others only by the adjoint of the sum, by which all of
it is multiplied. So an iteration can be reversed as soon as it is done, and nothing of it is kept
(Griewank & Walther, "Evaluating Derivatives", 2008, ch. 10.2: preaccumulation).
"""

import operator

from numba.core import types

from ..ir.function import successors
from ..ir.leaves import HANDLES, at
from .early_sizes import is_early_size
from .ops.moves import Move, Phi
from .ops.scalar_function import INPLACE, ScalarOp
from .scratch import Scratch
from .switches import Switch

INDEPENDENT = Switch(
    "independent",
    "loops whose iterations meet only in a sum are reversed iteration by iteration",
)

_SUMS = operator.add, operator.sub


def independent_loops(fn, activity, control, plan):
    """The loops that record something and need not, as `Independent`."""
    found = []
    for loop in list(control.loops.values()):
        candidate = Independent(fn, activity, control, plan, loop)
        if plan.records(loop) and candidate.is_independent():
            found.append(candidate)
    return found


class Independent:
    """A loop, the leaf that its iterations add to, and what else they touch."""

    def __init__(self, fn, activity, control, plan, loop):
        self.fn, self.activity, self.control, self.plan = fn, activity, control, plan
        self.loop, self.sum, self.sums = loop, None, None
        self.ops = [op for label in loop.body for op in activity.ops[label]]

    def is_independent(self):
        """Whether the iterations meet in one sum only; `sum` is the leaf then."""
        return self.obstacle() is None

    def obstacle(self):
        """The first of the conditions for this that does not hold, or None."""
        conditions = {
            "outermost": lambda: self.loop.parent is None,
            "left at the start": self.is_left_at_start,
            "one sum": self._has_one_sum,
            "only added to": self._is_only_added_to,
            "plain": self._reads_plain,
            "arrays apart": self._keeps_arrays_apart,
        }
        return next((name for name, holds in conditions.items() if not holds()), None)

    def is_left_at_start(self):
        """Whether every iteration that begins is completed, and ends before anything active."""
        start = self.control.beginning(self.loop)
        ops = [op for label in start for op in self.activity.ops[label] if not isinstance(op, Phi)]
        returns = self.loop.header in self.control.returning
        return (
            returns
            and self.control.is_left_at_start(self.loop)
            and not any(map(self._is_active, ops))
        )

    def _is_active(self, op):
        return any(self._active(t) for _, t in op.flows) or any(self._active(h) for h in op.stores)

    def _active(self, leaf):
        return self.activity.active(leaf)

    def _has_one_sum(self):
        """Whether one float, and nothing else that is differentiated, goes from one to the next."""
        return self.carries_one_of(None)

    def carries_one_of(self, leaves):
        """The same, for a float that is one of `leaves`, if they are given; `sum` is it then."""
        carried = self.carried()
        if len(carried) != 1:
            return False
        (self.sum,) = carried
        if leaves is not None and self.sum not in leaves:
            return False
        return self.sum[1] == () and isinstance(self.fn.type_of(self.sum[0]), types.Float)

    def carried(self):
        """The leaves that are differentiated and go from one iteration to the next."""
        found = {}
        for op in self.activity.ops[self.loop.header]:
            if isinstance(op, Phi):
                found |= {t: None for _, t in op.flows + op.aliases if self._active(t)}
        return list(found)

    def _is_only_added_to(self):
        """Whether an iteration does nothing to the number it carries but add terms: `s = s + a[i] - b[i]`."""
        uses = {}
        for op in self.ops:
            for source, target in op.flows:
                if self._active(target):
                    uses.setdefault(source, []).append((op, target))
        sums, pending = {self.sum}, [self.sum]
        while pending:
            for op, target in uses.get(pending.pop(), ()):
                if not isinstance(op, Move | Phi) and not self._is_sum(op):
                    return False
                if target not in sums:
                    sums.add(target)
                    pending.append(target)
        self.sums = sums
        return all(self._adds_once(op, sums) for op in self.ops)

    def _is_sum(self, op):
        return isinstance(op, ScalarOp) and INPLACE.get(op.function, op.function) in _SUMS

    def _adds_once(self, op, sums):
        """Whether a statement that makes a partial sum has exactly one partial sum in it."""
        if not any(t in sums for _, t in op.flows):
            return True
        if isinstance(op, Phi):
            ways = [w for w in self.control.predecessors[op.label] if w in self.loop.body]
            leaf = next(t for _, t in op.flows if t in sums)
            came = [op.incoming.get(w) for w in ways]
            return all(v is not None and (v.name, leaf[1]) in sums for v in came)
        if isinstance(op, Move):
            return all(s in sums for s, t in op.flows if t in sums)
        given = [(v.name, ()) in sums for v in op.arguments]
        minus = INPLACE.get(op.function, op.function) is operator.sub
        return given.count(True) == 1 and not (minus and given[1])

    # -- what the iterations read and write --------------------------------------------------

    def _reads_plain(self):
        """Whether what comes from outside is floats and arrays."""
        return all(
            at(self.fn.type_of(name), path).kind in ("scalar", "array")
            for name, path in self.outer_leaves()
        )

    def outer_leaves(self):
        """The active leaves from outside that the iterations read or write."""
        found = {}
        for op in self.ops:
            pairs = op.flows + op.aliases
            leaves = [*(leaf for pair in pairs for leaf in pair), *op.stores, *op.defined()]
            for leaf in leaves:
                outer = self._active(leaf) and not self.inside(leaf[0])
                if outer and not (isinstance(op, Phi) and op.label == self.loop.header):
                    found[leaf] = None
        return list(found)

    def inside(self, name):
        return self.plan.place_of(name) in self.loop.body

    def _keeps_arrays_apart(self):
        """Whether no iteration reads what another one has written."""
        written = {self.activity.node(h) for op in self.ops for h in op.stores if self._active(h)}
        outer = {self.activity.node(leaf) for leaf in self.outer_leaves()}
        return all(self._is_scratch(node) for node in written & outer)

    def _is_scratch(self, node):
        scratch = Scratch(self.fn, self.activity, self.control, self.plan, self.loop, node)
        return scratch.is_private() and scratch.is_overwritten()

    # -- the adjoint of the sum, before the loop ----------------------------------------------

    def way_to_result(self):
        """The statements that lead from the sum to the result, if nothing in the loop is needed to
        tell what the adjoint of the sum will be: `[(statement, operand)]`, else None."""
        if not self._reads_what_stays():
            return None
        leaf, way = self.sum, []
        while True:
            uses = [
                (op, target)
                for ops in self.activity.ops.values()
                for op in ops
                if op.label not in self.loop.body
                for source, target in op.flows
                if source == leaf and self._active(target)
            ]
            if not uses and leaf in self.activity.returned:
                self.result_leaf = leaf
                return way
            if len(uses) != 1 or leaf in self.activity.returned:
                return None
            op, target = uses[0]
            if not self._is_known_before(op, leaf):
                return None
            way.append((op, leaf))
            leaf = target

    def _reads_what_stays(self):
        """Whether no array that the iterations read is written to after them."""
        read = {
            self.activity.node(leaf)
            for leaf in self.outer_leaves()
            if at(self.fn.type_of(leaf[0]), leaf[1]).kind in HANDLES
        }
        after = self.control.reachable(self.loop.header)
        return not any(
            self.activity.node(h) in read
            for label in after - self.loop.body
            for op in self.activity.ops[label]
            for h in op.stores
        )

    def _is_known_before(self, op, leaf):
        """Whether the partial derivative of a statement by an operand is known before the loop."""
        control, header = self.control, self.loop.header
        exits = [n for n in control.returning if not successors(self.fn.blocks[n])]
        always = control.outside(op.label) and control.dominates(header, op.label)
        if not always or not all(control.dominates(op.label, n) for n in exits):
            return False
        if isinstance(op, Move) and not isinstance(op, Phi):
            return True
        if not isinstance(op, ScalarOp) or [v.name for v in op.arguments].count(leaf[0]) != 1:
            return False
        place = [v.name for v in op.arguments].index(leaf[0])
        needed = op.needed_for(place)
        return "answer" not in needed and all(self._is_given(op.arguments[k]) for k in needed)

    def _is_given(self, var):
        """Whether a value is there before the loop begins."""
        if self.plan.is_constant(var):
            return True
        place, header = self.plan.place_of(var.name), self.loop.header
        if place not in self.loop.body and self.control.dominates(place, header):
            return True
        return is_early_size(self.fn, var, self._is_given)
