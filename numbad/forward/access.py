"""What nopython code may ask of a dual number, and how one is made.

Each function works on plain floats too, so that generic code need not know what it runs on. Called
from Python, they act on plain numbers.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from . import dual as d


def _emit_tree(context, builder, ty, value, target, leaf):
    """Apply `leaf(type, value, target type)` to the scalars of a tuple, or to a scalar."""
    if isinstance(ty, types.BaseTuple):
        items = [
            _emit_tree(context, builder, t, builder.extract_value(value, i), u, leaf)
            for i, (t, u) in enumerate(zip(ty, target, strict=True))
        ]
        return context.make_tuple(builder, target, items)
    return leaf(ty, value, target)


def _map_type(ty, leaf):
    """The type with `leaf` applied to the scalar types of a tuple, or to a scalar type."""
    if isinstance(ty, types.BaseNamedTuple):
        return types.NamedTuple([_map_type(t, leaf) for t in ty], ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([_map_type(t, leaf) for t in ty])
    return leaf(types.unliteral(ty))


def map_types(ty, leaf):
    """As `_map_type`, with tuples of one type as Numba spells them."""
    mapped = _map_type(ty, leaf)
    if isinstance(mapped, types.NamedTuple) and len(set(mapped.types)) == 1:
        return types.NamedUniTuple(mapped.types[0], len(mapped.types), mapped.instance_class)
    return mapped


@intrinsic
def primal(typingctx, x):
    """The value without any partials: floats as they are, duals stripped of every level."""
    target = map_types(x, d.base_scalar)

    def codegen(context, builder, sig, args):
        def leaf(ty, value, _):
            while isinstance(ty, d.Dual):
                value, _partials = d.split(context, builder, ty, value)
                ty = ty.scalar
            return value

        return _emit_tree(context, builder, sig.args[0], args[0], target, leaf)

    return target(x), codegen


@intrinsic
def strip(typingctx, x):
    """The value of the outermost level; what holds no dual comes back as it is."""
    tag = max((t.tag for t in d.duals_in(x)), default=-1)

    def strip_type(ty):
        return ty.scalar if isinstance(ty, d.Dual) and ty.tag == tag else ty

    target = map_types(x, strip_type)

    def codegen(context, builder, sig, args):
        def leaf(ty, value, target):
            return value if ty == target else d.split(context, builder, ty, value)[0]

        return _emit_tree(context, builder, sig.args[0], args[0], target, leaf)

    return target(x), codegen


@intrinsic
def tangent_of(typingctx, x):
    """The dual `x - strip(x)`: value zero, partials of the outermost level; 0.0 for a float."""
    ty = types.unliteral(x)

    def codegen(context, builder, sig, args):
        if not isinstance(ty, d.Dual):
            return context.get_constant_null(sig.return_type)
        _, partials = d.split(context, builder, ty, args[0])
        return d.build(context, builder, ty, context.get_constant_null(ty.scalar), partials)

    return (ty if isinstance(ty, d.Dual) else types.float64)(x), codegen


def _leaf_scalars(ty):
    """The scalar types within arrays, tuples and scalars; other types contribute none."""
    if isinstance(ty, types.Array):
        yield from _leaf_scalars(ty.dtype)
    elif isinstance(ty, types.BaseTuple):
        for member in ty:
            yield from _leaf_scalars(member)
    elif isinstance(ty, types.Number | d.Dual):
        yield types.unliteral(ty)


def _join_all(typingctx, start, tys):
    joined = start
    for ty in tys:
        for leaf in _leaf_scalars(ty):
            joined = leaf if joined is None else d.join(typingctx, joined, leaf)
            if joined is None:
                raise TypingError(f"no common scalar type among {start} and {tys}")
    return joined


@intrinsic
def promote_like(typingctx, x, *others):
    """`x`, a scalar or (named) tuple of scalars, in the scalar type that unifies it with `others`."""

    def leaf(ty):
        return _join_all(typingctx, ty, others)

    target = map_types(x, leaf)

    def codegen(context, builder, sig, args):
        def cast(ty, value, target):
            return context.cast(builder, value, ty, target)

        return _emit_tree(context, builder, sig.args[0], args[0], target, cast)

    return target(x, types.StarArgTuple.from_types(others)), codegen


@intrinsic
def dtype_like(typingctx, *xs):
    """The dtype that unifies the scalars of numbers, arrays and tuples; float64 where all are ints."""
    scalar = _join_all(typingctx, None, xs)
    if not isinstance(scalar, types.Float | types.Complex | d.Dual):
        scalar = types.float64

    def codegen(context, builder, sig, args):
        return context.get_dummy_value()

    return types.DType(scalar)(types.StarArgTuple.from_types(xs)), codegen


@intrinsic(prefer_literal=True)
def unit(typingctx, x, i, n, tag):
    """The dual of value `x` whose partial number `i` is one; all zero unless 0 <= i < n."""
    scalar = types.unliteral(x)
    dual = d.Dual(scalar, n.literal_value, tag.literal_value)

    def codegen(context, builder, sig, args):
        value = context.cast(builder, args[0], sig.args[0], scalar)
        index = context.cast(builder, args[1], sig.args[1], types.int64)
        one = context.get_constant_generic(builder, scalar, 1.0)
        partials = d.zero_partials(context, dual)
        for k in range(dual.n):
            here = builder.icmp_signed("==", index, ir.Constant(index.type, k))
            zero = d.get_partial(builder, dual, partials, k)
            chosen = builder.select(here, one, zero)
            partials = d.set_partial(builder, dual, partials, chosen, k)
        return d.build(context, builder, dual, value, partials)

    return dual(x, types.int64, n, tag), codegen


@intrinsic(prefer_literal=True)
def pair(typingctx, x, dx, tag):
    """The dual with one partial, `x + dx * eps`, at level `tag`."""
    scalar = d.join_tangent(typingctx, x, dx)
    dual = d.Dual(scalar, 1, tag.literal_value)

    def codegen(context, builder, sig, args):
        value = context.cast(builder, args[0], sig.args[0], scalar)
        tangent = context.cast(builder, args[1], sig.args[1], scalar)
        partials = d.set_partial(builder, dual, d.zero_partials(context, dual), tangent, 0)
        return d.build(context, builder, dual, value, partials)

    return dual(x, dx, tag), codegen


@intrinsic
def partial(typingctx, x, i):
    """Partial number `i` (0 <= i < n, not checked) of the outermost level of a dual."""

    def codegen(context, builder, sig, args):
        _, partials = d.split(context, builder, x, args[0])
        index = context.cast(builder, args[1], sig.args[1], types.int32)
        if isinstance(x.scalar, types.Float):
            return builder.extract_element(partials, index)
        slot = cgutils.alloca_once_value(builder, partials)
        return builder.load(cgutils.gep_inbounds(builder, slot, 0, index))

    return x.scalar(x, types.int64), codegen


@intrinsic(prefer_literal=True)
def assemble_scalar(typingctx, value, partials, tag):
    """The dual of level `tag` from a scalar value and a tuple of its `n` partials."""
    scalar = _join_all(typingctx, types.unliteral(value), [partials])
    own = d.base_scalar(types.unliteral(value))
    if isinstance(own, types.Float) and isinstance(d.base_scalar(scalar), types.Float):
        scalar = d.with_base(scalar, own)  # a derivative makes no float32 wider
    dual = d.Dual(scalar, len(partials), tag.literal_value)

    def codegen(context, builder, sig, args):
        item = context.cast(builder, args[0], sig.args[0], scalar)
        out = d.zero_partials(context, dual)
        for i, ty in enumerate(sig.args[1]):
            p = context.cast(builder, builder.extract_value(args[1], i), ty, scalar)
            out = d.set_partial(builder, dual, out, p, i)
        return d.build(context, builder, dual, item, out)

    return dual(value, partials, tag), codegen
