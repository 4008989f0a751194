"""Simulated moments: beside the law of moments that is known; gradients; what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

import numbad as nd
from numbad.sde import moments

TIMES = np.array([0.0, 0.5, 1.0, 2.0])
SEEN = np.array([[0.4], [0.9], [0.2], [-0.3]])
AT = 0.6, 0.5, 0.2


def _drift(t, y, rate, vol, error):
    return (-rate * y[0],)


def _diffusion(t, y, rate, vol, error):
    return (vol,)


def _error(rate, vol, error):
    return (error,)


def _ends(t, y):
    return y[1, 0], y[3, 0] - y[2, 0]


def _model(**options):
    given = {"mean": (0.4,), "noise": _error, "dt": 0.25, "paths": 3000}
    return moments.simulated(_drift, _diffusion, _ends, **given | options)


def _exact(rate, vol, error):
    """Of two linear moments, whose law is normal: mean and covariance by recursion over the steps."""
    factor, mean = 1.0 - 0.25 * rate, 0.4
    cov = np.zeros((9, 9))  # of the state at 0, 0.25, ..., 2
    for i in range(1, 9):
        cov[i, :i] = factor * cov[i - 1, :i]
        cov[:i, i] = cov[i, :i]
        cov[i, i] = factor**2 * cov[i - 1, i - 1] + vol**2 * 0.25
    rows = np.zeros((2, 9))
    rows[0, 2], rows[1, 8], rows[1, 4] = 1.0, 1.0, -1.0
    means = mean * factor ** np.arange(9)
    scatter = rows @ cov @ rows.T + np.diag([error**2, 2.0 * error**2])
    seen = SEEN[1, 0], SEEN[3, 0] - SEEN[2, 0]
    return stats.multivariate_normal(rows @ means, scatter).logpdf(seen)


@pytest.mark.deep
def test_linear_moments_have_a_known_law():
    model = _model()
    likelihood, given = model.log_likelihood(TIMES, SEEN, AT), (TIMES, SEEN, *model.settings)
    assert likelihood(*given, *AT) == pytest.approx(_exact(*AT), abs=0.05)
    slopes = nd.grad(likelihood, (4, 5, 6), mode="forward")(*given, *AT)
    for k, slope in enumerate(slopes):
        high, low = (np.array(AT) + h * np.eye(3)[k] for h in (1e-4, -1e-4))
        assert slope == pytest.approx((_exact(*high) - _exact(*low)) / 2e-4, abs=0.25)
        difference = (likelihood(*given, *high) - likelihood(*given, *low)) / 2e-4
        assert slope == pytest.approx(difference, rel=1e-6)


def test_what_is_not_seen_is_not_simulated():
    """NaN in the data: moments that look at it say so."""
    seen = SEEN.copy()
    seen[1] = np.nan
    with pytest.raises(nd.ModelError, match="moments must return a tuple of finite numbers"):
        _model().count(TIMES, seen)


@pytest.mark.deep
def test_a_fit_finds_what_the_data_were_made_with():
    def of_series(t, y):
        x = y[:, 0] - y[:, 0].mean()
        return (x**2).mean(), (x[1:] * x[:-1]).mean(), (x[2:] * x[:-2]).mean()

    rng, x, y = np.random.default_rng(3), 0.0, []
    for _ in range(400):
        x = 0.8 * x + 0.5 * rng.normal()
        y.append(x)
    model = moments.simulated(
        lambda t, y, rate, vol: (-rate * y[0],),
        lambda t, y, rate, vol: (vol,),
        of_series,
        mean=(0.0,),
        spread=(0.8,),
        dt=0.5,
        paths=400,
    )
    fit = nd.fit.fit_sde(model, np.arange(400.0), y, {"rate": 0.4, "vol": 0.4})
    assert fit.success
    assert "3 moments" in fit.summary()
    rate = 2.0 * (1.0 - math.sqrt(0.8))  # two steps of Euler's make 0.8 of a state
    vol = 0.5 / math.sqrt(0.5 * (1.0 + (1.0 - 0.5 * rate) ** 2))
    for name, value in (("rate", rate), ("vol", vol)):
        assert abs(fit.params[name] - value) < 3.0 * fit.stderr[name]
        assert fit.stderr[name] < 0.3 * value
    assert len(fit.plot().axes) == 3  # the series and two profiles
    with pytest.raises(nd.ModelError, match="fit by simulation has no residuals"):
        fit.residuals  # noqa: B018


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"paths": 3}, nd.ModelError, "covariance of 2 moments needs 4 paths or more, not 3"),
        ({"paths": 1}, nd.ArgumentError, "paths must be 2 or more, not 1"),
        ({"key": "a"}, nd.ArgumentError, "key must be a key, not 'a'"),
        ({"mean": None}, nd.ArgumentError, "mean is a sequence of numbers"),
    ],
)
def test_what_is_refused(options, error, told):
    with pytest.raises(error, match=told):
        _model(**options).count(TIMES, SEEN)


def test_moments_that_do_not_suit():
    with pytest.raises(nd.ModelError, match="moments is a function of .t, y."):
        moments.simulated(_drift, _diffusion, lambda y: (1.0,), mean=(0.0,), dt=0.1)
    broken = moments.simulated(_drift, _diffusion, lambda t, y: t[0], mean=(0.0,), dt=0.1)
    with pytest.raises(nd.ModelError, match="moments must return a tuple of finite numbers"):
        broken.count(TIMES, SEEN)
