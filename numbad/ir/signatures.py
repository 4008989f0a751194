"""Functions that Numba compiled for given signatures alone: what is passed and returned is converted.

`@njit("float64(int64)")` makes an integer of any number that it is called with, and `@vectorize` may be given
such signatures as well. Here the code says so, as the user could have written, so that derivatives are those
of what the function computes.
"""

from functools import cache

import numpy as np
from numba import njit
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typeconv import Conversion
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher

from ..compilation.meaning import as_compiled
from ..compilation.memo import remembered
from ..source import define

_EXACT = types.float64, types.complex128  # results that need no rounding


def as_called(dispatcher, argtypes):
    """The Python function of a dispatcher that computes what it returns for arguments of these types."""
    function = as_compiled(dispatcher, argtypes)
    if not _has_signatures(dispatcher):
        return function
    conversions = _conversions(dispatcher, argtypes)
    if not any(conversions):
        return function
    made = remembered(dispatcher, "converted")
    key = function, conversions
    if key not in made:
        made[key] = _converting(dispatcher, function, conversions)
    return made[key]


def _has_signatures(dispatcher):
    if isinstance(dispatcher, UFuncDispatcher):
        return bool(dispatcher.overloads)
    return type(dispatcher) is CPUDispatcher and not dispatcher._can_compile


def _conversions(dispatcher, argtypes):
    """What converts the result and each argument: NumPy's class of numbers, None where nothing is converted.

    For a result that is a tuple, a tuple of those; for an argument that may be None, a function.
    """
    declared = _declared(dispatcher, argtypes)
    if declared is None:
        return ()
    passed = map(_conversion, map(types.unliteral, argtypes), declared.args)
    return _class_of_result(declared.return_type), *passed


def _conversion(given, declared):
    if given == declared:
        return None
    if isinstance(declared, types.Optional):
        if isinstance(given, types.Optional):
            return None  # it may be None as it is, which no class of numbers takes
        return _optional(declared.type, given == types.none, given == declared.type)
    return _class_of(declared)


@cache
def _optional(ty, is_none, as_it_is):
    """A function that makes what may be None of None, or of a value, which is converted to the type `ty`."""
    number, example = _class_of(ty), _example_of(ty)
    if is_none:
        return example and njit(lambda _: _none_or(True, example()))
    if as_it_is or number is None:
        return njit(lambda value: _none_or(False, value))
    return njit(lambda value: _none_or(False, number(value)))


@njit
def _none_or(is_none, value):
    """Typed as what may be None: `is_none` is known when the program runs, not before."""
    if is_none:
        return None
    return value


def _example_of(ty):
    """A function that makes any value of the type, where one is easily made: a number, an empty array."""
    number = _class_of(ty)
    if number is not None:
        return njit(lambda: number(0))
    dtype = _class_of(ty.dtype) if isinstance(ty, types.Array) else None
    if dtype is None:
        return None
    shape, part = (0,) * ty.ndim, (slice(None, None, 2),) * ty.ndim
    by_layout = {
        "C": lambda: np.empty(shape, dtype),
        "F": lambda: np.empty(shape, dtype).T,
        "A": lambda: np.empty(shape, dtype)[part],
    }
    return njit(by_layout[ty.layout])


def _declared(dispatcher, argtypes):
    """The one of its signatures that Numba takes for arguments of these types."""
    if isinstance(dispatcher, UFuncDispatcher):
        return _loop_of(dispatcher, argtypes)
    try:
        template, _, args, kws = dispatcher.get_call_template(argtypes, {})
        found = template(cpu_target.typing_context).apply(args, kws)
    except NumbaError:
        return None
    return found if found is not None and len(found.args) == len(argtypes) else None


def _loop_of(dispatcher, argtypes):
    """The same for numbers that go into the loop of a ufunc: the first one that takes them as they are."""
    given, loops = tuple(map(types.unliteral, argtypes)), list(dispatcher.overloads)
    exact = [loop for loop in loops if loop.args == given]
    return next(iter(exact or [loop for loop in loops if _takes(loop, given)]), None)


def _takes(loop, given):
    convertible = cpu_target.typing_context.can_convert
    ways = [convertible(ty, wanted) for ty, wanted in zip(given, loop.args, strict=True)]
    return all(way is not None and way <= Conversion.safe for way in ways)


def _class_of_result(ty):
    if isinstance(ty, types.Tuple | types.UniTuple):
        members = tuple(map(_class_of_result, ty))
        return members if any(members) else None
    return None if ty in _EXACT else _class_of(ty)


def _class_of(ty):
    if not isinstance(ty, types.Number | types.Boolean):
        return None
    return np.bool_ if ty == types.boolean else getattr(np, ty.name)


def _converting(dispatcher, function, conversions):
    options = dispatcher.targetoptions
    names = {"function": CPUDispatcher(function, locals=dispatcher.locals, targetoptions=options)}
    names |= {f"class{k}": made for k, made in enumerate(conversions[1:], 1)}
    given = function.__code__.co_varnames[: len(conversions) - 1]
    passed = [
        f"class{k}({name})" if made else name
        for k, (name, made) in enumerate(zip(given, conversions[1:], strict=True), 1)
    ]
    called = f"function({', '.join(passed)})"
    result = _converted("result", conversions[0], "class0", names)
    lines = f"    result = {called}\n    return {result}\n"
    converting = define(f"def converting({', '.join(given)}):\n{lines}", names)
    converting.__name__ = function.__name__
    return converting


def _converted(source, made, name, names):
    """Source that converts a result; a tuple member by member. `names` gets the classes."""
    if made is None:
        return source
    if isinstance(made, tuple):
        members = [
            _converted(f"{source}[{k}]", member, f"{name}_{k}", names)
            for k, member in enumerate(made)
        ]
        return f"({', '.join(members)},)"
    names[name] = made
    return f"{name}({source})"
