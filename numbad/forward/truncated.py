"""Integers that Numba makes of floats in passing, of dual numbers as well: they carry no derivative."""

import operator

from numba.core import types
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


@overload(operator.setitem)
def _setitem(a, i, v):
    """What is stored in an array of integers is truncated."""
    if not isinstance(a, types.Array) or not isinstance(a.dtype, types.Integer):
        return None
    if not isinstance(v, d.Dual):
        return None

    def set_integer(a, i, v):
        a[i] = int(v)

    return set_integer
