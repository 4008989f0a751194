"""Lists, reflected and typed. The shadow of a list holds the adjoints of its members by position.

The shadow only grows: what is appended and popped finds its place by the length that the list had.
A member with several leaves (a tuple) has them all in one element of the shadow, as a tuple.
"""

import operator

from numba import njit
from numba.core import types

from ...ir.fence import refuse
from ...ir.leaves import HANDLES, fields_of, leaves
from ..arena import vector_get, vector_new, vector_reserve, vector_set
from ..shadow_types import element_type, is_plain
from . import list_helpers
from .base import Op, Unknown
from .call import StandIn
from .structural_functions import real_of

PLACES = "position", "length"
"""What the statements about lists keep for the reverse sweep: integers."""


@njit
def count(x):
    return len(x)


@njit
def from_start(i, n):
    return i + n if i < 0 else i


def _new_shadow(e, ty, length):
    elem = element_type(ty, e.dual)
    maker = e.memo(("vector", elem), lambda: vector_new(elem))
    return e.call(maker, e.var("$tape"), length)


def refuse_lists_of_handles(e, ty):
    """The members of a list that the function was given, and of one in a field, have no shadows."""
    lists = [leaf.type for leaf in _handles(ty) if leaf.kind == "list"]
    if any(leaf.kind != "scalar" for found in lists for leaf in leaves(found.dtype)):
        raise refuse(
            f"a write of differentiated values into an argument of type {ty}",
            e.loc,
            "make the list in the function",
        )


def _handles(ty):
    for leaf in leaves(ty):
        yield leaf
        fields = fields_of(leaf.type) if leaf.kind == "object" else None
        for field in (fields or {}).values():
            yield from _handles(field)


def shadow_of(e, ty, value):
    """A shadow of zeros for a list that the function was given."""
    refuse_lists_of_handles(e, ty)
    if e.dual is not None:
        raise refuse(
            f"a write of differentiated values into an argument of type {ty}, in second order",
            e.loc,
            "make the list in the function",
        )
    return _new_shadow(e, ty, e.call(count, value))


def refuse_lists(op, e, variables):
    """What is evaluated again, or by a rule, neither takes nor returns lists of active values."""
    for variable in variables:
        if any(what.kind == "list" and e.active(leaf) for leaf, what in op.leaves(variable)):
            raise refuse(
                "a list of differentiated values that goes into or comes out of a function with a "
                "checkpoint, a rule or a derivative of its own",
                op.loc,
                "pass an array, or call the function as it is",
            )


class OnList(Op):
    """A statement about the list `self.list`."""

    def __init__(self, fn, label, statement, variable):
        self.list = variable
        self.parts = leaves(fn.type_of(variable).dtype)
        super().__init__(fn, label, statement)

    @property
    def leaf(self):
        return self.list.name, ()

    @property
    def holds_handles(self):
        return any(part.kind in HANDLES for part in self.parts)

    @property
    def holds_numbers(self):
        return any(part.kind == "scalar" for part in self.parts)

    def put_in(self, value):
        """A value that is put into the list."""
        for source, leaf in self.leaves(value):
            (self.aliases if leaf.kind in HANDLES else self.flows).append((source, self.leaf))

    # -- elements of the shadow ---------------------------------------------------------------

    def get(self, e, index):
        """The leaves of a member, in the shadow."""
        member = e.call(vector_get, e.shadow(self.leaf), index)
        if is_plain(self.parts):
            return [member]
        return [e.item(member, k) for k in range(len(self.parts))]

    def set(self, e, index, parts):
        member = parts[0] if is_plain(self.parts) else e.tuple(parts)
        e.call(vector_set, e.shadow(self.leaf), index, member)

    def give(self, e, value, index):
        """The reverse of putting a value at a position: its adjoint is taken from there."""
        if not self.holds_numbers:
            return
        old = self.get(e, index)
        kept = [
            e.const(0.0) if part.kind == "scalar" else old[k] for k, part in enumerate(self.parts)
        ]
        self.set(e, index, kept)
        paths = {identity[1] for identity, _ in self.leaves(value)}
        for part, adjoint in zip(self.parts, old, strict=True):
            source = value.name, part.path
            if part.kind == "scalar" and part.path in paths and e.active(source):
                if isinstance(part.type, types.Complex) and not e.is_complex(source):
                    adjoint = e.call(real_of, adjoint)
                e.add(source, adjoint)

    def take_back(self, e, variable, index):
        """The reverse of reading a member: the adjoint of the variable is added to its place."""
        waiting = {
            k: (variable, part.path)
            for k, part in enumerate(self.parts)
            if part.kind == "scalar" and e.pending((variable, part.path))
        }
        if waiting:
            parts = self.get(e, index)
            for k, leaf in waiting.items():
                parts[k] = e.binop(operator.add, parts[k], e.take(leaf))
            self.set(e, index, parts)

    def put_shadows(self, e, value, index):
        """The shadows of the handles of a value that is put at a position."""
        if not self.holds_handles:
            return
        if self.holds_numbers:
            parts = self.get(e, index)
        else:
            parts = [None] * len(self.parts)
        for k, part in enumerate(self.parts):
            if part.kind in HANDLES:
                parts[k] = e.shadow((value.name, part.path))
        self.set(e, index, parts)

    def new(self, e, length):
        """A shadow for the list, of zeros."""
        e.set_shadow(self.leaf, _new_shadow(e, self.fn.type_of(self.list), length))


