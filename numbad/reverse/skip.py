"""Loops that need not be reversed where nothing depends on their results: a path that pays nothing.

Asked of the loops that lie directly in an iteration that is reversed by itself. Their results must be
numbers; if all the adjoints of these are zero, so is everything that the loop would add.
"""

import operator

from numba.core import ir

from ..ir.leaves import HANDLES, at
from .ops.recursive import Recursive
from .switches import enabled
from .tape import top_at, top_offset


def find_skipped(sweep):
    """header -> `Skip`."""
    if sweep.e.dual is not None or not enabled("skip"):  # a dual zero need not be zero
        return {}
    control = sweep.control
    loops = [
        loop
        for header, loop in control.loops.items()
        if header in control.regions and loop.parent is None and header in control.returning
    ]
    return {loop.header: Skip(sweep, loop) for loop in loops if _is_skippable(sweep, loop)}


def _is_skippable(sweep, loop):
    active = sweep.activity.active
    ops = [op for label in loop.body for op in sweep.activity.ops[label]]
    stores = any(active(h) for op in ops for h in op.stores)
    numbers = not any(
        at(sweep.fn.type_of(name), path).kind in HANDLES for name, path in _results(sweep, loop)
    )
    return not stores and numbers and len(loop.entries) == 1


class Skip:
    """The question before a loop is reversed."""

    def __init__(self, sweep, loop):
        self.sweep, self.e, self.loop = sweep, sweep.e, loop
        framed = any(sweep.plan.frames.get(h) for h in sweep.control.loops if h in loop.body)
        ops = [op for label in loop.body for op in sweep.activity.ops[label]]
        self.records = framed or any(isinstance(op, Recursive) for op in ops)

    def _name(self):
        return f"$top{self.loop.header}"

    def keep_top(self):
        """On the way into the loop: where its frames begin."""
        e = self.e
        if self.records:
            e.assign(e.call(top_offset, e.var("$tape"), e.var("$top")), e.var(self._name()))

    def ask(self, there):
        """End a block: go on to the loop's reverse, `there`, or past it."""
        e, sweep = self.e, self.sweep
        taken, past = e.block, sweep.new_label()
        for bar in self._bars():
            block, following = e.block, sweep.new_label()
            is_zero = e.binop(operator.eq, bar, e.const(0.0))
            block.append(ir.Branch(is_zero, following, there, e.loc))
            e.block = sweep.block_at(following)
        e.append(ir.Jump(past, e.loc))
        e.block = sweep.block_at(past)
        if self.records:
            e.assign(e.call(top_at, e.var("$tape"), e.var(self._name())), e.var("$top"))
        e.append(ir.Jump(sweep.before(self.loop.header), e.loc))
        e.block = taken

    def _bars(self):
        """The adjoints of the numbers that the loop results in."""
        with self.e.within(self.sweep.regions[self.loop.header]):
            return [self.e.bar(leaf) for leaf in _results(self.sweep, self.loop)]


def _results(sweep, loop):
    """The active leaves from a loop that are used outside of it."""
    used = {
        source
        for label, ops in sweep.activity.ops.items()
        if label not in loop.body
        for op in ops
        for source, _ in op.flows + op.aliases
    }
    inside = [leaf for leaf in used if sweep.plan.place_of(leaf[0]) in loop.body]
    return sorted(leaf for leaf in inside if sweep.activity.active(leaf))
