"""What derivatives are taken by: the numbers among what a trajectory is given, in passes of a few."""

from dataclasses import dataclass
from itertools import pairwise

from numbad.cuda.kernels import DOUBLE, SINGLE
from numbad.cuda.trajectories.given import Group
from numbad.errors import ArgumentError

# So many numbers of a step a thread can hold in its 255 registers of 32 bits; beyond, it spills.
_ROOM = {SINGLE: 225, DOUBLE: 115}


@dataclass(frozen=True)
class Seeds:
    """The numbers of one pass, as (leaf, column), and the number of the first of them among all."""

    numbers: tuple = ()
    first: int = 0

    @property
    def is_first(self):
        return self.first == 0

    def read(self, leaf, column, source):
        """The source of a number that is read: a dual number, where it is one of these."""
        at = leaf.number, column
        if at not in self.numbers:
            return source
        return f"unit({source}, {self.numbers.index(at)}, {len(self.numbers)}, 0)"


VALUES = Seeds()


def passes(numbers, chunk):
    """The numbers in passes of at most `chunk`, all nearly as large; one without any where there are none."""
    count = -(-len(numbers) // chunk)
    if count == 0:
        return [VALUES]
    bounds = [len(numbers) * k // count for k in range(count + 1)]
    return [Seeds(tuple(numbers[a:b]), a) for a, b in pairwise(bounds)]


def chunk_size(states, width, precision):
    """How many partials a thread carries where so many states are alive at once: as do not spill."""
    return max(1, _ROOM[precision] // (states * width) - 1)


def chosen(derivatives, y0, args):
    """The numbers that `derivatives` names, as (leaf, column); ArgumentError for names of none."""
    if derivatives is None:
        return []
    names = derivatives if isinstance(derivatives, tuple) else (derivatives,)
    found = [number for name in names for number in _named(name, y0, args)]
    if len(set(found)) < len(found):
        raise ArgumentError(f"derivatives={derivatives!r} names a number twice")
    return found


def _named(name, y0, args):
    if name == "y0":
        return _floats(y0)
    members = args.members if isinstance(args, Group) and args.named is None else (args,)
    if name == "args":
        return [number for member in members for number in _floats(member)]
    if isinstance(name, bool) or not isinstance(name, int) or not 0 <= name < len(members):
        raise ArgumentError(
            f"derivatives takes 'y0', 'args', the number of one of args (0 to {len(members) - 1}) or a tuple "
            f"of those, not {name!r}"
        )
    numbers = _floats(members[name])
    if not numbers:
        raise ArgumentError(
            f"derivatives: args[{name}] has no floats to differentiate by; integers are constants"
        )
    return numbers


def _floats(structure):
    return [
        (leaf.number, column)
        for leaf in structure.leaves()
        if leaf.kind == "f"
        for column in range(leaf.width or 1)
    ]
