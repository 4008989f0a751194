"""What is made of gamma numbers, as a smooth function of the parameter: the oracle of its derivative.

The numbers are drawn and rejected by their shape. What is differentiated is the number that keeps its
place in the distribution (Figurnov, Mohamed and Mnih 2018, Implicit Reparameterization Gradients).
"""

import random

import numpy as np
from numba import njit
from scipy import special

SEED = 7


@njit
def _legacy(normal, shapes):
    np.random.seed(SEED)
    first = np.random.standard_normal() if normal else 0.0
    return first, [np.random.standard_gamma(a) for a in shapes]


@njit
def _python(normal, shapes):
    random.seed(SEED)
    return 0.0, [random.gammavariate(a, 1.0) for a in shapes]


def _generator(normal, shapes, rng):
    first = rng.standard_normal() if normal else 0.0
    return first, [rng.standard_gamma(a) for a in shapes]


_DRAWN = {"np.random": _legacy, "random": _python, "Generator": _generator}

# name of a distribution -> the shapes of the gamma numbers at the parameter x, and what is made of
# them and of a normal number; further parameters are those of the probes in `randoms.py`
_MADE = {
    "gamma": (lambda x: (x,), lambda x, _, g: 1.5 * g),
    "gammavariate": (lambda x: (x,), lambda x, _, g: 1.5 * g),
    "standard_gamma": (lambda x: (x,), lambda x, _, g: g),
    "chisquare": (lambda x: (x / 2,), lambda x, _, g: 2 * g),
    "beta": (lambda x: (x, 3.0), lambda x, _, g, h: g / (g + h)),
    "betavariate": (lambda x: (x, 3.0), lambda x, _, g, h: g / (g + h)),
    "f": (lambda x: (x / 2, 3.5), lambda x, _, g, h: (g / x) / (h / 7.0)),
    "standard_t": (lambda x: (x / 2,), lambda x, n, g: np.sqrt(x / 2 / g) * n),
}


def oracle(module, name, drawn_at):
    """The draw as a function of its parameter, with the numbers that are drawn at `drawn_at`, or None."""
    if name not in _MADE or (module, name) == ("Generator", "beta"):
        return None
    shapes, made = _MADE[name]

    def draw(x, *rng):
        normal, numbers = _DRAWN[module](name == "standard_t", shapes(drawn_at), *rng)
        places = map(special.gammainc, shapes(drawn_at), numbers)
        return made(x, normal, *map(special.gammaincinv, shapes(x), places))

    return draw
