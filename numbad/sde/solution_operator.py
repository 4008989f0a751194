"""`solver`: a compiled, differentiable solution operator of a stochastic differential equation."""

import math
from functools import partial

from numbad.errors import ArgumentError
from numbad.ode.compiling import as_dispatcher
from numbad.remembered import built_once
from numbad.sde.by_structure import StructureDispatcher, by_structure
from numbad.sde.methods import METHODS, find_scheme
from numbad.sde.path_source import Problem, core
from numbad.sde.scheme import ITO, NOISES, STRATONOVICH

_ADJOINTS = ("auto", "discrete")
_LATER = ("forward", "reversible", "stochastic")


def solver(
    drift,
    diffusion,
    *,
    method="EulerMaruyama",
    noise="diagonal",
    calculus="ito",
    dt=None,
    rtol=None,
    atol=None,
    events=(),
    adjoint="auto",
    checkpoints=None,
):
    """Compile the solution operator of dy = drift(t, y, *args) dt + diffusion(t, y, *args) dW.

    Parameters
    ----------
    drift, diffusion : function or Numba dispatcher
        `drift(t, y, *args)` returns a float, tuple or array like `y`, in units of y / t. `diffusion(t, y,
        *args)` returns one like it in units of y / sqrt(t), or, for general noise, a matrix (n, m): a tuple
        of n tuples, or an array where `y` is one.
    method : str
        Ito: "EulerMaruyama" (any noise); "Milstein" (strong order 1; the slope of the diffusion by dual
        numbers); "RKMil" (the same without slopes); "SRIW1", "SRIW2", "SOSRI", "SOSRI2" (strong order 1.5;
        diagonal or scalar noise).
        Additive noise, strong order 1.5: "SRA1", "SRA2", "SRA3", "SOSRA", "SOSRA2", "ShARK"; order 1: "SEA".
        Stratonovich, any noise: "EulerHeun", "Heun", "Midpoint", "Ralston", "GeneralShARK", "SPaRK" (order 1
        where the noise commutes, else 0.5), "SlowRK" (1.5 where it commutes).
        For a stiff drift, with an equation solved in each step: "ImplicitEM", "STrapezoid", "ISSEM" (Ito, any
        noise, order 0.5, additive 1), "ImplicitMilstein" (order 1), "SKenCarp" (additive noise that is small,
        order 1.5).
        For expectations, weak order 2: "RI1", "DRI1" (Ito; any noise, matrices for states in tuples).
        Underdamped Langevin dynamics, y of positions and then velocities, additive noise on these: "BAOAB",
        "ABOBA" (order 1, weak order 2).
    noise : str
        "diagonal": component i has a Brownian motion of its own. For methods of order 1 and more its
        diffusion depends on y[i] alone. "scalar": all components share one. "additive": the diffusion does
        not depend on y; vector (diagonal) or matrix. "general": a matrix.
    calculus : str
        "ito" or "stratonovich": what the equation means. A method of the other calculus gets the drift
        corrected, by half the slope of the diffusion along itself, exact by dual numbers.
    dt : float
        Step size, in units of t. The grid of steps is anchored at time 0; an output time within a step
        divides it, by a Brownian bridge.
    rtol, atol, events, checkpoints
        Not available yet: anything but the default raises.
    adjoint : str
        "auto" or "discrete": derivatives are exactly those of the steps, in both modes.

    Returns
    -------
    dispatcher
        `solve(y0, ts, args, key)` returns an array of shape (len(ts), n): the path at each of `ts`, an array
        or tuple of increasing times, the first of them that of `y0`. `y0` is a float, tuple, namedtuple or
        array; `args` a tuple of further arguments, or one of another type. `key` is from `nd.random.key`: the
        Brownian path is a function of the key and the time alone, the same for all methods. `(key, path)`
        takes path number `path` of the key, as `nd.sde.ensemble` does. In place of a key: the increments, an
        array of shape (steps, channels) or (steps,), or a tuple of those and the space-time Levy areas.
        It can be called from Python, from nopython code and in `prange`, and differentiated by `y0`, `args`
        and given increments, in every mode; the key is a constant. The same functions and options give the
        same dispatcher.

    Raises
    ------
    ArgumentError
        for options that are wrong, that do not go together, or that are not available yet; when `solve` is
        compiled, for a key that is none.
    ModelError
        when `solve` is compiled or called: functions that Numba cannot compile, that return other shapes, or
        a diffusion that is not of the kind that `noise` says.
    DataError
        when `solve` is called: times that do not increase, increments of another shape.
    IntegrationError
        when `solve` is called: a path that ends in NaN or infinity; the message has the times between.
    UnsupportedError
        for derivatives by `ts`.

    Notes
    -----
    Kloeden & Platen, "Numerical Solution of Stochastic Differential Equations", 1992; every method's file has
    its own source.

    Examples
    --------
    Geometric Brownian motion, and the slope of one path by the volatility:

    >>> import numpy as np
    >>> import numbad as nd
    >>> solve = nd.sde.solver(lambda t, y, mu, vol: mu * y, lambda t, y, mu, vol: vol * y, dt=0.01,
    ...                       method="SRIW1")
    >>> key = nd.random.key(1)
    >>> solve(1.0, (0.0, 0.5, 1.0), (0.1, 0.2), key).shape
    (3, 1)
    >>> end = lambda vol: solve(1.0, (0.0, 1.0), (0.1, vol), key)[-1, 0]
    >>> slope, h = nd.derivative(end)(0.2), 1e-6
    >>> bool(abs(slope - (end(0.2 + h) - end(0.2 - h)) / (2.0 * h)) < 1e-8)
    True
    """
    scheme = find_scheme(method)
    _check_options(scheme, noise, calculus)
    _refuse_unavailable(rtol, atol, events, adjoint, checkpoints)
    functions = as_dispatcher(drift, "drift"), as_dispatcher(diffusion, "diffusion")
    return compiled(Problem(*functions, scheme, noise, calculus, _step_size(dt)))


