"""`nd.root` and its relatives as they are called, from Python and from nopython code."""

from functools import partial

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload, register_jitable

from ..errors import ArgumentError
from ..ir.functionals import functional
from ..operators.operator_dispatcher import as_dispatcher, build
from ..source import define
from .integral import Integral
from .minimum import BracketedMinimum, LocalMinimum
from .root import FixedPoint, Root

XTOL, RTOL = 1e-14, 1e-11


def root(g, x0, args=(), bracket=None, xtol=XTOL, rtol=RTOL, maxiter=100):
    """A root of a function: the `x` with `g(x, *args) = 0`, differentiated by `args`.

    Derivatives, in both modes and of every order, are those of the implicit function theorem: one
    Jacobian of `g` and one solve, whatever the search took. To be called from Python and from
    nopython code, where `g` is a jitted function.

    Parameters
    ----------
    g : function or Numba dispatcher
        `g(x, *args)` returns a float where `x` is one, a 1-D array as long as `x` where it is one.
    x0 : float or array, shape (n,)
        Where Newton's method starts. The root is not differentiated by it: its derivative is zero.
    args : tuple
        Further arguments of `g`: numbers, arrays, tuples and namedtuples of these.
    bracket : (float, float), optional
        For a float `x`: two places where `g` has different signs, between which the root is found.
    xtol, rtol : float
        The search ends with a step below `xtol + rtol * |x|` (each component). Newton's method
        squares errors, so the root is far more accurate than that.
    maxiter : int
        Steps before the search gives up.

    Returns
    -------
    float or array, shape (n,)

    Raises
    ------
    ConvergenceError
        Where no root is found, or the bracket has none.
    SingularError
        When differentiated, where the Jacobian is singular at the root, as at a double root.

    Examples
    --------
    >>> import math
    >>> import numbad as nd
    >>> def kepler(anomaly, mean, eccentricity):
    ...     return anomaly - eccentricity * math.sin(anomaly) - mean
    >>> round(nd.root(kepler, 1.0, (1.0, 0.5)), 12)
    1.498701133518
    >>> from numba import njit
    >>> kepler = njit(kepler)
    >>> @njit
    ... def anomaly(mean, eccentricity):
    ...     return nd.root(kepler, mean, (mean, eccentricity))
    >>> by_mean, by_eccentricity = nd.grad(anomaly, (0, 1))(1.0, 0.5)
    >>> round(by_mean, 8), round(by_eccentricity, 8)
    (1.03736202, 1.03466723)
    """
    return build(Root(g))(
        _start("root", x0),
        _tuple(args),
        _pair("root", bracket),
        *_search("root", xtol, rtol),
        maxiter,
    )


def fixed_point(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=1000):
    """A fixed point of a function: the `x` with `x = f(x, *args)`, differentiated by `args`.

    It is found by iteration, and differentiated by the implicit function theorem. Arguments and
    errors as for `nd.root`; `f` returns a float or an array as `x0` is; `xtol` is a part of the
    largest number met, where that is below 1. Iteration converges as fast as
    `f` contracts: with a factor q, a last change of c leaves an error of about q c / (1 - q).

    >>> import math
    >>> import numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def f(x, a):
    ...     return math.exp(-a * x)
    >>> round(nd.derivative(lambda a: nd.fixed_point(f, 0.5, (a,)))(1.0), 9)
    -0.205247034
    """
    return build(FixedPoint(f))(
        _start("fixed_point", x0), _tuple(args), None, *_search("fixed_point", xtol, rtol), maxiter
    )


