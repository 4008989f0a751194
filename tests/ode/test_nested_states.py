"""States that are tuples of tuples and arrays, against closed forms and the same system written flat."""

import math
from collections import namedtuple

import numpy as np
import pytest

import numbad as nd

Body = namedtuple("Body", "place fuel")
Swarm = namedtuple("Swarm", "places speeds mass")

POINT = np.array([3.0, 0.1, 1.0, 0.5, 2.0])  # stiffness, loss; place, speed, fuel at the beginning
END = 1.5


def body(t, y, stiffness, loss):
    (x, v), fuel = y.place, y.fuel
    return Body((v, -stiffness * x), -loss * fuel)


def body_flat(t, y, stiffness, loss):
    x, v, fuel = y
    return v, -stiffness * x, -loss * fuel


def closed(point):
    """x + 2 v + 3 fuel at the end."""
    stiffness, loss, x, v, fuel = point
    w = math.sqrt(stiffness)
    c, s = math.cos(w * END), math.sin(w * END)
    return (x * c + v / w * s) + 2.0 * (v * c - w * x * s) + 3.0 * fuel * math.exp(-loss * END)


def slopes_of_closed():
    by_differences = []
    for k in range(len(POINT)):
        step = np.zeros(len(POINT))
        step[k] = 1e-5
        by_differences.append((closed(POINT + step) - closed(POINT - step)) / 2e-5)
    return by_differences


def loss_of(solve):
    def loss(p):
        ys = solve(Body((p[2], p[3]), p[4]), (0.0, 0.7, END), (p[0], p[1]))
        return ys[-1, 0] + 2.0 * ys[-1, 1] + 3.0 * ys[-1, 2]

    return loss


@pytest.mark.dear
def test_a_nested_tuple_is_solved_as_a_flat_one():
    times, args = (0.0, 0.7, END), (3.0, 0.1)
    nested = nd.ode.solver(body)(Body((1, 0.5), 2.0), times, args)
    flat = nd.ode.solver(body_flat)((1.0, 0.5, 2.0), times, args)
    np.testing.assert_array_equal(nested, flat)


@pytest.mark.dear
@pytest.mark.deep(but=["reverse-Tsit5"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients(method, mode):
    loss = loss_of(nd.ode.solver(body, method=method, rtol=1e-9, atol=1e-10))
    value, slope = nd.value_and_grad(loss, mode=mode)(POINT)
    np.testing.assert_allclose(value, closed(POINT), 1e-6)
    np.testing.assert_allclose(slope, slopes_of_closed(), 1e-5)


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["forward", "gauss", "backsolve"])
def test_other_adjoints(adjoint):
    loss = loss_of(nd.ode.solver(body, adjoint=adjoint, rtol=1e-9, atol=1e-9))
    np.testing.assert_allclose(nd.grad(loss, mode="reverse")(POINT), slopes_of_closed(), 1e-5)


def swarm(t, y, stiffness):
    return Swarm(y.speeds, -stiffness * y.places, 0.5 * y.mass)


PLACES, SPEEDS = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]), np.arange(6.0).reshape(2, 3)
STIFFNESS = np.array([[1.0, 2.0, 3.0], [0.5, 1.5, 2.5]])


def closed_swarm():
    w = np.sqrt(STIFFNESS)
    return PLACES * np.cos(w * END) + SPEEDS / w * np.sin(w * END)


@pytest.mark.dear
def test_arrays_in_a_state():
    """In reverse mode: d places / d speeds is sin(w t) / w, entry by entry."""
    solve = nd.ode.solver(swarm, method="RK4", first_step=0.01)

    def total(speeds, mass):
        end = solve(Swarm(PLACES, speeds, mass), (0.0, END), (STIFFNESS,))[-1]
        return end[:6].sum() + end[12]

    value, (by_speeds, by_mass) = nd.value_and_grad(total, (0, 1), mode="reverse")(SPEEDS, 2.0)
    np.testing.assert_allclose(value, closed_swarm().sum() + 2.0 * math.exp(0.5 * END), 1e-7)
    w = np.sqrt(STIFFNESS)
    np.testing.assert_allclose(by_speeds, np.sin(w * END) / w, 1e-6)
    np.testing.assert_allclose(by_mass, math.exp(0.5 * END), 1e-7)


