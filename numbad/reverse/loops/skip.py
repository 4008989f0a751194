"""Loops that need not be reversed where nothing depends on their results: a path that pays nothing.

Two kinds of loops are looked at: those directly in an iteration that is reversed by itself, and those in
another loop that records nothing, whose results are used on some branches only (a distance that is not the
smallest). Their results must be numbers; if the adjoints of all of them are zero, the loop adds nothing.
"""

from collections import defaultdict

from numba.core import ir

from ...ir.leaves import HANDLES, at
from ..cotangents import Lanes
from ..names import TAPE, TOP
from ..ops.moves import Copy, Phi
from ..ops.recursive import Recursive
from ..ops.scalar_function import ScalarOp
from ..ops.structural_functions import Extremum, Linear
from ..switches import Switch
from ..value_tape import top_at, top_offset
from ..zero_test import is_nothing
from .loop_strategy import LoopStrategy

SKIP = Switch("skip", "an inner loop is skipped where the adjoints of its results are zero")


def _records(sweep, loop):
    """Whether an iteration of a loop, or of one within, leaves anything on the tape."""
    framed = any(sweep.plan.frames.get(h) for h in sweep.control.loops if h in loop.body)
    ops = [op for label in loop.body for op in sweep.activity.ops[label]]
    return framed or any(isinstance(op, Recursive) for op in ops)


def _uses(activity):
    """leaf -> the statements that it flows into, and those that may share its memory."""
    found = defaultdict(dict)
    for op in activity.every():
        for source, _ in op.flows + op.aliases:
            found[source][op] = None
    return found


class _Results:
    """What a loop results in: the active `leaves` from it that are used outside of it."""

    def __init__(self, sweep, loop, uses):
        self.sweep, self.loop, self.uses = sweep, loop, uses
        self.active = sweep.activity.active
        ops = [op for label in loop.body for op in sweep.activity.ops[label]]
        made = {target for op in ops for _, target in op.flows + op.aliases}
        self.leaves = sorted(leaf for leaf in made if self.active(leaf) and self._users(leaf))

    def _users(self, leaf):
        return [op for op in self.uses.get(leaf, ()) if op.label not in self.loop.body]

    def can_be_asked(self):
        """Whether they are numbers, and the loop writes to no array."""
        ops = [op for label in self.loop.body for op in self.sweep.activity.ops[label]]
        stores = any(self.active(h) for op in ops for h in op.stores)
        kinds = [at(self.sweep.fn.type_of(name), path).kind for name, path in self.leaves]
        return not stores and len(self.loop.entries) == 1 and not any(k in HANDLES for k in kinds)

    def may_be_unused(self):
        """Whether each is used on some ways through the iteration of the loop around it only."""
        return all(self._may_be_unused(leaf) for leaf in self.leaves)

    def _may_be_unused(self, leaf):
        for op in self._users(leaf):
            targets = [t for s, t in op.flows if s == leaf and self.active(t)]
            if targets and not self._may_be_left_out(op, leaf, targets):
                return False
        return True

    def _may_be_left_out(self, op, leaf, targets):
        if op in self.sweep.choosing or op.label in self.sweep.merging:
            return False  # what is chosen there is what is reversed
        if isinstance(op, Extremum) or self._can_be_passed(op.label):
            return True
        if isinstance(op, Phi):
            meant = {(v.name, leaf[1]) for v in op.incoming.values()}
            return len(meant) > 1 and op.label not in self.sweep.control.loops
        plain = isinstance(op, ScalarOp | Linear | Copy)
        return plain and all(self._may_be_unused(target) for target in targets)

    def _can_be_passed(self, label):
        """Whether an iteration can be completed without a block that comes after the loop."""
        around, control = self.loop.parent, self.sweep.control
        seen, pending = {label}, [self.loop.header]
        while label in around.body.difference([around.header]) and pending:
            for target in control.successors(pending.pop()):
                if target == around.header or target not in around.body:
                    return True
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        return False


class Skip(LoopStrategy):
    """The question before a loop is reversed."""

    asks = True

    @classmethod
    def find(cls, sweep, taken):
        if not SKIP.is_on() or isinstance(sweep.e.dual, Lanes):
            return {}
        control, uses = sweep.control, _uses(sweep.activity)
        asked = {}
        for header, loop in control.loops.items():
            piece = header in control.regions and loop.parent is None
            if header in control.returning and (piece or loop.parent is not None):
                results = _Results(sweep, loop, uses)
                alone = piece or (results.may_be_unused() and not _records(sweep, loop))
                if results.can_be_asked() and alone:
                    asked[header] = cls(sweep, loop, results.leaves)
        return asked

    def __init__(self, sweep, loop, results):
        self.sweep, self.e, self.loop, self.results = sweep, sweep.e, loop, results
        self.records = _records(sweep, loop)

    def _name(self):
        return f"$top{self.loop.header}"

    def enter(self):
        """On the way into the loop: where its frames begin."""
        e = self.e
        if self.records:
            e.assign(e.call(top_offset, e.var(TAPE), e.var(TOP)), e.var(self._name()))

    def ask(self, there):
        """End a block: go on to the loop's reverse, `there`, or past it."""
        e, sweep = self.e, self.sweep
        taken, past = e.block, sweep.new_label()
        for bar in self._bars():
            block, following = e.block, sweep.new_label()
            block.append(ir.Branch(is_nothing(e, bar), following, there, e.loc))
            e.block = sweep.block_at(following)
        e.append(ir.Jump(past, e.loc))
        e.block = sweep.block_at(past)
        if self.records:
            e.assign(e.call(top_at, e.var(TAPE), e.var(self._name())), e.var(TOP))
        e.append(ir.Jump(sweep.before(self.loop.header), e.loc))
        e.block = taken

    def remark(self):
        return "skipped where the adjoints of its results are zero"

    def _bars(self):
        """The adjoints of the numbers that the loop results in."""
        with self.e.within(self.sweep.regions.get(self.loop.header)):
            return [self.e.bar(leaf) for leaf in self.results]
