"""A number for each of `n` lanes as a Numba type: one SIMD vector where the code has a scalar.

A lane is one evaluation of a function; the lanes of a block go through the function's code together
(Karrenberg & Hack, "Whole-function vectorization", CGO 2011; "varying" is the word of Pharr & Mark,
"ispc: A SPMD compiler for high-performance CPU programming", InPar 2012). A number that is the same
in all lanes keeps its own type, and converts to a `Varying` where it meets one. No conversion leads
back, and no `Varying` is a condition that a branch takes: what would mix lanes does not compile.
"""

from llvmlite import ir
from numba.core import types
from numba.core.callconv import create_error_model
from numba.core.datamodel import default_manager, models
from numba.core.imputils import lower_cast, lower_constant
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, register_model

_i32 = ir.IntType(32)


class Varying(types.Type):
    """`n` numbers of type `scalar`: a float, or a boolean, which makes it a mask."""

    is_number = True  # for `ir.typing`: its arithmetic is the same wherever it occurs

    def __init__(self, scalar, n):
        self.scalar, self.n = scalar, n
        super().__init__(f"Varying({scalar}, {n})")

    @property
    def key(self):
        return self.scalar, self.n

    @property
    def underlying_float(self):
        """The type of literal floats beside it, as for complex numbers."""
        return self.scalar

    @property
    def is_mask(self):
        return isinstance(self.scalar, types.Boolean)

    def can_convert_from(self, typingctx, other):
        """A number in all lanes, where that loses nothing."""
        if isinstance(other, Varying):
            if other.n != self.n:
                return None
            other = other.scalar
        if not isinstance(other, types.Integer | types.Float | types.Boolean):
            return None
        if isinstance(other, types.Boolean) != self.is_mask:
            return None
        conversion = typingctx.can_convert(other, self.scalar)
        return None if conversion is None else max(conversion, Conversion.promote)

    def unify(self, typingctx, other):
        """The lanes of both types."""
        if isinstance(other, Varying):
            if other.n != self.n:
                return None
            other = other.scalar
        if not isinstance(other, types.Integer | types.Float | types.Boolean):
            return None
        if isinstance(other, types.Boolean) != self.is_mask:
            return None
        joined = typingctx.unify_pairs(self.scalar, types.unliteral(other))
        return Varying(joined, self.n) if isinstance(joined, type(self.scalar)) else None


