"""`stop_gradient`: a value that takes no part in derivatives."""

import numpy as np
from numba.core import types
from numba.extending import overload

from ..errors import UnsupportedError
from ..forward import dual as d
from ..forward.access import primal
from ..forward.custom import each_member
from ..forward.dual_arrays import dtype_of_type, plain
from ..forward.layout import empty_as
from ..ir.leaves import leaves
from ..rules.registry import COPYING, STOPPING


def stop_gradient(x):
    """The argument's value, as a constant of whatever differentiates the code around it.

    `x` is a number, an array, or a tuple or a list of these. Arrays and lists are copied, whether anything is
    differentiated or not: what is written to the copy or to `x` later does not change the other.

    >>> import numbad as nd
    >>> nd.derivative(lambda x: x * nd.stop_gradient(x))(3.0)
    3.0
    """
    if isinstance(x, np.ndarray):
        return x.copy("K")
    if isinstance(x, list):
        return [stop_gradient(v) for v in x]
    if isinstance(x, tuple):
        members = map(stop_gradient, x)
        return type(x)(*members) if hasattr(x, "_fields") else tuple(members)
    return x


def as_constant(x):
    """The same without copies where nothing is differentiated: for code that writes to neither."""
    return x


STOPPING.update((stop_gradient, as_constant))
COPYING.add(stop_gradient)


@overload(as_constant)
def _as_constant(x):
    if not any(True for _ in d.duals_in(x)):
        return lambda x: x
    if isinstance(x, types.BaseTuple):
        return each_member(x, "as_constant(x[{i}])", {"as_constant": as_constant}, "x")
    return (lambda x: plain(x)) if isinstance(x, d.Dual) or d.is_dual_array(x) else None


@overload(stop_gradient)
def _stop_gradient(x):
    if isinstance(x, types.Array) and not isinstance(x.dtype, types.Record):
        return _copy_of(x.dtype) if d.is_dual_array(x) else _copy
    if isinstance(x, types.BaseTuple):
        return each_member(x, "stop_gradient(x[{i}])", {"stop_gradient": stop_gradient}, "x")
    if isinstance(x, types.List):
        return lambda x: [stop_gradient(v) for v in x]
    if isinstance(x, d.Dual):
        return lambda x: plain(x)
    if isinstance(x, types.Number) or not leaves(x):
        return lambda x: x
    raise UnsupportedError(
        f"nd.stop_gradient takes numbers, arrays, and tuples and lists of these, not a value of type {x}. "
        "Way out: nd.stop_gradient of the numbers and arrays in it"
    )


def _copy(x):
    copy = empty_as(x, x.dtype)
    for index in np.ndindex(x.shape):
        copy[index] = x[index]
    return copy


def _copy_of(dual):
    dtype = dtype_of_type(d.base_scalar(dual))

    def copy_of(x):
        copy = empty_as(x, dtype())
        for index in np.ndindex(x.shape):
            copy[index] = primal(x[index])
        return copy

    return copy_of
