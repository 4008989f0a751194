"""Right-hand sides that write intermediate results to arrays in args, beside ones that make none."""

from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd

Work = namedtuple("Work", "rates flows")
TIMES = np.linspace(0.0, 1.0, 4)
START = np.array([1.0, 2.0])
AT = np.array([0.7, 0.3])


@njit(error_model="numpy")
def with_work(t, y, p, work):
    """The result is read from the arrays: rates are written first, then flows, then read."""
    for i in range(2):
        work.rates[i] = p[i] * y[i] * y[i]
    work.flows[0, 0] = work.rates[0] - work.rates[1]
    work.flows[1, 0] = work.rates[0] * y[1]
    return np.array([-work.flows[0, 0] + 0.1 * t, -work.flows[1, 0]])


def in_place(t, y, dy, p, rates, flows):
    dy[:] = with_work(t, y, p, Work(rates, flows))


def without(t, y, p):
    first, second = p[0] * y[0] * y[0], p[1] * y[1] * y[1]
    return np.array([second - first + 0.1 * t, -first * y[1]])


def new_work():
    return Work(np.full(2, 5.0), np.ones((2, 2)).T)


def two_solutions(solve):
    """Twice with the same work arrays, which hold what the first solution has left."""

    @njit
    def loss(p, work):
        first = solve(START, TIMES, (p, work))
        return (first * first).sum() + solve(first[1], TIMES, (2.0 * p, work)).sum()

    return loss


def expected(method, derivative, **options):
    solve = nd.ode.solver(without, method=method, **options)

    @njit
    def loss(p):
        first = solve(START, TIMES, (p,))
        return (first * first).sum() + solve(first[1], TIMES, (2.0 * p,)).sum()

    return loss(AT) if derivative is None else derivative(loss)(AT)


METHODS = ["Tsit5", "Rodas5P", "RadauIIA5", "KenCarp4", "BDF", "AutoTsit5", "RK4"]


@pytest.mark.deep(but=["RK4-forward"])
@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("method", METHODS)
def test_solutions_and_gradients_are_those_without_work_arrays(method, mode):
    options = {"rtol": 1e-7, "first_step": 0.05}
    loss = two_solutions(nd.ode.solver(with_work, method=method, **options))
    derivative = mode and (lambda f: nd.grad(f, mode=mode))
    found = (loss if mode is None else derivative(loss))(AT, new_work())
    np.testing.assert_allclose(found, expected(method, derivative, **options), rtol=1e-12)


@pytest.mark.deep
@pytest.mark.parametrize(
    "adjoint", ["interpolating", "gauss", "quadrature", "backsolve", "forward"]
)
def test_other_adjoints(adjoint):
    options = {"rtol": 1e-9, "atol": 1e-9}
    loss = two_solutions(nd.ode.solver(with_work, method="Tsit5", adjoint=adjoint, **options))
    found = nd.grad(loss, mode="reverse")(AT, new_work())
    exact = expected("Tsit5", lambda f: nd.grad(f, mode="reverse"), **options)
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_second_derivatives(method):
    loss = two_solutions(nd.ode.solver(with_work, method=method, rtol=1e-7))
    exact = expected(method, nd.hessian, rtol=1e-7)
    np.testing.assert_allclose(nd.hessian(loss)(AT, new_work()), exact, rtol=1e-11)


@pytest.mark.deep
def test_written_in_place_with_arrays_of_the_solving_function():
    solve = nd.ode.solver(in_place, method="Rodas5P", inplace=True, rtol=1e-7)
    plain = nd.ode.solver(without, method="Rodas5P", rtol=1e-7)

    def last(p):
        return solve(START, TIMES, (p, np.zeros(2), np.zeros((2, 2))))[-1]

    exact = nd.jacobian(lambda p: plain(START, TIMES, (p,))[-1], mode="forward")(AT)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(nd.jacobian(last, mode=mode)(AT), exact, rtol=1e-11)


@pytest.mark.deep
def test_gradients_by_the_initial_state_alone():
    solve, plain = nd.ode.solver(with_work, rtol=1e-7), nd.ode.solver(without, rtol=1e-7)
    exact = nd.grad(lambda y: plain(y, TIMES, (AT,))[-1].sum(), mode="forward")(START)
    for mode in ("forward", "reverse"):
        work = new_work()
        found = nd.grad(lambda y, w: solve(y, TIMES, (AT, w))[-1].sum(), mode=mode)(START, work)
        np.testing.assert_allclose(found, exact, rtol=1e-12)
        assert work.rates[0] != 5.0  # the caller's own


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.deep(but=["float"])
def test_beside_events_in_reverse_mode(dtype):
    """y falls at a rate of 0.95 k, and is lifted by a fifth where it gets to 0.7."""

    def falling(t, y, k, work):
        work[0] = 0.05 * k * y[0]
        return -k * y + work[0].real

    lifted = nd.ode.event(
        lambda t, y, k, work: y[0] - 0.7, direction=-1, change=lambda t, y, k, work: 1.2 * y
    )
    solve = nd.ode.solver(falling, events=lifted, rtol=1e-9, atol=1e-11)

    def end(k, work):
        return solve(np.ones(1), (0.0, 1.0), (k, work))[-1, 0]

    value = 1.2**3 * np.exp(-0.95 * 0.9)  # times: log(0.7), and log(1.2) twice, over the rate
    for mode in "forward", "reverse":
        found, slope = nd.value_and_grad(end, mode=mode)(0.9, np.zeros(1, dtype))
        assert found == pytest.approx(value, rel=1e-8)
        assert slope == pytest.approx(-0.95 * value, rel=1e-7)
