"""Several cotangents of one number, pulled back together: one lane for each.

The reverse sweep is linear in its adjoints, so it can carry a vector where an adjoint was, and gives
as many rows of a Jacobian as the vector has lanes. A type of its own rather than a dual number,
because it has the operations of a vector space and no others: code that multiplies two adjoints,
compares one, or adds a number to one does not compile with it, and cannot be wrong in silence.
"""

import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, register_model

from ..forward.arithmetic import CONTRACT, SUM, negated
from ..forward.dual import PartialsModel
from ..lanes.varying import splat, vector_of


class Cotangents(types.Type):
    """`n` cotangents of a number whose type is the float type `scalar`."""

    is_number = True  # for `ir.typing`: its arithmetic is the same wherever it occurs

    def __init__(self, scalar, n):
        self.scalar, self.n = scalar, n
        super().__init__(f"Cotangents({scalar}, {n})")

    @property
    def key(self):
        return self.scalar, self.n


class CotangentsModel(PartialsModel):
    """An LLVM vector as a value, and in memory `n` floats, with no alignment beyond a float's."""


class RowSeed(types.Type):
    """Seeds a pass over `n` rows of a Jacobian; a value of it is the number of the first.

    With `shapes`, the shapes of the arrays in the result are returned in place of these. `once`
    tells that there is one pass in the code, whose sweeps may as well stand where it is called.
    """

    def __init__(self, n, shapes, once):
        self.n, self.shapes, self.once = n, shapes, once
        super().__init__(f"RowSeed({n}, {shapes}, {once})")

    @property
    def key(self):
        return self.n, self.shapes, self.once


class RowSeedModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64))


register_model(Cotangents)(CotangentsModel)
register_model(RowSeed)(RowSeedModel)


class Lanes:
    """Makes the type of adjoints, as a sweep asks for it, in a pass that `seed` seeds."""

    def __init__(self, seed):
        self.n, self.shapes = seed.n, seed.shapes

    def __call__(self, scalar):
        return Cotangents(scalar, self.n)


# -- arithmetic in LLVM -------------------------------------------------------------------------


def linear_flags(context, *more):
    """The flags of sums and products of adjoints: they may be contracted to fused multiply-adds.

    Instructions that have flags get none of the function's `fastmath` from Numba, so these are here as well.
    """
    given = context.fastmath.flags if context.fastmath else ()
    return tuple(sorted({*CONTRACT, *more, *given}))


def sum_flags(context):
    """The flags of sums of adjoints of numbers, which may be taken in another order as well.

    Adjoints that are added to elements of arrays keep their order, since vectors make short loops slower.
    """
    return linear_flags(context, *SUM)


def converted(builder, value, source, target):
    """Cotangents of one precision in another."""
    if source.scalar == target.scalar:
        return value
    widen = source.scalar.bitwidth < target.scalar.bitwidth
    return getattr(builder, "fpext" if widen else "fptrunc")(value, vector_of(target))


def scaled(context, builder, result, bar, factor, instruction="fmul"):
    """`bar * factor` or `bar / factor`: each operand a Numba type and an LLVM value of it."""
    (bar_type, vector), (ty, value) = bar, factor
    value = splat(builder, context.cast(builder, value, ty, result.scalar), result.n)
    vector = converted(builder, vector, bar_type, result)
    return getattr(builder, instruction)(vector, value, flags=linear_flags(context))


def load(builder, array_type, pointer):
    """The cotangents at the address of an array's element."""
    ty = array_type.dtype
    pointer = builder.bitcast(pointer, vector_of(ty).as_pointer())
    return builder.load(pointer, align=ty.scalar.bitwidth // 8)


def store(builder, array_type, value, pointer):
    """Set the element at an address."""
    ty = array_type.dtype
    pointer = builder.bitcast(pointer, vector_of(ty).as_pointer())
    builder.store(value, pointer, align=ty.scalar.bitwidth // 8)


def add_at(builder, array_type, pointer, ty, value, flags=()):
    """Add cotangents to the element at an address."""
    value = converted(builder, value, ty, array_type.dtype)
    old = load(builder, array_type, pointer)
    store(builder, array_type, builder.fadd(old, value, flags=flags), pointer)


def take_at(builder, array_type, pointer):
    """The element at an address, which becomes zero."""
    old = load(builder, array_type, pointer)
    store(builder, array_type, ir.Constant(old.type, None), pointer)
    return old


# -- the same for Numba ---------------------------------------------------------------------------


def wider(typingctx, first, second):
    """The type of a sum of two vectors, or of one times a real number; None where there is none."""
    if isinstance(second, Cotangents):
        if not isinstance(first, Cotangents) or first.n != second.n:
            return None
        second = second.scalar
    if not isinstance(second, types.Float | types.Integer | types.Boolean):
        return None
    product = typingctx.resolve_function_type(operator.mul, (first.scalar, second), {})
    return Cotangents(product.return_type, first.n)


class _Sum(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) != 2 or not all(isinstance(ty, Cotangents) for ty in args):
            return None
        result = wider(self.context, *args)
        return None if result is None else signature(result, *args)


class _Product(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) != 2 or not isinstance(args[0], Cotangents):
            return None
        factor = types.unliteral(args[1])
        result = None if isinstance(factor, Cotangents) else wider(self.context, args[0], factor)
        return None if result is None else signature(result, args[0], factor)


@infer_global(operator.add)
class _Add(_Sum):
    key = operator.add


@infer_global(operator.iadd)
class _AddInPlace(_Sum):
    key = operator.iadd


@infer_global(operator.sub)
class _Subtract(_Sum):
    key = operator.sub


@infer_global(operator.mul)
class _Multiply(_Product):
    key = operator.mul


@infer_global(operator.neg)
class _Negate(AbstractTemplate):
    key = operator.neg

    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], Cotangents):
            return signature(args[0], *args)
        return None


