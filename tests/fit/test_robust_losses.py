"""Robust losses beside priors: the data count by the loss, the priors by their squares."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import huber, pseudo_huber

from .reaction import COLD, P0, Y0, T, amounts
from .test_freedom import fitted

SIGMA, F_SCALE = 0.05, 1.5
SPOILT = COLD.copy()
SPOILT[4, 0] += 1.0


def by_hand(loss, z):
    return {
        "huber": lambda r: huber(F_SCALE, r),
        "soft_l1": lambda r: pseudo_huber(F_SCALE, r),
        "cauchy": lambda r: 0.5 * F_SCALE**2 * np.log(1.0 + (r / F_SCALE) ** 2),
        "arctan": lambda r: 0.5 * F_SCALE**2 * np.arctan((r / F_SCALE) ** 2),
    }[loss](z)


@pytest.mark.parametrize("loss", ["huber", "soft_l1", "cauchy", "arctan"])
def test_priors_are_not_taken_for_outliers(loss):
    """The prior of `rate` is five deviations off: a loss that took it for an outlier would drop it."""
    priors = {"rate": ("normal", 0.9, 0.02), "back": ("lognormal", 0.25, 0.1)}
    known = {"sigma": SIGMA, "absolute_sigma": True, "loss": loss, "f_scale": F_SCALE}
    result = fitted(data=SPOILT, priors=priors, **known)

    def cost(p):
        off = np.array([(p[0] - 0.9) / 0.02, np.log(p[1] / 0.25) / 0.1])
        residuals = (amounts(T, *p, *Y0) - SPOILT) / SIGMA
        return by_hand(loss, residuals).sum() + 0.5 * off @ off

    wanted = minimize(
        cost, result.x * 1.02, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    np.testing.assert_allclose(result.x, wanted.x, rtol=1e-5)
    assert result.cost == pytest.approx(wanted.fun, rel=1e-8)
    assert np.isnan((result.loglik, result.aic)).all()
    assert "AIC" not in result.summary()


def test_standard_errors_match_the_scatter_of_repeated_fits():
    """Outliers among the data, and in each repetition another draw from the prior."""
    random = np.random.default_rng(5)
    truth, deviation = np.array([0.8, 0.3]), 0.02
    robust, values, errors = {"loss": "huber", "f_scale": F_SCALE}, [], []
    for _ in range(200):
        noise = random.normal(0.0, SIGMA, COLD.shape)
        noise[random.random(COLD.shape) < 0.05] *= 6.0
        seen = random.normal(truth[0], deviation)
        data, prior = amounts(T, *truth, *Y0) + noise, {"rate": ("normal", seen, deviation)}
        result = fitted(data=data, sigma=SIGMA, absolute_sigma=True, priors=prior, **robust)
        values.append(result.x)
        errors.append(list(result.stderr.values()))
    scatter = np.std(values, axis=0, ddof=1)
    np.testing.assert_allclose(np.mean(errors, axis=0), scatter, rtol=0.15)  # 0.05 is one sigma
    alone = fitted(data=data, sigma=SIGMA, **robust).stderr["rate"]
    assert scatter[0] < 0.9 * min(alone, deviation), "both tell of it"


def test_without_data_that_tell_the_prior_remains():
    result = fitted(
        sigma=1e4, absolute_sigma=True, loss="soft_l1", p0=P0,
        priors={"rate": ("normal", 0.7, 0.2), "back": ("normal", 0.3, 0.1)},
    )  # fmt: skip
    np.testing.assert_allclose(result.x, [0.7, 0.3], rtol=1e-4)
    np.testing.assert_allclose(list(result.stderr.values()), [0.2, 0.1], rtol=1e-4)
