"""`nd.root` and its relatives as they are called, from Python and from nopython code."""

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload, register_jitable

from ..errors import ArgumentError
from ..operators.dispatcher import build
from ..source import define
from .integral import Integral
from .minimum import BracketedMinimum, Minimum
from .root import FixedPoint, Root

XTOL, RTOL = 1e-14, 1e-11


def root(g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100):
    """d"""
    return build(Root(g))(_start(x0), _tuple(args), _pair(bracket), xtol, rtol, maxiter)


def fixed_point(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=1000):
    """d"""
    return build(FixedPoint(f))(_start(x0), _tuple(args), None, xtol, rtol, maxiter)


def minimize(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    """d"""
    return build(Minimum(f))(_start(x0), _tuple(args), None, xtol, rtol, maxiter)


def minimize_scalar(f, bracket, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    """d"""
    pair = _pair(bracket)
    return build(BracketedMinimum(f))(pair[0], _tuple(args), pair, xtol, rtol, maxiter)


def quad(f, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=200):
    """d"""
    return build(Integral(f))(float(a), float(b), _tuple(args), epsabs, epsrel, limit)


def _start(x0):
    return float(x0) if np.ndim(x0) == 0 else np.array(x0, dtype=float)


def _tuple(args):
    return args if isinstance(args, tuple) else (args,)


def _pair(bracket):
    if bracket is None:
        return None
    if np.shape(bracket) != (2,):
        raise ArgumentError(f"bracket is a pair of floats, not {bracket!r}")
    return float(bracket[0]), float(bracket[1])


# -- from nopython code ------------------------------------------------------------------------


def _in_tuple(args):
    """A nopython function that gives args as a tuple."""
    if isinstance(args, types.Omitted | tuple):
        return lambda args: ()
    return (lambda args: args) if isinstance(args, types.BaseTuple) else (lambda args: (args,))


@overload(root, strict=False)
def _root(g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100):
    return _implementation(
        Root, g, args, "g, x0, args=(), bracket=None", 100, "x0, given(args), bracket"
    )


@overload(fixed_point, strict=False)
def _fixed_point(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=1000):
    return _implementation(FixedPoint, f, args, "f, x0, args=()", 1000, "x0, given(args), None")


@overload(minimize, strict=False)
def _minimize(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    return _implementation(Minimum, f, args, "f, x0, args=()", 200, "x0, given(args), None")


@overload(minimize_scalar, strict=False)
def _minimize_scalar(f, bracket, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    return _implementation(
        BracketedMinimum, f, args, "f, bracket, args=()", 200, "bracket[0], given(args), bracket"
    )


@overload(quad, strict=False)
def _quad(f, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=200):
    options = "epsabs=1.49e-8, epsrel=1.49e-8, limit=200"
    return _calling(Integral, f, args, f"f, a, b, args=(), {options}", "a, b, given(args), epsabs, epsrel, limit")


def _implementation(operator, f, args, parameters, maxiter, given):
    """The function with these parameters and the tolerances."""
    parameters += f", xtol={XTOL}, rtol={RTOL}, maxiter={maxiter}"
    return _calling(operator, f, args, parameters, f"{given}, xtol, rtol, maxiter")


def _calling(operator, f, args, parameters, given):
    """The function with these parameters that calls the operator's result."""
    if not isinstance(f, types.Dispatcher):
        return None
    namespace = {"solution": build(operator(f.dispatcher)), "given": register_jitable(_in_tuple(args))}
    source = f"def {operator.name}({parameters}):\n    return solution({given})\n"
    return define(source, namespace)


# The names are loaded at their first use, which may be in the middle of a compilation.
if "_toplevel_typing_context" in vars(cpu_target):
    cpu_target.typing_context.refresh()
