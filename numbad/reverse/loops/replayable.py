"""Time loops that update arrays in place: found here, to keep the state of a step and not its stages.

An iteration can be run again if all that it reads can be put back: the numbers that are carried round
the loop, and the arrays that iterations read before they write them. (Griewank & Walther, "Evaluating
Derivatives", 2008, ch. 12: checkpointing at every step.)
"""

import math

import numpy as np
from numba.core import ir, types
from numba.core.dispatcher import Dispatcher

from ...forward.known import MUTATING, output
from ...forward.promote import effects
from ...ir.fence import refuse
from ...ir.function import is_expr
from ...ir.inline import is_of_library
from ...rules.arrays.broadcasting import LENGTHS
from ...rules.registry import SCALAR, STOPPING
from ..ops.array import Fresh, View
from ..ops.base import Constant
from ..ops.moves import Move, Phi
from ..ops.parallel_loop import Parallel
from ..scratch import Scratch

_PURE = {len, range, bool, int, float, complex, abs, min, max, round, slice, np.empty_like}
_PURE |= {*LENGTHS}
# Records of inner loops for each array of the state, from where on to keep the state: the second run of an
# iteration takes its time, so more are asked for where each of these loops runs over the array once.
LEAST, MANY = 2, 5


def replayable_loops(fn, activity, control, plan):
    """The loops whose iterations are run again where that records less, as `Replayable`."""
    found = []
    for loop in list(control.loops.values()):
        candidate = Replayable(fn, activity, control, plan, loop)
        outermost = loop.parent is None and candidate.records() >= LEAST
        if outermost and candidate.is_replayable() and candidate.pays():
            found.append(candidate)
    return found


def loops_to_checkpoint(fn, activity, control, plan, others):
    """The outermost loops that record something, to be reversed with a few states kept.

    `others` are the headers of loops that record nothing any more.
    """
    found = []
    for loop in list(control.loops.values()):
        candidate = Replayable(fn, activity, control, plan, loop, with_pulled=True)
        if loop.parent is None and loop.header not in others and plan.records(loop):
            if not candidate.is_replayable():
                if is_of_library(fn.blocks[loop.header].loc.filename):  # within np.full, say
                    continue
                loc = fn.blocks[loop.header].loc
                if any(isinstance(op, Parallel) for op in candidate.ops):
                    raise refuse(
                        "a loop around a parallel loop (prange) that nd.checkpoint would run again from a "
                        "snapshot",
                        loc,
                        "put what one step does into a function of its own and call nd.checkpoint(step) in "
                        "the loop, without snapshots, or compile without parallel=True",
                    )
                raise refuse(
                    "a loop that nd.checkpoint cannot run again from a snapshot",
                    loc,
                    "let it run over a range without leaving it early, carry numbers and arrays that "
                    "are written in place (u[:] = v for u, v = v, u), call no operator or nd.checkpoint that "
                    "writes to its arguments, and neither draw nor print",
                )
            found.append(candidate)
    return found


