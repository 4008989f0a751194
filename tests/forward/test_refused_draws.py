"""Draws without a derivative, refused where a call reaches them."""

import numpy as np
import pytest

import numbad as nd
from tests.rules.arrays.test_draws import count, rng


def thinned(p):
    return np.random.poisson(p) * p


def noise_where_asked(x, noisy, rng):
    total = x * x + 0.0 * rng.poisson(4.0)
    for k in range(3):
        if noisy[k] > 0.0:
            total += rng.poisson(lam=x) * rng.binomial(5, x)
            total += x * count(x) + np.random.binomial(5, x) * np.random.vonmises(x, 1.0)
    return total


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_draws_without_derivative_are_refused_where_they_are_reached(mode):
    slope = nd.grad(noise_where_asked, 0, mode=mode)
    assert slope(0.3, np.zeros(3), rng()) == 0.6
    with pytest.raises(nd.UnsupportedError, match="'poisson' by differentiated"):
        slope(0.3, np.array([0.0, 1.0, 0.0]), rng())


def beta_by(p, rng):
    return rng.beta(p, 2.0)


@pytest.mark.parametrize(("f", "args"), [(thinned, ()), (beta_by, (rng(),))])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_rejects_numbers_by_a_parameter_is_refused(f, args, mode):
    with pytest.raises(nd.UnsupportedError, match=r"'poisson'|beta\(p"):
        nd.grad(f, 0, mode=mode)(1.3, *args)
