"""Operators inside nopython code."""

import math

import pytest
from numba import njit

import numbad as nd
from tests.operators.test_operator_dispatcher import math_cube, wave


def test_inside_nopython_code():
    @njit
    def at(x):
        return nd.derivative(nd.derivative(math_cube))(x) + nd.grad(wave, (0, 1))(x, 2.0)[1]

    assert at(0.5) == pytest.approx(6.0 * 0.5 + math.sin(0.5))
