"""Values of the primal in the reverse sweep: kept, reloaded, computed again."""

import operator

from numba.core import ir

from ..ir.function import is_expr, map_vars
from .arena import borrow
from .early_sizes import is_early_size
from .elements import primal_element, unsigned
from .names import counter
from .nonnegative import UNSIGNED
from .ops.array import Load, View
from .ops.moves import chosen
from .switches import Switch

EVALUATED = Switch("evaluated", "derivatives use the functions that the primal has evaluated")


class Values:
    """The part of an `Emitter` that answers what a primal variable was."""

    def value(self, var):
        """The value that a primal variable had, in the reverse sweep."""
        name = var if isinstance(var, str) else var.name
        name = self.plan.unchanged.same.get(name, name)
        if self.label is None:  # in the forward sweep
            return self.var(name) if self.way is None else self._early(name)
        if self.planning:
            self.needs.append((self.label, name))
            return self.var(name)
        return self._find(name)

    def _early(self, name):
        """A value before the forward sweep, where its statement may come late: sizes are made again."""
        value = self.fn.definition(name)
        if isinstance(value, ir.Const):
            return self._constant(value)
        if not isinstance(value, ir.Expr) or not is_early_size(self.fn, name, lambda array: True):
            return self.var(name)

        def rename(var):
            called = self.fn.constant(var)
            return self.function(called) if called is len else self._early(var.name)

        return self.assign(map_vars(value, rename))

    def first_load(self, op):
        """The name of the same element's value from before, to whose adjoint this one's can be added."""
        first = self.plan.unchanged.same.get(op.target)
        if first is None or self.plan.ops[first].updates or op in self.hoisted:
            return None
        return first if self.active((first, ())) else None

    def evaluated(self, function, names, op):
        """The name of a value of the primal that is that of a function of others, or None."""
        same = self.plan.unchanged.same
        names = [same.get(name, name) for name in names]
        return self.plan.unchanged.evaluated(function, names, op) if EVALUATED.is_on() else None

    def _find(self, name):
        plan = self.plan
        if plan.alive(self.label, name) or plan.recorded(self.label, name):
            definition = self.fn.definition(name)
            if isinstance(definition, ir.Const):
                return self._constant(definition)
            return self.var(name)
        if name not in self._memo:
            self._memo[name] = self._note(self._recompute(name), "value", name)
        return self._memo[name]

    def _constant(self, node):
        simple = isinstance(node.value, bool | int | float | complex)
        return self.const(node.value) if simple else self.assign(node)

    def _recompute(self, name):
        if name in self.plan.indices:
            return self.place_in_range(*self.plan.indices[name])
        stored = self.plan.stored(name)
        if stored is not None:
            array, index = stored
            return self.call(primal_element, self._find(array.name), self.index(index))
        value = self.fn.definition(name)
        if isinstance(value, ir.Const):
            return self._constant(value)
        if isinstance(value, ir.Global):
            return self.assign(value)
        if is_expr(value, "phi"):
            return self._choose(self.plan.ops[name])
        if isinstance(self.plan.ops.get(name), Load):
            array = self._find(
                self.plan.unchanged.array(value.value.name, self.plan.place_of(name))
            )
            static = value.op == "static_getitem"
            index = (
                self.const_index(value.index, value.index_var)
                if static
                else self.index(value.index)
            )
            return self.call(primal_element, array, index)
        called = value.func.name if is_expr(value, "call") else None

        def rename(var):
            if var is ir.UNDEFINED:
                return var
            if var.name == called:
                return self.function(self.fn.constant(var))
            return self._find(self.plan.unchanged.same.get(var.name, var.name))

        if isinstance(value, ir.Var):
            return rename(value)
        copy = map_vars(value, rename)
        if copy.op == "inplace_binop":
            copy = ir.Expr.binop(copy.immutable_fn, copy.lhs, copy.rhs, copy.loc)
        made = self.assign(copy)
        return self.call(borrow, made) if isinstance(self.plan.ops.get(name), View) else made

    def _choose(self, phi):
        """The one of two numbers that a condition says."""
        cond, true = self.plan.conditions[phi.label]
        ways = self.plan.control.predecessors[phi.label]
        values = [self._find(phi.incoming[ways[k]].name) for k in (true, 1 - true)]
        return self.call(chosen, self._find(cond.name), *values)

    def place_in_range(self, loop, start, step):
        """`start + step * counter`."""
        return self.place_of_number(self.var(counter(loop.header)), start, step)

    def place_of_number(self, result, start, step):
        """`start + step * number`."""
        if step is not None:
            result = self.binop(operator.mul, result, self._find(step.name))
        if start is not None and self.fn.constant(start) != 0:
            result = self.binop(operator.add, result, self._find(start.name))
        return result

    def index(self, var):
        """The index of an access in the reverse sweep, unsigned where it is not negative."""
        whole = self.value(var)
        if self.planning or not UNSIGNED.is_on():
            return whole
        build = self.fn.definition(var)
        if not is_expr(build, "build_tuple"):
            return self.call(unsigned, whole) if self.plan.is_natural(var) else whole
        parts = [self.value(v) for v in build.items] if self._at_hand(build.items) else None
        if parts is None:
            return whole
        return self.tuple(
            self.call(unsigned, x) if self.plan.is_natural(v) else x
            for v, x in zip(build.items, parts, strict=True)
        )

    def _at_hand(self, variables):
        """Whether the members of a tuple that is made again are known one by one."""
        names = [self.plan.unchanged.same.get(v.name, v.name) for v in variables]
        return all(
            self.label is None or not self.plan.roots_missing(self.label, name) for name in names
        )

    def const_index(self, index, index_var):
        """An index that is known when the function is compiled."""
        if isinstance(index, int):
            return self.const(index)
        return self.value(index_var)
