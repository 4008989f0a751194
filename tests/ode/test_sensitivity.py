"""Derivatives of solutions by start, parameters and times."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from tests.ode.problems import (
    VOLTERRA_DATA,
    VOLTERRA_END_JACOBIAN,
    VOLTERRA_GRADIENT,
    VOLTERRA_LOSS,
    VOLTERRA_PARAMETERS,
    VOLTERRA_START,
    VOLTERRA_TIMES,
    Point,
    Spring,
    decay,
    volterra,
)

UNKNOWNS = (*VOLTERRA_PARAMETERS, *VOLTERRA_START)


def volterra_loss(solve):
    """The sum of squares over the data, as a function of a, b, c, d, u0, v0."""

    @numba.njit
    def loss(q, ts, data):
        ys = solve((q[4], q[5]), ts, (q[0], q[1], q[2], q[3]))
        total = 0.0
        for k in range(len(ts)):
            for i in range(2):
                total += (ys[k, i] - data[k, i]) ** 2
        return total

    return loss


def gradient(**options):
    loss = volterra_loss(nd.ode.solver(volterra, **options))
    operator = nd.value_and_grad(loss, mode="forward")
    value, found = operator(UNKNOWNS, VOLTERRA_TIMES, VOLTERRA_DATA)
    assert value == loss(UNKNOWNS, VOLTERRA_TIMES, VOLTERRA_DATA)
    return value, np.array(found)


def scaled_error(found):
    return np.abs(found - VOLTERRA_GRADIENT).max() / np.abs(VOLTERRA_GRADIENT).max()


def test_volterra_gradient_against_the_reference():
    """Its value is the primal's to the last bit: the same steps, the same arithmetic."""
    value, found = gradient(rtol=1e-12, atol=1e-12)
    assert value == pytest.approx(VOLTERRA_LOSS, rel=1e-10)
    np.testing.assert_allclose(found, VOLTERRA_GRADIENT, rtol=1e-9)


@pytest.mark.deep
def test_sensitivities_in_the_error_control():
    """Bought with more steps: at this tolerance seven times the accuracy of the gradient."""
    _, apart = gradient(rtol=1e-6, atol=1e-6)
    loss = volterra_loss(nd.ode.solver(volterra, rtol=1e-6, atol=1e-6, sens_errcon=True))
    operator = nd.value_and_grad(loss, mode="forward")
    _, together = operator(UNKNOWNS, VOLTERRA_TIMES, VOLTERRA_DATA)
    # sensitivities written out by hand, all in the error control, reach 3.51e-6
    assert scaled_error(np.array(together)) < 3.6e-6
    assert 1e-5 < scaled_error(apart) < 3e-5


@pytest.mark.dear
def test_end_of_volterra_by_everything():
    """The Jacobian by array, and a directional derivative."""
    solve = nd.ode.solver(volterra, rtol=1e-11, atol=1e-11)

    def end(q, ts):
        return solve((q[4], q[5]), ts, (q[0], q[1], q[2], q[3]))[-1]

    point, ts = np.array(UNKNOWNS), np.array([0.0, 10.0])
    found = nd.jacobian(end)(point, ts)
    np.testing.assert_allclose(found.T, VOLTERRA_END_JACOBIAN, rtol=1e-8)
    direction = np.array([0.3, -0.1, 0.2, 0.5, -0.4, 0.7])
    _, along = nd.jvp(end, argnums=0)((point, ts), (direction,))
    np.testing.assert_allclose(along, found @ direction, rtol=1e-12)


@pytest.mark.deep
def test_second_derivatives_by_start_parameter_and_both_times():
    """y = u exp(-r (t1 - t0)): every pair of the four, across the two levels."""
    solve = nd.ode.solver(decay, rtol=1e-12, atol=1e-13)

    def end(x):
        return solve(x[0], (x[1], x[2]), x[3])[-1, 0]

    u, t0, t1, r = point = np.array([2.0, 0.3, 1.5, 0.8])
    span, y = t1 - t0, u * math.exp(-r * (t1 - t0))
    first = np.array([y / u, r * y, -r * y, -span * y])
    exact = np.outer(first, first) / y
    exact[0, 0] = 0.0
    exact[1, 3] += y
    exact[3, 1] += y
    exact[2, 3] -= y
    exact[3, 2] -= y
    np.testing.assert_allclose(nd.hessian(end)(point), exact, rtol=1e-8, atol=1e-9)


def spring_named(t, y, spring):
    return Point(y.velocity, -spring.stiffness / spring.mass * y.position)


def spring_array(t, y, p):
    return np.array([y[1], -p[0] / p[1] * y[0]])


def spring_in_place(t, y, dy, p):
    dy[0] = y[1]
    dy[1] = -p[0] / p[1] * y[0]


def spring_gradient(stiffness, mass, x, v, t):
    """Of x cos wt + v/w sin wt, w = sqrt(k/m), by k, m, x, v."""
    w = math.sqrt(stiffness / mass)
    by_w = -x * t * math.sin(w * t) + v * (t * math.cos(w * t) / w - math.sin(w * t) / w**2)
    return np.array(
        [
            by_w * w / (2 * stiffness),
            -by_w * w / (2 * mass),
            math.cos(w * t),
            math.sin(w * t) / w,
        ]
    )


SPRING = np.array([3.0, 2.0, 1.0, 0.5])


def test_namedtuples():
    solve = nd.ode.solver(spring_named, rtol=1e-10, atol=1e-12)

    def position(spring, start):
        return solve(start, (0.0, 1.7), spring)[-1, 0]

    by_spring, by_start = nd.grad(position, argnums=(0, 1), mode="forward")(
        Spring(3.0, 2.0), Point(1.0, 0.5)
    )
    found = [by_spring.stiffness, by_spring.mass, by_start.position, by_start.velocity]
    np.testing.assert_allclose(found, spring_gradient(*SPRING, 1.7), rtol=1e-8)


@pytest.mark.deep(but=["place"])
@pytest.mark.parametrize(
    "options", [dict(fun=spring_array), dict(fun=spring_in_place, inplace=True)], ids=["", "place"]
)
def test_arrays(options):
    """Right-hand sides that allocate or write in place, states and parameters in arrays."""
    solve = nd.ode.solver(rtol=1e-10, atol=1e-12, **options)

    def position(x):
        return solve(x[2:], np.array([0.0, 1.7]), x[:2])[-1, 0]

    found = nd.grad(position, mode="forward")(SPRING)
    np.testing.assert_allclose(found, spring_gradient(*SPRING, 1.7), rtol=1e-8)


@pytest.mark.deep
def test_an_inner_solution_in_an_outer_right_hand_side():
    """No confusion of levels: dy/dt = -d/dr exp(-r), solved within, at r = y."""
    inner = nd.ode.solver(decay, rtol=1e-10, atol=1e-12)
    slope = nd.derivative(lambda rate: inner(1.0, (0.0, 1.0), rate)[-1, 0])
    outer = nd.ode.solver(lambda t, y: slope(y), rtol=1e-9, atol=1e-11)
    end = nd.derivative(lambda y0: outer(y0, (0.0, 1.0))[-1, 0])
    # y' = -exp(-y): y(1) = log(exp(y0) - 1), so that dy(1)/dy0 = exp(y0) / (exp(y0) - 1)
    assert end(1.0) == pytest.approx(math.e / (math.e - 1.0), rel=1e-7)
