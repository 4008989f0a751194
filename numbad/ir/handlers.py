"""`try`: which blocks have their exceptions handled in the function."""

from numba.core import ir
from numba.core.unsafe import eh

from .function import is_expr

TEST_BEFORE = "test for the cause with `if` before, or leave out `try`"


def handled(fn, label):
    """Whether an exception in a block goes on in the function, at a handler that does not raise.

    Numba ends such a block with a test whether there was one.
    """
    block = fn.blocks[label]
    test = fn.definition(block.terminator.cond) if isinstance(block.terminator, ir.Branch) else None
    if not is_expr(test, "call") or fn.constant(test.func) is not eh.exception_check:
        return False
    handler = fn.blocks[block.terminator.truebr]
    return not isinstance(handler.terminator, ir.StaticRaise | ir.DynamicRaise)
