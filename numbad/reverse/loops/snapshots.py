"""Binomial checkpointing: a loop of any length with a given number of its states kept (Revolve).

The forward sweep keeps states at a few iterations. To reverse an iteration, the reverse sweep puts the
nearest kept state before it back and runs the loop from there on, keeping states again where there is
room. The distances between them are those that take the fewest iterations in all (A. Griewank and A.
Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical Software 26 (2000), 19-45; Griewank
& Walther, "Evaluating Derivatives", 2008, Proposition 12.3).
"""

import operator

from numba import njit
from numba.core import ir

from ..arena import arena_rewind
from ..names import TAPE, TOP
from .replay import Replay
from .replayable import loops_to_checkpoint


@njit
def steps_to_next(steps, states):
    """How far to go before the next state is kept.

    `steps` are still to be reversed; `states` can be kept for that, one of which is kept here. No
    further one: the number of steps.
    """
    if states < 2 or steps < 2:
        return steps
    # reach = C(states + repeats, states): the steps that can be reversed, each run `repeats` times
    repeats, before, reach = 0, 1, 1
    while reach < steps:
        repeats += 1
        before, reach = reach, reach * (states + repeats) // repeats
    # With one state less and one repetition less: C(states - 1 + repeats - 1, states - 1).
    fewer = before * states // (states + repeats - 1)
    return max(1, min(before, steps - fewer))


class Snapshots(Replay):
    """One loop; at most `most` of its states are kept at a time."""

    @classmethod
    def find(cls, sweep, taken):
        most = sweep.options.snapshots
        if not most:
            return {}
        alone = {part.loop.header for part in taken.values()}
        found = loops_to_checkpoint(*sweep.stages(), alone)
        return {f.loop.header: cls(sweep, f, most) for f in found}

    def __init__(self, sweep, found, most):
        super().__init__(sweep, found)
        self.most, self.advancing = most, False
        self._entered, self.forward_step = sweep.new_label(), sweep.new_label()

    @property
    def entered(self):
        return self._entered

    def _own(self, name):
        return self.e.var(f"${name}{self.header}")

    def _set(self, name, value):
        self.e.assign(value, self._own(name))

    # -- forward -----------------------------------------------------------------------------

    def enter(self):
        """Before the loop: nothing is kept yet; the first state is that of the first iteration."""
        e, sweep = self.e, self.sweep
        e.start(sweep.block_at(self._entered))
        e.loc = sweep.fn.blocks[self.header].loc
        self._set("length", sweep.length_of(self.range))
        for name in ("held", "at", "next"):
            self._set(name, e.const(0))
        e.append(ir.Jump(sweep.forward_labels[self.header], e.loc))

    def keep_state(self):
        """On the edge into an iteration: keep the state if it is its turn; count."""
        if not self.advancing:
            self._keep_in_turn(self._own("length"))
            self._count_up()

    def _keep_in_turn(self, stop):
        """Keep the state of iteration `at` if that is `next`; iterations up to `stop` are to come."""
        e, sweep = self.e, self.sweep
        turn = e.binop(operator.eq, self._own("at"), self._own("next"))
        keep, after, label = sweep.new_label(), sweep.new_label(), e.label
        e.append(ir.Branch(turn, keep, after, e.loc))
        e.start(sweep.block_at(keep), label)
        free = e.binop(operator.sub, e.const(self.most), self._own("held"))
        self._push_state([self._own("at")])
        self._set("held", e.binop(operator.add, self._own("held"), e.const(1)))
        left = e.binop(operator.sub, stop, self._own("at"))
        far = e.call(steps_to_next, left, free)
        self._set("next", e.binop(operator.add, self._own("at"), far))
        e.append(ir.Jump(after, e.loc))
        e.start(sweep.block_at(after), label)

    def _count_up(self):
        self._set("at", self.e.binop(operator.add, self._own("at"), self.e.const(1)))

    def next_iteration(self, source):
        if not self.advancing:
            super().next_iteration(source)
            return
        self.sweep.assign_phis(source, self.header)
        self._count_up()
        self.e.append(ir.Jump(self.forward_step, self.e.loc))

    def run_again(self):
        """The blocks of an iteration twice more: to go forward again, and with records."""
        self.advancing = True
        self.onward = self._copied()
        self.advancing = False
        super().run_again()

    # -- backward ----------------------------------------------------------------------------

    def finish_iteration(self):
        """In the header's reverse: to the iteration before, by way of the last state that is kept."""
        e, sweep = self.e, self.sweep
        e.call(arena_rewind, e.var(TAPE), e.var(f"$arena{self.header}"))
        again = self._again_or_before()
        e.start(sweep.block_at(again), self.header)
        count = self._count()
        e.binop(operator.sub, count, e.const(1), count)
        self._set("top", e.var(TOP))
        self._pop_state([self._own("at")])
        self._keep_or_release()
        self._step()

    def _keep_or_release(self):
        """The state that was put back stays kept, unless it is that of the iteration itself."""
        e, sweep, count = self.e, self.sweep, self._count()
        reached = e.binop(operator.eq, self._own("at"), count)
        release, stay = sweep.new_label(), sweep.new_label()
        e.append(ir.Branch(reached, release, stay, e.loc))
        e.start(sweep.block_at(release), self.header)
        self._set("held", e.binop(operator.sub, self._own("held"), e.const(1)))
        e.append(ir.Jump(self.forward_step, e.loc))
        e.start(sweep.block_at(stay), self.header)
        e.assign(self._own("top"), e.var(TOP))
        free = e.binop(operator.sub, e.const(self.most), self._own("held"))
        states = e.binop(operator.add, free, e.const(1))
        left = e.binop(operator.sub, count, self._own("at"))
        left = e.binop(operator.add, left, e.const(1))
        far = e.call(steps_to_next, left, states)
        self._set("next", e.binop(operator.add, self._own("at"), far))
        e.append(ir.Jump(self.forward_step, e.loc))

    def _step(self):
        """One iteration forward, or the one to be reversed."""
        e, sweep, count = self.e, self.sweep, self._count()
        e.start(sweep.block_at(self.forward_step), self.header)
        here = e.binop(operator.eq, self._own("at"), count)
        replay, onward = sweep.new_label(), sweep.new_label()
        e.append(ir.Branch(here, replay, onward, e.loc))
        e.start(sweep.block_at(replay), self.header)
        self._begin(count, self.again)
        e.start(sweep.block_at(onward), self.header)
        stop = e.binop(operator.add, count, e.const(1))
        self._keep_in_turn(stop)
        self._begin(self._own("at"), self.onward)
