"""What `nd.batch` is given: the axes of the batch, and the types of an element of it."""

from numba import typeof
from numba.core import types

from ..errors import ArgumentError
from ..operators.describe import describe, hint


def checked_axes(in_axes, names):
    """One axis, or None, for each parameter; ArgumentError where `in_axes` does not fit."""
    several = isinstance(in_axes, tuple | list)
    axes = tuple(in_axes) if several else (in_axes,) * len(names)
    if len(axes) != len(names):
        raise ArgumentError(
            f"nd.batch: in_axes has {len(axes)} entries for {len(names)} argument(s): "
            + ", ".join(names)
        )
    for axis in axes:
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int) or axis < 0):
            raise ArgumentError(
                f"nd.batch: in_axes holds axes (0, 1, ...) and None for what is shared, not {axis!r}"
            )
    if all(axis is None for axis in axes):
        raise ArgumentError("nd.batch: in_axes names no argument with an axis for the batch")
    return axes


def checked_lanes(lanes):
    """How many lanes go together: "auto", a number, or None for one element after the other."""
    if lanes is None or lanes == "auto":
        return lanes
    if isinstance(lanes, bool) or not isinstance(lanes, int) or not 2 <= lanes <= 64:
        raise ArgumentError(
            f'nd.batch: lanes is "auto", None or a number from 2 to 64, not {lanes!r}'
        )
    return lanes


def plain(ty):
    """An argument's type, that of its default where it is left out."""
    return typeof(ty.value) if isinstance(ty, types.Omitted) else types.unliteral(ty)


def check_batched(name, ty, axis):
    """ArgumentError where an argument has no such axis."""
    if isinstance(ty, types.PyObject):
        raise ArgumentError(f"nd.batch: argument '{name}' is {describe(ty)}{hint(ty)}")
    if not isinstance(ty, types.Array) or ty.ndim <= axis:
        what = f"a {ty.ndim}-D array" if isinstance(ty, types.Array) else describe(ty)
        raise ArgumentError(
            f"nd.batch: argument '{name}' is {what}, and has no axis {axis} for the batch; "
            "an argument that all evaluations share has None in in_axes"
        )


def element_types(tys, axes):
    """The types of the arguments of one evaluation."""
    pairs = zip(tys, axes, strict=True)
    return tuple(ty if axis is None else element_type(ty, axis) for ty, axis in pairs)


def element_type(ty, axis):
    """The type of `array[:, i]`, an element of the batch."""
    if ty.ndim == 1:
        return ty.dtype
    outermost = {"C": 0, "F": ty.ndim - 1}.get(ty.layout)
    layout = ty.layout if axis == outermost else "A"
    return ty.copy(ndim=ty.ndim - 1, layout=layout)
