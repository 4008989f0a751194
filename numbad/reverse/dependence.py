"""How far apart in time a load and a store of one element are: dependence distances.

`v[i, j] = v[i + 1, j] + v[i + 1, j + 1]`, `i` going down by one: the store meets the row that the load
reads one iteration before, never after. So what was read lies there still when it is reversed.
(Wolfe, "High Performance Compilers for Parallel Computing", 1996, ch. 5.)
"""

import operator

from numba.core import ir, types

from ..ir.function import is_expr
from .ops.array import Load, Store, View
from .ops.moves import Move


class Distances:
    """Answers for the accesses to arrays of a `Plan`."""

    def __init__(self, plan):
        self.plan, self.fn = plan, plan.fn

    def is_never_after(self, load, store):
        """Whether a store writes to what a load has read in no later iteration, nor in the same one."""
        return any(
            loop.parent is None and (apart / step < 0 or apart % step)
            for loop, apart, step in self._between(load, store)
        )

    def is_elsewhere(self, load, store, within):
        """Whether both are of other elements as long as a loop runs that lies within another one."""
        return any(
            apart and loop.header != within.header and within.body < loop.body
            for loop, apart, _ in self._between(load, store)
        )

    def goes_along(self, store, loop):
        """Whether the index of an axis that a store writes to follows a loop's."""
        if not isinstance(store, Store):
            return False
        _, axes = self._axes(store.statement.target, store.statement.index)
        lines = [self._line(x) for x in axes]
        return any(line is not None and line[0] is loop for line in lines)

    def _between(self, load, store):
        """For each axis that one loop goes along: the loop, the load's index less the store's, the step."""
        if not isinstance(load, Load) or not isinstance(store, Store):
            return
        read, axes_read = self._axes(load.expr.value, load.expr.index)
        written, axes_written = self._axes(store.statement.target, store.statement.index)
        if read != written or load.label in self.plan.control.regions:
            return
        for first, second in zip(axes_read, axes_written, strict=False):
            one, other = self._line(first), self._line(second)
            if one is None or other is None or one[0] is not other[0]:
                continue
            loop, offset, step = one
            around = self.plan.place_of(read) not in loop.body
            if around and {load.label, store.label} <= loop.body:
                yield loop, offset - other[1], step

    def _axes(self, array, index):
        """The array that another one is a part of, and the indices of its first axes; None for slices."""
        axes = self._leading(index)
        while isinstance(op := self.plan.ops.get(array.name), View | Move):
            value = op.statement.value
            if isinstance(value, ir.Var):
                array = value
            elif is_expr(value, "getitem"):
                array, axes = value.value, self._leading(value.index)
            else:
                break
        return array.name, axes

    def _leading(self, index):
        """The integers and slices that an index begins with, as variables; None for slices."""
        if not isinstance(index, ir.Var):
            return []
        build, found = self.fn.definition(index), []
        for x in build.items if is_expr(build, "build_tuple") else [index]:
            ty = types.unliteral(self.fn.type_of(x))
            if not isinstance(ty, types.Integer | types.SliceType):
                break
            found.append(x if isinstance(ty, types.Integer) else None)
        return found

    def _line(self, x):
        """The loop whose index a number follows, what it is more than that, and the step; or None."""
        if x is None or not self.plan.is_natural(x):
            return None
        offset = 0
        while x.name not in self.plan.indices:
            value = self.fn.definition(x)
            if isinstance(value, ir.Var):
                x = value
                continue
            x, more = self._sum(value)
            if x is None:
                return None
            offset += more
        loop, _, step = self.plan.indices[x.name]
        step = 1 if step is None else self.fn.constant(step)
        return (loop, offset, step) if isinstance(step, int) and step else None

    def _sum(self, value):
        """A variable and a known integer that an expression adds up, or None and 0."""
        if not is_expr(value, "binop", "inplace_binop"):
            return None, 0
        function = value.fn if value.op == "binop" else value.immutable_fn
        left, right = self.fn.constant(value.lhs), self.fn.constant(value.rhs)
        if function is operator.add and isinstance(left, int):
            return value.rhs, left
        if function is operator.add and isinstance(right, int):
            return value.lhs, right
        if function is operator.sub and isinstance(right, int):
            return value.lhs, -right
        return None, 0
