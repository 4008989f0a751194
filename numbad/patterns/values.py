"""What the values of a program are when only its integers are known: the domain of the interpretation.

A number is either known (a Python number: an int, a bool, a float of the program's text) or `UnknownNumber`,
with the set of the columns that it depends on. An array is a list of such cells and the positions of
its elements in it, so that views share cells. Tuples are tuples.
"""

from dataclasses import dataclass

import numpy as np
from numba.core import types

from . import sets


class UnknownNumber:
    """A number that is not known, and the columns whose numbers it may depend on."""

    __slots__ = ("deps",)

    def __init__(self, deps):
        self.deps = deps


NOTHING = UnknownNumber(sets.EMPTY)
"""A number that is not known and whose derivative is zero."""


class NoWayError(Exception):
    """There is no way on from here: an exception is raised, or an index is out of bounds."""


class Unset:
    """What a name holds before anything is assigned to it."""


UNSET = Unset()


@dataclass
class Conflict:
    """What differs between two ways to one place, and cannot be used there."""

    kind: str


class Array:
    """An array: its cells, the positions of its elements among them, and their Numba type."""

    __slots__ = ("cells", "line", "pos", "scalar")

    def __init__(self, cells, pos, scalar):
        self.cells, self.pos, self.scalar = cells, pos, scalar
        self.line = _line(pos) if pos.ndim == 1 else None

    @property
    def shape(self):
        return self.pos.shape

    def view(self, pos):
        """The array of other positions of the same cells."""
        return Array(self.cells, pos, self.scalar)

    def values(self):
        """The elements in C order."""
        cells = self.cells
        return [cells[p] for p in self.pos.ravel().tolist()]

    def copy(self, scalar=None):
        """An array of its own cells, of another type where that is given."""
        scalar = scalar or self.scalar
        return new_array(self.shape, [cast(v, scalar) for v in self.values()], scalar)

    def same_as(self, other):
        """Whether this is the same part of the same memory."""
        return self.cells is other.cells and (
            self.pos is other.pos or np.array_equal(self.pos, other.pos)
        )


def _line(pos):
    """The positions of a vector as what is quickly indexed."""
    n = pos.size
    if n < 2:
        return pos.tolist()
    start, step = int(pos[0]), int(pos[1]) - int(pos[0])
    end = start + step * n
    if step and np.array_equal(pos, np.arange(start, end, step)):
        return range(start, end, step)
    return pos.tolist()


def new_array(shape, values, scalar):
    """An array in memory of its own."""
    return Array(values, np.arange(len(values)).reshape(shape), scalar)


@dataclass(frozen=True)
class Range:
    """A `range`."""

    start: object = 0
    stop: object = 0
    step: object = 1

    @property
    def ends(self):
        """What tells it apart."""
        return self.start, self.stop, self.step

    @property
    def known(self):
        """Whether all of that is known."""
        return all(type(v) is int for v in self.ends)


class Either:
    """One of several arrays of one shape: which, depends on a branch."""

    def __init__(self, arrays):
        self.arrays = arrays


def deps_of(value):
    """The columns that a value depends on, all of it."""
    if type(value) is UnknownNumber:
        return value.deps
    if type(value) is Array:
        return sets.union_all(v.deps for v in value.values() if type(v) is UnknownNumber)
    if type(value) is tuple:
        return sets.union_all(map(deps_of, value))
    if type(value) is Either:
        return sets.union_all(map(deps_of, value.arrays))
    return sets.EMPTY


def is_known(value):
    """Whether a value is a known number."""
    return isinstance(value, int | float | complex)


def same_number(a, b):
    """Whether two known numbers are one: of one type, NaN being NaN."""
    return type(a) is type(b) and (a == b or (a != a and b != b))


def join(a, b):
    """What holds for both of two values."""
    if a is b or b is UNSET:
        return a
    if a is UNSET:
        return b
    if type(a) is UnknownNumber or type(b) is UnknownNumber:
        return _join_numbers(a, b)
    if is_known(a) and is_known(b):
        return a if same_number(a, b) else NOTHING
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        return tuple(map(join, a, b))
    if isinstance(a, Array | Either) and isinstance(b, Array | Either):
        return _join_arrays(a, b)
    if type(a) is Range and type(b) is Range:
        return a if a == b else Range(*map(join, a.ends, b.ends))
    try:
        return a if bool(a == b) else Conflict(type(a).__name__)
    except Exception:  # what cannot be compared is not the same
        return Conflict(type(a).__name__)


def _join_numbers(a, b):
    if not all(type(v) is UnknownNumber or is_known(v) for v in (a, b)):
        return Conflict("number")
    first, second = deps_of(a), deps_of(b)
    deps = sets.union(first, second)
    for value, own in ((a, first), (b, second)):
        if type(value) is UnknownNumber and own == deps:
            return value
    return UnknownNumber(deps)


def _join_arrays(a, b):
    found = list(parts(a))
    for other in parts(b):
        if not any(other.same_as(known) for known in found):
            found.append(other)
    if len({array.shape for array in found}) > 1:
        return Conflict("array, of a shape")
    if len(found) > len(parts(a)):
        return Either(found)
    return a


def parts(value):
    """The arrays that a value may be."""
    return value.arrays if type(value) is Either else (value,)


def cast(value, ty):
    """A number as one of a Numba type."""
    if isinstance(ty, types.Float):
        if type(value) is UnknownNumber or (type(value) is float and ty.bitwidth == 64):
            return value
        return float(np.float32(value)) if ty.bitwidth == 32 else float(value)
    if type(value) is UnknownNumber:
        return value if isinstance(ty, types.Complex) else NOTHING
    if isinstance(ty, types.Integer):
        return _wrapped(int(value), ty)
    if isinstance(ty, types.Boolean):
        return bool(value)
    if isinstance(ty, types.Complex):
        return complex(value)
    return value


def _wrapped(value, ty):
    """An int as the machine keeps it."""
    if ty.minval <= value <= ty.maxval:
        return value
    value &= (1 << ty.bitwidth) - 1
    return value - (1 << ty.bitwidth) if value > ty.maxval else value


def unknown_of(ty, deps):
    """A value of a Numba type that may depend on these columns anywhere; None for no such type."""
    ty = types.unliteral(ty)
    if isinstance(ty, types.Float | types.Complex):
        return UnknownNumber(deps)
    if isinstance(ty, types.Integer | types.Boolean):
        return NOTHING
    if isinstance(ty, types.BaseTuple):
        members = [unknown_of(t, deps) for t in ty]
        return None if any(m is None for m in members) else tuple(members)
    return None
