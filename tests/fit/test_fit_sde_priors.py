"""Priors and transforms of fits of SDEs: closed forms, SciPy's optimum of the same posterior, refusals."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

import numbad as nd
from numbad.errors import DataError, ModelError
from numbad.fit import DiffusionFit
from numbad.fit.freedom import Freedom, varying
from numbad.fit.likelihood import LikelihoodProblem
from numbad.fit.local import LocalFit
from numbad.fit.observed_series import ObservedSeries
from numbad.sde import filters, transitions
from numbad.sde.hidden_state import series

RNG = np.random.default_rng(8)
TIMES = np.cumsum(RNG.uniform(0.2, 1.0, 30))
STEPS = np.diff(TIMES)
VALUES = np.append(0.5, 0.5 + np.cumsum(0.2 * STEPS + 0.6 * np.sqrt(STEPS) * RNG.normal(size=29)))
RISES = np.diff(VALUES)
START = {"mu": 0.1, "sigma": 0.4}
BOUNDS = {"mu": (-2.0, 3.0), "sigma": (0.01, 5.0)}
PRIORS = {"mu": ("normal", 0.9, 0.15), "sigma": ("lognormal", 0.4, 0.12)}


def walk(t0, y0, t1, y1, mu, sigma):
    """Brownian motion with a drift."""
    variance, gap = sigma**2 * (t1 - t0), y1 - y0 - mu * (t1 - t0)
    return -0.5 * (math.log(2.0 * math.pi * variance) + gap**2 / variance)


def fitted(start=START, **options):
    return nd.fit.fit_sde(walk, TIMES, VALUES, start, **options)


def loglik(mu, sigma):
    return stats.norm.logpdf(RISES, mu * STEPS, sigma * np.sqrt(STEPS)).sum()


def test_a_conjugate_prior_gives_the_posterior_in_closed_form():
    """A known volatility and a normal prior of the drift: the posterior is normal."""
    sigma, mean, deviation = 0.6, 0.9, 0.15
    result = fitted(fixed={"sigma": sigma}, priors={"mu": ("normal", mean, deviation)})
    precision = STEPS.sum() / sigma**2 + 1.0 / deviation**2
    mode = (RISES.sum() / sigma**2 + mean / deviation**2) / precision
    error = precision**-0.5
    assert result.success
    assert result.params["mu"] == pytest.approx(mode, rel=1e-7)
    # mu starts above zero, so its logarithm is fitted; at the mode the curvature is the same on any scale.
    assert result.problem.unknowns.transforms == ("log",)
    assert result.stderr["mu"] == pytest.approx(error, rel=1e-6)
    profile = result.profile("mu")
    wanted = mode + np.array([-1.0, 1.0]) * stats.norm.ppf(0.975) * error
    assert (profile.low, profile.high) == pytest.approx(tuple(wanted), rel=1e-6)
    assert result.loglik == pytest.approx(loglik(mode, sigma), rel=1e-8)
    assert result.cost == pytest.approx(0.5 * ((mode - mean) / deviation) ** 2 - result.loglik)
    assert np.isnan((result.aic, result.bic)).all()
    text = result.summary()
    assert text.startswith("converged: 1 unknowns, 29 transitions, 1 prior\n")
    assert "AIC" not in text


def minus_log_posterior(p):
    """By densities of SciPy's; that of the log-normal prior is one of the logarithm."""
    priors = stats.norm.logpdf(p[0], 0.9, 0.15) + stats.norm.logpdf(math.log(p[1] / 0.4), 0, 0.12)
    return -loglik(*p) - priors


TRANSFORMS = [
    None,
    "linear",
    "logit",
    {"mu": "linear", "sigma": "logit"},
    {"mu": "logit", "sigma": "linear"},
]


@pytest.mark.parametrize("transforms", TRANSFORMS)
def test_the_mode_is_that_of_scipy_on_any_scale(transforms):
    """Starting on one side of it, with the curvature there by differences on the scale of the fit."""
    result = fitted(priors=PRIORS, transforms=transforms, bounds=BOUNDS)
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000}
    wanted = optimize.minimize(
        minus_log_posterior, (0.5, 0.5), method="Nelder-Mead", options=options
    )
    assert result.success
    np.testing.assert_allclose(result.x, wanted.x, rtol=1e-6)
    assert result.loglik == pytest.approx(loglik(*result.x), rel=1e-12)
    unknowns, width = result.problem.unknowns, 1e-3
    best = unknowns.internal(result.x)

    def cost(*steps):
        return minus_log_posterior(unknowns.natural(best + width * np.array(steps)))

    hessian = np.empty((2, 2))
    hessian[0, 0] = cost(1, 0) - 2.0 * cost(0, 0) + cost(-1, 0)
    hessian[1, 1] = cost(0, 1) - 2.0 * cost(0, 0) + cost(0, -1)
    hessian[0, 1] = hessian[1, 0] = (cost(1, 1) - cost(1, -1) - cost(-1, 1) + cost(-1, -1)) / 4.0
    slopes = (unknowns.natural(best + 1e-6) - unknowns.natural(best - 1e-6)) / 2e-6
    cov = np.linalg.inv(hessian / width**2) * np.outer(slopes, slopes)
    np.testing.assert_allclose(result.cov, cov, rtol=2e-4)
    if transforms == "logit":
        for name, (low, high) in result.interval(0.9999999).items():
            assert BOUNDS[name][0] < low < result.params[name] < high < BOUNDS[name][1]


