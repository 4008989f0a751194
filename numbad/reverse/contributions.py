"""A statement's part in its operands' adjoints, computed by one intrinsic.

The rule's expressions are evaluated straight into LLVM, by the evaluator of forward mode, with IEEE
semantics: a division by zero in a derivative is infinite, whatever the function's error model.
"""

import math
import operator
from functools import cache

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ..elementary.named import NAMES
from ..elementary.replacing import call_beside, call_of_vectors
from ..elementary.variants import widths
from ..forward import dual as d
from ..forward.arithmetic import Operand, RuleEmitter
from ..lanes.varying import Varying, any_lane, splat
from ..rules.expression import COMPARISONS, Answer, Apply, Arg, Const, evaluate, walk, where
from ..rules.poles import is_polynomial
from ..rules.registry import SCALAR
from . import cotangents


def partials(fn, nargs, literals, kind):
    """The partial derivatives of a function by each operand, as expressions."""
    return SCALAR[fn].trace(nargs, dict(literals), kind)


def needs(expressions):
    """The operands that the expressions need by value: numbers of arguments, and "answer"."""
    found = []
    for node in walk(*expressions):
        if isinstance(node, Arg):
            found.append(node.index)
        elif isinstance(node, Answer):
            found.append("answer")
    return sorted(found, key=str)


def join_all(typingctx, tys):
    """The scalar type that holds sums of products of these."""
    joined = None
    for ty in tys:
        ty = types.unliteral(ty)
        if isinstance(ty, types.Optional):
            ty = ty.type
        if isinstance(ty, types.Boolean | types.Integer):
            continue
        joined = ty if joined is None else d.join(typingctx, joined, ty)
    return joined if joined is not None else types.float64


@cache
def contribution(expressions, needed, strong=False):
    """An intrinsic `(adjoint, *needed values) -> (adjoint * partial, ...)`.

    One product for each expression, as a tuple; alone where there is one expression. Zero times what
    is not finite is zero for a partial that is no polynomial; with `strong`, for each; if it is None,
    for none; if it is `UNLESS_REACHED`, for each unless the last of the values is true.
    """

    @intrinsic
    def contribute(typingctx, adjoint, values):
        members = list(values)
        result = _result_type(typingctx, adjoint, members[: len(needed)])
        several = len(expressions) > 1
        returned = types.UniTuple(result, len(expressions)) if several else result

        def codegen(context, builder, sig, args):
            scalar = getattr(result, "scalar", result) if _is_vector(result) else result
            real = d.base_scalar(scalar)
            real = getattr(real, "underlying_float", real)
            emit = PartialEmitter(context, builder, real, flags=cotangents.linear_flags(context))
            bar = Operand(sig.args[0], args[0])
            found = {
                key: _plain(context, builder, ty, builder.extract_value(args[1], k))
                for k, (key, ty) in enumerate(
                    zip(needed, sig.args[1], strict=strong != UNLESS_REACHED)
                )
            }
            arithmetic = _VectorArithmetic if _is_vector(result) else _Arithmetic

            def asking(strong):
                how = arithmetic(emit, result, rarely=strong is True or _is_vector(result))
                made = _products(emit, expressions, found, bar, how, strong)
                return [p.value if _is_vector(result) else emit.cast(p, result) for p in made]

            def products():
                if strong != UNLESS_REACHED:
                    return asking(strong)
                reached = builder.extract_value(args[1], len(needed))
                pairs = zip(asking(None), asking(True), strict=True)
                return [builder.select(reached, *pair) for pair in pairs]

            skipping = (
                strong is True and isinstance(result, types.Float) and any(map(_calls, expressions))
            )
            out = _where_counted(emit, bar, result, products) if skipping else products()
            return context.make_tuple(builder, returned, out) if several else out[0]

        return returned(adjoint, values), codegen

    return contribute


UNLESS_REACHED = "unless reached"
"""Products ask for zeros, unless a last value says that zero tells nothing there: see `dropped`."""

LEFT_OUT = "left out"
"""Products ask whether the adjoint is zero, and where one is, whatever it is multiplied by."""


