"""Keeps the state of every iteration of a loop, and runs the iteration again to reverse it.

The forward sweep runs the loop as it is and puts the state on the tape at the start of each iteration:
the numbers that are carried, and the arrays that are read before they are written. The reverse sweep
puts the state back, runs the iteration once more, with records, and reverses it.
"""

import operator

from numba.core import ir

from ...ir.function import map_vars
from ..arena import arena_copy, arena_mark, arena_rewind
from ..array_state import pop_array, push_array
from ..emitter import zeros_maker
from ..memory_helpers import put_back
from ..names import TAPE, TOP, counter
from ..needed import NEEDED, Needed
from ..switches import Switch
from ..value_tape import pop_frame, push_frame, read_frame
from .iterations import Region
from .replayable import replayable_loops

REPLAY = Switch(
    "replay",
    "loops that update arrays keep the state of an iteration and run it again",
)


class Replay(Region):
    """One loop; `sweep` is the `Sweep` that it is a part of, `found` the `Replayable`."""

    @classmethod
    def find(cls, sweep, taken):
        if not REPLAY.is_on() or sweep.options.snapshots or sweep.options.shared:
            return {}
        found = {f.loop.header: f for f in replayable_loops(*sweep.stages())}
        return {header: cls(sweep, f) for header, f in found.items() if header not in taken}

    def __init__(self, sweep, found):
        self.sweep, self.e, self.loop = sweep, sweep.e, found.loop
        self.loops = [found.loop]
        self.index, self.range = found.index, found.range
        self.start, self.state, self.visible = found.start, found.state, found.visible
        self.carried, self.versions = found.carried(), found.versions
        self.unread = set(found.unread)
        self.done, self.replaying = sweep.new_label(), False

    @property
    def entered(self):
        return self.sweep.forward_labels[self.header]

    def is_silent(self):
        """Whether nothing of an iteration is recorded: as long as it is not run again."""
        return not self.replaying

    def leaves_out(self, op):
        """Only the next iteration reads it, whose state is known; or the reverse has no need of it."""
        if not self.replaying:
            return False
        return op in self.unread or (self.needed is not None and not self.needed.makes(op))

    def way_past(self, source, target):
        """Round a loop that need not run."""
        if not self.replaying or self.needed is None or target not in self.needed.passed:
            return None
        return self.needed.passed[target]

    def texts(self, listing, loop):
        state = listing.listed([*self.carried, *self.state])
        why = f"its state {state} is kept at the start of each iteration, which is run once more"
        return "run again", "over its range", why

    def tell(self, unchanged):
        unchanged.unread |= self.unread
        unchanged.versions |= self.versions

    # -- forward -----------------------------------------------------------------------------

    def begins(self, source, target):
        """Whether an edge leads from the header into an iteration."""
        return source == self.start[-1] and target in self.loop.body

    def keep_state(self):
        """On the edge into an iteration."""
        self._push_state([])

    def _push_state(self, more):
        """Put the state on the tape, and `more` variables."""
        e = self.e
        where = self.sweep.where(self.loop)
        names = [*map(e.var, self.carried), *more]
        if names:
            e.assign(e.call(push_frame, e.var(TAPE), e.var(TOP), where, *names), e.var(TOP))
        for name in self.state:
            pushed = e.call(push_array, e.var(TAPE), e.var(TOP), where, e.var(name))
            e.assign(pushed, e.var(TOP))

    def _pop_state(self, more):
        """Take it back."""
        e = self.e
        for name in reversed(self.state):
            e.assign(e.call(pop_array, e.var(TOP), e.var(name)), e.var(TOP))
        names = [*map(e.var, self.carried), *more]
        if names:
            e.assign(e.call(pop_frame, e.var(TOP), *names), e.var(TOP))
            values = e.call(read_frame, e.var(TOP), *names)
            for k, name in enumerate(names):
                e.assign(e.item(values, k), name)

    def next_iteration(self, source):
        """The rest of a back edge: to the header, or to the iteration's reverse."""
        e, sweep = self.e, self.sweep
        if not self.replaying:
            sweep.assign_phis(source, self.header)
            e.append(ir.Jump(sweep.forward_labels[self.header], e.loc))
            return
        label, outer = sweep.new_label(), e.block
        e.start(sweep.block_at(label), self.header)
        sweep.reverse_phis(source, self.header)
        sweep.pop_left(source, self.header)
        e.append(ir.Jump(sweep.reverse_labels[source], e.loc))
        e.start(outer)
        e.append(ir.Jump(label, e.loc))

    def run_again(self):
        """The blocks of an iteration once more, with records."""
        self.needed = Needed(self.sweep, self.loop, self.unread) if NEEDED.is_on() else None
        self.replaying = True
        self.again = self._copied()
        self.replaying = False

    def _copied(self):
        """Emit the blocks of an iteration once more: their labels."""
        sweep = self.sweep
        known = sweep.forward_labels
        labels = [n for n in sweep.control.order if n in self.loop.body and n not in self.start]
        labels = [n for n in labels if not self._is_passed(n)]
        sweep.forward_labels = {**known, **{label: sweep.new_label() for label in labels}}
        for label in labels:
            first = set(sweep.blocks)
            sweep.forward_block(label)
            self._copy_statements(label, sweep.blocks.keys() - first)
        found, sweep.forward_labels = sweep.forward_labels, known
        return found

    def _is_passed(self, label):
        """Whether a block is one of a loop that need not run."""
        passed = self.needed.passed if self.replaying and self.needed is not None else ()
        return any(loop.header in passed for loop in self.sweep.control.around[label])

    def _copy_statements(self, label, made):
        """Inference knows statements by identity; and arrays have a name for each version."""
        unchanged = self.sweep.plan.unchanged
        versions = self.versions if self.replaying else ()
        names = {name: unchanged.array(name, label) for name in versions}

        def rename(var):
            known = names.get(getattr(var, "name", None))
            return var if known is None else self.e.var(known)

        for n in made:
            block = self.sweep.blocks[n]
            block.body = [map_vars(s, rename) for s in block.body]

    # -- backward ----------------------------------------------------------------------------

    def pull_back(self):
        """Where the reverse sweep comes to the loop."""
        e, sweep = self.e, self.sweep
        e.start(sweep.block_at(self.done), self.header)
        e.loc = sweep.fn.blocks[self.header].loc
        e.assign(sweep.length_of(self.range), self._count())
        for name in self.carried:
            e.assign(e.var(name), e.var(f"$final.{name}"))
        for name in self.visible:
            e.assign(e.call(arena_copy, e.var(TAPE), e.var(name)), e.var(f"$final.{name}"))
        for name, headers in self.versions.items():
            for header in headers[1:]:
                other = sweep.plan.unchanged.array(name, header)
                e.assign(e.call(zeros_maker(None), e.var(TAPE), e.var(name)), e.var(other))
        e.assign(e.call(arena_mark, e.var(TAPE)), e.var(f"$arena{self.header}"))
        e.append(ir.Jump(sweep.reverse_labels[self.header], e.loc))

    def _count(self):
        return self.e.var(counter(self.header))

    def finish_iteration(self):
        """In the header's reverse: to the iteration before, or on to what came before the loop."""
        e, sweep = self.e, self.sweep
        e.call(arena_rewind, e.var(TAPE), e.var(f"$arena{self.header}"))
        e.start(sweep.block_at(self._again_or_before()), self.header)
        count = self._count()
        e.binop(operator.sub, count, e.const(1), count)
        self._pop_state([])
        self._begin(count, self.again)

    def _again_or_before(self):
        """Leave the loop backward where no iteration is left: the label to go on at where one is."""
        e, sweep = self.e, self.sweep
        more = e.binop(operator.gt, self._count(), e.const(0))
        again, before = sweep.new_label(), sweep.new_label()
        e.append(ir.Branch(more, again, before, e.loc))
        e.start(sweep.block_at(before), self.header)
        with e.within(None):
            for name in self.carried:
                e.assign(e.var(f"$final.{name}"), e.var(name))
            for name in self.visible:
                e.call(put_back, e.var(name), e.var(f"$final.{name}"))
            sweep.leave_backwards(self.header, self.loop)
        return again

    def _begin(self, number, labels):
        """Go into iteration `number`, in one of the copies: what the header tells is known."""
        e, (start, _, step) = self.e, self.range
        e.assign(e.place_of_number(number, start, step), e.var(self.index))
        for label in self.start:
            for op in self.sweep.activity.ops[label]:
                s = op.statement
                if isinstance(getattr(s, "value", None), ir.Const | ir.Global | ir.FreeVar):
                    e.append(map_vars(s, lambda var: var))
        first = next(
            n for n in self.sweep.control.successors(self.start[-1]) if n in self.loop.body
        )
        e.append(ir.Jump(labels[first], e.loc))
