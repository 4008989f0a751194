"""An oracle that differentiates programs: the same source, run by Python in 300 bits.

Globals and closures of a function are replaced: `math` and `np` by versions on mpmath's numbers,
jitted functions by their Python source. Float arrays become arrays of objects, so that whatever
the program allocates can hold those numbers. Derivatives are central differences of this function,
whose error at these steps is far below a double's; nothing of the dual numbers is involved.
"""

import builtins
import cmath
import inspect
import math
import types as pytypes

import numpy as np
from mpmath import mp, mpc, mpf
from numba.core.dispatcher import Dispatcher
from numba.np.ufunc.dufunc import DUFunc

from numbad.rules import STRUCTURAL  # noqa: F401  (the rules register what CASES name)
from tests.rules.scalar_cases import CASES

BITS = 300
STEP = mpf(2) ** -100

_FUNCTIONS = {case.fn: case.exact for case in CASES}


def exactly(f):
    """The function as Python code on mpmath's numbers."""
    return _Translator().function(f)


class _Translator:
    def __init__(self):
        self._done = {}

    def function(self, f):
        f = getattr(f, "py_func", f)
        if f not in self._done:
            scope = {"__builtins__": _BUILTINS}
            copy = pytypes.FunctionType(
                f.__code__, scope, f.__name__, f.__defaults__, f.__closure__
            )
            self._done[f] = copy
            scope.update({n: self.value(v) for n, v in f.__globals__.items() if n in names_of(f)})
            if f.__closure__:
                cells = tuple(pytypes.CellType(self.value(c.cell_contents)) for c in f.__closure__)
                copy = pytypes.FunctionType(f.__code__, scope, f.__name__, f.__defaults__, cells)
                self._done[f] = copy
        return self._done[f]

    def elementwise(self, dispatcher):
        count = len(inspect.signature(dispatcher.py_func).parameters)
        return np.frompyfunc(self.function(dispatcher), count, 1)

    def value(self, v):
        if v is math or v is cmath:
            return _Math()
        if v is np:
            return _NumPy()
        if isinstance(v, Dispatcher):
            return self.function(v)
        if isinstance(v, DUFunc):
            return self.elementwise(v._dispatcher)
        if isinstance(v, pytypes.FunctionType):
            return getattr(v, "exact", None) or self.function(v)
        if isinstance(v, tuple):
            return tuple(map(self.value, v))
        return to_exact(v)


def names_of(f):
    """Every name in a function's code, and in the functions defined within it."""
    found, pending = set(), [f.__code__]
    while pending:
        code = pending.pop()
        found.update(code.co_names)
        pending += [c for c in code.co_consts if isinstance(c, pytypes.CodeType)]
    return found


def _scalar_function(fn):
    exact = _FUNCTIONS[fn]

    def call(*args):
        if isinstance(fn, np.ufunc) and len(args) > fn.nin:
            *args, out = args
            out[...] = call(*args)
            return out
        if any(isinstance(a, np.ndarray) for a in args):
            result = np.frompyfunc(exact, len(args), 1)(*args)
            return result
        return exact(*args)

    return call


class _Math:
    pi, e, inf, nan = math.pi, math.e, mp.inf, mp.nan
    floor = staticmethod(lambda x: int(mp.floor(x)))
    ceil = staticmethod(lambda x: int(mp.ceil(x)))
    trunc = staticmethod(int)
    phase, polar, rect = map(staticmethod, (mp.arg, mp.polar, mp.rect))
    isnan = staticmethod(mp.isnan)
    ldexp = staticmethod(lambda x, e: x * mpf(2) ** e)
    frexp = staticmethod(lambda x: mp.frexp(x))

    def __getattr__(self, name):
        return _scalar_function(getattr(math, name))


