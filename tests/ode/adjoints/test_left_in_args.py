"""What a right-hand side leaves in arrays in args: refused in reverse mode where it counts."""

import math

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


def counting(t, y, k, work):
    work[0] += 1
    return np.array([-k * y[0] * work[0] * 0.1, y[0]])


def running_maximum(t, y, k, work):
    if y[1] > work[0]:
        work[0] = y[1]
    return np.array([-k * y[0] * work[0], 1.0 - t])


def latched(t, y, k, work):
    if 0.4 < t < 0.5:
        work[0] = 1
    return np.array([-k * y[0] if work[0] == 0 else 0.1 * k, y[0]])


def read_late(t, y, k, work):
    left = work[0] if t > 0.8 else 0.0
    if t < 0.3:
        work[0] = k * y[0]
    return np.array([-k * y[0] - left, y[0]])


def of_the_same_time(t, y, k, work):
    """One value for the stages of a time."""
    if t != work[1]:
        work[0], work[1] = k * y[0], t
    return np.array([-work[0] * y[0], y[0]])


FLOATS, INTS = np.zeros(2), np.zeros(2, np.int64)
REMEMBERING = [
    *((f, FLOATS) for f in (remembering, counting, running_maximum, read_late, of_the_same_time)),
    *((f, INTS) for f in (counting, latched)),
]


@pytest.mark.filterwarnings("ignore:the right-hand side")
@pytest.mark.deep(but=["discrete-latched*"])
@pytest.mark.parametrize(
    ("fun", "work"), REMEMBERING, ids=lambda x: getattr(x, "__name__", getattr(x, "dtype", None))
)
@pytest.mark.parametrize("adjoint", ["discrete", "gauss", "backsolve"])
def test_what_an_earlier_call_has_left_may_not_be_read(fun, work, adjoint):
    solve = nd.ode.solver(fun, adjoint=adjoint, **STEPS)

    @njit
    def loss(k, work):
        return solve(np.array([1.0, 2.0]), TIMES, (k, work)).sum()

    with pytest.raises(nd.ModelError, match="reads what an earlier call has left"):
        nd.grad(loss, mode="reverse")(0.7, work.copy())
    found = nd.grad(loss, mode="forward")(0.7, work.copy())
    assert found == pytest.approx(slope(lambda k: loss(k, work.copy()), 0.7), rel=1e-8)


def kept_up_to_one(t, y, k, work):
    if t <= 1.0:
        work[0] = y[0]
        return -k * y
    return -k * work[0] * np.ones(2)


@pytest.mark.filterwarnings("ignore:the right-hand side")
@pytest.mark.deep(but=["gauss"])
@pytest.mark.parametrize("adjoint", ["gauss", "quadrature", "interpolating"])
def test_nor_where_the_array_holds_it_from_the_beginning(adjoint):
    """As after a solution with the same parameters: the same values are written once more."""
    solve = nd.ode.solver(kept_up_to_one, adjoint=adjoint, **STEPS)

    @njit
    def loss(k, work):
        return solve(np.array([1.0, 2.0]), (0.0, 2.0), (k, work)).sum()

    work = np.zeros(2)
    loss(0.7, work)
    assert work[0] != 0.0
    with pytest.raises(nd.ModelError, match="reads what an earlier call has left"):
        nd.grad(loss, mode="reverse")(0.7, work)


@pytest.mark.dear
@pytest.mark.deep(but=["of_the_same_time"])
@pytest.mark.filterwarnings("ignore:the right-hand side")
@pytest.mark.parametrize("fun", [remembering, of_the_same_time], ids=lambda f: f.__name__)
def test_where_steps_are_taken_again(fun):
    """In the same order, from a few states: they come out as before."""
    solve = nd.ode.solver(fun, checkpoints=4, **STEPS)
    with pytest.raises(nd.ModelError, match="reads what an earlier call"):
        nd.grad(
            lambda k: solve(np.array([1.0, 2.0]), TIMES, (k, np.zeros(2))).sum(), mode="reverse"
        )(0.7)


@pytest.mark.dear
@pytest.mark.deep(but=["None"])
@pytest.mark.parametrize("checkpoints", [None, 4])
def test_a_counter_that_nothing_depends_on(checkpoints):
    def counted(t, y, k, calls):
        calls[0] += 1
        return np.array([-k * y[0]])

    solve = nd.ode.solver(counted, checkpoints=checkpoints, **STEPS)
    calls = np.zeros(1, np.int64)
    solve(np.array([1.0]), TIMES, (0.7, calls))
    once, calls[0] = calls[0], 0
    loss = nd.grad(
        lambda k, calls: solve(np.array([1.0]), TIMES, (k, calls))[-1, 0], mode="reverse"
    )
    assert loss(0.7, calls) == pytest.approx(-math.exp(-0.7), rel=1e-6)
    assert calls[0] >= once > 0


@njit
def damping(p, t):
    rate = p[1]
    rate += t
    return math.exp(-rate)


def in_steps(t, y, p):
    """Numbers from an array that are added to, which leaves the array as it is."""
    k = p[0]
    k *= y[0]
    first = y[0]
    first -= 1.0
    return np.array([0.1 * first - k * damping(p, t)])


def in_steps_in_place(t, y, dy, p):
    k = p[0]
    k *= y[0]
    dy[0] = -k * damping(p, t)


@pytest.mark.deep
@pytest.mark.parametrize(("fun", "inplace"), [(in_steps, False), (in_steps_in_place, True)])
def test_numbers_from_an_array_are_changed_alone(fun, inplace):
    solve = nd.ode.solver(fun, inplace=inplace, rtol=1e-7)

    @njit
    def loss(p):
        return solve(np.array([1.0]), TIMES, (p,))[-1, 0] + (p * p).sum()

    p = np.array([0.5, 0.3])
    forward = nd.grad(loss, mode="forward")(p)
    np.testing.assert_allclose(nd.grad(loss, mode="reverse")(p), forward, rtol=1e-12)
    squared = nd.grad(lambda p: (nd.grad(loss, mode="forward")(p) ** 2).sum(), mode="reverse")
    np.testing.assert_allclose(squared(p), 2.0 * nd.hessian(loss)(p) @ forward, rtol=1e-9)


@pytest.mark.deep
def test_events_may_write_to_arrays():
    def condition(t, y, k, work):
        work[1] = k * y[0]
        return work[1] - 0.4

    solve = nd.ode.solver(
        lambda t, y, k, work: (-k * y[0],),
        rtol=1e-9,
        events=nd.ode.event(condition, change=lambda t, y, k, work: (y[0] + k,)),
    )

    def last(k):
        return solve((0.6,), (0.0, 0.5, 2.0), (k, np.zeros(2)))[-1, 0]

    forward, reverse = (nd.grad(last, mode=mode)(0.8) for mode in ("forward", "reverse"))
    assert forward == pytest.approx(reverse, rel=1e-9)
    assert forward == pytest.approx(slope(njit(last), 0.8), rel=1e-5)


@pytest.mark.dear
@pytest.mark.deep(but=["auto"])
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


@pytest.mark.dear
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


def test_parameters_of_single_precision_beside_what_is_written():
    def mixed(t, y, k, table):
        table[2] = table[0] * y * k
        return -table[2]

    solve = nd.ode.solver(mixed, adjoint="gauss", **STEPS)
    table = np.array([0.75, 0.125, 0.0], np.float32)
    found = nd.grad(lambda k: solve(1.0, (0.0, 1.0), (k, table.copy()))[-1, 0], mode="reverse")(0.7)
    assert found == pytest.approx(-0.75 * np.exp(-0.75 * 0.7), rel=1e-6)
