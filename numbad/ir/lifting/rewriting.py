"""Where closures are lifted: among Numba's rewrites of untyped code, in every compilation.

This module is imported as soon as Numba is, so it imports what does the work when there is some.
"""

from numba.core import ir
from numba.core.rewrites import Rewrite, register_rewrite


@register_rewrite("before-inference")
class LiftClosures(Rewrite):
    """After the calls of closures have been put in place, before closures become functions of their own."""

    def __init__(self, state=None):
        super().__init__(state)
        self.argtypes = getattr(state, "args", None)
        # Code that Numba puts in place of a call has no arguments, nor yet what it captures.
        self.done = self.argtypes is None

    def match(self, func_ir, block, typemap, calltypes):
        if not self.done:  # Numba asks for each block; this is about all of them
            self.done = True
            lift_closures(func_ir, self.argtypes)
        return False


def lift_closures(func_ir, argtypes=()):
    """Lift the closures that a function hands to operators, in place."""
    assigned = (s for block in func_ir.blocks.values() for s in block.find_insts(ir.Assign))
    if any(_names_operator(statement.value) for statement in assigned):
        from .lift import lift

        lift(func_ir, argtypes)


def _names_operator(value):
    """Whether a value is a global of numbad's, or a module, which may have one."""
    if not isinstance(value, ir.Global | ir.FreeVar):
        return False
    name = getattr(value.value, "__module__", None) or getattr(value.value, "__name__", None)
    return isinstance(name, str) and name.partition(".")[0] == "numbad"
