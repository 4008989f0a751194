"""Quantiles of predicted paths: against exact laws, mixed over that of the estimates by quadrature."""

import math
import re

import numpy as np
import pytest
from scipy import optimize, stats

import numbad as nd
from numbad.errors import ArgumentError, ModelError, NumbadWarning
from numbad.fit.uncertainty import from_hessian
from numbad.sde import transitions
from numbad.sde.equations import equation_of

KEY = nd.random.key(3)
SIGMA, Y0, LEVELS = 0.5, 2.0, (0.05, 0.25, 0.5, 0.9)
TS = (10.0, 10.4, 11.5, 14.0)


def own_density(t0, y0, t1, y1, kappa, theta, sigma):
    return transitions.vasicek(t0, y0, t1, y1, kappa, theta, sigma)


def drift(t, y, kappa, theta, sigma):
    return kappa * (theta - y)


def diffusion(t, y, kappa, theta, sigma):
    return sigma


def bare_root(t, y, kappa, theta, sigma):
    return sigma * math.sqrt(y)


@pytest.fixture(scope="module")
def series():
    """A path of dy = 0.8 (0.3 - y) dt + 0.5 dW, drawn exactly."""
    rng, t = np.random.default_rng(5), np.linspace(0.0, 10.0, 41)
    decay = math.exp(-0.8 * 0.25)
    y = [0.9]
    for _ in t[1:]:
        spread = SIGMA * math.sqrt((1.0 - decay**2) / 1.6)
        y.append(0.3 + (y[-1] - 0.3) * decay + spread * rng.normal())
    return t, np.array(y)


def fit_of(series, density, **options):
    """kappa on the log scale, theta on the linear one, sigma held."""
    start = {"kappa": 1.0, "theta": 0.2, "sigma": SIGMA}
    options = {"fixed": ["sigma"], "transforms": {"theta": "linear"}} | options
    return nd.fit.fit_sde(density, *series, start, **options)


@pytest.fixture(scope="module")
def fit(series):
    return fit_of(series, own_density)


@pytest.fixture(scope="module")
def solve():
    """The default for a fit by `vasicek`, so that it is compiled once."""
    return equation_of(transitions.vasicek).solver(0.25 / 20)


def law(kappa, theta, elapsed, theta_variance=0.0, start=Y0, sigma=SIGMA):
    """The exact law after some time; theta may be normal about its mean."""
    lost = -np.expm1(-kappa * elapsed)
    variance = sigma**2 * -np.expm1(-2.0 * kappa * elapsed) / (2.0 * kappa)
    return stats.norm(
        start * (1.0 - lost) + theta * lost, np.sqrt(variance + lost**2 * theta_variance)
    )


def below(x, weights, each, level):
    return weights @ each.cdf(x) - level


def check(band, mixtures, paths, spread=1.0):
    """`mixtures`: (weights, law) for each time after the first. Within 4 errors of so many paths."""
    assert band.shape == (len(LEVELS), len(TS), 1)
    assert (band[:, 0] == Y0).all()
    for found, (weights, each) in zip(band[:, 1:, 0].T, mixtures, strict=True):
        for level, quantile in zip(LEVELS, found, strict=True):
            exact = optimize.brentq(below, -9.0, 9.0, args=(weights, each, level))
            error = math.sqrt(level * (1.0 - level) / paths) / (weights @ each.pdf(exact))
            assert abs(quantile - exact) < 4.0 * spread * error


def test_paths_at_the_estimates_have_the_exact_quantiles(fit, solve):
    band = fit.predictive_band(TS, KEY, y0=Y0, solve=solve, levels=LEVELS, paths=40_000, draws=None)
    one = np.ones(1)
    laws = [law(*(np.array([v]) for v in fit.x), t - TS[0]) for t in TS[1:]]
    check(band, [(one, each) for each in laws], 40_000)


def test_paths_of_drawn_parameters_have_the_quantiles_of_the_mixture(fit, solve):
    """Over kappa by Gauss's rule; given kappa, theta is normal, and so is the path."""
    band = fit.predictive_band(TS, KEY, y0=Y0, solve=solve, levels=LEVELS, paths=16_000, draws=4000)
    (kappa, theta), cov = fit.x, fit.cov
    slope = cov[0, 1] / cov[0, 0]
    assert abs(fit.correlation[0, 1]) > 0.1
    assert fit.stderr["theta"] > 0.1
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    off = nodes * fit.stderr["kappa"]  # of the logarithm, times kappa
    given = (
        kappa * np.exp(off / kappa),
        theta + slope * off,
    )
    rest = cov[1, 1] - slope * cov[0, 1]
    mixtures = [(weights / weights.sum(), law(*given, t - TS[0], rest)) for t in TS[1:]]
    check(band, mixtures, 16_000, spread=math.sqrt(2.0))  # four paths share a draw