@pytest.mark.deep
def test_events_and_a_jacobian_get_the_state_in_its_form():
    """The fuel is filled up to 5 as it falls to 1.8; a stop at x = 0 comes after."""
    refill = nd.ode.event(
        lambda t, y, k, r: y.fuel - 1.8, change=lambda t, y, k, r: Body(y.place, 5.0), direction=-1
    )
    stop = nd.ode.event(lambda t, y, k, r: y[0][0], direction=-1, terminal=True)
    solve = nd.ode.solver(body, events=(refill, stop), keep_events=3, rtol=1e-9)
    ys, times, states, numbers = solve(Body((1.0, 0.0), 2.0), (0.0, 9.0), (1.0, 0.1))
    when = math.log(2.0 / 1.8) / 0.1
    np.testing.assert_allclose(times[:2], [when, 0.5 * math.pi], 1e-7)
    np.testing.assert_allclose(states[0], [math.cos(when), -math.sin(when), 1.8], 1e-6)
    np.testing.assert_allclose(ys[-1, 2], 5.0 * math.exp(-0.1 * (0.5 * math.pi - when)), 1e-7)
    assert list(numbers) == [0, 1, -1]

    def jac(t, y, k, r):
        return np.array([[0.0, 1.0, 0.0], [-k, 0.0, 0.0], [0.0, 0.0, -r * y.fuel / y.fuel]])

    implicit = nd.ode.solver(body, method="RadauIIA5", jac=jac, rtol=1e-8)
    ys = implicit(Body((1.0, 0.0), 2.0), (0.0, 1.0), (1.0, 0.1))
    np.testing.assert_allclose(ys[-1], [math.cos(1.0), -math.sin(1.0), 2.0 * math.exp(-0.1)], 1e-6)


@pytest.mark.deep
def test_complex_numbers_in_a_nested_state():
    solve = nd.ode.solver(lambda t, y, w: ((1j * w * y[0][0],), -y[1]), method="Rodas5P", rtol=1e-8)
    ys = solve(((1.0 + 0.0j,), 2.0), (0.0, END), (2.0,))
    np.testing.assert_allclose(ys[-1], [np.exp(2j * END), 2.0 * math.exp(-END)], 1e-6)


@pytest.mark.dear
def test_solve_ivp():
    def floor(t, y, stiffness):
        return y.places[0, 0]

    floor.terminal = True
    sol = nd.ode.solve_ivp(
        swarm,
        (0.0, 5.0),
        Swarm(PLACES, 0.0 * SPEEDS, 1.0),
        args=(STIFFNESS,),
        events=floor,
        rtol=1e-8,
    )
    np.testing.assert_allclose(sol.t_events[0], [0.5 * math.pi], 1e-6)
    exact = PLACES * np.cos(np.sqrt(STIFFNESS) * sol.t[-1])
    np.testing.assert_allclose(sol.y[:6, -1].reshape(2, 3), exact, atol=1e-5)
    with pytest.raises(nd.ModelError, match=r"y0\[1\] is nan"):
        nd.ode.solve_ivp(body, (0.0, 1.0), ((1.0, math.nan), 2.0), args=(1.0, 1.0))


@pytest.mark.parametrize(
    ("fun", "y0", "told"),
    [
        (
            lambda t, y: (y[0][0], y[0][1], y[1]),
            ((1.0, 2.0), 3.0),
            "must return a state in the form",
        ),
        (lambda t, y: (1j * y[0][0], y[1]), ((1.0,), 3.0), "must return a state in the form of y0"),
        (lambda t, y: y, ((1.0, "two"), 3.0), r"y0\[0\]\[1\] is a string"),
        (lambda t, y: y, ([1.0], 3.0), r"y0\[0\] is a list of float64"),
        (lambda t, y: y, ((), ()), "y0 is empty"),
        (lambda t, y: (y[0][1:], y[1]), (np.ones(3), 3.0), "one of them returns another shape"),
    ],
    ids=["flat", "complex", "string", "list", "empty", "shorter"],
)
def test_what_is_no_state_is_told(fun, y0, told):
    with pytest.raises(nd.ModelError, match=told):
        nd.ode.solver(fun, method="Euler", first_step=0.1)(y0, (0.0, 1.0))


def test_writing_into_a_nested_state_is_told():
    with pytest.raises(nd.ModelError, match="return dy/dt in the same form instead"):
        nd.ode.solver(lambda t, y, dy: None, inplace=True)(((1.0, 2.0), 3.0), (0.0, 1.0))
