"""A fit of an SDE comes back from JSON as it was."""

import json

import numpy as np
import pytest

import numbad as nd
from numbad.sde import transitions


def growth(t, y, mu, sigma):
    return mu * y


def spread(t, y, mu, sigma):
    return sigma * y


@pytest.fixture(scope="module")
def fitted():
    times = np.linspace(0.0, 2.0, 41)
    increments = np.random.default_rng(3).normal(0.02, 0.06, 40)
    values = np.exp(np.concatenate([[0.0], np.cumsum(increments)]))
    density = transitions.euler(growth, spread)
    return density, nd.fit.fit_sde(density, times, values, {"mu": 0.1, "sigma": 0.5})


def test_there_and_back(fitted):
    density, result = fitted
    again = nd.fit.DiffusionFit.from_json(result.to_json(), density)
    assert again.params == result.params
    assert again.loglik == result.loglik
    assert np.array_equal(again.cov, result.cov)
    assert again.to_json() == result.to_json()


def test_what_a_stored_fit_holds(fitted):
    stored = json.loads(fitted[1].to_json())
    assert stored["problem"]["names"] == ["mu", "sigma"]
    (series,) = stored["problem"]["experiments"]
    assert len(series["times"]) == 41


def test_a_text_of_something_else(fitted):
    density, result = fitted
    stored = json.loads(result.to_json())
    del stored["problem"]
    with pytest.raises(nd.DataError, match="not a result of fit_sde"):
        nd.fit.DiffusionFit.from_json(json.dumps(stored), density)
