"""The density that samplers get: against closed forms, integrals over the noise, and differences."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import numbad as nd
from numbad.errors import ArgumentError, ModelError

T = np.linspace(0.0, 4.0, 9)
NOISE = 0.05 * np.cos(np.arange(9.0) ** 2)
SEEN = 1.2 * np.exp(-0.5 * T) + NOISE
START = {"rate": 0.7, "first": 1.0}
PRIORS = {"rate": ("lognormal", 0.6, 0.3), "first": ("normal", 1.1, 0.2)}
SHARED = {"rate": 0.45, "first": 1.25}


def decay(t, y, rate, first):
    return (-rate * y[0],)


def begin(rate, first):
    return (first,)


def _fit(**options):
    given = {"sigma": 0.05, "absolute_sigma": True, "priors": PRIORS} | options
    return nd.fit.fit_ode(decay, T, SEEN, START, y0=begin, **given)


def _misfit(values):
    rate, first = values
    return ((first * np.exp(-rate * T) - SEEN) ** 2).sum()


def _priors(values):
    rate, first = values
    of_log = stats.norm.logpdf(math.log(rate), math.log(0.6), 0.3)
    return of_log + stats.norm.logpdf(first, 1.1, 0.2)


def _check_gradient(density, x):
    _, gradient = density(x)
    for k in range(len(x)):
        step = np.zeros(len(x))
        step[k] = 1e-5
        slope = (density(x + step)[0] - density(x - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-5)


BOXES = {"rate": (0.01, 5.0), "first": (0.1, 4.0)}


@pytest.mark.parametrize("transform", ["linear", "log", "logit"])
def test_prior_densities_change_with_the_coordinates(transform):
    bounds = BOXES if transform == "logit" else None
    fit = _fit(transforms=transform, bounds=bounds)
    density = fit.log_posterior()
    at = [np.array([0.5, 1.2]), np.array([0.42, 1.31])]

    def expected(values):
        low, high = np.array(list(BOXES.values())).T
        slope = {  # d values / d coordinates
            "linear": np.ones(2),
            "log": values,
            "logit": (values - low) * (high - values) / (high - low),
        }[transform]
        # The prior of the rate is a density of its logarithm.
        stretch = math.log(slope[0] / values[0]) + math.log(slope[1])
        return -0.5 * _misfit(values) / 0.05**2 + _priors(values) + stretch

    xs = [fit.problem.unknowns.internal(values) for values in at]
    np.testing.assert_allclose(density.natural(np.array(xs)), at, rtol=1e-14)
    found = density(xs[1])[0] - density(xs[0])[0]
    assert found == pytest.approx(expected(at[1]) - expected(at[0]), rel=1e-6)
    _check_gradient(density, xs[1])
    np.testing.assert_allclose(density.natural(density.start), fit.x, rtol=1e-12)


@pytest.mark.parametrize("options", [{"sigma": "estimate"}, {"absolute_sigma": False}])
def test_noise_is_integrated_out(options):
    """The integral over the deviation, by quadrature, of the likelihood over sigma."""
    fit = _fit(priors=None, transforms="log", **options)
    density = fit.log_posterior()

    def log_integral(values):
        squares = _misfit(values)

        def weight(log_sigma):
            return math.exp(20.0 - 9 * log_sigma - 0.5 * squares * math.exp(-2 * log_sigma) - 40.0)

        return math.log(integrate.quad(weight, -8.0, 4.0, epsabs=0.0, epsrel=1e-10, limit=400)[0])

    at = [np.array([0.5, 1.2]), np.array([0.48, 1.23])]
    xs = list(map(np.log, at))
    found = density(xs[1])[0] - density(xs[0])[0]
    assert found == pytest.approx(log_integral(at[1]) - log_integral(at[0]), rel=1e-6)
    _check_gradient(density, xs[1])


def test_of_an_sde():
    def walk(t0, y0, t1, y1, mu, sigma):
        width = sigma * math.sqrt(t1 - t0)
        return -0.5 * ((y1 - y0 - mu * (t1 - t0)) / width) ** 2 - math.log(width)

    rng = np.random.default_rng(0)
    y = np.cumsum(0.3 + 0.5 * rng.normal(size=30))
    priors = {"mu": ("normal", 0.0, 0.4)}
    fit = nd.fit.fit_sde(walk, np.arange(30.0), y, {"mu": 0.1, "sigma": 1.0}, priors=priors)
    density = fit.log_posterior()

    def expected(values):
        mu, sigma = values
        data = stats.norm.logpdf(np.diff(y), mu, sigma).sum()
        return (
            data + stats.norm.logpdf(mu, 0.0, 0.4) + math.log(mu)
        )  # it is fitted as its logarithm

    at = [np.array([0.3, 0.5]), np.array([0.25, 0.6])]
    found = density(np.log(at[1]))[0] - density(np.log(at[0]))[0]
    assert found == pytest.approx(expected(at[1]) - expected(at[0]), rel=1e-9)
    _check_gradient(density, np.log(at[1]))


def test_where_there_is_no_density():
    fit = _fit(priors=None, transforms="linear", bounds={"rate": (0.1, 5.0)})
    density = fit.log_posterior()
    for beyond in ([0.05, 1.0], [5.5, 1.0], [np.nan, 1.0]):
        value, gradient = density(fit.problem.unknowns.internal(beyond))
        assert value == -np.inf
        assert (gradient == 0.0).all()
    with pytest.raises(ArgumentError, match=r"2 coordinates are wanted, not shape \(3,\)"):
        density(np.zeros(3))

    free = _fit(priors=None, transforms="linear").log_posterior()
    assert free(np.array([-800.0, 1.0]))[0] == -np.inf  # the solution overflows

    with pytest.raises(ModelError, match="loss='huber' is no likelihood: there is no posterior"):
        _fit(priors=None, loss="huber").log_posterior()
    least = nd.fit.minimize(lambda x: (x[0] - 1.0) ** 2, [0.0])
    with pytest.raises(ModelError, match="what fit.minimize minimised is yours"):
        least.log_posterior()
