"""Kalman filters: the exact filter of a linear equation, closed forms, missing values, what is refused."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.linalg import expm

import numbad as nd
from numbad.sde import filters

RNG = np.random.default_rng(4)
TIMES = 0.25 * np.cumsum(RNG.integers(1, 3, size=15))
SEEN = RNG.normal(size=(15, 2))
SEEN[3], SEEN[7, 1] = np.nan, np.nan
AT = {"a": 1.2, "b": 0.7, "s": 0.4}


def _drift(t, y, a, b, s):
    return -a * y[0] + y[1], -b * y[1]


def _matrix(t, y, a, b, s):
    return (s, 0.1), (0.0, 0.3)


def _observe(t, y, a, b, s):
    return y[0], y[0] - 2.0 * y[1]


def _error(a, b, s):
    return 0.1, s


def _exact(a, b, s, told=None):
    """The log-likelihood by matrix exponentials (Van Loan, 1978); complex parameters too.

    `told`: what gets the gap of each observation and its covariance.
    """
    drift = np.array([[-a, 1.0], [0.0, -b]])
    noise = np.array([[s, 0.1], [0.0, 0.3]])
    noise = noise @ noise.T
    observe, error = np.array([[1.0, 0.0], [1.0, -2.0]]), np.diag([0.01, s**2])
    mean, cov, total = np.array([1.0, 0.5]), np.diag([0.04, 0.09]), 0.0
    for k, row in enumerate(SEEN):
        if k:
            block = np.block([[-drift, noise], [np.zeros((2, 2)), drift.T]])
            block = expm(block * (TIMES[k] - TIMES[k - 1]))
            step = block[2:, 2:].T
            mean, cov = step @ mean, step @ cov @ step.T + step @ block[:2, 2:]
        good = ~np.isnan(row)
        if good.any():
            h = observe[good]
            scatter, gap = h @ cov @ h.T + error[np.ix_(good, good)], row[good] - h @ mean
            if told is not None:
                told.append((k, good, gap, scatter))
            gain = cov @ h.T @ np.linalg.inv(scatter)
            total -= 0.5 * (gap @ np.linalg.solve(scatter, gap))
            total -= 0.5 * np.log(np.linalg.det(2.0 * math.pi * scatter))
            mean, cov = mean + gain @ gap, cov - gain @ scatter @ gain.T
    return total


def _filter(make, dt=0.02):
    return make(
        _drift,
        _matrix,
        mean=(1.0, 0.5),
        spread=(0.2, 0.3),
        noise=_error,
        observe=_observe,
        dt=dt,
    )


KINDS = pytest.mark.parametrize(
    "make", [filters.extended_kalman, filters.unscented_kalman], ids=["extended", "unscented"]
)


@pytest.mark.deep
@KINDS
def test_linear_equations_are_those_of_the_exact_filter(make):
    start = list(AT.values())
    likelihood = _filter(make).log_likelihood(TIMES, SEEN, start)
    errors = [
        abs(likelihood(TIMES, SEEN, dt, *start) / _exact(*start) - 1.0) for dt in (0.125, 0.0625)
    ]
    assert errors[-1] < 1e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)
    slopes = nd.grad(likelihood, (3, 4, 5), mode="forward")(TIMES, SEEN, 0.02, *start)
    steps = [_exact(*(start + 1e-30j * unit)).imag / 1e-30 for unit in np.eye(3)]
    np.testing.assert_allclose(slopes, steps, rtol=1e-6)


def _tracked(make, spread):
    """Position and velocity of what moves evenly, of which nothing is known at first."""
    made = make(
        lambda t, y, error: (y[1], 0.0 * y[0]),
        lambda t, y, error: (0.0, 0.0),
        mean=(0.0, 0.0),
        spread=(spread, spread),
        noise=lambda error: (error,),
        observe=lambda t, y, error: (y[0],),
        dt=1.0,
    )
    return made.filtered(np.arange(4.0), np.array([1.0, 2.5, 2.0, 4.0]), {"error": 1.0})


@pytest.mark.dear
def test_a_wide_spread_at_first_is_linear_regression():
    """The covariance without the terms of Joseph's form was 1e-18 from a spread of 1e8 on."""
    t, y = np.arange(4.0), np.array([1.0, 2.5, 2.0, 4.0])
    design = np.stack([np.ones(4), t - 3.0], axis=1)
    cov = np.linalg.inv(design.T @ design)
    for spread in (1e6, 1e7):
        found = _tracked(filters.extended_kalman, spread)
        np.testing.assert_allclose(found.cov[-1], cov, rtol=1e-2)
        np.testing.assert_allclose(found.mean[-1], cov @ design.T @ y, rtol=1e-2)
    known = _tracked(filters.extended_kalman, 1e9)
    assert known.cov[-1, 0, 0] > 0.1


