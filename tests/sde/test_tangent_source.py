"""Tangents beside the state, for all paths of a block: both modes, and where a factor is infinite."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(5)
TIMES = 0.0, 0.25, 1.0


@njit
def _drift(t, y, rate, vol, power):
    return rate * y[0], 0.5 * (0.04 - y[1])


@njit
def _diffusion(t, y, rate, vol, power):
    root = math.sqrt(max(y[1], 0.0))
    return vol * root * y[0] * power, 0.3 * root


SOLVE = nd.sde.solver(_drift, _diffusion, dt=0.125)


@njit
def _call(ys):
    return max(ys[-1, 0] - 1.0, 0.0) + ys[1, 0] * ys[-1, 1]


@njit
def _price(spot, variance, rate, vol, paths):
    args = rate, vol, 1
    start = spot, variance
    return nd.sde.ensemble(
        SOLVE, start, TIMES, args, KEY, paths, reduce=_call, antithetic=True
    ).mean


AT = 1.1, 0.09, 0.05, 1.2


@pytest.mark.dear
@pytest.mark.deep(but=["forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_are_those_of_the_steps(mode):
    """As NumPy takes them, on complex numbers. At a variance of zero, the slope of the root is infinite."""
    value, slopes = nd.value_and_grad(_price, (0, 1, 2, 3), mode=mode)(*AT, 36)
    assert value == _price(*AT, 36)
    step = 1e-30
    for k in range(4):
        moved = [x + (1j * step if j == k else 0.0) for j, x in enumerate(AT)]
        assert slopes[k] == pytest.approx(_by_numpy(*moved).imag / step, rel=1e-11)
    at_zero = 1.1, 0.0, 0.05, 1.2
    slopes = nd.value_and_grad(_price, (0, 1, 2, 3), mode=mode)(*at_zero, 36)[1]
    for k in (0, 2, 3):
        moved = [x + (1j * step if j == k else 0.0) for j, x in enumerate(at_zero)]
        assert slopes[k] == pytest.approx(_by_numpy(*moved).imag / step, rel=1e-11)


def _by_numpy(spot, variance, rate, vol):
    """The price by Euler and Maruyama's steps, from the increments that the key gives."""
    steps = 8
    drawn = nd.sde.ensemble(_BROWNIAN, (0.0, 0.0), np.linspace(0.0, 1.0, 9), (), KEY, 18)
    dw = np.diff(drawn, axis=1)
    dw = np.concatenate([dw, -dw])
    x, v = np.full(36, spot), np.full(36, variance)
    for k in range(steps):
        w, z = dw[:, k, 0], dw[:, k, 1]
        root = np.sqrt(np.where(v.real > 0.0, v, 0.0))
        x, v = x + rate * x / 8 + vol * root * x * w, v + 0.5 * (0.04 - v) / 8 + 0.3 * root * z
        if k == 1:
            early = x
    payoff = np.where(x.real > 1.0, x - 1.0, 0.0) + early * v
    return payoff.mean()


_BROWNIAN = nd.sde.solver(
    lambda t, y: (0.0, 0.0), lambda t, y: (1.0, 1.0), dt=0.125, noise="additive"
)
