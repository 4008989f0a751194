"""Argument numbers as a user gives them: `argnums=`, `argnum=` and `out=`."""

from numba import njit

from ..compilation.decorated import whole_of
from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..errors import ArgumentError
from ..source import define
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
    if isinstance(k, bool) or not _is_position(k):
        held = (
            "holds argument positions (ints)" if option == "argnums" else "is an argument position"
        )
        told = "" if isinstance(k, str) else f"; values are passed to what nd.{name}(f) returns"
        raise ArgumentError(f"nd.{name}: {option} {held}, not {k!r}{told}")
    k = int(k)
    if not -len(names) <= k < len(names):
        has = f"has {len(names)} argument(s): {', '.join(names)}" if names else "has no argument"
        raise ArgumentError(f"nd.{name}: {option}={k}, but the function {has}")
    return k % len(names)


def _is_position(k):
    return hasattr(k, "__index__") and not getattr(k, "ndim", 0)


def numbered(f, argnums):
    """`f`, or where `argnums` counts into its `*args`, the same with those arguments as its own.

    So `f(t, *p)` by argument 2 becomes `call(t, p0, p1, *p)`, one dispatcher for one count.
    """
    star, whole = starred(f.py_func), whole_of(f.py_func) is f.py_func
    given = argnums if isinstance(argnums, tuple | list) else (argnums,)
    asked = [int(k) for k in given if _is_position(k)]
    if star is None or not whole or max(asked, default=-1) < star:
        return f
    count = max(asked) + 1 - star
    known = remembered(f, "numbered")
    if count not in known:
        names = parameter_names(f.py_func)
        own = [_free_name(f"{names[star]}{k}", names) for k in range(count)]
        given = ", ".join([*names[:star], *own, f"*{names[star]}"])
        call = define(f"def call({given}): return call_({given})\n", {"call_": f}, f.py_func)
        known[count] = njit(call, **inherited_options(f))
    return known[count]


def _free_name(name, names):
    return name if name not in names else _free_name(name + "_", names)


def refuse_starred(name, function, argnums):
    """All of `*args` at once have no number: their count is not known before the call."""
    star = starred(function)
    if star is not None and star in argnums:
        way_out = "pass a tuple as one argument"
        if whole_of(function) is not function:
            way_out = f"take the function that was decorated, {function.__name__}.__wrapped__"
        raise ArgumentError(
            f"nd.{name}: cannot differentiate by '*{parameter_names(function)[star]}'; {way_out}"
        )