def test_a_covariance_that_is_lost_is_told():
    with pytest.raises(nd.ModelError, match="take a smaller dt, or a spread"):
        _tracked(filters.unscented_kalman, 1e3)


@pytest.mark.dear
def test_filtered_states():
    found = _filter(filters.extended_kalman).filtered(TIMES, SEEN, AT)
    assert found.mean.shape == (15, 2)
    assert found.cov.shape == (15, 2, 2)
    assert found.loglik == pytest.approx(_exact(*AT.values()), rel=1e-7)
    np.testing.assert_allclose(found.cov, np.swapaxes(found.cov, 1, 2), rtol=1e-10)
    assert (np.linalg.eigvalsh(found.cov) > 0.0).all()


@pytest.mark.dear
def test_residuals_are_gaps_made_independent():
    """Their squares at a time sum up to the gaps' by the inverse covariance; NaN where nothing was seen."""
    told, kalman = [], _filter(filters.extended_kalman)
    _exact(*AT.values(), told=told)
    residuals = kalman.residuals(TIMES, SEEN, AT)
    np.testing.assert_array_equal(np.isnan(residuals), np.isnan(SEEN))
    for k, good, gap, scatter in told:
        row = residuals[k, good]
        assert row @ row == pytest.approx(gap @ np.linalg.solve(scatter, gap), rel=1e-5)
        assert row[0] == pytest.approx(-gap[0] / math.sqrt(scatter[0, 0]), rel=1e-5, abs=1e-7)
    assert len(told) == 14
    particles = _filter(partial(filters.particle_filter, particles=20))
    with pytest.raises(
        nd.ModelError, match="a ParticleFilter has no residuals; a Kalman filter has"
    ):
        particles.residuals(TIMES, SEEN, AT)


@pytest.mark.dear
def test_another_step_is_an_argument_of_the_same_code():
    """And the method is of order 4."""
    exact = _exact(*AT.values())
    sizes = (("n", 2), ("m", 2), ("q", 2))
    models = [_filter(filters.extended_kalman, dt) for dt in (0.125, 0.0625)]
    assert models[0].states_of(sizes) is models[1].states_of(sizes)
    errors = [abs(model.filtered(TIMES, SEEN, AT).loglik / exact - 1.0) for model in models]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)


@pytest.mark.dear
@KINDS
def test_what_is_observed_of_a_square(make):
    """One observation of y**2: the points know the mean of the square, the tangent does not."""
    mean, spread, error, seen = 1.3, 0.4, 0.2, 2.5
    kalman = make(
        lambda t, y: (0.0,),
        lambda t, y: (0.0,),
        observe=lambda t, y: (y[0] ** 2,),
        mean=[mean],
        spread=[spread],
        noise=[error],
        dt=1.0,
    )
    centre = mean**2 + (spread**2 if make is filters.unscented_kalman else 0.0)
    variance = 4.0 * mean**2 * spread**2 + error**2
    density = -0.5 * (seen - centre) ** 2 / variance - 0.5 * math.log(2.0 * math.pi * variance)
    found = kalman.filtered([0.0], [seen], {})
    assert found.loglik == pytest.approx(density, rel=1e-12)
    gain = 2.0 * mean * spread**2 / variance
    assert found.mean[0, 0] == pytest.approx(mean + gain * (seen - centre), rel=1e-12)


@pytest.mark.deep
def test_a_fit_finds_what_the_data_were_made_with():
    rng, state, seen = np.random.default_rng(6), np.array([1.0, 0.0]), []
    for _ in range(300):
        for _ in range(20):
            rate = np.array([state[1], -2.0 * state[0] - 0.5 * state[1]])
            state = state + 0.02 * rate + np.array([0.0, 0.6]) * rng.normal() * math.sqrt(0.02)
        seen.append(state[0] + 0.05 * rng.normal())
    kalman = filters.extended_kalman(
        lambda t, y, spring, friction, vol, error: (y[1], -spring * y[0] - friction * y[1]),
        lambda t, y, spring, friction, vol, error: (0.0, vol),
        observe=lambda t, y, spring, friction, vol, error: (y[0],),
        noise=lambda spring, friction, vol, error: (error,),
        mean=(0.0, 0.0),
        spread=(1.0, 1.0),
        dt=0.1,
    )
    truth = {"spring": 2.0, "friction": 0.5, "vol": 0.6, "error": 0.05}
    start = {"spring": 1.0, "friction": 1.0, "vol": 1.0, "error": 0.1}
    fit = nd.fit.fit_sde(kalman, 0.4 * np.arange(1, 301), seen, start)
    assert fit.success
    for name, value in truth.items():
        assert abs(fit.params[name] - value) < 3.0 * fit.stderr[name]
        assert fit.stderr[name] < 0.3 * value
    assert fit.bic == pytest.approx(4.0 * math.log(300) - 2.0 * fit.loglik)
