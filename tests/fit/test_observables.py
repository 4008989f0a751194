"""Observables: functions of state and parameters that stand for what was measured."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import curve_fit

from numbad.errors import DataError, ModelError
from numbad.fit import FitResult, fit_ode

from .reaction import COLD, P0, Y0, T, amounts, reaction


class Seen(NamedTuple):
    signal: float
    flow: float


def seen(t, y, rate, back):
    """What a detector with a drift sees, and the net flow."""
    return Seen(3.0 * y[0] + y[1] + 0.1 * t, rate * y[0] - back * y[1])


def signal(t, y, rate, back):
    return 3.0 * y[0] + y[1] + 0.1 * t


def flow(t, y, rate, back):
    return rate * y[0] - back * y[1]


def formula(t, rate, back):
    a, b = amounts(t, rate, back, *Y0).T
    return np.stack((3.0 * a + b + 0.1 * t, rate * a - back * b), axis=1)


DATA = formula(T, 0.8, 0.3) + (COLD - amounts(T, 0.8, 0.3, *Y0))
BY_NAME = {"signal": signal, "flow": flow}


def fitted(observables, y=DATA, t=T, **options):
    return fit_ode(reaction, t, y, P0, **{"y0": Y0, "observables": observables, **options})


@pytest.fixture(scope="module")
def named():
    return fitted(BY_NAME)


def test_agrees_with_curve_fit_on_the_closed_form(named):
    wanted, cov = curve_fit(
        lambda t, *p: formula(T, *p).ravel(), None, DATA.ravel(), (1.0, 0.4), xtol=1e-13
    )
    np.testing.assert_allclose(named.x, wanted, rtol=1e-6)
    np.testing.assert_allclose(named.cov, cov, rtol=1e-4)
    np.testing.assert_allclose(named.predict(T), formula(T, *named.x), atol=1e-6)
    np.testing.assert_allclose(named.states(T), amounts(T, *named.x, *Y0), atol=1e-6)
    low, high = named.band([1.0])
    gradient = [
        (formula(np.ones(1), *(wanted + step)) - formula(np.ones(1), *(wanted - step)))[0] / 2e-6
        for step in 1e-6 * np.eye(2)
    ]
    deviation = np.sqrt(np.einsum("io,ij,jo->o", gradient, cov, gradient))
    np.testing.assert_allclose(
        (high - low)[0] / 2.0 / named._half_width(0.95), deviation, rtol=1e-4
    )


def test_columns_go_by_name_or_in_order(named):
    by_column = {"flow": (T, DATA[:, 1]), "signal": (T[::-1], DATA[::-1, 0])}
    np.testing.assert_allclose(fitted(BY_NAME, by_column, None).x, named.x, rtol=1e-8)
    flipped = fitted(BY_NAME, DATA[:, ::-1], observed=["flow", "signal"])
    np.testing.assert_allclose(flipped.x, named.x, rtol=1e-8)
    assert list(fitted(BY_NAME, by_column, None, sigma="estimate").noise) == ["signal", "flow"]


@pytest.mark.dear
def test_one_function_may_return_them_all(named):
    together = fitted(seen, {"flow": DATA[:, 1], "signal": DATA[:, 0]})
    np.testing.assert_allclose(together.x, named.x, rtol=1e-8)
    back = FitResult.from_json(together.to_json(), reaction, seen)
    assert back.to_json() == together.to_json()
    with pytest.raises(DataError, match="observables= must be given as they were"):
        FitResult.from_json(together.to_json(), reaction)


@pytest.mark.deep
def test_states_as_arrays_and_one_number():
    def arrays(t, y, p):
        net = p[0] * y[0] - p[1] * y.sum()
        return np.array([-net, net])

    result = fit_ode(
        arrays, T, DATA[:, 0], {"a": 1.0, "b": 0.3}, y0=np.array(Y0), observables=total
    )
    single = fit_ode(
        arrays, T, {"x": DATA[:, 0]}, {"a": 1.0, "b": 0.3}, y0=np.array(Y0),
        observables={"x": total},
    )  # fmt: skip
    np.testing.assert_allclose(result.x, single.x, rtol=1e-9)


def total(t, y, p):
    return 3.0 * y[0] + y[1] + 0.1 * t


@pytest.mark.deep
def test_a_model_that_means_something_else_is_compiled_again():
    scope = {"factor": 3.0}
    exec("def scaled(t, y, rate, back):\n    return factor * y[0]", scope)
    data = 3.0 * amounts(T, 0.8, 0.3, *Y0)[:, 0]
    assert fitted(scope["scaled"], data).cost < 1e-10
    scope["factor"] = 6.0
    np.testing.assert_allclose(fitted(scope["scaled"], 2.0 * data).x, (0.8, 0.3), rtol=1e-6)


def two_lists(t, y, rate, back):
    return (y, y)


def wrong(t, y, rate, back):
    return y[0].nothing


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"observables": signal, "y0": None}, "y0 must be given with observables="),
        ({"observables": 3}, "observables: observables must be a function"),
        ({"observables": {}}, "observables is empty"),
        ({"observables": {"a": 3}}, "observables: a must be a function of .t, y, .parameters., got"),
        ({"observables": {"a": seen}}, "observables: a must return one number"),
        ({"observables": wrong}, "(?s)observables: Numba cannot compile wrong.*nothing"),
        ({"observables": two_lists}, "must return"),
        ({"observables": seen, "y": DATA[:, 0]}, r"y has 1 column\(s\), but .* 2"),
        ({"observables": seen, "y": {"x": DATA[:, 0]}}, "y: no component is called 'x', only signal"),
        ({"observables": BY_NAME, "sigma": {"x": 1.0}}, "sigma: 'x' is not an observed component"),
        ({"observables": BY_NAME, "observed": [0, 2]}, "observed: 2 is neither the index nor the na"),
    ],
)  # fmt: skip
def test_unusable_observables_are_named(options, said):
    with pytest.raises((ModelError, DataError), match=said):
        fitted(**options)
