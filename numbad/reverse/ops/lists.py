"""Lists, reflected and typed. The shadow of a list holds the adjoints of its members by position.

The shadow only grows: what is appended and popped finds its place by the length that the list had.
"""

from numba import njit
from numba.core import types

from ...ir.leaves import HANDLES, leaves
from ..arena import vector_get, vector_new, vector_reserve, vector_set
from .base import Op, Unknown
from .call import StandIn


def element_type(ty):
    """The Numba type of the members of a list's shadow; None where it has no place for them."""
    found = leaves(ty.dtype)
    if len(found) != 1 or found[0].path:
        return None
    leaf = found[0]
    if leaf.kind == "scalar":
        return leaf.type
    if leaf.kind == "array":
        return types.Array(leaf.type.dtype, leaf.type.ndim, "A")
    return None


@njit
def count(x):
    return len(x)


@njit
def from_start(i, n):
    return i + n if i < 0 else i


class _OnList(Op):
    """A statement about the list `self.list`."""

    def __init__(self, fn, label, statement, variable):
        self.list = variable
        super().__init__(fn, label, statement)

    @property
    def leaf(self):
        return self.list.name, ()

    @property
    def holds_handles(self):
        return leaves(self.fn.type_of(self.list).dtype)[0].kind in HANDLES

    def _in(self, value):
        """A value that is put into the list."""
        for source, _ in self.leaves(value):
            (self.aliases if self.holds_handles else self.flows).append((source, self.leaf))

    def _take(self, e, index):
        """The adjoint of a member, which becomes zero."""
        shadow = e.shadow(self.leaf)
        adjoint = e.call(vector_get, shadow, index)
        e.call(vector_set, shadow, index, e.const(0.0))
        return adjoint

    def _give(self, e, value, index):
        """The reverse of putting a number at a position."""
        adjoint = self._take(e, index)
        source = value.name, ()
        if leaves(self.fn.type_of(value)) and e.active(source):
            e.add(source, adjoint, of=self.leaf)

    def _put_shadow(self, e, value, index):
        source = value.name, ()
        e.call(vector_set, e.shadow(self.leaf), index, e.shadow(source))

    def _new(self, e, length):
        elem = element_type(self.fn.type_of(self.list))
        if e.dual is not None:
            dtype = elem.dtype if isinstance(elem, types.Array) else elem
            dual = e.dual(dtype)
            elem = types.Array(dual, elem.ndim, "A") if isinstance(elem, types.Array) else dual
        maker = e.memo(("vector", elem), lambda: vector_new(elem))
        e.set_shadow(self.leaf, e.call(maker, e.var("$tape"), length))


class NewList(_OnList):
    """`[x, y]`, `List()`, `List.empty_list(...)`."""

    def __init__(self, fn, label, statement, items):
        self.items = items
        super().__init__(fn, label, statement, statement.target)

    def analyse(self):
        for item in self.items:
            self._in(item)

    def shadows(self, e):
        if not e.active(self.leaf):
            return
        self._new(e, e.const(len(self.items)))
        if self.holds_handles:
            for k, item in enumerate(self.items):
                self._put_shadow(e, item, e.const(k))

    def reverse(self, e):
        if e.active(self.leaf) and not self.holds_handles:
            for k, item in enumerate(self.items):
                self._give(e, item, e.const(k))


class Append(_OnList):
    """`l.append(x)`."""

    def __init__(self, fn, label, statement, variable, value):
        self.value = value
        super().__init__(fn, label, statement, variable)

    def analyse(self):
        self._in(self.value)
        self.stores.append(self.leaf)

    def forward(self, e):
        if e.active(self.leaf):
            e.assign(e.call(count, self.list), e.extra(self, "position"))
        e.append(self.statement)
        if e.active(self.leaf):
            position = e.extra(self, "position")
            shadow = e.shadow(self.leaf)
            length = e.call(count, self.list)
            e.call(vector_reserve, e.var("$tape"), shadow, length)
            if self.holds_handles:
                self._put_shadow(e, self.value, position)

    def reverse(self, e):
        if e.active(self.leaf) and not self.holds_handles:
            self._give(e, self.value, e.extra_value(self, "position"))


