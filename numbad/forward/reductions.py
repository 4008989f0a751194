"""Sums, products, extrema, accumulations and searches over arrays of dual numbers.

The value is what Numba's own function makes of the values, so that it equals the primal's to the
last bit; loops over the duals give the partials.
"""

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from ..source import define
from . import dual as d
from .access import dtype_like
from .array import as_scalar, is_dual_array, plain, value_view, with_value
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


# -- from an array to a number ---------------------------------------------------------------


@register_jitable
def _sum(a):
    total = as_zero(a)
    for x in a.flat:
        total += x
    return total


@register_jitable
def _mean(a):
    return _sum(a) / a.size


@register_jitable
def _prod(a):
    total = as_zero(a) + 1.0
    for x in a.flat:
        total *= x
    return total


@register_jitable
def _min(a):
    least = a.flat[0]
    for x in a.flat:
        if x < least or (x != x and least == least):
            least = x
    return least


@register_jitable
def _max(a):
    most = a.flat[0]
    for x in a.flat:
        if x > most or (x != x and most == most):
            most = x
    return most


@register_jitable
def _var(a):
    mean = _mean(a)
    total = as_zero(a)
    for x in a.flat:
        total += (x - mean) * (x - mean)
    return total / a.size


@register_jitable
def _std(a):
    return np.sqrt(_var(a))


def _reduction(name, partials, *, along_axis=False):
    """Stand-ins for `np.name(a)` and `a.name()`; `partials` is the same function on duals."""
    original = getattr(np, name)

    def stand_in(a, axis=None):
        raise NotImplementedError

    @overload(stand_in)
    def overload_stand_in(a, axis=None):
        if is_dual_array(a) and (is_none(axis) or a.ndim == 1):
            return _whole(a, partials, stand_in)
        if is_dual_array(a):
            return _along_axis(a, partials, stand_in) if along_axis else None
        if isinstance(a, types.Array):
            if is_none(axis):
                return lambda a, axis=None: original(a)
            return lambda a, axis=None: original(a, axis)
        if isinstance(a, types.Number | types.Boolean | d.Dual):
            return lambda a, axis=None: a
        return method_call(name, axis)

    for fn in (original, getattr(np, f"a{name}", original)):
        stand_for(fn, stand_in)
    stand_for_method(name, stand_in)


def _whole(a, partials, stand_in):
    if a.layout == "F":  # Numba adds in the order of the memory

        def fortran(a, axis=None):
            values = stand_in(value_view(a.T).copy().T)
            return with_value(partials(a), values)

        return fortran

    def whole(a, axis=None):
        values = stand_in(value_view(a))  # first: it raises where the array is empty
        return with_value(partials(a), values)

    return whole


def _along_axis(a, partials, stand_in):
    lines = [
        "def along(a, axis=None):",
        "    values = stand_in(value_view(a), axis)",
        "    out = np.empty(values.shape, dtype_like(a))",
    ]
    for k in range(a.ndim):
        others = iter(range(a.ndim))
        index = ", ".join(":" if j == k else f"index[{next(others)}]" for j in range(a.ndim))
        lines += [
            f"    if axis == {k} or axis == {k - a.ndim}:",
            "        for index in np.ndindex(values.shape):",
            f"            out[index] = with_value(partials(a[{index}]), values[index])",
        ]
    names = dict(stand_in=stand_in, partials=partials, value_view=value_view, with_value=with_value)
    return define(
        "\n".join([*lines, "    return out", ""]), dict(names, np=np, dtype_like=dtype_like)
    )


_reduction("sum", _sum, along_axis=True)
_reduction("mean", _mean)
_reduction("prod", _prod)
_reduction("min", _min)
_reduction("max", _max)
_reduction("var", _var)
_reduction("std", _std)

# -- from an array to an array ---------------------------------------------------------------


def _accumulation(name, first, step):
    """Stand-ins for `np.cumsum` and `np.cumprod` of an array, seen as flat."""
    original = getattr(np, name)

    def stand_in(a):
        raise NotImplementedError

    @overload(stand_in)
    def overload_stand_in(a):
        if not isinstance(a, types.Array):
            return method_call(name)
        if not is_dual_array(a):
            return lambda a: original(a)

        def accumulate(a):
            values = stand_in(value_view(a))
            out = np.empty(a.size, dtype_like(a))
            total = as_zero(a) + first
            for i, x in enumerate(a.flat):
                total = step(total, x)
                out[i] = with_value(total, values[i])
            return out

        return accumulate

    stand_for(original, stand_in)
    stand_for_method(name, stand_in)


_accumulation("cumsum", 0.0, register_jitable(lambda total, x: total + x))
_accumulation("cumprod", 1.0, register_jitable(lambda total, x: total * x))


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


for _name in ("argmin", "argmax", "argsort", "any", "all", "nonzero"):
    _search(_name, method=True)
for _name in (
    *("count_nonzero", "flatnonzero", "argwhere", "searchsorted", "digitize"),
    *("isclose", "allclose", "array_equal"),
):
    _search(_name, method=False)
