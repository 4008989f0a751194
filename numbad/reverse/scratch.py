"""Arrays that a loop's iterations write before they read them, so that nothing passes between them."""

from numba.core import ir, types

from ..ir.function import is_expr
from .ops.array import Fresh, Load, Store


class Scratch:
    """An array from outside a loop, given by what stands for all handles of its memory."""

    def __init__(self, fn, activity, control, plan, loop, node):
        self.fn, self.activity, self.control, self.plan = fn, activity, control, plan
        self.loop, self.node = loop, node
        self.ops = [op for label in loop.body for op in activity.ops[label]]

    def _is_it(self, leaf):
        return self.activity.node(leaf) == self.node

    # -- nobody else reads it ----------------------------------------------------------------

    def is_private(self):
        """Whether nothing that follows the loop sees what is in the array."""
        seen = [*self.activity.inputs, *self.activity.returned]
        if any(self._is_it(leaf) for leaf in seen) or self.node in self.activity.constants:
            return False
        after = self.control.reachable(self.loop.header) - self.loop.body
        return not any(
            self._is_it(source)
            for label in after
            for op in self.activity.ops[label]
            for source, _ in op.flows
        )

    # -- every element is written before it is read ------------------------------------------

    def is_overwritten(self):
        """Whether each iteration writes every element before it reads it."""
        self.root = self._allocation()
        if self.root is None:
            return False
        writers = [op for op in self.ops if any(self._is_it(h) for h in op.stores)]
        readers = [op for op in self.ops if any(self._is_it(s) for s, _ in op.flows)]
        if not all(isinstance(op, Store) and self._is_root(op.statement.target) for op in writers):
            return False
        if not all(isinstance(op, Load) and self._is_root(op.expr.value) for op in readers):
            return False
        self.sizes = self._sizes()
        return all(self._is_covered(load, writers) for load in readers)

    def _is_root(self, var):
        return self.plan.origin((var.name, ())) == (self.root.target, ())

    def _allocation(self):
        """The one statement that makes the array, before the loop."""
        made = [
            op
            for op in self.activity.every()
            if any(self._is_it(identity) for identity in op.defined()) and isinstance(op, Fresh)
        ]
        return made[0] if len(made) == 1 and made[0].label not in self.loop.body else None

    def _sizes(self):
        """The variables or numbers that say how large the array is along its axes, or None."""
        call = self.root.expr
        if not is_expr(call, "call") or not call.args:
            return None
        shape = call.args[0]
        if isinstance(types.unliteral(self.fn.type_of(shape)), types.Integer):
            return [shape]
        value = self.fn.definition(shape)
        return list(value.items) if is_expr(value, "build_tuple") else None

    def _is_covered(self, load, writers):
        return any(self._writes_first(s, load) for s in writers) or self._all_numbers(load, writers)

    def _before(self, store, load):
        """Whether a store has always been made when a load is, in the same iteration."""
        if store.label != load.label:
            return self.control.dominates(store.label, load.label)
        return store.number < load.number

    def _writes_first(self, store, load):
        index = self._index(store.statement)
        if self._before(store, load) and self._same(index, self._index(load.expr)):
            return True
        loop = self._written_whole_by(store, index)
        return (
            loop is not None
            and load.label not in loop.body
            and self.control.dominates(loop.header, load.label)
        )

    def _all_numbers(self, load, writers):
        """Whether stores to the elements 0, 1, ... up to the last one come before."""
        if not self.sizes or len(self.sizes) != 1:
            return False
        size = self._number(self.sizes[0])
        stored = [self._index(s.statement) for s in writers if self._before(s, load)]
        numbers = {self._number(index[0]) for index in stored if index}
        return isinstance(size, int) and set(range(size)) <= numbers

    def _index(self, node):
        """The index of an access, one variable or number an axis, or None."""
        index = node.index
        if isinstance(node, ir.StaticSetItem) or getattr(node, "op", "") == "static_getitem":
            return list(index) if isinstance(index, tuple) else [index]
        if isinstance(types.unliteral(self.fn.type_of(index)), types.Integer):
            return [index]
        value = self.fn.definition(index)
        return list(value.items) if is_expr(value, "build_tuple") else None

    def _number(self, x):
        return self.fn.constant(x) if isinstance(x, ir.Var) else x

    def _same(self, first, second):
        """Whether two lists of variables or numbers have the same values."""
        if first is None or second is None or len(first) != len(second):
            return False
        return all(map(self._equal, first, second))

    def _equal(self, x, y):
        if isinstance(x, ir.Var) and isinstance(y, ir.Var) and x.name == y.name:
            return True
        number = self._number(x)
        return isinstance(number, int) and number == self._number(y)

    def _written_whole_by(self, store, index):
        """The loop that writes every element by this store, or None."""
        if self.sizes is None or index is None or len(index) != len(self.sizes):
            return None
        loops = self.control.around[store.label][: len(index)]
        if len(loops) < len(index) or not all(loop.body < self.loop.body for loop in loops):
            return None
        over = {self._loop_over(x, size) for x, size in zip(index, self.sizes, strict=True)}
        if over != {loop.header for loop in loops}:
            return None
        places = [store.label, *(loop.header for loop in loops)]
        for place, loop in zip(places, loops, strict=False):
            if not self._is_always_run(place, loop):
                return None
        return loops[-1]

    def _loop_over(self, x, size):
        """The header of the loop whose index runs over 0 ... size - 1 and is `x`."""
        if not isinstance(x, ir.Var) or x.name not in self.plan.stops:
            return None
        loop, start, step = self.plan.indices[x.name]
        from_zero = start is None or self._number(start) == 0
        by_one = step is None or self._number(step) == 1
        whole = self._equal(self.plan.stops[x.name], size)
        return loop.header if from_zero and by_one and whole else None

    def _is_always_run(self, place, loop):
        """Whether every iteration of a loop comes by a block, and none ends it early."""
        if not all(self.control.dominates(place, latch) for latch in loop.latches):
            return False
        return self.control.is_left_at_start(loop)
