"""Equations with solutions in closed form, and Brownian paths on grids that nest."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit

# Sources of the solutions: Kloeden & Platen (1992), 4.4; Rackauckas & Nie, DCDS-B 22 (2017) 2731.


@dataclass(frozen=True)
class Equation:
    """dX = drift dt + diffusion dW from `y0` at 0 to 1; `exact(args, W(1))` is its first component."""

    drift: object
    diffusion: object
    y0: object
    args: tuple
    noise: str
    calculus: str
    channels: int
    exact: object


@njit
def _wave_drift(t, x, p):
    return -(p**2) * math.sin(x) * math.cos(x) ** 3


@njit
def _wave_diffusion(t, x, p):
    return p * math.cos(x) ** 2


WAVE = Equation(
    _wave_drift,
    _wave_diffusion,
    1.0,
    (0.6,),
    "diagonal",
    "ito",
    1,
    lambda args, w: np.arctan(args[0] * w[:, 0] + math.tan(1.0)),
)


@njit
def _decay_drift(t, x, a, b):
    return b / math.sqrt(1.0 + t) - x / (2.0 * (1.0 + t))


@njit
def _decay_diffusion(t, x, a, b):
    return a * b / math.sqrt(1.0 + t)


ADDITIVE = Equation(
    _decay_drift,
    _decay_diffusion,
    1.0,
    (0.3, 0.5),
    "additive",
    "ito",
    1,
    lambda args, w: (1.0 + args[1] * (1.0 + args[0] * w[:, 0])) / math.sqrt(2.0),
)


@njit
def _growth_drift(t, y, mu, s1, s2):
    return (mu * y[0],)


@njit
def _growth_diffusion(t, y, mu, s1, s2):
    return ((s1 * y[0], s2 * y[0]),)


COMMUTATIVE = Equation(
    _growth_drift,
    _growth_diffusion,
    (1.0,),
    (0.2, 0.4, 0.3),
    "general",
    "stratonovich",
    2,
    lambda args, w: np.exp(args[0] + args[1] * w[:, 0] + args[2] * w[:, 1]),
)


@cache
def nested_paths(channels, finest, coarsest, paths=2000):
    """{level: (W, H)} of the same Brownian paths on [0, 1] in steps of 2**-level."""
    rng, h = np.random.default_rng(5), 2.0**-finest
    shape = paths, 2**finest, channels
    w, a = rng.normal(size=shape) * math.sqrt(h), rng.normal(size=shape) * math.sqrt(h / 12.0)
    found = {finest: (w, a)}
    for level in range(finest - 1, coarsest - 1, -1):
        left, right = w[:, ::2], w[:, 1::2]
        integrals = h * (0.5 * left + a[:, ::2]) + h * left + h * (0.5 * right + a[:, 1::2])
        w = left + right
        a = integrals / (2.0 * h) - 0.5 * w
        h *= 2.0
        found[level] = np.ascontiguousarray(w), np.ascontiguousarray(a)
    return found
