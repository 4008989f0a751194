"""Formulas put into each other, as far as the meaning stays the same.

A temporary that is used once gives way to its formula, unless something between changes what the
formula reads. What an adjoint is set to zero by moves behind the last use of its value. Assignments
whose value nobody reads are left out.
"""

from collections import Counter

from .formula import is_negative
from .merge import coalesce, set_where_zero


def simplify(blocks, successors, entry, names):
    """Simplify the lines of all blocks, in place; those of block `entry` set the adjoints to zero."""
    set_where_zero(blocks, successors, entry, set(names.adjoints))
    _drop_dead(blocks, successors, names)
    _fold_blocks(blocks, names)
    live = _live_after(blocks, successors)
    names.merge(coalesce(blocks, live, names.variable, names.doubles()))
    _rename(blocks, names)
    _drop_dead(blocks, successors, names)
    _fold_blocks(blocks, names)
    _drop_dead(blocks, successors, names)


def _fold_blocks(blocks, names):
    uses = Counter(name for lines in blocks.values() for line in lines for name in line.reads)
    sets = Counter(name for lines in blocks.values() for line in lines for name in line.writes)
    for label in blocks:
        blocks[label] = _Body(blocks[label], names, uses, sets).simplified()


def _rename(blocks, names):
    """Put the names that stand for several in their places."""
    for label, lines in blocks.items():
        for line in lines:
            line.rename(names.merged)
        blocks[label] = [line for line in lines if not line.is_copy_of_itself]


# -- what nobody reads -------------------------------------------------------------------------


def _drop_dead(blocks, successors, names):
    live = _live_after(blocks, successors)
    for label, lines in blocks.items():
        after, kept = set(live[label]), []
        for line in reversed(lines):
            if _is_idle(line, after, names):
                continue
            line.unread = line.kind == "set" and bool(line.writes) and not after & {*line.writes}
            line.unread = line.unread and line.value.has_effect
            kept.append(line)
            _step_back(line, after)
        blocks[label] = kept[::-1]


def _is_idle(line, after, names):
    if line.kind not in ("set", "add") or not line.writes or line.value.has_effect:
        return False
    (name,) = line.writes
    return name not in after and names.is_hideable(name)


def _step_back(line, live):
    """From what is live after a line to what is live before it."""
    if line.kind != "add":
        live.difference_update(line.writes)
    live.update(line.reads)


def _live_after(blocks, successors):
    """The variables that are read after the end of each block."""
    before = {label: set() for label in blocks}
    after = {label: set() for label in blocks}
    changed = True
    while changed:
        changed = False
        for label in reversed(list(blocks)):
            live = set().union(*(before[m] for m in successors[label]))
            after[label] = set(live)
            for line in reversed(blocks[label]):
                _step_back(line, live)
            if live != before[label]:
                before[label], changed = live, True
    return after


# -- within a block ----------------------------------------------------------------------------


class _Body:
    """The lines of one block, being simplified."""

    def __init__(self, lines, names, uses, sets):
        self.lines, self.names, self.uses, self.sets = list(lines), names, uses, sets

    def simplified(self):
        self._fold_all()
        self._move_zeroing()
        self._fold_all()
        return self.lines

    def _fold_all(self):
        k = 0
        while k < len(self.lines):
            if not self._fold(k):
                k += 1

    def _users(self, name, start):
        """The numbers of the lines that read a variable; None if others than these do."""
        found = [k for k in range(start, len(self.lines)) if name in self.lines[k].reads]
        count = sum(self.lines[k].reads.count(name) for k in found)
        return found if count == self.uses[name] and self.sets[name] == 1 else None

    def _substitute(self, users, name, node):
        for k in users:
            line = self.lines[k]
            occurrences = line.reads.count(name)
            if line.value is not None:
                line.value = line.value.put(name, node)
            if line.target is not None and line.target.op != "name":
                line.target = line.target.put(name, node)
            self.uses[name] -= occurrences
            self.uses.update(list(node.names) * occurrences)
        self.uses.subtract(node.names)

    # -- t = x_bar; x_bar = 0; y_bar += t  becomes  y_bar += x_bar; x_bar = 0 ------------------

    def _move_zeroing(self):
        k = 0
        while k + 1 < len(self.lines):
            taken, zeroing = self.lines[k : k + 2]
            pair = taken.kind == "set" and zeroing.is_zeroing and taken.value == zeroing.target
            if not (pair and self._move(k)):
                k += 1

    def _move(self, k):
        (name,), place = self.lines[k].writes, self.lines[k].value
        users = self._users(name, k + 2)
        if not users or any(self.lines[n].kind == "record" for n in users):
            return False
        last = users[-1]
        if any(self._touches(self.lines[n], place) for n in range(k + 2, last + 1)):
            return False
        if place.op != "name" and self.lines[last].changes_memory:
            return False
        if self.lines[last].kind == "branch":
            return False
        self._substitute(users, name, place)
        zeroing = self.lines[k + 1]
        zeroing.joined = True
        zeroing.loc = self.lines[last].loc
        self.lines.insert(last + 1, zeroing)
        del self.lines[k : k + 2]
        return True

    def _touches(self, line, place):
        if place.op == "name":
            return place.parts[0] in line.reads or place.parts[0] in line.writes
        inside = set(place.names)
        if inside & set(line.writes):
            return True
        adjoints = any(self.names.is_adjoint(n) for n in _bases(line))
        return line.changes_memory or adjoints

    # -- what is used once ---------------------------------------------------------------------

    def _fold(self, k):
        line = self.lines[k]
        if line.kind != "set" or not line.writes:
            return False
        (name,) = line.writes
        users = self._users(name, k + 1)
        if not users or any(self.lines[n].kind == "record" for n in users):
            return False
        simple = _is_simple(line.value)
        once = len(users) == 1 and self.uses[name] == 1
        if not self.names.is_plain(name) or not (once or simple):
            return False
        if not all(self._can_move(line, k, n) for n in users):
            return False
        del self.lines[k]
        self._substitute([n - 1 for n in users], name, line.value)
        return True

    def _can_move(self, line, k, user):
        """Whether the value of line `k` is the same just before line `user`."""
        reads, between = set(line.value.names), self.lines[k + 1 : user]
        if any(reads & set(other.writes) for other in between):
            return False
        if line.value.has_effect:
            return not any(o.reads_memory or o.changes_memory for o in between)
        return not (line.value.reads_memory and any(o.changes_memory for o in between))


def _is_simple(node):
    """Whether a formula may stand wherever its value is used."""
    if node.op == "tuple" or is_negative(node):
        return all(map(_is_simple, node.nodes))
    return node.op in ("name", "text")


def _bases(line):
    """The variables whose elements a line reads or writes."""
    pending = [n for n in (line.target, line.value) if n is not None]
    found = []
    while pending:
        node = pending.pop()
        if node.op in ("index", "attr") and node.parts[0].op == "name":
            found.append(node.parts[0].parts[0])
        pending += node.nodes
    return found
