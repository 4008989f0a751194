"""Calling a rule's partials with symbols: a copy of the function whose names build expressions.

`math.cos(x)` on a symbol cannot work by itself. The copy shares the code of the original, while
modules and functions that it finds through globals and closure are replaced by stand-ins that
build `Apply(fn, args)`. Python functions that the partials call are copied in the same way.
"""

import inspect
import types

import numpy as np
from numba.extending import _Intrinsic

from numbad.errors import RuleError
from numbad.rules.expression import Expr, as_expr, call, where

_BUILTINS = {"max": max, "min": min, "round": round}


class _Call:
    """Stands for a function that Numba can call."""

    def __init__(self, fn):
        self.fn = where if fn is np.where else fn

    def __call__(self, *args, **kwargs):
        if not any(isinstance(arg, Expr) for arg in (*args, *kwargs.values())):
            return self.fn(*args, **kwargs)
        if kwargs:
            name = getattr(self.fn, "__name__", self.fn)
            raise RuleError(f"{name} takes positional arguments only inside a rule's partials")
        return call(self.fn, *args)


class _Module:
    """Stands for a module."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        return _stand_in(getattr(self.module, name), {})


def _stand_in(value, copies):
    if isinstance(value, types.ModuleType):
        return _Module(value)
    if isinstance(value, types.FunctionType):
        return value if value is where else _copy(value, copies)
    if not callable(value) or isinstance(value, (type, Expr)):
        return value
    return _Call(value)


def _names(code):
    """The global names that a code object and those nested in it look up."""
    nested = (_names(const) for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*nested)


def _copy(function, copies):
    """A copy of a Python function that finds stand-ins; `copies` closes recursive references."""
    if function in copies:
        return copies[function]
    scope = {"__builtins__": function.__builtins__}
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copied = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copies[function] = copied
    found = {**_BUILTINS, **function.__globals__}
    for name in _names(function.__code__) & found.keys():
        scope[name] = _stand_in(found[name], copies)
    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = _stand_in(original.cell_contents, copies)
    return copied


def arity(function):
    """`(least, most)` positional arguments; None where Python cannot tell.

    Works for Numba's dispatchers and intrinsics and for ufuncs too; `most` is infinite for `*args`.
    """
    if isinstance(function, np.ufunc):
        return function.nin, function.nin
    try:
        parameters = [
            *inspect.signature(getattr(function, "py_func", function)).parameters.values()
        ]
    except (TypeError, ValueError):
        return None
    if isinstance(function, _Intrinsic):
        del parameters[0]  # the typing context, which calls do not give
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    least = sum(p.default is p.empty for p in positional)
    return least, float("inf") if variadic else len(positional)


def trace(name, partials, ans, args):
    """The tuple of partials, one an argument, of the function called `name`.

    Raises RuleError that says what is wrong with them.
    """
    try:
        result = _copy(partials, {})(ans, *args)
    except RuleError as error:
        raise RuleError(f"rule for {name}: {error}") from None
    except Exception as error:
        raise RuleError(f"rule for {name}: its partials fail on symbols: {error!r}") from error
    result = result if isinstance(result, tuple) else (result,)
    if len(result) != len(args):
        raise RuleError(
            f"rule for {name}: {len(args)} argument(s) need as many partials, not {len(result)}"
        )
    for k, partial in enumerate(result):
        try:
            as_expr(partial)
        except RuleError as error:
            raise RuleError(f"rule for {name}: partial by argument {k}: {error}") from None
    return tuple(map(as_expr, result))
