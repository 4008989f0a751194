"""Integers that are known not to be negative, from the code: an index need not be wrapped around."""

import operator

from numba.core import ir, types

from ..ir.function import is_expr
from ..rules.arrays.broadcasting import LENGTHS
from .ops.array import Load, Store
from .switches import Switch

UNSIGNED = Switch(
    "unsigned",
    "indices that are known not to be negative are not tested for counting from the end",
)

NATURAL = len, *LENGTHS
"""Functions whose results are not negative."""

_KEEP = operator.add, operator.mul, operator.floordiv, operator.mod


class Naturals:
    """Answers for the variables of a `Function`; `indices` and `stops` are those of a `Plan`."""

    def __init__(self, fn, indices, stops):
        self.fn, self.indices, self.stops = fn, indices, stops

    def __contains__(self, x):
        """Whether a variable or a number is not negative.

        Every number that it may be computed from is looked at, back through the loops: `i = 0` before
        a loop and `i = i + 1` within it make an `i` that is not negative. A number that no rule
        knows, such as an argument, may be negative.
        """
        seen, pending = set(), [x]
        while pending:
            x = pending.pop()
            if not isinstance(x, ir.Var):
                if not isinstance(x, int) or x < 0:
                    return False
            elif x.name not in seen:
                seen.add(x.name)
                parts = self._parts(x)
                if parts is None:
                    return False
                pending += parts
        return True

    def _parts(self, x):
        """What must not be negative for a variable not to be, or None where that is not known."""
        number, value = self.fn.constant(x), self.fn.definition(x)
        if isinstance(number, int):
            return [number]
        if x.name in self.indices:
            return self._of_index(x.name)
        if isinstance(value, ir.Var):
            return [value]
        if is_expr(value, "phi"):
            return value.incoming_values
        if is_expr(value, "binop", "inplace_binop"):
            return self._of_operation(value)
        if is_expr(value, "call") and self.fn.constant(value.func) in NATURAL:
            return []
        return [] if self._is_size(value) else None

    def _of_index(self, name):
        """The index of a loop: of a range that does not go down below zero, too."""
        _, start, step = self.indices[name]
        last, by = self._number(self.stops.get(name)), self._number(step)
        if last is not None and by is not None and last >= -1 and by < 0:
            return []
        return [v for v in (start, step) if v is not None]

    def _of_operation(self, value):
        function = value.fn if value.op == "binop" else value.immutable_fn
        if function is operator.sub:
            return self._of_difference(value)
        return [value.lhs, value.rhs] if function in _KEEP else None

    def _of_difference(self, value):
        """The index of a loop less a number that is not above the range's start: `a[i - 1]`."""
        less = self._number(value.rhs)
        if less is None or not isinstance(value.lhs, ir.Var) or value.lhs.name not in self.indices:
            return None
        _, start, step = self.indices[value.lhs.name]
        first = self._number(start)
        if first is None or first < less:
            return None
        return [] if step is None else [step]

    def _number(self, x):
        found = self.fn.constant(x) if isinstance(x, ir.Var) else None
        return found if isinstance(found, int) else None

    def _is_size(self, value):
        """Whether an expression says how large an array is."""
        if is_expr(value, "static_getitem"):
            shape = self.fn.definition(value.value)
            shape = self.fn.definition(shape.value) if is_expr(shape, "exhaust_iter") else shape
            return self._is_attribute(shape, "shape")
        return self._is_attribute(value, "size")

    def _is_attribute(self, value, name):
        """Whether an expression is such an attribute of an array."""
        if not is_expr(value, "getattr") or value.attr != name:
            return False
        return isinstance(self.fn.type_of(value.value), types.Array)


def natural_indices(plan):
    """Of what the primal's accesses index with: whether each axis' index is known not to be negative.

    The name of the index -> a truth value an axis.
    """
    found = {}
    for op in plan.activity.every() if UNSIGNED.is_on() else ():
        if isinstance(op, Load | Store):
            access = op.expr if isinstance(op, Load) else op.statement
            index = access.index
            axes = index_variables(plan.fn, index) if isinstance(index, ir.Var) else []
            if axes:
                found[access.index.name] = list(map(plan.is_natural, axes))
    return found


def index_variables(fn, index):
    """The variables of an index, one an axis; none where they are not known."""
    build = fn.definition(index)
    if is_expr(build, "build_tuple"):
        return list(build.items)
    return [index] if isinstance(types.unliteral(fn.type_of(index)), types.Integer) else []
