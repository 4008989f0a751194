"""Integers that Numba makes of floats in passing, of dual numbers as well: they carry no derivative."""

from numba.extending import overload

from . import dual as d
from .dual_reductions import is_none


@overload(range)
def _range(start, stop=None, step=None):
    """`range(x)` counts by integers, of floats too."""
    if not any(isinstance(end, d.Dual) for end in (start, stop, step)):
        return None
    if is_none(stop):
        return lambda start, stop=None, step=None: range(int(start))
    if is_none(step):
        return lambda start, stop=None, step=None: range(int(start), int(stop))
    return lambda start, stop=None, step=None: range(int(start), int(stop), int(step))
