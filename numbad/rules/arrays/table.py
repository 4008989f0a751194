"""NumPy's functions of arrays as code that differentiates by itself: which one stands for which.

A stand-in is made for the types of the arguments: a jitted function with the same parameters, of scalar
loops and of functions that have derivatives, whose values are those that Numba computes, to the last
bit. Both modes put it in the place of the call.
"""

import inspect

import numpy as np
from numba import njit
from numba.core import types
from numba.core.registry import cpu_target

from ...source import define

FUNCTIONS = {}
"""function -> the `StandIns` of its calls."""

METHODS = {}
"""name of a method of arrays -> the `StandIns`, whose first parameter is the array."""


class StandIns:
    """The stand-ins of a function, one for each combination of the types of its arguments.

    make: takes the types of the arguments given, under the names of NumPy's parameters, and returns a
        jitted function with the same parameters; None for types that it does not know.
    of_numbers: whether a number may be the first argument, as an array without axes.
    """

    def __init__(self, make, of_numbers=False):
        self.make, self.of_numbers = make, of_numbers
        self.signature = inspect.signature(make)
        self._known = {}

    def bind(self, args, kws):
        """What a call gives to which parameter, in the order of the parameters; None if it does not fit."""
        try:
            return dict(self.signature.bind(*args, **dict(kws)).arguments)
        except TypeError:
            return None

    def of(self, given):
        """The jitted function of the arguments given, by position; None where there is none.

        given: name of a parameter -> the type of the argument, with literals where they are known.
        """
        key = tuple(given.items())
        if key not in self._known:
            made = self.make(**given)
            made = made and self._by_position(made, list(given))
            self._known[key] = made or self._of_lists(given)
        return self._known[key]

    def _of_lists(self, given):
        """The function where lists and tuples of numbers, or a number, stand for arrays; or None."""
        arrays = {name: _array_of(ty) for name, ty in given.items() if name not in _NO_ARRAYS}
        first = next(iter(given), None)
        if self.of_numbers and isinstance(given.get(first), types.Float | types.Complex):
            arrays[first] = types.Array(given[first], 0, "C")
        made = any(arrays.values()) and self.of({k: arrays.get(k) or ty for k, ty in given.items()})
        if not made:
            return None
        passed = ", ".join(f"np.array({k})" if arrays.get(k) else k for k in given)
        source = f"def call({', '.join(given)}):\n    return made({passed})\n"
        return njit(define(source, {"made": made, "np": np}))

    def _by_position(self, made, names):
        """The function itself, or one of the parameters that are given."""
        if names == list(inspect.signature(made.py_func).parameters):
            return made
        given = ", ".join(f"{name}={name}" for name in names)
        return njit(
            define(f"def call({', '.join(names)}):\n    return made({given})\n", {"made": made})
        )


_NO_ARRAYS = frozenset("axis axes shape newshape size reps repeats shift kth pad_width".split())
"""Parameters that take a tuple as such."""


def _array_of(ty):
    """The type of the array that NumPy makes of a list or tuple of numbers; None of anything else."""
    members = ty.types if isinstance(ty, types.BaseTuple) else [getattr(ty, "dtype", None)]
    numbers = members and all(isinstance(t, types.Number | types.Boolean) for t in members)
    if not numbers or not isinstance(ty, types.BaseTuple | types.List):
        return None
    context = cpu_target.typing_context
    unified = context.unify_types(*map(types.unliteral, members))
    return unified and types.Array(unified, 1, "C")


def stands_for(*functions, method=None, of_numbers=False):
    """Let what the decorated function makes stand for calls of these functions, and of a method."""

    def register(make):
        found = StandIns(make, of_numbers)
        FUNCTIONS.update(dict.fromkeys(functions, found))
        if method is not None:
            METHODS[method] = found
        return make

    return register


def is_array(ty):
    """Whether a type is that of an array of numbers with a derivative."""
    return isinstance(ty, types.Array) and isinstance(ty.dtype, types.Float | types.Complex)


def is_none(ty):
    """Whether an argument is None, given or by default."""
    return ty is None or isinstance(ty, types.NoneType | types.Omitted)


def literal_ints(ty):
    """The ints of an argument that the code writes out, an int or a tuple of ints; None for others."""
    if isinstance(ty, types.IntegerLiteral):
        return (ty.literal_value,)
    if isinstance(ty, types.BaseTuple) and all(isinstance(t, types.IntegerLiteral) for t in ty):
        return tuple(t.literal_value for t in ty)
    return None
