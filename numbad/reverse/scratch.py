"""Arrays that a loop's iterations write before they read them, so that nothing passes between them."""

from numba.core import ir, types

from ..ir.function import is_expr, operands
from .ops.array import Fresh, Load, Store, View
from .ops.moves import BuildTuple


class Scratch:
    """An array from outside a loop, given by what stands for all handles of its memory."""

    def __init__(self, fn, activity, control, plan, loop, node):
        self.fn, self.activity, self.control, self.plan = fn, activity, control, plan
        self.loop, self.node = loop, node
        self.ops = [op for label in loop.body for op in activity.ops[label]]

    def _is_it(self, leaf):
        return self.activity.node(leaf) == self.node

    def is_visible(self):
        """Whether a caller sees what is in the array in the end."""
        fn, members = self.fn, self.activity.members(self.node)
        return any(
            name in fn.parameters or (name, p) in self.activity.returned for name, p in members
        )

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
            for source in op.reads()
        )

    # -- every element is written before it is read ------------------------------------------

    def is_overwritten(self):
        """Whether each iteration writes every element before it reads it, by one handle."""
        return self.is_covered() and all(
            self._is_root(self._array(op)) for op in [*self.writers, *self.readers]
        )

    def is_written_before_it_is_read(self):
        """Whether no iteration reads what another one has written."""
        return self.is_covered() or self.is_written_first()

    def _find_accesses(self):
        """Whether the array is written and read by single elements alone: `writers`, `readers`."""
        self.writers = [op for op in self.ops if any(self._is_it(h) for h in op.stores)]
        self.readers = [op for op in self.ops if any(map(self._is_it, op.reads()))]
        stores = all(isinstance(op, Store) for op in self.writers)
        return stores and all(isinstance(op, Load) for op in self.readers)

    @staticmethod
    def _array(op):
        return op.expr.value if isinstance(op, Load) else op.statement.target

    def is_covered(self):
        """Whether each iteration writes every element before it reads it."""
        self.root = self._allocation()
        if self.root is None or not self._find_accesses():
            return False
        self.sizes = self._sizes()
        own = [op for op in self.writers if self._is_root(self._array(op))]
        return all(self._is_covered(load, own) for load in self.readers)

    def covers(self):
        """The headers of the loops that write the array as a whole, in order, if nothing else writes
        to it, and each iteration runs all of them. The array may be another one after each; loops that
        read what they overwrite go on with the one before.
        """
        headers = []
        for store in self.writers:
            whole = self._is_root(self._array(store)) and self._written_whole_by(
                store, self._index(store.statement)
            )
            if not whole or whole.parent not in (None, self.loop):
                return []
            if not all(self.control.dominates(whole.header, n) for n in self.loop.latches):
                return []
            if not any(load.label in whole.body for load in self.readers):
                headers.append(whole.header)
        if not all(self._is_root(self._array(load)) for load in self.readers):
            headers = [h for h in headers if self._views_follow(h)]
        return sorted(set(headers), key=lambda h: len(self.control.dominators[h]))

    def _views_follow(self, header):
        """Whether the handles that are read after a loop were made after it, or are the array itself."""
        after = [r for r in self.readers if self.control.dominates(header, r.label)]
        return all(
            self._is_root(array) or self.control.dominates(header, self.plan.place_of(array.name))
            for array in map(self._array, after)
        )

    def stores_unread(self):
        """The stores whose elements the rest of the iteration does not read."""
        if not self._find_accesses():
            return []
        return [s for s in self.writers if not any(self._may_read(r, s) for r in self.readers)]

    def _may_read(self, load, store):
        """Whether a load may see, in the same iteration, what a store has written."""
        inside = self.loop.body - {self.loop.header}
        if load.label not in self.control.reachable(store.label, inside):
            return load.label == store.label and load.number > store.number
        index, own = self._index(store.statement), self._index(load.expr)
        inner = self.control.innermost(store.label)
        alike = self._array(load).name == self._array(store).name and self._same(index, own)
        once = (
            inner is not None
            and inner is self.control.innermost(load.label)
            and any(self._runs_over(x, inner) for x in index or ())
            and all(loop in (inner, self.loop) for loop in self.control.around[store.label])
        )
        return not (alike and once and self._before(load, store))

    def _runs_over(self, x, loop):
        """Whether an index means another element in every iteration of a loop: `a[-1]` is `a[n - 1]`."""
        runs = isinstance(x, ir.Var) and x.name in self.plan.stops
        return runs and self.plan.indices[x.name][0] is loop and self.plan.is_natural(x)

    def is_written_first(self):
        """Whether each iteration writes the same elements, before it reads any: those that it reads
        are its own, or the same all the time."""
        if self._allocation() is None or not self._find_accesses():
            return False
        return all(
            self._writes_the_same(store) and all(self._precedes(store, r) for r in self.readers)
            for store in self.writers
        )

    def _precedes(self, store, load):
        """Whether a store, with the loops round it, is done with before a load is made."""
        inner = [loop for loop in self.control.around[store.label] if loop.body < self.loop.body]
        if not inner:
            return self._before(store, load)
        outermost = inner[-1]
        after = load.label not in outermost.body
        return after and self.control.dominates(outermost.header, load.label)

    def _writes_the_same(self, store):
        """Whether a store is made in every iteration, to elements that are the same in all of them."""
        place = store.label
        for loop in self.control.around[store.label]:
            if not self._is_always_run(place, loop):
                return False
            if loop is self.loop:
                break
            over = self.plan.range_of(loop)
            if over is None or not all(self._is_steady(v) for v in over if v is not None):
                return False
            place = loop.header
        index = self._index(store.statement)
        return index is not None and all(map(self._is_steady, [*index, self._array(store)]))

    def _is_steady(self, x):
        """Whether a number, or the handle of an array, does not depend on the iteration."""
        if not isinstance(x, ir.Var) or self.plan.place_of(x.name) not in self.loop.body:
            return True
        if self.plan.is_constant(x):
            return True
        if x.name in self.plan.indices:
            loop, start, step = self.plan.indices[x.name]
            parts = [v for v in (start, step, self.plan.stops.get(x.name)) if v is not None]
            return loop is not self.loop and all(map(self._is_steady, parts))
        value, op = self.fn.definition(x), self.plan.ops.get(x.name)
        if is_expr(value, "binop") or isinstance(op, View | BuildTuple):
            return all(map(self._is_steady, operands(value)))
        if is_expr(value, "call") and self.fn.constant(value.func) is slice:
            return all(map(self._is_steady, value.args))
        return is_expr(value, "getattr") and self._is_steady(value.value)

    def _is_root(self, var):
        return self.plan.origin((var.name, ())) == (self.root.target, ())

    def _allocation(self):
        """The one statement that makes the array, before the loop."""
        made = [
            op
            for op in self.activity.every()
            if isinstance(op, Fresh) and any(map(self._is_it, op.defined()))
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
        both = self._is_root(self._array(load))
        if both and self._before(store, load) and self._same(index, self._index(load.expr)):
            return True
        loop = self._written_whole_by(store, index)
        return (
            loop is not None
            and load.label not in loop.body
            and self.control.dominates(loop.header, load.label)
        )

    def _all_numbers(self, load, writers):
        """Whether stores to the elements 0, 1, ... up to the last one come before."""
        if not self.sizes or len(self.sizes) != 1 or not self._is_root(self._array(load)):
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
