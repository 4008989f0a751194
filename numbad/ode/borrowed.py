"""Arrays whose memory someone else owns: they look like other arrays, and copies of them count no references.

Counting, and keeping track of what to drop where an exception passes, would take most of the compile time
of a step, which hands a dozen arrays from function to function. Whoever borrows an array sees to it that the
owner outlives the borrowing.
"""

from numba.core import types
from numba.core.imputils import lower_cast
from numba.extending import models, register_model


class Borrowed(types.Array):
    """The type of an array that is borrowed; its values are laid out as those of `types.Array`."""

    def __init__(self, array):
        super().__init__(
            array.dtype,
            array.ndim,
            array.layout,
            not array.mutable,
            f"borrowed {array}",
            array.aligned,
        )

    @property
    def as_array(self):
        return types.Array(
            self.dtype, self.ndim, self.layout, not self.mutable, aligned=self.aligned
        )

    def unify(self, typingctx, other):
        return None if isinstance(other, Borrowed) else super().unify(typingctx, other)


@register_model(Borrowed)
class BorrowedModel(models.StructModel):
    """As Numba's model of arrays, but with nothing that owns memory."""

    def __init__(self, dmm, ty):
        ndim = ty.ndim
        members = [
            ("meminfo", types.voidptr),
            ("parent", types.voidptr),
            ("nitems", types.intp),
            ("itemsize", types.intp),
            ("data", types.CPointer(ty.dtype)),
            ("shape", types.UniTuple(types.intp, ndim)),
            ("strides", types.UniTuple(types.intp, ndim)),
        ]
        super().__init__(dmm, ty, members)


@lower_cast(Borrowed, types.Array)
def _as_array(context, builder, old, new, value):
    return value


def mapped(ty, leaf):
    """A type with `leaf(member)` for every member that is no tuple, within tuples too; laid out as it was."""
    if not isinstance(ty, types.BaseTuple):
        return leaf(ty)
    members = [mapped(member, leaf) for member in ty]
    if members == list(ty):
        return ty
    if isinstance(ty, types.NamedUniTuple):
        return types.NamedUniTuple(members[0], len(members), ty.instance_class)
    if isinstance(ty, types.BaseNamedTuple):
        return types.NamedTuple(members, ty.instance_class)
    return types.BaseTuple.from_types(members)


def borrowed_type(ty):
    """The type of what is borrowed."""
    return mapped(
        ty, lambda leaf: Borrowed(leaf.as_array) if isinstance(leaf, types.Array) else leaf
    )


def lender_type(ty):
    """The type of what was borrowed, as code outside of the solver knows it."""
    return mapped(ty, lambda leaf: leaf.as_array if isinstance(leaf, Borrowed) else leaf)
