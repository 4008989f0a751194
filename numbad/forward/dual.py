"""The dual number as a Numba type: a value and `n` partial derivatives, with a nesting level.

`Dual(scalar, n, tag)` holds a value of type `scalar` (a float, a complex number, or a dual number of
a lower tag) and `n` partials of the same type. The tag is the level of the operator that seeded it:
arithmetic between two levels treats the lower one as part of the value of the higher one, so that
nested operators never mix their perturbations (Siskind & Pearlmutter, "Perturbation confusion and
referential transparency", 2005).
"""

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast, lower_constant
from numba.core.typeconv import Conversion
from numba.core.typing import signature
from numba.extending import box, register_model

from ..ir.leaves import fields_of


class Dual(types.Hashable):
    """A value and `n` partials over `scalar`; `tag` is the nesting level."""

    is_number = True  # for `ir.typing`: its arithmetic is the same wherever it occurs

    def __init__(self, scalar, n, tag):
        self.scalar = scalar
        self.n = n
        self.tag = tag
        super().__init__(f"Dual({scalar}, {n}, {tag})")

    @property
    def key(self):
        return self.scalar, self.n, self.tag

    @property
    def bitwidth(self):
        """In memory, where nothing lies between a value and its partials."""
        return self.scalar.bitwidth * (1 + self.n)

    def can_convert_from(self, typingctx, other):
        """int, float, and duals of a lower level convert to a dual whose partials are zero."""
        if isinstance(other, types.Number | types.Boolean):
            return _widening(typingctx, other, self.scalar)
        if isinstance(other, Dual):
            if other.tag == self.tag:
                same = other.n == self.n
                return _widening(typingctx, other.scalar, self.scalar) if same else None
            if other.tag < self.tag:
                return _widening(typingctx, other, self.scalar)
        return None

    def unify(self, typingctx, other):
        if isinstance(other, types.Number | types.Boolean | Dual):
            return join(typingctx, self, other)
        return None


def is_float_array(ty):
    return isinstance(ty, types.Array) and isinstance(ty.dtype, types.Float | types.Complex)


def is_dual_array(ty):
    return isinstance(ty, types.Array) and isinstance(ty.dtype, Dual)


class Partials(types.Type):
    """The `n` partials of a dual: an LLVM vector in registers, an array in memory."""

    def __init__(self, scalar, n):
        self.scalar = scalar
        self.n = n
        super().__init__(f"Partials({scalar}, {n})")

    @property
    def key(self):
        return self.scalar, self.n


class DualView(types.Type):
    """An array as one of duals, whose partials lie elsewhere or nowhere: see `views.py`.

    `array` is its type: of floats, or a view itself. No function for arrays takes it for one.
    """

    def __init__(self, array, dual, name):
        self.array, self.dual = array, dual
        self.ndim = array.ndim
        super().__init__(f"{name}({array}, {dual.n}, {dual.tag})")

    @property
    def dtype(self):
        return self.dual


def _widening(typingctx, source, target):
    """The conversion from one scalar type to another, as a promotion where it loses nothing."""
    if not isinstance(target, Dual) and source != target:
        drops_imaginary = isinstance(source, types.Complex) and not isinstance(
            target, types.Complex
        )
        if isinstance(source, Dual) or drops_imaginary:
            return None
    conversion = typingctx.can_convert(source, target)
    return None if conversion is None else max(conversion, Conversion.promote)


def join(typingctx, first, second):
    """The smallest scalar type that both convert to, or None."""
    if isinstance(first, types.Literal):
        first = types.unliteral(first)
    if isinstance(second, types.Literal):
        second = types.unliteral(second)
    tags = [t.tag if isinstance(t, Dual) else -1 for t in (first, second)]
    if max(tags) < 0:
        return typingctx.unify_pairs(first, second)
    if tags[0] < tags[1]:
        first, second = second, first
    if tags[0] == tags[1]:
        if first.n != second.n:
            return None
        second = second.scalar
    inner = join(typingctx, first.scalar, second)
    return None if inner is None else Dual(inner, first.n, first.tag)


def join_tangent(typingctx, primal, tangent):
    """The scalar type of a dual from a primal and its tangent: a tangent makes no float32 wider."""
    primal, tangent = types.unliteral(primal), types.unliteral(tangent)
    joined = join(typingctx, primal, tangent)
    if joined is None or isinstance(base_scalar(joined), types.Complex):
        return joined
    return with_base(joined, base_scalar(primal))


def base_scalar(ty):
    """The float or complex type at the bottom of a (nested) dual."""
    while isinstance(ty, Dual):
        ty = ty.scalar
    return ty


