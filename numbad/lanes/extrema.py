"""Extrema of vectors, found by value: their places may differ from lane to lane."""

import numpy as np
from numba import njit
from numba.core import ir, types

from ..ir.callee import callee_of
from ..ir.function import is_expr
from ..ir.sequences import call_helper

_EMPTY = "zero-size array to reduction operation not possible"


@njit
def _greatest(a):
    """The first NaN, if any."""
    if a.size == 0:
        raise ValueError(_EMPTY)
    best = a[0]
    for k in range(1, a.size):
        x = a[k]
        if x > best or (x != x and best == best):
            best = x
    return best


@njit
def _least(a):
    if a.size == 0:
        raise ValueError(_EMPTY)
    best = a[0]
    for k in range(1, a.size):
        x = a[k]
        if x < best or (x != x and best == best):
            best = x
    return best


_HELPERS = {
    **dict.fromkeys((np.max, np.amax, "max"), _greatest),
    **dict.fromkeys((np.min, np.amin, "min"), _least),
}


def search_values(fn):
    """A `Function` with loops over values in place of `np.max(a)`, `a.min()` and their like."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            helper, array = _searched(fn, s)
            if helper is not None:
                s = ir.Assign(call_helper(fn, helper, [array], body, s.loc), s.target, s.loc)
            body.append(s)
        block.body = body
    fn.changed()
    return fn


def _searched(fn, s):
    call = getattr(s, "value", None)
    if not is_expr(call, "call") or call.kws or call.vararg is not None:
        return None, None
    callee = callee_of(fn, call)
    given = [callee.owner, *call.args] if callee.kind == "method" else list(call.args)
    known = callee.kind in ("function", "method") and callee.key in _HELPERS and len(given) == 1
    ty = fn.type_of(given[0]) if known else None
    if isinstance(ty, types.Array) and ty.ndim == 1 and ty.dtype == types.float64:
        return _HELPERS[callee.key], given[0]
    return None, None
