"""Models of fits that are a `functools.partial`; methods and objects are refused by name."""

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest

import numbad as nd

T = np.linspace(0.0, 2.0, 9)
Y = 3.0 * np.exp(-0.6 * T)


def decays(factor, t, y, k):
    return (-factor * k * y[0],)


def begins(factor, k):
    return (factor,)


def seen(factor, t, y, k):
    return factor * y[0]


def fitted(fun=None, **options):
    fun = partial(decays, 2.0) if fun is None else fun
    return nd.fit.fit_ode(fun, T, Y, {"k": 0.2}, progress=False, **options)


def test_a_partial_is_a_model():
    assert fitted().params["k"] == pytest.approx(0.3, rel=1e-9)
    seen_half = fitted(y0=partial(begins, 6.0), observables=partial(seen, 0.5))
    assert seen_half.params["k"] == pytest.approx(0.3, rel=1e-9)


@pytest.mark.dear
def test_a_partial_goes_to_processes():
    with ProcessPoolExecutor(2) as executor:
        result = fitted(starts=3, bounds={"k": (0.01, 2.0)}, executor=executor)
    assert result.params["k"] == pytest.approx(0.3, rel=1e-9)


def _log_normal(width, t0, y0, t1, y1, drift):
    z = (np.log(y1 / y0) - drift * (t1 - t0)) / width
    return -0.5 * z * z / (t1 - t0) - np.log(y1 * width * np.sqrt(2.0 * np.pi * (t1 - t0)))


def test_a_density():
    fit = nd.fit.fit_sde(partial(_log_normal, 0.5), T, Y, {"drift": -0.1})
    assert fit.params["drift"] == pytest.approx(-0.6, rel=1e-6)


class Model:
    def rates(self, t, y, k):
        return (-k * y[0],)

    def __call__(self, t, y, k):
        return (-k * y[0],)


@pytest.mark.parametrize("fun", [Model().rates, Model()])
def test_methods_and_objects_are_refused(fun):
    with pytest.raises(nd.ModelError, match="fun must be a Python function"):
        fitted(fun)


def test_a_positive_start_of_what_is_negative_is_told_of():
    """Parameters with positive starts stay positive by default."""
    fit = nd.fit.fit_sde(partial(_log_normal, 0.5), T, Y, {"drift": 0.1})
    assert "drift went to 0, where the log scale ends: is it negative?" in fit.message
    linear = nd.fit.fit_sde(partial(_log_normal, 0.5), T, Y, {"drift": 0.1}, transforms="linear")
    assert linear.params["drift"] == pytest.approx(-0.6, rel=1e-6)
    assert "log scale" not in linear.message
