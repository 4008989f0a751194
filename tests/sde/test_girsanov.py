"""Densities of paths under another drift: closed forms, and means over one law by paths of another."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(9)


def test_constant_drifts_have_their_divergence():
    pair = nd.sde.change_of_drift(
        lambda t, y, a, b: (a, 0.5), lambda t, y, a, b: (b, 0.2), lambda t, y, a, b: (0.4, 0.3), 2
    )
    solve = nd.sde.solver(*pair, noise="general", dt=0.25)

    @njit
    def divergence(a, b, key):
        return solve((0.0, 0.0, 0.0, 0.0), (0.0, 2.0), (a, b), key)[-1, 3]

    # |u|^2 / 2 over a time of 2
    exact = ((0.7 - 0.1) / 0.4) ** 2 + ((0.5 - 0.2) / 0.3) ** 2
    assert divergence(0.7, 0.1, KEY) == pytest.approx(exact, rel=1e-12)
    slope = nd.grad(divergence, 0, mode="reverse")(0.7, 0.1, KEY)
    assert slope == pytest.approx(2.0 * (0.7 - 0.1) / 0.4**2, rel=1e-12)


@pytest.mark.dear
def test_weights_turn_means_into_those_of_the_other_law():
    """An Ornstein-Uhlenbeck process by paths of one that reverts to elsewhere."""
    pair = nd.sde.change_of_drift(
        lambda t, y, rate: rate * (0.5 - y), lambda t, y, rate: -rate * y, lambda t, y, rate: 0.6
    )
    solve = nd.sde.solver(*pair, noise="general", dt=0.02)
    weighted = njit(
        lambda ys: (math.exp(ys[-1, 1]), math.exp(ys[-1, 1]) * ys[-1, 0], ys[-1, 2] + ys[-1, 1])
    )
    given = solve, (0.4, 0.0, 0.0), (0.0, 1.0), (1.2,), KEY, 20_000
    found = nd.sde.ensemble(*given, reduce=weighted)
    exact = 1.0, 0.4 * math.exp(-1.2), 0.0
    for mean, error, expected in zip(found.mean, found.error, exact, strict=True):
        assert abs(mean - expected) < 4.0 * error + 3e-3  # Euler's bias
        assert error < 0.02


@pytest.mark.deep
def test_it_is_the_density_of_the_steps():
    """The logarithm is the sum of those of the normal densities of Euler's steps."""
    drift, other = (lambda t, y: math.sin(y) + t), (lambda t, y: -y)
    pair = nd.sde.change_of_drift(drift, other, lambda t, y: 1.0 + 0.1 * t)
    solve = nd.sde.solver(*pair, noise="general", dt=0.1)
    times = np.arange(11) / 10.0
    ys = solve((0.3, 0.0, 0.0), times, (), KEY)
    total = 0.0
    for k in range(10):
        t, y, step = times[k], ys[k, 0], ys[k + 1, 0] - ys[k, 0]
        width = (1.0 + 0.1 * t) ** 2 * 0.1
        for sign, f in ((1.0, other), (-1.0, drift)):
            total -= sign * 0.5 * (step - 0.1 * f(t, y)) ** 2 / width
    assert ys[-1, 1] == pytest.approx(total, rel=1e-10)


def test_what_is_refused():
    def drift(t, y):
        return 0.0

    with pytest.raises(nd.ArgumentError, match="take the same arguments"):
        nd.sde.change_of_drift(drift, lambda t, y, a: a, drift)
    with pytest.raises(nd.ArgumentError, match="components is how many numbers"):
        nd.sde.change_of_drift(drift, drift, drift, 0)
