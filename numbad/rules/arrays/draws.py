"""Random draws by their parameters: the random numbers do not depend on them, what is made of these does.

The random numbers given, such a draw is a smooth function of its parameters, whose derivative is the
pathwise one (Glasserman 2003, Monte Carlo Methods in Financial Engineering, section 7.2). Each formula
draws as many random numbers as Numba's own function and makes the same value of them, to the last bit.

Numbers of the gamma distribution are drawn and rejected by its shape, and no smooth function of it. Their
derivative is the one that leaves the value of the distribution function as it is: `-(dF/da) / (dF/dx)`
(Figurnov, Mohamed and Mnih 2018, Implicit Reparameterization Gradients, equation 5). What is made of them,
as the numbers of Student's distribution are, follows.
"""

import inspect
import math
import random
from importlib import import_module

import numpy as np
from numba import njit
from numba.core import types

from ...source import define
from ..incomplete_gamma import gamma_density, gamma_drawn, gammainc_by_order
from ..registry import CONSTANT_CALLS, ship
from .nests import jit
from .sampled import is_number, is_real
from .table import is_none, stands_for

# -- from random numbers to draws ----------------------------------------------------------------


@njit
def _laplace(u):
    return math.log(u + u) if u < 0.5 else -math.log(2.0 - u - u)


@njit
def _logistic(u):
    return math.log(u / (1.0 - u))


@njit
def _triangular(u, left, right, part):
    """`part`: the probability of what lies below the mode."""
    if u > part:
        return right + (left - right) * math.sqrt((1.0 - u) * (1.0 - part))
    return left + (right - left) * math.sqrt(u * part)


@njit
def _triangular_by_products(u, left, mode, right):
    base = right - left
    if u <= (mode - left) / base:
        return left + math.sqrt(u * ((mode - left) * base))
    return right - math.sqrt((1.0 - u) * ((right - mode) * base))


@njit
def _power(exponential, a):
    if a <= 0.0:
        raise ValueError("power(): a <= 0")
    return math.pow(1.0 - math.exp(-exponential), 1.0 / a)


@njit
def _rayleigh(exponential, scale):
    if scale <= 0.0:
        raise ValueError("rayleigh(): scale <= 0")
    return scale * math.sqrt(2.0 * exponential)


@njit
def _positive(rng):
    """A uniform number that is not zero."""
    u = rng.random()
    while u <= 0.0:
        u = rng.random()
    return u


@njit
def _legacy_gamma(shape, scale):
    """A number of scale 1; Numba's function rejects what is no scale."""
    if scale <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    return np.random.standard_gamma(shape)  # noqa: NPY002  (it is what the user calls)


@njit
def _python_gamma(alpha, beta):
    if beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    return random.gammavariate(alpha, 1.0)


@njit
def _generator_gamma(rng, shape):
    return rng.standard_gamma(shape)


CONSTANT_CALLS.update((_legacy_gamma, _python_gamma, _generator_gamma))


@njit
def _legacy_beta(a, b):
    y = gamma_drawn(_legacy_gamma(a, 1.0), a)
    return 0.0 if y == 0.0 else y / (y + gamma_drawn(_legacy_gamma(b, 1.0), b))


@njit
def _python_beta(a, b):
    y = gamma_drawn(_python_gamma(a, 1.0), a)
    return 0.0 if y == 0.0 else y / (y + gamma_drawn(_python_gamma(b, 1.0), b))


@njit
def _student(normal, drawn, df):
    return math.sqrt(df / 2.0) * normal / math.sqrt(drawn)


_MADE = {"laplace": _laplace, "logistic": _logistic, "triangular": _triangular, "power": _power}
_MADE |= {"by_products": _triangular_by_products, "rayleigh": _rayleigh, "positive": _positive}
_MADE |= {"math": math, "random": random}
_MADE |= {
    "legacy_gamma": _legacy_gamma,
    "python_gamma": _python_gamma,
    "rng_gamma": _generator_gamma,
}
_MADE |= {"legacy_beta": _legacy_beta, "python_beta": _python_beta, "student": _student}
_MADE |= {"drawn": gamma_drawn}

