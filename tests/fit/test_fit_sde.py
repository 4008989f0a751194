"""Maximum likelihood of SDEs: densities in closed form, the bill rate's known answers, refusals."""

import math

import numpy as np
import pytest
from scipy import stats

import numbad as nd
from numbad.data import load_us_tbill
from numbad.sde import transitions

YEARS, RATE = load_us_tbill()
CIR_AT = 0.0, 0.03, 2.0, 0.05, 0.5, 0.06, 0.15


def test_densities_are_those_of_scipy():
    kappa, theta, sigma, dt, x = 0.8, 1.2, 0.5, 2.0, 0.3
    decay = math.exp(-kappa * dt)
    law = stats.norm(
        theta + (x - theta) * decay, sigma * math.sqrt((1.0 - decay**2) / (2.0 * kappa))
    )
    assert transitions.vasicek(0.0, x, dt, 1.0, kappa, theta, sigma) == pytest.approx(
        law.logpdf(1.0)
    )
    growth = stats.lognorm(0.2 * math.sqrt(dt), scale=math.exp((0.05 - 0.02) * dt))
    assert transitions.gbm(0.0, 1.0, dt, 1.1, 0.05, 0.2) == pytest.approx(growth.logpdf(1.1))
    # Any size of the Bessel function's argument.
    for y0, y1, scale in ((0.03, 0.05, 0.15), (0.15, 0.02, 0.02), (1e-4, 0.1, 0.4)):
        c = 4.0 * 0.5 / (scale**2 * (1.0 - math.exp(-0.5 * 2.0)))
        square = stats.ncx2(
            4.0 * 0.5 * 0.06 / scale**2, c * y0 * math.exp(-0.5 * 2.0), scale=1.0 / c
        )
        found = transitions.cir(0.0, y0, 2.0, y1, 0.5, 0.06, scale)
        assert found == pytest.approx(square.logpdf(y1), rel=1e-8)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_of_the_cir_density(mode):
    """mpmath, 30 digits: by kappa, theta, sigma and the initial rate."""
    slopes = nd.grad(transitions.cir, (4, 5, 6, 1), mode=mode)(*CIR_AT)
    expected = 0.949397131283, 8.54674856247, -7.10938768335, 1.55445577312
    np.testing.assert_allclose(slopes, expected, rtol=1e-11)


def _ckls():
    return transitions.euler(
        lambda t, y, kappa, theta, sigma, gamma: kappa * (theta - y),
        lambda t, y, kappa, theta, sigma, gamma: sigma * y**gamma,
    )


# The log-likelihood, estimates and standard errors of the bill rate by an implementation of its own.
_KNOWN = {
    "vasicek": (673.723913, (0.172737, 0.050212, 0.017604), (0.091, 0.014, 0.0009)),
    "cir": (715.755204, (0.039718, 0.039847, 0.066660), (0.060, 0.043, 0.0034)),
    "ckls": (732.325864, (0.020969, 0.041399, 0.118841, 0.7167), (None, None, 0.020, 0.053)),
}


@pytest.mark.parametrize(
    "model", ["cir", *(pytest.param(m, marks=pytest.mark.deep) for m in ("vasicek", "ckls"))]
)
def test_the_bill_rate(model):
    density = _ckls() if model == "ckls" else getattr(transitions, model)
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.05} | (
        {"gamma": 0.5} if model == "ckls" else {}
    )
    result = nd.fit.fit_sde(density, YEARS, RATE, start)
    loglik, estimates, errors = _KNOWN[model]
    assert result.success
    assert result.loglik == pytest.approx(loglik, abs=1e-6)
    np.testing.assert_allclose(result.x, estimates, rtol=3e-5)
    for found, error in zip(result.stderr.values(), errors, strict=True):
        assert error is None or found == pytest.approx(error, rel=0.06)
    drift, width = result.profile("kappa"), result.profile("sigma")
    assert drift.low < 1e-6  # the data do not tell whether the rate reverts at all
    assert width.high / width.low < 2.2


def test_fixed_parameters_and_other_starts():
    start = {"theta": 0.05, "sigma": 0.02, "kappa": 0.172737}
    result = nd.fit.fit_sde(transitions.vasicek, YEARS, RATE, start, fixed=("kappa",))
    assert result.names == ("theta", "sigma")
    assert result.fixed == {"kappa": 0.172737}
    assert result.loglik == pytest.approx(673.723913, abs=1e-5)


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"p0": {"kappa": 0.1}}, nd.ArgumentError, "takes kappa, theta, sigma; p0 gives kappa"),
        ({"p0": [0.1]}, nd.ArgumentError, "p0 gives each parameter its start"),
        ({"fixed": ("mu",)}, nd.ArgumentError, "no parameter is called 'mu'"),
        ({"transforms": {"kappa": "sqrt"}}, nd.ArgumentError, "must be 'log' or 'linear'"),
        ({"y": [0.1, 0.2]}, nd.DataError, "one entry for each observation"),
        ({"t": [0.0, 1.0, 1.0]}, nd.DataError, "increase strictly, which it does not at entry 2"),
        ({"y": [0.1, math.nan, 0.3]}, nd.DataError, "which entry 1 is not"),
        (
            {"density": transitions.cir, "y": [0.1, -0.2, 0.3]},
            nd.ModelError,
            "log-likelihood at the start is",
        ),
    ],
)
def test_refusals(change, error, told):
    given = {
        "density": transitions.vasicek,
        "t": [0.0, 1.0, 2.0],
        "y": [0.1, 0.2, 0.3],
        "p0": {"kappa": 0.1, "theta": 0.1, "sigma": 0.1},
    }
    with pytest.raises(error, match=told):
        nd.fit.fit_sde(**given | change)
