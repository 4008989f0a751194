"""States in the form that users' functions take them, and as arrays, in code that is differentiated."""

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from numbad.errors import ModelError, UnsupportedError
from numbad.forward.dual import Dual
from numbad.forward.dual_arrays import dtype_of_type
from numbad.forward.refuse import told
from numbad.ode.state import scalar_of
from numbad.ode.state_types import components_of, is_scalar
from numbad.source import define


def as_row(value, others):
    """A state, or a slope, of any form as a new array; one of dual numbers where `others` has any."""
    raise NotImplementedError


def new_row(count, like):
    """A new array of the scalars of another; of floats even in code for dual numbers, if those are."""
    raise NotImplementedError


def as_form(like, row):
    """An array as a state in the form of `like`."""
    raise NotImplementedError


def as_arguments(args):
    """The further arguments as a tuple, of which one argument need not be."""
    raise NotImplementedError


@overload(as_row)
def _as_row(value, others):
    if isinstance(value, types.Array | types.List) and getattr(value, "ndim", 1) == 1:
        count = "len(value)"
        lines = "    for i in range(len(value)):\n        row[i] = value[i]\n"
    elif is_scalar(value):
        count, lines = 1, "    row[0] = value\n"
    elif isinstance(value, types.BaseTuple) and len(value) and all(map(is_scalar, value)):
        count = len(value)
        lines = "".join(f"    row[{i}] = value[{i}]\n" for i in range(count))
    else:
        raise ModelError(
            "a state, a change of one, or times must be a float, or a tuple or one-dimensional array of "
            f"floats, which is not empty; not {value}"
        )
    dtype, namespace = "np.float64", {"np": np}
    members = value if isinstance(value, types.BaseTuple) else [getattr(value, "dtype", value)]
    scalar = scalar_of(cpu_target.typing_context, members, others)
    _refuse_high_orders(scalar)
    if isinstance(scalar, Dual):
        dtype, namespace["dtype"] = "dtype()", dtype_of_type(scalar)
    elif isinstance(scalar, types.Complex):
        dtype = "np.complex128"
    source = (
        f"def as_row(value, others):\n    row = np.empty({count}, {dtype})\n{lines}    return row\n"
    )
    return define(source, namespace)


@overload(new_row)
def _new_row(count, like):
    if not isinstance(like.dtype, Dual):
        return lambda count, like: np.empty(count, like.dtype)
    dtype = dtype_of_type(like.dtype)
    return lambda count, like: np.empty(count, dtype())


@overload(as_form)
def _as_form(like, row):
    if isinstance(like, types.Array):
        return lambda like, row: row
    if is_scalar(like):
        return lambda like, row: row[0]
    members = "".join(f"row[{i}], " for i in range(len(components_of(like))))
    namespace = {}
    if isinstance(like, types.BaseNamedTuple):
        namespace["form"] = like.instance_class
    return define(
        f"def as_form(like, row):\n    return {'form' if namespace else ''}({members})\n", namespace
    )


@overload(as_arguments)
def _as_arguments(args):
    if isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple):
        return lambda args: args
    return lambda args: (args,)


def _refuse_high_orders(scalar, deepest=3):
    """Events are exact to the fourth order: three levels of duals, and reverse mode around them."""
    depth = 0
    while isinstance(scalar, Dual):
        scalar, depth = scalar.scalar, depth + 1
    if depth > deepest:
        raise told(
            UnsupportedError(
                f"derivatives of order {depth} through the events of an ODE; {deepest} is the most"
            )
        )
