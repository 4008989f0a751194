"""Approximate log densities of transitions in a short time, of any scalar equation, for `transitions`."""

import math
from inspect import signature

import numpy as np
from numba import njit, types
from numba.core.registry import cpu_target

from numbad.errors import ArgumentError, ModelError
from numbad.operators import derivative
from numbad.sde.equations import ADDITIVE, belongs
from numbad.sde.given_model import as_model
from numbad.sde.model_names import function_of
from numbad.sde.state_source import returned

LOG_2PI = math.log(2.0 * math.pi)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


@njit(error_model="numpy")
def log_normal_density(x, mean, variance):
    return -0.5 * (LOG_2PI + math.log(variance) + (x - mean) ** 2 / variance)


def euler(drift, diffusion):
    """The density of one step of Euler and Maruyama: a pseudo-likelihood of any scalar equation.

    Parameters
    ----------
    drift, diffusion : function or Numba dispatcher
        As `nd.sde.solver` takes them, of a float.

    Returns
    -------
    dispatcher
        `density(t0, y0, t1, y1, *parameters)`, with the names of the drift's. Its bias is of the size of
        t1 - t0.

    Raises
    ------
    ArgumentError, ModelError
        Where the diffusion takes the same parameters in another order; where Numba cannot compile one of
        the functions, or it returns no number.

    >>> from numbad.sde import transitions
    >>> density = transitions.euler(lambda t, y, k: -k * y, lambda t, y, k: 1.0)
    >>> round(density(0.0, 1.0, 0.5, 0.5, 1.0), 6)
    -0.572365
    """
    lines = [
        "_dt = t1 - t0",
        "_mean = y0 + _drift(t0, y0, {parameters}) * _dt",
        "return _log_normal_density(y1, _mean, _diffusion(t0, y0, {parameters}) ** 2 * _dt)",
    ]
    return _density(drift, diffusion, lines, {"_log_normal_density": log_normal_density})


def ait_sahalia(drift, diffusion):
    """The density of a short time by Ait-Sahalia's expansion: a likelihood of any scalar equation.

    Parameters
    ----------
    drift, diffusion : function or Numba dispatcher
        As `nd.sde.solver` takes them, of a float; smooth, and the diffusion without a zero between y0 and y1.

    Returns
    -------
    dispatcher
        `density(t0, y0, t1, y1, *parameters)`, with the names of the drift's. Its error is of the size of
        (t1 - t0)**2, that of `euler` is of the size of t1 - t0, as is this one's where the diffusion depends
        on t: functions of t are taken in the middle of the step.

    Raises
    ------
    ArgumentError, ModelError
        as for `euler`.

    Notes
    -----
    Y. Ait-Sahalia, Econometrica 70 (2002) 223-262, in the logarithmic form of Annals of Statistics 36 (2008)
    906-937, up to the coefficient C1. The integrals over the way from y0 to y1 are taken by Gauss's rule of 8
    points, the derivatives of drift and diffusion are exact.

    >>> from numbad.sde import transitions
    >>> density = transitions.ait_sahalia(lambda t, y, k: -k * y, lambda t, y, k: 1.0)
    >>> exact = transitions.vasicek(0.0, 1.0, 0.2, 0.5, 1.0, 0.0, 1.0)
    >>> bool(abs(density(0.0, 1.0, 0.2, 0.5, 1.0) - exact) < 4e-3)
    True
    """
    lines = [
        "_t, _half, _mid = 0.5 * (t0 + t1), 0.5 * (y1 - y0), 0.5 * (y0 + y1)",
        "_way, _rise, _part = 0.0, 0.0, 0.0",
        "for _i in range(_nodes.size):",
        "    _y = _mid + _half * _nodes[_i]",
        "    _pace = _weights[_i] / _diffusion(_t, _y, {parameters})",
        "    _way += _pace",
        "    _rise += _pace * _unit_drift(_t, _y, {parameters})",
        "    _part += _pace * _potential(_t, _y, {parameters})",
        "_dt, _end = t1 - t0, _diffusion(_t, y1, {parameters})",
        "_shape = _log_normal_density(_half * _way, 0.0, _dt) + _half * _rise + _part / _way * _dt",
        "return _shape - 0.5 * math.log(_end * _end)",
    ]
    names = {"_nodes": NODES, "_weights": WEIGHTS, "_log_normal_density": log_normal_density}
    return _density(drift, diffusion, lines, names, _of_unit_diffusion)


