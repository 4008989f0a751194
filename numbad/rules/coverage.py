"""What Numba supports on floats and complex numbers, against what the rule tables hold.

Computed from Numba's own registries, so that a newer Numba with more functions is noticed.
"""

import builtins
import cmath
import math
import operator
import weakref

import numpy as np

from numbad.rules.registry import CONSTANT, JVP, SCALAR, STRUCTURAL, VJP

_MODULES = (math, cmath, operator, builtins)

WITHOUT_RULE = {
    math.gcd: "integers; Numba truncates a float",
    operator.is_: "identity of objects",
    operator.is_not: "identity of objects",
    hash: "an integer without order",
    type: "no number",
    print: "no number",
    repr: "text",
    str: "text",
    slice: "no number",
    range: "integers; Numba truncates a float",
}
"""Functions that Numba accepts floats for, and the reason why there is no derivative."""


def missing():
    """Functions that Numba accepts floats or complex numbers for and that nothing here explains.

    Searched: `math`, `cmath`, `operator`, `builtins`, NumPy's ufuncs.

    >>> missing()
    []
    """
    known = {*SCALAR, *CONSTANT, *STRUCTURAL, *JVP, *VJP, *WITHOUT_RULE}
    return [fn for fn in _known_to_numba() if fn not in known and _takes_floats(fn)]


def _known_to_numba():
    """Every function in the searched modules, and every ufunc, that Numba has typing for."""
    from numba.np import ufunc_db

    context = _typing_context()
    keys = (*context._functions, *context._globals)
    callables = {id(fn): fn for fn in map(_dereference, keys) if callable(fn)}
    names = [fn for module in _MODULES for fn in vars(module).values() if id(fn) in callables]
    return list(dict.fromkeys((*names, *ufunc_db.get_ufuncs())))


def _typing_context():
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return cpu_target.typing_context


def _dereference(key):
    return key() if isinstance(key, weakref.ref) else key


def _takes_floats(fn):
    """Whether Numba finds a type for one, two or three floats or complex numbers."""
    from numba.core import types

    numbers = (types.float64, types.complex128)
    return any(_types(fn, (number,) * count) for number in numbers for count in (1, 2, 3))


def _types(fn, args):
    if isinstance(fn, np.ufunc) and len(args) != fn.nin:
        return False
    context = _typing_context()
    try:
        return context.resolve_function_type(context.resolve_value_type(fn), args, {}) is not None
    except Exception:  # templates fail in many ways on a wrong count or type
        return False
