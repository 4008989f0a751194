"""Where the floats of a value are: a type seen as a tree, and its leaves.

A scalar is one leaf; a tuple has those of its members; an array, a list or an object is one leaf, a
*handle*: a reference to memory, which several names may share.
"""

from functools import cache
from typing import NamedTuple

from numba.core import types
from numba.core.datamodel import default_manager
from numba.core.datamodel.models import OpaqueModel


class Leaf(NamedTuple):
    """A place in a value: the member numbers that lead there, what is there, and its type."""

    path: tuple
    kind: str  # "scalar", "array", "list", "object", "record" or "opaque"
    type: types.Type


HANDLES = ("array", "list", "object", "record")

_CONSTANT = (
    *(types.Integer, types.Boolean, types.NoneType, types.Callable, types.Module, types.DType),
    *(types.UnicodeType, types.UnicodeCharSeq, types.Bytes, types.ByteArray, types.SliceType),
    *(types.RangeType, types.RangeIteratorType, types.NPDatetime, types.NPTimedelta),
    *(
        types.EnumMember,
        types.EnumClass,
        types.TypeRef,
        types.ExceptionClass,
        types.ExceptionInstance,
    ),
    *(types.NumPyRandomGeneratorType, types.NumPyRandomBitGeneratorType, types.Phantom),
    *(types.NumpyNdIndexType, types.EllipsisType, types.Undefined, types.FunctionType),
    *(types.ExternalFunction, types.ClassType, types.MemInfoPointer),
)


@cache
def leaves(ty):
    """The leaves of a type; `()` for what carries no float."""
    ty = types.unliteral(ty) if ty is not None else None
    if ty is None:
        return ()
    if isinstance(ty, types.Optional):
        return leaves(ty.type)
    if isinstance(ty, types.Omitted):
        return ()
    if isinstance(ty, types.Float | types.Complex):
        return (Leaf((), "scalar", ty),)
    if isinstance(ty, types.BaseTuple):
        return tuple(
            Leaf((k, *leaf.path), leaf.kind, leaf.type)
            for k, member in enumerate(ty.types)
            for leaf in leaves(member)
        )
    kind = _handle(ty)
    if kind is not None:
        return (Leaf((), kind, ty),) if kind else ()
    if isinstance(ty, _CONSTANT) or _iterates_constants(ty) or _is_all_type(ty):
        return ()
    return (Leaf((), "opaque", ty),)


def _is_all_type(ty):
    """Whether a type of others has no data: all that a value says is of which type it is."""
    if not isinstance(ty, types.Dummy) or isinstance(ty, types.Opaque | types.PyObject):
        return False
    if type(ty).__module__.partition(".")[0] in ("numba", "numbad"):
        return False
    return isinstance(default_manager.lookup(ty), OpaqueModel)


def fields_of(ty):
    """The types of the fields of an instance, by name; None for what is no instance."""
    if isinstance(ty, types.ClassInstanceType):
        return ty.struct
    return ty.field_dict if isinstance(ty, types.StructRef) else None


def _handle(ty):
    """The kind of a handle; "" for a container without floats; None for what is no handle."""
    if isinstance(ty, types.Array):
        return "array" if leaves(ty.dtype) else ""
    if isinstance(ty, types.Record):
        return "record" if any(leaves(f.type) for f in ty.fields.values()) else ""
    if isinstance(ty, types.NestedArray):
        return "array" if leaves(ty.dtype) else ""
    if isinstance(ty, types.List | types.ListType):
        return "list" if leaves(ty.dtype) else ""
    fields = fields_of(ty)
    if fields is not None:
        return "object" if any(leaves(t) for t in fields.values()) else ""
    if isinstance(ty, types.DeferredType):  # a class that refers to itself, which may hold floats
        return "object"
    if isinstance(ty, types.NumpyFlatType):
        return "array" if leaves(ty.array_type) else ""
    return None


def _iterates_constants(ty):
    """Whether an iterator, a set, a dictionary or the like holds no floats."""
    if isinstance(ty, types.Pair):
        return not leaves(ty.first_type)
    if isinstance(ty, types.DictType):
        return not leaves(ty.key_type) and not leaves(ty.value_type)
    if isinstance(ty, types.Set):
        return not leaves(ty.dtype)
    if isinstance(ty, types.SimpleIteratorType | types.IteratorType):
        return not leaves(ty.yield_type)
    return False


def at(ty, path):
    """The leaf of a type with this path, or None."""
    return next((leaf for leaf in leaves(ty) if leaf.path == path), None)
