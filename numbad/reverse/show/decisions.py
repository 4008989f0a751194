"""What was decided for each loop, and why, in a few words."""

from ..independent import INDEPENDENT, Independent
from ..loops.loop_strategies import STRATEGIES
from ..loops.loop_strategy import LoopStrategy
from ..ops.parallel_loop import Parallel
from .reader_names import at_line

_OBSTACLES = {
    "outermost": "it lies within another one",
    "left at the start": "it may be left in the middle",
    "only added to": "{} is not only added to",
    "plain": "it uses more than numbers and arrays",
    "arrays apart": "an iteration may read what another one has written",
}


class Decisions:
    """Texts for the loops of a sweep."""

    def __init__(self, sweep, names):
        self.sweep, self.names = sweep, names
        self.shown = [cls.shown(sweep) for cls in STRATEGIES if cls.when != LoopStrategy.APART]

    def loops(self):
        """All loops that are reversed; those that are reversed one by one are no loops any more."""
        control = self.sweep.control
        taken_apart = [loop for part in self.sweep.parts() for loop in part.loops]
        return [*taken_apart, *(o for h, o in control.loops.items() if h in control.returning)]

    def parallel(self):
        """The loops that were taken out of the function."""
        return [op for op in self.sweep.activity.every() if isinstance(op, Parallel)]

    def texts_of_parallel(self, op):
        """The same for a loop that was taken out: in parallel, or in lanes."""
        e, effects, how = self.sweep.e, op.callee.effects, op.callee.how
        if not op.is_live(e):
            return how, "", "it carries no derivative"
        if op.is_reversed_at_once(e):
            return how, "", "with the forward sweep: the adjoint of its sum is taken for 1"
        if effects.can_be_reversed_in_pieces(op.wrt(e)):
            return how, "", "its iterations are run once more"
        return "as a whole", "", "iterations change elements that others may read; run once more"

    def depth(self, loop):
        """In how many loops a loop lies."""
        region = self.sweep.control.regions.get(loop.header)
        part = self.sweep.iterations.get(loop.header)
        if part is not None:
            return part.loops.index(loop)
        return (region is not None) + sum(
            o is not loop for o in self.sweep.control.around[loop.header]
        )

    def texts(self, loop):
        """How a loop is reversed, how it counts, and why."""
        header = loop.header
        part = self.sweep.iterations.get(header)
        if part is not None:
            return part.texts(self, loop)
        strategies = [found[header] for found in self.shown if header in found]
        for strategy in strategies:
            texts = strategy.texts(self, loop)
            if texts is not None:
                return texts
        remarks = [f"; {s.remark()}" for s in strategies if s.remark()]
        known = header in self.sweep.counted
        count = "over its range" if known else f"count{self.at_line(header)} times"
        return "as a whole", count, self._why_whole(loop) + "".join(remarks)

    def at_line(self, label):
        """What is put behind names that belong to a block: `count@12`."""
        return at_line(self.sweep, label)

    def listed(self, names):
        """Names of the source, with commas between them."""
        return ", ".join(dict.fromkeys(map(self.names.plain, names)))

    def _why_whole(self, loop):
        sweep = self.sweep
        if not sweep.plan.records(loop):
            return "nothing is recorded"
        if loop.header in sweep.control.regions:
            region = sweep.control.regions[loop.header]
            return f"part of an iteration of line {at_line(sweep, region.header)[1:]}"
        if not INDEPENDENT.is_on():
            return "reversing one by one is switched off"
        asked = Independent(sweep.fn, sweep.activity, sweep.control, sweep.plan, loop)
        obstacle = asked.obstacle()
        carried = self.listed(name for name, _ in asked.carried())
        if obstacle == "one sum":
            needed = f"an iteration needs {carried} of the one before"
            return needed if carried else "there is no sum that its iterations add to"
        return _OBSTACLES.get(obstacle, "").format(carried)
