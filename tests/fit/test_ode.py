import math

import numpy as np
import pytest
from scipy.optimize import curve_fit

from numbad.errors import ModelError
from numbad.fit import FitResult, fit_ode

from . import models
from .models import BEST, BEST_COST, COUNTS, FIRST, FIRST_COST, HARE, LYNX, START, YEARS

NAN = math.nan


def fitted(fun=models.predator_prey, t=YEARS, y=COUNTS, p0=START, **options):
    defaults = {"y0": FIRST, "fit_y0": True, "scale": "log"}
    return fit_ode(fun, t, y, p0, **{**defaults, **options})


def close(result, other, rtol=1e-5):
    """Whether two results agree to a fraction of their standard errors."""
    tolerance = rtol * np.array(list(other.stderr.values()))
    np.testing.assert_array_less(np.abs(result.x - other.x), tolerance + 1e-12 * np.abs(other.x))


def test_hare_and_lynx_give_the_reference_values():
    result = fitted()
    assert result.success
    assert list(result.params) == list(BEST)
    for name, (value, deviation) in BEST.items():
        assert result.params[name] == pytest.approx(value, rel=1e-6)
        assert result.stderr[name] == pytest.approx(deviation * value, rel=1e-5)
    assert result.cost == pytest.approx(BEST_COST, rel=1e-8)
    assert result.residual_std == pytest.approx(0.23680, abs=5e-6)
    assert result.degrees == 36
    start = result.problem.evaluate(np.log([*START.values(), *FIRST.values()]))[0]
    assert 0.5 * start @ start == pytest.approx(FIRST_COST, rel=1e-7)


@pytest.mark.parametrize(
    ("fun", "options"),
    [
        pytest.param(models.one_argument, {"p0": list(START.values())}, marks=pytest.mark.deep),
        pytest.param(models.one_argument, {}, marks=pytest.mark.deep),
        (models.by_name, {"y0": models.Animals(**FIRST)}),
        pytest.param(models.any_number, {}, marks=pytest.mark.deep),
        pytest.param(models.arrays, {}, marks=pytest.mark.deep),
        pytest.param(
            models.arrays,
            {"y0": np.array([30.0, 4.0]), "components": ("hare", "lynx")},
            marks=pytest.mark.deep,
        ),
        pytest.param(models.needs_arrays, {}, marks=pytest.mark.deep),
        (models.predator_prey, {"y0": [30, 4], "components": ["hare", "lynx"]}),
        (models.predator_prey, {"p0": dict(reversed(START.items()))}),
        (models.predator_prey, {"y": {"lynx": LYNX, "hare": HARE}}),
        (models.predator_prey, {"y": COUNTS[:, ::-1], "observed": ["lynx", "hare"]}),
        (models.predator_prey, {"bounds": {"growth": (0.1, 2.0)}}),
        (models.predator_prey, {"y0": None, "components": ["hare", "lynx"]}),
    ],
)
def test_the_form_of_the_model_and_of_the_arguments_does_not_matter(fun, options):
    close(fitted(fun, **options), fitted())


@pytest.mark.dear
def test_names_of_unknowns():
    result = fitted(y0=[30.0, 4.0], names=["a", "b", "c", "d"], fit_y0=[1])
    assert list(result.params) == ["a", "b", "c", "d", "y0[1]"]
    result = fitted(models.one_argument, p0=list(START.values()), fit_y0=["lynx"])
    assert list(result.params) == ["p[0]", "p[1]", "p[2]", "p[3]", "lynx(1900)"]


def test_missing_observations_equal_observations_at_other_times():
    y = COUNTS.copy()
    y[[1, 5, 9], 0] = NAN
    y[[2, 9, 20], 1] = NAN
    table = fitted(y=y)
    hare, lynx = ~np.isnan(y).T
    apart = {"hare": (YEARS[hare], HARE[hare]), "lynx": (YEARS[lynx], LYNX[lynx])}
    separate = fitted(t=None, y=apart)
    np.testing.assert_array_equal(table.x, separate.x)
    assert table.degrees == 30
    assert np.isnan(table.residuals).sum() == 6
    np.testing.assert_array_equal(table.residuals[hare, 0], separate.residuals["hare"])


