"""Numba's CPU target, asked in the middle of a compilation for a GPU."""

from contextlib import contextmanager

from numba.core.compiler import Flags
from numba.core.target_extension import target_override
from numba.core.targetconfig import ConfigStack


@contextmanager
def cpu_target():
    """Within it, Numba compiles for the CPU: without this, for the GPU and with its flags."""
    flags = Flags()
    flags.nrt = True
    with target_override("cpu"), ConfigStack().enter(flags):
        yield
