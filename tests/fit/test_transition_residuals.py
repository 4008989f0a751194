"""Residuals of transitions against distributions that SciPy knows, and closed forms."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats
from scipy.special import ndtri

import numbad as nd
from numbad.fit.transition_residuals import transition_residuals
from numbad.sde import transitions

RNG = np.random.default_rng(1)
T = np.cumsum(RNG.uniform(0.1, 1.0, 60))
Y = np.abs(0.5 + 0.3 * RNG.standard_normal(60)) + 0.01
DT = np.diff(T)


def vasicek(y, kappa, theta, sigma):
    mean = theta + (y[:-1] - theta) * np.exp(-kappa * DT)
    variance = -(sigma**2) * np.expm1(-2.0 * kappa * DT) / (2.0 * kappa)
    return (mean - y[1:]) / np.sqrt(variance)


def cir(y, kappa, theta, sigma):
    """A non-central chi-square, of the tail that is smaller."""
    c = 2.0 * kappa / (sigma**2 * -np.expm1(-kappa * DT))
    given = 2.0 * c * y[1:], 4.0 * kappa * theta / sigma**2, 2.0 * c * y[:-1] * np.exp(-kappa * DT)
    below, above = stats.ncx2.cdf(*given), stats.ncx2.sf(*given)
    return np.where(above < below, ndtri(above), -ndtri(below))


def test_normal_transitions():
    parameters = 0.8, 0.6, 0.4
    found = transition_residuals(transitions.vasicek, T, Y, parameters)
    np.testing.assert_allclose(found, vasicek(Y, *parameters), atol=1e-13)


@pytest.mark.parametrize("jump", [5.0, -9.0])
def test_what_next_to_never_happens(jump):
    y = Y.copy()
    y[30] = jump
    found = transition_residuals(transitions.vasicek, T, y, (0.8, 0.6, 0.4))
    exact = vasicek(y, 0.8, 0.6, 0.4)
    assert abs(exact[29]) > 15.0
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)


# The density of the second grows without bound towards zero.
@pytest.mark.parametrize("parameters", [(0.5, 0.4, 0.6), (0.2, 0.1, 0.9)])
def test_a_support_with_an_edge(parameters):
    found = transition_residuals(transitions.cir, T, Y, parameters)
    np.testing.assert_allclose(found, cir(Y, *parameters), atol=1e-11)


def test_a_logarithm():
    found = transition_residuals(transitions.gbm, T, Y, (0.05, 0.8))
    grown = np.log(Y[1:] / Y[:-1])
    np.testing.assert_allclose(found, ((0.05 - 0.32) * DT - grown) / (0.8 * DT**0.5), atol=1e-11)


def test_of_a_fit():
    """By Euler's density in plain Python, which is normal; one parameter is held."""
    density = transitions.euler(lambda t, y, k, s: k * (0.5 - y), lambda t, y, k, s: s)
    fit = nd.fit.fit_sde(density, T, Y, {"k": 1.0, "s": 0.4}, fixed={"k": 0.7})
    s = fit.params["s"]
    exact = (Y[:-1] + 0.7 * (0.5 - Y[:-1]) * DT - Y[1:]) / (s * DT**0.5)
    np.testing.assert_allclose(fit.residuals, exact, atol=1e-12)
    assert math.isclose(np.mean(fit.residuals**2), 1.0, rel_tol=1e-6)  # what the likelihood makes s


def test_a_constant_series():
    y = np.full(60, 0.5)
    found = transition_residuals(transitions.vasicek, T, y, (0.8, 0.6, 0.4))
    np.testing.assert_allclose(found, vasicek(y, 0.8, 0.6, 0.4), atol=1e-13)


@pytest.mark.dear
def test_a_density_without_an_end_is_told():
    flat = njit(lambda t0, y0, t1, y1, k: -k)
    with pytest.raises(nd.ModelError, match="to t = .* does not fall to zero"):
        transition_residuals(flat, T, Y, (0.5,))
    rising = njit(lambda t0, y0, t1, y1, k: k * y1)
    with pytest.raises(nd.ModelError, match="does not fall to zero"):
        transition_residuals(rising, T, Y, (0.5,))
