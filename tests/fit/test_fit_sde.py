"""Maximum likelihood of SDEs: densities in closed form, the bill rate's known answers, refusals."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import numbad as nd
from numbad.data import load_us_tbill
from numbad.errors import ArgumentError, ModelError
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


# Order or argument of the Bessel function above 1000: initial and final rate, time, parameters; the log
# density and its slopes by kappa, theta, sigma and the initial rate (mpmath, 40 digits).
_LARGE = [
    (
        (0.05, 0.052, 0.25, 0.001, 0.0001, 0.02),
        4.7572979628823047,
        (-5.0217003013869, 0.10112760973511, -10.298331727162, 403.57473412844),
    ),
    (
        (0.05, 0.052, 0.25, 0.04, 0.5, 0.0185),
        4.5707466153296756,
        (-62.821417867315, -5.6076969823663, 22.703808310901, -556.08840090372),
    ),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("case", "value", "slopes"), _LARGE)
def test_the_cir_density_far_out(case, value, slopes, mode):
    y0, y1, dt, *parameters = case
    found, gradient = nd.value_and_grad(transitions.cir, (4, 5, 6, 1), mode=mode)(
        0.0, y0, dt, y1, *parameters
    )
    assert found == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-11)


def test_the_cir_density_of_hardly_any_noise_is_normal():
    """And needs no series of millions of terms."""
    sigma, dt, y0 = 1e-5, 0.25, 0.05
    mean, decay = y0 * math.exp(-0.5 * dt) + 0.06 * -math.expm1(-0.5 * dt), math.exp(-0.5 * dt)
    variance = y0 * sigma**2 / 0.5 * (decay - decay**2) + 0.06 * sigma**2 * (1 - decay) ** 2
    y1 = mean + 0.7 * math.sqrt(variance)
    exact = stats.norm(mean, math.sqrt(variance)).logpdf(y1)
    found = transitions.cir(0.0, y0, dt, y1, 0.5, 0.06, sigma)
    assert found == pytest.approx(exact, abs=1e-4)


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


@pytest.mark.dear
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


def _square_root(make):
    return make(
        lambda t, y, kappa, theta, sigma: kappa * (theta - y),
        lambda t, y, kappa, theta, sigma: sigma * math.sqrt(y),
    )


@pytest.mark.dear
def test_the_expansion_of_ait_sahalia():
    """Its error falls with the square of the time; slopes, too; no way at all between the ends."""
    density, at = _square_root(transitions.ait_sahalia), (0.5, 0.06, 0.15)
    errors = []
    for dt in (0.25, 0.125, 0.0625):
        given = 0.0, 0.05, dt, 0.05 + 0.12 * math.sqrt(0.05 * dt), *at
        errors.append(density(*given) - transitions.cir(*given))
    assert abs(errors[0]) < 1e-3
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)
    slopes = [
        nd.grad(f, (4, 5, 6), mode="forward")(0.0, 0.05, 0.05, 0.06, *at)
        for f in (density, transitions.cir)
    ]
    np.testing.assert_allclose(*slopes, rtol=1e-3, atol=1e-3)
    still = 0.0, 0.05, 0.01, 0.05, *at
    assert density(*still) == pytest.approx(transitions.cir(*still), abs=1e-5)


@pytest.mark.deep
def test_the_bill_rate_by_the_expansion():
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.05}
    result = nd.fit.fit_sde(_square_root(transitions.ait_sahalia), YEARS, RATE, start)
    loglik, estimates, _ = _KNOWN["cir"]
    assert result.success
    assert result.loglik == pytest.approx(loglik, abs=0.01)
    np.testing.assert_allclose(result.x, estimates, rtol=0.03)


@pytest.mark.dear
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
        ({"y": [0.1, 0.2]}, nd.DataError, "one entry for each observation"),
        ({"t": [0.0, 1.0, 1.0]}, nd.DataError, "increase strictly, which it does not at entry 2"),
        ({"y": [0.1, math.nan, 0.3]}, nd.DataError, "which entry 1 is not"),
        (
            {"density": transitions.cir, "y": [0.1, -0.2, 0.3]},
            nd.ModelError,
            r"log-likelihood at the start is .*from y = 0.1 to -0.2, t = 0 to 1, entries 0 and 1",
        ),
        ({"y": np.ones((3, 2))}, nd.DataError, "of one number, and y has 2 columns; .*a filter"),
        (
            {"p0": {"kappa": 1.0, "theta": 0.5, "sigma": 1e-80}},
            nd.ModelError,
            "start is finite, but not its derivative by 'kappa'",
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


def test_a_column_is_a_series():
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
    fits = [nd.fit.fit_sde(transitions.vasicek, YEARS, y, start) for y in (RATE, RATE[:, None])]
    assert fits[0].params == fits[1].params


@pytest.mark.dear
def test_a_result_is_printed_drawn_and_kept(tmp_path):
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
    result = nd.fit.fit_sde(transitions.vasicek, YEARS, RATE, start, fixed=["theta"])
    text = result.summary()
    assert text.startswith("converged: 2 unknowns, 202 transitions\n")
    assert f"{result.stderr['sigma']:#.3g}" in text
    assert "theta" in text.split("fixed")[0].splitlines()[-1]
    stored = json.loads(result.to_json())
    assert stored["loglik"] == result.loglik
    assert stored["fixed"] == {"theta": 0.05}
    figure = result.plot(title="bill", xlabel="year", labels=["rate"])
    series, kappa, sigma = figure.axes
    assert (series.get_title(loc="left"), series.get_ylabel(), series.get_xlabel()) == (
        "bill",
        "rate",
        "year",
    )
    np.testing.assert_array_equal(series.lines[0].get_ydata(), RATE)
    assert (kappa.get_xlabel(), sigma.get_xlabel()) == ("kappa", "sigma")
    drawn, bound = sigma.lines  # the profile crosses its bound where `profile` says
    crossings = np.interp(bound.get_ydata()[0], drawn.get_ydata()[-3:], drawn.get_xdata()[-3:])
    assert crossings == pytest.approx(result.profile("sigma").high, rel=1e-2)
    assert result.plot(tmp_path / "bill.png").stat().st_size > 1000
    ahead = result.plot(ahead=2.0).axes[0]
    median = ahead.lines[1].get_xydata()
    assert tuple(median[0]) == (YEARS[-1], RATE[-1])
    assert median[-1, 0] == YEARS[-1] + 2.0
    band = result.predictive_band(median[:, 0], nd.random.key(0))
    np.testing.assert_array_equal(median[:, 1], band[1, :, 0])
    drawn = ahead.collections[0].get_paths()[0].vertices[:, 1]
    assert (drawn.min(), drawn.max()) == (band[0].min(), band[2].max())
    with pytest.raises(ArgumentError, match="time after the last observation"):
        result.plot(ahead=-1.0)
    with pytest.raises(ModelError, match="labels must be a list of 1 names"):
        result.plot(labels=["a", "b"])


def test_the_euler_density_takes_parameters_by_name():
    """Whatever the order of p0."""

    def drift(t, y, theta, kappa):
        return kappa * (theta - y)

    def diffusion(t, y, theta, kappa):
        return 0.02

    density = transitions.euler(drift, diffusion)
    results = [
        nd.fit.fit_sde(density, YEARS, RATE, start)
        for start in ({"kappa": 0.2, "theta": 0.05}, {"theta": 0.05, "kappa": 0.2})
    ]
    assert results[0].params == results[1].params
    with pytest.raises(ArgumentError, match="the density takes theta, kappa; p0 gives kappa"):
        nd.fit.fit_sde(density, YEARS, RATE, {"kappa": 0.2})
    with pytest.raises(ArgumentError, match=r"\(t0, y0, t1, y1\)\. Of a drift.*transitions\.euler"):
        nd.fit.fit_sde(drift, YEARS, RATE, {"kappa": 0.2, "theta": 0.05})
    with pytest.raises(ArgumentError, match="in one order, not theta, kappa and kappa, theta"):
        transitions.euler(drift, lambda t, y, kappa, theta: 0.02)


@pytest.mark.parametrize("start", [0.5, 1e-3])
def test_a_step_to_where_there_is_no_likelihood(start):
    """It is NaN there, and so is its Hessian; the maximum, 3 = 0.0005 / sqrt(0.8 - k), lies just before."""

    def density(t0, y0, t1, y1, k):
        return 3.0 * k + 1e-3 * math.sqrt(0.8 - k)

    result = nd.fit.fit_sde(density, YEARS, RATE, {"k": start})
    assert result.success
    assert 0.8 - result.params["k"] == pytest.approx((0.0005 / 3.0) ** 2, rel=1e-3)


def test_a_search_that_rounding_ends_has_converged():
    """Brownian motion with a drift: estimates in closed form, one of them 400 times the other's scale."""

    def density(t0, y0, t1, y1, mu, sigma):
        variance = sigma**2 * (t1 - t0)
        return (
            -0.5 * math.log(2.0 * math.pi * variance)
            - 0.5 * (y1 - y0 - mu * (t1 - t0)) ** 2 / variance
        )

    result = nd.fit.fit_sde(density, YEARS, RATE, {"mu": 0.0, "sigma": 0.05})
    steps, rises = np.diff(YEARS), np.diff(RATE)
    mu = rises.sum() / steps.sum()
    sigma = math.sqrt(((rises - mu * steps) ** 2 / steps).mean())
    assert result.success
    np.testing.assert_allclose(result.x, (mu, sigma), rtol=1e-7)
    errors = sigma / math.sqrt(steps.sum()), sigma / math.sqrt(2.0 * len(steps))
    np.testing.assert_allclose(list(result.stderr.values()), errors, rtol=1e-6)


