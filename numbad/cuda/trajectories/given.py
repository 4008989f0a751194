"""What each trajectory is given: floats for all of them, or arrays with a row for each, as source.

A leaf is an array on the device with a leading axis of one row a trajectory, or of one row for all, whose
numbers the kernel is given as they are where they are not on the device. The source of an argument reads its
leaves at row `i`.
"""

from dataclasses import dataclass

import numpy as np
from numba.core import types

from numbad.errors import ArgumentError
from numbad.masked_arrays import refuse_masked

_MOST_IN_A_ROW = 64
_SCALARS = {"f": types.float64, "i": types.int64, "u": types.uint64, "b": types.boolean}


@dataclass(frozen=True)
class LeafArray:
    """An array of numbers: `kind` is that of its dtype; `width`, None for one number a row.

    `layout` is None where the one row is passed by value.
    """

    number: int
    kind: str
    many: bool
    width: int | None
    layout: str | None

    @property
    def argument_type(self):
        """What a kernel is given; floats are float64 in either precision, see `narrowing`."""
        if self.layout is None:
            return self.type
        return types.Array(_SCALARS[self.kind], 1 if self.width is None else 2, self.layout)

    @property
    def type(self):
        """The type of what one trajectory is given."""
        scalar = _SCALARS[self.kind]
        return scalar if self.width is None else types.UniTuple(scalar, self.width)

    def first(self, rows):
        """What the first trajectory is given, from the first row of every leaf."""
        row = rows[self.number]
        return row[0].item() if self.width is None else tuple(row[0].tolist())

    def source(self, read):
        """Source of it; `read(leaf, column, source)` gives that of one number."""
        if self.width is None:
            return read(self, 0, self._read())
        items = [read(self, k, self._read(k)) for k in range(self.width)]
        return f"({', '.join(items)},)"

    def _read(self, *column):
        """Source of a number in a row."""
        row = () if self.layout is None else ("i" if self.many else "0",)
        at = ", ".join(map(str, (*row, *column)))
        return f"leaf{self.number}" + (f"[{at}]" if at else "")

    def leaves(self):
        yield self


@dataclass(frozen=True)
class Group:
    """A tuple, or a namedtuple of class `named`."""

    members: tuple
    named: type | None = None

    @property
    def type(self):
        members = [member.type for member in self.members]
        if self.named is not None:
            return types.BaseNamedTuple.from_types(members, self.named)
        return types.BaseTuple.from_types(members)

    def first(self, rows):
        items = [member.first(rows) for member in self.members]
        return tuple(items) if self.named is None else self.named(*items)

    def source(self, read):
        items = ", ".join(member.source(read) for member in self.members)
        if self.named is None:
            return f"({items},)" if self.members else "()"
        return f"Named_{self.named.__name__}({items})"

    def leaves(self):
        for member in self.members:
            yield from member.leaves()


@dataclass(frozen=True)
class Absent:
    """None."""

    type = types.none

    def first(self, rows):
        return None

    def source(self, read):
        return "None"

    def leaves(self):
        return iter(())


class Given:
    """The leaves found so far in what an ensemble is given, and how many trajectories they are for."""

    def __init__(self, device):
        self.device, self.arrays, self.rows, self.resident = device, [], {}, False

    def structure(self, value, what):
        """The structure of a value; its leaves are noted. ArgumentError for what is none."""
        if value is None:
            return Absent()
        if isinstance(value, tuple):
            members = [self.structure(member, f"{what}[{k}]") for k, member in enumerate(value)]
            return Group(tuple(members), type(value) if hasattr(value, "_fields") else None)
        return self._leaf(value, what)

    def _leaf(self, value, what):
        if self.device.is_resident(value):
            array, self.resident = self.device.borrowed(value), True
        else:
            array = _as_numbers(value, what)
        kind = np.dtype(array.dtype).kind
        if kind not in "fiub" or len(array.shape) > 2:
            raise ArgumentError(
                f"{what} must be a number, or an array of numbers with a row for each trajectory; it has "
                f"the shape {tuple(array.shape)} and the dtype {array.dtype}"
            )
        if not array.shape:
            array = array.reshape(1)
        width = array.shape[1] if len(array.shape) == 2 else None
        if width is not None and not 1 <= width <= _MOST_IN_A_ROW:
            raise ArgumentError(
                f"{what} has {width} numbers in a row; a trajectory keeps them in registers, which have room "
                f"for 1 to {_MOST_IN_A_ROW}"
            )
        if array.shape[0] != 1:
            self.rows.setdefault(array.shape[0], what)
        self.arrays.append(array)
        return LeafArray(
            len(self.arrays) - 1, kind, array.shape[0] != 1, width, self._layout(array)
        )

    def is_passed(self, array):
        """Whether an array is one row that is passed by value."""
        return array.shape[0] == 1 and not self.device.is_resident(array)

    def _layout(self, array):
        """ "C" where the array is contiguous on the device, as those that are copied there will be."""
        if self.is_passed(array):
            return None
        copied = isinstance(array, np.ndarray) or array.is_c_contiguous()
        return "C" if copied else "A"

    def bytes_of_row(self):
        """What the rows of one trajectory take on the device, of arrays that are copied there."""
        return sum(
            8 * int(np.prod(array.shape[1:]))
            for array in self.arrays
            if array.shape[0] != 1 and not self.device.is_resident(array)
        )

    def count(self):
        """How many trajectories there are; ArgumentError where arrays disagree."""
        if len(self.rows) > 1:
            (one, first), (two, second) = list(self.rows.items())[:2]
            raise ArgumentError(
                f"{first} has {one} rows and {second} has {two}: an array has a row for each trajectory, or "
                "one row for all"
            )
        count = next(iter(self.rows), 1)
        if count == 0:
            raise ArgumentError(f"{self.rows[0]} has no rows: there is no trajectory to integrate")
        return count


def _as_numbers(value, what):
    refuse_masked(value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise ArgumentError(
            f"{what} must be a number, an array, or a tuple of those, not {value!r}"
        )
    return array


def float_sources(structure, at=""):
    """((leaf, column), source) of each float in a structure; the source is behind the name of its value."""
    if isinstance(structure, Group):
        for k, member in enumerate(structure.members):
            yield from float_sources(member, f"{at}[{k}]")
    elif isinstance(structure, LeafArray) and structure.kind == "f":
        for column in range(structure.width or 1):
            within = at if structure.width is None else f"{at}[{column}]"
            yield (structure.number, column), within


def state_of(structure):
    """The structure of an initial state, whose numbers are floats, and how many they are."""
    if isinstance(structure, LeafArray):
        return structure, structure.width or 1
    members = getattr(structure, "members", ())
    if not members or not all(isinstance(m, LeafArray) and m.width is None for m in members):
        raise ArgumentError(
            "y0s must be an array (trajectories, n), or a float or an array (trajectories,) for a scalar "
            "state, or a tuple of those for each component"
        )
    return structure, len(members)


def named_classes(*structures):
    """The classes of namedtuples, by the names that the source has for them."""
    found = {}
    for structure in structures:
        if isinstance(structure, Group):
            if structure.named is not None:
                found[f"Named_{structure.named.__name__}"] = structure.named
            found.update(named_classes(*structure.members))
    return found
