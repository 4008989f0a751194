"""Searches by Newton's method that find no root."""

import math

import pytest
from numba import njit

import numbad as nd
from tests.implicit.test_root import close

from .test_root import square


def test_no_root():
    with pytest.raises(nd.ConvergenceError, match="converge"):
        nd.root(lambda x: x * x + 1.0, 1.0)
    with pytest.raises(nd.ConvergenceError, match="maxiter"):
        nd.root(lambda x: math.exp(x) - 1e30, 0.0, maxiter=5)
    with pytest.raises(nd.ConvergenceError, match="NaN"):
        nd.root(lambda x: math.nan * x, 1.0)
    with pytest.raises(nd.ConvergenceError, match="different signs"):
        nd.root(lambda x: x * x + 1.0, 1.0, bracket=(0.0, 2.0))
    with pytest.raises(nd.ConvergenceError, match="jumps"):
        nd.root(lambda x: 1.0 / (x - 0.1), 0.5, bracket=(-1.0, 1.7))


def test_a_failed_call_leaves_nothing_behind():
    failing = njit(lambda a: nd.root(square, 1.0, (a,)))
    gradient = nd.grad(failing, mode="reverse")
    for _ in range(3):
        with pytest.raises(nd.ConvergenceError):
            gradient(-1.0)
        assert gradient(4.0) == pytest.approx(0.25)


def test_bracket_holds_newton_back():
    """From 2 on, Newton's method for the arctangent diverges."""

    @njit
    def arctangent(x, a):
        return math.atan(x - a)

    close(nd.root(arctangent, 3.0, (0.25,), bracket=(-10.0, 20.0)), 0.25)
    close(nd.root(arctangent, 3.0, (0.25,)), 0.25)  # a line search, too
