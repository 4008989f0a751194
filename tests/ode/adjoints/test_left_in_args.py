"""What a right-hand side leaves in arrays in args: refused in reverse mode where it counts."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

TIMES = np.linspace(0.0, 1.0, 5)
STEPS = {"method": "RK4", "first_step": 0.05}


def remembering(t, y, k, work):
    work[0] = 0.5 * work[0] ** 2 - k * y[0]
    return np.array([work[0], work[0] * y[1]])


def writing(t, y, k, work):
    work[0] = -k * y[0]
    work[1] = work[0] * y[1]
    return np.array([work[0], work[1]])


def slope(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


@pytest.mark.parametrize("adjoint", ["auto", "interpolating"])
def test_what_an_earlier_call_has_left_may_not_be_read(adjoint):
    solve = nd.ode.solver(remembering, adjoint=adjoint, **STEPS)

    @njit
    def loss(k):
        return solve(np.array([1.0, 2.0]), TIMES, (k, np.zeros(2))).sum()

    with pytest.raises(nd.ModelError, match="reads what an earlier call has left"):
        nd.grad(loss, mode="reverse")(0.7)
    assert nd.grad(loss, mode="forward")(0.7) == pytest.approx(slope(loss, 0.7), rel=1e-8)


@pytest.mark.parametrize("adjoint", ["auto", "interpolating", "forward"])
def test_what_the_last_call_leaves_may_not_be_read(adjoint):
    solve = nd.ode.solver(writing, adjoint=adjoint, **STEPS)

    @njit
    def left(k):
        work = np.zeros(2)
        ys = solve(np.array([1.0, 2.0]), TIMES, (k, work))
        return ys[-1, 0] + work[1]

    with pytest.raises(nd.ModelError, match="read after the solution"):
        nd.grad(left, mode="reverse")(0.7)
    assert nd.grad(left, mode="forward")(0.7) == pytest.approx(slope(left, 0.7), rel=1e-8)


def test_the_function_may_be_called_again_with_the_same_array():
    solve, called = nd.ode.solver(writing, **STEPS), njit(writing)

    @njit
    def flow_at_the_end(k):
        work = np.zeros(2)
        ys = solve(np.array([1.0, 2.0]), TIMES, (k, work))
        called(1.0, ys[-1], k, work)
        return ys[-1, 0] + work[1]

    exact = slope(flow_at_the_end, 0.7)
    for mode in ("forward", "reverse"):
        assert nd.grad(flow_at_the_end, mode=mode)(0.7) == pytest.approx(exact, rel=1e-8)


def test_parts_that_are_read_alone_are_parameters():
    """A table of constants beside what is written, in one array: its derivative is that of a parameter."""

    def mixed(t, y, table):
        table[2] = table[0] * y[0]
        return np.array([-table[2], table[1] * table[2]])

    solve = nd.ode.solver(mixed, **STEPS)

    @njit
    def loss(table):
        return solve(np.array([1.0, 2.0]), TIMES, (1.0 * table,)).sum()

    at = np.array([0.7, 0.3, 0.0])
    found = [nd.grad(loss, mode=mode)(at) for mode in ("forward", "reverse")]
    exact = [slope(lambda x, k=k: loss(np.where(np.arange(3) == k, x, at)), at[k]) for k in (0, 1)]
    for gradient in found:
        np.testing.assert_allclose(gradient[:2], exact, rtol=1e-7)
