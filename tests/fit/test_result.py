import json
import math
import sys

import numba
import numpy as np
import pytest
from numba.core import event

from numbad.errors import DataError, ModelError
from numbad.fit import FitResult

from . import models
from .closed_form import decaying
from .models import BEST, COUNTS, YEARS
from .test_ode import fitted
from .test_uncertainty import result as closed_form_result


@pytest.fixture(scope="module")
def result():
    return fitted()


SUMMARY = """\
converged: 6 unknowns, 42 observations, log scale

            estimate  std. error  95 % interval
growth       0.54016      0.0595  0.43203 to 0.67534
predation   0.027165     0.00384  0.020390 to 0.036193
death        0.79639      0.0839  0.64325 to 0.98598
conversion  0.023695     0.00329  0.017885 to 0.031391
hare(1900)    34.602        2.93  29.143 to 41.084
lynx(1900)    5.8445       0.479  4.9490 to 6.9021

residual standard deviation 0.23680 on 36 degrees of freedom, cost 1.00933, """


def test_summary_is_a_table_with_the_published_numbers(result):
    assert result.summary().startswith(SUMMARY)
    assert repr(result) == str(result) == result.summary()


def test_the_interval_is_symmetric_in_the_logarithm_by_students_t(result):
    for name, (low, high) in result.interval().items():
        value, deviation = BEST[name]
        assert math.log(high / value) == pytest.approx(2.0280940 * deviation, rel=1e-5)
        assert math.log(value / low) == pytest.approx(2.0280940 * deviation, rel=1e-5)


@pytest.mark.dear
def test_predict_takes_any_times_in_any_order(result):
    t = np.array([1903.5, 1900.0, 1925.0, 1903.5])
    states = result.predict(t)
    wanted = models.scipy_states(
        models.predator_prey, result.x[4:], [1900.0, 1903.5, 1925.0], *result.x[:4]
    )
    np.testing.assert_allclose(states, wanted[[1, 0, 2, 1]], rtol=1e-6)
    np.testing.assert_allclose(result.predict(1903.5), states[0], rtol=1e-7)
    assert result.predict(1903.5).shape == (2,)
    assert result.predict([]).shape == (0, 2)


def test_predict_refuses_times_before_the_start(result):
    with pytest.raises(DataError, match="predictions start at the initial time, 1900"):
        result.predict([1899.0])
    with pytest.raises(DataError, match="predictions start"):
        result.predict([math.nan])


def test_the_band_is_the_scatter_of_predictions_over_the_estimates(result):
    t = np.array([1900.0, 1904.2, 1912.0, 1920.0])
    low, high = result.band(t, level=0.6827)
    factor = result._half_width(0.6827)
    half = np.log(high / low) / (2.0 * factor)
    np.testing.assert_allclose(np.sqrt(high * low), result.predict(t), rtol=1e-12)
    random = np.random.default_rng(5)
    small = 1e-2  # within a fraction of a standard error the model is linear
    draws = random.multivariate_normal(np.log(result.x), small**2 * result._uncertainty.cov, 400)
    states = np.array([result.problem.curve(np.exp(draw), t)[0] for draw in draws])
    np.testing.assert_allclose(half, np.std(np.log(states), axis=0) / small, rtol=0.12)


def test_profiles_hold_the_reference_optimum(result):
    profile = result.profile("growth")
    assert profile.low < BEST["growth"][0] < profile.high
    assert (profile.low, profile.high) == pytest.approx((0.42889, 0.67214), abs=2e-5)
    assert "95 % profile interval 0.42889 to 0.67214" in repr(profile)


def test_json_is_strict_and_comes_back_the_same(result):
    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    text = result.to_json()
    stored = json.loads(text, parse_constant=refuse)
    assert stored["params"] == result.params
    assert stored["stderr"] == result.stderr
    np.testing.assert_array_equal(stored["residuals"], result.residuals)
    back = FitResult.from_json(text, models.predator_prey)
    assert back.to_json() == text
    t = np.linspace(1900.0, 1920.0, 7)
    np.testing.assert_array_equal(back.predict(t), result.predict(t))
    assert back.profile("death") == result.profile("death")