@pytest.mark.parametrize("transforms", ["logit", {"mu": "linear", "sigma": "log"}])
def test_gradient_and_hessian_are_those_of_the_cost(transforms):
    """Away from the mode, where first derivatives enter the second ones on another scale."""
    problem = fitted(priors=PRIORS, transforms=transforms, bounds=BOUNDS).problem
    x = problem.unknowns.internal([-0.4, 1.1])
    cost, gradient = problem.gradient(x)
    expected = minus_log_posterior([-0.4, 1.1])
    constants = stats.norm.logpdf(0.0, 0, 0.15) + stats.norm.logpdf(0.0, 0, 0.12)
    assert cost == problem.cost(x) == pytest.approx(expected + constants, rel=1e-12)
    hessian = problem.curvature(x)
    for k, step in enumerate(1e-5 * np.eye(2)):
        ends = problem.cost(x + step), problem.cost(x - step)
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-7)
        slopes = problem.gradient(x + step)[1] - problem.gradient(x - step)[1]
        np.testing.assert_allclose(hessian[k], slopes / 2e-5, rtol=1e-7)


def test_transforms_leave_the_maximum_where_it_is():
    """In closed form; and a logit keeps many starts between its bounds."""
    mu = RISES.sum() / STEPS.sum()
    sigma = math.sqrt(((RISES - mu * STEPS) ** 2 / STEPS).mean())
    for transforms in ("linear", "logit", {"sigma": "log"}):
        result = fitted(transforms=transforms, bounds=BOUNDS, starts=3)
        np.testing.assert_allclose(result.x, (mu, sigma), rtol=1e-6)
        errors = sigma / math.sqrt(STEPS.sum()), sigma / math.sqrt(2.0 * len(STEPS))
        np.testing.assert_allclose(list(result.stderr.values()), errors, rtol=1e-5)
    drawn = np.array(
        [fit.start for fit in fitted(transforms="logit", bounds=BOUNDS, starts=4).starts]
    )
    assert ((drawn > [-2.0, 0.01]) & (drawn < [3.0, 5.0])).all()


def test_profiles_end_at_the_same_values_on_any_scale():
    ends = []
    for transforms in ("linear", "logit"):
        profile = fitted(transforms=transforms, bounds=BOUNDS).profile("sigma")
        ends.append((profile.low, profile.high))
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)


def test_a_negative_lower_bound_lets_a_parameter_change_its_sign():
    """From a positive start; without the bound it stays positive, as the docstring says."""
    falling = nd.fit.fit_sde(walk, TIMES, -VALUES, START, bounds={"mu": (-2.0, 2.0)})
    assert falling.params["mu"] == pytest.approx(-RISES.sum() / STEPS.sum(), rel=1e-6)
    assert nd.fit.fit_sde(walk, TIMES, -VALUES, START).params["mu"] > 0.0


def test_a_prior_determines_what_the_data_do_not():
    def density(t0, y0, t1, y1, sigma, idle):
        variance = sigma**2 * (t1 - t0)
        return -0.5 * (math.log(2.0 * math.pi * variance) + (y1 - y0) ** 2 / variance)

    start = {"sigma": 0.5, "idle": 1.0}
    result = nd.fit.fit_sde(density, TIMES, VALUES, start, priors={"idle": ("lognormal", 2.0, 0.3)})
    assert result.params["idle"] == pytest.approx(2.0, rel=1e-6)
    assert result.stderr["idle"] == pytest.approx(2.0 * 0.3, rel=1e-6)
    without = nd.fit.fit_sde(density, TIMES, VALUES, start)
    assert "the data do not determine idle" in without.message
    profile = nd.fit.fit_sde(density, TIMES, VALUES, start, bounds={"idle": (0.5, 3.0)}).profile(
        "idle"
    )
    assert (profile.low, profile.high) == pytest.approx((0.5, 3.0))


