"""Noise levels that are estimated with the unknowns."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, minimize_scalar
from scipy.optimize import minimize as scipy_minimize

from numbad.errors import ModelError
from numbad.fit import fit_ode

from .reaction import COLD, P0, Y0, T, amounts, reaction


def fitted(**options):
    return fit_ode(reaction, T, COLD, P0, **{"y0": Y0, "sigma": "estimate", **options})


def cost(p, levels):
    """The negative log-likelihood, but for its constant."""
    squares = ((amounts(T, *p, *Y0) - COLD) ** 2).sum(axis=0)
    return 0.5 * np.sum(squares / levels**2) + 15.0 * np.sum(np.log(levels))


def most_likely(p):
    """The cost with the most likely levels."""
    squares = ((amounts(T, *p, *Y0) - COLD) ** 2).sum(axis=0)
    return cost(p, np.sqrt(squares / 15.0))


def test_unknowns_and_levels_maximise_the_likelihood():
    result = fitted()
    start = [*result.x, *np.log(list(result.noise.values()))]
    found = scipy_minimize(
        lambda x: cost(x[:2], np.exp(x[2:])), start, method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 5000, "maxfev": 5000},
    )  # fmt: skip
    np.testing.assert_allclose(result.x, found.x[:2], rtol=1e-6)
    np.testing.assert_allclose(list(result.noise.values()), np.exp(found.x[2:]), rtol=1e-6)
    assert result.cost == pytest.approx(found.fun, abs=1e-6)
    assert list(result.noise) == ["y[0]", "y[1]"]
    levels = np.array(list(result.noise.values()))
    loglik = stats.norm.logpdf(COLD, amounts(T, *result.x, *Y0), levels).sum()
    assert result.loglik == pytest.approx(loglik, rel=1e-9)
    assert result.aic == pytest.approx(8.0 - 2.0 * loglik, rel=1e-9)
    assert result.bic == pytest.approx(4.0 * np.log(30.0) - 2.0 * loglik, rel=1e-9)
    assert "noise of y[1]" in result.summary()


def test_standard_errors_take_each_level_with_its_degrees_of_freedom():
    result = fitted()
    levels = np.repeat(list(result.noise.values()), 15)
    slopes = [
        (amounts(T, *(result.x + step), *Y0) - amounts(T, *(result.x - step), *Y0)).T.ravel() / 2e-6
        for step in 1e-6 * np.eye(2)
    ]
    scaled = np.array(slopes).T / levels[:, None]
    leverage = np.diag(scaled @ np.linalg.inv(scaled.T @ scaled) @ scaled.T)
    left = 15.0 - leverage.reshape(2, 15).sum(axis=1)
    assert left.sum() == pytest.approx(28.0)
    scaled *= np.sqrt(np.repeat(left / 15.0, 15))[:, None]
    np.testing.assert_allclose(result.cov, np.linalg.inv(scaled.T @ scaled), rtol=1e-4)


def test_it_is_the_same_from_elsewhere_and_with_bounds():
    wanted = fitted()
    far = fitted(bounds={"rate": (0.01, 20.0), "back": (0.01, 20.0)}, starts=3, progress=False)
    np.testing.assert_allclose(far.x, wanted.x, rtol=1e-5)
    np.testing.assert_allclose([fit.cost for fit in far.starts], wanted.cost, rtol=1e-6)


def test_the_profile_is_that_of_the_likelihood():
    result = fitted()
    profile = result.profile("rate")
    rise = 0.5 * stats.t.ppf(0.975, 28) ** 2

    def excess(rate):
        best = minimize_scalar(lambda back: most_likely((rate, back)), (0.2, 0.4), tol=1e-12)
        return best.fun - result.cost - rise

    rate = result.params["rate"]
    ends = brentq(excess, 0.8 * rate, rate), brentq(excess, rate, 1.2 * rate)
    np.testing.assert_allclose((profile.low, profile.high), ends, rtol=1e-5)


def test_a_single_level_is_the_usual_fit():
    column = COLD[:, 0]
    apart = [
        fit_ode(reaction, T, column, P0, y0=Y0, observed=0, sigma=sigma)
        for sigma in (None, "estimate")
    ]
    np.testing.assert_allclose(apart[1].x, apart[0].x, rtol=1e-7)
    np.testing.assert_allclose(apart[1].cov, apart[0].cov, rtol=1e-5)
    assert apart[1].loglik == pytest.approx(apart[0].loglik, rel=1e-9)
    assert apart[1].aic == pytest.approx(apart[0].aic, rel=1e-9)
    assert apart[0].noise == {}


def test_a_known_level_beside_one_that_is_sought():
    result = fitted(sigma={0: 0.02, 1: "estimate"})

    def total(x):
        squares = ((amounts(T, x[0], x[1], *Y0) - COLD) ** 2).sum(axis=0)
        return squares[0] / (2.0 * 0.02**2) + 7.5 * np.log(squares[1])

    options = {"xatol": 1e-10, "fatol": 1e-13}
    found = scipy_minimize(total, result.x, method="Nelder-Mead", options=options)
    np.testing.assert_allclose(result.x, found.x, rtol=1e-6)
    assert list(result.noise) == ["y[1]"]
    assert result._half_width(0.95) == pytest.approx(1.959964, rel=1e-6)


def test_data_that_the_model_meets_exactly():
    result = fit_ode(reaction, T, amounts(T, 0.8, 0.3, *Y0), P0, y0=Y0, sigma="estimate")
    np.testing.assert_allclose(result.x, (0.8, 0.3), rtol=1e-6)
    assert max(result.noise.values()) < 1e-6
    assert np.isfinite(result.loglik)


def test_a_robust_loss_is_refused():
    with pytest.raises(ModelError, match='sigma="estimate" needs loss="linear"'):
        fitted(loss="huber")


def test_too_few_evaluations_are_no_success():
    result = fitted(max_nfev=3)
    assert not result.success


def absorbed(t, y, absorption, elimination):
    return -absorption * y[0], absorption * y[0] - elimination * y[1]


def test_an_observable_that_is_met_exactly_leaves_no_maximum():
    t = np.array([0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
    gut = 10.0 * np.exp(-1.2 * t) * (1.0 + 0.2 * np.cos(np.arange(8) ** 2))
    data = {"gut": (t, gut), "body": (t[3:4], np.array([5.9]))}
    result = fit_ode(
        absorbed, None, data, {"absorption": 1.0, "elimination": 0.2},
        y0={"gut": 10.0, "body": 0.0}, t0=0.0, sigma="estimate",
    )  # fmt: skip
    assert not result.success
    assert "meets body exactly, so that the likelihood has no maximum" in result.message
    assert np.isnan([result.loglik, result.aic]).all()
