"""Holds reverse-mode gradients of a program against its plain Python source, run in 300 bits.

The source is differentiated by central differences of mpmath's numbers (`tests.forward.exact`),
so nothing of numbad is in the oracle. What Python cannot run on those numbers (typed containers,
jitted classes, random draws) a test replaces through `plain=`: the same mathematics without it.
"""

import random
from types import SimpleNamespace

import numba
import numpy as np
from mpmath import mp
from numba import typed
from numba.core.dispatcher import Dispatcher

import numbad as nd
from tests.forward.compare import assert_close, has_floats, made, same_bits
from tests.forward.exact import BITS, STEP, _Translator, rebuilt, to_exact
from tests.reverse.oracle import random_direction
from tests.shares import deepens

MODE = "reverse"

STAND_INS = {}
"""What stands for an object of Numba's (a jitted class) in the plain program."""


class PlainList(list):
    """A typed list as Python's own."""

    empty_list = staticmethod(lambda *_, **__: PlainList())


class PlainDict(dict):
    """A typed dictionary as Python's own."""

    empty = staticmethod(lambda *_, **__: PlainDict())


class _Plain(_Translator):
    """The forward tests' translation, with containers, keyword-only defaults and stand-ins."""

    def function(self, f):
        kwdefaults = getattr(f, "py_func", f).__kwdefaults__
        copied = super().function(f)
        if kwdefaults:
            copied.__kwdefaults__ = {k: self.value(v) for k, v in kwdefaults.items()}
        return copied

    def value(self, v):
        if v is typed:
            return SimpleNamespace(List=PlainList, Dict=PlainDict)
        if v is typed.List:
            return PlainList
        if v is typed.Dict:
            return PlainDict
        if isinstance(v, type) and v in STAND_INS:
            return STAND_INS[v]
        if isinstance(v, type):
            return v
        if isinstance(v, tuple):
            return rebuilt(v, map(self.value, v))
        if isinstance(v, (list, typed.List)):
            return PlainList(map(self.value, v))
        return super().value(v)


def run(f, args):
    """The numbers that the plain program returns."""
    return _flat(_Plain().function(f)(*args))


def _flat(result):
    if isinstance(result, tuple):
        return [x for member in result for x in _flat(member)]
    return list(result.ravel()) if isinstance(result, np.ndarray) else [result]


def copied(value):
    """Arrays copied, tuples of arrays too; what the programs only read as it is."""
    if isinstance(value, tuple):
        return rebuilt(value, map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _moved(value, direction, h):
    """`value + h * direction`, leaf by leaf; what has the direction None stays."""
    if isinstance(value, tuple):
        parts = direction if direction is not None else [None] * len(value)
        return rebuilt(value, (_moved(v, d, h) for v, d in zip(value, parts, strict=True)))
    if direction is None or isinstance(value, (int, str, type(None))):
        return _Plain().value(copied(value))
    return to_exact(value) + h * to_exact(direction)


def directional(f, args, *directions):
    """The derivative of the plain program's numbers in one direction, or in two in turn."""
    if not directions:
        return run(f, args)
    first, *rest = directions
    ahead, behind = (directional(f, _moved(args, first, h), *rest) for h in (STEP, -STEP))
    return [(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)]


def units(value):
    """Directions along every single number of an argument, in order."""
    if isinstance(value, tuple):
        for k, member in enumerate(value):
            for unit in units(member):
                yield tuple(unit if j == k else None for j in range(len(value)))
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        for index in np.ndindex(value.shape):
            unit = np.zeros(value.shape)
            unit[index] = 1.0
            yield unit
    elif isinstance(value, (float, np.floating)):
        yield 1.0


def numbers(gradient, value):
    """The numbers of a gradient that belong to floats of the argument, checked for structure."""
    if isinstance(value, tuple):
        assert isinstance(gradient, tuple)
        assert len(gradient) == len(value), (gradient, value)
        assert getattr(gradient, "_fields", None) == getattr(value, "_fields", None)
        return [x for g, v in zip(gradient, value, strict=True) for x in numbers(g, v)]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        assert isinstance(gradient, np.ndarray)
        assert gradient.shape == value.shape
        assert gradient.dtype == value.dtype
        return list(gradient.ravel())
    if isinstance(value, (float, np.floating)):
        assert isinstance(gradient, (float, np.floating)), gradient
        return [gradient]
    assert gradient is None or not np.any(gradient), f"{gradient!r} by the constant {value!r}"
    return []


def _along(args, wrt, directions):
    """Directions for all arguments from those of the differentiated ones."""
    full = [None] * len(args)
    for k, direction in zip(wrt, directions, strict=True):
        full[k] = direction
    return tuple(full)


def _each_number(args, wrt):
    for k in wrt:
        for unit in units(args[k]):
            yield _along(args, (k,), (unit,))


def check(f, *args, wrt=None, plain=None, second=None, rtol=1e-12, plain_args=None):
    """Value, changed arguments, gradient and Hessian-vector product of `f` in reverse mode.

    `plain` is what to run in Python, `f` itself unless given, on `plain_args`. Second order only deepens
    a test: it comes with its share of the deep ones, unless `second` is True.
    """
    args = made(args)
    wrt = wrt or tuple(k for k, a in enumerate(args) if has_floats(a))
    plain_args = args if plain_args is None else plain_args
    oracle = plain or f
    primal_args, used = copied(args), copied(args)
    compiled = f if isinstance(f, Dispatcher) else numba.njit(f)
    primal = compiled(*primal_args)
    value, gradient = nd.value_and_grad(f, wrt, mode=MODE)(*used)
    assert same_bits(value, primal), f"value {value!r}, not {primal!r}"
    _assert_same_arguments(used, primal_args)
    found = numbers(gradient, tuple(args[k] for k in wrt))
    with mp.workprec(BITS):
        assert_close([value], run(oracle, _moved(plain_args, None, 0)), rtol, "value")
        exact = [directional(oracle, plain_args, e)[0] for e in _each_number(plain_args, wrt)]
    assert_close(found, exact, rtol, "gradient")
    if second or (second is None and deepens()):
        _check_second(f, oracle, args, plain_args, wrt, rtol)


def _assert_same_arguments(used, primal_args):
    for a, b in zip(used, primal_args, strict=True):
        if isinstance(a, (np.ndarray, float)) or (isinstance(a, tuple) and has_floats(a)):
            assert _same(a, b), f"argument {a!r}, not {b!r}"


def _same(a, b):
    if isinstance(a, tuple):
        return all(map(_same, a, b))
    if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
        return same_bits(a, b)
    return True if isinstance(a, (np.ndarray, Dispatcher)) else a == b


def _check_second(f, oracle, args, plain_args, wrt, rtol):
    """The derivative of the gradient in a direction: dual numbers through the adjoint."""
    draw = random.Random(f.__name__)
    directions = tuple(random_direction(plain_args[k], draw) for k in wrt)
    gradient = nd.grad(f, wrt, mode=MODE)
    product = nd.jvp(gradient, wrt)(copied(args), directions)[1]
    along = _along(plain_args, wrt, directions)
    with mp.workprec(BITS):
        exact = [directional(oracle, plain_args, e, along)[0] for e in _each_number(args, wrt)]
    assert_close(numbers(product, tuple(args[k] for k in wrt)), exact, 10 * rtol, "second order")