def test_a_profile_that_finds_a_better_fit_says_so():
    """Of two maxima the fit ends at the lower one."""

    def density(t0, y0, t1, y1, place):
        return 0.2 * math.exp(-((place - 1.0) ** 2)) + 0.5 * math.exp(-((place - 3.0) ** 2))

    result = nd.fit.fit_sde(density, TIMES, VALUES, {"place": 0.9}, transforms="linear")
    assert result.params["place"] == pytest.approx(1.0, abs=0.2)
    with pytest.raises(ModelError, match="the profile of place found a better fit: cost"):
        result.profile("place", level=0.999)


def test_a_start_below_zero_with_a_log_normal_prior_costs_that_start():
    """The density is that of sigma**2, so it has a value there."""
    bounds = BOUNDS | {"sigma": (-5.0, 5.0)}
    result = fitted(priors=PRIORS, transforms="linear", bounds=bounds, starts=8)
    below = [fit for fit in result.starts if fit.start[1] < 0.0]
    assert below
    assert all(fit.cost == math.inf and not fit.success for fit in below)
    assert f"{len(below)} of 8 starts could not be evaluated" in result.message
    np.testing.assert_allclose(result.x, fitted(priors=PRIORS, bounds=BOUNDS).x, rtol=1e-5)


def test_a_journal_of_other_priors_is_refused(tmp_path):
    kept = tmp_path / "journal"
    given = {"bounds": BOUNDS, "starts": 3, "journal": kept}
    wanted = fitted(priors=PRIORS, **given).to_json()
    assert fitted(priors=PRIORS, **given).to_json() == wanted
    for priors in (None, PRIORS | {"mu": ("normal", 0.9, 0.16)}, {"mu": PRIORS["mu"]}):
        with pytest.raises(DataError, match="belongs to another fit: priors differ"):
            fitted(priors=priors, **given)
    with pytest.raises(DataError, match="belongs to another fit: unknowns differ"):
        fitted(priors=PRIORS, transforms="logit", **given)


def test_a_result_comes_back_from_json():
    result = fitted(priors={"mu": PRIORS["mu"]}, fixed={"sigma": 0.6}, bounds=BOUNDS, starts=2)
    back = DiffusionFit.from_json(result.to_json(), walk)
    assert back.to_json() == result.to_json()
    assert back.summary() == result.summary()
    assert back.profile("mu") == result.profile("mu")
    with pytest.raises(DataError, match="not a result of fit_sde: the density takes kappa"):
        DiffusionFit.from_json(result.to_json(), transitions.vasicek)
    with pytest.raises(DataError, match="not a result of fit_sde"):
        DiffusionFit.from_json("{}", walk)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fixed": ["nu"]}, "fixed: no unknown is called 'nu'; there are mu, sigma"),
        ({"fixed": ["mu", "sigma"]}, "nothing to fit, all is fixed: mu, sigma"),
        ({"fixed": {"mu": "a"}}, "fixed: mu must be a finite number, got 'a'"),
        ({"transforms": {"mu": "sqrt"}}, "mu has 'sqrt'; there are 'linear', 'log', 'logit'"),
        ({"transforms": {"nu": "log"}}, "transforms: no unknown is called 'nu'"),
        ({"transforms": {"mu": "logit"}}, "the logit of mu needs both its bounds, finite"),
        (
            {"transforms": "logit", "bounds": BOUNDS | {"mu": (0.1, 1)}},
            "the logit of mu is infinite at its start",
        ),
        (
            {"transforms": "log", "p0": {"mu": -0.1, "sigma": 1.0}},
            "mu starts at -0.1: start it above zero",
        ),
        ({"priors": {"nu": ("normal", 0, 1)}}, "priors: no unknown is called 'nu'"),
        ({"priors": {"mu": ("cauchy", 0, 1)}}, "there is no prior 'cauchy'; write"),
        ({"priors": {"mu": 0.3}}, r'priors of mu: write \("normal", mean, deviation\)'),
        ({"priors": {"mu": ("normal", 0, 0)}}, "the deviation must be positive"),
        ({"priors": {"mu": ("lognormal", -1, 1)}}, "the median must be positive, not -1"),
        (
            {"priors": {"mu": ("lognormal", 1, 1)}, "p0": {"mu": 0.0, "sigma": 1.0}},
            "mu is log-normal, so positive",
        ),
        ({"priors": [1]}, "priors: expected a dict by name"),
    ],
)
def test_unusable_priors_and_transforms_are_named(options, said):
    with pytest.raises(ModelError, match=said):
        fitted(**{"start": options.pop("p0", START)} | options)


