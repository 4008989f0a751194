"""Functions of scalars: the rules of `rules/`, evaluated in the reverse sweep."""

import math
import operator

from numba.core import types

from ...ir.divisors import may_divide_by_zero
from ...ir.fence import refuse
from ...ir.leaves import leaves
from ...rules.expression import Answer, Apply, Arg, Const, Missing, evaluate
from ...rules.registry import find, name_of
from ..contributions import LEFT_OUT, UNLESS_REACHED, contribution, needs, partials
from .base import Op

INPLACE = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ipow: operator.pow,
    operator.imod: operator.mod,
}

ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos),
}


def is_scalar(ty):
    ty = types.unliteral(ty)
    if isinstance(ty, types.Optional):
        ty = ty.type
    return isinstance(ty, types.Number | types.Boolean)


class ScalarOp(Op):
    """`z = f(x, y, ...)` of numbers, by the rule of `f`."""

    linear = repeatable = elementary = True

    def __init__(self, fn, label, statement, function, arguments):
        self.function, self.arguments = function, list(arguments)
        super().__init__(fn, label, statement)

    def analyse(self):
        for variable in self.arguments:
            for source, _ in self.leaves(variable):
                pair = source, (self.target, ())
                if pair not in self.flows and self.leaves(self.target):
                    self.flows.append(pair)

    def may_raise(self, options):
        return self.zero_test() is not None and may_divide_by_zero(self.loc, options)

    @property
    def kind(self):
        ty = types.unliteral(self.fn.type_of(self.target))
        if isinstance(ty, types.Complex):
            return "complex"
        kinds = [leaf.type for v in self.arguments for _, leaf in self.leaves(v)]
        return "complex" if any(isinstance(t, types.Complex) for t in kinds) else "real"

    def literals(self):
        found = {}
        for k, variable in enumerate(self.arguments):
            value = self.fn.constant(variable)
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[k] = value
        return tuple(found.items())

    def expressions(self):
        return partials(self.function, len(self.arguments), self.literals(), self.kind)

    def needed_for(self, k):
        """The operands that the partial derivative by operand `k` needs by value."""
        return needs((self.expressions()[k],))

    def reverse(self, e):
        target = self.target, ()
        if not e.pending(target):
            return
        adjoint = e.take(target)
        e.note_reached(self)
        every = self.expressions()
        wanted = [
            k
            for k, v in enumerate(self.arguments)
            if leaves(self.fn.type_of(v)) and e.active(_leaf(v))
        ]
        for k in wanted:
            self._refuse_missing(k, every[k])
        strong = self._asks(e, target)
        if strong is False and target in e.left_out:
            strong = LEFT_OUT
        simple = [k for k in wanted if self._simple(every[k], strong)]
        for k in simple:
            self._add_simple(e, k, every[k], adjoint)
        others = [k for k in wanted if k not in simple]
        if others:
            self._add_products(e, others, tuple(every[k] for k in others), adjoint, strong)

    def _asks(self, e, target):
        """What `contribution` is told of zeros: for a root, what its uses tell of them."""
        if target not in e.undecided:
            return target in e.dropped
        return UNLESS_REACHED if e.undecided[target] else None

    def _refuse_missing(self, k, partial):
        if isinstance(partial, Missing):
            construct = partial.construct or f"{name_of(self.function)} by argument {k + 1}"
            raise refuse(construct, self.loc, partial.way_out)

    @staticmethod
    def _simple(node, strong):
        if isinstance(node, Const):
            return math.isfinite(node.value)
        return not strong and (
            isinstance(node, Arg) or (isinstance(node, Apply) and _is_minus_arg(node))
        )

    def _add_simple(self, e, k, node, adjoint):
        leaf, of = _leaf(self.arguments[k]), (self.target, ())
        if isinstance(node, Const) and node.value in (0, 1, -1):
            if node.value:
                e.add(leaf, adjoint, negative=node.value < 0, of=of)
            return
        if isinstance(node, Const):
            e.add(leaf, e.linear(operator.mul, adjoint, e.const(float(node.value))), of=of)
            return
        negative = not isinstance(node, Arg)
        factor = node.args[0] if negative else node
        product = e.linear(operator.mul, adjoint, e.value(self.arguments[factor.index]))
        e.add(leaf, product, negative=negative, of=of)

    def _add_products(self, e, numbers, expressions, adjoint, strong):
        expressions, reused = self._with_known_values(e, expressions)
        needed = tuple(needs(expressions))
        every = [*(v.name for v in self.arguments), *reused]
        values = [e.value(self.target if key == "answer" else every[key]) for key in needed]
        if strong == UNLESS_REACHED:
            values.append(e.take_reached((self.target, ())))
        result = e.call(contribution(expressions, needed, strong), adjoint, e.tuple(values))
        for position, k in enumerate(numbers):
            part = e.item(result, position) if len(numbers) > 1 else result
            e.add(_leaf(self.arguments[k]), part, of=(self.target, ()))

    def _with_known_values(self, e, expressions):
        """The expressions with arguments in place of calls that the primal has evaluated, as
        `cos(x)` where it asks for both; and the names of these values."""
        names, reused = [v.name for v in self.arguments], []

        def apply(fn, given):
            if fn not in ARITHMETIC and all(isinstance(g, Arg) for g in given):
                known = e.evaluated(fn, [[*names, *reused][g.index] for g in given], self)
                if known is not None:
                    reused.append(known)
                    return Arg(len(names) + len(reused) - 1)
            return Apply(fn, given)

        arguments = [Arg(k) for k in range(len(names))]
        rewritten = evaluate(expressions, arguments, Answer(), Const, apply)
        return rewritten, reused


def _is_minus_arg(node):
    return node.fn is operator.neg and isinstance(node.args[0], Arg)


def _leaf(variable):
    return variable.name, ()


def has_rule(function):
    return find(function) is not None