def minimize(f, x0, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    """Where a function has a local minimum, differentiated by `args`.

    Newton's method with a line search, gradients and Hessians being those of `f`; differentiated by the
    implicit function theorem, as a root of the gradient. Arguments and errors as for `nd.root`, but
    that `f` returns a float; where the search ends at a saddle it raises ConvergenceError.
    (`nd.fit.minimize` is another: it runs SciPy's minimizers, with derivatives, from Python.)

    >>> import numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def energy(x, force):
    ...     return 0.5 * x * x + 0.1 * x**4 - force * x
    >>> round(nd.minimize(energy, 0.0, (1.4,)), 12)
    1.0
    >>> round(nd.derivative(lambda force: nd.minimize(energy, 0.0, (force,)))(1.4), 12)
    0.454545454545
    """
    return build(LocalMinimum(f))(
        _start("minimize", x0), _tuple(args), None, *_search("minimize", xtol, rtol), maxiter
    )


def minimize_scalar(f, bracket, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    """The minimum of a function of a float between two places, differentiated by `args`.

    Brent's method, and Newton's on the derivative for the last digits. `bracket` is a pair of floats with
    the minimum between them; a minimum at an end raises ConvergenceError. The rest as for `nd.root`.

    >>> import numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def f(x, a):
    ...     return x**4 - a * x
    >>> round(nd.minimize_scalar(f, (0.0, 10.0), (4.0,)), 12)
    1.0
    >>> round(nd.derivative(lambda a: nd.minimize_scalar(f, (0.0, 10.0), (a,)))(4.0), 12)
    0.083333333333
    """
    pair = _pair("minimize_scalar", bracket)
    return build(BracketedMinimum(f))(
        pair[0], _tuple(args), pair, *_search("minimize_scalar", xtol, rtol), maxiter
    )


def quad(f, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=200):
    """The integral of `f(x, *args)` over `x` from `a` to `b`, differentiated by `args` and limits.

    Adaptive Gauss-Kronrod quadrature (QUADPACK's), to be called from Python and from nopython code.
    Derivatives by `args` are integrals as well, with their own error control; those by the limits
    are Leibniz's. Reverse mode integrates the gradient in passes of 16 parameters.

    Parameters
    ----------
    f : function or Numba dispatcher
        `f(x, *args)` returns a float for a float `x`. It may be singular at the limits. Where it jumps at a
        place that depends on a parameter, split the range there: what moves a jump is not seen.
    a, b : float
        The limits; infinite ones too.
    args : tuple
        Further arguments of `f`: numbers, arrays, tuples and namedtuples of these.
    epsabs, epsrel : float
        The estimated error is below `max(epsabs, epsrel * |integral|)`, for the value and for each
        derivative.
    limit : int
        Subintervals at most.

    Returns
    -------
    float
        The integral (without the estimate of its error that SciPy's `quad` returns).

    Raises
    ------
    ConvergenceError
        Where the accuracy is not reached, or `f` is not finite.
    SingularError
        When differentiated by a limit at which `f` is not finite.

    Examples
    --------
    >>> import math
    >>> import numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def density(x, scale):
    ...     return math.exp(-x / scale) / scale
    >>> def below(x, scale):
    ...     return nd.quad(density, 0.0, x, (scale,))
    >>> [round(part, 9) for part in nd.grad(below, (0, 1))(1.0, 0.5)]
    [0.270670566, -0.541341133]
    """
    lower, upper = _real("quad: limit a", a), _real("quad: limit b", b)
    return build(Integral(f))(lower, upper, _tuple(args), epsabs, epsrel, limit)


def _start(name, x0):
    if np.iscomplexobj(x0):
        raise ArgumentError(
            f"nd.{name}: x0 is real, not {x0!r}. Way out: solve for real and imaginary parts as two unknowns"
        )
    return _real(f"{name}: x0", x0) if np.ndim(x0) == 0 else np.array(x0, dtype=float)


def _real(what, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"nd.{what} is a float, not {value!r}") from None


def _search(name, xtol, rtol):
    """The tolerances of a search."""
    tolerances = _real(f"{name}: xtol", xtol), _real(f"{name}: rtol", rtol)
    if not min(tolerances) >= 0.0:
        raise ArgumentError(
            f"nd.{name}: xtol and rtol are not negative; they are {xtol!r} and {rtol!r}"
        )
    return tolerances


def _tuple(args):
    return args if isinstance(args, tuple) else (args,)


def _pair(name, bracket):
    if bracket is None:
        return None
    if np.shape(bracket) != (2,):
        raise ArgumentError(f"nd.{name}: bracket is a pair of floats, not {bracket!r}")
    return tuple(_real(f"{name}: bracket[{k}]", bracket[k]) for k in range(2))


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
    return _implementation(LocalMinimum, f, args, "f, x0, args=()", 200, "x0, given(args), None")


@overload(minimize_scalar, strict=False)
def _minimize_scalar(f, bracket, args=(), xtol=XTOL, rtol=RTOL, maxiter=200):
    return _implementation(
        BracketedMinimum, f, args, "f, bracket, args=()", 200, "bracket[0], given(args), bracket"
    )


@overload(quad, strict=False)
def _quad(f, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=200):
    parameters = "f, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=200"
    return _calling(Integral, f, args, parameters, "a, b, given(args), epsabs, epsrel, limit")


def _implementation(operator, f, args, parameters, maxiter, given):
    """The function with these parameters and the tolerances."""
    parameters += f", xtol={XTOL}, rtol={RTOL}, maxiter={maxiter}"
    return _calling(operator, f, args, parameters, f"{given}, xtol, rtol, maxiter")


def _calling(operator, f, args, parameters, given):
    """The function with these parameters that calls the operator's result."""
    if not isinstance(f, types.Dispatcher):
        return None
    namespace = {
        "solution": build(operator(f.dispatcher)),
        "given": register_jitable(_in_tuple(args)),
    }
    source = f"def {operator.name}({parameters}):\n    return solution({given})\n"
    return define(source, namespace)


for _operator in (root, fixed_point, minimize, minimize_scalar, quad):
    functional(_operator, "own args", partial(as_dispatcher, f"nd.{_operator.__name__}"))

# The names are loaded at their first use, which may be in the middle of a compilation.
if "_toplevel_typing_context" in vars(cpu_target):
    cpu_target.typing_context.refresh()
