"""Reverse mode through solutions: the derivative of the steps taken, as forward mode has it."""

import math

import numpy as np
import pytest

import numbad as nd
from tests.ode.problems import (
    VOLTERRA_DATA,
    VOLTERRA_LOSS,
    VOLTERRA_TIMES,
    volterra,
)
from tests.ode.test_sensitivity import (
    SPRING,
    UNKNOWNS,
    scaled_error,
    spring_gradient,
    spring_in_place,
    volterra_loss,
)

TIMES = np.array([0.0, 0.3, 0.31, 1.7, 2.0])
WEIGHTS = np.cos(np.arange(10.0)).reshape(5, 2)


def flat(x):
    return np.concatenate([flat(m) for m in x]) if isinstance(x, tuple) else np.ravel(x)


def assert_as_forward(loss, argnums, *args):
    """Gradients in both modes agree to rounding."""
    forward, reverse = (
        flat(nd.grad(loss, argnums=argnums, mode=mode)(*args)) for mode in ("forward", "reverse")
    )
    np.testing.assert_allclose(reverse, forward, rtol=1e-11, atol=1e-12 * abs(forward).max())


@pytest.mark.dear
def test_volterra_gradient_against_the_reference():
    loss = volterra_loss(nd.ode.solver(volterra, rtol=1e-12, atol=1e-12))
    value, found = nd.value_and_grad(loss, mode="reverse")(UNKNOWNS, VOLTERRA_TIMES, VOLTERRA_DATA)
    assert value == pytest.approx(VOLTERRA_LOSS, rel=1e-10)
    assert scaled_error(np.array(found)) < 1e-9


def forced(t, y, rate):
    return -rate * y[0] * math.sin(t) + y[1], math.cos(rate * t) - y[0]


@pytest.mark.dear
def test_times_forwards_and_backwards():
    """By a start in a tuple, a parameter alone and all times, of a slope that depends on time."""
    solve = nd.ode.solver(forced, rtol=1e-5)

    def loss(y0, ts, rate):
        return (WEIGHTS * solve(y0, ts, rate)).sum()

    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), TIMES, 0.7)
    assert_as_forward(loss, (0, 1, 2), (1.3, 0.2), -TIMES, 0.7)


@pytest.mark.deep(but=["Tsit5"])
@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas5P", "RadauIIA5", "BDF"])
def test_saved_points_leave_the_gradient_as_it_is(method):
    """Of a loss at the end: outputs do not move the steps."""
    solve = nd.ode.solver(forced, method=method, rtol=1e-6)

    def loss(y0, ts, rate):
        return (solve(y0, ts, rate)[-1] ** 2).sum()

    gradient = nd.grad(loss, argnums=(0, 2), mode="reverse")
    few, many = (
        flat(gradient((1.3, 0.2), np.linspace(0.0, 2.0, count), 0.7)) for count in (2, 101)
    )
    np.testing.assert_allclose(many, few, rtol=1e-13)


@pytest.mark.dear
def test_a_state_written_in_place():
    """Start and parameters in arrays; against the closed form."""
    solve = nd.ode.solver(spring_in_place, inplace=True, rtol=1e-10, atol=1e-12)

    def position(x):
        return solve(x[2:], np.array([0.0, 1.7]), x[:2])[-1, 0]

    found = nd.grad(position, mode="reverse")(SPRING)
    np.testing.assert_allclose(found, spring_gradient(*SPRING, 1.7), rtol=1e-8)


@pytest.mark.deep
def test_nested_arguments_and_a_list_as_slope():
    """Arrays, tuples of both kinds and integers among the arguments, in a loop over solutions."""

    def slope(t, y, a, pair, k):
        return [y[1] * pair[0][1], -a[k] * y[0] * pair[1]]

    solve = nd.ode.solver(slope, rtol=1e-5)

    def loss(y0, a, pair):
        total = 0.0
        for k in range(2):
            end = solve((y0[0] * total + 1.0, y0[1]), (0.0, 1.0 + k), (a, pair, k))[-1]
            total += end[0] * end[1]
        return total

    given = np.array([1.0, 0.5]), np.array([1.5, 2.5]), ((0.3, 0.7), 1.2)
    assert_as_forward(loss, (0, 1, 2), *given)