class NewList(OnList):
    """`[x, y]`, `List()`, `List.empty_list(...)`."""

    def __init__(self, fn, label, statement, items):
        self.items = items
        super().__init__(fn, label, statement, statement.target)

    def analyse(self):
        for item in self.items:
            self.put_in(item)

    def shadows(self, e):
        if not e.active(self.leaf):
            return
        self.new(e, e.const(len(self.items)))
        for k, item in enumerate(self.items):
            self.put_shadows(e, item, e.const(k))

    def reverse(self, e):
        if e.active(self.leaf):
            for k, item in enumerate(self.items):
                self.give(e, item, e.const(k))


class RepeatedNumbers(OnList):
    """`[0.0] * n`: a new list of numbers that the code writes out, which have no derivative."""

    def __init__(self, fn, label, statement):
        super().__init__(fn, label, statement, statement.target)

    def shadows(self, e):
        if e.active(self.leaf):
            self.new(e, e.call(count, self.list))


class Append(OnList):
    """`l.append(x)`."""

    def __init__(self, fn, label, statement, variable, value):
        self.value = value
        super().__init__(fn, label, statement, variable)

    def analyse(self):
        self.put_in(self.value)
        self.stores.append(self.leaf)

    def forward(self, e):
        if not e.active(self.leaf):
            e.append(self.statement)
            return
        e.assign(e.call(count, self.list), e.extra(self, "position"))
        e.append(self.statement)
        e.call(vector_reserve, e.var("$tape"), e.shadow(self.leaf), e.call(count, self.list))
        self.put_shadows(e, self.value, e.extra(self, "position"))

    def reverse(self, e):
        if e.active(self.leaf) and self.holds_numbers:
            self.give(e, self.value, e.extra_value(self, "position"))


class Indexed(OnList):
    """Access by position; negative ones count from the end of the list as it is then."""

    def __init__(self, fn, label, statement, variable, index):
        self.index = index
        super().__init__(fn, label, statement, variable)

    def place(self, e):
        """Keep the position, counted from the start, and the list's length."""
        index = e.const(self.index) if isinstance(self.index, int) else self.index
        n = e.call(count, self.list)
        e.assign(e.call(from_start, index, n), e.extra(self, "position"))
        return e.extra(self, "position"), n

    def counts_from_start(self, e):
        """Whether the position is the index, which the reverse sweep may know without a record."""
        if isinstance(self.index, int):
            return self.index >= 0
        return e.plan.is_natural(self.index)

    def position(self, e):
        """The position in the reverse sweep, or in the forward sweep after it was kept."""
        if self.counts_from_start(e):
            return e.const(self.index) if isinstance(self.index, int) else e.value(self.index)
        kept = e.extra if e.label is None else e.extra_value
        return kept(self, "position")


