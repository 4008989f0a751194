"""Arrays by their addresses alone, of which copies count no references.

A step that hands a dozen arrays from function to function would else spend most of its compilation on
counting. Whoever lends an array keeps it alive.
"""

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from numbad.ode.borrowed import Borrowed, mapped


class Lent(types.Type):
    """An array that is lent; one that is not contiguous has strides besides."""

    def __init__(self, array):
        self.array = array
        super().__init__(f"Lent({array})")

    @property
    def key(self):
        return self.array

    @property
    def dtype(self):
        return self.array.dtype


@register_model(Lent)
class LentModel(models.StructModel):
    def __init__(self, dmm, ty):
        sizes = types.UniTuple(types.intp, ty.array.ndim)
        members = [("data", types.CPointer(ty.array.dtype)), ("shape", sizes)]
        if ty.array.layout != "C":
            members.append(("strides", sizes))
        super().__init__(dmm, ty, members)


def lent_type(ty):
    """The type of what `lend` gives."""
    return mapped(ty, lambda leaf: Lent(leaf.as_array) if isinstance(leaf, types.Array) else leaf)


def _type_of_returned(ty):
    return mapped(ty, lambda leaf: Borrowed(leaf.array) if isinstance(leaf, Lent) else leaf)


def converted(context, builder, old, new, value):
    if isinstance(old, types.BaseTuple):
        members = [
            converted(context, builder, old[i], new[i], builder.extract_value(value, i))
            for i in range(len(old))
        ]
        return context.make_tuple(builder, new, members)
    if old == new:
        return value
    if isinstance(new, Lent):
        array = make_array(old)(context, builder, value)
        struct = context.make_helper(builder, new)
        struct.data, struct.shape = array.data, array.shape
        if new.array.layout != "C":
            struct.strides = array.strides
        return struct._getvalue()
    return _returned_array(context, builder, old, value)


def _returned_array(context, builder, ty, value):
    """The LLVM value of the array behind one of type `Lent`."""
    struct = context.make_helper(builder, ty, value)
    size = context.get_abi_sizeof(context.get_data_type(ty.array.dtype))
    itemsize = context.get_constant(types.intp, size)
    shape = [builder.extract_value(struct.shape, i) for i in range(ty.array.ndim)]
    if ty.array.layout == "C":
        strides = [itemsize] if shape else []
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
    else:
        strides = [builder.extract_value(struct.strides, i) for i in range(ty.array.ndim)]
    array = make_array(ty.array)(context, builder)
    populate_array(array, struct.data, shape, strides, itemsize=itemsize, meminfo=None, parent=None)
    return array._getvalue()


@intrinsic
def lend(typingctx, given):
    """An array, or a tuple of arrays and other things, with every array lent."""
    result = lent_type(given)

    def codegen(context, builder, signature, arguments):
        value = converted(context, builder, given, result, arguments[0])
        return impl_ret_borrowed(context, builder, result, value)

    return result(given), codegen


@intrinsic
def returned(typingctx, given):
    """What was lent."""
    result = _type_of_returned(given)

    def codegen(context, builder, signature, arguments):
        value = converted(context, builder, given, result, arguments[0])
        return impl_ret_borrowed(context, builder, result, value)

    return result(given), codegen


def emitted_on_lent(define, typingctx, *given):
    """What an intrinsic returns for arguments of which any may be lent, from its definition for arrays."""
    wanted = tuple(map(_type_of_returned, given))
    inner, emit = define(typingctx, *wanted)
    passed = tuple(
        ty if new == old else old for ty, old, new in zip(inner.args, given, wanted, strict=True)
    )

    def codegen(context, builder, signature, arguments):
        values = [
            converted(context, builder, old, new, value)
            for old, new, value in zip(passed, inner.args, arguments, strict=True)
        ]
        return emit(context, builder, inner, values)

    return inner.return_type(*passed), codegen
