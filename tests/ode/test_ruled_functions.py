"""Right-hand sides and functions of events that have a rule.

The rules claim seven times the slope of the code by the parameter, so that a rule that is passed over shows.
"""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

pytestmark = pytest.mark.usefixtures("rules_of_the_test")


def decay(t, y, rate):
    return -rate * y


def give_rule(function):
    nd.rule(
        function,
        jvp=lambda primals, tangents: (
            -primals[2] * primals[1],
            -primals[2] * tangents[1] - 7.0 * primals[1] * tangents[2],
        ),
        vjp=(
            lambda t, y, rate: (-rate * y, (y, rate)),
            lambda kept, cotangent: (0.0, -kept[1] * cotangent, -7.0 * kept[0] * cotangent),
        ),
    )


def copied(function):
    """A plain function of its own, since a rule is that of a function."""
    return type(function)(function.__code__, function.__globals__)


WAYS = {"plain": copied, "called": njit, "inlined": njit(inline="always")}
SLOPE = -7.0 * math.exp(-1.0)


def slope(solve, mode):
    return nd.grad(lambda rate: solve(1.0, (0.0, 1.0), (rate,))[-1, 0], mode=mode)(1.0)


@pytest.mark.dear
@pytest.mark.deep(but=["forward-inlined", "reverse-plain"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_rule_of_a_right_hand_side(mode, way):
    function = WAYS[way](copied(decay))
    give_rule(function)
    assert slope(nd.ode.solver(function, rtol=1e-8), mode) == pytest.approx(SLOPE, rel=1e-6)


@pytest.mark.deep(but=["inlined"])
@pytest.mark.parametrize("way", WAYS)
def test_rule_given_after_the_solver_was_made(way):
    function = WAYS[way](copied(decay))
    solve = nd.ode.solver(function, rtol=1e-8)
    give_rule(function)
    assert slope(solve, "forward") == pytest.approx(SLOPE, rel=1e-6)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", pytest.param("reverse", marks=pytest.mark.deep)])
def test_rules_of_a_condition_and_a_change(mode):
    """From 0 the state grows as t. It reaches `place` at t = place, where it is set to -5 `place`."""

    @njit(inline="always")
    def reaches(t, y, place):
        return y - place

    @njit(inline="always")
    def set_back(t, y, place):
        return -5.0 * place

    nd.scalar_rule(reaches, lambda ans, t, y, place: (0.0, 1.0, -7.0))
    nd.scalar_rule(set_back, lambda ans, t, y, place: (0.0, 0.0, -35.0))
    event = nd.ode.event(reaches, direction=1, change=set_back)
    solve = nd.ode.solver(lambda t, y, place: 1.0, events=event)

    def end(place):
        return solve(0.0, (0.0, 2.0), (place,))[-1, 0]  # 2 - place - 5 place

    assert nd.grad(end, mode=mode)(1.0) == pytest.approx(7.0 * -6.0, rel=1e-9)


def test_a_jvp_alone_serves_reverse_mode():
    function = njit(copied(decay))
    nd.rule(function, jvp=lambda p, t: (function(*p), -p[2] * t[1] - 7.0 * p[1] * t[2]))
    solve = nd.ode.solver(function, rtol=1e-10)
    found = slope(solve, "reverse")
    assert found == pytest.approx(slope(solve, "forward"), rel=1e-9)
    assert found == pytest.approx(
        7.0 * slope(nd.ode.solver(decay, rtol=1e-10), "reverse"), rel=1e-7
    )


def test_a_right_hand_side_that_writes_has_no_rule():
    @njit
    def decaying(t, y, dy, rate):
        dy[0] = -rate * y[0]

    nd.rule(decaying, jvp=lambda p, t: (None, None))
    solve = nd.ode.solver(decaying, inplace=True)
    with pytest.raises(nd.UnsupportedError, match="decaying, .* changes its argument 'dy'"):
        nd.grad(lambda rate: solve(np.ones(1), (0.0, 1.0), (rate,))[-1, 0], mode="forward")(1.0)
