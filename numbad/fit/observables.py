"""Observables: functions of state and parameters that stand for what was measured."""

from collections.abc import Mapping

import numpy as np
from numba import typeof
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from numbad.compilation.caching import user_jit
from numbad.compilation.meaning import meaning
from numbad.errors import ModelError, NumbadError
from numbad.fit.evaluate import as_dispatcher
from numbad.fit.problem import Observing


def read_observables(observables, t0, state, arguments):
    """Return (`Observing`, names or None): tried at the start, given what `fun` is called with."""
    if isinstance(observables, Mapping):
        names = tuple(map(str, observables))
        if not names:
            raise ModelError("observables is empty: name -> function(t, y, *parameters)")
        functions = tuple(_compiled(one, name) for name, one in observables.items())
        for function, name in zip(functions, names, strict=True):
            value = _tried(function, name, (t0, state, *arguments))
            if np.ndim(value) != 0 or isinstance(value, tuple):
                raise ModelError(f"observables: {name} must return one number, not {value!r}")
            _check_numbers(name, [value])
        return _observing(functions, len(names), True), names
    function = _compiled(observables, "observables")
    value = _tried(function, "observables", (t0, state, *arguments))
    scalar = np.ndim(value) == 0
    if np.ndim(value) > 1 or np.size(value) == 0:
        raise ModelError(
            f"observables must return a number, a tuple or a 1-D array of numbers, not {value!r}"
        )
    _check_numbers("observables", np.atleast_1d(value))
    names = getattr(value, "_fields", None)
    return _observing((function,), np.size(value), scalar), names


def _observing(functions, width, scalar):
    return Observing(functions, width, scalar, tuple(map(meaning, functions)))


def _compiled(function, name):
    if not callable(getattr(function, "py_func", function)):
        raise ModelError(
            f"observables: {name} must be a function of (t, y, *parameters), got {function!r}"
        )
    return as_dispatcher(function)


def _tried(function, name, given):
    # Compiled code reads past the end of an array unless it is told to look.
    bounded = isinstance(given[1], np.ndarray)
    try:
        return (user_jit(function.py_func, boundscheck=True) if bounded else function)(*given)
    except NumbadError:
        raise
    except (NumbaError, UnsupportedBytecodeError, TypeError) as error:
        from numbad.ode.complaint import cannot_compile

        try:
            raise cannot_compile(function, map(typeof, given), error) from error
        except NumbadError as complaint:
            raise ModelError(f"observables: {complaint}") from error
    except (ArithmeticError, ValueError, IndexError) as error:
        raise ModelError(f"observables: {name} fails at the start: {error}") from error


def _check_numbers(name, values):
    """They need not be finite: nothing may have been observed at the start."""
    if np.asarray(values).dtype.kind not in "biuf":
        raise ModelError(f"observables: {name} must return real numbers, not {values!r}")
