"""The types of shadows: where the adjoints of an array, a list or an instance lie.

An array's is an array, a list's a vector of the arena, an instance's a struct of it: floats for floats,
shadows for arrays, lists and nested instances. `dual`: the dual number that floats are beside dual
numbers, or what makes of the type of a number that of its adjoints.
"""

from functools import cache

from numba.core import types

from ..forward.retyped import in_duals
from ..ir.leaves import fields_of, leaves
from .arena import ShadowStruct, ShadowVector


def _number(ty, dual):
    if dual is None:
        return ty
    return in_duals(ty, dual) if isinstance(dual, types.Type) else dual(ty)


# -- members of lists --------------------------------------------------------------------------


def element_type(ty, dual=None):
    """The type of the members of a list's shadow; None where it has no place for them."""
    found = leaves(ty.dtype)
    parts = [_part_type(leaf, dual) for leaf in found]
    if not parts or None in parts:
        return None
    return parts[0] if is_plain(found) else types.BaseTuple.from_types(parts)


def is_plain(found):
    """Whether a member of a list, which has these leaves, is its only leaf."""
    return len(found) == 1 and not found[0].path


def _part_type(leaf, dual):
    if leaf.kind == "array":
        return types.Array(_number(leaf.type.dtype, dual), leaf.type.ndim, "A")
    return shadow_type(leaf, dual)


# -- fields of instances -----------------------------------------------------------------------


def shadow_type(leaf, dual=None):
    """The type of the shadow of a leaf, or of its adjoint; None where a field cannot have one."""
    if leaf.kind == "scalar":
        return _number(leaf.type, dual)
    if leaf.kind == "array" and type(leaf.type) is types.Array and leaf.type.layout != "F":
        return types.Array(_number(leaf.type.dtype, dual), leaf.type.ndim, leaf.type.layout)
    if leaf.kind == "list":
        inner = element_type(leaf.type, dual)
        return inner and ShadowVector(inner)
    if leaf.kind == "object" and fields_of(leaf.type) is not None:
        return struct_type(leaf.type, dual)
    return None


def field_leaves(ty, name):
    """The leaves of an instance's field; None if one of them has no shadow."""
    found = leaves(fields_of(ty)[name])
    return None if any(shadow_type(leaf) is None for leaf in found) else found


def label(name, path):
    """The name in the shadow of a place in a field."""
    return ".".join([name, *map(str, path)])


@cache
def struct_type(ty, dual=None):
    """The `ShadowStruct` of an instance type: the leaves of all fields that can have one."""
    return ShadowStruct(
        (label(name, leaf.path), shadow_type(leaf, dual))
        for name in fields_of(ty)
        for leaf in field_leaves(ty, name) or ()
    )
