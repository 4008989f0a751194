"""Argument numbers as a user gives them: `argnums=`, `argnum=` and `out=`."""

from ..compilation.decorated import whole_of
from ..errors import ArgumentError
from .operator_dispatcher import parameter_names, starred


def checked_argnums(name, argnums, names):
    """Argument numbers as a tuple of distinct non-negative ints."""
    given = tuple(argnums) if isinstance(argnums, tuple | list) else (argnums,)
    numbers = tuple(checked_number(name, "argnums", k, names) for k in given)
    if len(set(numbers)) != len(numbers):
        raise ArgumentError(f"nd.{name}: argnums={argnums!r} names an argument twice")
    if not numbers:
        raise ArgumentError(f"nd.{name}: argnums is empty")
    return numbers


def checked_out(name, out, names):
    """The number of the argument that a function writes its result into, or None."""
    return None if out is None else checked_number(name, "out", out, names)


def checked_number(name, option, k, names):
    """An argument number as a non-negative int; `option` is what the user knows it by."""
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        held = (
            "holds argument positions (ints)" if option == "argnums" else "is an argument position"
        )
        raise ArgumentError(f"nd.{name}: {option} {held}, not {k!r}")
    k = int(k)
    if not -len(names) <= k < len(names):
        has = f"has {len(names)} argument(s): {', '.join(names)}" if names else "has no argument"
        raise ArgumentError(f"nd.{name}: {option}={k}, but the function {has}")
    return k % len(names)


def refuse_starred(name, function, argnums):
    """Arguments that come in through `*args` have no number of their own."""
    star = starred(function)
    if star is not None and star in argnums:
        way_out = "pass a tuple as one argument"
        if whole_of(function) is not function:
            way_out = f"take the function that was decorated, {function.__name__}.__wrapped__"
        raise ArgumentError(
            f"nd.{name}: cannot differentiate by '*{parameter_names(function)[star]}'; {way_out}"
        )
