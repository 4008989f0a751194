"""Runs typed code on sets of columns: both sides of every branch that is not known beforehand.

A branch on a known number is followed. At any other one both sides run from the same state, up to the
block that every way passes; there a number that differs is `UnknownNumber`, and depends on what it depends on
on either side. What the sides write to arrays is noted in a journal, taken back, and joined.

Where a loop goes on for as long as something says that is not known, its blocks are run in no order and
every assignment is joined to what was there, until nothing changes.
"""

from contextlib import contextmanager

from numba.core import ir

from ..errors import UnsupportedError
from ..ir.fence import place
from . import sets
from .values import (
    NOTHING,
    UNSET,
    Array,
    Conflict,
    Either,
    NoWayError,
    Range,
    UnknownNumber,
    is_known,
    join,
    same_number,
)

EXIT = -1
DEEPEST = 60
"""Calls within calls: a recursion that depends on a value has no end."""


class Machine:
    """The memory's journal, and how assignments count."""

    def __init__(self, program_of, interactions=None):
        self.program_of = program_of
        self.interactions = interactions  # where second derivatives are asked for
        self.journal = None  # of (cells, position, what was there)
        self.weak = 0  # above 0: what is written is joined to what was there
        self.changed = False
        self.depth = 0
        self.calls = ()  # the calls that the machine is in
        self.sites = {}  # (calls, statement) -> what it made, while assignments are weak

    def write(self, cells, p, value):
        """Put a value into memory."""
        old = cells[p]
        if self.weak or type(cells) is ArraySummary:
            value = join(old, value)
            self.note(old, value)
        if self.journal is not None:
            self.journal.append((cells, p, old))
        cells[p] = value

    def set(self, cells, p, value):
        """Put a value where no other one can be meant: the place of an iterator."""
        if self.journal is not None:
            self.journal.append((cells, p, cells[p]))
        cells[p] = value

    def made(self, statement, array):
        """What a statement makes: in a loop that is run in no order, one array for all that it makes."""
        if not self.weak:
            return array
        known = self.sites.setdefault((self.calls, statement), [])
        for other in known:
            if other.shape == array.shape:
                for p, value in enumerate(array.values()):
                    self.write(other.cells, p, value)
                return other
        if known:
            raise UnsupportedError(
                told("an array whose size changes from one iteration of a loop to the next", None)
            )
        array.cells = ArraySummary(array.values())
        known.append(array)
        self.changed = True
        return array

    def write_maybe(self, cells, p, value):
        """Put a value into memory, or leave what is there."""
        self.write(cells, p, join(cells[p], value))

    def note(self, old, new):
        """Whether a weak assignment said anything new."""
        if old is not new and not _equal(old, new):
            self.changed = True

    def call(self, dispatcher, argtypes, arguments):
        """What a function returns, as a tuple of one; None where it raises on every way."""
        return Frame(self, self.program_of(dispatcher, argtypes), arguments).run()

    @contextmanager
    def journalled(self):
        """What is written within, as a journal."""
        before, self.journal = self.journal, []
        try:
            yield self.journal
        finally:
            self.journal = before

    def both(self, first, second):
        """Run two functions from one state, and join what they return and what they write."""
        with self.journalled() as one:
            a = first()
        ends = {(id(cells), p): (cells, p, cells[p]) for cells, p, _ in one}
        for cells, p, old in reversed(one):
            cells[p] = old
        with self.journalled() as other:
            b = second()
        starts = {}
        for cells, p, old in (*one, *other):
            starts.setdefault((id(cells), p), (cells, p, old))
        for key, (cells, p, old) in starts.items():
            end = cells[p]
            if a is not None:
                mine = ends[key][2] if key in ends else old
                end = mine if b is None else join(mine, end)
            if self.journal is not None:
                self.journal.append((cells, p, old))
            cells[p] = end
        if a is None or b is None:
            return b if a is None else a
        return tuple(map(join, a, b))


def _equal(a, b):
    if type(a) is UnknownNumber and type(b) is UnknownNumber:
        return a.deps == b.deps
    if is_known(a) and is_known(b):
        return same_number(a, b)
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(map(_equal, a, b))
    if type(a) is Either and type(b) is Either:
        return len(a.arrays) == len(b.arrays)
    if type(a) is Array and type(b) is Array:
        return a.same_as(b)
    if type(a) is Range and type(b) is Range:
        return _equal(a.ends, b.ends)
    return type(a) is Conflict and type(b) is Conflict


class ArraySummary(list):
    """The cells of one of several arrays, which no assignment is sure to have changed."""


