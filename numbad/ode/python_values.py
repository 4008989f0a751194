"""Arguments that Python code passes and compiled code does not take."""

import numpy as np
from numba import typeof
from numba.core.errors import NumbaError

from numbad.errors import TYPED_INSTEAD, UNTYPED, ArgumentError, ModelError
from numbad.operators.own_errors import refuse_untyped

_NUMBERS = "biufc"  # NumPy's kinds of types: booleans, integers, floats and complex numbers


def check_values(function, given):
    """Raise ArgumentError where an argument of a function is nothing that compiled code takes from Python.

    `given` has the values by their names.
    """
    for name, value in given.items():
        if isinstance(value, tuple):
            members = (f"{name}[{i}]" for i in range(len(value)))
            check_values(function, dict(zip(members, value, strict=True)))
        else:
            refuse_untyped(function, [name], [_type_of(function, name, value)])


def _type_of(function, name, value):
    try:
        return typeof(value)
    except (ValueError, NumbaError) as error:
        refusal = ArgumentError(
            f"argument '{name}' of {function} is {UNTYPED}, which compiled code does not take: "
            f"{TYPED_INSTEAD}"
        )
        refusal.patch_message(str(error))
        raise refusal from None


def lists_among(given):
    """The names of initial states and times that are lists: as arrays, compiled code takes them."""
    return [name for name in ("y0", "ts") if isinstance(given.get(name), list)]


def with_arrays(given):
    """The same with arrays in place of these lists."""
    return given | {name: as_numbers(name, given[name]) for name in lists_among(given)}


def as_numbers(name, given, error=ModelError):
    """An array_like as an array of floats, or of complex numbers; `error` where it holds anything else."""
    try:
        array = np.asarray(given)
        if array.dtype == object and given is not None:
            array = array.astype(float)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if isinstance(given, np.ma.MaskedArray):
        raise error(f"{name} is a masked array, whose mask would be lost; pass .filled(...) of it")
    if array.dtype.kind not in _NUMBERS:
        raise error(f"{name} must be an array of numbers, not {given!r}")
    return array.astype(complex if array.dtype.kind == "c" else float)
