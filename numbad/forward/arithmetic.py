"""Evaluates rules into LLVM: the partials of a function, and the chain rule over `n` partials.

One `RuleEmitter` serves every scalar type. Floats become single instructions and the partials LLVM
vectors; complex numbers and nested duals go through the functions that Numba, or this package,
already has for them.
"""

import math
import operator
from functools import partial, reduce

import numpy as np
from llvmlite import ir
from numba.core import types

from ..ir.typing import signature_of
from ..lanes.varying import Varying, without_errors
from ..rules.expression import Missing, evaluate, where
from ..rules.poles import is_quotient
from ..rules.registry import SCALAR, name_of
from ..rules.scalar import POWERS
from . import complex_partials as c
from . import dual as d
from .operands import Operand, has_level, is_literal, strip_operand
from .refuse import refused_call
from .zeros import Zeros

# Partials may be contracted to fused multiply-adds, and their sums taken in another order; values never are.
# Not what else `fastmath` allows: products in another order overflow, and zero times the reciprocal of a
# subnormal number is nan.
CONTRACT = ("contract",)
SUM = (*CONTRACT, "nsz", "reassoc")

_FLOAT_INSTRUCTION = {
    operator.add: "fadd",
    operator.sub: "fsub",
    operator.mul: "fmul",
    operator.truediv: "fdiv",
}
_COMPARISON = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def _are(operands, *kinds):
    return all(isinstance(o.type, kind) for o, kind in zip(operands, kinds, strict=True))


def _whole_power(x, n):
    """Numba's own power by an int, which raises for a zero base and a negative exponent; this does not."""
    if not -0x10000 <= n <= 0x10000:
        return math.pow(x, float(n))
    result, square, k = 1.0, x, abs(n)
    while k != 0:
        if k & 1:
            result *= square
        k >>= 1
        square *= square
    if n >= 0:
        return result
    return 1.0 / result if 0.0 < abs(result) < math.inf else math.pow(x, float(n))


_DIVIDED = 4  # so many partials are divided, which is exact to the last bit more often; others are multiplied


