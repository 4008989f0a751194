"""Records and arrays of records: fields read and written, whole records copied."""

from functools import cache

from numba.core import types
from numba.core.typing.arraydecl import ArrayAttribute
from numba.np.numpy_support import as_dtype

from ...ir.array_indices import is_basic_index
from ...ir.leaves import leaves
from .. import fields
from ..fields import accumulate_record, take_record
from .array import View, index_var, is_element_index
from .base import Constant, Op, Unknown
from .objects import add_part, refuse_duals


class RecordView(View):
    """A record of an array, an array of one field, an array or a record within a record."""

    def reverse(self, e):
        if e.active((self.base.name, ())):
            refuse_duals(self, e)


class FieldLoad(Op):
    """`v = r.x`: a number of a record."""

    def __init__(self, fn, label, statement, record, name):
        self.record, self.name = record, name
        super().__init__(fn, label, statement)

    def analyse(self):
        if self.leaves(self.target):
            self.flows.append(((self.record.name, ()), (self.target, ())))

    def reverse(self, e):
        record, target = (self.record.name, ()), (self.target, ())
        if e.active(record):
            refuse_duals(self, e)
        if e.pending(target):
            adjoint = e.take(target)
            if e.active(record):
                e.call(accumulate_record(self.name), e.shadow(record), adjoint)


class FieldStore(Op):
    """`r.x = v`: a number of a record."""

    def __init__(self, fn, label, statement, name):
        self.name = name
        super().__init__(fn, label, statement)

    def analyse(self):
        record = self.statement.target.name, ()
        self.stores.append(record)
        for source, _ in self.leaves(self.statement.value):
            self.flows.append((source, record))

    def reverse(self, e):
        record = self.statement.target.name, ()
        if not e.active(record):
            return
        refuse_duals(self, e)
        adjoint = e.call(take_record(self.name), e.shadow(record))
        ty = self.fn.type_of(self.statement.target).typeof(self.name)
        for source, _ in self.leaves(self.statement.value):
            if e.active(source):
                add_part(e, source, adjoint, ty)


class RecordStore(Op):
    """`a[i] = r`: all numbers of a record."""

    def analyse(self):
        array = self.statement.target.name, ()
        self.stores.append(array)
        self.flows += [(source, array) for source, _ in self.leaves(self.statement.value)]

    def reverse(self, e):
        array, source = (self.statement.target.name, ()), (self.statement.value.name, ())
        if not e.active(array):
            return
        refuse_duals(self, e)
        place = e.shadow(array), index_var(e, self.statement)
        if e.active(source):
            e.call(fields.move_record, *place, e.shadow(source))
        else:
            e.call(fields.clear_record, *place)


# -- which access is which ---------------------------------------------------------------------


def has_records(ty):
    """Whether a type is that of an array of records."""
    return isinstance(ty, types.Array) and isinstance(ty.dtype, types.Record)


@cache
def _is_plain(record):
    """Whether every float of a record has a place of its own."""
    end = 0
    for field in record.fields.values():
        ty = field.type
        if field.offset < end:
            return False
        inner = ty.dtype if isinstance(ty, types.NestedArray) else ty
        if isinstance(inner, types.Record) and not _is_plain(inner):
            return False
        end = field.offset + _size(ty)
    return True


def _size(ty):
    return as_dtype(ty).itemsize


def _name(record, index):
    """The name of a field that is given by name or by number; None if it is not known."""
    if isinstance(index, int):
        return list(record.fields)[index]
    return index if isinstance(index, str) else None


def _field(fn, label, s, record, name):
    """`r.x`."""
    ty = fn.type_of(record)
    if not leaves(fn.type_of(s.target)):
        return Constant(fn, label, s)
    if name is None or not _is_plain(ty):
        return Overlapping(fn, label, s)
    if isinstance(ty.typeof(name), types.Record | types.NestedArray):
        return RecordView(fn, label, s, record)
    return FieldLoad(fn, label, s, record, name)


def get_attribute(fn, label, s, value):
    """`r.x`, or `a.x` of an array of records, or None: an attribute that every array has."""
    ty = fn.type_of(value.value)
    if isinstance(ty, types.Record):
        return _field(fn, label, s, value.value, value.attr)
    if value.attr in ty.dtype.fields and not hasattr(ArrayAttribute, f"resolve_{value.attr}"):
        return _column(fn, label, s, value.value)
    return None


def _column(fn, label, s, array):
    """`a['x']`: a view of one field."""
    if not leaves(fn.type_of(s.target)):
        return Constant(fn, label, s)
    if not _is_plain(fn.type_of(array).dtype):
        return Overlapping(fn, label, s)
    return RecordView(fn, label, s, array)


def record_item(fn, label, s, value, index):
    """`r['x']`."""
    known = value.index if value.op == "static_getitem" else fn.constant(value.index)
    return _field(fn, label, s, value.value, _name(fn.type_of(value.value), known))


def array_item(fn, label, s, value, index):
    """`a[i]`, `a['x']`, `a[1:]` of an array of records; None for other indices."""
    ty = fn.type_of(value.value)
    if isinstance(getattr(value, "index", None), str):
        return _column(fn, label, s, value.value)
    if is_element_index(index, ty.ndim) or is_basic_index(index):
        return RecordView(fn, label, s, value.value)
    return None


def set_attribute(fn, label, s):
    """`r.x = v`."""
    return _set_field(fn, label, s, s.attr)


def set_record_item(fn, label, s, index):
    """`r['x'] = v`."""
    known = s.index if is_static(s) else fn.constant(s.index)
    return _set_field(fn, label, s, _name(fn.type_of(s.target), known))


def is_static(s):
    return hasattr(s, "index_var")


def _set_field(fn, label, s, name):
    ty = fn.type_of(s.target)
    if name is not None and not leaves(ty.typeof(name)):
        return Constant(fn, label, s)
    if name is None or not _is_plain(ty):
        return Overlapping(fn, label, s)
    if isinstance(ty.typeof(name), types.Record | types.NestedArray):
        return WholeField(fn, label, s)
    return FieldStore(fn, label, s, name)


def set_array_item(fn, label, s, index):
    """`a[i] = r`, or None."""
    ty, value = fn.type_of(s.target), fn.type_of(s.value)
    if not is_element_index(index, ty.ndim):
        return None
    if value != ty.dtype or not _is_plain(ty.dtype):
        return Overlapping(fn, label, s)
    return RecordStore(fn, label, s)


class Overlapping(Unknown):
    """An access to a record whose fields share memory, or which is not of the array's type."""

    def construct(self):
        return "records whose fields share memory, or of another type than their array's"


class WholeField(Unknown):
    """An assignment to a field that is an array or a record."""

    def construct(self):
        return "an assignment to a field of a record that is an array or a record as a whole"
