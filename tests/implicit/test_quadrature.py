"""Quadrature that adapts: narrow peaks, singular ends, and accuracy that is not reached."""

import math

import pytest
from numba import njit

import numbad as nd

from .test_integral import power
from .test_root import both_modes, close


@njit
def area_of_power(p):
    return nd.quad(power, 0.0, 1.0, (p,), 1e-9, 1e-9)


@pytest.mark.deep(but=["0.0-forward"])
@both_modes
@pytest.mark.parametrize("p", [0.0, -0.4])
def test_a_singularity_at_the_limit(p, mode):
    """The derivative, `x**p log(x)`, has its own error control: at p = 0 the value needs none."""
    close(
        [area_of_power(p), nd.grad(area_of_power, mode=mode)(p)],
        [1 / (1 + p), -1 / (1 + p) ** 2],
        1e-7,
    )


@pytest.mark.dear
def test_many_subintervals():
    """A narrow peak, of which the derivative is narrower."""
    peak = njit(lambda x, w: w / (x * x + w * w))
    f = njit(lambda w: nd.quad(peak, -1.0, 2.0, (w,), 1e-10, 1e-10))
    w = 1e-4
    close(f(w), math.atan(1.0 / w) + math.atan(2.0 / w), 1e-9)
    close(nd.derivative(f)(w), -1.0 / (1.0 + w * w) - 2.0 / (4.0 + w * w), 1e-7)


def test_accuracy_that_is_not_reached():
    with pytest.raises(nd.ConvergenceError, match="not accurate"):
        nd.quad(lambda x: math.sin(1.0 / x), 0.0, 1.0, (), 1e-14, 1e-14, 10)


def test_integrand_that_is_not_finite():
    with pytest.raises(nd.ConvergenceError, match="NaN"):
        nd.quad(njit(lambda x: math.nan * x), 0.0, 1.0)
