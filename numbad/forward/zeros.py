"""Products of the chain rule in which zero stays zero, whatever the other factor is.

The chain rule multiplies a slope by a tangent. Where one of them is zero, the product is zero, even if the
other is infinite or undefined: IEEE arithmetic would make it nan.
"""

import math
import operator
from functools import reduce

from llvmlite import ir
from numba.core import types

from ..rules.poles import is_choice, is_polynomial, is_quotient
from . import dual as d
from .operands import Operand, has_level, is_literal


class Zeros:
    """A part of `Emitter`."""

    def product(self, factor, x, flat=True):
        """A product of the chain rule: zero where one is, be the other infinite or nan.

        flat: whether a factor that is zero counts as zero; True, or a condition in LLVM
        """
        tag = max((o.type.tag for o in (factor, x) if isinstance(o.type, d.Dual)), default=-1)
        if tag < 0:
            return self.unless_zero(self.apply(operator.mul, (factor, x)), x, (factor, flat))
        values = [self.strip(o, tag) for o in (factor, x)]
        answer, total = self.product(*values, flat), None
        n = next(o.type.n for o in (factor, x) if has_level(o, tag))
        result = d.Dual(answer.type, n, tag)
        for operand, value, strong in ((factor, values[1], True), (x, values[0], flat)):
            if has_level(operand, tag):
                term = self.scale(result, value, self.partials_as(operand, result), strong)
                total = term if total is None else self.add(result, total, term)
        return Operand(result, d.build(self.context, self.builder, result, answer.value, total))

    def quotient(self, x, y):
        """`x / y`, zero where `x` is."""
        if any(isinstance(o.type, d.Dual) for o in (x, y)):
            one = Operand(types.literal(1), None)
            return self.product(self.apply(operator.truediv, (one, y)), x)
        return self.unless_zero(self.apply(operator.truediv, (x, y)), x)

    def unless_zero(self, result, x, factor=None):
        """The result, and zero where `x` is zero, or a factor that is given as in `product`."""
        ty = result.type
        counts = self._is_not_zero(x, ty)
        if factor is not None and not is_literal(factor[0]):
            counts = self.builder.and_(counts, self._differs(factor, ty))
        zero = ir.Constant(result.value.type, None)
        return Operand(ty, self.builder.select(counts, result.value, zero))

    def _differs(self, factor, ty):
        """Whether a factor, `(operand, flat)`, is not zero, or does not count as zero."""
        operand, flat = factor
        differs = self._is_not_zero(operand, ty)
        return differs if flat is True else self.builder.or_(differs, self.builder.not_(flat))

    def _is_regular(self, operand, ty):
        """Whether a number, as a float of a type, is neither zero nor infinite nor nan."""
        bounds = ("<", math.inf), (">", -math.inf), ("!=", 0.0)
        tests = [self._compares(symbol, operand, ty, bound) for symbol, bound in bounds]
        return reduce(self.builder.and_, tests)

    def _is_not_zero(self, operand, ty):
        return self._compares("!=", operand, ty, 0.0)

    def _compares(self, symbol, operand, ty, number):
        """A comparison with a number, of either part of a complex one; true for nan if unequal."""
        builder, value = self.builder, self.cast(operand, ty)
        compare = builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        if isinstance(ty, types.Complex):
            parts = [builder.extract_value(value, k) for k in range(2)]
            return builder.or_(*(compare(symbol, part, part.type(number)) for part in parts))
        if isinstance(value.type, ir.VectorType):
            return compare(symbol, value, ir.Constant(value.type, [number] * value.type.count))
        return compare(symbol, value, value.type(number))

    def flat(self, fn, expression, operand):
        """Whether a partial that is zero says that a function is flat, as its operand moves.

        False for a polynomial. A slope of zero is nothing but that at a finite argument, as the cosine's
        is at zero: beside an infinite partial it says nothing, and the product is nan.
        """
        if is_polynomial(expression):
            return False
        if is_quotient(fn) or is_choice(expression):
            return True
        while isinstance(operand.type, d.Dual):
            operand = self.strip(operand, operand.type.tag)
        ends = (self._compares("==", operand, operand.type, end) for end in (math.inf, -math.inf))
        return self.builder.or_(*ends)