class Replayable:
    """A loop over a range, and the arrays that its iterations start from: `state`."""

    def __init__(self, fn, activity, control, plan, loop, with_pulled=False):
        self.fn, self.activity, self.control, self.plan = fn, activity, control, plan
        self.with_pulled = with_pulled  # whether operators, solvers and rules are called once more
        self.loop, self.state, self.visible = loop, [], []
        self.versions = {}  # array -> headers of the loops after which it is another one
        self.unread = []  # stores that only the next iteration reads
        self.ops = [op for label in loop.body for op in activity.ops[label]]
        self.start = control.beginning(loop)

    def records(self):
        """How many values the loops within record."""
        loops = [h for h in self.control.loops if h in self.loop.body and h != self.loop.header]
        return sum(len(self.plan.frames.get(h, ())) for h in loops)

    def pays(self):
        """Whether keeping the state takes much less memory than keeping the stages."""
        least = LEAST if self._records_within_elements() else MANY
        if not self.state or self.records() < least * len(self.state):
            return False
        return not any(map(self._is_written_in_parts, self.state))

    def _records_within_elements(self):
        """Whether a loop records that lies deeper than a walk over the state: many times for each element."""
        depth = max((self.fn.type_of(root).ndim for root in self.state), default=0)
        own = len(self.control.around[self.loop.header])
        return any(
            self.plan.frames.get(h) and len(self.control.around[h]) - own > depth
            for h in self.control.loops
            if h in self.loop.body
        )

    def _is_written_in_parts(self, root):
        """Whether each iteration has a part of an array to write to: less than all that would be kept."""
        node, distances = self.activity.node((root, ())), self.plan.distances
        stores = [op for op in self.ops if node in map(self.activity.node, op.stores)]
        return any(distances.goes_along(op, self.loop) for op in stores)

    def is_replayable(self):
        return (
            self._has_range()
            and self._starts_plainly()
            and all(map(self._is_plain, self.ops))
            and self._reads_what_stays()
            and self._finds_state()
        )

    def _has_range(self):
        """Whether the loop runs over a whole range: `index` is its name, `over` start and step."""
        if self.plan.range_of(self.loop) is None or len(self.loop.entries) != 1:
            return False
        names = [n for n in self.plan.stops if self.plan.indices[n][0] is self.loop]
        self.index, self.range = names[0], self.plan.range_of(self.loop)
        return self.loop.header in self.control.returning and len(names) == 1

    def _starts_plainly(self):
        """Whether the header does nothing but count, and carries numbers."""
        for label in self.start:
            for op in self.activity.ops[label]:
                s = op.statement
                if isinstance(op, Phi):
                    if not isinstance(self.fn.type_of(s.target), types.Number | types.Boolean):
                        return False
                elif isinstance(s, ir.Assign) and not self._counts_or_names(s.value):
                    return False
        return True

    @staticmethod
    def _counts_or_names(value):
        counts = is_expr(value, "iternext", "pair_first", "pair_second")
        return counts or isinstance(value, ir.Const | ir.Global | ir.FreeVar)

    def _is_plain(self, op):
        """Whether a statement does the same when it is made again, and nothing else."""
        s = op.statement
        if s.is_terminator:
            return not isinstance(s, ir.Return)
        if op.repeatable or (self.with_pulled and op.is_pulled_plainly()):
            return True
        if not isinstance(op, Constant) or not isinstance(s, ir.Assign):
            return False
        if is_expr(s.value, "getattr") and self.plan.has_fields(s.value.value):
            return False
        return not is_expr(getattr(s, "value", None), "call") or self._calls_plainly(s.value)

    def _calls_plainly(self, call):
        called = self.fn.constant(call.func)
        try:
            known = called in _PURE or called in SCALAR or called in STOPPING
            known = known or (self.with_pulled and self._gives_the_same(called, call))
        except TypeError:
            return False
        return known or getattr(called, "__module__", "") == math.__name__

    @staticmethod
    def _gives_the_same(called, call):
        """Whether a function gives the same for the same arguments, and changes none of them."""
        if isinstance(called, Dispatcher):
            done = effects(called, ()).cautious()
            return not (done.changed or done.random)
        into = "out" in dict(call.kws) or output(called, call.args) is not None
        known = getattr(called, "__module__", "") == np.__name__
        return known and called not in MUTATING and not into

    # -- arrays ------------------------------------------------------------------------------

    def _reads_what_stays(self):
        """Whether nothing that follows the loop writes to what the iterations read."""
        if self.plan.integers_change:
            return False
        after = self.control.reachable(self.loop.header) - self.loop.body
        read = {self.activity.node(s) for op in self.ops for s in op.reads()}
        return not any(
            self.activity.node(h) in read
            for label in after
            for op in self.activity.ops[label]
            for h in op.stores
        )

    def _finds_state(self):
        """Whether the arrays are known that have to be kept."""
        nodes = {self.activity.node(h) for op in self.ops for h in op.stores}
        for node in sorted(nodes, key=str):
            roots = self._roots(node)
            if roots is None:
                return False
            scratch = Scratch(self.fn, self.activity, self.control, self.plan, self.loop, node)
            self.visible += roots if scratch.is_visible() else []
            if not scratch.is_written_before_it_is_read():
                self.state += roots
                self.unread += scratch.stores_unread()
            elif len(roots) == 1 and scratch.is_covered() and len(scratch.covers()) > 1:
                self.versions[roots[0]] = scratch.covers()
        return True

    def _roots(self, node):
        """The arrays from before the loop that the memory belongs to; None where they are not known."""
        found = []
        for name, path in self.activity.members(node):
            if self.plan.place_of(name) in self.loop.body:
                continue
            op = self.plan.ops.get(name)
            if op is None or isinstance(op, Fresh):
                if path or not isinstance(self.fn.type_of(name), types.Array):
                    return None
                found.append(name)
            elif not isinstance(op, View | Move):
                return None
        return found

    def carried(self):
        """The names of the numbers that are carried round the loop."""
        ops = self.activity.ops[self.loop.header]
        return [op.target for op in ops if isinstance(op, Phi)]
