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


@njit
def cubic(x, y):
    return x * y**3


@njit
def by_options(x, y):
    """Operators with options, of operators' results: what `nd.derivative(f, 1)` returns has no names."""
    first = nd.derivative(cubic, argnum=1)
    return (
        nd.derivative(nd.derivative(cubic, 1), 1)(x, y),
        nd.derivative(nd.derivative(cubic), -1)(x, y),
        nd.derivative(first, 0)(x, y),
        nd.grad(nd.grad(cubic, 1, mode="reverse"), 1, mode="reverse")(x, y),
        nd.jacobian(nd.grad(cubic, (0, 1)), (0, 1))(x, y)[1][0],
        nd.value_and_grad(nd.grad(cubic, 1), 1)(x, y)[1],
        nd.jvp(nd.grad(cubic, 1), 1)((x, y), (1.0,))[1],
        nd.vjp(nd.grad(cubic, 1), 1)((x, y), 1.0)[1][0],
        nd.grad(nd.checkpoint(cubic), 1)(x, y),
    )


def test_options_of_an_operator_on_the_result_of_another():
    x, y = 2.0, 3.0
    twice, mixed = 6.0 * x * y, 3.0 * y**2
    expected = twice, mixed, mixed, twice, mixed, twice, twice, twice, 3.0 * x * y**2
    assert by_options(x, y) == pytest.approx(expected)