class RuleEmitter(Zeros):
    """Emits arithmetic on `Operand`s at the builder's position."""

    def __init__(self, context, builder, real, flags=()):
        self.context = context
        self.builder = builder
        self.real = real  # the float type that literal floats take
        self.flags = flags  # of sums and products of floats
        self.on_gpu = "nvptx" in builder.module.triple
        # On a GPU sums in another order take fewer instructions and registers, but 13 % longer (RK4).
        self.sum_flags = CONTRACT if self.on_gpu else SUM  # of partials

    # -- values ------------------------------------------------------------------------------

    def const(self, value):
        """A literal of a rule: ints stay ints, so that `x**2` is a product."""
        if isinstance(value, bool):
            return Operand(types.boolean, self.context.get_constant(types.boolean, value))
        if isinstance(value, int):
            return Operand(types.literal(value), None)
        if isinstance(value, complex):
            ty = types.complex64 if self.real == types.float32 else types.complex128
            return Operand(ty, self.context.get_constant_generic(self.builder, ty, value))
        return Operand(self.real, self.context.get_constant(self.real, value))

    def strip(self, operand, tag):
        """The value part of a dual of level `tag`; anything else unchanged."""
        return strip_operand(self.context, self.builder, operand, tag)

    def cast(self, operand, target):
        """The LLVM value of the operand as a `target`."""
        source = operand.type
        if isinstance(source, types.Literal):
            if isinstance(target, types.Float):
                return self.context.get_constant(target, float(source.literal_value))
            plain = types.unliteral(source)
            literal = self.context.get_constant(plain, source.literal_value)
            return self.context.cast(self.builder, literal, plain, target)
        if source == target:
            return operand.value
        return self.context.cast(self.builder, operand.value, source, target)

    def apply(self, fn, operands):
        """`fn` of the operands, with IEEE semantics: division by zero gives infinity."""
        if fn is where:
            return self._select(*operands)
        common = self._common_float(operands)
        if common is not None and (direct := self._direct(fn, operands, common)):
            return direct
        if (kind := c.common(operands)) is not None:
            direct = c.direct(self.builder, fn, [self.cast(o, kind) for o in operands])
            if direct is not None:
                return Operand(kind, direct)
        if any(isinstance(o.type, Varying) for o in operands):
            return self._of_lanes(fn, operands)
        tag = max((o.type.tag for o in operands if isinstance(o.type, d.Dual)), default=-1)
        if tag >= 0 and fn in SCALAR:
            inner = [self.strip(o, tag) for o in operands]
            return self.chain(fn, operands, tag, self.apply(fn, inner))
        if fn is operator.pow and _are(operands, types.Float, types.Integer):
            return self._whole_power(*operands)
        return self.call(fn, operands)

    def _whole_power(self, x, n):
        if types.unliteral(n.type) == types.uint64:
            return self.call(operator.pow, (x, Operand(x.type, self.cast(n, x.type))))
        signature = x.type(x.type, types.int64)
        values = x.value, self.cast(n, types.int64)
        value = self.context.compile_internal(self.builder, _whole_power, signature, values)
        return Operand(x.type, value)

    def _of_lanes(self, fn, operands):
        """The same for lanes: no lane raises."""
        x, *others = operands
        if fn is operator.pow and isinstance(others[0].type, types.IntegerLiteral):
            power = self._power(x, others[0].type.literal_value)
            if power is not None:
                return power
        return RuleEmitter(without_errors(self.context), self.builder, self.real).call(fn, operands)

    def call(self, fn, operands):
        """`fn` of the operands exactly as Numba compiles it."""
        argtypes = tuple(types.unliteral(o.type) for o in operands)
        function, signature = signature_of(self.context.typing_context, fn, argtypes)
        implementation = self.context.get_function(function, signature)
        self.context.add_linking_libs(getattr(implementation, "libs", ()))
        result = implementation(self.builder, self._packed(operands, signature.args))
        return Operand(signature.return_type, result)

    def _packed(self, operands, argtypes):
        """The arguments as the implementation takes them: those of `*args` as one tuple."""
        if argtypes and isinstance(argtypes[-1], types.StarArgTuple | types.StarArgUniTuple):
            plain, star = len(argtypes) - 1, argtypes[-1]
            members = [self.cast(o, t) for o, t in zip(operands[plain:], star, strict=True)]
            packed = self.context.make_tuple(self.builder, star, members)
            return [*self._packed(operands[:plain], argtypes[:-1]), packed]
        defaults = [
            self.context.get_constant_generic(self.builder, t, t.value)
            for t in argtypes[len(operands) :]
        ]
        given = [self.cast(o, t) for o, t in zip(operands, argtypes, strict=False)]
        return given + defaults

    def _common_float(self, operands):
        """The widest float type, where all operands are floats or literal ints and one is a float."""
        floats = [o.type for o in operands if isinstance(o.type, types.Float)]
        others = [o for o in operands if not isinstance(o.type, types.Float | types.IntegerLiteral)]
        if others or not floats:
            return None
        return max(floats, key=lambda t: t.bitwidth)

    def _direct(self, fn, operands, ty):
        builder = self.builder
        if fn in _FLOAT_INSTRUCTION:
            x, y = (self.cast(o, ty) for o in operands)
            return Operand(ty, getattr(builder, _FLOAT_INSTRUCTION[fn])(x, y, flags=self.flags))
        if fn in _COMPARISON:
            x, y = (self.cast(o, ty) for o in operands)
            compare = builder.fcmp_unordered if fn is operator.ne else builder.fcmp_ordered
            return Operand(types.boolean, compare(_COMPARISON[fn], x, y))
        if fn is operator.neg:
            return Operand(ty, negated(builder, operands[0].value))
        if fn is operator.pow and isinstance(operands[1].type, types.IntegerLiteral):
            return self._power(operands[0], operands[1].type.literal_value)
        return None

    def _power(self, x, n):
        """x**n for a literal n by repeated squaring; None where calling `pow` is better."""
        if abs(n) > 64:
            return None
        result, square, k = None, x.value, abs(n)
        while k:
            if k & 1:
                result = square if result is None else self.builder.fmul(result, square)
            k >>= 1
            square = self.builder.fmul(square, square) if k else square
        one = self.cast(Operand(types.literal(1), None), x.type)
        result = one if result is None else result
        return Operand(x.type, self.builder.fdiv(one, result) if n < 0 else result)

    def _select(self, condition, x, y):
        ty = self.join(x.type, y.type)
        values = self.cast(x, ty), self.cast(y, ty)
        if isinstance(condition.type, Varying):
            return self._select_lanes(condition, ty, values)
        chosen = self.builder.select(self.cast(condition, types.boolean), *values)
        return Operand(ty, chosen)

    def _select_lanes(self, condition, ty, values):
        """The choice of each lane."""
        if not isinstance(ty, Varying):
            lanes = Varying(ty, condition.type.n)
            values = [self.context.cast(self.builder, v, ty, lanes) for v in values]
            ty = lanes
        return Operand(ty, self.builder.select(condition.value, *values))

    def join(self, x, y):
        """The type of a value that is one of two; a literal int makes no float wider, two are one."""
        if isinstance(x, types.IntegerLiteral) and isinstance(y, types.IntegerLiteral):
            return self.real
        for literal, other in ((x, y), (y, x)):
            number = isinstance(other, types.Float | types.Complex | d.Dual)
            if isinstance(literal, types.IntegerLiteral) and number:
                return other
        return d.join(self.context.typing_context, x, y)

    # -- the chain rule ----------------------------------------------------------------------

    def chain(self, fn, operands, tag, answer, strong=False):
        """The dual of value `answer` whose partials are those of `fn` of the operands.

        strong: whether zero times what is not finite is zero, be the partials polynomials or not
        """
        n = next(o.type.n for o in operands if isinstance(o.type, d.Dual) and o.type.tag == tag)
        result = d.Dual(answer.type, n, tag)
        active = [k for k, o in enumerate(operands) if has_level(o, tag)]
        expressions = self.expressions(fn, operands, active, tag, answer)
        inner = [self.strip(o, tag) for o in operands]
        strong = [
            strong or self.flat(fn, expression, inner[k])
            for k, expression in zip(active, expressions, strict=True)
        ]
        divides = _divides_by(fn, operands)
        if divides is not None and has_level(divides, tag) and not self.on_gpu:
            total = self._divided(result, operands, divides, tag, answer, strong[0])
        else:
            factors = evaluate(expressions, inner, answer, self.const, self.apply)
            terms = list(zip(factors, [operands[k] for k in active], strong, strict=True))
            total = self.sum_of_terms(result, terms)
        if total is None:
            total = d.zero_partials(self.context, result)
        built = d.build(self.context, self.builder, result, answer.value, total)
        return Operand(result, built)

    def _divided(self, result, operands, y, tag, answer, strong):
        """The partials of x / y, (dx - x / y dy) / y: x / y / y may be beyond what a float holds."""
        minus = self.apply(operator.neg, (answer,))
        total = self.scale(result, minus, self.partials_as(y, result), strong)
        if y is not operands[0] and has_level(operands[0], tag):
            total = self.add(result, self.partials_as(operands[0], result), total)
        divisor = self.strip(y, tag)
        if isinstance(result.scalar, types.Float) and result.n <= _DIVIDED:
            return self._over(result, total, divisor)
        one = Operand(types.literal(1), None)
        inverse = self.apply(operator.truediv, (one, divisor))
        return self.scale(result, inverse, total, strong)

    def _over(self, ty, partials, divisor):
        """Every partial divided by a float; zero where it is zero."""
        quotient = self.builder.fdiv(partials, self.splat(ty, self.cast(divisor, ty.scalar)))
        zero = ir.Constant(quotient.type, None)
        counts = self.builder.fcmp_unordered("!=", partials, zero)
        return self.builder.select(counts, quotient, zero)

    def expressions(self, fn, operands, active, tag, answer):
        """The partials of `fn` by the operands numbered in `active`, as expressions."""
        inner = [self.strip(o, tag) for o in operands]
        literals = {k: o.type.literal_value for k, o in enumerate(inner) if is_literal(o)}
        kind = "complex" if isinstance(d.base_scalar(answer.type), types.Complex) else "real"
        expressions = SCALAR[fn].trace(len(operands), literals, kind)
        for k in active:
            refuse_missing(fn, k, expressions[k])
        return tuple(expressions[k] for k in active)

    def sum_of_terms(self, result, terms):
        """The sum of terms, of what `term` is given; None where all are zero.

        A GPU has no use for selects beside every product: what zero times something else is, it is asked only
        where a factor is zero or not finite.
        """
        checked = [factor for factor, _, strong in terms if strong is not False]
        floats = all(isinstance(factor.type, types.Float) for factor in checked)
        if not (checked and floats and isinstance(result.scalar, types.Float) and self.on_gpu):
            return self._added(result, [self.term(result, *term) for term in terms])
        tests = [self._is_regular(factor, result.scalar) for factor in checked]
        plain = reduce(self.builder.and_, tests)
        with self.builder.if_else(plain, likely=True) as (then, otherwise):
            found = []
            for place, is_plain in ((then, True), (otherwise, False)):
                with place:
                    each = [(f, x, False if is_plain else strong) for f, x, strong in terms]
                    total = self._added(result, [self.term(result, *term) for term in each])
                    found.append((total, self.builder.basic_block))
        joined = self.builder.phi(found[0][0].type)
        for total, block in found:
            joined.add_incoming(total, block)
        return joined

    def _added(self, result, terms):
        """The sum of sets of partials, None for those that are zero."""
        terms = [term for term in terms if term is not None]
        return reduce(partial(self.add, result), terms) if terms else None

    def term(self, result, factor, operand, strong):
        """A factor times the partials of an operand; None where it is zero; `strong` as in `scale`."""
        literal = factor.type.literal_value if is_literal(factor) else None
        if literal == 0:
            return None
        partials = self.partials_as(operand, result)
        if literal == 1:
            return partials
        return (
            self.negate(result, partials)
            if literal == -1
            else self.scale(result, factor, partials, strong if literal is None else False)
        )

    def partials_as(self, operand, result):
        """The partials of an operand, converted to the scalar type of `result`."""
        _, partials = d.split(self.context, self.builder, operand.type, operand.value)
        source = operand.type
        if source.scalar == result.scalar:
            return partials

        def cast(item):
            return self.context.cast(self.builder, item, source.scalar, result.scalar)

        return d.map_partials(self.context, self.builder, source, result, partials, cast)

    def scale(self, ty, factor, partials, strong=False):
        """A factor times every partial; if `strong`, as in `product`, whose `flat` it is."""
        if isinstance(ty.scalar, types.Float):
            splat = self.splat(ty, self.cast(factor, ty.scalar))
            scaled = self.builder.fmul(splat, partials, flags=CONTRACT)
            return (
                scaled if strong is False else self._strong(ty, scaled, partials, (factor, strong))
            )

        if isinstance(ty.scalar, types.Complex):
            return self._scale_complex(ty, factor, partials, strong)

        def product(item):
            item = Operand(ty.scalar, item)
            if strong is False:
                return self.apply(operator.mul, (factor, item))
            return self.product(factor, item, strong)

        return self._each(ty, partials, product)

    def _scale_complex(self, ty, factor, partials, strong):
        """The same for complex numbers."""
        builder, real = self.builder, isinstance(factor.type, types.Float | types.IntegerLiteral)
        value = self.cast(factor, ty.scalar.underlying_float if real else ty.scalar)
        multiply = c.scaled if real else c.product
        counts = None if strong is False else self._differs((factor, strong), ty.scalar)

        def product(item):
            result = multiply(builder, value, item, CONTRACT)
            if counts is None:
                return Operand(ty.scalar, result)
            both = builder.and_(counts, self._is_not_zero(Operand(ty.scalar, item), ty.scalar))
            zero = ir.Constant(result.type, None)
            return Operand(ty.scalar, builder.select(both, result, zero))

        return self._each(ty, partials, product)

    def _strong(self, ty, scaled, partials, factor):
        """Scaled partials, and zero where the partials are, or the factor, given as in `product`."""
        builder, zero = self.builder, ir.Constant(scaled.type, None)
        scaled = builder.select(builder.fcmp_unordered("!=", partials, zero), scaled, zero)
        return builder.select(self._differs(factor, ty.scalar), scaled, zero)

    def add(self, ty, first, second):
        """The sum of two sets of partials."""
        if isinstance(ty.scalar, types.Float):
            return self.builder.fadd(first, second, flags=self.sum_flags)
        out = first
        for i in range(ty.n):
            if isinstance(ty.scalar, types.Complex):
                x, y = (d.get_partial(self.builder, ty, p, i) for p in (first, second))
                item = c.partwise(self.builder, "fadd", x, y, self.sum_flags)
                out = d.set_partial(self.builder, ty, out, item, i)
                continue
            x, y = (
                Operand(ty.scalar, d.get_partial(self.builder, ty, p, i)) for p in (first, second)
            )
            item = self.cast(self.apply(operator.add, (x, y)), ty.scalar)
            out = d.set_partial(self.builder, ty, out, item, i)
        return out

    def negate(self, ty, partials):
        """Every partial with its sign changed."""
        if isinstance(ty.scalar, types.Float):
            return negated(self.builder, partials)
        return self._each(
            ty, partials, lambda item: self.apply(operator.neg, (Operand(ty.scalar, item),))
        )

    def splat(self, ty, value):
        """A vector with the same float in every place."""
        vector = ir.Constant(ir.VectorType(value.type, ty.n), ir.Undefined)
        zero = ir.Constant(ir.IntType(32), 0)
        first = self.builder.insert_element(vector, value, zero)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), ty.n), [0] * ty.n)
        return self.builder.shuffle_vector(first, vector, mask)

    def _each(self, ty, partials, function):
        def cast(item):
            return self.cast(function(item), ty.scalar)

        return d.map_partials(self.context, self.builder, ty, ty, partials, cast)


def _divides_by(fn, operands):
    """What a function divides by, as `x / y`, `np.reciprocal(y)` and `y**-1` do; None for others."""
    if is_quotient(fn):
        return operands[1]
    if fn is np.reciprocal and not isinstance(d.base_scalar(operands[0].type), types.Complex):
        return operands[0]
    power = fn in POWERS and is_literal(operands[1]) and operands[1].type.literal_value == -1
    return operands[0] if power else None


def refuse_missing(fn, k, slope):
    """Refuse a partial that is not known, by argument number `k`."""
    if isinstance(slope, Missing):
        construct = slope.construct or f"{name_of(fn)} by argument {k + 1}"
        raise refused_call(construct, fn, slope.way_out)


def negated(builder, x):
    """-x for a float or a vector; not LLVM's `fneg`, which NVVM does not know."""
    zero = -0.0 if not isinstance(x.type, ir.VectorType) else [-0.0] * x.type.count
    return builder.fsub(ir.Constant(x.type, zero), x)
