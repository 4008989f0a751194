"""Records whose fields hold dual numbers, in arrays that a function makes and writes to."""

import math
import operator

import numpy as np
from numba.core import types
from numba.core.datamodel.models import RecordModel
from numba.extending import overload, register_model
from numba.np.numpy_support import as_dtype

from ..source import define
from . import dual as d
from .access import strip
from .layout import empty_as

_ALIGNED = 8  # bytes: what a float, a complex number, and so a dual number lies at multiples of


class RecordOfDuals(types.Record):
    """A record with other types of fields, one after the other; `root` is the user's own."""

    def __init__(self, root, fields):
        self.root = root
        laid, offset = [], 0
        for name, ty in fields.items():
            laid.append((name, {"type": ty, "offset": offset}))
            offset += -(-_bytes_of(ty) // _ALIGNED) * _ALIGNED
        super().__init__(laid, offset, aligned=False)

    @property
    def dtype(self):
        """NumPy has no dtype for dual numbers: bytes, as many as there are."""
        return np.dtype((np.void, self.size))


register_model(RecordOfDuals)(RecordModel)


def _bytes_of(ty):
    """The size of a field."""
    if isinstance(ty, types.NestedArray):
        return math.prod(ty.shape) * _bytes_of(ty.dtype)
    if isinstance(ty, types.Record):
        return ty.size
    return ty.bitwidth // 8 if isinstance(ty, d.Dual) else as_dtype(ty).itemsize


def with_duals(record, in_duals):
    """The type of a record whose fields are what `in_duals` makes of them; as it is where none changes.

    It stays as it is, too, where fields share memory: those of numbers and of their bits, or with titles.
    """
    own = dict(record.members)
    fields = {name: in_duals(ty) for name, ty in own.items()}
    return record if fields == own or _overlap(record) else RecordOfDuals(_root(record), fields)


def _root(record):
    return getattr(record, "root", record)


def _overlap(record):
    end = 0
    for name, ty in record.members:
        if record.offset(name) < end:
            return True
        end = record.offset(name) + _bytes_of(ty)
    return False


def holds_records(ty):
    """Whether a type is that of a record, or of an array of records."""
    return isinstance(ty.dtype if isinstance(ty, types.Array) else ty, types.Record)


def records_as(x, dtype):
    """Uninitialised records: an array like another, or one of one for a record."""
    raise NotImplementedError


@overload(records_as)
def _records_as(x, dtype):
    if isinstance(x, types.Record):
        return lambda x, dtype: np.empty(1, dtype)
    return lambda x, dtype: empty_as(x, dtype)


def copy_records(out, x):
    """Copy the fields of a record, or of an array of records, into `out`.

    Where `out` alone holds duals, their partials are zero; where `x` alone does, their values are copied.
    """
    raise NotImplementedError


@overload(copy_records)
def _copy_records(out, x):
    own, wanted = (ty if isinstance(ty, types.Record) else ty.dtype for ty in (x, out))
    lines = [_copy_field(name, isinstance(x, types.Record), own, wanted) for name in own.fields]
    names = {"copy_records": copy_records, "copy_elements": _copy_elements, "strip": strip}
    return define("\n".join(["def copy_fields(out, x):", *lines]) + "\n", names)


@overload(operator.setitem)
def _set_records(a, i, v):
    """Records of constants become some of an array of records of duals."""
    if not (isinstance(a, types.Array) and isinstance(a.dtype, RecordOfDuals) and holds_records(v)):
        return None
    given = v.dtype if isinstance(v, types.Array) else v
    if given == a.dtype or given != a.dtype.root:
        return None
    return lambda a, i, v: copy_records(a[i], v)


def _copy_field(name, one, own, wanted):
    """The line that copies a field, of one record or of an array of them."""
    to, source, ty = f"out[{name!r}]", f"x[{name!r}]", own.typeof(name)
    if holds_records(ty):
        return f"    copy_records({to}, {source})"
    if not one or isinstance(ty, types.NestedArray):
        return f"    copy_elements({to}, {source})"
    return f"    {to} = {f'strip({source})' if _narrows(wanted.typeof(name), ty) else source}"


def _narrows(wanted, ty):
    """Whether a number of one type loses partials where it becomes one of another."""
    return isinstance(ty, d.Dual) and not (isinstance(wanted, d.Dual) and wanted.tag >= ty.tag)


def _copy_elements(out, x):
    """The elements of an array into another."""
    raise NotImplementedError


@overload(_copy_elements)
def _overload_copy_elements(out, x):
    if not _narrows(out.dtype, x.dtype):
        return _copy_each

    def copy_values(out, x):
        for index in np.ndindex(x.shape):
            out[index] = strip(x[index])

    return copy_values


def _copy_each(out, x):
    for index in np.ndindex(x.shape):
        out[index] = x[index]