@pytest.mark.dear
def test_json_of_awkward_results():
    y = COUNTS.copy()
    y[3, 0] = math.nan
    apart = {"hare": (YEARS, y[:, 0]), "lynx": (YEARS, y[:, 1])}
    named = fitted(
        models.by_name, t=None, y=apart, y0=models.Animals(30.0, 4.0), fit_y0=["lynx"],
        bounds={"growth": (0.1, None)},
    )  # fmt: skip
    back = FitResult.from_json(named.to_json(), models.by_name)
    assert back.to_json() == named.to_json()
    assert json.loads(named.to_json())["residuals"]["hare"][3] == "nan"


def test_json_that_is_none_of_ours_is_refused():
    for text in ("{", "[]", "{}", '{"numbad fit": 99}', closed_form_result(decaying()).to_json()):
        with pytest.raises(DataError, match="not a result of fit_ode"):
            FitResult.from_json(text, models.predator_prey)


def test_a_result_without_a_model_in_time_says_so(tmp_path):
    result = closed_form_result(decaying())
    assert result.summary().startswith("converged: 2 unknowns, 13 observations")
    for request in (lambda: result.predict([1.0]), lambda: result.plot(tmp_path / "a.png")):
        with pytest.raises(ModelError, match="no model in time"):
            request()


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plot_writes_a_picture_without_pyplot(result, tmp_path, suffix):
    for module in [name for name in sys.modules if name.startswith("matplotlib.pyplot")]:
        del sys.modules[module]
    path = result.plot(tmp_path / f"fit.{suffix}", title="Hudson Bay", xlabel="year", ylabel="10³")
    assert path.read_bytes().startswith(
        {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    )
    assert "matplotlib.pyplot" not in sys.modules


def test_plot_shows_data_fit_and_band(result, tmp_path):
    text = result.plot(tmp_path / "fit.svg", title="Hudson Bay", xlabel="year").read_text()
    for word in ("Hudson Bay", "year", "hare", "lynx", "data", "fit", "95 % band"):
        assert f"<!-- {word} -->" in text
    assert "NOT CONVERGED" not in text
    text = fitted(max_nfev=2).plot(tmp_path / "fit.svg").read_text()
    assert "NOT CONVERGED" in text


def test_plot_into_axes_of_ones_own(result):
    from matplotlib.figure import Figure

    assert isinstance(result.plot(), Figure)
    figure = Figure()
    axes = figure.subplots(3)
    assert result.plot(ax=axes[:2]) is figure
    assert [axis.get_ylabel() for axis in axes] == ["hare", "lynx", ""]
    with pytest.raises(ModelError, match="ax: 3 axes for 2 panels"):
        result.plot(ax=axes)


@pytest.mark.deep
def test_plot_of_infinite_bands_and_many_components(tmp_path):
    hare = fitted(y=COUNTS[:, 0], observed="hare", fit_y0=True)
    hare.plot(tmp_path / "hare.png")
    from .test_ode import many_rates

    t = np.linspace(0.0, 2.0, 9)
    rates = np.linspace(0.3, 2.0, 16)
    y = np.exp(-rates * t[:, None])
    from numbad.fit import fit_ode

    fit_ode(many_rates, t, y, np.full(16, 1.0), y0=np.ones(16)).plot(tmp_path / "many.png")


def test_a_path_that_cannot_be_written_says_so(result, tmp_path):
    with pytest.raises(DataError, match="No such file or directory"):
        result.plot(tmp_path / "nowhere" / "fit.png")
    with pytest.raises(DataError, match="fit.xyz"):
        result.plot(tmp_path / "fit.xyz")


def test_a_second_fit_of_the_same_model_compiles_nothing(result):
    with event.install_recorder("numba:compile") as compiled:
        fitted()
        assert not compiled.buffer
        numba.njit(lambda x: x)(1.0)  # this is how one shows
        assert compiled.buffer
