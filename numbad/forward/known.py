"""What is known of Python's and NumPy's functions: whose memory their results share, what they change."""

import heapq
import operator
import random
from types import FunctionType
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numba.core.registry import cpu_target
from numba.experimental import structref
from numba.experimental.jitclass.base import JitClassType
from numba.np.ufunc.dufunc import DUFunc
from numba.np.unsafe.ndarray import empty_inferred
from numba.typed import Dict, List

from ..rules.functions import ScalarFunction

# Calls whose result shares no memory with any argument; only these are ever promoted.
FRESH = {
    getattr(np, name)
    for name in (
        "zeros empty ones full eye identity arange linspace zeros_like empty_like ones_like full_like"
        " array copy concatenate stack hstack vstack column_stack repeat outer diag kron tile cumsum"
        " sum mean prod min max amin amax var std dot"
        " cumprod diff sort roll where interp exp log sin cos sqrt abs power random clip"
        " tri tril triu logspace geomspace bartlett blackman hamming hanning kaiser angle"
    ).split()
    if hasattr(np, name)
} | {empty_inferred}  # of `np.array([... for ...])`
FRESH |= {
    getattr(np.linalg, name)
    for name in "cholesky eig eigh eigvals eigvalsh inv lstsq pinv qr solve svd".split()
}
ELEMENTWISE = (
    np.ufunc | DUFunc | ScalarFunction
)  # their results are new arrays too, unless they are given one
FRESH_METHODS = set(
    "copy astype flatten cumsum cumprod repeat item sum mean prod min max var std dot take argmin argmax"
    " argsort any all nonzero"
    # of `np.random.Generator`
    " random standard_normal normal uniform exponential standard_exponential gamma standard_gamma beta"
    " chisquare f standard_t lognormal laplace logistic gumbel weibull pareto rayleigh wald power vonmises"
    " triangular poisson binomial".split()
)
KEEPING_METHODS = {"append", "insert", "extend"}  # the object keeps its arguments
VIEWING_METHODS = {"reshape", "ravel", "transpose", "view", "conjugate", "conj", "values", "items"}

# Results that carry no derivative, whatever goes in.
INACTIVE = {len, range, int, bool, isinstance, id, hash, str, np.shape, np.size, np.ndim}
INACTIVE_ATTRIBUTES = {"shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides", "flags"}
COMPARISONS = {
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    operator.is_,
    operator.is_not,
    operator.contains,
    operator.not_,
}
EMPTY = {Dict.empty, List.empty_list}  # of a type that is given
REFINED = {dict, Dict, List}  # of the type of what is stored first
CONTAINERS = {list, set} | REFINED | EMPTY
MUTATING = {
    *(np.copyto, np.fill_diagonal, np.random.shuffle, random.shuffle),
    *(heapq.heapify, heapq.heappush, heapq.heappop, heapq.heapreplace, heapq.heappushpop),
    *(operator.setitem, operator.delitem, setattr),
}
"""Functions that change their first argument."""

WALKING = {enumerate, zip, reversed, iter, operator.getitem}
"""Functions that want the members of a tuple to be of one type."""

INPLACE = {
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
}

KNOWN_METHODS = set().union(
    *map(
        dir,
        (np.ndarray, np.float64, np.random.Generator, complex, tuple, list, dict, set, str, bytes),
    )
)
"""The names of the methods of Python's and NumPy's classes."""

STANDS_FOR = {}
"""stand-in -> the function, or the name of the method, that the user's code calls."""


def named(stand_in, name):
    """A stand-in, which what Numba says of it names as what it stands for."""
    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def stood_for(fn):
    """The function that a stand-in stands for; what is none, itself."""
    try:
        return STANDS_FOR.get(fn, fn)
    except TypeError:  # unhashable
        return fn


def makes_instances(fn):
    """Whether a call of a function gives a new instance of a class of the user's."""
    return isinstance(fn, JitClassType) or makes_structrefs(fn)


def makes_structrefs(fn):
    """Whether that class is a `structref`, whose fields have the types of what they are made of."""
    proxy = isinstance(fn, type) and issubclass(fn, structref.StructRefProxy)
    return proxy or fn is structref.new


def gives_back(fn):
    """The first of the arguments that a function returns as they were, in a tuple; None for others."""
    return getattr(fn, "numbad_gives_back", None)


def is_number_class(fn):
    """Whether a call makes a number; other classes (namedtuples) hold on to their arguments."""
    return isinstance(fn, type) and issubclass(fn, np.generic | float | complex)


def output(fn, args):
    """The array that a function is given for its result, None if it makes a new one."""
    inputs = fn.nin if isinstance(fn, ELEMENTWISE) else {np.dot: 2, np.clip: 3}.get(fn)
    return args[-1] if inputs is not None and len(args) > inputs else None


def is_fresh(fn):
    """Whether the result of a call shares no memory with what a function is given."""
    fresh = fn in FRESH or isinstance(fn, ELEMENTWISE) or is_number_class(fn)
    return fresh or (draws(fn) and fn not in MUTATING)


def draws(fn):
    """Whether a function is one of `np.random` or `random`, which share a hidden state."""
    return isinstance(getattr(fn, "__self__", None), np.random.RandomState | random.Random)


_UNDERSTOOD = set(
    "builtins numpy scipy numba numbad math cmath random time operator _operator functools _functools"
    " itertools collections heapq _heapq".split()
)
"""Packages whose functions change what they are given only where this module says so."""

_JITABLE = WeakKeyDictionary()  # function -> its code as a dispatcher, or None


def is_understood(fn):
    """Whether a function's effects are known: others, overloaded elsewhere, may do anything."""
    module = getattr(fn, "__module__", None) or "builtins"
    return isinstance(fn, type) or module.partition(".")[0] in _UNDERSTOOD


def jitable(fn):
    """A dispatcher of the code of a function that is registered by `register_jitable`, or None."""
    if is_understood(fn) or not isinstance(fn, FunctionType):
        return None
    if fn not in _JITABLE:
        _JITABLE[fn] = njit(fn) if _is_registered(fn) else None
    return _JITABLE[fn]


def _is_registered(fn):
    context = cpu_target.typing_context
    context.refresh()
    try:
        templates = getattr(context.resolve_value_type(fn), "templates", ())
    except ValueError:  # unknown to Numba
        return False
    given = (getattr(template, "_overload_func", None) for template in templates)
    return any(getattr(f, "__qualname__", "").startswith("register_jitable.") for f in given)
