"""Derivatives by the score of the paths: Black and Scholes' Greeks of payoffs that jump, to second order."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(17)
LOG_STRIKE = math.log(100.0)


@njit
def _drift(t, x, rate, vol):
    return rate - 0.5 * vol * vol


@njit
def _diffusion(t, x, rate, vol):
    return vol


@njit
def _digital(xs):
    return 1.0 if xs[-1, 0] > LOG_STRIKE else 0.0


@njit
def _call(xs):
    return max(math.exp(xs[-1, 0]) - 100.0, 0.0)


SOLVE = nd.sde.solver(_drift, _diffusion, dt=0.5)


def _price(payoff, paths, **options):
    antithetic = options.get("antithetic", False)

    @njit
    def price(spot, rate, vol, key):
        found = nd.sde.ensemble(
            SOLVE,
            math.log(spot),
            (0.0, 1.0),
            (rate, vol),
            key,
            paths,
            reduce=payoff,
            estimator="likelihood_ratio",
            antithetic=antithetic,
        )
        return math.exp(-rate) * found.mean

    return price


AT = 100.0, 0.05, 0.2


@pytest.mark.dear
def test_greeks_of_a_digital_option():
    """Closed forms: Black and Scholes; means over 100,000 pairs, within four of their standard errors."""
    price = _price(_digital, 200_000, antithetic=True)
    exact = 0.018762017345847, 1.3438767, -0.65667060710464
    found = nd.grad(price, (0, 1, 2), mode="reverse")(*AT, KEY)
    assert abs(price(*AT, KEY) - 0.53232481545376) < 4e-3
    for slope, expected, error in zip(found, exact, (1.1e-4, 0.011, 0.011), strict=True):
        assert abs(slope - expected) < 4.0 * error


@pytest.mark.deep
def test_values_and_modes_agree_and_the_score_has_mean_zero():
    plain = nd.sde.ensemble(SOLVE, LOG_STRIKE, (0.0, 1.0), AT[1:], KEY, 3000, reduce=_call)
    price = _price(_call, 3000)
    assert price(*AT, KEY) == pytest.approx(math.exp(-0.05) * plain.mean, rel=1e-13)
    forward, reverse = (nd.grad(price, (0, 1, 2), mode=m)(*AT, KEY) for m in ("forward", "reverse"))
    np.testing.assert_allclose(reverse, forward, rtol=1e-11)
    one = _price(njit(lambda xs: 1.0), 40_000)
    slope = nd.grad(one, 2)(*AT, KEY)
    assert abs(slope) < 4.0 * math.sqrt(
        2.0 * 2.0 / 0.2**2 / 40_000
    )  # two normal steps of variance vol**2 h


@pytest.mark.deep
def test_gamma_by_nesting():
    price = _price(_call, 200_000, antithetic=True)

    def by_spot(spot):
        return nd.derivative(price)(spot, 0.05, 0.2, KEY)

    assert nd.derivative(by_spot)(100.0) == pytest.approx(0.018762017345847, rel=0.1)


@pytest.mark.deep
def test_pairs_of_components():
    """Two independent prices; the slope of the chance that both end above by the second volatility."""
    drift = njit(lambda t, x, a, b: (-0.5 * a * a, -0.5 * b * b))
    noise = njit(lambda t, x, a, b: (a, b))
    both = njit(lambda xs: 1.0 if xs[-1, 0] > 0.0 and xs[-1, 1] > 0.0 else 0.0)
    solve = nd.sde.solver(drift, noise, dt=1.0, noise="additive")

    @njit
    def chance(a, b, key):
        found = nd.sde.ensemble(
            solve,
            (0.0, 0.0),
            (0.0, 1.0),
            (a, b),
            key,
            60_000,
            both,
            None,
            False,
            "likelihood_ratio",
        )
        return found.mean

    slope = nd.grad(chance, 1, mode="forward")(0.3, 0.4, KEY)
    above = 0.5 * math.erfc(0.15 / math.sqrt(2.0))
    density = math.exp(-0.5 * 0.2**2) / math.sqrt(2.0 * math.pi)
    assert abs(slope + 0.5 * above * density) < 4.0 * 0.01


@pytest.mark.deep
def test_mean_paths_are_differentiated_too():
    """By both estimators; the mean is linear in the start."""

    @njit
    def mean(x, rate, key):
        return nd.sde.ensemble(SOLVE, x, (0.0, 1.0), (rate, 0.2), key, 64, reduce="mean").mean[1, 0]

    for mode in ("forward", "reverse"):
        assert nd.grad(mean, (0, 1), mode=mode)(0.3, 0.05, KEY) == pytest.approx((1.0, 1.0))


@pytest.mark.dear
def test_refusals():
    given = LOG_STRIKE, (0.0, 1.0), (0.05, 0.2), KEY, 10
    option = {"estimator": "likelihood_ratio"}
    with pytest.raises(nd.ArgumentError, match="must be 'pathwise' or 'likelihood_ratio'"):
        nd.sde.ensemble(SOLVE, *given, reduce=_call, estimator="score")
    with pytest.raises(nd.ArgumentError, match="is for reductions"):
        nd.sde.ensemble(SOLVE, *given, **option)
    milstein = nd.sde.solver(_drift, _diffusion, dt=0.5, method="Milstein")
    with pytest.raises(nd.ArgumentError, match="whose steps are normal, not for 'Milstein'"):
        nd.sde.ensemble(milstein, *given, reduce=_call, **option)
    without = nd.sde.solver(_drift, lambda t, x, rate, vol: 0.0, dt=0.5)

    @njit
    def still(vol, key):
        return nd.sde.ensemble(
            without, 0.0, (0.0, 1.0), (0.05, vol), key, 10, _call, None, False, "likelihood_ratio"
        ).mean

    with pytest.raises(nd.ModelError, match="needs noise in every component"):
        nd.derivative(still)(0.2, KEY)
