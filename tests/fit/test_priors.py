"""What is known of unknowns before the data."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import least_squares

from numbad.fit import FitResult, fit_ode

from .reaction import COLD, P0, Y0, T, amounts, reaction
from .test_freedom import fitted


def test_priors_give_the_mode_and_curvature_of_the_posterior():
    priors = {"rate": ("normal", 0.9, 0.02), "back": ("lognormal", 0.25, 0.1)}
    result = fitted(priors=priors, sigma=0.05, absolute_sigma=True)

    def residuals(p):
        data = (amounts(T, *p, *Y0) - COLD).ravel() / 0.05
        return np.append(data, [(p[0] - 0.9) / 0.02, np.log(p[1] / 0.25) / 0.1])

    wanted = least_squares(residuals, (1.0, 0.4), jac="3-point", xtol=1e-14, ftol=1e-14)
    np.testing.assert_allclose(result.x, wanted.x, rtol=1e-6)
    cov = np.linalg.inv(wanted.jac.T @ wanted.jac)
    np.testing.assert_allclose(result.cov, cov, rtol=1e-5)
    assert result.cost == pytest.approx(wanted.cost, rel=1e-8)
    data = stats.norm.logpdf(COLD, amounts(T, *result.x, *Y0), 0.05).sum()
    assert result.loglik == pytest.approx(data, rel=1e-8)
    assert np.isnan((result.aic, result.bic)).all()
    assert "AIC" not in result.summary()
    back = FitResult.from_json(result.to_json(), reaction)
    assert back.to_json() == result.to_json()
    # The transform does not move the mode.
    again = fitted(priors=priors, sigma=0.05, absolute_sigma=True, transforms="log")
    np.testing.assert_allclose(again.x, result.x, rtol=1e-6)


def test_a_prior_may_determine_what_the_data_do_not():
    result = fit_ode(
        reaction, T[:1], COLD[:1], P0, y0=Y0, sigma=0.1, absolute_sigma=True, fixed="back",
        priors={"rate": ("normal", 0.7, 0.2)},
    )  # fmt: skip
    assert result.params["rate"] == pytest.approx(0.7)
    assert result.stderr["rate"] == pytest.approx(0.2)
