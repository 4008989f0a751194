"""What a run of an iteration has to make for the iteration's reverse: the last stage it need not.

From what the reverse asks for, back through the operands, to the stores to what is loaded. Calls, and
other statements than loads, stores, arithmetic and the like, are all made.
"""

from numba.core import ir, types

from ..ir.function import is_expr, read_by, successors
from ..ir.leaves import leaves
from .ops.array import Load, Store, View
from .ops.base import Constant
from .ops.moves import Move, Phi
from .ops.scalar_function import ScalarOp
from .switches import Switch

NEEDED = Switch("needed", "what is run again makes only what its reverse asks for")

_SPARED = Load, ScalarOp, Store, Constant


class Needed:
    """`makes` tells it of statements; `passed` has the header of each loop that need not run at all,
    and the edge that leaves it. `unread` are stores that are not made in any case."""

    def __init__(self, sweep, loop, unread):
        self.plan, self.activity, self.control = sweep.plan, sweep.activity, sweep.control
        self.fn, self.loop, self.sweep = sweep.fn, loop, sweep
        every = [op for label in loop.body for op in sweep.activity.ops[label]]
        self.ops = [op for op in every if op not in unread]
        self.passed = self._loops_to_pass()
        self._made, self._names, self._memory, self._pending = set(), set(), set(), []
        self._find()

    def makes(self, op):
        return op in self._made

    # -- loops that may be passed by -----------------------------------------------------------

    def _loops_to_pass(self):
        """Headers of loops that record nothing and do not count, until something in them is needed."""
        within = [
            loop
            for h, loop in self.control.loops.items()
            if h in self.loop.body and h in self.sweep.counted
        ]
        return {
            loop.header: self._exit(loop)
            for loop in within
            if len(loop.entries) == 1 and not self.plan.records(loop) and self._exit(loop)
        }

    def _exit(self, loop):
        """The one edge that leaves a loop, or None."""
        edges = self._exits(loop)
        return edges[0] if len(edges) == 1 else None

    def _exits(self, loop):
        return [
            (label, target)
            for label in loop.body
            for target in successors(self.fn.blocks[label])
            if target not in loop.body
        ]

    def _around(self, label):
        return [loop for loop in self.control.around[label] if loop.header in self.passed]

    # -- what is needed --------------------------------------------------------------------------

    def _find(self):
        for op in self.ops:
            if not self._is_spared(op) and not (self._steers(op) and self._around(op.label)):
                self._make(op)
        for name in self._asked():
            self._need(name)
        while self._pending:
            self._make(self._pending.pop())

    def _is_spared(self, op):
        """Whether a statement is left out if nothing asks for what it makes."""
        if isinstance(op, Move) and not isinstance(op, Phi):
            return not any(leaf.kind != "scalar" for leaf in leaves(self.fn.type_of(op.target)))
        if isinstance(op, Constant):
            s = op.statement
            return isinstance(s, ir.Assign) and not is_expr(s.value, "call")
        return isinstance(op, _SPARED)

    @staticmethod
    def _steers(op):
        """Whether a statement is a part of its loop, and goes with it."""
        return isinstance(op, Phi) or op.statement.is_terminator

    def _asked(self):
        """The names that are recorded, and those that the reverse of an iteration reads: what it
        computes again, it computes from others."""
        body, plan = self.loop.body, self.plan
        found = {name for header, frame in plan.frames.items() if header in body for name in frame}
        pending = [each for each in self.sweep.e.needs if each[0] in body]
        for header, over in self.sweep.counted.items():
            if header in body:  # its length is taken where the reverse enters it
                exits = [target for _, target in self._exits(self.control.loops[header])]
                pending += [(n, v.name) for n in exits for v in over if v is not None]
        seen = set()
        while pending:
            label, name = pending.pop()
            if (label, name) in seen:
                continue
            seen.add((label, name))
            if plan.alive(label, name) or plan.recorded(label, name):
                found.add(name)
            else:
                pending += [(label, other) for other in plan.recipe_operands(name)]
        return sorted(name for name in found if isinstance(name, str))

    def _need(self, name):
        """A value, or one that stands for it in the reverse; of an array, what it holds."""
        if name in self._names:
            return
        self._names.add(name)
        self._need(self.plan.unchanged.same.get(name, name))
        if isinstance(self.fn.type_of(name), types.Array):
            self._read(self.activity.node((name, ())))
        op = self.plan.ops.get(name)
        if op is not None and op.label in self.loop.body:
            self._pending.append(op)

    def _read(self, node):
        if node not in self._memory:
            self._memory.add(node)
            self._pending += [
                op for op in self.ops if any(self.activity.node(h) == node for h in op.stores)
            ]

    def _make(self, op):
        if op in self._made:
            return
        self._made.add(op)
        for loop in self._around(op.label):
            del self.passed[loop.header]
            self._pending += [o for o in self.ops if self._steers(o) and o.label in loop.body]
        for var in read_by(op.statement):
            handle = isinstance(op, View | Move) and isinstance(self.fn.type_of(var), types.Array)
            stored_to = isinstance(op, Store) and var.name == op.statement.target.name
            if not handle and not stored_to:
                self._need(var.name)
