"""What changes a list other than member by member: insertions, deletions, copies, sorting."""

from numba import njit
from numba.core import ir, types
from numba.typed import List

from ...ir.leaves import leaves
from ..arena import vector_close, vector_get, vector_open, vector_reserve, vector_set
from . import list_helpers
from .base import Constant, Unknown
from .call import StandIn
from .lists import Indexed, ListItem, OnList, RepeatedNumbers, count, is_list, usable
from .new_arrays import written_out


class Pop(ListItem):
    """`v = l.pop(i)`: what follows moves down."""

    def analyse(self):
        super().analyse()
        self.stores.append(self.leaf)

    @property
    def is_last(self):
        return self.index == -1

    def counts_from_start(self, e):
        """Kept in any case: of what is taken by `pop()`, -1, and with the length."""
        return False

    def forward(self, e):
        if e.active(self.leaf):
            _, n = self.place(e)
            e.assign(n, e.extra(self, "length"))
        e.append(self.statement)

    def shadows(self, e):
        super().shadows(e)
        if e.active(self.leaf) and self.holds_handles and not self.is_last:
            place = e.extra(self, "position"), e.extra(self, "length")
            e.call(vector_close, e.shadow(self.leaf), *place)

    def reverse(self, e):
        if not e.active(self.leaf) or not self.holds_numbers:
            return
        position = e.extra_value(self, "position")
        if not self.is_last:
            e.call(vector_open, e.shadow(self.leaf), position, e.extra_value(self, "length"))
        self.take_back(e, self.target, position)


class Delete(Indexed):
    """`del l[i]`."""

    def analyse(self):
        self.stores.append(self.leaf)

    def forward(self, e):
        if not e.active(self.leaf):
            e.append(self.statement)
            return
        position, n = self.place(e)
        e.assign(n, e.extra(self, "length"))
        e.append(self.statement)
        if self.holds_handles:
            e.call(vector_close, e.shadow(self.leaf), position, n)

    def reverse(self, e):
        if e.active(self.leaf) and self.holds_numbers:
            place = e.extra_value(self, "position"), e.extra_value(self, "length")
            e.call(vector_open, e.shadow(self.leaf), *place)


@njit
def place_of_insertion(i, n):
    i = i + n if i < 0 else i
    return max(0, min(i, n))


class Insert(OnList):
    """`l.insert(i, v)`: what follows moves up."""

    def __init__(self, fn, label, statement, variable, index, value):
        self.index, self.value = index, value
        super().__init__(fn, label, statement, variable)

    def analyse(self):
        self.put_in(self.value)
        self.stores.append(self.leaf)

    def forward(self, e):
        if not e.active(self.leaf):
            e.append(self.statement)
            return
        position, length = e.extra(self, "position"), e.extra(self, "length")
        e.assign(e.call(place_of_insertion, self.index, e.call(count, self.list)), position)
        e.append(self.statement)
        e.assign(e.call(count, self.list), length)
        e.call(vector_reserve, e.var("$tape"), e.shadow(self.leaf), length)
        if self.holds_handles:
            e.call(vector_open, e.shadow(self.leaf), position, length)
            self.put_shadows(e, self.value, position)

    def reverse(self, e):
        if e.active(self.leaf) and self.holds_numbers:
            position, length = e.extra_value(self, "position"), e.extra_value(self, "length")
            self.give(e, self.value, position)
            e.call(vector_close, e.shadow(self.leaf), position, length)


