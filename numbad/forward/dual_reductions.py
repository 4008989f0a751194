"""Sums, products, extrema, accumulations and searches over arrays of dual numbers.

The value is what Numba's own function makes of the values, so that it equals the primal's to the
last bit; loops over the duals give the partials.
"""

from inspect import signature

import numpy as np
from numba.core import types
from numba.extending import overload

from ..source import define
from . import dual as d
from .dual_arrays import as_scalar, is_dual_array, plain
from .optional_arrays import overload_stand_in
from .stand_ins import stand_for, stand_for_method


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


@overload_stand_in(_sorted)
def _overload_sorted(a):
    if not is_dual_array(a):
        return lambda a: np.sort(a)
    if a.ndim == 1:
        return lambda a: a[np.argsort(plain(a), kind="mergesort")]

    def rows_in_order(a):
        n = a.shape[-1]
        count = a.size // n if n else 0
        out = a.copy()
        rows = out.reshape((count, n))
        for i in range(count):
            rows[i] = rows[i][np.argsort(plain(rows[i]), kind="mergesort")]
        return out

    return rows_in_order if a.ndim > 1 else None


def _sort(a, kind=None):
    raise NotImplementedError


@overload_stand_in(_sort)
def _overload_sort(a, kind=None):
    if not is_dual_array(a):
        return define(
            f"def call(a, kind=None):\n    return a.sort({'' if is_none(kind) else 'kind=kind'})\n",
            {},
        )

    def sort(a, kind=None):
        a[:] = _sorted(a)

    return sort


stand_for(np.sort, _sorted)
stand_for_method("sort", _sort)

# -- results without derivative --------------------------------------------------------------


def _search(name, parameters, *, method=False):
    """Stand-ins for a function whose result is an index or a truth: it takes the values alone.

    parameters: those of NumPy's function that Numba knows; the ones with defaults are passed on as given
    """
    original = getattr(np, name)
    head = f"def call({parameters}):\n"
    stand_in = define(f"{head}    raise NotImplementedError\n", {})
    required = [p.name for p in signature(stand_in).parameters.values() if p.default is p.empty]

    def make(**given):
        if method and not isinstance(given[required[0]], types.Array | _NUMBER):
            return None
        options = [k for k, ty in given.items() if k not in required and _is_given(ty)]
        passed = [*(f"plain({k})" for k in required), *(f"{k}={k}" for k in options)]
        source = f"{head}    return original({', '.join(passed)})\n"
        return define(source, {"original": original, "plain": plain})

    names = ", ".join(f"{k}={k}" for k in signature(stand_in).parameters)
    overload_stand_in(stand_in)(define(f"{head}    return make({names})\n", {"make": make}))
    stand_for(original, stand_in)
    if method:
        stand_for_method(name, stand_in)
    return stand_in


# `np.any(x < 0)` of a number, where an array may be too.
_NUMBER = types.Number | types.Boolean | d.Dual


def _is_given(ty):
    return isinstance(ty, types.Type) and not isinstance(ty, types.Omitted)


_search("argmin", "a, axis=None", method=True)
_search("argmax", "a, axis=None", method=True)
_search("argsort", "a, kind='quicksort'", method=True)
for _name in ("any", "all", "nonzero"):
    _search(_name, "a", method=True)
for _name in ("flatnonzero", "argwhere", "nanargmin", "nanargmax"):
    _search(_name, "a")
_search("count_nonzero", "a, axis=None")
_search("argpartition", "a, kth")
_search("searchsorted", "a, v, side='left'")
_search("digitize", "x, bins, right=False")
_search("array_equal", "a, b")
_search("isclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False")
stand_for_method("allclose", _search("allclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False"))
