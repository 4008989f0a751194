"""What is recorded on the way forward and taken back on the way back: frames, counts, ways.

Every edge that ends an iteration of a loop, back edges and exits alike, records the loop's frame; the
reverse of the edge reloads it into the same names.
"""

import operator

from numba.core import ir, types

from ..ir.function import successors
from . import frame_table
from .memory_helpers import range_length
from .names import TAPE, TOP, choice, counter, shadow_name
from .ops.recursive import Recursive
from .switches import Switch
from .value_tape import pop_frame, push_frame, read_frame

TABLES = Switch(
    "tables",
    "innermost loops over known ranges make room on the tape once, not an iteration",
)

COUNTED = Switch(
    "counted",
    "loops over a `range` that the reverse sweep knows do not count their iterations",
)


class Recording:
    """The part of a `Sweep` that deals with the tape."""

    def _find_choices(self):
        """Blocks with several ways in record which one was taken, loops how often they ran."""
        control = self.control
        self._find_counted()
        for label in self.live:
            loop = control.loops.get(label)
            if label in self.iterations:
                pass  # its back edges lead to the adjoint themselves
            elif loop is not None:
                if len(loop.latches) > 1:
                    self.keep_aux(loop, choice(label), label)
                if len(loop.entries) > 1:
                    self.keep_aux(loop.parent, f"{choice(label)}e", label)
                if label not in self.counted and label not in self.selected:
                    self.keep_aux(loop.parent, counter(label), label)
            elif self._is_asked_for(label):
                self.keep_aux(control.innermost(label), choice(label), label)

    def _is_asked_for(self, label):
        """Whether the way by which a block was come to has to be recorded."""
        several = len(self.control.predecessors[label]) > 1
        return several and label not in self.plan.conditions and self.only_way(label) is None

    def _find_counted(self):
        """Loops that need not count: their ranges are known in the reverse sweep."""
        self.counted = {}  # header -> start, stop, step
        for header, loop in self.control.loops.items():
            over = self.plan.range_of(loop)
            asked = header in self.control.returning and header not in self.selected
            if over is None or not asked or not COUNTED.is_on():
                continue
            start = self.control.beginning(loop)
            after = {
                target
                for label in start
                for target in successors(self.fn.blocks[label])
                if target not in loop.body and target in self.control.returning
            }
            names = [v.name for v in over if v is not None]
            if all(self.plan.reach(label, name) for label in after for name in names):
                self.counted[header] = over

    def _find_tables(self):
        """Headers of the innermost loops whose frames are rows of a table."""
        found, loops = set(), self.control.loops
        for header in self.counted:
            loop, frame = loops[header], self.plan.frames.get(header)
            innermost = not any(h in loop.body for h in loops if h != header)
            if frame and innermost and len(loop.entries) == 1 and self._is_table(loop, frame):
                found.add(header)
        return found if TABLES.is_on() else set()

    def _is_table(self, loop, frame):
        """Whether frames are of numbers, one for each iteration, and nothing else is recorded."""
        recorded = [self.fn.types.get(name, types.intp) for name in frame if isinstance(name, str)]
        numbers = all(isinstance(ty, types.Number | types.Boolean) for ty in recorded)
        ops = [op for label in loop.body for op in self.activity.ops[label]]
        kept = any(name in self.plan.extras for name in frame)
        exits = any(self._records(loop, label) for label in self.control.beginning(loop))
        plain = len(recorded) == len(frame) and numbers and not kept and not exits
        return plain and not any(isinstance(op, Recursive) for op in ops)

    def keep_aux(self, loop, name, label):
        """Have a frame hold a variable of the sweeps' own, which the reverse of a block needs."""
        if loop is not None:
            self.plan.frames[loop.header].append(name)
            self.plan.used[loop.header, name].add(label)

    def _records(self, loop, source):
        """Whether an exit from `source` must record the frame of the unfinished iteration."""
        if loop.header in self.selected:
            return False
        before = self.control.before(loop, source)
        return any(
            self.plan.used[loop.header, name] & before for name in self.plan.frames[loop.header]
        )

    def _record_edge(self, source, target):
        e, control = self.e, self.control
        for loop in control.left(source, target):
            if loop.header in control.returning and self._records(loop, source):
                self._push(loop)
        loop = control.loops.get(target)
        ways = list(control.predecessors[target])
        if target in self.iterations:
            entries = self.iterations[target].loop.entries
            if source in entries and len(entries) > 1:
                e.assign(e.const(entries.index(source)), e.var(f"{choice(target)}e"))
        elif loop is not None and source in loop.body:
            if len(loop.latches) > 1:
                e.assign(e.const(loop.latches.index(source)), e.var(choice(target)))
            ending = [s for s in self.strategies(target) if s.ends_iterations]
            if ending:
                ending[0].end_iteration(source)
            else:
                self._push(loop)
            if target not in self.counted or target in self.tables:
                count = e.var(counter(target))
                e.binop(operator.add, count, e.const(1), count)
        elif loop is not None:
            for strategy in self.strategies(target):
                strategy.enter()
            if len(loop.entries) > 1:
                e.assign(e.const(loop.entries.index(source)), e.var(f"{choice(target)}e"))
            if target not in self.counted or target in self.tables:
                e.assign(e.const(0), e.var(counter(target)))
            if target in self.tables:
                self._reserve(loop)
        elif self._is_asked_for(target):
            e.assign(e.const(ways.index(source)), e.var(choice(target)))
        if target in self.merging:
            self.merging[target].merge(source, target)

    def _frame(self, loop):
        return [
            self.e.var(shadow_name(name) if isinstance(name, tuple) else name)
            for name in self.plan.frames[loop.header]
        ]

    def _range_length(self, loop):
        return self.length_of(self.counted[loop.header])

    def length_of(self, over):
        """The length of a range, given by the variables of its start, stop and step."""
        e = self.e
        start, stop, step = over
        start = e.const(0) if start is None else e.value(start)
        step = e.const(1) if step is None else e.value(step)
        return e.call(range_length, start, e.value(stop), step)

    def _table(self, loop):
        return self.e.var(f"$base{loop.header}"), self.e.var(f"$rows{loop.header}")

    def where(self, loop):
        loc = self.fn.blocks[loop.header].loc
        return self.e.const(f"the loop at {loc.filename}, line {loc.line}")

    def _reserve(self, loop):
        """Make room for the frames of a loop before it."""
        e, frame, (base, length) = self.e, self._frame(loop), self._table(loop)
        e.assign(self._range_length(loop), length)
        where = self.where(loop)
        e.assign(e.call(frame_table.reserve, e.var(TAPE), e.var(TOP), length, where, *frame), base)
        e.assign(e.call(frame_table.above, base, length, *frame), e.var(TOP))

    def _push(self, loop):
        frame = self._frame(loop)
        if loop.header in self.tables:
            base, _ = self._table(loop)
            e = self.e
            e.call(frame_table.put, base, e.var(counter(loop.header)), *frame)
        elif frame:
            e = self.e
            where = self.where(loop)
            e.assign(e.call(push_frame, e.var(TAPE), e.var(TOP), where, *frame), e.var(TOP))

    def _pop(self, loop):
        frame, e = self._frame(loop), self.e
        if frame:
            values = self._popped(loop, frame)
            for k, var in enumerate(frame):
                e.assign(ir.Expr.static_getitem(values, k, None, e.loc), var)

    def _popped(self, loop, frame):
        e = self.e
        if loop.header in self.tables:
            base, _ = self._table(loop)
            return e.call(frame_table.get, base, e.var(counter(loop.header)), *frame)
        e.assign(e.call(pop_frame, e.var(TOP), *frame), e.var(TOP))
        return e.call(read_frame, e.var(TOP), *frame)

    def _count_left(self, source, target):
        """How often the loops ran that an edge leaves, where they did not count themselves."""
        e = self.e
        for loop in self.control.left(source, target):
            if loop.header in self.counted:
                count = self._range_length(loop)
                e.assign(count, e.var(counter(loop.header)))
                if loop.header in self.tables:
                    frame, (base, length) = self._frame(loop), self._table(loop)
                    e.assign(count, length)
                    e.assign(e.call(frame_table.below, e.var(TOP), length, *frame), base)
                    e.assign(base, e.var(TOP))

    def pop_left(self, source, target):
        """Take back the frames that an edge recorded as it left loops."""
        for loop in reversed(self.control.left(source, target)):
            if loop.header in self.control.returning and self._records(loop, source):
                self._pop(loop)
