"""The function of numbers that one of `numba.vectorize` broadcasts: a rule of the latter is one of it."""

from weakref import WeakKeyDictionary

from numba import njit

from .registry import JVP, SCALAR, VJP

_functions = WeakKeyDictionary()


def function_of_ufunc(ufunc):
    """The dispatcher of that function, always the same one."""
    if ufunc not in _functions:
        _functions[ufunc] = njit(ufunc._dispatcher.py_func)
    return _functions[ufunc]


def ruled_function(ufunc):
    """The same where it has a rule, else None."""
    function = _functions.get(ufunc)
    return function if any(function in table for table in (SCALAR, JVP, VJP)) else None
