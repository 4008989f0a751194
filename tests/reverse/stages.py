"""The stages of reverse mode, for tests that look into them."""

import copy

from numba import njit
from numba.core import ir

from numbad.reverse import pipeline


def sweep_of(f, program):
    """The `Sweep` of a function with the arguments of a `Program`'s first run, before it is compiled."""
    function = njit(f)
    function(*copy.deepcopy(program.runs[0]))
    made = pipeline.Pipeline(function, function.signatures[0], program.wrt)
    made.run(ir.Scope(None, ir.unknown_loc))
    return made.sweep