@pytest.mark.dear
def test_what_an_unobserved_component_leaves_open_is_said():
    # Without lynx counts their unit is free: predation and lynx(1900) can be scaled together.
    states = models.scipy_states(models.predator_prey, [34.9, 3.9], YEARS, 0.48, 0.025, 0.93, 0.028)
    result = fitted(y=states[:, 0], observed="hare", scale="log", p0=[0.5, 0.03, 0.9, 0.03])
    assert {n for n, error in result.stderr.items() if np.isinf(error)} == {
        "predation",
        "lynx(1900)",
    }
    assert "the data do not determine predation, lynx(1900)" in result.message
    np.testing.assert_allclose(result.predict(YEARS)[:, 0], states[:, 0], rtol=1e-5)
    # It is left where it starts, to the order of size: nothing is known of it.
    assert result.success
    assert 0.02 < result.params["predation"] < 0.05
    low, high = result.band(YEARS)
    assert np.isfinite(high[:, 0]).all()
    assert np.isinf(high[:, 1]).all()
    assert (low[:, 1] == 0.0).all()
    again = fitted(
        y=states[:, 0], observed="hare", scale="log", p0=[0.5, 0.03, 0.9, 0.03],
        y0={"hare": 34.0, "lynx": 3.9}, fit_y0=["hare"],
    )  # fmt: skip
    np.testing.assert_allclose(again.predict(YEARS), states, rtol=1e-5)


def test_agrees_with_curve_fit_on_a_closed_form():
    t = np.linspace(0.5, 4.0, 12)
    y = 3.0 * np.exp(-0.8 * t) + 0.05 * np.cos(9.0 * t)
    sigma = np.linspace(0.1, 0.2, 12)
    options = {"sigma": sigma, "absolute_sigma": True}
    wanted, cov = curve_fit(lambda t, k, a: a * np.exp(-k * t), t, y, (1.0, 2.0), **options)
    result = fit_ode(models.decay, t, y, 1.0, y0=2.0, t0=0.0, fit_y0=True, **options)
    assert list(result.params) == ["rate", "y0[0]"]
    np.testing.assert_allclose(result.x, wanted, rtol=1e-6)
    np.testing.assert_allclose(result.cov, cov, rtol=1e-4)


@pytest.mark.parametrize("unit", [1e-7, 1e-13])
def test_the_unit_of_the_data_does_not_matter(unit):
    """Amounts in mol, of which the tolerance of errors was a million times the largest."""
    t = np.linspace(0.5, 4.0, 12)
    y = 3.0 * np.exp(-0.8 * t) + 0.05 * np.cos(9.0 * t)
    known = {"t0": 0.0, "fit_y0": True, "method": "Rodas5P", "rtol": 1e-6}
    wanted = fit_ode(models.decay, t, y, 1.0, y0=2.0, atol=1e-8, **known)
    result = fit_ode(models.decay, t, unit * y, 1.0, y0=2.0 * unit, **known)
    np.testing.assert_allclose(result.x, wanted.x * [1.0, unit], rtol=1e-5)
    np.testing.assert_allclose(result.cov[0, 0], wanted.cov[0, 0], rtol=1e-4)


def test_a_fixed_initial_value_from_the_data_is_no_observation():
    t = np.linspace(0.0, 4.0, 12)
    y = 3.0 * np.exp(-0.8 * t) + 0.05 * np.cos(9.0 * t)
    result = fit_ode(models.decay, t, y, 1.0)
    assert result.degrees == 10
    assert np.isnan(result.residuals[0])
    wanted, cov = curve_fit(lambda t, k: y[0] * np.exp(-k * t), t[1:], y[1:], 1.0)
    np.testing.assert_allclose(result.x, wanted, rtol=1e-6)
    np.testing.assert_allclose(result.cov, cov, rtol=1e-4)


