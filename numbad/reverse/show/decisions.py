"""What was decided for each loop, and why, in a few words."""

from ..independent import Independent
from ..ops.parallel_loop import Parallel
from ..replay import Replay
from ..stencils import LENGTH, find_stencils
from ..switches import enabled
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
        self.stencils = find_stencils(sweep)

    def loops(self):
        """All loops that are reversed; those that are reversed one by one are no loops any more."""
        control = self.sweep.control
        taken_apart = [loop for part in self.sweep.parts() for loop in part.loops]
        return [*taken_apart, *(o for h, o in control.loops.items() if h in control.returning)]

    def parallel(self):
        """The parallel loops, which were taken out of the function."""
        return [op for op in self.sweep.activity.every() if isinstance(op, Parallel)]

    def texts_of_parallel(self, op):
        """The same for a parallel loop."""
        e, effects = self.sweep.e, op.callee.effects
        if not op.is_live(e):
            return "in parallel", "", "it carries no derivative"
        if op.is_reversed_at_once(e):
            return (
                "in parallel",
                "",
                "with the forward sweep: the adjoint of its sum is taken for 1",
            )
        if effects.can_be_reversed_in_pieces(op.wrt(e)):
            return "in parallel", "", "its iterations are run once more"
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
        part = self.sweep.iterations.get(loop.header)
        if isinstance(part, Replay):
            return "run again", "over its range", self._why_again(part)
        if part is not None:
            return "one by one", "", self._why_one_by_one(loop, part)
        if loop.header in self.sweep.selected:
            return "once", f"last{at_line(self.sweep, loop.header)}", self._why_once(loop)
        why = self._why_whole(loop)
        if loop.header in self.sweep.skipped:
            why += "; skipped where the adjoints of its results are zero"
        if loop.header in self.stencils:
            why += f"; what it adds to neighbours is added {LENGTH} iterations at a time"
        known = loop.header in self.sweep.counted
        count = "over its range" if known else f"count{at_line(self.sweep, loop.header)} times"
        return "as a whole", count, why

    def _why_once(self, loop):
        carried = self.sweep.selected[loop.header].carried
        carried = ", ".join(dict.fromkeys(self.names.plain(name) for name in carried))
        return f"{carried} is what one iteration chose: the last one that did is reversed"

    def _why_again(self, part):
        state = ", ".join(dict.fromkeys(map(self.names.plain, [*part.carried, *part.state])))
        return f"its state {state} is kept at the start of each iteration, which is run once more"

    def _why_one_by_one(self, loop, part):
        line, total = at_line(self.sweep, part.header), self.names.plain(part.sum[0])
        if loop is not part.loop:
            return f"its iterations are those of line {line[1:]}"
        said = f"the iterations meet only in the sum {total}, "
        if part.way is not None:
            return f"{said}whose adjoint is known before: seed{line}"
        bars = list(dict.fromkeys(f"{self.names.plain(n)}_bar{line}" for n, _ in part.outer))
        bars = ", ".join(bars[:3]) + (", ..." if len(bars) > 3 else "")
        return f"{said}whose adjoint is taken for 1; {bars} are multiplied by it afterwards"

    def _why_whole(self, loop):
        sweep = self.sweep
        if not sweep.plan.records(loop):
            return "nothing is recorded"
        if loop.header in sweep.control.regions:
            region = sweep.control.regions[loop.header]
            return f"part of an iteration of line {at_line(sweep, region.header)[1:]}"
        if not enabled("independent"):
            return "reversing one by one is switched off"
        asked = Independent(sweep.fn, sweep.activity, sweep.control, sweep.plan, loop)
        obstacle = asked.obstacle()
        carried = ", ".join(dict.fromkeys(self.names.plain(name) for name, _ in asked.carried()))
        if obstacle == "one sum":
            needed = f"an iteration needs {carried} of the one before"
            return needed if carried else "there is no sum that its iterations add to"
        return _OBSTACLES.get(obstacle, "").format(carried)