@pytest.mark.parametrize(
    ("drift", "diffusion", "message"),
    [
        (lambda t, y, k: -k * nothing, lambda t, y, k: k, "name 'nothing' is not defined"),  # noqa: F821
        (
            lambda t, y, k: (-k * y,),
            lambda t, y, k: k,
            "drift returns .* such a density is that",
        ),
        (lambda t, y, k: -k * y, lambda t, y: 1.0, r"test_fit_sde.py\", line"),
    ],
)
def test_functions_that_do_not_suit_the_euler_density(drift, diffusion, message):
    with pytest.raises(ModelError, match=message):
        transitions.euler(drift, diffusion)


def test_a_density_that_numba_cannot_compile_or_that_is_no_number():
    with pytest.raises(ModelError, match="the density must return a number, its logarithm, not"):
        nd.fit.fit_sde(lambda t0, y0, t1, y1, k: (y1, k), YEARS, RATE, {"k": 1.0})
    with pytest.raises(ModelError, match=r"Numba cannot compile <lambda>.*\n.*\n.*'nothing'"):
        nd.fit.fit_sde(lambda t0, y0, t1, y1, k: nothing, YEARS, RATE, {"k": 1.0})  # noqa: F821


def test_a_parameter_that_the_data_do_not_determine():
    def density(t0, y0, t1, y1, sigma, idle):
        variance = sigma**2 * (t1 - t0)
        return -0.5 * math.log(2.0 * math.pi * variance) - 0.5 * (y1 - y0) ** 2 / variance

    result = nd.fit.fit_sde(density, YEARS, RATE, {"sigma": 0.05, "idle": 1.0})
    assert result.stderr["idle"] == math.inf
    profile = result.profile("idle")
    assert (profile.low, profile.high) == (0.0, math.inf)
    assert result.profile("sigma").high < 2.0 * result.params["sigma"]
    assert len(result.plot().axes) == 3
