"""States of two and more dimensions: solved as one row, which the user's functions get in the shape of y0.

The shape goes along as the first of the further arguments.
"""

import numpy as np
from numba.core import types
from numba.extending import overload

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ModelError
from numbad.ode.forms import as_arguments
from numbad.source import define

_SOLVE = """\
def solve(y0, ts, args=()):
    check(y0, ndim)
    found = flat(y0.ravel(), ts, (y0.shape,) + as_arguments(args))
    {returned}
"""
_RETURNED = "return found.reshape((len(ts),) + y0.shape)"
_RETURNED_WITH_EVENTS = (
    "return (found[0].reshape((len(ts),) + y0.shape), found[1], "
    "found[2].reshape((len(found[1]),) + y0.shape), found[3])"
)


@built_once(lambda flat, ndim, keep: flat)
def shaped_solver(flat, ndim, keep):
    """The dispatcher `solve(y0, ts, args)` for arrays of `ndim` dimensions; `flat` solves for rows."""
    source = _SOLVE.format(returned=_RETURNED_WITH_EVENTS if keep else _RETURNED)
    names = {"flat": flat, "ndim": ndim, "check": check_dimensions, "as_arguments": as_arguments}
    return jit(define(source, names), error_model="numpy", nogil=True)


def check_dimensions(y0, ndim):
    """Nothing; an error where y0 is no array of so many dimensions."""
    raise NotImplementedError


@overload(check_dimensions, prefer_literal=True)
def _check_dimensions(y0, ndim):
    count = ndim.literal_value
    if not isinstance(y0, types.Array) or y0.ndim != count:
        raise ModelError(
            f"y0 must be an array of {count} dimensions, as ndim={count} says, not {y0}"
        )
    return lambda y0, ndim: None


@built_once(lambda fun, inplace: fun)
def flat_slope(fun, inplace):
    """`fun` for a state that is one row."""
    if inplace:
        return _flat(fun, "t, y, dy, shape", "t, y.reshape(shape), dy.reshape(shape)", "{}")
    return _flat(fun, "t, y, shape", "t, y.reshape(shape)", "np.ascontiguousarray({}).ravel()")


def flat_event(event):
    """An event whose functions get a state that is one row."""
    condition, times, change = event.condition, event.times, event.change
    if condition is not None:
        condition = _flat_condition(condition)
    if times is not None:
        times = _flat_times(times)
    if change is not None:
        change = _flat_change(change, event.times is not None)
    return event._replace(condition=condition, times=times, change=change)


@built_once(lambda condition: condition)
def _flat_condition(condition):
    return _flat(condition, "t, y, shape", "t, y.reshape(shape)", "{}")


@built_once(lambda times: times)
def _flat_times(times):
    return _flat(times, "shape", "", "{}")


@built_once(lambda change, numbered: change)
def _flat_change(change, numbered):
    number = "k, " if numbered else ""
    taken, given = f"t, y, {number}shape", f"t, y.reshape(shape), {number}"
    return _flat(change, taken, given, "np.ascontiguousarray({}).ravel()")


def _flat(function, taken, given, result):
    name = function.py_func.__name__
    name = name if name.isidentifier() else "of_shape"
    call = f"_function({given.rstrip(', ')}{', ' if given else ''}*args)"
    source = f"def {name}({taken}, *args):\n    return {result.format(call)}\n"
    return jit(define(source, {"_function": function, "np": np}), error_model="numpy")
