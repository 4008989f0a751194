"""Results as JSON, and back."""

import json
import math

import numpy as np
import pytest

from numbad.errors import DataError
from numbad.fit import FitResult

from . import models
from .closed_form import decaying
from .models import COUNTS, YEARS
from .test_ode import fitted
from .test_uncertainty import result as closed_form_result


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
