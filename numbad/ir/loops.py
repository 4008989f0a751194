"""The loops of a function, and the ways through its blocks."""

import operator
from dataclasses import dataclass, field
from functools import cached_property, reduce

from numba.core import ir
from numba.core.ir_utils import compute_cfg_from_blocks

from .function import is_phi, successors

ROOT = -1


@dataclass
class Loop:
    """A natural loop: its header, its blocks, the loop that it lies in."""

    header: int
    body: frozenset
    parent: "Loop" = None
    entries: list = field(default_factory=list)  # predecessors of the header from outside
    latches: list = field(default_factory=list)  # and from inside


class Control:
    """Predecessors, loops and order of the blocks of a `Function`."""

    def __init__(self, fn, split=False):
        self.fn = fn
        self.root = Loop(ROOT, frozenset(fn.blocks)) if split else None
        cfg = compute_cfg_from_blocks(fn.blocks)
        self.order = list(cfg.topo_order())
        self.dominators = cfg.dominators()
        self.predecessors = {label: [p for p, _ in cfg.predecessors(label)] for label in fn.blocks}
        self.returning = self._returning()
        self._find_loops(cfg)

    def _returning(self):
        """The blocks from which a return can be reached."""
        seen = {label for label, b in self.fn.blocks.items() if isinstance(b.terminator, ir.Return)}
        pending = list(seen)
        while pending:
            for p in self.predecessors[pending.pop()]:
                if p not in seen:
                    seen.add(p)
                    pending.append(p)
        return seen

    def _find_loops(self, cfg):
        found = [Loop(header, frozenset(loop.body)) for header, loop in cfg.loops().items()]
        found.sort(key=lambda loop: len(loop.body))
        self.loops = {loop.header: loop for loop in found}
        self.every = dict(self.loops)  # those that are dissolved later, too
        self.regions = {}  # label -> the dissolved loop that it lies in
        self.around = {label: [] for label in self.fn.blocks}  # innermost first
        for loop in found:
            for label in loop.body:
                self.around[label].append(loop)
            for p in self.predecessors[loop.header]:
                (loop.latches if p in loop.body else loop.entries).append(p)
        if self.root is not None:  # the body of a function counts as one iteration
            for label in self.fn.blocks:
                self.around[label].append(self.root)
        self._find_parents()

    def _find_parents(self):
        for loop in self.loops.values():
            outer = [o for o in self.around[loop.header] if o is not loop]
            loop.parent = outer[0] if outer else None

    def dissolve(self, loop):
        """Take a loop for code that runs once: what is said of its blocks holds for one iteration."""
        del self.loops[loop.header]
        for label in loop.body:
            self.around[label].remove(loop)
            self.regions[label] = loop
        self._find_parents()

    def beginning(self, loop):
        """The labels of the header and of the blocks that always follow it, up to the first branch."""
        found, label = [], loop.header
        while self.innermost(label) is loop:
            found.append(label)
            following = successors(self.fn.blocks[label])
            if len(following) != 1 or following[0] == loop.header:
                break
            label = following[0]
        return found

    def is_left_at_start(self, loop):
        """Whether every iteration that begins is completed, if nothing is raised."""
        return not any(
            target not in loop.body and target in self.returning
            for label in loop.body.difference(self.beginning(loop))
            for target in successors(self.fn.blocks[label])
        )

    def reachable(self, label, within=None):
        """The blocks (of `within`) that may be run after a block, itself only if it is in a loop."""
        seen, pending = set(), [label]
        while pending:
            for target in successors(self.fn.blocks[pending.pop()]):
                if target not in seen and (within is None or target in within):
                    seen.add(target)
                    pending.append(target)
        return seen

    def condition(self, label):
        """The condition by which one of a block's two predecessors was taken: the variable and the
        number of the predecessor if it holds; None where no such condition is known."""
        ways = self.predecessors[label]
        if len(ways) != 2:
            return None
        above = max(self.dominators[label] - {label}, key=lambda n: len(self.dominators[n]))
        branch = self.fn.blocks[above].terminator
        if not isinstance(branch, ir.Branch) or self.innermost(above) is not self.innermost(label):
            return None
        sides = [self._side(way, above, label) for way in ways]
        return (branch.cond, sides.index(True)) if set(sides) == {True, False} else None

    def _side(self, way, above, label):
        """Which side of a branch a block lies on: True, False, or None where that is not known."""
        branch = self.fn.blocks[above].terminator
        if branch.truebr == branch.falsebr:
            return None
        for start, side in ((branch.truebr, True), (branch.falsebr, False)):
            if way == above and start == label:
                return side
            if self.predecessors[start] == [above] and self.dominates(start, way):
                return side
        return None

    def always_follows(self, other, label):
        """Whether every way from `label` to a return leads through `other`."""
        numbers, followers = self._followers
        return bool(followers.get(label, 0) & numbers[other])

    @cached_property
    def _followers(self):
        """A bit for each block; label -> those of itself and of all that always follows."""
        numbers = {label: 1 << k for k, label in enumerate(self.order)}
        known, changed = dict.fromkeys(self.returning, (1 << len(self.order)) - 1), True
        while changed:
            changed = False
            for label in reversed(self.order):
                if label not in known:
                    continue
                ways = [known[k] for k in self.successors(label) if k in known]
                found = numbers[label] | (reduce(operator.and_, ways) if ways else 0)
                changed |= found != known[label]
                known[label] = found
        return numbers, known

    def dominates(self, label, other):
        """Whether every way to `other` leads through `label`."""
        return label in self.dominators[other]

    def successors(self, label):
        return successors(self.fn.blocks[label])

    def innermost(self, label):
        """The innermost loop round a block, or None."""
        return self.around[label][0] if self.around[label] else None

    def outside(self, label):
        """Whether a block lies outside of everything that is run more than once."""
        return not self.around[label]

    def common(self, label, other):
        """The innermost loop that holds both blocks, or None."""
        return next((loop for loop in self.around[label] if other in loop.body), None)

    def left(self, source, target):
        """The loops that an edge leaves, innermost first."""
        return [loop for loop in self.around[source] if target not in loop.body]

    def before(self, loop, label):
        """The blocks that an iteration may have run when it is at `label`, `label` included."""
        seen, pending = {label}, [label]
        while pending:
            current = pending.pop()
            if current == loop.header:
                continue
            for p in self.predecessors[current]:
                if p in loop.body and p not in seen:
                    seen.add(p)
                    pending.append(p)
        return seen


def merge_headers(fn):
    """Join the header of each loop with the blocks that alone follow it, as far as to the first branch."""
    for header in compute_cfg_from_blocks(fn.blocks).loops():
        while _merge_next(fn, header):
            pass


def _merge_next(fn, label):
    block = fn.blocks[label]
    if not isinstance(block.terminator, ir.Jump):
        return False
    following = block.terminator.target
    alone = [k for k, b in fn.blocks.items() if following in successors(b)] == [label]
    if not alone or following == label or any(map(is_phi, fn.blocks[following].body)):
        return False
    merged = fn.blocks.pop(following)
    block.body[-1:] = merged.body
    for after in successors(merged):
        for s in filter(is_phi, fn.blocks[after].body):
            blocks = s.value.incoming_blocks
            s.value._kws["incoming_blocks"] = [label if k == following else k for k in blocks]
    fn.changed()
    return True