class _NumPy:
    """NumPy, where every array that NumPy would make of floats is one of objects."""

    pi, e, inf, nan, newaxis = np.pi, np.e, mp.inf, mp.nan, None
    float64 = float32 = complex128 = complex64 = staticmethod(lambda x: x + mpf(0))
    conj = conjugate = staticmethod(mp.conj)
    real, imag = staticmethod(mp.re), staticmethod(mp.im)
    int64 = int32 = int
    bool_ = bool
    angle = staticmethod(mp.arg)
    isnan, sign = staticmethod(mp.isnan), staticmethod(np.sign)
    floor, ceil, rint = (np.frompyfunc(f, 1, 1) for f in (mp.floor, mp.ceil, mp.nint))
    ndindex, ndenumerate = np.ndindex, np.ndenumerate
    ravel = staticmethod(lambda a: np.ravel(a))

    def __getattr__(self, name):
        return _scalar_function(getattr(np, name))

    def zeros(self, shape, dtype=None):
        return self.full(shape, mpf(0), dtype)

    def empty(self, shape, dtype=None):
        return self.full(shape, 0 if dtype in (int, bool) else mp.nan, dtype)

    def ones(self, shape, dtype=None):
        return self.full(shape, mpf(1), dtype)

    def full(self, shape, value, dtype=None):
        return np.full(shape, value, dtype=dtype if dtype in (int, bool) else object)

    def eye(self, n):
        return to_exact(np.eye(n))

    def linspace(self, start, stop, n):
        return np.array([start + (mpf(stop) - start) * k / max(n - 1, 1) for k in range(n)], object)

    def arange(self, *bounds):
        return to_exact(np.arange(*bounds))

    def zeros_like(self, a):
        return self.zeros(a.shape)

    def empty_like(self, a):
        return self.empty(a.shape)

    def ones_like(self, a):
        return self.ones(a.shape)

    def full_like(self, a, value):
        return self.full(a.shape, value)

    def array(self, items, dtype=None):
        found = np.array(items, object)
        whole = found.size and all(isinstance(x, (int, np.integer)) for x in found.flat)
        return np.array(items) if whole and dtype is None else found

    asarray = array

    def mean(self, a, axis=None):
        return np.sum(a, axis) / (a.size if axis is None else a.shape[axis])

    def var(self, a, axis=None):
        mean = np.mean(a, axis) if axis is None else np.expand_dims(np.mean(a, axis), axis)
        return np.mean((a - mean) ** 2, axis)

    def std(self, a, axis=None):
        return _scalar_function(np.sqrt)(self.var(a, axis))


for _name in (
    "abs shape dot cumsum cumprod prod sum min max amin amax copy transpose reshape diff trace append"
    " ascontiguousarray asfortranarray concatenate vstack hstack stack column_stack outer diag flip"
    " roll repeat where broadcast_to expand_dims sort atleast_1d fill_diagonal"
    " vdot split take argmin argmax argsort any all count_nonzero searchsorted dstack atleast_2d atleast_3d"
).split():
    setattr(_NumPy, _name, staticmethod(getattr(np, _name)))

_BUILTINS = dict(
    vars(builtins),
    float=lambda x: x + mpf(0),
    complex=mpc,
    divmod=lambda x, y: (mp.floor(x / y), x % y),
)


def to_exact(value):
    """Floats, arrays and tuples of floats as mpmath's numbers; anything else as it is."""
    if isinstance(value, (float, complex, np.floating, np.complexfloating)):
        return mp.mpmathify(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        exact = np.empty(value.shape, object)
        for index in np.ndindex(value.shape):
            exact[index] = mp.mpmathify(value[index].item())
        return exact
    if isinstance(value, tuple):
        return rebuilt(value, map(to_exact, value))
    return value


def rebuilt(like, members):
    """A tuple, or a namedtuple of the type of `like`."""
    return type(like)(*members) if hasattr(like, "_fields") else tuple(members)


def moved(value, direction, h):
    """`value + h * direction`, leaf by leaf; what has the direction None stays."""
    if isinstance(value, Dispatcher):
        return exactly(value)
    if direction is None:
        return value.copy() if isinstance(value, np.ndarray) else value
    if isinstance(value, tuple):
        return rebuilt(value, (moved(v, d, h) for v, d in zip(value, direction, strict=True)))
    result = to_exact(value) + h * to_exact(direction)
    return np.array(result, object) if isinstance(value, np.ndarray) else result


def flat(result):
    """The numbers of a result, in order."""
    if result is None:
        return []
    if isinstance(result, (tuple, list)):
        return [x for member in result for x in flat(member)]
    if isinstance(result, np.ndarray):
        return list(result.ravel())
    return [result]


def directional(f, args, *directions):
    """The derivative of all numbers that `f` returns, in one direction, or in two one after another."""
    with mp.workprec(BITS):
        return _difference(exactly(f), args, directions)


def _difference(f, args, directions):
    if not directions:
        return flat(f(*args))
    first, *rest = directions
    ahead, behind = (_difference(f, moved(args, first, h), rest) for h in (STEP, -STEP))
    return [(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)]