class _Indexed(_OnList):
    """Access by position; negative ones count from the end of the list as it is then."""

    def place(self, e, index):
        n = e.call(count, self.list)
        e.assign(e.call(from_start, index, n), e.extra(self, "position"))
        return e.extra(self, "position")


class ListItem(_Indexed):
    """`v = l[i]`."""

    def __init__(self, fn, label, statement, variable, index):
        self.index = index
        super().__init__(fn, label, statement, variable)

    def analyse(self):
        for target, _ in self.leaves(self.target):
            (self.aliases if self.holds_handles else self.flows).append((self.leaf, target))

    def _index(self, e):
        return e.const(self.index) if isinstance(self.index, int) else self.index

    def forward(self, e):
        if e.active(self.leaf):
            self.place(e, self._index(e))
        e.append(self.statement)

    def shadows(self, e):
        if e.active(self.leaf) and self.holds_handles:
            position = e.extra(self, "position")
            e.set_shadow((self.target, ()), e.call(vector_get, e.shadow(self.leaf), position))

    def reverse(self, e):
        target = self.target, ()
        if self.holds_handles or not e.pending(target):
            return
        position, shadow = e.extra_value(self, "position"), e.shadow(self.leaf)
        import operator

        old = e.call(vector_get, shadow, position)
        new = e.binop(operator.add, old, e.take(target))
        e.call(vector_set, shadow, position, new)


class Pop(ListItem):
    """`v = l.pop()`: the last member; its place in the shadow keeps the adjoint."""

    def analyse(self):
        super().analyse()
        self.stores.append(self.leaf)


class SetListItem(_Indexed):
    """`l[i] = v`."""

    def __init__(self, fn, label, statement, variable, index, value):
        self.index, self.value = index, value
        super().__init__(fn, label, statement, variable)

    def analyse(self):
        self._in(self.value)
        self.stores.append(self.leaf)

    def forward(self, e):
        if e.active(self.leaf):
            index = e.const(self.index) if isinstance(self.index, int) else self.index
            position = self.place(e, index)
            if self.holds_handles:
                self._put_shadow(e, self.value, position)
        e.append(self.statement)

    def reverse(self, e):
        if e.active(self.leaf) and not self.holds_handles:
            self._give(e, self.value, e.extra_value(self, "position"))


# -- which statement is which ----------------------------------------------------------------


def is_list(ty):
    return isinstance(ty, types.List | types.ListType) and bool(leaves(ty))


def _usable(fn, var):
    return element_type(fn.type_of(var)) is not None


def build_list(fn, label, s, value):
    if not is_list(fn.type_of(s.target)):
        return None
    return NewList(fn, label, s, value.items) if _usable(fn, s.target) else Unknown(fn, label, s)


def list_item(fn, label, s, value, index):
    if not is_list(fn.type_of(value.value)):
        return None
    plain = isinstance(types.unliteral(index), types.Integer)
    if not plain or not _usable(fn, value.value):
        return Unknown(fn, label, s)
    return ListItem(fn, label, s, value.value, value.index)


def set_list_item(fn, label, s, index):
    if not is_list(fn.type_of(s.target)):
        return None
    if not isinstance(types.unliteral(index), types.Integer) or not _usable(fn, s.target):
        return Unknown(fn, label, s)
    return SetListItem(fn, label, s, s.target, s.index, s.value)


def append(fn, label, s, call, owner, ty):
    if not is_list(ty) or not _usable(fn, owner):
        return None
    return Append(fn, label, s, owner, call.args[0])


def pop(fn, label, s, call, owner, ty):
    if not is_list(ty) or call.args or not _usable(fn, owner):
        return None
    return Pop(fn, label, s, owner, -1)


@njit
def extended(items, others):
    for k in range(len(others)):
        items.append(others[k])


def extend(fn, label, s, call, owner, ty):
    if not is_list(ty) or not isinstance(fn.type_of(call.args[0]), types.List | types.ListType):
        return None
    return StandIn(fn, label, s, extended, [owner, call.args[0]], writes=owner)


def new_list(fn, label, s, call):
    """`List()` and `List.empty_list(dtype)`."""
    if is_list(fn.type_of(s.target)) and not any(leaves(fn.type_of(v)) for v in call.args):
        return NewList(fn, label, s, [])
    return None