@pytest.mark.deep
def test_hessian_vector_product():
    """Forward over reverse against forward over forward."""
    loss = volterra_loss(nd.ode.solver(volterra, rtol=1e-12, atol=1e-12))

    def small(q):
        return loss(q, TIMES, WEIGHTS)

    along = np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4])
    found, expected = (
        nd.jvp(nd.grad(small, mode=mode))((np.array(UNKNOWNS),), (along,))[1]
        for mode in ("reverse", "forward")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.dear
@pytest.mark.deep(but=["auto"])
@pytest.mark.parametrize("adjoint", ["auto", "gauss", "forward"])
def test_second_order_by_times_too(adjoint):
    """Forward over reverse, by the state, arguments and times at once, against a closed form."""
    weights, times = np.array([1.0, 0.4, -0.8]), np.array([0.1, 0.7, 1.9])
    solve = nd.ode.solver(
        lambda t, y, rate, p: rate * y * (1.0 - y / p[0]), rtol=1e-10, atol=1e-11, adjoint=adjoint
    )

    def loss(x):
        return (weights * solve(x[0], x[3:], (x[1], x[2:3]))[:, 0]).sum()

    def closed(x):
        decayed = np.exp(-x[1] * (x[3:] - x[3]))
        return (weights * x[2] / (1.0 + (x[2] / x[0] - 1.0) * decayed)).sum()

    x, along = np.array([0.3, 2.0, 1.5, *times]), np.linspace(1.0, -0.6, 6)
    found, moved = nd.jvp(nd.grad(loss, mode="reverse"))((x,), (along,))
    np.testing.assert_allclose(found, nd.grad(closed)(x), atol=1e-8)
    np.testing.assert_allclose(moved, nd.hvp(closed)((x,), (along,))[0], atol=1e-7)


@pytest.mark.deep
def test_a_scratch_array_among_the_arguments():
    """By the start alone, so that nobody asks for the cotangent of what the function writes to."""

    def spring(t, y, dy, stiffness, scratch):
        scratch[0] = stiffness * y[0]
        dy[0], dy[1] = y[1], -scratch[0]

    solve = nd.ode.solver(spring, inplace=True, rtol=1e-10, atol=1e-12)

    def position(y0, scratch):
        return solve(y0, (0.0, 1.7), (1.5, scratch))[-1, 0]

    found = nd.grad(position, mode="reverse")(np.array([1.0, 0.5]), np.zeros(1))
    np.testing.assert_allclose(found, spring_gradient(1.5, 1.0, 1.0, 0.5, 1.7)[2:], rtol=1e-8)


@pytest.mark.dear
def test_back_through_the_gradient_of_a_state_that_is_made_in_the_function():
    """At times from outside: the steps' record holds none of the duals that the state's array does."""
    solve = nd.ode.solver(lambda t, y, k: k * y, rtol=1e-10, atol=1e-12)

    def last(k, start):
        return solve(np.array([start]), TIMES, (k,))[-1, 0]

    gradient = nd.grad(last, (0, 1), mode="reverse")
    (by_k, by_start), (moved_k, moved_start) = nd.vjp(gradient)((0.8, 0.6), (1.0, 0.5))
    grown = math.exp(1.6)
    np.testing.assert_allclose((by_k, by_start), (1.2 * grown, grown), rtol=1e-8)
    expected = 2.4 * grown + 0.5 * 2.0 * grown, 2.0 * grown
    np.testing.assert_allclose((moved_k, moved_start), expected, rtol=1e-8)


@pytest.mark.deep(but=["Tsit5"])
@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas5P", "RadauIIA5", "BDF"])
@pytest.mark.dear
def test_the_same_with_an_array_among_the_parameters(method):
    """Its index and that of the solution are checked with one text, which is no memory that both share."""

    def slope(t, y, dy, k, factors):
        dy[0] = k * factors[1] * y[0]

    solve = nd.ode.solver(slope, method=method, inplace=True, rtol=1e-9, atol=1e-11)

    def last(k, factors):
        return solve(np.array([factors[0]]), TIMES, (k, factors))[-1, 0]

    gradient = nd.grad(last, (0, 1), mode="reverse")
    _, (by_k, by_factors) = nd.vjp(gradient, (0, 1))(
        (0.3, np.array([1.5, 0.8])), (1.0, np.zeros(2))
    )
    k, (start, factor), end = 0.3, (1.5, 0.8), TIMES[-1] - TIMES[0]
    # last = start exp(k factor end)
    grown = math.exp(k * factor * end)
    assert by_k == pytest.approx(start * (factor * end) ** 2 * grown, rel=1e-6)
    by_start, by_factor = factor * end * grown, start * end * (1.0 + k * factor * end) * grown
    np.testing.assert_allclose(by_factors, [by_start, by_factor], rtol=1e-6)


@pytest.mark.deep(but=["Tsit5"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
@pytest.mark.dear
def test_the_same_in_a_loop(method):
    """What steps of a loop keep lies in one frame on the tape, and is no memory that all of it shares."""

    def slope(t, y, k):
        return np.array([k * y[0], -y[1]])

    solve = nd.ode.solver(slope, method=method, rtol=1e-9, atol=1e-11)

    def last(k, start):
        state, kept = np.array([start, 0.1]), np.zeros((3, 2))
        for dose in range(3):
            kept[dose] = solve(state, TIMES, (k,))[-1]
            state = kept[dose] + 0.0
            state[0] += k
        return kept[2, 0]

    # By one dose after the other: x -> e x + k, with e = exp(2 k).
    k, start = 0.4, 0.6
    e = math.exp(2.0 * k)
    by_start = nd.vjp(nd.grad(last, 1, mode="reverse"), 0)((k, start), 1.0)[1][0]
    assert by_start == pytest.approx(6.0 * e**3, rel=1e-7)
    by_k = nd.vjp(nd.grad(last, 0, mode="reverse"), 0)((k, start), 1.0)[1][0]
    # e^3 start + (e^2 + e) k, twice by k
    expected = 36.0 * e**3 * start + (16.0 * e**2 + 4.0 * e) * k + 2.0 * (4.0 * e**2 + 2.0 * e)
    assert by_k == pytest.approx(expected, rel=1e-7)
