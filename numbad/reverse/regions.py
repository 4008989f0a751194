"""Which loops are reversed iteration by iteration, and how."""

from .cotangents import Lanes
from .fused import Fused, fused_loops
from .independent import independent_loops
from .iterations import Iterations
from .replay import Replay
from .replayable import loops_to_checkpoint, replayable_loops
from .snapshots import Snapshots
from .switches import enabled


def find_regions(sweep):
    """The loops of a `Sweep` whose iterations are reversed one by one: header -> `Region`."""
    stages = sweep.fn, sweep.activity, sweep.control, sweep.plan
    found = _independent(sweep, stages) if enabled("independent") else {}
    if sweep.options.snapshots:
        alone = {part.loop.header for part in found.values()}
        for loop in loops_to_checkpoint(*stages, alone):
            found[loop.loop.header] = Snapshots(sweep, loop, sweep.options.snapshots)
    elif enabled("replay") and not sweep.options.shared:
        for loop in replayable_loops(*stages):
            found.setdefault(loop.loop.header, Replay(sweep, loop))
    return found


def _independent(sweep, stages):
    """Loops whose iterations meet only in a sum."""
    seeded = enabled("seeded") and not isinstance(sweep.e.dual, Lanes)
    loops = independent_loops(*stages)
    made = [Iterations(sweep, loop, seeded) for loop in loops]
    # those by themselves add whole arrays to shadows in the end
    found = {part.header: part for part in made if not (sweep.options.shared and part.is_alone())}
    for nest in fused_loops(*stages) if seeded and enabled("fused") else ():
        found |= dict.fromkeys((loop.header for loop in nest.loops), Fused(sweep, nest))
    return found
