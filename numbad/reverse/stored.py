"""Values that the function itself stores: the reverse sweep reads them in the array, not on the tape.

`out[i, j] = exp(a[i, j])` in loops over `i` and `j`: each iteration has an element of its own, and if
nothing writes to `out` afterwards, the element is there still when the iteration is reversed.
"""

from numba.core import ir

from ..ir.function import is_expr
from .ops.array import Fresh, Store
from .switches import Switch

STORED = Switch("stored", "what an array of the function's own holds is read there, not recorded")


class Stored:
    """Answers for the values of a `Plan`."""

    def __init__(self, plan):
        self.plan, self._known = plan, {}

    def place(self, name):
        """The array and the index, as variables, where a value lies until it is needed; or None."""
        if name not in self._known:
            self._known[name] = self._find(name) if STORED.is_on() else None
        return self._known[name]

    def _find(self, name):
        plan = self.plan
        for op in plan.activity.ops[plan.place_of(name)]:
            s = op.statement
            stores = isinstance(op, Store) and isinstance(s, ir.SetItem) and s.value.name == name
            if stores and self._holds_as_is(s) and self._is_once(op) and self._stays(op):
                return s.target, s.index
        return None

    def _holds_as_is(self, s):
        """Whether the array is one that the function makes, outside of loops, for such numbers."""
        plan = self.plan
        ty = plan.fn.type_of(s.target)
        made = isinstance(plan.ops.get(s.target.name), Fresh)
        outside = plan.control.outside(plan.place_of(s.target.name))
        return made and outside and ty.dtype == plan.fn.type_of(s.value)

    def _is_once(self, op):
        """Whether no two iterations write to one element: all loops' numbers are its index."""
        plan, index = self.plan, op.statement.index
        build = plan.fn.definition(index)
        parts = build.items if is_expr(build, "build_tuple") else [index]
        if any(v.name not in plan.stops or not plan.is_natural(v) for v in parts):
            return False
        loops = [plan.indices[v.name][0].header for v in parts]
        around = [loop.header for loop in plan.control.around[op.label]]
        return sorted(loops) == sorted(around)

    def _stays(self, op):
        """Whether nothing but the statement itself may write to the array from there on."""
        plan = self.plan
        if op.label in plan.control.regions:
            return False
        writers = [w for w in plan.unchanged.writers(op.statement.target) if w is not op]
        return not any(plan.unchanged.may_follow(op, w) for w in writers)
