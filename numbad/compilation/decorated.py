"""Functions that a user's decorator made, by `functools.wraps`, of another."""

from types import FunctionType
from weakref import WeakKeyDictionary, ref

_DECORATED = WeakKeyDictionary()  # what `own_code` made -> a reference to what it was made of


def own_code(function):
    """A function of the same code that says nothing of another, where `functools.wraps` made it tell of one.

    Numba would compile the other: it takes the signature of `__wrapped__`, and what `py_func` names for
    the code, which `functools.wraps` copies from a dispatcher.
    """
    if not hasattr(function, "__wrapped__"):
        return function
    own = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__kwdefaults__, own.__qualname__ = function.__kwdefaults__, function.__qualname__
    own.__module__, own.__doc__ = function.__module__, function.__doc__
    _DECORATED[own] = ref(function)
    return own


def whole_of(function):
    """What `own_code` made a function of; any other function itself."""
    known = _DECORATED.get(function)
    return function if known is None else known()
