"""Machine code of very large functions, in a fraction of the time.

LLVM puts the instructions of a block in the order that needs the fewest registers, and looks through the
whole live range of each register that it moves something past: the time is quadratic in the blocks that a
value lives through. For a gradient of 18,000 instructions in 1,300 blocks that is 36 of 46 seconds. What the
order gains is a few percent, in small loops.

Where it coalesces registers it makes constants anew at each use, and brings a live range up to date after
each of them, unless there are more than a hundred; done once for all of them, the code is the same, and the
coalescing of a gradient of 40,000 instructions takes 0.35 s in place of 1.45.
"""

from contextlib import contextmanager
from functools import cache
from itertools import islice

from llvmlite import binding

BLOCKS, INSTRUCTIONS = 600, 10_000  # of one function, from which on it is large
KNOWN_VERSIONS = range(15, 23)  # of LLVM, whose options are known


def is_large(function):
    """Whether a function of a parsed module has so many blocks, and so many instructions."""
    if function.is_declaration or sum(1 for _ in function.blocks) < BLOCKS:
        return False
    instructions = (None for block in function.blocks for _ in block.instructions)
    return sum(1 for _ in islice(instructions, INSTRUCTIONS)) == INSTRUCTIONS


@cache
def _update_ranges_late():
    """Let LLVM bring live ranges up to date once for all uses; of an option it lacks it ends the process."""
    if binding.llvm_version_info[0] in KNOWN_VERSIONS:
        binding.set_option("numbad", "-late-remat-update-threshold=0")


@contextmanager
def quickly(module):
    """Let LLVM leave the instructions of a module with large functions in the order in which they stand."""
    _update_ranges_late()
    large = any(map(is_large, module.functions))
    if large:
        binding.set_option("numbad", "-enable-misched=false")
    try:
        yield
    finally:
        if large:
            binding.set_option("numbad", "-enable-misched=true")
