"""Sums, products, extrema, accumulations and searches over arrays of dual numbers.

The value is what Numba's own function makes of the values, so that it equals the primal's to the
last bit; loops over the duals give the partials.
"""

import numpy as np
from numba.core import types
from numba.extending import overload

from ..source import define
from .array import as_scalar, is_dual_array, plain
from .dualize import stand_for, stand_for_method


def as_zero(a):
    """The zero of the dtype of an array."""
    raise NotImplementedError


@overload(as_zero)
def _as_zero(a):
    zero = as_scalar(a.dtype)
    return lambda a: zero(0.0)


def is_none(ty):
    """Whether an argument of this type is None, given or by default."""
    return ty is None or isinstance(ty, types.NoneType | types.Omitted)


def method_call(name, *optional):
    """A function that calls the method itself, for objects that are no arrays."""
    given = ", ".join(f"x{k}" for k, ty in enumerate(optional) if not is_none(ty))
    parameters = "".join(f", x{k}=None" for k in range(len(optional)))
    return define(f"def call(a{parameters}):\n    return a.{name}({given})\n", {})


def _sorted(a):
    raise NotImplementedError


@overload(_sorted)
def _overload_sorted(a):
    if not is_dual_array(a):
        return lambda a: np.sort(a)
    if a.ndim != 1:
        return None
    return lambda a: a[np.argsort(plain(a), kind="mergesort")]


def _sort(a):
    raise NotImplementedError


@overload(_sort)
def _overload_sort(a):
    if not is_dual_array(a):
        return method_call("sort")

    def sort(a):
        a[:] = _sorted(a)

    return sort


stand_for(np.sort, _sorted)
stand_for_method("sort", _sort)

# -- results without derivative --------------------------------------------------------------


def _search(name, *, method):
    """Stand-ins for a function whose result is an index or a truth: it takes the values alone."""
    original = getattr(np, name)

    def stand_in(*args):
        raise NotImplementedError

    @overload(stand_in)
    def overload_stand_in(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        if method and not isinstance(args[0], types.Array):
            return None
        values = ", ".join(f"plain(args[{k}])" for k in range(len(args)))
        source = f"def call(*args):\n    return original({values})\n"
        return define(source, {"original": original, "plain": plain})

    stand_for(original, stand_in)
    if method:
        stand_for_method(name, stand_in)


for _name in ("argmin", "argmax", "argsort", "any", "all", "nonzero", "allclose"):
    _search(_name, method=True)
for _name in (
    *("count_nonzero", "flatnonzero", "argwhere", "searchsorted", "digitize"),
    *("isclose", "array_equal", "nanargmin", "nanargmax", "argpartition"),
):
    _search(_name, method=False)