def _lower_sum(instruction):
    def lower(context, builder, sig, args):
        x, y = (
            converted(builder, a, t, sig.return_type) for a, t in zip(args, sig.args, strict=True)
        )
        return getattr(builder, instruction)(x, y, flags=linear_flags(context))

    return lower


lower_builtin(operator.add, Cotangents, Cotangents)(_lower_sum("fadd"))
lower_builtin(operator.iadd, Cotangents, Cotangents)(_lower_sum("fadd"))
lower_builtin(operator.sub, Cotangents, Cotangents)(_lower_sum("fsub"))


@lower_builtin(operator.mul, Cotangents, types.Any)
def _lower_product(context, builder, sig, args):
    bar, factor = zip(sig.args, args, strict=True)
    return scaled(context, builder, sig.return_type, bar, factor)


@lower_builtin(operator.neg, Cotangents)
def _lower_negative(context, builder, sig, args):
    return negated(builder, args[0])


# -- seeds ----------------------------------------------------------------------------------------


def start_of(ty):
    """An adjoint before anything is added to it: an intrinsic that returns -0.0 in all lanes."""

    @intrinsic
    def start(typingctx):
        def codegen(context, builder, sig, args):
            return ir.Constant(vector_of(ty), [-0.0] * ty.n)

        return ty(), codegen

    return start


def _unit(ty, lane):
    """One in a lane, zero in the others."""
    return ir.Constant(vector_of(ty), [float(k == lane) for k in range(ty.n)])


@intrinsic
def unit_of_row(typingctx, seed, row):
    """The cotangents of the number of the result that has a row, as float64."""
    ty = Cotangents(types.float64, seed.n)

    def codegen(context, builder, sig, args):
        place = builder.sub(args[1], args[0])
        found = ir.Constant(vector_of(ty), [0.0] * ty.n)
        for lane in range(ty.n):
            is_here = builder.icmp_signed("==", place, place.type(lane))
            found = builder.select(is_here, _unit(ty, lane), found)
        return found

    return ty(seed, types.intp), codegen


@intrinsic
def row_after(typingctx, row, x):
    """The row after those of `x`, a number or an array."""

    def codegen(context, builder, sig, args):
        size = ir.IntType(64)(1)
        if isinstance(x, types.Array):
            size = context.make_array(x)(context, builder, args[1]).nitems
        return builder.add(args[0], size)

    return types.intp(types.intp, x), codegen


@intrinsic
def seed_array(typingctx, shadow, seed, row):
    """Add the cotangents of an array, whose first element has the given row, to its shadow."""

    def codegen(context, builder, sig, args):
        array = context.make_array(shadow)(context, builder, args[0])
        for lane in range(shadow.dtype.n):
            first = builder.add(args[1], ir.IntType(64)(lane))
            k = builder.sub(first, args[2])
            with builder.if_then(builder.icmp_unsigned("<", k, array.nitems)):
                _add_unit(context, builder, shadow, array, k, lane)
        return context.get_dummy_value()

    return types.void(shadow, seed, types.intp), codegen


def _add_unit(context, builder, ty, array, k, lane):
    """Add one to a lane of element `k` in C order."""
    counts = cgutils.unpack_tuple(builder, array.shape)
    indices = []
    for count in reversed(counts[1:]):
        indices.insert(0, builder.urem(k, count))
        k = builder.udiv(k, count)
    if counts:
        indices.insert(0, k)
    pointer = cgutils.get_item_pointer(context, builder, ty, array, indices)
    add_at(builder, ty, pointer, ty.dtype, _unit(ty.dtype, lane))


@intrinsic
def zero_like(typingctx, x):
    """The zero of the type of `x`."""

    def codegen(context, builder, sig, args):
        return context.get_constant_null(types.unliteral(x))

    return types.unliteral(x)(x), codegen
