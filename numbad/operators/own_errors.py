"""What Numba says of the user's function itself, with a way out where numbad knows one."""

from numba.core import types

from ..errors import ArgumentError
from ..ir.ways_out import way_out_of
from .describe import describe, hint, of_lists


def with_way_out(error):
    """The error, its message with a last line on what to do."""
    way_out = way_out_of(str(error))
    if way_out is not None:
        error.patch_message(f"{str(error).rstrip()}\n\nWay out: {way_out}.")
    return error


def without_code(text):
    """Whether a text is what Numba says where it has no code for a value or a function of certain types."""
    return "OverloadSelector object at" in text


def refuse_untyped(function, names, tys):
    """ArgumentError where an argument of a function is nothing that Numba takes from Python."""
    for name, ty in zip(names, tys, strict=False):
        nested = of_lists(ty) and getattr(ty, "reflected", False)
        kind = getattr(ty, "dtype", ty)
        if nested or isinstance(kind, types.PyObject) or kind == types.float16:
            raise ArgumentError(
                f"argument '{name}' of {function} is {describe(ty)}, which compiled code does not "
                f"take{hint(ty)}"
            )
