"""How a right-hand side `fun(t, y, ...)` takes its parameters, and whether it can be used."""

import inspect
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword

import numpy as np
from numba import typeof
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from numbad.compilation.caching import user_jit
from numbad.errors import ModelError, NumbadError
from numbad.masked_arrays import nan_where_masked

# More parameters in one argument are an array: code that is unrolled over them grows too long.
LONGEST_TUPLE = 64


@lru_cache(maxsize=128)
def named_tuple(names):
    """Return the class of named tuples with these fields: one, since Numba compiles for each."""
    return namedtuple("Named", names)


def packed(form, values):
    """Return `values` as a function takes them in one argument, where `form` says how.

    "tuple", "array", or the names of a named tuple's fields.
    """
    if form == "array":
        return np.array(values, dtype=np.float64)
    values = map(float, values)
    return tuple(values) if form == "tuple" else named_tuple(form)(*values)


@dataclass(frozen=True)
class Calling:
    """How `fun` takes its `count` parameters.

    `form` is "separate" where each is an argument; otherwise one argument takes them all, and
    `form` is as in `packed`.
    """

    count: int
    form: str | tuple

    def arguments(self, values):
        """Return what follows (t, y) in a call of `fun`."""
        if self.form == "separate":
            return tuple(map(float, values))
        return (packed(self.form, values),)

    def listed(self, items):
        """Return Python source for each argument that follows (t, y), given it for each value.

        The class of named tuples goes by the name ``Parameters`` there, an array by ``parameters``.
        """
        if self.form == "separate":
            return list(items)
        if self.form == "array":
            return ["parameters"]
        joined = "".join(f"{item}, " for item in items)
        return [f"({joined})" if self.form == "tuple" else f"Parameters({joined})"]


def read_parameters(fun, p0, names=None):
    """Return (names, values, `Calling`) of the parameters that `p0` starts from.

    Raises `ModelError` where `p0` and `fun`'s signature do not fit together.
    """
    given, values = _named_values(p0)
    called, positional, required, variadic = _signature(fun)
    if (
        len(positional) == 1
        and not variadic
        and positional[0] not in given
        and (given or len(values) != 1)
    ):
        form = _form(given)
        long = form == "tuple" and len(values) > LONGEST_TUPLE
        calling = Calling(len(values), "array" if long else form)
        default = given or tuple(f"{positional[0]}[{i}]" for i in range(len(values)))
    else:
        if given and not variadic:
            values = _bind(called, given, values, positional, required)
        if not (required <= len(values) and (variadic or len(values) <= len(positional))):
            raise ModelError(_count_message(called, positional, required, variadic, len(values)))
        calling = Calling(len(values), "separate")
        extra = tuple(f"p[{i}]" for i in range(len(positional), len(values)))
        default = given if variadic and given else positional[: len(values)] + extra
    names = default if names is None else _checked_names(names, len(values))
    bad = [name for name, value in zip(names, values, strict=True) if not np.isfinite(value)]
    if bad:
        value = values[names.index(bad[0])]
        raise ModelError(f"p0: {bad[0]} starts at {value}; every parameter must start finite")
    return names, values, calling


def parameter_names(fun, p0):
    """Return the names of `fun`'s parameters, None where it takes all of `p0` in one argument."""
    _, positional, _, variadic = _signature(fun)
    in_one = len(positional) == 1 and not variadic and positional[0] not in p0
    return None if in_one else positional