def ozaki(drift, diffusion):
    """The density by local linearisation: of any scalar equation whose diffusion is constant.

    Parameters
    ----------
    drift, diffusion : function or Numba dispatcher
        As `nd.sde.solver` takes them, of a float; the drift smooth, the diffusion a function of the
        parameters alone.

    Returns
    -------
    dispatcher
        `density(t0, y0, t1, y1, *parameters)`, with the names of the drift's: normal, exact where the drift
        is linear in y and t, stable however long t1 - t0 is where the drift reverts.

    Raises
    ------
    ArgumentError, ModelError
        as for `euler`. When it is evaluated, a ModelError where the diffusion depends on y or t: fit the
        Lamperti transform z = int dy / diffusion, whose diffusion is 1, or take `ait_sahalia`.

    Notes
    -----
    T. Ozaki, Statistica Sinica 2 (1992) 113-135, with the second derivative of I. Shoji & T. Ozaki,
    Stochastic Analysis and Applications 16 (1998) 733-752: dy = (f + f_y (y - y0) + (f_t + g**2 f_yy / 2)
    (t - t0)) dt + g dW, drift f, its derivatives, which are exact, and diffusion g at (t0, y0).

    >>> from numbad.sde import transitions
    >>> density = transitions.ozaki(lambda t, y, k, s: -k * y, lambda t, y, k, s: s)
    >>> exact = transitions.vasicek(0.0, 1.0, 3.0, 0.5, 1.0, 0.0, 0.7)
    >>> bool(abs(density(0.0, 1.0, 3.0, 0.5, 1.0, 0.7) - exact) < 1e-14)
    True
    """
    given = "t0, y0, {parameters}"
    lines = [
        f"if _g_t({given}) != 0.0 or _g_y({given}) != 0.0:",
        "    raise _ModelError(_NOT_CONSTANT)",
        f"_dt, _g = t1 - t0, _diffusion({given})",
        f"_z = _f_y({given}) * _dt",
        f"_bend = _f_t({given}) + 0.5 * _g * _g * _f_yy({given})",
        f"_mean = y0 + _drift({given}) * _dt * _phi1(_z) + _bend * _dt * _dt * _phi2(_z)",
        "return _log_normal_density(y1, _mean, _g * _g * _dt * _phi1(2.0 * _z))",
    ]
    names = {"_log_normal_density": log_normal_density, "_phi1": phi1, "_phi2": _phi2}
    names |= {"_ModelError": ModelError, "_NOT_CONSTANT": NOT_CONSTANT}
    return _density(drift, diffusion, lines, names, _slopes, ADDITIVE)


NOT_CONSTANT = (
    "the density of local linearisation (ozaki) needs a diffusion that depends on the parameters alone, not "
    "on y or t: fit z = int dy / diffusion, whose diffusion is 1 (for sigma * y, z = log(y) / sigma), or "
    "take transitions.ait_sahalia"
)


def _slopes(f, g, parameters):
    """Derivatives of the drift and of the diffusion, by t and by y."""
    f_y = derivative(f, 1)
    return {
        "_f_t": derivative(f, 0),
        "_f_y": f_y,
        "_f_yy": derivative(f_y, 1),
        "_g_t": derivative(g, 0),
        "_g_y": derivative(g, 1),
    }


@njit(error_model="numpy")
def phi1(z):
    """(exp(z) - 1) / z."""
    return math.expm1(z) / z if abs(z) > 1.0 else 1.0 + z * _phi2(z)


@njit(error_model="numpy")
def _phi2(z):
    """(exp(z) - 1 - z) / z**2."""
    if abs(z) > 1.0:
        return (math.expm1(z) - z) / (z * z)
    total = 0.0
    for k in range(18, 1, -1):  # the series of Taylor, after Horner
        total = (1.0 + total * z) / k if k > 2 else 0.5 * (1.0 + total * z)
    return total


def _of_unit_diffusion(f, g, parameters):
    """The drift of int dy / diffusion, whose noise is that of a Brownian motion, and C1's integrand."""
    given = f"(t, y, {parameters})"
    names = {"f": f, "g": g, "g_y": derivative(g, 1)}
    lines = [f"return f{given} / g{given} - 0.5 * g_y{given}"]
    drift = njit(error_model="numpy")(function_of(f"unit_drift{given}", lines, names))
    names = {"g": g, "m": drift, "m_y": derivative(drift, 1)}
    lines = [f"return -0.5 * (m{given} ** 2 + g{given} * m_y{given})"]
    potential = njit(error_model="numpy")(function_of(f"potential{given}", lines, names))
    return {"_unit_drift": drift, "_potential": potential}


def _density(drift, diffusion, lines, names, more=lambda *_: {}, options=()):
    """`density(t0, y0, t1, y1, *parameters)` from lines of source that hold `{parameters}`."""
    f, g = as_model(drift, diffusion)
    named = _parameters(f, g)
    parameters = "*parameters"
    if named is not None:
        for name, function in (("drift", f), ("diffusion", g)):
            _check_scalar(name, function, len(named))
        parameters = ", ".join(f"p{k}" for k in range(len(named)))  # whatever names the lines have
    names = {"_drift": f, "_diffusion": g, **names, **more(f, g, parameters)}
    lines = [line.replace("{parameters}", parameters) for line in lines]
    density = njit(error_model="numpy")(
        function_of(f"density(t0, y0, t1, y1, {parameters})", lines, names)
    )
    if named is not None:
        density = _with_names(density, named)
    belongs(density, f, g, options)
    return density


def _with_names(density, names):
    """The same function, whose parameters have these names."""
    given, call = ", ".join(["t0", "y0", "t1", "y1", *names]), "call"
    while call in names:
        call += "_"
    named = function_of(f"density({given})", [f"return {call}({given})"], {call: density})
    return njit(error_model="numpy")(named)


def _parameters(drift, diffusion):
    """The names of a density's parameters, those of the drift's; None where it has no such."""
    names, others = (list(signature(f.py_func).parameters)[2:] for f in (drift, diffusion))
    if sorted(names) == sorted(others) and names != others:
        raise ArgumentError(
            f"drift and diffusion take their parameters in one order, not {', '.join(names)} and "
            f"{', '.join(others)}"
        )
    plain = all(
        p.kind is p.POSITIONAL_OR_KEYWORD for p in signature(drift.py_func).parameters.values()
    )
    taken = {"t0", "y0", "t1", "y1", "np", "math"}.intersection(names)
    return names if plain and not taken else None


def _check_scalar(name, function, count):
    """Raises ModelError for what Numba cannot compile, and for what is of several components."""
    given = (types.float64,) * (2 + count)
    found = returned(cpu_target.typing_context, function, given)
    if not isinstance(found, types.Number):
        raise ModelError(
            f"{name} returns {found}; such a density is that of a scalar equation, whose {name} returns "
            "a number (of several components: numbad.sde.filters)"
        )