# -- the distributions: parameters, and the formula ----------------------------------------------

_WIDE = "np.float64(low) + (np.float64(high) - np.float64(low)) * "


def _between(left, right, uniform):
    part = f"(mode - {left}) / ({right} - {left})"
    drawn = f"triangular({uniform}, {left}, {right}, {part})"
    return f"{left} * 1.0 if {left} == {right} else {drawn}"


def _gamma(shape, draw):
    return f"drawn({draw.format(shape)}, {shape})"


_LEGACY_GAMMA, _RNG_GAMMA = "legacy_gamma({}, 1.0)", "rng_gamma(rng, {})"


def _chi_square(df, draw):
    return "2.0 * " + _gamma(f"({df} / 2.0)", draw)


def _ratio(draw):
    """Of the F distribution."""
    above, below = _chi_square("dfnum", draw), _chi_square("dfden", draw)
    return f"(({above}) * dfden) / (({below}) * dfnum)"


_PYTHON = {
    "gauss": ("mu, sigma", "mu + sigma * random.gauss(0.0, 1.0)"),
    "normalvariate": ("mu, sigma", "mu + sigma * random.gauss(0.0, 1.0)"),
    "lognormvariate": ("mu, sigma", "math.exp(mu + sigma * random.gauss(0.0, 1.0))"),
    "uniform": ("a, b", "np.float64(a) + (np.float64(b) - np.float64(a)) * random.random()"),
    "expovariate": ("lambd", "-math.log(1.0 - random.random()) / lambd"),
    "paretovariate": ("alpha", "1.0 / (1.0 - random.random()) ** (1.0 / alpha)"),
    "weibullvariate": (
        "alpha, beta",
        "alpha * (-math.log(1.0 - random.random())) ** (1.0 / beta)",
    ),
    "gammavariate": ("alpha, beta", "drawn(python_gamma(alpha, beta), alpha) * beta"),
    "betavariate": ("alpha, beta", "python_beta(alpha, beta)"),
}

_LEGACY = {
    "normal": ("loc=0.0, scale=1.0", "loc + scale * np.random.standard_normal()"),
    "uniform": ("low=0.0, high=1.0", _WIDE + "np.random.random()"),
    "exponential": ("scale=1.0", "scale * np.random.standard_exponential()"),
    "lognormal": (
        "mean=0.0, sigma=1.0",
        "math.exp(mean + sigma * np.random.standard_normal())",
    ),
    "gumbel": (
        "loc=0.0, scale=1.0",
        "loc - scale * math.log(-math.log(1.0 - np.random.random()))",
    ),
    "laplace": ("loc=0.0, scale=1.0", "loc + scale * laplace(np.random.random())"),
    "logistic": ("loc=0.0, scale=1.0", "loc + scale * logistic(np.random.random())"),
    "pareto": ("a", "1.0 / (1.0 - np.random.random()) ** (1.0 / a) - 1"),
    "power": ("a", "power(np.random.standard_exponential(), a)"),
    "rayleigh": ("scale=1.0", "rayleigh(np.random.standard_exponential(), scale)"),
    "triangular": ("left, mode, right", _between("left", "right", "np.random.random()")),
    "weibull": ("a", "np.random.standard_exponential() ** (1.0 / a)"),
    "gamma": ("shape, scale=1.0", "scale * drawn(legacy_gamma(shape, scale), shape)"),
    "standard_gamma": ("shape", _gamma("shape", _LEGACY_GAMMA)),
    "beta": ("a, b", "legacy_beta(a, b)"),
    "chisquare": ("df", _chi_square("df", _LEGACY_GAMMA)),
    "f": ("dfnum, dfden", _ratio(_LEGACY_GAMMA)),
    "standard_t": (
        "df",
        f"student(np.random.standard_normal(), {_gamma('(df / 2.0)', _LEGACY_GAMMA)}, df)",
    ),
}

