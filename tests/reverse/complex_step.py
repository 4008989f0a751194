"""Derivatives of programs of plain Python by complex step, which knows neither Numba nor numbad.

The source runs on numbers z = x + i h with h so small that h^2 vanishes: the imaginary part of a result
over h is its derivative, without a difference being taken (W. Squire, G. Trapp, "Using complex
variables to estimate derivatives of real functions", SIAM Review 40 (1998), 110-112). `Number`
compares by real parts, so that every branch is the one that the primal takes.
"""

import cmath
import math
import types

import numpy as np
from numba.core.dispatcher import Dispatcher

STEP = 1e-60


class Number:
    """A complex number with comparisons, among real ones."""

    __slots__ = ("z",)

    def __init__(self, z):
        self.z = complex(z)

    def __neg__(self):
        return Number(-self.z)

    def __abs__(self):
        return -self if self.z.real < 0.0 else self

    def __bool__(self):
        return self.z.real != 0.0


def _plain(x):
    return x.z if isinstance(x, Number) else x


def _arithmetic(name):
    operation = getattr(complex, name)

    def apply(self, other):
        if not isinstance(other, (Number, int, float)):
            return NotImplemented
        return Number(operation(self.z, complex(_plain(other))))

    return apply


def _comparison(name):
    operation = getattr(float, name)
    return lambda self, other: operation(self.z.real, float(complex(_plain(other)).real))


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Number, f"__{_name}__", _arithmetic(f"__{_name}__"))
    setattr(Number, f"__r{_name}__", _arithmetic(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Number, f"__{_name}__", _comparison(f"__{_name}__"))


class _Math:
    """`math` on numbers and on reals."""

    def __getattr__(self, name):
        real, analytic = getattr(math, name), getattr(cmath, name)
        return lambda x: Number(analytic(x.z)) if isinstance(x, Number) else real(x)


class _NumPy:
    """`numpy`, whose arrays hold numbers."""

    empty = zeros = staticmethod(lambda shape: np.full(shape, Number(0.0)))
    array = staticmethod(lambda items: np.array(items, dtype=object))


def translated(f):
    """A compiled function as Python code on numbers, and what it calls with it."""
    f = getattr(f, "py_func", f)
    scope = {}
    for name in f.__code__.co_names:
        value = f.__globals__.get(name)
        if isinstance(value, Dispatcher):
            scope[name] = translated(value)
        elif value is math or value is np:
            scope[name] = _Math() if value is math else _NumPy()
    scope = {**f.__globals__, **scope}
    return types.FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)


def parts(result):
    """The complex numbers of a result, in order."""
    if isinstance(result, tuple):
        return np.concatenate([parts(member) for member in result])
    return np.array([complex(_plain(x)) for x in np.ravel(np.asarray(result, dtype=object))])


def numbers(argument):
    """Floats and arrays of floats as numbers; anything else as it is."""
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
        return np.array([Number(x) for x in argument.ravel()]).reshape(argument.shape)
    return Number(argument) if isinstance(argument, float) else argument


def value(f, args):
    """The real numbers of what the plain program returns."""
    return parts(translated(f)(*map(numbers, args))).real


def jacobian(f, args, argnums):
    """Derivatives of every number of the result by each argument: a list of (results, *shape)."""
    return [_by_argument(translated(f), args, k) for k in argnums]


def _by_argument(program, args, k):
    columns = []
    for at in np.ndindex(np.shape(args[k])):
        moved = np.array(numbers(args[k]))
        moved[at] = Number(complex(moved[at].z.real, STEP))
        changed = [moved[()] if j == k else numbers(a) for j, a in enumerate(args)]
        columns.append(parts(program(*changed)).imag / STEP)
    return np.stack(columns, -1).reshape(-1, *np.shape(args[k]))
