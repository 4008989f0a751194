"""`min` and `max` of arrays and lists; arrays sorted or shuffled; arrays and numbers as one number."""

import random
from functools import cache

import numpy as np
from numba import njit
from numba.core import types

from ...rules.arrays import random_picks
from ...rules.arrays.table import is_array
from ...source import define
from .call import StandIn
from .scalar_function import is_scalar
from .structural_functions import Linear


def holds_numbers(ty):
    """Whether a value is an array of one axis or a list, of numbers."""
    if isinstance(ty, types.Array):
        return ty.ndim == 1 and is_scalar(ty.dtype)
    return isinstance(ty, types.List | types.ListType) and is_scalar(ty.dtype)


@njit
def least(items):
    if len(items) == 0:
        raise StopIteration
    best = items[0]
    for k in range(1, len(items)):
        if items[k] < best:
            best = items[k]
    return best


@njit
def greatest(items):
    if len(items) == 0:
        raise StopIteration
    best = items[0]
    for k in range(1, len(items)):
        if items[k] > best:
            best = items[k]
    return best


EXTREMA = {min: least, max: greatest}


def extremum(fn, label, s, function, arguments):
    """`min(a)`, `max(a)` of an array or a list; else None."""
    if len(arguments) != 1 or not holds_numbers(fn.type_of(arguments[0])):
        return None
    return StandIn(fn, label, s, EXTREMA[function], arguments)


@cache
def _only_item(ndim):
    index = ", ".join("0" * ndim) or "()"
    lines = ["def item(a):", "    if a.size != 1:"]
    message = "item(): can only convert an array of size 1 to a Python scalar"
    lines += [f"        raise ValueError({message!r})", f"    return a[{index}]"]
    return njit(define("\n".join(lines) + "\n", {}))


def item(fn, label, s, call, owner, ty):
    """`x.item()` of a number, `a.item()` of an array with one."""
    if call.args or call.kws:
        return None
    if isinstance(ty, types.Array) and is_scalar(ty.dtype):
        return StandIn(fn, label, s, _only_item(ty.ndim), [owner])
    if is_scalar(ty):
        return Linear(fn, label, s, owner, lambda e, adjoint: adjoint)
    return None


@njit
def in_order(a):
    order = np.argsort(a)
    out = np.empty(a.shape[0], a.dtype)
    for k in range(a.shape[0]):
        out[k] = a[order[k]]
    return out


@njit
def put_in_order(a):
    order = np.argsort(a)
    before = a.copy()
    for k in range(a.shape[0]):
        a[k] = before[order[k]]


@njit
def rows_in_order(a):
    """The same along the last axis of an array of several."""
    n = a.shape[-1]
    count = a.size // n if n else 0
    out = np.empty(a.shape, a.dtype)
    rows, sorted_rows = np.ascontiguousarray(a).reshape((count, n)), out.reshape((count, n))
    for i in range(count):
        order = np.argsort(rows[i])
        for k in range(n):
            sorted_rows[i, k] = rows[i, order[k]]
    return out


@njit
def put_rows_in_order(a):
    a[:] = rows_in_order(a)


def _sortable(ty):
    return isinstance(ty, types.Array) and ty.ndim > 0 and isinstance(ty.dtype, types.Float)


def sorted_array(fn, label, s, call):
    """`np.sort(a)`, along the last axis."""
    ty = fn.type_of(call.args[0])
    if not _sortable(ty):
        return None
    return StandIn(fn, label, s, in_order if ty.ndim == 1 else rows_in_order, call.args)


def sort_array(fn, label, s, call, owner, ty):
    """`a.sort()`, along the last axis."""
    if not _sortable(ty):
        return None
    helper = put_in_order if ty.ndim == 1 else put_rows_in_order
    return StandIn(fn, label, s, helper, [owner], writes=owner)


def _shuffled(helper):
    """`np.random.shuffle(a)`, or that of `random`."""

    def found(fn, label, s, call):
        return _shuffle(fn, label, s, helper, call, [])

    return found


def shuffle_by_generator(fn, label, s, call, owner, ty):
    """`rng.shuffle(a)` along the first axis."""
    if not isinstance(ty, types.NumPyRandomGeneratorType):
        return None
    return _shuffle(fn, label, s, random_picks.shuffle_by_generator, call, [owner])


def _shuffle(fn, label, s, helper, call, owner):
    if call.kws or len(call.args) != 1:
        return None
    (a,) = call.args
    known = is_array(fn.type_of(a)) and fn.type_of(a).ndim > 0
    return StandIn(fn, label, s, helper, [*owner, a], writes=a) if known else None


SHUFFLING = {
    np.random.shuffle: _shuffled(random_picks.shuffle),
    random.shuffle: _shuffled(random_picks.shuffle_by_python),
}