def _named_values(p0):
    """Return (names or (), float array) of a start given as sequence, dict, named tuple, number."""
    if isinstance(p0, Mapping):
        given, values = tuple(map(str, p0)), list(p0.values())
    elif hasattr(p0, "_fields"):
        given, values = tuple(p0._fields), list(p0)
    else:
        given, values = (), p0
    try:
        values = np.atleast_1d(np.asarray(nan_where_masked(values), dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ModelError(f"p0: every parameter must be one real number ({error})") from None
    if values.ndim != 1:
        raise ModelError(f"p0: expected a flat list of numbers, got shape {values.shape}")
    return given, values


def _signature(fun):
    """Return (name, names after (t, y), how many of those are required, whether *args follows)."""
    python = getattr(fun, "py_func", fun)
    called = getattr(python, "__name__", repr(python))
    if not callable(python):
        raise ModelError(f"fun must be a function fun(t, y, *parameters), got {fun!r}")
    kinds = inspect.Parameter
    parameters = inspect.signature(python).parameters.values()
    flat = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    if len(flat) < 2 and not variadic:
        raise ModelError(
            f"{called} must take (t, y, *parameters); it takes {len(flat)} argument(s)"
        )
    after = flat[2:]
    required = sum(p.default is kinds.empty for p in after)
    return called, tuple(p.name for p in after), required, variadic


def _form(given):
    usable = (n.isidentifier() and not iskeyword(n) and not n.startswith("_") for n in given)
    return given if given and all(usable) else "tuple"


def _bind(called, given, values, positional, required):
    """Put the values given by name in the order of the function's arguments."""
    unknown = [name for name in given if name not in positional]
    missing = [name for name in positional[:required] if name not in given]
    if unknown or missing:
        parts = [f"{called} has no parameter {', '.join(unknown)}"] if unknown else []
        parts += [f"p0 gives no value for {', '.join(missing)}"] if missing else []
        wider = f"(t, y, {', '.join((*positional, *unknown))})"
        way_out = f". What y0= or observables= alone depend on stands among these, too: {wider}"
        raise ModelError(
            f"{'; '.join(parts)}; {called} takes (t, y, {', '.join(positional)})"
            f"{'' if missing else way_out}"
        )
    by_name = dict(zip(given, values, strict=True))
    order = [name for name in positional if name in by_name]
    if tuple(order) != positional[: len(order)]:
        skipped = next(name for name in positional if name not in by_name)
        raise ModelError(f"p0 must give {skipped}, too, since a later parameter is given")
    return np.array([by_name[name] for name in order])


def _count_message(called, positional, required, variadic, count):
    most = "any number of" if variadic else len(positional)
    wanted = f"{required} to {most}" if variadic or required < len(positional) else f"{required}"
    listed = f": {', '.join(positional)}" if positional else ""
    return f"{called} takes {wanted} parameter(s) after (t, y){listed}; p0 has {count}"


def _checked_names(names, count):
    names = (names,) if isinstance(names, str) else tuple(map(str, names))
    if len(names) != count:
        raise ModelError(f"names: {len(names)} names for {count} parameters")
    return names


class FailsAtStartError(ModelError):
    """A right-hand side that compiles and then raises, which another form of y would only hide."""


def check_right_hand_side(dispatcher, t0, state, arguments):
    """Call `fun` once at the start, so that whatever is wrong with it is said in its own terms.

    Raises `ModelError` where it does not compile, fails, or returns the wrong thing.
    """
    called = getattr(dispatcher.py_func, "__name__", "fun")
    given = (t0, state, *arguments)
    # Compiled code reads past the end of an array unless it is told to look.
    checked = (
        user_jit(dispatcher.py_func, boundscheck=True)
        if isinstance(state, np.ndarray)
        else dispatcher
    )
    try:
        slope = checked(*given)
    except NumbadError:
        raise
    except (NumbaError, UnsupportedBytecodeError) as error:
        from numbad.ode.complaint import cannot_compile

        raise cannot_compile(dispatcher, map(typeof, given), error) from error
    except (ArithmeticError, ValueError, IndexError) as error:
        # What Numba raises where a state has another length than `S, I, R = y` takes says nothing.
        reason = str(error) or type(error).__name__
        if isinstance(error, IndexError) or not str(error):
            count = np.size(state)
            reason += f"; the state has {count} component{'s' * (count != 1)}, as many as y0, or as the data "
            reason += "where there is no y0: does it take as many?"
        raise FailsAtStartError(f"{called} fails at the start, t = {t0:g}: {reason}") from error
    slopes = np.atleast_1d(np.asarray(slope))
    if slopes.ndim != 1 or slopes.dtype.kind not in "biuf":
        raise ModelError(
            f"{called} must return a tuple or 1-D array of {len(state)} derivatives, one for each "
            f"component of y; it returns {slope!r}"
        )
    if len(slopes) != len(state):
        raise ModelError(
            f"{called} returns {len(slopes)} derivatives, but y has {len(state)} components"
        )
    if not np.all(np.isfinite(slopes)):
        index = int(np.flatnonzero(~np.isfinite(slopes))[0])
        raise ModelError(
            f"{called} returns {slopes[index]} for component {index} at the start, t = {t0:g}"
        )