class PartialEmitter(RuleEmitter):
    """Evaluates partials. No value depends on them: elementary functions in loops may be ours, in vectors."""

    def call(self, fn, operands):
        name = NAMES.get(fn) if self.context.target_name == "cpu" else None
        if name is None or not widths() or not all(_is_double(o.type) for o in operands):
            return super().call(fn, operands)
        ty = next((o.type for o in operands if isinstance(o.type, Varying)), types.float64)
        call = call_of_vectors if isinstance(ty, Varying) else call_beside
        values = [self.cast(o, ty) for o in operands]
        return Operand(ty, call(self.context, self.builder, name, values))


def _is_double(ty):
    return ty == types.float64 or (isinstance(ty, Varying) and ty.scalar == types.float64)


_INSTRUCTIONS = {
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, math.sqrt, where),
    *(operator.and_, operator.or_, *COMPARISONS),
}


def _calls(partial):
    """Whether a function is called that takes longer than a branch."""
    nodes = [node for node in walk(partial) if isinstance(node, Apply)]
    return any(node.fn not in _INSTRUCTIONS and not is_polynomial(node) for node in nodes)


def _where_counted(emit, bar, result, products):
    """What `products` emits, reached where the adjoint is not zero; elsewhere zeros.

    What a choice has left out has an adjoint of zero, which is zero times any partial.
    """
    builder = emit.builder
    value = emit.cast(bar, result)
    before, zero = builder.block, value.type(0.0)
    with builder.if_then(builder.fcmp_unordered("!=", value, zero)):
        made, within = products(), builder.block
    out = []
    for product in made:
        out.append(builder.phi(value.type))
        out[-1].add_incoming(zero, before)
        out[-1].add_incoming(product, within)
    return out


def _plain(context, builder, ty, value):
    """An operand as a plain number: what an optional holds."""
    if isinstance(ty, types.Optional):
        return Operand(ty.type, context.cast(builder, value, ty, ty.type))
    return Operand(ty, value)


def _is_vector(ty):
    return isinstance(ty, cotangents.Cotangents)


def _result_type(typingctx, adjoint, members):
    if not _is_vector(adjoint):
        return join_all(typingctx, [adjoint, *members])
    scalar = join_all(typingctx, [adjoint.scalar, *members])
    return cotangents.Cotangents(scalar, adjoint.n) if isinstance(scalar, types.Float) else None


class _Arithmetic:
    """Products and quotients of an adjoint and a number.

    `rarely`: zeros are asked for where a product is nan, by a branch: one comparison takes a third of the
    time of two that select. Where that is all that a loop does, it vectorises with the latter.
    """

    def __init__(self, emit, result, rarely):
        self.emit, self.result, self.rarely = emit, result, rarely

    def times(self, bar, factor, strong):
        if strong == LEFT_OUT and isinstance(self.result, types.Float | Varying):
            return self._unless_left_out(bar, self.emit.apply(operator.mul, (bar, factor)))
        if strong:
            return self._checked(
                operator.mul, (bar, factor), lambda: self.emit.product(factor, bar)
            )
        return self.emit.apply(operator.mul, (bar, factor))

    def over(self, bar, denominator, strong):
        operands = bar, denominator
        if strong:
            return self._checked(operator.truediv, operands, lambda: self.emit.quotient(*operands))
        return self.emit.apply(operator.truediv, operands)

    def _unless_left_out(self, bar, product):
        """A product; zero where the adjoint is. One comparison, and loops of it vectorise."""
        builder = self.emit.builder
        none, zero = (ir.Constant(value.type, None) for value in (bar.value, product.value))
        counts = builder.fcmp_unordered("!=", bar.value, none)
        return Operand(product.type, builder.select(counts, product.value, zero))

    def _checked(self, function, operands, asking):
        """A product or quotient; where it is nan, what `asking` emits, which asks for zeros."""
        builder = self.emit.builder
        if not self.rarely or not isinstance(self.result, types.Float):
            return asking()
        plain = self.emit.apply(function, operands)
        return Operand(plain.type, _unless_nan(builder, plain.value, lambda: asking().value))


