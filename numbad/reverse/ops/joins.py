"""`np.concatenate`, `np.stack` and their kin, `np.append`."""

import numpy as np
from numba.core import types

from ...ir.leaves import leaves
from ..joining import appended, joined
from .call import StandIn
from .scalar_function import is_scalar


def _axis(fn, call):
    """The axis as an int; None where it is not known."""
    given = dict(call.kws)
    if len(call.args) > 1 or "axis" in given:
        found = fn.constant(call.args[1] if len(call.args) > 1 else given["axis"])
        return found if isinstance(found, int) else None
    return 0


def _concatenated(fn, call, ndim):
    axis = _axis(fn, call)
    return None if axis is None else ("along", axis % ndim)


def _stacked(fn, call, ndim):
    axis = _axis(fn, call)
    return None if axis is None else ("new", axis % (ndim + 1))


def _side_by_side(fn, call, ndim):
    return "along", min(ndim - 1, 1)


def _one_below_another(fn, call, ndim):
    return ("new", 0) if ndim == 1 else ("along", 0)


def _as_columns(fn, call, ndim):
    return ("new", 1) if ndim == 1 else ("along", 1)


def _in_depth(fn, call, ndim):
    return {1: ("depth", 2), 2: ("new", 2)}.get(ndim, ("along", 2))


def _join(how):
    def found(fn, label, s, call):
        members, out = fn.type_of(call.args[0]), fn.type_of(s.target)
        if not isinstance(members, types.BaseTuple) or not isinstance(out, types.Array):
            return None
        if not members or not all(isinstance(ty, types.Array) and ty.ndim for ty in members):
            return None
        ndim = members[0].ndim
        if any(ty.ndim != ndim for ty in members) or not leaves(out):
            return None
        if (way := how(fn, call, ndim)) is None:
            return None
        return StandIn(
            fn, label, s, joined(way[0], ndim, way[1], len(members), out.dtype), call.args[:1]
        )

    return found


def _append(fn, label, s, call):
    tys = [fn.type_of(v) for v in call.args]
    if call.kws or len(tys) != 2 or not leaves(fn.type_of(s.target)):
        return None
    if not all(is_scalar(ty) or (isinstance(ty, types.Array) and ty.ndim == 1) for ty in tys):
        return None
    ndims = [ty.ndim if isinstance(ty, types.Array) else 0 for ty in tys]
    return StandIn(fn, label, s, appended(*ndims, fn.type_of(s.target).dtype), call.args)


FUNCTIONS = {
    np.concatenate: _join(_concatenated),
    np.stack: _join(_stacked),
    np.hstack: _join(_side_by_side),
    np.vstack: _join(_one_below_another),
    np.column_stack: _join(_as_columns),
    np.dstack: _join(_in_depth),
    np.append: _append,
}
