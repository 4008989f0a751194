"""Functions of numbers: on known ones what Python computes, on others the union of what they depend on.

For second derivatives the machine is told whose numbers a function brings together other than in a sum.
"""

import cmath
import math
import operator

import numpy as np
from numba.core import types

from ..rules.registry import CONSTANT
from . import sets
from .values import NOTHING, UnknownNumber, cast, deps_of, is_known, unknown_of

LINEAR = frozenset(
    (
        *(operator.add, operator.sub, operator.neg, operator.pos, np.add, np.subtract, np.negative),
        *(np.positive, float, complex, np.real, np.imag, np.conjugate),
        *(min, max, np.minimum, np.maximum, np.fmin, np.fmax),  # in pieces
    )
)
"""Functions whose second derivatives are zero; `np.floor` and the like have no first ones."""

PRODUCTS = frozenset((operator.mul, np.multiply))
QUOTIENTS = frozenset((operator.truediv, np.true_divide))

_PYTHON = (int, float, complex, bool, abs, min, max, round, divmod, pow, len)
_MODULES = (math, cmath, operator)


def computes(function):
    """Whether a function of known numbers is computed here: it returns the same every time, and no more."""
    if function in _PYTHON or isinstance(function, np.ufunc):
        return True
    if isinstance(function, type) and issubclass(function, np.generic):
        return True
    name = getattr(function, "__name__", "")
    return any(getattr(module, name, None) is function for module in _MODULES)


def has_derivative(function, ty):
    """Whether the result, of this type, of a function has a derivative by its arguments."""
    try:
        if function in CONSTANT:
            return False
    except TypeError:  # unhashable
        pass
    return isinstance(ty, types.Float | types.Complex | types.BaseTuple)


def apply_to(function, ty):
    """`(machine, *args)`: the function on numbers of this domain, with a result of type `ty`."""
    depends, known = has_derivative(function, ty), computes(function)
    plain = isinstance(ty, types.Float | types.Complex)
    interact = interaction(function) if depends else None

    def apply(machine, *args):
        deps, unknown = sets.EMPTY, False
        for a in args:
            if type(a) is UnknownNumber:
                deps, unknown = sets.union(deps, a.deps), True
            elif not is_known(a):
                raise TypeError(f"{a!r} is no number")
        if interact is not None and machine.interactions is not None:
            interact(machine.interactions, deps, *map(deps_of, args))
        if unknown or not known:
            return (
                UnknownNumber(deps)
                if depends and plain
                else unknown_of(ty, deps if depends else sets.EMPTY)
            )
        return _computed(function, args, ty)

    return apply


def interaction(function):
    """`(interactions, deps, *deps of each)`: adds whose second derivatives may differ from zero."""
    try:
        linear = function in LINEAR or (
            isinstance(function, type) and issubclass(function, np.generic)
        )
    except TypeError:  # unhashable
        linear = False
    if linear:
        return None
    if function in PRODUCTS:
        return _of_product
    return _of_quotient if function in QUOTIENTS else _of_any


def _of_product(interactions, deps, a, b):
    interactions.add(a, b)


def _of_quotient(interactions, deps, a, b):
    interactions.add(a, b)
    interactions.add(b, b)


def _of_any(interactions, deps, *each):
    interactions.add(deps, deps)


def _computed(function, args, ty):
    try:
        value = function(*args)
        if isinstance(value, tuple):
            return tuple(cast(_plain(v), t) for v, t in zip(value, ty, strict=True))
        return cast(_plain(value), ty)
    except Exception:  # what it raises, or makes of it, is no concern of patterns
        return unknown_of(ty, sets.EMPTY) or NOTHING


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value
