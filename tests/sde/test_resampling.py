"""Resampling: smooth, with the mean, the covariance and the law of the particles."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.sde.resampling import mean_and_cov, resampled
from tests.sde.test_particles import RNG

KEY = nd.random.key(5)


@njit
def _tilted(tilt, x, key, width):
    """Something of particles that were weighed by exp(tilt x[0])."""
    weights = np.exp(tilt * x[0])
    drawn = resampled(x, weights / weights.sum(), width, key)
    total = 0.0
    for i in range(drawn.shape[1]):
        total += math.sin(drawn[0, i]) * drawn[-1, i]
    return total / drawn.shape[1]


@pytest.mark.deep
def test_resampling_has_two_derivatives():
    x = RNG.normal(size=(2, 60))
    x[1] += x[0] ** 2
    given = x, KEY, 0.4
    first = nd.derivative(_tilted)
    ends = [_tilted(0.3 + h, *given) for h in (-2e-4, -1e-4, 1e-4, 2e-4)]
    difference = np.dot((1.0, -8.0, 8.0, -1.0), ends) / 12e-4
    assert first(0.3, *given) == pytest.approx(difference, rel=1e-7)
    ends = [first(0.3 + h, *given) for h in (-2e-4, -1e-4, 1e-4, 2e-4)]
    difference = np.dot((1.0, -8.0, 8.0, -1.0), ends) / 12e-4
    assert nd.derivative(first)(0.3, *given) == pytest.approx(difference, rel=1e-5)


@pytest.mark.dear
def test_resampling_keeps_mean_covariance_and_law():
    count = 400
    x = RNG.normal(size=(2, count))
    x[1] = 0.5 * x[0] + 0.3 * (x[0] ** 2 - 1.0) + 0.5 * x[1]
    logs = -0.5 * (x[0] - 0.6) ** 2 / 0.5
    weights = np.exp(logs) / np.exp(logs).sum()
    drawn = resampled(x, weights, 0.2, KEY)
    even = np.full(count, 1.0 / count)
    (mean, cov), (new_mean, new_cov) = mean_and_cov(x, weights), mean_and_cov(drawn, even)
    np.testing.assert_allclose(mean, x @ weights, rtol=1e-12)
    np.testing.assert_allclose(cov, np.cov(x, aweights=weights, ddof=0), rtol=1e-12)
    np.testing.assert_allclose(new_mean, mean, atol=0.02)
    np.testing.assert_allclose(new_cov, cov, atol=0.03)

    def bend(z, w):
        """E[(x0 - m0)^2 (x1 - m1)]: what ties the components beside their covariance."""
        away = z - (z @ w)[:, None]
        return (away[0] ** 2 * away[1]) @ w

    assert bend(drawn, even) == pytest.approx(bend(x, weights), rel=0.3)
    # Kernels of hardly any width: the weighted particles' own distribution function.
    one = resampled(x[:1], weights, 0.01, KEY)[0]
    for level in (0.1, 0.5, 0.9):
        at = np.quantile(one, level)
        assert weights[x[0] < at].sum() == pytest.approx(level, abs=0.01)


@pytest.mark.dear
def test_a_component_that_follows_from_others_stays_where_it_is():
    x = RNG.normal(size=(3, 50))
    x[1], x[2] = 2.0 - 3.0 * x[0], 4.0
    drawn = resampled(x, np.full(50, 0.02), 0.3, KEY)
    np.testing.assert_allclose(drawn[1], 2.0 - 3.0 * drawn[0], rtol=1e-9)
    np.testing.assert_allclose(drawn[2], 4.0, rtol=1e-14)
