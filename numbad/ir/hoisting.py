"""Moves what fetches arrays, and what asks for shapes, in front of loops: `data.x`, `x.T`, `len(x)`."""

from functools import partial

from numba.core import ir, types

from .function import is_expr, operands
from .leaves import fields_of
from .loops import Control

_MEMBERS = "getattr", "static_getitem", "exhaust_iter"
_OF_ARRAYS = "T", "shape", "size", "ndim"
_CONSTANTS = ir.Const | ir.Global | ir.FreeVar


def hoist_members(fn):
    """Fetch members of tuples, constants, transposes and shapes before outermost loops of a `Function`."""
    control = Control(fn)
    for loop in control.loops.values():
        if loop.parent is None:
            _hoist(fn, control, loop, _is_told)


def hoist_parts(fn):
    """Fetch members of tuples and fields before the loops that do not change them; the same function.

    `model.w[i, j]` would put `model.w` down in each iteration, and add to its adjoint's element there.
    """
    if any(_is_part(fn, s) or _is_field(fn, s) for _, s in fn.statements()):
        control = Control(fn)
        for loop in control.loops.values():  # the innermost first
            changed = _changed_fields(fn, loop)
            _hoist(fn, control, loop, partial(_is_fixed, changed=changed))
    return fn


def _hoist(fn, control, loop, moves):
    if len(loop.entries) != 1:
        return
    (entry,), there = loop.entries, _Certain(fn, control)
    inside = {
        s.target.name: s.value
        for label in loop.body
        for s in fn.blocks[label].body
        if isinstance(s, ir.Assign)
    }

    def is_ready(s):
        needed = [v.name for v in operands(s.value) if v.name in inside]
        if not all(isinstance(inside[name], _CONSTANTS) for name in needed):
            return False
        return all(there.has(v.name, entry) for v in operands(s.value) if v.name not in needed)

    found, moved = True, False
    while found:  # a member may be one of a member
        found = [
            s for label in loop.body for s in fn.blocks[label].body if moves(fn, s) and is_ready(s)
        ]
        names = {s.target.name for s in found}
        names |= {v.name for s in found for v in operands(s.value)} & inside.keys()
        taken = []
        for label in loop.body:
            body = fn.blocks[label].body
            taken += [s for s in body if _target(s) in names]
            fn.blocks[label].body = [s for s in body if _target(s) not in names]
        for name in names:
            del inside[name]
        there.moved |= names
        fn.blocks[entry].body[-1:-1] = sorted(
            taken, key=lambda s: not isinstance(s.value, _CONSTANTS)
        )
        moved |= bool(found)
    if moved:
        fn.changed()


class _Certain:
    """Tells whether a name has a value: a branch may have passed by the statement that gives it one.

    `if first: layer = Layer(w)` leaves nothing, or what was in memory, where the branch is not taken.
    """

    def __init__(self, fn, control):
        self.fn, self.control, self.moved, self._known = fn, control, set(), {}

    def has(self, name, label):
        """Whether it has, whichever way has led to a block."""
        if name in self.moved:
            return True
        if not self.control.dominates(self.fn.place_of(name), label):
            return False
        if name not in self._known:
            self._known[name] = True  # of what a loop carries, if what it begins with has
            self._known[name] = self._is_made(name)
        return self._known[name]

    def _is_made(self, name):
        value, place = self.fn.definition(name), self.fn.place_of(name)
        if is_expr(value, "phi"):
            ways = zip(value.incoming_values, value.incoming_blocks, strict=True)
            return all(v is not ir.UNDEFINED and self.has(v.name, way) for v, way in ways)
        return all(self.has(v.name, place) for v in operands(value))


def _target(s):
    return s.target.name if isinstance(s, ir.Assign) else None


def _is_told(fn, s):
    """Whether a statement may be moved: it fetches what does not change, and raises nothing."""
    if not isinstance(s, ir.Assign):
        return False
    if isinstance(s.value, _CONSTANTS) or _is_part(fn, s):
        return True
    if is_expr(s.value, "call"):
        counted = s.value.args and isinstance(fn.type_of(s.value.args[0]), types.Array)
        return bool(counted) and fn.constant(s.value.func) is len
    if not is_expr(s.value, "getattr"):
        return False
    owner = fn.type_of(s.value.value)
    of_array = isinstance(owner, types.Array) and s.value.attr in _OF_ARRAYS
    return of_array or isinstance(owner, types.Module)


def _is_part(fn, s):
    """Whether a statement fetches a member of a tuple."""
    value = getattr(s, "value", None)
    if not isinstance(s, ir.Assign) or not is_expr(value, *_MEMBERS):
        return False
    return isinstance(fn.type_of(value.value), types.BaseTuple)


def _is_field(fn, s):
    """Whether a statement fetches a field of an instance."""
    value = getattr(s, "value", None)
    if not isinstance(s, ir.Assign) or not is_expr(value, "getattr"):
        return False
    return value.attr in (fields_of(fn.type_of(value.value)) or ())


def _is_fixed(fn, s, changed):
    """Whether a statement fetches a member of a tuple, or a field that is not `changed`."""
    if _is_part(fn, s):
        return True
    return changed is not None and _is_field(fn, s) and s.value.attr not in changed


def _changed_fields(fn, loop):
    """The names of the fields that a loop changes, of any instance; None where calls may change any."""
    statements = [s for label in loop.body for s in fn.blocks[label].body]
    calls = [s.value for s in statements if is_expr(getattr(s, "value", None), "call")]
    if all(_has_no_fields(fn.type_of(v)) for call in calls for v in operands(call)):
        return {s.attr for s in statements if isinstance(s, ir.SetAttr)}
    return None


_WITHOUT_FIELDS = (
    *(types.Number, types.Boolean, types.NoneType, types.Omitted, types.Array, types.Record),
    *(types.UnicodeType, types.StringLiteral, types.RangeType, types.DType, types.NumberClass),
    *(types.Module, types.Function, types.Dispatcher, types.ClassType),
)


def _has_no_fields(ty):
    """Whether what is called with a value of this type can get at no instance by it."""
    if isinstance(ty, types.BaseTuple):
        return all(map(_has_no_fields, ty))
    if isinstance(ty, types.BoundFunction):
        return _has_no_fields(ty.this)
    if isinstance(ty, types.List | types.ListType | types.Optional):
        return _has_no_fields(getattr(ty, "dtype", None) or ty.type)
    return isinstance(ty, _WITHOUT_FIELDS)
