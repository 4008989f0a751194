"""Control variates: smaller errors that are true, derivatives, any number of threads."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(5)


@njit
def _drift(t, y, rate, vol):
    return rate * y


@njit
def _diffusion(t, y, rate, vol):
    return vol * y


@njit
def _call(ys):
    return max(ys[-1, 0] - 100.0, 0.0)


@njit
def _end(ys):
    return ys[-1, 0]


SOLVE = nd.sde.solver(_drift, _diffusion, dt=0.125, method="Milstein")
GIVEN = SOLVE, 100.0, (0.0, 1.0), (0.05, 0.2), KEY, 3000
FORWARD = 100.0 * (1.0 + 0.05 * 0.125) ** 8  # the mean of the steps


@pytest.mark.dear
def test_it_is_the_regression_of_the_payoff_on_the_control():
    found = nd.sde.ensemble(*GIVEN, reduce=_call, control=_end, control_mean=FORWARD)
    ends = nd.sde.ensemble(*GIVEN)[:, -1, 0]
    payoffs = np.maximum(ends - 100.0, 0.0)
    slope, level = np.polyfit(ends, payoffs, 1)
    assert found.mean == pytest.approx(level + slope * FORWARD, rel=1e-10)
    left = payoffs - level - slope * ends
    assert found.error == pytest.approx(left.std() / math.sqrt(3000), rel=1e-3)
    assert (found.paths, found.failed) == (3000, -1)
    plain = nd.sde.ensemble(*GIVEN, reduce=_call)
    assert found.error < 0.5 * plain.error
    assert abs(found.mean - 10.450583572186 * math.exp(0.05)) < 4.0 * found.error + 0.02
    threads = nd.sde.ensemble(*GIVEN, reduce=_call, control=_end, control_mean=FORWARD, executor=2)
    assert threads == found


@pytest.mark.deep
def test_derivatives_in_compiled_code():
    @njit
    def price(rate, vol, key):
        found = nd.sde.ensemble(
            SOLVE,
            100.0,
            (0.0, 1.0),
            (rate, vol),
            key,
            3000,
            reduce=_call,
            control=_end,
            control_mean=100.0 * (1.0 + rate * 0.125) ** 8,
        )
        return math.exp(-rate) * found.mean

    forward, reverse = (
        nd.grad(price, (0, 1), mode=m)(0.05, 0.2, KEY) for m in ("forward", "reverse")
    )
    np.testing.assert_allclose(reverse, forward, rtol=1e-12)
    np.testing.assert_allclose(forward, (53.232481545376, 37.524034691694), rtol=0.05)


def test_a_single_path_has_no_error():
    options = {"reduce": _call, "control": _end, "control_mean": 100.0}
    found = nd.sde.ensemble(SOLVE, 100.0, (0.0, 1.0), (0.05, 0.2), nd.random.key(3), 1, **options)
    assert np.isfinite(found.mean)
    assert np.isnan(found.error)


def test_what_is_refused():
    for options, told in (
        ({"control": _end}, "give control= and control_mean=, or neither"),
        ({"control": _end, "control_mean": 1.0, "antithetic": True}, "without antithetic paths"),
        ({"control": 3, "control_mean": 1.0}, "control= is a function of a path"),
        ({"control": _end, "control_mean": 1.0, "reduce": "mean"}, "beside reduce=, another one"),
        (
            {"control": njit(lambda ys: (1.0, 2.0)), "control_mean": 1.0},
            "control.ys. returns one float",
        ),
    ):
        with pytest.raises(nd.ArgumentError, match=told):
            nd.sde.ensemble(*GIVEN, **{"reduce": _call, **options})


@pytest.mark.dear
def test_derivatives_are_those_of_what_is_returned():
    """Of few paths, where the factor of the correction changes by what the control's mean is off."""

    @njit
    def price(vol):
        found = nd.sde.ensemble(
            SOLVE, 100.0, (0.0, 1.0), (0.05, vol), KEY, 40,
            reduce=_call, control=_end, control_mean=FORWARD,
        )  # fmt: skip
        return found.mean

    step = 1e-5
    central = (price(0.2 + step) - price(0.2 - step)) / (2.0 * step)
    assert nd.derivative(price)(0.2) == pytest.approx(central, rel=1e-7)


def test_a_control_that_does_not_vary_corrects_nothing():
    @njit
    def constant(ys):
        return 3.7

    given = *GIVEN[:-1], 50
    found = nd.sde.ensemble(*given, reduce=_call, control=constant, control_mean=3.0)
    assert found.mean == pytest.approx(nd.sde.ensemble(*given, reduce=_call).mean, rel=1e-14)
