"""Holds a program's compiled derivative against the oracle, and its value against the primal."""

import copy
import math
import random

import numba
import numpy as np
from mpmath import mpf

import numbad as nd
from tests.forward.exact import directional, flat, rebuilt


def has_floats(value):
    """Whether an argument can be differentiated by."""
    if isinstance(value, tuple):
        return any(map(has_floats, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def random_direction(value, draw):
    """A direction of the structure of an argument; None for what is constant."""
    if not has_floats(value):
        return None
    if isinstance(value, tuple):
        return rebuilt(value, (random_direction(v, draw) for v in value))
    if isinstance(value, np.ndarray):
        return np.array([draw.uniform(0.5, 1.5) for _ in range(value.size)]).reshape(value.shape)
    return draw.uniform(0.5, 1.5)


def contracted(jacobian, direction):
    """The Jacobian of one number or array of the result times a direction: flat numbers."""
    if direction is None:
        return 0.0
    if isinstance(direction, tuple):
        return sum(contracted(j, v) for j, v in zip(jacobian, direction, strict=True))
    jacobian, direction = np.asarray(jacobian), np.asarray(direction)
    return np.tensordot(jacobian, direction, direction.ndim).ravel()


def along(jacobian, value, direction):
    """The derivative in a direction, from the Jacobian of a result that is structured as `value`."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return [x for j, v in zip(jacobian, value, strict=True) for x in along(j, v, direction)]
    return list(np.atleast_1d(contracted(jacobian, direction)))


def same_bits(first, second):
    """Whether two results are the same in structure, dtype, and bit for bit."""
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same_bits, first, second))
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    nans = np.isnan(first) & np.isnan(second) if first.dtype.kind in "fc" else np.False_
    return np.where(nans, 0, first).tobytes() == np.where(nans, 0, second).tobytes()


def assert_close(found, exact, rtol, what=""):
    """Numbers against mpmath's, relative to the largest of them."""
    assert len(found) == len(exact), what
    scale = max([1e-300, *(abs(complex(e)) for e in exact)])
    for k, (x, e) in enumerate(zip(found, exact, strict=True)):
        assert math.isfinite(abs(x)), f"{what} number {k}: {x}, not {e}"
        error = float(abs(mpf(1) * x - e))
        assert error <= rtol * scale, f"{what} number {k}: {x}, not {complex(e)}"


def check(f, *args, rtol=1e-12, second=False, chunk=None, out=None):
    """`f` compiled for duals against the oracle: value, side effects, first (and second) derivative.

    In one direction, with one partial; with `chunk`, by every number, in passes of so many.
    """
    draw = random.Random(f.__name__)
    directions = tuple(random_direction(a, draw) for a in args)
    primal_args, dual_args = copy.deepcopy(args), copy.deepcopy(args)
    primal = numba.njit(f)(*primal_args)
    if second:
        others = tuple(random_direction(a, draw) for a in args)
        value, found, exact = _second(f, args, dual_args, directions, others)
    elif chunk:
        value, found = _jacobian(f, args, dual_args, directions, chunk, out)
        exact = directional(f, args, directions)
    else:
        value, tangent = nd.jvp(f)(dual_args, _placed(directions))
        found, exact = flat(tangent), directional(f, args, directions)
    assert same_bits(value, primal), f"value {value!r}, not {primal!r}"
    if not second:  # which takes a tuple of the arguments, and leaves arrays within it alone
        assert same_bits(dual_args, primal_args), "arguments changed otherwise than by the primal"
    assert_close(found, exact, rtol)


def _jacobian(f, args, dual_args, directions, chunk, out):
    """The value, and the Jacobian by every number times the directions."""
    argnums = tuple(k for k, v in enumerate(directions) if v is not None)
    value, jacobian = nd.value_and_jacobian(f, argnums, chunk=chunk, out=out)(*dual_args)
    return value, along(jacobian, value, tuple(directions[k] for k in argnums))


def _second(f, args, dual_args, first, other):
    """The value, both first derivatives and the mixed second one, through nested duals."""
    inner, outer = _placed(first), _placed(other)
    nested = nd.jvp(nd.jvp(f))((dual_args, inner), (outer, _scaled(inner, 0.0)))
    (value, one), (two, both) = nested
    exact = (directional(f, args, *v) for v in ((first,), (other,), (other, first)))
    return value, flat((one, two, both)), [x for part in exact for x in part]


def _placed(direction):
    """A direction with zeros, which are ignored, where there is a constant."""
    if isinstance(direction, tuple):
        return rebuilt(direction, map(_placed, direction))
    return 0.0 if direction is None else direction


def _scaled(direction, factor):
    if isinstance(direction, tuple):
        return rebuilt(direction, (_scaled(v, factor) for v in direction))
    return direction * factor


class Made:
    """An argument that is made when a test asks for it: making it compiles, in every worker that collects."""

    def __init__(self, make):
        self.make = make


def made(args):
    """The arguments, with those made that wait for it."""
    return tuple(a.make() if isinstance(a, Made) else a for a in args)


class Programs(list):
    """Programs, each with arguments to try it on and options of `check`: a test's parameters."""

    def on(self, *args, **options):
        """Register the decorated function, to be checked on these arguments."""

        def register(f):
            self.append((f, args, options))
            return f

        return register

    def names(self):
        return [f.__name__ for f, _, _ in self]
