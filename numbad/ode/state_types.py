"""The types that states have, and what to say of those that are none of a state or of output times."""

from numba import typeof
from numba.core import types

from numbad.errors import ModelError
from numbad.forward.dual import Dual, primal_type
from numbad.operators.describe import describe, hint

EMPTY = "y0 is empty: a state has at least one component"


def is_scalar(ty):
    """Whether a Numba type is that of a number: float, int, complex, boolean or dual."""
    return isinstance(ty, types.Number | types.Boolean | Dual)


def type_without_duals(given):
    """The type of an argument in compiled code, with numbers for duals; one that is left out is a value."""
    given = getattr(given, "value", given)
    return types.unliteral(primal_type(given if isinstance(given, types.Type) else typeof(given)))


def components_of(y0):
    """The scalar types in an initial state's type; raises ModelError where it cannot be a state."""
    if is_scalar(y0):
        return (y0,)
    if isinstance(y0, types.Array) and y0.ndim == 1 and is_scalar(y0.dtype):
        return (y0.dtype,)
    if isinstance(y0, types.BaseTuple) and not len(y0):
        raise ModelError(EMPTY)
    if isinstance(y0, types.BaseTuple) and all(is_scalar(member) for member in y0):
        return tuple(y0)
    way_out = ""
    if isinstance(y0, types.Array) and y0.ndim > 1 and is_scalar(y0.dtype):
        way_out = (
            " (a matrix is taken by `solve` of nd.ode.solver: call that in a function of your own)"
        )
    elif isinstance(y0, types.BaseTuple):
        way_out = ": of a nested tuple, make one tuple or array"
    raise ModelError(
        f"y0 must be a float, an array, or a tuple or namedtuple of floats, not {unfit(y0)}{way_out}"
    )


def in_functions(y0):
    """The type of a state as users' functions get it, of floats or complex numbers."""
    scalar = types.complex128 if _is_complex(y0) else types.float64
    if isinstance(y0, types.Array):
        return types.Array(scalar, 1, "C")
    if is_scalar(y0):
        return scalar
    if isinstance(y0, types.BaseNamedTuple):
        return types.NamedUniTuple(scalar, len(y0), y0.instance_class)
    return types.UniTuple(scalar, len(y0))


def _is_complex(ty):
    members = ty if isinstance(ty, types.BaseTuple) else [getattr(ty, "dtype", ty)]
    return any(isinstance(member, types.Complex) for member in members)


def unfit(ty):
    """An argument that is no state, or no times, in the words of a Python user; with what to pass instead."""
    if isinstance(ty, types.BaseTuple):
        odd = next((i for i, member in enumerate(ty) if not is_scalar(member)), None)
        return describe(ty) if odd is None else f"a tuple with {describe(ty[odd])} at [{odd}]"
    if isinstance(ty, types.Array) and is_scalar(ty.dtype):
        return describe(ty) if ty.ndim == 1 else f"an array of {ty.ndim} dimensions"
    return describe(ty) if is_scalar(ty) else describe(ty) + hint(ty)
