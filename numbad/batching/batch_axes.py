"""What `nd.batch` is given: the axes of the batch, and the types of an element of it."""

import inspect
from itertools import zip_longest

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
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
            raise ArgumentError(
                f"nd.batch: in_axes holds axes (0, 1, ..., -1) and None for what is shared, not {axis!r}"
            )
    if all(axis is None for axis in axes):
        raise ArgumentError("nd.batch: in_axes names no argument with an axis for the batch")
    return axes


def axes_of(axes, tys, function):
    """The axes for types: those from the end counted from the start, none of what is left to a default."""

    def of_argument(axis, ty, parameter):
        if isinstance(ty, types.Array):
            from_end = axis is not None and -ty.ndim <= axis < 0
            return ty.ndim + axis if from_end else axis
        return axis if parameter.default is parameter.empty else None

    parameters = inspect.signature(function).parameters.values()
    triples = zip_longest(axes, tys, parameters)  # types end where defaults are left out
    return tuple(of_argument(*triple) for triple in triples)


def defaults_after(count, function):
    """The defaults of those arguments of a function after the first `count` that have one."""
    rest = [*inspect.signature(function).parameters.values()][count:]
    return [p.default for p in rest if p.default is not p.empty]


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
    if not isinstance(ty, types.Array) or not 0 <= axis < ty.ndim:
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