class Frame:
    """One call of a `Program`: the values of its names."""

    def __init__(self, machine, program, arguments):
        self.machine, self.program = machine, program
        self.weak = 0  # above 0: what is assigned here is joined to what was there
        self.env = dict.fromkeys(program.names, UNSET)
        self.env.update(zip(program.parameters, arguments, strict=True))

    def run(self):
        """What is returned, as a tuple of one; None where every way raises."""
        m = self.machine
        m.depth += 1
        if m.depth > DEEPEST:
            raise UnsupportedError(told("a recursion whose end is not known", self.program.loc))
        try:
            return self._run(self.program.entry, EXIT)
        finally:
            m.depth -= 1

    # -- strong: one block after another -----------------------------------------------------

    def _run(self, label, stop):
        """Run from a block whose phis are set up to `stop`; the values of the phis there."""
        program = self.program
        while True:
            block = program.block(label)
            try:
                self._steps(block)
            except NoWayError:
                return None
            end = block.terminator
            if isinstance(end, ir.Return):
                return (self.env[end.value.name],)
            if isinstance(end, ir.Jump):
                target, values = end.target, self._arrive(end.target, label)
            elif isinstance(end, ir.Branch):
                target, values = self._branch(label, end)
            else:
                return None
            if target == stop or values is None:
                return values
            self._enter(target, values)
            label = target

    def _steps(self, block):
        for step in block.steps:
            step(self)

    def _arrive(self, target, source):
        """The values of the phis of a block that is entered from another one."""
        env = self.env
        return tuple(
            UNSET if ways.get(source) is None else env[ways[source]]
            for _, ways in self.program.block(target).phis
        )

    def _enter(self, target, values):
        for (name, _), value in zip(self.program.block(target).phis, values, strict=True):
            self.env[name] = value

    def _branch(self, label, branch):
        """Where a branch leads, and the values of the phis there (None: every way raises)."""
        condition = self.env[branch.cond.name]
        returning = self.program.returning
        ways = [branch.truebr, branch.falsebr]
        if is_known(condition):
            target = ways[0] if condition else ways[1]
            return target, self._arrive(target, label)
        if type(condition) is not UnknownNumber:
            raise UnsupportedError(
                told("a branch whose condition depends on another branch", branch.loc)
            )
        ways = [way for way in dict.fromkeys(ways) if way in returning]
        if not ways:
            return EXIT, None
        if len(ways) == 1:  # the other one raises: no derivative is asked for there
            return ways[0], self._arrive(ways[0], label)
        join_at = self.program.meeting(label)
        region = self.program.region(label, join_at)
        if label in region:
            return join_at, self._fixpoint(label, region, join_at)
        sides = [lambda way=way: self._side(label, way, join_at) for way in ways]
        return join_at, self.machine.both(*sides)

    def _side(self, label, way, join_at):
        values = self._arrive(way, label)
        if way == join_at:
            return values
        self._enter(way, values)
        return self._run(way, join_at)

    # -- weak: in no order, until nothing changes ----------------------------------------------

    def _fixpoint(self, label, region, join_at):
        """Run the blocks of a loop in no order; the values of the phis where it ends."""
        m, program = self.machine, self.program
        stale = {n for k in region - program.dominators[label] for n in program.block(k).targets}
        for name in stale:
            self.env[name] = UNSET
        m.weak, self.weak = m.weak + 1, self.weak + 1
        outer, again = m.changed, True
        try:
            while again:
                m.changed = False
                for k in sorted(region):
                    self._merge_phis(k, region)
                    self._steps_if_set(program.block(k))
                again = m.changed
                outer |= again
            if join_at == EXIT:
                return self._returned(region)
            return tuple(self._over(ways, region) for _, ways in program.block(join_at).phis)
        finally:
            m.weak, self.weak = m.weak - 1, self.weak - 1
            m.changed = outer
            if not m.weak:
                m.sites.clear()

    def _merge_phis(self, label, region):
        for name, ways in self.program.block(label).phis:
            self.assign(name, self._over(ways, region))

    def _over(self, ways, region):
        """What a phi holds, over the ways from the blocks of a region."""
        found = UNSET
        for source, name in ways.items():
            if source in region and name is not None:
                found = join(found, self.env[name])
        return found

    def _steps_if_set(self, block):
        """The steps whose operands exist: what comes of a block that is not reached stays away."""
        for step, reads in zip(block.steps, block.reads, strict=True):
            if all(self.env.get(name, UNSET) is not UNSET for name in reads):
                try:
                    step(self)
                except NoWayError:  # behind a test that is not looked at
                    continue

    def _returned(self, region):
        found = UNSET
        for k in region:
            end = self.program.block(k).terminator
            if isinstance(end, ir.Return):
                found = join(found, self.env[end.value.name])
        return None if found is UNSET else (found,)

    def assign(self, name, value):
        """Give a name a value: the only one, or one more where assignments are weak."""
        if self.weak:
            old = self.env[name]
            value = join(old, value)
            self.machine.note(old, value)
        self.env[name] = value


def told(construct, loc):
    """What a refusal says."""
    return (
        f"nd.sparsity cannot follow which numbers depend on which through {construct}: {place(loc)}\n"
        "Way out: give the pattern yourself, nd.jacobian(f, sparsity=matrix); a pattern that is too "
        "large is right as well."
    )


def any_of(values):
    """What is one of several numbers."""
    found = UNSET
    for value in values:
        found = join(found, value)
    return NOTHING if found is UNSET else found


def depends(values):
    """The columns that any of several values depends on."""
    return sets.union_all(v.deps for v in values if type(v) is UnknownNumber)
