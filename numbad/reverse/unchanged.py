"""What is still so in the reverse sweep: memory that nothing writes to, loads that give the same again."""

from collections import defaultdict

from numba.core import ir

from ..ir.function import is_expr, operands
from ..ir.leaves import leaves
from ..ir.value_numbers import value_numbers
from .ops.array import Load
from .ops.lists import ListItem
from .ops.scalar_function import ScalarOp
from .shadow_types import is_plain
from .switches import Switch

INVARIANTS = Switch(
    "invariants",
    "what is the same in every iteration of a loop is recorded once, outside of it",
)


class Unchanged:
    """Answers for the statements of a function, given by its `Op`s."""

    def __init__(self, fn, activity, control, ops, distances):
        self.fn, self.activity, self.control, self.ops = fn, activity, control, ops
        self.distances = distances
        self._after, self._known = {}, None
        self.unread, self.versions = set(), {}  # of loops that are run again
        self.same = self._find_repeated_loads()  # name -> the name of an earlier load of the same

    def writers(self, array):
        """The statements that may write to the floats of an array."""
        return self.activity.writers.get(self.activity.node((array.name, ())), ())

    def is_kept(self, array, op):
        """Whether what a statement reads from an array of floats is there when it is reversed."""
        return not any(
            self.may_follow(op, w) and not self.distances.is_never_after(op, w)
            for w in self.writers(array)
        )

    def may_follow(self, op, other):
        region = self.control.regions.get(op.label)
        within = region and other.label in region.body  # before it, the last state may be put back
        if within and (other in self.unread or self._other_version(op, other)):
            return False
        if op.label == other.label and other.number > op.number:
            return True
        return other.label in self._run_after(op.label)

    def _other_version(self, op, other):
        """Whether a load and a store are of different arrays, which were one in the primal."""
        array = op.statement.value.value.name
        root = next((r for r in self.versions if self._node(r) == self._node(array)), None)
        if root is None:
            return False
        return self.version(root, op.label) != self.version(root, other.label)

    def has_versions(self, array):
        """Whether an array was one in the primal, but is several where a loop is run again."""
        return any(self._node(root) == self._node(array.name) for root in self.versions)

    def version(self, array, label):
        """The header of the last loop before a block that wrote the array as a whole, or None."""
        before = [h for h in self.versions.get(array, ()) if self.control.dominates(h, label)]
        return before[-1] if before else None

    def array(self, name, label):
        """The name of an array at a block: another one for each version but the first."""
        version = self.version(name, label)
        first = version is None or version == self.versions[name][0]
        return name if first else f"{name}#{version}"

    def _run_after(self, label):
        """The blocks that may run between a block and its reverse."""
        if label not in self._after:
            region = self.control.regions.get(label)
            within = None if region is None else region.body - {region.header}
            self._after[label] = self.control.reachable(label, within)
        return self._after[label]

    # -- values that do not change while a loop runs ------------------------------------------

    def level(self, name):
        """A block outside of the loops in which a value is the same in every iteration."""
        loop = self.outermost_loop(name)
        return None if loop is None else loop.entries[0]

    def outermost_loop(self, name):
        """The outermost loop in which a value is the same in every iteration, or None."""
        op, found = self.ops.get(name), None
        if not isinstance(op, Load | ScalarOp) or not leaves(self.fn.type_of(name)):
            return None
        loop = self.control.innermost(op.label)
        while loop is not None and loop.entries and self._is_invariant(op, loop):
            found, loop = loop, loop.parent
        return found

    def _is_invariant(self, op, loop):
        value = op.statement.value
        called = value.func.name if is_expr(value, "call") else None
        for var in operands(value):
            place = self.fn.place_of(var.name)
            if var.name != called and place in loop.body and not self._is_same_again(var, loop):
                return False
        if not isinstance(op, Load):
            return True
        return not any(w.label in loop.body for w in self.writers(value.value))

    def _is_same_again(self, var, loop):
        """Whether an operand from within a loop is a number that the code says, or invariant too."""
        if isinstance(self.fn.definition(var), ir.Const):
            return True
        op = self.ops.get(var.name)
        return isinstance(op, Load | ScalarOp) and self._is_invariant(op, loop)

    # -- loads of one element ----------------------------------------------------------------

    def _find_repeated_loads(self):
        same, numbers = {}, value_numbers(self.fn)
        for ops in self.activity.ops.values():
            known = {}  # (array, index) -> name
            for op in ops:
                if isinstance(op, Load) or _reads_member(op):
                    key = element_key(op.expr, op.expr.value, numbers)
                    same[op.target] = known.setdefault(key, op.target)
                changed = {self.activity.node(h) for h in op.stores}
                if changed:
                    known = {k: v for k, v in known.items() if self._node(k[0]) not in changed}
        return {name: first for name, first in same.items() if name != first}

    def _node(self, name):
        return self.activity.node((name, ()))

    # -- functions that have been evaluated ----------------------------------------------------

    def evaluated(self, function, names, op):
        """The name of a function's value for these operands that is known when `op` is reversed."""
        for other in self._evaluations().get((id(function), *names), ()):
            if other.label == op.label or self.control.dominates(other.label, op.label):
                return other.target
        return None

    def _evaluations(self):
        if self._known is None:
            self._known = defaultdict(list)
            for op in self.activity.every():
                if isinstance(op, ScalarOp):
                    names = [v.name for v in op.arguments]
                    self._known[id(op.function), *names].append(op)
        return self._known


def _reads_member(op):
    """Whether a statement reads a member of a list, and changes nothing."""
    return type(op) is ListItem and is_plain(op.parts)


def element_key(access, array, numbers):
    """What tells the element of an access from others: its array, and its index."""
    static = isinstance(access, ir.StaticSetItem) or getattr(access, "op", "") == "static_getitem"
    index = repr(access.index) if static else access.index.name
    return numbers.get(array.name, array.name), numbers.get(index, index)
