"""As many trajectories at once as the memory of a GPU has room for."""

import sys
from contextlib import contextmanager

from numbad.cuda.device import in_units
from numbad.errors import ArgumentError, DeviceError

# Of what is free, so much is left: the driver has local memory and code there.
LEFT_FREE = 0.1
# Fewer trajectories than the threads of a warp are not worth a launch.
FEWEST = 32
_FEWER = "Take fewer output times, fewer derivatives, or precision='float32'"


def checked_block(block):
    """The number of trajectories at once that the user asks for, or None."""
    if block is None:
        return None
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise ArgumentError(f"nd.cuda.ensemble: block is a number of trajectories, not {block!r}")
    return block


def portion(free, count, fixed, each, whole=None, who="nd.cuda.ensemble", way_out=_FEWER):
    """How many of `count` trajectories go at once where so many bytes are free.

    `fixed` bytes are needed in any case, and `each` for a trajectory. `whole` says why all must go at once,
    where they must, and what to do. DeviceError where not even a few fit, for what `who` asked for.
    """
    room = max(free * (1.0 - LEFT_FREE) - fixed, 0.0)
    most = int(room // each)
    if most >= count:
        return count
    fewest = count if whole else min(count, FEWEST)
    if most < fewest:
        raise DeviceError(
            f"{who} needs {in_units(fixed + each * fewest)} of memory on the GPU for {fewest} "
            f"trajectories, and {in_units(free)} are free there. {whole or way_out}"
        )
    return most - most % FEWEST


def portions(count, size):
    """(first, number) of each portion."""
    return [(first, min(size, count - first)) for first in range(0, count, size)]


@contextmanager
def progress_bar(count, wanted):
    """Give a function that advances a bar on standard error; silent where that is no terminal."""
    if not wanted or sys.stderr is None:
        yield lambda done: None
        return
    from tqdm import tqdm

    options = {"desc": "ensemble", "unit": "trajectory", "unit_scale": True, "disable": None}
    with tqdm(total=count, file=sys.stderr, **options) as bar:
        yield bar.update
