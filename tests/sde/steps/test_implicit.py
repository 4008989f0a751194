"""Steps of methods that are implicit in the drift: against their recursions in NumPy, where it is linear."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.test_implicit_stage import KEY

STEPS, H = 16, 2.0**-4
INCREMENTS = np.random.default_rng(2).normal(size=STEPS) * math.sqrt(H)
AT = 1.2, 700.0, 0.3  # a step is 44 time scales of the drift


@njit
def _pull(t, y, rate, vol):
    return rate * (math.cos(t) - y)


@njit
def _spread(t, y, rate, vol):
    return vol * (1.0 + t) * y


def _backward_euler(y, t, rate, vol, w):
    target = math.cos(t + H)
    return (y + vol * (1.0 + t) * y * w + H * rate * target) / (1.0 + H * rate)


def _trapezoid(y, t, rate, vol, w):
    known = y + vol * (1.0 + t) * y * w + 0.5 * H * rate * (math.cos(t) - y)
    return (known + 0.5 * H * rate * math.cos(t + H)) / (1.0 + 0.5 * H * rate)


def _milstein(y, t, rate, vol, w):
    factor = vol * (1.0 + t)
    known = y * (1.0 + factor * w + 0.5 * factor**2 * (w**2 - H))
    return (known + H * rate * math.cos(t + H)) / (1.0 + H * rate)


def _split(y, t, rate, vol, w):
    z = (y + H * rate * math.cos(t + H)) / (1.0 + H * rate)
    return z * (1.0 + vol * (1.0 + t + H) * w)


RECURSIONS = {
    "ImplicitEM": _backward_euler,
    "STrapezoid": _trapezoid,
    "ImplicitMilstein": _milstein,
    "ISSEM": _split,
}


def _end(method, y, rate, vol):
    """The end of the recursion, of complex numbers too."""
    for k, w in enumerate(INCREMENTS):
        y = RECURSIONS[method](y, k * H, rate, vol, w)
    return y


def _gradient(method, at):
    """By a complex step."""
    steps = 1e-30j * np.eye(3)
    return np.array([_end(method, *(at + step)).imag / 1e-30 for step in steps])


def _solved(method):
    solve = nd.sde.solver(_pull, _spread, method=method, dt=H)

    @njit
    def end(y0, rate, vol, w):
        return solve(y0, (0.0, 1.0), (rate, vol), w)[-1, 0]

    return end


@pytest.mark.dear
@pytest.mark.deep(but=["ImplicitMilstein"])
@pytest.mark.parametrize("method", RECURSIONS)
def test_values_and_slopes_are_those_of_the_recursion(method):
    end = _solved(method)
    assert end(*AT, INCREMENTS) == pytest.approx(_end(method, *AT), rel=1e-12)
    for mode in ("forward", "reverse"):
        slopes = nd.grad(end, (0, 1, 2), mode=mode)(*AT, INCREMENTS)
        np.testing.assert_allclose(slopes, _gradient(method, AT), rtol=1e-9, atol=1e-25)


@pytest.mark.dear
def test_second_order():
    end, along, h = _solved("STrapezoid"), np.array([0.1, 30.0, 0.2]), 1e-5
    expected = _gradient("STrapezoid", AT + h * along) - _gradient("STrapezoid", AT - h * along)
    slopes = nd.grad(end, (0, 1, 2), mode="reverse")
    _, found = nd.jvp(slopes, (0, 1, 2))((*AT, INCREMENTS), tuple(along))
    np.testing.assert_allclose(found, expected / (2.0 * h), rtol=1e-6, atol=1e-12)


def test_an_explicit_method_ends_in_infinity_there():
    solve = nd.sde.solver(_pull, _spread, dt=H)
    with pytest.raises(nd.IntegrationError, match="ends in NaN or infinity"):
        solve(1.2, (0.0, 40.0), (700.0, 0.3), KEY)
