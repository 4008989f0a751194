"""`nd.root` and its relatives as they are called, from Python and from nopython code."""

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from ..errors import ArgumentError
from ..operators.dispatcher import build
from .root import FixedPoint, Root

XTOL, RTOL = 1e-14, 1e-11


def root(g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100):
    """d"""
    return _solution(Root, g)(_start(x0), _tuple(args), bracket, xtol, rtol, maxiter)


def fixed_point(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=1000):
    """d"""
    return _solution(FixedPoint, f)(_start(x0), _tuple(args), None, xtol, rtol, maxiter)


def _solution(operator, f):
    return build(operator(f))


def _start(x0):
    return float(x0) if np.ndim(x0) == 0 else np.asarray(x0, dtype=float)


def _tuple(args):
    return args if isinstance(args, tuple) else (args,)


@overload(root, strict=False)
def _root(g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100):
    if not isinstance(g, types.Dispatcher):
        return None
    solution = build(Root(g.dispatcher))
    if isinstance(args, types.Omitted | tuple):
        return lambda g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100: solution(
            x0, (), bracket, xtol, rtol, maxiter
        )
    if isinstance(args, types.BaseTuple):
        return lambda g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100: solution(
            x0, args, bracket, xtol, rtol, maxiter
        )
    return lambda g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100: solution(
        x0, (args,), bracket, xtol, rtol, maxiter
    )


# The names are loaded at their first use, which may be in the middle of a compilation.
if "_toplevel_typing_context" in vars(cpu_target):
    cpu_target.typing_context.refresh()
