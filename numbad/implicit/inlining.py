"""Compiling what calls the functions that it is given.

A function that is passed on is an address of this process; where the callee is put in place, there is
none, so the compiled code can be kept on disk.
"""

from numba import njit


def inlined(function):
    """Compile a function into each place that calls it."""
    return njit(error_model="numpy", forceinline=True)(function)