def _unless_nan(builder, value, asking):
    """A number, or a vector; what `asking` emits where it, or a lane, is nan."""
    before, is_nan = builder.block, builder.fcmp_unordered("uno", value, value)
    if isinstance(value.type, ir.VectorType):
        is_nan = any_lane(builder, is_nan)
    with cgutils.if_unlikely(builder, is_nan):
        asked, within = asking(), builder.block
    chosen = builder.phi(value.type)
    chosen.add_incoming(value, before)
    chosen.add_incoming(asked, within)
    return chosen


class _VectorArithmetic(_Arithmetic):
    """The same for several cotangents, bit by bit as for each alone."""

    def times(self, bar, factor, strong):
        product = self._scaled(bar, factor, "fmul")
        return self._unless_zero(product, bar, factor) if strong else product

    def over(self, bar, denominator, strong):
        quotient = self._scaled(bar, denominator, "fdiv")
        return self._unless_zero(quotient, bar) if strong else quotient

    def _scaled(self, bar, factor, instruction):
        factor = self.result.scalar, self.emit.cast(factor, self.result.scalar)
        context, builder = self.emit.context, self.emit.builder
        value = cotangents.scaled(context, builder, self.result, bar, factor, instruction)
        return Operand(self.result, value)

    def _unless_zero(self, product, bar, factor=None):
        builder, ty = self.emit.builder, self.result

        def asked():
            vectors = [cotangents.converted(builder, bar.value, bar.type, ty)]
            if factor is not None:
                vectors.append(splat(builder, self.emit.cast(factor, ty.scalar), ty.n))
            value = product.value
            zero = ir.Constant(value.type, None)
            for vector in vectors:
                value = builder.select(builder.fcmp_unordered("!=", vector, zero), value, zero)
            return value

        return Operand(ty, _unless_nan(builder, product.value, asked) if self.rarely else asked())


def _is_slope(quotient):
    """Whether a quotient is taken as it is, not after the adjoint was divided.

    0.5 / sqrt(x) is found once for all adjoints, and outside of a loop where x does not change.
    """
    numerator = quotient.args[0]
    return isinstance(numerator, Const) and numerator.value != 1


def _products(emit, expressions, found, bar, arithmetic, strong):
    count = max((k for k in found if k != "answer"), default=-1) + 1
    args = [found.get(k) for k in range(count)]
    shared = {}

    def value(node):
        if node not in shared:
            shared[node] = evaluate(node, args, found.get("answer"), emit.const, emit.apply)
        return shared[node]

    products = []
    for node in expressions:
        asks = strong is not None and (not is_polynomial(node) or strong)
        if isinstance(node, Apply) and node.fn is operator.truediv and not _is_slope(node):
            key = "over", node.args[1]
            if key not in shared:  # one division serves every partial with this denominator
                shared[key] = arithmetic.over(bar, value(node.args[1]), asks)
            numerator = node.args[0]
            if isinstance(numerator, Const) and numerator.value == 1:
                products.append(shared[key])
            else:
                products.append(arithmetic.times(shared[key], value(numerator), asks))
        else:
            products.append(arithmetic.times(bar, value(node), asks))
    return products


STRONG_PRODUCT = contribution((Arg(0),), (0,), strong=True)
"""An intrinsic `(adjoint, (x,)) -> adjoint * x`, zero where one of them is."""


@cache
def summed(negative):
    """An intrinsic `(sum, x) -> sum ± x` of floats, in whatever order makes a loop of it fast.

    Only so can a sum be kept in several lanes; the adjoints of what is used in every iteration are
    such sums.
    """

    @intrinsic
    def add(typingctx, total, x):
        result = join_all(typingctx, [total, x])

        def codegen(context, builder, sig, args):
            a, b = (
                context.cast(builder, v, t, result) for v, t in zip(args, sig.args, strict=True)
            )
            flags = cotangents.linear_flags(context, "reassoc")
            return (builder.fsub if negative else builder.fadd)(a, b, flags=flags)

        return result(total, x), codegen

    return add