class ListItem(Indexed):
    """`v = l[i]`."""

    def analyse(self):
        for target, leaf in self.leaves(self.target):
            (self.aliases if leaf.kind in HANDLES else self.flows).append((self.leaf, target))

    def _first(self, e):
        """The statement that reads the same member before, if there is one: it has kept the position."""
        return e.plan.ops[e.plan.unchanged.same.get(self.target, self.target)]

    def forward(self, e):
        if e.active(self.leaf) and self._first(e) is self and not self.counts_from_start(e):
            self.place(e)
        e.append(self.statement)

    def shadows(self, e):
        if not (e.active(self.leaf) and self.holds_handles and self._first(e) is self):
            return
        parts = self.get(e, self.position(e))
        for k, part in enumerate(self.parts):
            if part.kind in HANDLES:
                e.set_shadow((self.target, part.path), parts[k])

    def reverse(self, e):
        if any(e.pending(leaf) for leaf, what in self.leaves(self.target) if what.kind == "scalar"):
            self.take_back(e, self.target, self._first(e).position(e))


class SetListItem(Indexed):
    """`l[i] = v`."""

    def __init__(self, fn, label, statement, variable, index, value):
        self.value = value
        super().__init__(fn, label, statement, variable, index)

    def analyse(self):
        self.put_in(self.value)
        self.stores.append(self.leaf)

    def forward(self, e):
        e.append(self.statement)
        if e.active(self.leaf):
            if not self.counts_from_start(e):
                self.place(e)
            self.put_shadows(e, self.value, self.position(e))

    def reverse(self, e):
        if e.active(self.leaf) and self.holds_numbers:
            self.give(e, self.value, self.position(e))


# -- which statement is which ----------------------------------------------------------------


def is_list(ty):
    return isinstance(ty, types.List | types.ListType) and bool(leaves(ty))


def usable(fn, var):
    """Whether the members of a list have a place in a shadow."""
    return element_type(fn.type_of(var)) is not None


def build_list(fn, label, s, value):
    if not is_list(fn.type_of(s.target)):
        return None
    return NewList(fn, label, s, value.items) if usable(fn, s.target) else Unknown(fn, label, s)


def list_item(fn, label, s, value, index):
    if not is_list(fn.type_of(value.value)):
        return None
    if not usable(fn, value.value):
        return Unknown(fn, label, s)
    if isinstance(index, types.SliceType):
        return _slice(fn, label, s, value)
    if not isinstance(types.unliteral(index), types.Integer):
        return Unknown(fn, label, s)
    return ListItem(fn, label, s, value.value, value.index)


def _slice(fn, label, s, value):
    where = value.index_var if value.op == "static_getitem" else value.index
    return slice_of(fn, label, s, value.value, where) if where else Unknown(fn, label, s)


def slice_of(fn, label, s, variable, where):
    """`l[i:j]`."""
    helper = (
        list_helpers.sliced_typed
        if isinstance(fn.type_of(variable), types.ListType)
        else list_helpers.sliced
    )
    return StandIn(fn, label, s, helper, [variable, where])


def set_list_item(fn, label, s, index):
    if not is_list(fn.type_of(s.target)):
        return None
    if not isinstance(types.unliteral(index), types.Integer) or not usable(fn, s.target):
        return Unknown(fn, label, s)
    return SetListItem(fn, label, s, s.target, s.index, s.value)


def append(fn, label, s, call, owner, ty):
    if not is_list(ty) or not usable(fn, owner):
        return None
    return Append(fn, label, s, owner, call.args[0])


def new_list(fn, label, s, call):
    """`List()` and `List.empty_list(dtype)`."""
    given = [v for v in call.args if not fn.is_type(v)]
    if is_list(fn.type_of(s.target)) and not any(leaves(fn.type_of(v)) for v in given):
        return NewList(fn, label, s, []) if usable(fn, s.target) else Unknown(fn, label, s)
    return None