def _seen_through_noise():
    """An Ornstein-Uhlenbeck process, a filter of it, and observations."""
    seen = filters.extended_kalman(
        lambda t, y, rate: (-rate * y[0],),
        lambda t, y, rate: (0.5,),
        mean=(0.0,),
        spread=(1.0,),
        noise=(0.1,),
        dt=0.02,
    )
    return seen, np.arange(6.0), np.array([0.9, 0.5, np.nan, -0.2, 0.3, 0.8])


@pytest.mark.dear
def test_a_filter_tells_the_state_between_observations_and_after_them():
    """Forecasts in closed form."""
    seen, t, y = _seen_through_noise()
    rate = 0.4
    unknowns, priors, *_ = varying(("rate",), (rate,), Freedom((), (), None, None, None), _log)
    one = ObservedSeries(None, *series(t, y), np.array([0]), np.array([rate]))
    problem = LikelihoodProblem(seen, ("rate",), unknowns, priors, {}, (one,))
    result = DiffusionFit(problem, [LocalFit(0, (rate,), (rate,), 1.0, 1, True, "as it stands")])
    at_data = result.filtered()
    assert at_data.mean.shape == (6, 1)
    found = result.filtered([2.5, 4.0, 5.0, 6.5])
    np.testing.assert_allclose(found.mean[1:3], at_data.mean[4:], rtol=1e-12)
    for row, last, since in ((0, 1, 1.5), (3, 5, 1.5)):
        decay = math.exp(-rate * since)
        assert found.mean[row, 0] == pytest.approx(decay * at_data.mean[last, 0], rel=1e-7)
        spread = decay**2 * at_data.cov[last, 0, 0] + 0.125 / rate * (1.0 - decay**2)
        assert found.cov[row, 0, 0] == pytest.approx(spread, rel=1e-7)
    # What is expected of the last one scatters as the state before does, by noise on the way and of seeing.
    decay = math.exp(-rate)
    variance = decay**2 * at_data.cov[4, 0, 0] + 0.125 / rate * (1.0 - decay**2) + 0.01
    gap = (decay * at_data.mean[4, 0] - 0.8) / math.sqrt(variance)
    assert result.residuals[5, 0] == pytest.approx(gap, rel=1e-7)
    with pytest.raises(nd.ArgumentError, match="ts begin before the data, at -1"):
        result.filtered([-1.0, 2.0])
    with pytest.raises(nd.ArgumentError, match="ts are increasing times"):
        result.filtered([1.0, 1.0])
    with pytest.raises(ModelError, match=r"filtered\(ts\) the state"):
        result.band([1.0])


def _log(start, lower):
    return "log"


@pytest.mark.deep
def test_a_fit_by_a_filter_takes_priors():
    """One so narrow that the data hardly move it."""
    seen, t, y = _seen_through_noise()
    result = nd.fit.fit_sde(seen, t, y, {"rate": 0.5}, priors={"rate": ("lognormal", 0.4, 1e-4)})
    assert result.params["rate"] == pytest.approx(0.4, rel=1e-6)
    assert result.stderr["rate"] == pytest.approx(0.4e-4, rel=1e-6)
    assert result.filtered().loglik == pytest.approx(result.loglik, rel=1e-12)
    back = DiffusionFit.from_json(result.to_json(), seen)
    assert back.to_json() == result.to_json()


def test_what_only_a_filter_or_a_curve_has_is_refused():
    result = fitted()
    with pytest.raises(ModelError, match="this fit is by no filter"):
        result.filtered()
    with pytest.raises(ModelError, match="no degrees of freedom"):
        result.residual_std  # noqa: B018


@pytest.mark.deep
def test_predicted_paths_have_the_parameters_of_the_posterior():
    """The drift is uncertain, its posterior normal: so is where a path is later."""
    sigma = 0.05
    result = fitted(
        fixed={"sigma": sigma}, transforms="linear", priors={"mu": ("normal", 0.3, 0.002)}
    )
    solve = nd.sde.solver(
        lambda t, y, mu, sigma: mu, lambda t, y, mu, sigma: sigma, dt=1.0, noise="additive"
    )
    end = 400.0
    band = result.predictive_band(
        [0.0, end], nd.random.key(2), y0=0.0, solve=solve, levels=(0.16, 0.84), draws=4000
    )
    precision = STEPS.sum() / sigma**2 + 1.0 / 0.002**2
    wanted = math.hypot(end * precision**-0.5, sigma * math.sqrt(end))
    width = (band[1, 1, 0] - band[0, 1, 0]) / (stats.norm.ppf(0.84) - stats.norm.ppf(0.16))
    assert width == pytest.approx(wanted, rel=0.05)