def test_the_equation_of_known_densities_is_the_default(series, fit):
    """From the last observation on; the parameter that is held is the first one."""
    known = fit_of(series, transitions.vasicek, fixed={"kappa": 1.1})
    ts, options = series[0][-1] + np.array([0.0, 1.0]), {"paths": 4000, "levels": LEVELS}
    band = known.predictive_band(ts, KEY, draws=None, **options)
    assert (band[:, 0, 0] == series[1][-1]).all()
    theta, sigma = known.x
    exact = law(1.1, theta, 1.0, start=series[1][-1], sigma=sigma)
    for level, found in zip(LEVELS, band[:, 1, 0], strict=True):
        error = math.sqrt(level * (1.0 - level) / 4000) / exact.pdf(exact.ppf(level))
        assert abs(found - exact.ppf(level)) < 4.0 * error
    again = known.predictive_band(ts, KEY, draws=None, **options)
    np.testing.assert_array_equal(again, band)
    other = known.predictive_band(ts, nd.random.key(4), draws=None, **options)
    assert 0.0 < abs(other - band).max() < 0.1
    with pytest.raises(ArgumentError, match=r"does not know drift.*\(t, y, kappa, theta, sigma\)"):
        fit.predictive_band(ts, KEY)


def test_a_picture_without_uncertainty_says_so(series):
    held = {"fixed": {"kappa": 1.1}, "bounds": {"theta": (0.1, None)}}
    at = fit_of(series, transitions.vasicek, **held)
    told = "ahead is that of the estimates, without their uncertainty: .*at a bound .*theta"
    with pytest.warns(NumbadWarning, match=told):
        panel = at.plot(ahead=1.0).axes[0]
    ts = panel.lines[1].get_xdata()
    band = at.predictive_band(ts, nd.random.key(0), draws=None)
    np.testing.assert_array_equal(panel.lines[1].get_ydata(), band[1, :, 0])


def test_equations_are_those_of_their_densities():
    """The rate of mean and variance of a density over a short time."""
    h, y = 1e-4, np.linspace(-6.0, 6.0, 4001)
    given = {"vasicek": (0.8, 1.2, 0.5), "cir": (0.8, 1.2, 0.5), "gbm": (0.7, 0.5)}
    given["euler"] = given["vasicek"]
    for name, args in given.items():
        density = getattr(transitions, name)
        density = density(drift, diffusion) if name == "euler" else density
        equation = equation_of(density)
        pace = equation.diffusion(0.0, 0.9, *args)
        x = 0.9 + pace * math.sqrt(h) * y
        weights = np.exp([density(0.0, 0.9, h, end, *args) for end in x]) * (x[1] - x[0])
        assert weights.sum() == pytest.approx(1.0, abs=1e-3)
        mean = weights @ (x - 0.9)
        assert mean / h == pytest.approx(equation.drift(0.0, 0.9, *args), rel=2e-3)
        assert weights @ (x - 0.9) ** 2 / h == pytest.approx(pace**2, rel=2e-3)
    assert equation_of(transitions.cir).lowest == 0.0
    assert equation_of(own_density) is None
    assert equation_of({}) is None


@pytest.mark.deep
def test_a_square_root_does_not_fall_below_zero(series):
    """The default of `cir`; means of paths are theta + (y0 - theta) exp(-kappa t)."""
    equation = equation_of(transitions.cir)
    solve = equation.solver(0.01)
    ends = nd.sde.ensemble(solve, 0.1, (0.0, 1.0), (0.8, 0.3, 0.9), KEY, 20_000)[:, -1, 0]
    mean = 0.3 - 0.2 * math.exp(-0.8)
    assert np.isfinite(ends).all()
    assert abs(np.maximum(ends, 0.0).mean() - mean) < 4.0 * ends.std() / math.sqrt(20_000) + 0.005


@pytest.mark.dear
def test_lost_paths_and_draws_are_counted(series, fit):
    solve = nd.sde.solver(drift, bare_root, dt=0.05)
    ts, options = (10.0, 10.4, 11.0), {"y0": 0.4, "solve": solve, "paths": 2000}
    told = (
        r"(\d+) of 2000 paths, of (\d+) of 100 draws, the first with kappa=.* sigma=0.5, end in NaN"
    )
    with pytest.warns(NumbadWarning, match=told) as caught:
        band = fit.predictive_band(ts, KEY, draws=100, **options)
    assert np.isfinite(band).all()
    assert caught[0].filename == __file__
    assert 0 < int(re.search(told, str(caught[0].message)).group(1)) < 2000
    with pytest.warns(NumbadWarning, match=r"\d+ of 2000 paths with kappa=1.10"):
        band = fit.predictive_band(ts, KEY, draws=None, **options)
    # The band is that of the paths that stay finite, before others are lost, too.
    found = nd.sde.ensemble(solve, 0.4, ts, (*fit.x.tolist(), SIGMA), nd.random.key(8), 2000)
    whole = found[np.isfinite(found).all(axis=(1, 2))]
    assert abs(np.median(whole[:, 1]) - band[1, 1]) < 0.02
    assert abs(np.nanmedian(found[:, 1]) - band[1, 1]) > 0.02
    with pytest.raises(ModelError, match="no path stays finite"):
        fit.predictive_band(TS, KEY, draws=100, **options | {"y0": -1.0})