_GENERATOR = {
    "normal": ("loc=0.0, scale=1.0", "loc + scale * rng.standard_normal()"),
    "uniform": ("low=0.0, high=1.0", _WIDE + "rng.random()"),
    "exponential": ("scale=1.0", "scale * rng.standard_exponential()"),
    "lognormal": ("mean=0.0, sigma=1.0", "math.exp(mean + sigma * rng.standard_normal())"),
    "laplace": ("loc=0.0, scale=1.0", "loc + scale * laplace(positive(rng))"),
    "logistic": ("loc=0.0, scale=1.0", "loc + scale * logistic(positive(rng))"),
    "pareto": ("a", "np.expm1(rng.standard_exponential() / a)"),
    "power": ("a", "math.pow(-np.expm1(-rng.standard_exponential()), 1.0 / a)"),
    "rayleigh": ("scale=1.0", "scale * math.sqrt(2.0 * rng.standard_exponential())"),
    "triangular": ("left, mode, right", "by_products(rng.random(), left, mode, right)"),
    "weibull": ("a", "0.0 * a if a == 0.0 else rng.standard_exponential() ** (1.0 / a)"),
    "gamma": ("shape, scale=1.0", "scale * " + _gamma("shape", _RNG_GAMMA)),
    "standard_gamma": ("shape", _gamma("shape", _RNG_GAMMA)),
    "chisquare": ("df", _chi_square("df", _RNG_GAMMA)),
    "f": ("dfnum, dfden", _ratio(_RNG_GAMMA)),
    "standard_t": (
        "df",
        "np.sqrt(df / 2) * rng.standard_normal() / np.sqrt(" + _gamma("(df / 2)", _RNG_GAMMA) + ")",
    ),
}


_OF_GAMMA = set("gamma standard_gamma gammavariate beta betavariate chisquare f standard_t".split())


def _ship_gamma():
    """Let gamma numbers have their derivative; SciPy's special functions take long to import."""
    # First, since the import of SciPy asks for it, and it for these rules, which would be incomplete.
    import_module("numbad.special")
    from ..special_functions import PARTIALS

    ship({fn: PARTIALS[fn] for fn in (gamma_drawn, gamma_density, gammainc_by_order)})


def _stand_ins(name, parameters, formula):
    """The function that makes stand-ins for a distribution, by the types of what is given."""
    head = f"def draw({parameters}):\n"

    def make(**given):
        given = dict(given)
        owner, size = given.pop("rng", None), given.pop("size", None)
        if owner is not None and not isinstance(owner, types.NumPyRandomGeneratorType):
            return None
        numbers = given.values()
        if not all(is_number(ty) and is_real(ty) for ty in numbers):
            return None
        if not any(isinstance(ty, types.Float) for ty in numbers):
            return None
        if name in _OF_GAMMA:
            _ship_gamma()
        return _draw(head, formula, size)

    make.__signature__ = inspect.signature(define(f"{head}    pass\n", {}))
    return make


def _draw(head, formula, size):
    """The function that draws one number, or an array of them."""
    if is_none(size):
        return jit([f"{head}    return {formula}"], **_MADE)
    counts = size if isinstance(size, types.BaseTuple) else (size,)
    if not counts or not all(isinstance(ty, types.Integer) for ty in counts):
        return None
    lines = [f"{head}    out = np.empty(size)", "    for at in np.ndindex(out.shape):"]
    return jit([*lines, f"        out[at] = {formula}", "    return out"], **_MADE)


for _name, (_parameters, _formula) in _PYTHON.items():
    stands_for(getattr(random, _name))(_stand_ins(_name, _parameters, _formula))
for _name, (_parameters, _formula) in _LEGACY.items():
    _made = _stand_ins(_name, f"{_parameters}, size=None", _formula)
    stands_for(getattr(np.random, _name))(_made)
for _name, (_parameters, _formula) in _GENERATOR.items():
    _made = _stand_ins(_name, f"rng, {_parameters}, size=None", _formula)
    stands_for(method=_name)(_made)


@stands_for(random.triangular)
def triangular(low, high, mode=None):
    if not all(is_number(ty) and is_real(ty) for ty in (low, high)):
        return None
    drawn = "triangular(random.random(), low, high, 0.5)"
    if not is_none(mode):
        drawn = _between("low", "high", "random.random()")
    return jit(["def draw(low, high, mode=None):", f"    return {drawn}"], **_MADE)