@register_model(Varying)
class VaryingModel(models.DataModel):
    """`<n x T>` as a value; `[n x T]` in memory, where no alignment beyond that of a `T` holds."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type)
        self._item = dmm.lookup(fe_type.scalar)

    def get_value_type(self):
        return ir.VectorType(self._item.get_value_type(), self._fe_type.n)

    def get_data_type(self):
        return ir.ArrayType(self._item.get_data_type(), self._fe_type.n)

    def as_data(self, builder, value):
        data = ir.Constant(self.get_data_type(), ir.Undefined)
        for k in range(self._fe_type.n):
            item = self._item.as_data(builder, lane(builder, value, k))
            data = builder.insert_value(data, item, k)
        return data

    def from_data(self, builder, data):
        items = [
            self._item.from_data(builder, builder.extract_value(data, k))
            for k in range(self._fe_type.n)
        ]
        return gathered(builder, items)

    def load_from_data_pointer(self, builder, ptr, align=None):
        if self._fe_type.is_mask:
            return self.from_data(builder, builder.load(ptr))
        pointer = builder.bitcast(ptr, self.get_value_type().as_pointer())
        return builder.load(pointer, align=align or self._fe_type.scalar.bitwidth // 8)

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        return value

    def get_return_type(self):
        return self.get_data_type()

    def as_return(self, builder, value):
        return self.as_data(builder, value)

    def from_return(self, builder, value):
        return self.from_data(builder, value)


# -- for code that emits LLVM -----------------------------------------------------------------------


def vector_of(ty):
    """The LLVM type of the lanes."""
    return default_manager.lookup(ty).get_value_type()


def lane(builder, vector, k):
    """Lane number `k` (a Python int)."""
    return builder.extract_element(vector, _i32(k))


def gathered(builder, items):
    """A vector of these lanes."""
    vector = ir.Constant(ir.VectorType(items[0].type, len(items)), ir.Undefined)
    for k, item in enumerate(items):
        vector = builder.insert_element(vector, item, _i32(k))
    return vector


def splat(builder, value, n):
    """A vector with one number in all lanes."""
    vector = ir.Constant(ir.VectorType(value.type, n), ir.Undefined)
    first = builder.insert_element(vector, value, _i32(0))
    return builder.shuffle_vector(first, vector, ir.Constant(ir.VectorType(_i32, n), [0] * n))


def any_lane(builder, mask):
    """Whether a mask holds in some lane."""
    bits = builder.bitcast(mask, ir.IntType(mask.type.count))
    return builder.icmp_unsigned("!=", bits, bits.type(0))


def without_errors(context):
    """The target with the error model that raises nothing."""
    return context.subtarget(error_model=create_error_model("numpy", context))


@lower_cast(types.Number, Varying)
@lower_cast(types.Boolean, Varying)
def _cast_number(context, builder, source, target, value):
    value = context.cast(builder, value, source, target.scalar)
    return splat(builder, value, target.n)


@lower_cast(types.IntegerLiteral, Varying)
@lower_cast(types.BooleanLiteral, Varying)
def _cast_literal(context, builder, source, target, value):
    number = context.get_constant(target.scalar, source.literal_value)
    return splat(builder, number, target.n)


@lower_constant(Varying)
def _constant(context, builder, ty, pyval):
    number = context.get_constant_generic(builder, ty.scalar, pyval)
    return ir.Constant(vector_of(ty), [number] * ty.n)  # there may be no builder


@lower_cast(Varying, Varying)
def _cast_lanes(context, builder, source, target, value):
    if source.scalar == target.scalar:
        return value
    if isinstance(source.scalar, types.Boolean):
        return builder.uitofp(value, vector_of(target))
    widen = source.scalar.bitwidth < target.scalar.bitwidth
    return getattr(builder, "fpext" if widen else "fptrunc")(value, vector_of(target))


# -- masks and choice, in the code of a function whose branches are gone -------------------------------


def _lanes_of(*tys):
    return next((ty.n for ty in tys if isinstance(ty, Varying)), None)


@intrinsic
def select(typingctx, mask, x, y):
    """`x` where the mask holds, else `y`: a number, or one for each lane."""
    joined = typingctx.unify_types(types.unliteral(x), types.unliteral(y))
    n = _lanes_of(mask)
    if joined is None:
        return None
    if n is not None and not isinstance(joined, Varying):
        if not isinstance(joined, types.Float | types.Boolean):
            return None
        joined = Varying(joined, n)

    def codegen(context, builder, sig, args):
        values = [
            context.cast(builder, v, t, joined) for v, t in zip(args[1:], sig.args[1:], strict=True)
        ]
        return builder.select(args[0], *values)

    return joined(mask, x, y), codegen


@intrinsic
def guarded(typingctx, mask, x, harmless):
    """`x` where the mask holds; in the other lanes a number that no function has trouble with."""
    ty, n = types.unliteral(x), _lanes_of(mask)
    if n is not None and not isinstance(ty, Varying):
        ty = Varying(ty, n)

    def codegen(context, builder, sig, args):
        value = context.cast(builder, args[1], sig.args[1], ty)
        instead = context.cast(builder, args[2], sig.args[2], getattr(ty, "scalar", ty))
        if isinstance(ty, Varying):
            instead = splat(builder, instead, ty.n)
        return builder.select(args[0], value, instead)

    return ty(mask, x, harmless), codegen


@intrinsic
def both(typingctx, first, second):
    """The conjunction of two masks."""
    return _joined("and_", first, second)


@intrinsic
def either(typingctx, first, second):
    """The disjunction of two masks."""
    return _joined("or_", first, second)


def _joined(instruction, first, second):
    """What an intrinsic of two masks returns."""
    n = _lanes_of(first, second)
    ty = types.boolean if n is None else Varying(types.boolean, n)

    def codegen(context, builder, sig, args):
        masks = [context.cast(builder, v, t, ty) for v, t in zip(args, sig.args, strict=True)]
        return getattr(builder, instruction)(*masks)

    return ty(first, second), codegen


@intrinsic
def other(typingctx, mask):
    """Where a mask does not hold."""

    def codegen(context, builder, sig, args):
        return builder.not_(args[0])

    return mask(mask), codegen


@intrinsic
def anywhere(typingctx, mask):
    """Whether a mask holds in some lane: the same for all of them."""

    def codegen(context, builder, sig, args):
        return any_lane(builder, args[0]) if isinstance(mask, Varying) else args[0]

    return types.boolean(mask), codegen


def start_of_lanes(ty):
    """An intrinsic `()`: zero in all lanes."""

    @intrinsic
    def start(typingctx):
        def codegen(context, builder, sig, args):
            return ir.Constant(vector_of(ty), [0.0] * ty.n)

        return ty(), codegen

    return start