def _check_options(scheme, noise, calculus):
    if calculus not in (ITO, STRATONOVICH):
        raise ArgumentError(f"calculus must be 'ito' or 'stratonovich', not {calculus!r}")
    if noise not in NOISES:
        raise ArgumentError(f"noise must be one of {', '.join(map(repr, NOISES))}, not {noise!r}")
    if noise not in scheme.noises:
        able = ", ".join(name for name, other in METHODS.items() if noise in other.noises)
        raise ArgumentError(
            f"method {scheme.name!r} takes noise={' or '.join(map(repr, scheme.noises))}, not {noise!r}; "
            f"methods for {noise!r}: {able}"
        )


def _refuse_unavailable(rtol, atol, events, adjoint, checkpoints):
    for name, given, default in (
        ("rtol", rtol, None),
        ("atol", atol, None),
        ("checkpoints", checkpoints, None),
    ):
        if given is not default:
            raise ArgumentError(
                f"{name} is not available yet: steps have the fixed size dt; leave it out"
            )
    if events:
        raise ArgumentError("events are not available yet; leave them out")
    if adjoint in _LATER:
        raise ArgumentError(
            f"adjoint={adjoint!r} is not available yet; 'auto' and 'discrete' are. Forward mode needs none: "
            "nd.jvp, nd.derivative, or mode='forward'"
        )
    if adjoint not in _ADJOINTS:
        raise ArgumentError(f"adjoint {adjoint!r} does not exist; one of: {', '.join(_ADJOINTS)}")


def _step_size(dt):
    if dt is None:
        raise ArgumentError("give the step size, in units of t: dt=0.01, say")
    try:
        size = float(dt)
    except (TypeError, ValueError):
        raise ArgumentError(f"dt must be a float, not {dt!r}") from None
    if not 0.0 < size < math.inf:
        raise ArgumentError(f"dt must be positive and finite; it is {dt!r}")
    return size


class SolveDispatcher(StructureDispatcher):
    """What `solver` returns."""


@built_once(lambda problem: problem.drift)
def compiled(problem):
    """The dispatcher `solve(y0, ts, args, key)`."""
    origin, content = (compiled, (problem,)), problem.content
    parameters = "y0, ts, args, key"
    return by_structure(
        "solve", parameters, partial(core, problem), content, origin, SolveDispatcher
    )
