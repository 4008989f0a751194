"""The ways to reverse certain loops, each a file, in the order in which loops are offered to them.

All other loops are reversed as a whole: back from the last iteration, with what each one recorded.
"""

from .fused import Fused
from .iterations import Iterations
from .loop_strategy import LoopStrategy
from .replay import Replay
from .selection import Selected
from .skip import Skip
from .snapshots import Snapshots
from .stencils import Stencil

STRATEGIES = Selected, Iterations, Fused, Snapshots, Replay, Skip, Stencil


def find_apart(sweep):
    """The loops that are no loops any more: header -> `Region`."""
    found = {}
    for cls in _asked(LoopStrategy.APART):
        found |= cls.find(sweep, found)
    return found


def find_whole(sweep, when):
    """The others: class -> {header: object}."""
    found = {}
    for cls in _asked(when):
        taken = {header for known in found.values() for header in known}
        found[cls] = cls.find(sweep, taken)
    return found


def _asked(when):
    return [cls for cls in STRATEGIES if cls.when == when]
