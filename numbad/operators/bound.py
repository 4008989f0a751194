"""Functions some of whose arguments are given: `functools.partial` as a function that Numba compiles."""

import inspect
from weakref import WeakKeyDictionary

from ..errors import ArgumentError
from ..source import define

_FUNCTIONS = WeakKeyDictionary()


def function_of(given, compiled):
    """The function of the arguments that a `functools.partial` leaves open, the same while it means the same.

    What is given becomes a constant of its code, as a global is. `compiled` makes dispatchers of functions.
    Raises ArgumentError where the arguments do not fit.
    """
    name, parameters, bound = _read(given)
    values = {name: _dispatcher(value, compiled) for name, value in bound.items()}
    function = _dispatcher(given.func, compiled)
    parts, made = _FUNCTIONS.get(given, ({}, None))
    now = {"": function, **values}
    if parts.keys() != now.keys() or any(parts[key] is not value for key, value in now.items()):
        made = _write(name, function, parameters, values)
        _FUNCTIONS[given] = now, made
    return made


def _read(given):
    """The name of the function, its parameters, and what is given of them by name."""
    plain = getattr(given.func, "py_func", given.func)
    name = getattr(plain, "__name__", "function")
    try:
        signature = inspect.signature(plain)
        bound = signature.bind_partial(*given.args, **given.keywords).arguments
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"functools.partial of {name}: {error}") from None
    parameters = signature.parameters.values()
    starred = [p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if starred:
        raise ArgumentError(
            f"functools.partial of {name}, which takes any number of arguments ({', '.join(starred)}). "
            "Way out: a function with the arguments that it is differentiated by"
        )
    return name, parameters, bound


def _write(name, function, parameters, values):
    scope, head, call = {"call_": function}, [], []
    for p in parameters:
        if p.name in values:
            call.append(f"given_{p.name}")
            scope[call[-1]] = values[p.name]
            continue
        call.append(p.name)
        head.append(p.name)
        if p.default is not p.empty:
            scope[f"default_{p.name}"] = p.default
            head[-1] += f"=default_{p.name}"
    named = name if name.isidentifier() else "function"
    source = f"def {named}({', '.join(head)}): return call_({', '.join(call)})\n"
    return define(source, scope, getattr(function, "py_func", None))


def _dispatcher(value, compiled):
    """A plain function as a dispatcher; any other value, and a dispatcher, as it is."""
    return compiled(value) if inspect.isfunction(value) else value