def test_a_robust_loss_resists_an_outlier():
    y = COUNTS.copy()
    y[4, 0] *= 20.0
    moved = {}
    for loss in ("linear", "soft_l1"):
        clean, spoilt = (fitted(y=table, loss=loss, f_scale=0.2) for table in (COUNTS, y))
        difference = spoilt.params["growth"] - clean.params["growth"]
        moved[loss] = abs(difference) / clean.stderr["growth"]
    assert moved["soft_l1"] < 0.5 < 2.0 < moved["linear"]


def many_rates(t, y, rates):
    slope = np.empty(len(y))
    for i in range(len(y)):
        slope[i] = -rates[i] * y[i]
    return slope


@pytest.mark.deep
@pytest.mark.parametrize("count", [16, 17])
def test_many_unknowns(count):
    rates = np.linspace(0.3, 2.0, count)
    t = np.linspace(0.0, 2.0, 9)
    y = np.exp(-rates * t[:, None])
    result = fit_ode(many_rates, t, y, np.full(count, 1.0), y0=np.ones(count))
    np.testing.assert_allclose(result.x, rates, rtol=1e-6)


def explosive(t, y, rate):
    return (rate * y[0] ** 2,)


@pytest.mark.parametrize("bounds", [None, {"rate": (1e-6, 50.0)}])
def test_trial_steps_into_a_blow_up_do_not_end_the_fit(bounds):
    # y = 1 / (1 / y0 - rate t) exists up to t = 1 for rate y0 < 1 only.
    t = np.linspace(0.0, 1.0, 11)
    y = 1.0 / (1.0 - 0.97 * t)
    result = fit_ode(explosive, t, y, 0.02, y0=1.0, bounds=bounds)
    assert result.success
    assert result.params["rate"] == pytest.approx(0.97, rel=1e-5)


def test_a_start_in_a_blow_up_is_an_error_that_names_it():
    t = np.linspace(0.0, 1.0, 11)
    with pytest.raises(ModelError, match=r"cannot be evaluated at the start \(rate = 3\): "):
        fit_ode(explosive, t, 1.0 + t, 3.0, y0=1.0)


def test_a_fit_that_runs_out_of_evaluations_says_so():
    result = fitted(max_nfev=3)
    assert not result.success
    assert "maximum number of function evaluations" in result.message
    assert result.summary().startswith("NOT CONVERGED")
    assert np.isfinite(result.x).all()


@pytest.mark.dear
def test_initial_values_alone_can_be_fitted():
    t = np.linspace(0.0, 1.0, 5)
    result = fit_ode(lambda t, y: (-y[0],), t, 2.0 * np.exp(-t), [], fit_y0=True)
    assert result.params == {"y0[0]": pytest.approx(2.0, rel=1e-7)}


def decay_and_total(t, y, rate):
    """The second component is the sum of what there was, an algebraic equation."""
    return -rate * y[0], y[0] + y[1] - 2.0


@pytest.mark.dear
def test_options_of_the_solver_are_passed_on():
    t = np.linspace(0.0, 2.0, 9)
    y = 2.0 * np.exp(-0.7 * t)
    options = {"mass_matrix": np.diag([1.0, 0.0]), "method": "Rodas5P", "atol": [1e-9, 1e-8]}
    result = fit_ode(decay_and_total, t, 2.0 - y, 0.5, y0=[2.0, 0.0], observed=1, **options)
    assert result.params["rate"] == pytest.approx(0.7, rel=1e-6)
    solving = result.problem.solving
    assert (solving.mass_matrix, solving.atol) == (((1.0, 0.0), (0.0, 0.0)), (1e-9, 1e-8))
    assert FitResult.from_json(result.to_json(), decay_and_total).problem.solving == solving
    with pytest.raises(ModelError, match="atol must be a number, positive; got -1"):
        fit_ode(models.decay, t, y, 0.5, y0=[2.0], atol=[-1.0])
