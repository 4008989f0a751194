"""Tangents beside the state, for all paths of a block: both modes, and where a factor is infinite."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from numba.core import types
from numba.core.registry import cpu_target

import numbad as nd
from numbad.errors import UnsupportedError
from numbad.reverse.pipeline import Pipeline
from numbad.sde import tangent_source
from numbad.sde.solution_operator import problem_of
from numbad.sde.state_source import form_of

KEY = nd.random.key(5)
TIMES = 0.0, 0.25, 1.0


@njit
def _drift(t, y, rate, vol, power):
    return rate * y[0], 0.5 * (0.04 - y[1])


@njit
def _diffusion(t, y, rate, vol, power):
    root = math.sqrt(max(y[1], 0.0))
    return vol * root * y[0] * power, 0.3 * root


SOLVE = nd.sde.solver(_drift, _diffusion, dt=0.125)


@njit
def _call(ys):
    return max(ys[-1, 0] - 1.0, 0.0) + ys[1, 0] * ys[-1, 1]


@njit
def _price(spot, variance, rate, vol, paths):
    args = rate, vol, 1
    start = spot, variance
    return nd.sde.ensemble(
        SOLVE, start, TIMES, args, KEY, paths, reduce=_call, antithetic=True
    ).mean


@njit
def _price_of_floats(spot, variance, rate, vol, power, paths):
    args = rate, vol, power
    start = spot, variance
    return nd.sde.ensemble(
        SOLVE, start, TIMES, args, KEY, paths, reduce=_call, antithetic=True
    ).mean


AT = 1.1, 0.09, 0.05, 1.2


@pytest.mark.dear
@pytest.mark.deep(but=["forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_are_those_of_the_steps(mode):
    """As NumPy takes them, on complex numbers. At a variance of zero, the slope of the root is infinite."""
    value, slopes = nd.value_and_grad(_price, (0, 1, 2, 3), mode=mode)(*AT, 36)
    assert value == _price(*AT, 36)
    step = 1e-30
    for k in range(4):
        moved = [x + (1j * step if j == k else 0.0) for j, x in enumerate(AT)]
        assert slopes[k] == pytest.approx(_by_numpy(*moved).imag / step, rel=1e-11)
    at_zero = 1.1, 0.0, 0.05, 1.2
    slopes = nd.value_and_grad(_price, (0, 1, 2, 3), mode=mode)(*at_zero, 36)[1]
    for k in (0, 2, 3):
        moved = [x + (1j * step if j == k else 0.0) for j, x in enumerate(at_zero)]
        assert slopes[k] == pytest.approx(_by_numpy(*moved).imag / step, rel=1e-11)


@pytest.mark.parametrize("power", [types.float64, types.int64])
def test_tangents_that_are_always_zero_are_not_carried(power):
    """The variance depends on neither the spot nor the rate; where an argument is an int, all are carried."""
    f8, problem = types.float64, replace(problem_of(SOLVE, "test"), dt=None)
    args = types.Tuple((f8, f8, power))
    form = form_of(cpu_target.typing_context, problem, types.UniTuple(f8, 2), args)
    inputs = tangent_source.Inputs((0, 1), (0, 1))
    tangents = tangent_source.advance_with_tangents(problem, form, inputs)[1]
    spot, variance, rate, vol = range(4)
    every = {(i, k) for i in range(2) for k in range(4)}
    left_out = {(1, k) for k in (spot, rate, vol)} if power == f8 else set()
    assert set(tangents.carried) == every - left_out
    assert tangents.reads[1] == ({1} if power == f8 else {0, 1})


@pytest.mark.dear
def test_slopes_do_not_depend_on_what_is_left_out():
    by = 0, 1, 2, 3
    value, slopes = nd.value_and_grad(_price_of_floats, by, mode="forward")(*AT, 1.0, 36)
    assert value == _price(*AT, 36)
    assert slopes == pytest.approx(nd.grad(_price, by, mode="forward")(*AT, 36), rel=1e-13)


def _by_numpy(spot, variance, rate, vol):
    """The price by Euler and Maruyama's steps, from the increments that the key gives."""
    steps = 8
    drawn = nd.sde.ensemble(_BROWNIAN, (0.0, 0.0), np.linspace(0.0, 1.0, 9), (), KEY, 18)
    dw = np.diff(drawn, axis=1)
    dw = np.concatenate([dw, -dw])
    x, v = np.full(36, spot), np.full(36, variance)
    for k in range(steps):
        w, z = dw[:, k, 0], dw[:, k, 1]
        root = np.sqrt(np.where(v.real > 0.0, v, 0.0))
        x, v = x + rate * x / 8 + vol * root * x * w, v + 0.5 * (0.04 - v) / 8 + 0.3 * root * z
        if k == 1:
            early = x
    payoff = np.where(x.real > 1.0, x - 1.0, 0.0) + early * v
    return payoff.mean()


_BROWNIAN = nd.sde.solver(
    lambda t, y: (0.0, 0.0), lambda t, y: (1.0, 1.0), dt=0.125, noise="additive"
)


def _mean_of(drift):
    """The mean of paths at the end, as a function of the rate."""
    solve = nd.sde.solver(drift, lambda t, y, rate: 0.3, dt=0.25)

    @njit
    def mean(rate):
        return nd.sde.ensemble(solve, 1.0, (0.0, 1.0), (rate,), KEY, 8, antithetic=True)[
            :, -1, 0
        ].mean()

    return mean


@pytest.mark.dear
def test_what_reverse_mode_refuses_goes_the_slower_way(monkeypatch):
    """A set, which forward mode takes. The mean over mirrored paths has no noise in it."""
    asked = []

    def noted(*given):
        asked.append(_parts(*given))
        return asked[-1]

    _parts = tangent_source._parts
    monkeypatch.setattr(tangent_source, "_parts", noted)

    def drift(t, y, rate):
        total = 0.0
        for held in {rate * y}:
            total += held
        return -total

    assert nd.derivative(_mean_of(drift))(0.7) == pytest.approx(
        -((1.0 - 0.25 * 0.7) ** 3), rel=1e-12
    )
    assert asked == [None]


@pytest.mark.dear
def test_a_defect_of_reverse_mode_is_not_hidden(monkeypatch):
    def broken(self, *args, **kwargs):
        raise KeyError("planted")

    monkeypatch.setattr(Pipeline, "analyse", broken)
    with pytest.raises(UnsupportedError, match="(?s)defect of numbad.*KeyError: 'planted'"):
        nd.derivative(_mean_of(lambda t, y, rate: -rate * y * y))(0.7)
