"""Which indices are known, from the code, to lie within an array: those of ranges over its size."""

import operator
from collections import defaultdict

import numpy as np
from numba.core import ir, types

from ..ir.function import is_expr

_BY_SHAPE = np.empty, np.zeros, np.ones, np.full
_LIKE = np.empty_like, np.zeros_like, np.ones_like, np.full_like, np.copy
_DEPTH = 8  # of expressions that are looked into


class Extents:
    """Answers for the variables of a `Plan`'s function.

    A number is looked at as `(what, more)`: `more` above an unknown `what`, or above zero (None).
    """

    def __init__(self, plan):
        self.plan, self.fn = plan, plan.fn
        # what is known from earlier checks: a size -> the block from which on it is above a number
        self._facts = defaultdict(list)
        self._later = defaultdict(
            list
        )  # the same, after a loop, where another number is above zero

    def is_within(self, x, array, axis, label):
        """Whether an index, a variable or an int, is one of an axis of an array, at a block."""
        size = self.size(array, axis)
        least = self._least(size, label)
        if isinstance(x, int):
            return -least <= x < least
        lowest = 0 if self.plan.is_natural(x) else self._at_least(x)
        if lowest is None or lowest < -least:
            return False
        known = [fact for at, fact in self._facts[size] if self._dominates(at, label)]
        known += [fact for after, fact in self._later[size] if self._comes_after(after, label)]
        known.append((size[0], size[1] - 1))
        most = self._at_most(x, label, _DEPTH)
        return any(w == what and m <= more for w, m in most for what, more in known)

    def learn(self, x, array, axis, label):
        """Note that an index has been found to be one of an axis, from a block on."""
        number = (None, max(x, -1 - x)) if isinstance(x, int) else self._number(x)
        self._facts[self.size(array, axis)].append((label, number))

    def learn_of_loop(self, x, array, axis, loop):
        """Note that all indices that follow a loop have been found to be so, if there are any.

        Of a range from zero: a natural number below its end tells that there are some.
        """
        fact = self._last_from_zero(x, loop)
        if fact is not None:
            self._facts[self.size(array, axis)].append((loop.header, fact))
        around = loop.parent
        if fact is None and around in self.plan.control.loops.values():
            self._learn_of_both(x, array, axis, loop, around)

    def _learn_of_both(self, x, array, axis, loop, around):
        """The same of two loops, one in the other, after both; the inner one has to have iterations, too."""
        control = self.plan.control
        inner, every = (
            self.plan.range_of(loop),
            all(control.dominates(loop.header, n) for n in around.latches),
        )
        fact = self._last_from_zero(x, around)
        if fact is None or not every or inner is None or self.plan.range_of(around) is None:
            return
        start, stop, _ = inner
        from_zero = start is None or self.fn.constant(start) == 0
        if from_zero and self.plan.place_of(stop.name) not in around.body:
            after = around, self._number(stop)
            self._later[self.size(array, axis)].append((after, fact))

    def _last_from_zero(self, x, loop):
        """The last value of an index that follows a range from zero, by one each, at most; or None."""
        shifted = self._shifted(self.fn.definition(x)) or (x, 0)
        index = self._origin(shifted[0]).name
        found, start, step = self.plan.indices.get(index, (None, None, None))
        zero = start is None or self.fn.constant(start) == 0
        if found is not loop or not zero or step is not None or shifted[1] > 0:
            return None
        if index not in self.plan.stops:
            return None
        what, more = self._number(self.plan.stops[index])
        return what, more - 1 + shifted[1]

    def _comes_after(self, after, label):
        """Whether a block comes after a loop, in a loop over a range from zero to a number."""
        (loop, number), control = after, self.plan.control
        if label in loop.body or not control.dominates(loop.header, label):
            return False
        for around in control.around[label]:
            start, stop, step = self.plan.range_of(around) or (None, None, None)
            by_one = step is None and (start is None or self.fn.constant(start) == 0)
            within = stop is not None and by_one and label != around.header
            if within and self._number(stop) == number:
                return True
        return False

    def _dominates(self, at, label):
        return self.plan.control.dominates(at, label)

    def _least(self, size, label):
        """How large a size is at least, as a number."""
        what, more = size
        known = [n for at, (w, n) in self._facts[size] if w is None and self._dominates(at, label)]
        return max([more if what is None else 0, *(n + 1 for n in known)])

    def _at_least(self, x):
        """A number that an integer is not below, or None."""
        what, more = self._number(x)
        if isinstance(what, str):
            return more if ir.Var(self.fn.scope, what, self.fn.loc) in self.plan.naturals else None
        return more  # above zero, or above a size

    def size(self, array, axis, depth=_DEPTH):
        """The size of an axis of an array."""
        array = self._origin(array)
        value = self.fn.definition(array)
        unknown = (array.name, axis), 0
        if is_expr(value, "getitem", "static_getitem") and depth:
            return self._size_of_part(value, axis, depth - 1) or unknown
        if not is_expr(value, "call") or not depth:
            return unknown
        function = self.fn.constant(value.func)
        if any(function is known for known in _BY_SHAPE) and value.args:
            shape = self._member(value.args[0], axis)
            return unknown if shape is None else self._number(shape, depth - 1)
        if any(function is known for known in _LIKE) and value.args:
            same = getattr(self.fn.type_of(value.args[0]), "ndim", 0) == self._ndim(array)
            return self.size(value.args[0], axis, depth - 1) if same else unknown
        method = self.fn.definition(value.func)
        if is_expr(method, "getattr") and method.attr == "copy":
            return self.size(method.value, axis, depth - 1)
        return unknown

    def _size_of_part(self, value, axis, depth):
        """The size of an axis of `a[i, start:stop]`; None where it is not known what the index is."""
        index = value.index
        build = self.fn.definition(index) if isinstance(index, ir.Var) else None
        members = build.items if is_expr(build, "build_tuple") else [index]
        of_base = 0
        for member in index if isinstance(index, tuple) else members:
            bounds = self._bounds_of_slice(member)
            if bounds is None and not self._is_integer(member):
                return None
            if bounds is not None and axis == 0:
                return ("part", self.size(value.value, of_base, depth), *bounds), 0
            axis, of_base = axis - (bounds is not None), of_base + 1
        return self.size(value.value, of_base + axis, depth)

    def _bounds_of_slice(self, x):
        """Start and stop of a slice without a step, as what tells it from others; None if it is none."""
        if isinstance(x, slice):
            return None if x.step is not None else (x.start, x.stop)
        value = self.fn.definition(x) if isinstance(x, ir.Var) else None
        if not is_expr(value, "call") or self.fn.constant(value.func) is not slice:
            return None
        if len(value.args) != 2:
            return None
        none = [isinstance(self.fn.type_of(v), types.NoneType) for v in value.args]
        return tuple(
            None if absent else self._number(v) for v, absent in zip(value.args, none, strict=True)
        )

    def _is_integer(self, x):
        ty = self.fn.type_of(x) if isinstance(x, ir.Var) else None
        return isinstance(x, int) or isinstance(types.unliteral(ty), types.Integer)

    def _ndim(self, array):
        return getattr(self.fn.type_of(array), "ndim", 0)

    def _origin(self, x):
        """The variable that another one is a copy of."""
        while True:
            value = self.fn.definition(x)
            value = value.value if is_expr(value, "cast") else value
            if not isinstance(value, ir.Var):
                return x
            x = value

    def _member(self, shape, axis):
        """The variable of one axis in a shape; `(array, axis)` where the shape is an array's."""
        shape = self._origin(shape)
        value = self.fn.definition(shape)
        value = self.fn.definition(value.value) if is_expr(value, "exhaust_iter") else value
        if is_expr(value, "build_tuple"):
            return value.items[axis] if axis < len(value.items) else None
        if is_expr(value, "getattr") and value.attr == "shape":
            return (value.value, axis) if self._ndim(value.value) > axis else None
        plain = isinstance(types.unliteral(self.fn.type_of(shape)), types.Integer)
        return shape if plain and axis == 0 else None

    def _number(self, x, depth=_DEPTH):
        """An integer as `(what, more)`."""
        if isinstance(x, tuple):
            return self.size(*x, depth)
        x = self._origin(x)
        constant = self.fn.constant(x)
        if isinstance(constant, int):
            return None, constant
        value = self.fn.definition(x)
        shifted = self._shifted(value) if depth else None
        if shifted is not None:
            what, more = self._number(shifted[0], depth - 1)
            return what, more + shifted[1]
        if is_expr(value, "static_getitem") and isinstance(value.index, int) and depth:
            member = self._member(value.value, value.index)
            if member is not None:
                return self._number(member, depth - 1)
        array = self._measured(value)
        return (x.name, 0) if array is None or not depth else self.size(array, 0, depth - 1)

    def _measured(self, value):
        """The array of which an expression is the length."""
        if is_expr(value, "call") and self.fn.constant(value.func) is len and value.args:
            array = value.args[0]
        elif is_expr(value, "getattr") and value.attr == "size" and self._ndim(value.value) == 1:
            array = value.value
        else:
            return None
        return array if isinstance(self.fn.type_of(array), types.Array) else None

    def _shifted(self, value):
        """A variable and the number that an expression adds to it, or None."""
        if not is_expr(value, "binop", "inplace_binop"):
            return None
        function = value.fn if value.op == "binop" else value.immutable_fn
        less, more = self.fn.constant(value.rhs), self.fn.constant(value.lhs)
        if function is operator.add and isinstance(less, int):
            return value.lhs, less
        if function is operator.add and isinstance(more, int):
            return value.rhs, more
        return (value.lhs, -less) if function is operator.sub and isinstance(less, int) else None

    # -- bounds ------------------------------------------------------------------------------

    def _at_most(self, x, label, depth):
        """Upper bounds of an integer, as `(what, more)` each: it is at most `what + more`."""
        x = self._origin(x)
        found, value = [self._number(x)], self.fn.definition(x)
        if not depth:
            return found
        if x.name in self.plan.indices:
            return found + self._last(x.name, label, depth - 1)
        shifted = self._shifted(value)
        if shifted is not None:
            below = self._at_most(shifted[0], label, depth - 1)
            return found + [(what, most + shifted[1]) for what, most in below]
        for bound, more in self._bounds(value):
            below = self._at_most(bound, label, depth - 1)
            found += [(what, most + more) for what, most in below]
        return found

    def _last(self, name, label, depth):
        """What the index of a range is not above, within its loop."""
        loop, start, step = self.plan.indices[name]
        by = 1 if step is None else self.fn.constant(step)
        stop = self.plan.stops.get(name)
        if label not in loop.body or not isinstance(by, int) or by == 0 or stop is None:
            return []
        if by < 0:
            return self._at_most(start, label, depth)
        return [(what, most - 1) for what, most in self._at_most(stop, label, depth)]

    def _bounds(self, value):
        """Variables that an expression of natural numbers is not above, or by so much."""
        natural = self.plan.is_natural
        if is_expr(value, "call") and self.fn.constant(value.func) is min:
            return [(v, 0) for v in value.args]
        if not is_expr(value, "binop") or not (natural(value.lhs) and natural(value.rhs)):
            return []
        if value.fn is operator.mod:
            return [(value.lhs, 0), (value.rhs, -1)]
        return [(value.lhs, 0)] if value.fn in (operator.sub, operator.floordiv) else []
