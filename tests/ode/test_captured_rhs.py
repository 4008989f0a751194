"""Solvers made in compiled code of right-hand sides that capture what is differentiated."""

import math

import pytest
from numba import njit

import numbad as nd


@njit
def end(y0, rate, power):
    solve = nd.ode.solver(lambda t, y, k: -rate * k * y, rtol=1e-10, atol=1e-12)
    return solve(y0, (0.0, 1.0), (power,))[-1, 0]


@pytest.mark.dear
def test_right_hand_side_of_captured_values():
    decay = math.exp(-1.3 * 0.7)
    assert end(2.0, 1.3, 0.7) == pytest.approx(2.0 * decay, rel=1e-8)
    found = nd.grad(end, (0, 1, 2), mode="forward")(2.0, 1.3, 0.7)
    assert found == pytest.approx((decay, -1.4 * decay, -2.6 * decay), rel=1e-7)
