"""What indices of arrays give."""

from numba.core import types

_BASIC = types.Integer, types.SliceType, types.EllipsisType, types.NoneType


def is_basic_index(ty):
    """Whether an index makes a view: ints, slices, an ellipsis, None."""
    members = ty.types if isinstance(ty, types.BaseTuple) else (ty,)
    return all(isinstance(types.unliteral(t), _BASIC) for t in members)