@njit
def mirror(shadow, n):
    """The elements of a shadow in the opposite order."""
    for k in range(n // 2):
        first, last = vector_get(shadow, k), vector_get(shadow, n - 1 - k)
        vector_set(shadow, k, last)
        vector_set(shadow, n - 1 - k, first)


class Reverse(OnList):
    """`l.reverse()`."""

    def analyse(self):
        self.stores.append(self.leaf)

    def forward(self, e):
        e.append(self.statement)
        if e.active(self.leaf):
            e.assign(e.call(count, self.list), e.extra(self, "length"))
            if self.holds_handles:
                e.call(mirror, e.shadow(self.leaf), e.extra(self, "length"))

    def reverse(self, e):
        if e.active(self.leaf) and self.holds_numbers:
            e.call(mirror, e.shadow(self.leaf), e.extra_value(self, "length"))


class Clear(OnList):
    """`l.clear()`: nothing depends on the members any more, so their adjoints are zero."""

    def analyse(self):
        self.stores.append(self.leaf)


# -- which statement is which ----------------------------------------------------------------


def _on_list(build):
    """A method of a list whose members have a place in a shadow."""

    def found(fn, label, s, call, owner, ty):
        if not is_list(ty) or not usable(fn, owner):
            return None
        return build(fn, label, s, call, owner)

    return found


@_on_list
def pop(fn, label, s, call, owner):
    return Pop(fn, label, s, owner, call.args[0] if call.args else -1)


@_on_list
def insert(fn, label, s, call, owner):
    return Insert(fn, label, s, owner, *call.args) if len(call.args) == 2 else None


@_on_list
def reverse(fn, label, s, call, owner):
    return Reverse(fn, label, s, owner)


@_on_list
def clear(fn, label, s, call, owner):
    return Clear(fn, label, s, owner)


@_on_list
def remove(fn, label, s, call, owner):
    return StandIn(fn, label, s, list_helpers.removed, [owner, call.args[0]], writes=owner)


@_on_list
def copy(fn, label, s, call, owner):
    helper = (
        list_helpers.copied_typed
        if isinstance(fn.type_of(owner), types.ListType)
        else list_helpers.copied
    )
    return StandIn(fn, label, s, helper, [owner])


@_on_list
def extend(fn, label, s, call, owner):
    if not isinstance(fn.type_of(call.args[0]), _INDEXED):
        return None
    return StandIn(fn, label, s, list_helpers.extended, [owner, call.args[0]], writes=owner)


_INDEXED = types.List, types.ListType, types.UniTuple


@_on_list
def sort_method(fn, label, s, call, owner):
    given = dict(zip(("key", "reverse"), call.args, strict=False)) | dict(call.kws)
    key, backwards = given.get("key"), given.get("reverse")
    arguments = [owner]
    if key is not None and isinstance(fn.type_of(key), types.Dispatcher):
        arguments.append(key)
    elif key is not None and not _is_none(fn.type_of(key)):
        return None
    if backwards is not None:
        arguments.append(backwards)
    helper = list_helpers.SORTS[len(arguments) > 1 and arguments[1] is key, backwards is not None]
    return StandIn(fn, label, s, helper, arguments, writes=owner)


def _is_none(ty):
    return isinstance(ty, types.NoneType) or getattr(ty, "value", 0) is None


def from_values(fn, label, s, call):
    """`list(x)`."""
    if not is_list(fn.type_of(s.target)) or not usable(fn, s.target) or len(call.args) != 1:
        return None
    return StandIn(fn, label, s, list_helpers.listed, call.args)


def typed_from_values(fn, label, s, call):
    """`typed.List(x)`."""
    made = fn.constant(call.func) is List and len(call.args) == 1
    if not made or not is_list(fn.type_of(s.target)) or not usable(fn, s.target):
        return None
    return StandIn(fn, label, s, list_helpers.listed_typed, call.args)


def delete_item(fn, label, s):
    """`del l[i]`, `del l[i:j]`."""
    if not is_list(fn.type_of(s.target)):
        return Constant(fn, label, s) if not leaves(fn.type_of(s.target)) else Unknown(fn, label, s)
    if not usable(fn, s.target):
        return Unknown(fn, label, s)
    if isinstance(fn.type_of(s.index), types.SliceType):
        return StandIn(fn, label, s, list_helpers.deleted, [s.target, s.index], writes=s.target)
    return Delete(fn, label, s, s.target, s.index)


def _is_of_constants(fn, var):
    """Whether a list is written out in the code, as numbers, and used once."""
    members = written_out(fn, var) or ()
    return bool(members) and all(
        not isinstance(v, list) and isinstance(fn.definition(v), ir.Const) for v in members
    )


def operation(fn, label, s, function, arguments, value):
    """`l + m`, `l * n`, in place too."""
    helper = list_helpers.OPERATIONS.get((value.op, function))
    if helper is None or len(arguments) != 2:
        return Unknown(fn, label, s)
    if not isinstance(fn.type_of(arguments[0]), types.List):
        arguments = arguments[::-1]
    if not usable(fn, arguments[0]) or not isinstance(fn.type_of(arguments[0]), types.List):
        return Unknown(fn, label, s)
    if helper is list_helpers.repeated and _is_of_constants(fn, arguments[0]):
        return RepeatedNumbers(fn, label, s)
    writes = arguments[0] if value.op == "inplace_binop" else None
    return StandIn(fn, label, s, helper, arguments, writes=writes)