def with_base(ty, base):
    """The dual type `ty` with another float or complex type at its bottom."""
    if isinstance(ty, Dual):
        return Dual(with_base(ty.scalar, base), ty.n, ty.tag)
    return base


def primal_type(ty):
    """A type without dual numbers."""
    if isinstance(ty, Dual):
        return base_scalar(ty)
    if isinstance(ty, types.ListType):
        return types.ListType(primal_type(ty.item_type))
    if isinstance(ty, types.Array | types.List):
        item = primal_type(ty.dtype)
        return ty if item == ty.dtype else ty.copy(dtype=item)
    if isinstance(ty, types.DictType):
        return types.DictType(primal_type(ty.key_type), primal_type(ty.value_type))
    if isinstance(ty, types.DType):
        return types.DType(primal_type(ty.dtype))
    if isinstance(ty, types.BaseNamedTuple):
        members = [primal_type(t) for t in ty.types]
        if members and len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), ty.instance_class)
        return types.NamedTuple(members, ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([primal_type(t) for t in ty.types])
    if isinstance(ty, types.Optional):
        return types.Optional(primal_type(ty.type))
    if isinstance(ty, DualView):
        return primal_type(ty.array)
    if isinstance(ty, types.Record):
        return getattr(ty, "root", ty)  # see `dual_records.py`
    if isinstance(ty, types.ClassInstanceType):
        return getattr(ty.class_type, "root", ty)  # see `retyped.py`
    if isinstance(ty, types.StructRef):
        return type(ty)(tuple((name, primal_type(t)) for name, t in ty.field_dict.items()))
    return ty


def duals_in(ty):
    """Every dual type that occurs in a type: in arrays, tuples, lists and optionals too."""
    if isinstance(ty, Dual):
        yield ty
    elif isinstance(ty, DualView):
        yield ty.dual
    elif isinstance(ty, types.Array | types.Optional):
        yield from duals_in(ty.dtype if isinstance(ty, types.Array) else ty.type)
    elif isinstance(ty, types.BaseTuple):
        for member in ty:
            yield from duals_in(member)
    elif isinstance(ty, types.Sequence | types.ListType | types.Set):
        yield from duals_in(ty.dtype)
    elif isinstance(ty, types.DictType):
        yield from duals_in(ty.key_type)
        yield from duals_in(ty.value_type)
    elif isinstance(ty, types.DType):
        yield from duals_in(ty.dtype)
    elif isinstance(ty, types.Record):
        for _, field in ty.members:
            yield from duals_in(field)
    else:
        for field in (fields_of(ty) or {}).values():
            yield from duals_in(field)


def top_dual(*tys):
    """The dual type of the outermost level within types; None where there is none."""
    return max(
        (dual for ty in tys for dual in duals_in(ty)), key=lambda dual: dual.tag, default=None
    )


def is_of_one_level(*tys):
    """Whether the duals within types are of the same level, over plain numbers."""
    levels = {(dual.tag, isinstance(dual.scalar, Dual)) for ty in tys for dual in duals_in(ty)}
    return len(levels) == 1 and not levels.pop()[1]


@register_model(Dual)
class DualModel(models.StructModel):
    """A packed struct, for which LLVM assumes no alignment.

    Numba keeps whole values of any type on the heap, in the payload of a `structref` say, in memory
    that is aligned to 8 or 16 bytes, where a vector of four floats would need 32.
    """

    def __init__(self, dmm, fe_type):
        members = [("value", fe_type.scalar), ("partials", Partials(fe_type.scalar, fe_type.n))]
        super().__init__(dmm, fe_type, members)

    def get_value_type(self):
        if self._value_type is None:
            items = [model.get_value_type() for model in self._models]
            self._value_type = ir.LiteralStructType(items, packed=True)
        return self._value_type


@register_model(Partials)
class PartialsModel(models.DataModel):
    """`<n x float>` as a value; `[n x float]` in memory, where no alignment beyond a float's holds."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type)
        self._item = dmm.lookup(fe_type.scalar)
        self._vector = isinstance(fe_type.scalar, types.Float)

    def get_value_type(self):
        item = self._item.get_value_type()
        return (ir.VectorType if self._vector else ir.ArrayType)(item, self._fe_type.n)

    def get_data_type(self):
        return ir.ArrayType(self._item.get_data_type(), self._fe_type.n)

    def as_data(self, builder, value):
        data = ir.Constant(self.get_data_type(), ir.Undefined)
        for i in range(self._fe_type.n):
            item = self._item.as_data(builder, self._extract(builder, value, i))
            data = builder.insert_value(data, item, i)
        return data

    def from_data(self, builder, data):
        value = ir.Constant(self.get_value_type(), ir.Undefined)
        for i in range(self._fe_type.n):
            item = self._item.from_data(builder, builder.extract_value(data, i))
            value = self._insert(builder, value, item, i)
        return value

    def load_from_data_pointer(self, builder, ptr, align=None):
        if not self._vector:
            return self.from_data(builder, builder.load(ptr))
        vector = self.get_value_type()
        return builder.load(
            builder.bitcast(ptr, vector.as_pointer()),
            align=align or self._fe_type.scalar.bitwidth // 8,
        )

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        return value

    def as_return(self, builder, value):
        return self.as_data(builder, value)

    def from_return(self, builder, value):
        return self.from_data(builder, value)

    def _extract(self, builder, value, i):
        if self._vector:
            return builder.extract_element(value, ir.Constant(ir.IntType(32), i))
        return builder.extract_value(value, i)

    def _insert(self, builder, value, item, i):
        if self._vector:
            return builder.insert_element(value, item, ir.Constant(ir.IntType(32), i))
        return builder.insert_value(value, item, i)


# -- building and taking apart, for code that emits LLVM --------------------------------------


def split(context, builder, ty, dual):
    """The value and the partials of a dual, as LLVM values."""
    return builder.extract_value(dual, 0), builder.extract_value(dual, 1)


def build(context, builder, ty, value, partials):
    """A dual from its value and partials, as LLVM values."""
    dual = ir.Constant(context.get_value_type(ty), ir.Undefined)
    return builder.insert_value(builder.insert_value(dual, value, 0), partials, 1)


def zero_partials(context, ty):
    """The partials of a constant."""
    return ir.Constant(context.get_value_type(Partials(ty.scalar, ty.n)), None)


def get_partial(builder, ty, partials, i):
    """Partial number `i` (a Python int)."""
    if isinstance(ty.scalar, types.Float):
        return builder.extract_element(partials, ir.Constant(ir.IntType(32), i))
    return builder.extract_value(partials, i)


def set_partial(builder, ty, partials, item, i):
    """The partials with number `i` (a Python int) replaced."""
    if isinstance(ty.scalar, types.Float):
        return builder.insert_element(partials, item, ir.Constant(ir.IntType(32), i))
    return builder.insert_value(partials, item, i)


def map_partials(context, builder, source, target, partials, cast):
    """Partials of type `source` turned one by one into those of `target` by `cast`."""
    out = zero_partials(context, target)
    for i in range(source.n):
        out = set_partial(builder, target, out, cast(get_partial(builder, source, partials, i)), i)
    return out


@lower_cast(types.Number, Dual)
@lower_cast(types.Boolean, Dual)
def cast_number(context, builder, source, target, value):
    value = context.cast(builder, value, source, target.scalar)
    return build(context, builder, target, value, zero_partials(context, target))


@lower_cast(types.IntegerLiteral, Dual)
def cast_literal(context, builder, source, target, value):
    plain = types.unliteral(source)
    return cast_number(
        context, builder, plain, target, context.get_constant(plain, source.literal_value)
    )


@lower_cast(types.Array, Dual)
def cast_element(context, builder, source, target, array):
    """The element of an array without axes, as Numba's own casts of such arrays to numbers."""
    element = context.compile_internal(
        builder, lambda a: a[()], signature(source.dtype, source), [array]
    )
    return context.cast(builder, element, source.dtype, target)


@lower_cast(Dual, Dual)
def cast_dual(context, builder, source, target, dual):
    if source.tag < target.tag:
        value = context.cast(builder, dual, source, target.scalar)
        return build(context, builder, target, value, zero_partials(context, target))
    value, partials = split(context, builder, source, dual)

    def cast(item):
        return context.cast(builder, item, source.scalar, target.scalar)

    partials = map_partials(context, builder, source, target, partials, cast)
    return build(context, builder, target, cast(value), partials)


@lower_constant(Dual)
def constant_dual(context, builder, ty, pyval):
    value = context.get_constant_generic(builder, ty.scalar, pyval)
    return build(context, builder, ty, value, zero_partials(context, ty))


@box(Dual)
def box_dual(typ, obj, c):
    """A dual number never reaches Python: whatever tries ends in an exception."""
    c.pyapi.err_set_string(
        "PyExc_TypeError", "a dual number cannot leave compiled code; please report this to numbad"
    )
    return c.context.get_constant_null(types.pyobject)


@lower_builtin("print_item", Dual)
def print_dual(context, builder, sig, args):
    """`print` shows the value."""
    (ty,), (value,) = sig.args, args
    while isinstance(ty, Dual):
        value, _ = split(context, builder, ty, value)
        ty = ty.scalar
    show = context.get_function("print_item", signature(types.none, ty))
    return show(builder, [value])