def test_draws_outside_the_bounds_are_counted(series, fit, solve):
    kappa, error = fit.params["kappa"], fit.stderr["kappa"] / fit.params["kappa"]
    near = {"kappa": (kappa * math.exp(-0.5 * error), None)}
    bounded = fit_of(series, own_density, bounds=near)
    with pytest.warns(NumbadWarning, match=r"\d+ of 2000 draws .* outside the bounds") as caught:
        bounded.predictive_band(TS, KEY, y0=Y0, solve=solve, paths=2000, draws=2000)
    outside = int(str(caught[0].message).split()[0])
    chance = stats.norm.cdf(-0.5)
    assert abs(outside - 2000 * chance) < 4.0 * math.sqrt(2000 * chance * (1.0 - chance))


def test_estimates_without_a_normal_law_are_refused(series, fit, solve):
    options = {"y0": Y0, "solve": solve, "paths": 100}
    at = fit_of(series, own_density, bounds={"kappa": (None, 1.05)})
    with pytest.raises(ModelError, match=r"at a bound .*kappa; hold them with fixed=.*draws=None"):
        at.predictive_band(TS, KEY, draws=10, **options)
    assert np.isfinite(at.predictive_band(TS, KEY, draws=None, **options)).all()
    with pytest.raises(ArgumentError, match="ahead= is for fits by densities of numbad"):
        at.plot(ahead=1.0)
    loose = fit_of(series, own_density)
    loose._uncertainty = from_hessian(np.diag([0.0, 4.0]))  # flat along kappa
    with pytest.raises(ModelError, match=r"do not determine kappa, .*draws=None"):
        loose.predictive_band(TS, KEY, draws=10, **options)


@pytest.mark.deep
def test_states_of_several_components(fit):
    """The process and its integral, whose law is normal."""

    def drift_of_both(t, y, kappa, theta, sigma):
        return kappa * (theta - y[0]), y[0]

    def diffusion_of_both(t, y, kappa, theta, sigma):
        return sigma, 0.0

    solve = nd.sde.solver(drift_of_both, diffusion_of_both, noise="additive", method="SRA1", dt=0.1)
    band = fit.predictive_band(
        (0.0, 2.0), KEY, y0=(Y0, 0.0), solve=solve, levels=LEVELS, draws=None
    )
    assert band.shape == (len(LEVELS), 2, 2)
    kappa, theta = fit.x
    lost = -math.expm1(-2.0 * kappa)
    mean = 2.0 * theta + (Y0 - theta) * lost / kappa
    variance = 2.0 - 2.0 * lost / kappa - math.expm1(-4.0 * kappa) / (2.0 * kappa)
    integral = stats.norm(mean, SIGMA / kappa * math.sqrt(variance))
    for level, found in zip(LEVELS, band[:, 1, 1], strict=True):
        exact = integral.ppf(level)
        error = math.sqrt(level * (1.0 - level) / 10_000) / integral.pdf(exact)
        assert abs(found - exact) < 4.0 * error


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"ts": (1.0, 0.0)}, "increasing times"),
        ({"ts": ()}, "increasing times"),
        ({"levels": (5.0, 95.0)}, "between 0 and 1"),
        ({"levels": 0.5}, "sequence of numbers"),
        ({"paths": 10.0}, "an int"),
        ({"draws": 0}, "one path or more for each draw"),
        ({"paths": 10, "draws": 11}, "one path or more for each draw"),
        ({"solve": drift}, "nd.sde.solver returned"),
        ({"key": 3}, "takes a key"),
        ({"y0": None, "ts": (10.1, 11.0)}, "nothing was observed .* the last of which is at 10.0"),
    ],
)
def test_wrong_arguments_are_named(fit, solve, wrong, told):
    options = {"ts": TS, "key": KEY, "y0": Y0, "solve": solve} | wrong
    with pytest.raises(ArgumentError, match=told):
        fit.predictive_band(**options)


def test_a_curve_is_refused_with_the_way_out(fit):
    with pytest.raises(ModelError, match=r"predictive_band\(ts, key\)"):
        fit.band([11.0])
