"""Exact transition densities where the drift reverts slowly or not at all, against mpmath."""

import mpmath
import numpy as np
import pytest
from scipy.stats import gamma

import numbad as nd
from numbad.sde import transitions

DT, BEFORE, AFTER, THETA, SIGMA = 0.7, 0.3, 0.5, 0.2, 0.4


def exact_vasicek(kappa):
    mean = THETA + (BEFORE - THETA) * mpmath.exp(-kappa * DT)
    variance = -(mpmath.mpf(SIGMA) ** 2) * mpmath.expm1(-2 * kappa * DT) / (2 * kappa)
    return -(mpmath.log(2 * mpmath.pi * variance) + (AFTER - mean) ** 2 / variance) / 2


def exact_cir(kappa):
    c = 2 * kappa / (-(mpmath.mpf(SIGMA) ** 2) * mpmath.expm1(-kappa * DT))
    u, v, q = c * BEFORE * mpmath.exp(-kappa * DT), c * AFTER, 2 * kappa * THETA / SIGMA**2 - 1
    bessel = mpmath.log(mpmath.besseli(q, 2 * mpmath.sqrt(u * v)))
    return mpmath.log(c) - u - v + q / 2 * mpmath.log(v / u) + bessel


@pytest.mark.parametrize("density", ["vasicek", "cir"])
def test_derivatives_by_a_rate_that_may_be_zero(density):
    """At 0 the density is that of Brownian motion, or of its square-root kin, and so are its slopes."""
    own, exact = (
        getattr(transitions, density),
        {"vasicek": exact_vasicek, "cir": exact_cir}[density],
    )

    def of_rate(kappa):
        return own(0.0, BEFORE, DT, AFTER, kappa, THETA, SIGMA)

    slope, bend = nd.derivative(of_rate), nd.hessian(of_rate, mode="reverse")
    bend_forward = nd.derivative(slope)
    for kappa in (0.0, 1e-9, 1e-7, 1e-4, 0.3, 2.0):
        with mpmath.workdps(60):
            at, step = mpmath.mpf(kappa) or mpmath.mpf("1e-24"), mpmath.mpf("1e-15")
            value, first, second = (mpmath.diff(exact, at, k, h=step) for k in range(3))
        assert of_rate(kappa) == pytest.approx(float(value), rel=1e-12)
        assert slope(kappa) == pytest.approx(float(first), rel=1e-12)
        assert bend(kappa) == pytest.approx(float(second), rel=1e-10)
        assert bend_forward(kappa) == pytest.approx(float(second), rel=1e-10)


def test_the_square_root_process_from_zero_and_after_long_times():
    """Gamma densities: from zero, and at last the stationary one."""
    kappa, theta, sigma, after = 0.5, 0.06, 0.15, 0.05
    shape = 2.0 * kappa * theta / sigma**2
    for start, dt in ((0.0, 2.0), (0.03, 1500.0), (0.03, 3.0e6)):
        scale = sigma**2 * -np.expm1(-kappa * dt) / (2.0 * kappa)
        found = transitions.cir(0.0, start, dt, after, kappa, theta, sigma)
        assert found == pytest.approx(gamma(shape, scale=scale).logpdf(after), rel=1e-12)
    slope = nd.derivative(lambda y0: transitions.cir(0.0, y0, 2.0, after, kappa, theta, sigma))
    near = transitions.cir(0.0, 1e-9, 2.0, after, kappa, theta, sigma)
    away = near - transitions.cir(0.0, 0.0, 2.0, after, kappa, theta, sigma)
    assert slope(0.0) == pytest.approx(away / 1e-9, rel=1e-6)
    assert np.isnan(transitions.cir(0.0, 0.03, 2.0, after, -0.3, theta, sigma))
    by_theta = nd.grad(transitions.cir, 5, mode="reverse")
    assert np.isnan(by_theta(0.0, 0.03, 2.0, after, kappa, -theta, sigma))


def test_brownian_motion_is_a_rate_of_zero():
    """Of variances of steps of one length the maximum likelihood estimate is their mean square."""
    steps = np.random.default_rng(2).normal(scale=0.3, size=40)
    t, y = 0.25 * np.arange(41), np.concatenate([[0.0], np.cumsum(steps)])
    start = {"kappa": 0.0, "theta": 0.0, "sigma": 1.0}
    result = nd.fit.fit_sde(transitions.vasicek, t, y, start, fixed=("kappa", "theta"))
    expected = np.sqrt(np.mean(steps**2) / 0.25)
    assert result.params["sigma"] == pytest.approx(expected, rel=1e-6)
