"""Arguments of records that a function writes to: during a call, records of dual numbers stand for them."""

from functools import partial

from numba.core import types

from ..forward.dual import Dual
from ..forward.dual_arrays import dtype_of_type
from ..forward.dual_records import copy_records, holds_records, records_as, with_duals
from .describe import is_differentiable


class WrittenRecords:
    """What stands for argument `k`, `source` in generated code, of type `ty`: lines, and the type."""

    def __init__(self, k, source, ty, n, tag, namespace):
        one = isinstance(ty, types.Record)
        record = in_level(ty if one else ty.dtype, n, tag)
        dual = record if one else ty.copy(dtype=record)
        namespace |= {"records_as": records_as, "copy_records": copy_records}
        namespace[f"records{k}"] = dtype_of_type(record)
        self.source, self.type = f"work{k}[0]" if one else f"work{k}", dual
        self.made = f"work{k} = records_as({source}, records{k}())"
        self.loaded = f"copy_records({self.source}, {source})"
        self.stored = f"copy_records({source}, {self.source})"

    @staticmethod
    def takes(ty):
        """Whether a type is one of records, or arrays of them, that can be written to and hold floats."""
        record = ty.dtype if isinstance(ty, types.Array) else ty
        return holds_records(ty) and ty.mutable and in_level(record, 1, 0) != record


def in_level(ty, n, tag):
    """A type of a record's field with a dual of a level over each of its numbers that has a derivative."""
    if isinstance(ty, types.NestedArray):
        return types.NestedArray(in_level(ty.dtype, n, tag), ty.shape)
    if isinstance(ty, types.Record):
        return with_duals(ty, partial(in_level, n=n, tag=tag))
    return Dual(ty, n, tag) if is_differentiable(ty) else ty
