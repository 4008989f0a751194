import math

import numba
import numpy as np
import pytest
from numba.core import event

import numbad as nd
from numbad.errors import DataError, ModelError

from . import models
from .closed_form import decaying
from .models import BEST
from .test_ode import fitted
from .test_uncertainty import result as closed_form_result


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
    with pytest.raises(DataError, match="all finite"):
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


def test_a_result_without_a_model_in_time_says_so(tmp_path):
    result = closed_form_result(decaying())
    assert result.summary().startswith("converged: 2 unknowns, 13 observations")
    for request in (lambda: result.predict([1.0]), lambda: result.plot(tmp_path / "a.png")):
        with pytest.raises(ModelError, match="no model in time"):
            request()


def test_a_second_fit_of_the_same_model_compiles_nothing(result):
    with event.install_recorder("numba:compile") as compiled:
        fitted()
        assert not compiled.buffer
        numba.njit(lambda x: x)(1.0)  # this is how one shows
        assert compiled.buffer


def _cooled(t, y, rate):
    return (-rate * y[0],)


def test_what_is_no_time_and_no_level_is_told():
    t = np.linspace(0.0, 2.0, 5)
    given = {"y0": [3.0], "t0": np.array(0.0), "bounds": [None], "progress": False}
    seen = 3.0 * np.exp(-0.5 * t)
    trials = [nd.fit.Experiment(t, seen + 0.01 * k, name=name) for k, name in enumerate("AB")]
    result = nd.fit.fit_ode(_cooled, None, None, {"rate": 0.3}, experiments=trials, **given)
    with pytest.raises(nd.ModelError, match="experiment='C': the experiments are 'A', 'B'"):
        result.band(t, experiment="C")
    for times in (np.nan, None, [[1.0, 2.0]], "soon"):
        with pytest.raises(nd.DataError, match="t must be a time or a 1-D array of times"):
            result.predict(times)
    for level in ("b", 95, None):
        with pytest.raises(nd.ModelError, match=r"level must be between 0 and 1, such as 0.95"):
            result.band(t, level)
        with pytest.raises(nd.ModelError, match=r"level must be between 0 and 1, such as 0.95"):
            result.interval(level)
    with pytest.raises(nd.ModelError, match="own: expected names of parameters"):
        nd.fit.fit_ode(_cooled, t, t, {"rate": 0.3}, own=True)
