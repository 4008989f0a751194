"""The transition density by local linearisation."""

import math

import mpmath
import numpy as np
import pytest

import numbad as nd
from numbad.data import load_us_tbill
from numbad.errors import ModelError
from numbad.sde import transitions
from numbad.sde.short_transitions import _phi2, phi1

SIGMA = 0.15


def reverting(t, y, kappa, theta, sigma):
    return kappa * (theta - y)


def root(t, z, kappa, theta, sigma):
    """The drift of z = 2 sqrt(y) / sigma, y the square-root diffusion."""
    return (2.0 * kappa * theta / sigma**2 - 0.5) / z - 0.5 * kappa * z


@pytest.mark.parametrize("z", [-30.0, -1.0001, -1.0, -1e-9, 1e-5, 0.7, 1.0, 1.1])
def test_the_functions_of_the_exponential(z):
    with mpmath.workdps(40):
        exact = mpmath.expm1(z) / z, (mpmath.expm1(z) - z) / mpmath.mpf(z) ** 2
    assert phi1(z) == pytest.approx(float(exact[0]), rel=1e-15)
    assert _phi2(z) == pytest.approx(float(exact[1]), rel=1e-15)


def test_a_linear_drift_has_the_exact_density():
    """With a drift of time, too: of k (a t - y) the mean is a t - a / k (1 - exp(-k t)) + y0 exp(-k t)."""
    density = transitions.ozaki(reverting, lambda t, y, kappa, theta, sigma: sigma)
    for kappa in (1e-8, 0.5, -0.3, 30.0):
        given = 0.0, 1.0, 3.0, 0.5, kappa, 0.2, 0.7
        assert density(*given) == pytest.approx(transitions.vasicek(*given), rel=1e-12)
    moving = transitions.ozaki(lambda t, y, k, a: k * (a * t - y), lambda t, y, k, a: 1.0)
    decay = math.exp(-1.4)
    mean, variance = 0.9 * 2.0 - 0.9 / 0.7 * (1.0 - decay) + 0.4 * decay, (1.0 - decay**2) / 1.4
    exact = -0.5 * (math.log(2.0 * math.pi * variance) + (1.1 - mean) ** 2 / variance)
    assert moving(0.0, 0.4, 2.0, 1.1, 0.7, 0.9) == pytest.approx(exact, rel=1e-13)


def test_the_square_root_diffusion_after_lamperti():
    """Against the non-central chi-square: the error falls with time**1.5, and is below Euler's."""
    errors = []
    densities = [
        f(root, lambda t, z, kappa, theta, sigma: 1.0)
        for f in (transitions.ozaki, transitions.euler)
    ]
    at = 0.5, 0.06, SIGMA
    for dt in (0.25, 0.125, 0.0625):
        y0, y1 = 0.05, 0.05 + 0.12 * math.sqrt(0.05 * dt)
        z0, z1 = 2.0 * math.sqrt(y0) / SIGMA, 2.0 * math.sqrt(y1) / SIGMA
        exact = transitions.cir(0.0, y0, dt, y1, *at) + math.log(SIGMA * math.sqrt(y1))
        errors.append([abs(f(0.0, z0, dt, z1, *at) - exact) for f in densities])
    errors = np.array(errors)
    assert (errors[:, 0] < 0.3 * errors[:, 1]).all()
    assert np.log2(errors[1:, 0] / errors[:-1, 0]) == pytest.approx([-1.45, -1.46], abs=0.1)


@pytest.mark.deep
def test_the_bill_rate():
    density = transitions.ozaki(reverting, lambda t, y, kappa, theta, sigma: sigma)
    result = nd.fit.fit_sde(density, *load_us_tbill(), {"kappa": 0.2, "theta": 0.05, "sigma": 0.02})
    assert result.loglik == pytest.approx(673.723913, abs=1e-6)


@pytest.mark.parametrize(
    "diffusion",
    [lambda t, y, kappa, theta, sigma: sigma * y, lambda t, y, kappa, theta, sigma: sigma + t],
)
def test_a_diffusion_that_is_not_constant(diffusion):
    density = transitions.ozaki(reverting, diffusion)
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
    with pytest.raises(
        ModelError, match=r"not on y or t: fit z .* or take transitions.ait_sahalia"
    ):
        nd.fit.fit_sde(density, [0.0, 1.0, 2.0], [0.1, 0.2, 0.3], start)


@pytest.mark.parametrize("name", ["m", "_t"])
def test_parameters_of_any_name(name):
    """Those that formulas of ours are written with are no others."""
    drift, plain = eval(f"lambda t, y, {name}: {name} * (0.1 - y)"), lambda t, y, k: k * (0.1 - y)
    diffusion = eval(f"lambda t, y, {name}: 0.3 + 0.1 * y")
    found = transitions.ait_sahalia(drift, diffusion)(0.0, 0.05, 0.1, 0.06, 0.7)
    same = transitions.ait_sahalia(plain, lambda t, y, k: 0.3 + 0.1 * y)
    assert found == same(0.0, 0.05, 0.1, 0.06, k=0.7)
