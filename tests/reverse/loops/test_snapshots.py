"""`nd.checkpoint(f, snapshots=k)`: long loops with few states kept, against forward mode.

Forward mode keeps nothing, and is the oracle of the derivatives. The number of steps is held against the
least possible, found by search.
"""

import ctypes
import functools
import math

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd
from numbad.compilation.fingerprint import fingerprint
from numbad.errors import ArgumentError, TapeLimitError, UnsupportedError
from numbad.reverse import memory
from numbad.reverse.loops.replayable import Replayable
from numbad.reverse.loops.snapshots import steps_to_next

Y = np.array([0.5, -0.25, 0.75, 0.4, -0.3])


@njit
def oscillator(p, n):
    x, v, work = p[0], p[1], 0.0
    for k in range(n):
        force = -math.sin(x) * p[2] - p[3] * v
        if force > 0.0:
            work += force * v
        v = v + 0.05 * force * (1.0 + 0.1 * k)
        x = x + 0.05 * v
    return x * v + work


@njit
def backwards(p, n):
    x = p[0]
    for k in range(2 * n, 0, -2):
        x = x + 0.1 * math.cos(x * k) * p[1]
    return x * p[2] + p[3]


@njit
def diffusion(p, n):
    y = np.empty(5)
    new = np.empty(5)
    for i in range(5):
        y[i] = p[i % 4] * (i + 1)
    total = 0.0
    for k in range(n):
        for i in range(5):
            new[i] = y[i] + 0.1 * (y[i - 1] * y[i] - math.sin(y[i]) * k)
        for i in range(5):
            y[i] = new[i] * math.cos(new[(i + 1) % 5])
        total += y[0] * y[1]
    return total + y[3]


@njit
def two_loops(p, n):
    x = p[0]
    for _ in range(n):
        x = x + 0.1 * math.sin(x) * p[1]
    y = x * p[2]
    for k in range(n // 2):
        for _ in range(2):
            y = y - 0.1 * y * x * p[3]
        x = math.sin(x + y)
    return x * y


P = np.array([0.6, -0.4, 1.3, 0.2])
FUNCTIONS = oscillator, backwards, diffusion, two_loops


@pytest.mark.deep(but=["2-oscillator", "3-two_loops", "7-backwards"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.py_func.__name__)
@pytest.mark.parametrize("snapshots", [1, 2, 3, 7])
def test_gradient(f, snapshots):
    plain = nd.value_and_grad(f, mode="reverse")
    kept = nd.value_and_grad(nd.checkpoint(f, snapshots=snapshots), mode="reverse")
    for n in (0, 1, 2, 3, 4, 9, 30):
        value, gradient = kept(P, n)
        expected = nd.value_and_grad(f, mode="forward")(P, n)
        assert value == f(P, n)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(gradient, plain(P, n)[1], rtol=1e-14)


@pytest.mark.deep
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.py_func.__name__)
def test_second_order(f):
    found = nd.hessian(nd.checkpoint(f, snapshots=2))(P, 6)
    np.testing.assert_allclose(found, nd.hessian(f)(P, 6), rtol=1e-10, atol=1e-12)


def test_within_another_function():
    step = nd.checkpoint(oscillator, snapshots=3)

    @njit
    def outer(p, n):
        return step(p, n) * math.sin(p[0]) + step(p, n + 1)

    @njit
    def plain(p, n):
        return oscillator(p, n) * math.sin(p[0]) + oscillator(p, n + 1)

    found = nd.grad(outer, mode="reverse")(P, 20)
    np.testing.assert_allclose(found, nd.grad(plain, mode="forward")(P, 20), rtol=1e-12)


def test_argument_is_left_as_the_function_leaves_it():
    @njit
    def relax(y, c, n):
        for _ in range(n):
            for i in range(y.shape[0]):
                y[i] = y[i] + c * math.sin(y[i - 1] * y[i])
        return y[0] * y[1]

    plain, seen = Y.copy(), Y.copy()
    value = relax(plain, 0.3, 12)
    gradient = nd.value_and_grad(nd.checkpoint(relax, snapshots=3), 1, mode="reverse")
    found, derivative = gradient(seen, 0.3, 12)
    assert found == value
    np.testing.assert_array_equal(seen, plain)
    assert derivative == pytest.approx(nd.grad(relax, 1, mode="forward")(Y.copy(), 0.3, 12))


def test_memory_is_that_of_the_states():
    recorded = nd.grad(oscillator, mode="reverse")
    kept = nd.grad(nd.checkpoint(oscillator, snapshots=30), mode="reverse")
    limit = TapeLimitError.limit
    try:
        memory.set_tape_limit(70_000)
        gradient = kept(P, 20_000)
        with pytest.raises(TapeLimitError):
            recorded(P, 20_000)
    finally:
        memory.set_tape_limit(limit)
    np.testing.assert_allclose(gradient, recorded(P, 20_000), rtol=1e-13)


@njit
def activation(y):
    return np.tanh(y) + 0.1 * y


@njit
def cubic(x, p):
    return np.array([x[0] ** 3 + x[0] - p[0], 2.0 * x[1] - p[1] * x[0]])


@njit
def changing_matrix(a, n):
    A, y = np.array([[a, 0.2], [0.1, 0.5]]), np.array([1.0, a])
    for k in range(n):
        z = A @ y
        A[0, 1] = 0.3 * z[0]
        A[1, :] = 0.2 * z + 0.1 * A[1]
        y[:] = z + 0.1 * k
        y[0] = 0.5 * y[0] + A[0, 0]
    return A.sum() + y.sum()


@njit
def network(a, n):
    W, y, h = a * np.array([[1.0, 0.2], [0.1, 0.5]]), np.array([1.0, a]), np.zeros(2)
    for _ in range(n):
        u = activation(W @ y)
        h[:] = 0.5 * u + 0.2 * h
        y[:] = activation(h + u)
        u[:] = 0.0
        for j in range(2):
            y[j] += 0.1 * h[1 - j] * y[j]
    return y.sum() + h.sum()


@njit
def roots(a, n):
    y, total = np.array([1.0, a]), 0.0
    for _ in range(n):
        r = nd.root(cubic, np.array([0.5, 0.5]), (y,))
        y[0] = 0.3 * r[1] + 0.5 * y[1]
        total += r[0] * y[0]
        y[1] = r[0] if y[0] > 0.5 else 0.5 * np.linalg.norm(y)
    return total + y.sum()


@njit
def inverses(a, n):
    y = np.array([[1.0, a], [a * a, 0.4]])
    for _ in range(n):
        q = np.linalg.inv(y + 3.0 * np.eye(2))
        y[:] = q @ y @ q.T + 0.05 * y
        y[0, 0] += np.linalg.det(y)
    return y.sum()


@njit
def in_turn(a, n):
    y = np.full(3, a)
    y[0] = 1.0
    for k in range(n):
        order = np.argsort(y)
        y[k % 3] = 0.5 * y[order[0]] + nd.stop_gradient(y[order[2]]) * y[1]
        for i in range(3):
            y[i] = 0.9 * y[i] + 0.01 * math.sin(y[i])
    return y.sum()


@njit
def implicit_steps(a, n):
    y, B = np.array([1.0, a]), np.eye(2)
    for k in range(n):
        B[0, 1] = 0.1 * k
        w = np.linalg.solve(B + 1.0, y) if k % 2 else B @ y
        y[:] = 0.7 * y + 0.2 * w
    return y.sum()


@pytest.fixture
def rule_of_activation(rules_of_the_test):
    def backward(y, bar):
        return (bar * (1.1 - np.tanh(y) ** 2),)

    nd.rule(
        activation,
        jvp=lambda primals, along: (
            np.tanh(primals[0]) + 0.1 * primals[0],
            (1.1 - np.tanh(primals[0]) ** 2) * along[0],
        ),
        vjp=(lambda y: (np.tanh(y) + 0.1 * y, y.copy()), backward),
    )


CALLING = changing_matrix, network, roots, inverses, in_turn, implicit_steps


@pytest.mark.usefixtures("rule_of_activation")
@pytest.mark.deep(but=["network", "in_turn"])
@pytest.mark.parametrize("f", CALLING, ids=lambda f: f.py_func.__name__)
def test_operators_rules_and_linear_algebra_are_called_again(f):
    kept = nd.grad(nd.checkpoint(f, snapshots=2), mode="reverse")
    for n in (0, 1, 2, 5, 13):
        assert kept(0.7, n) == pytest.approx(nd.grad(f, mode="forward")(0.7, n), rel=1e-11)


@pytest.mark.usefixtures("rule_of_activation")
def test_what_rules_keep_is_kept_of_one_step():
    @njit
    def deep(a, n):
        y = np.full(1000, a)
        for _ in range(n):
            y[:] = activation(y)
        return y.sum()

    recorded = nd.grad(deep, mode="reverse")
    kept = nd.grad(nd.checkpoint(deep, snapshots=5), mode="reverse")
    limit = TapeLimitError.limit
    try:
        memory.set_tape_limit(200_000)
        gradient = kept(0.3, 300)
        with pytest.raises(TapeLimitError):
            recorded(0.3, 300)
    finally:
        memory.set_tape_limit(limit)
    assert gradient == pytest.approx(recorded(0.3, 300), rel=1e-12)


def changing_its_argument(x, n):
    y = np.full(2, x)
    for _ in range(n):
        doubled(y)
    return y.sum()


@nd.checkpoint
@njit
def doubled(y):
    y[0] *= 2.0 * y[1]


@functools.cache
def least(steps, states):
    """The fewest steps forward, found by trying every place for the next state."""
    if steps <= 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(
        there + least(steps - there, states - 1) + least(there, states) for there in range(1, steps)
    )


def taken(steps, states):
    """The same where `steps_to_next` chooses the place."""
    if steps <= 1:
        return 0
    there = steps_to_next(steps, states)
    if there >= steps:
        return steps * (steps - 1) // 2
    return there + taken(steps - there, states - 1) + taken(there, states)


@pytest.mark.parametrize("states", [1, 2, 3, 4, 5, 8])
def test_fewest_steps(states):
    for steps in range(1, 60):
        assert taken(steps, states) == least(steps, states)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("steps", "states", "times"), [(10**5, 100, 3), (10**7, 150, 4), (10**4, 10, 7)]
)
def test_times_that_a_step_is_run_again(steps, states, times):
    # As Griewank & Walther's Proposition 12.3 has it: r n - C(k + r, k + 1) steps in all.
    assert math.comb(states + times, states) >= steps > math.comb(states + times - 1, states)
    total, pending = 0, [(steps, states)]
    while pending:
        left, kept = pending.pop()
        if left > 1 and kept > 1:
            there = steps_to_next(left, kept)
            total += there
            pending += [(left - there, kept - 1), (there, kept)]
        elif left > 1:
            total += left * (left - 1) // 2
    assert total == times * steps - math.comb(states + times, states + 1)


@pytest.mark.deep(but=["30-40", "59-4"])
@pytest.mark.parametrize(("steps", "states"), [(1, 1), (9, 1), (40, 2), (59, 4), (59, 8), (30, 40)])
def test_steps_that_are_run(steps, states, monkeypatch):
    count = [0]

    def tick():
        count[0] += 1
        return 0

    counted = ctypes.CFUNCTYPE(ctypes.c_int64)(tick)
    monkeypatch.setattr(Replayable, "_is_plain", lambda self, op: True)  # a call of Python's, else

    @njit
    def f(x, n):
        for _ in range(n):
            counted()
            x = x + 0.1 * math.sin(x)
        return x

    gradient = nd.grad(nd.checkpoint(f, snapshots=states), mode="reverse")
    found = gradient(0.5, steps)
    once = count[0]
    assert found == pytest.approx(nd.grad(f, mode="forward")(0.5, steps), rel=1e-12)
    # Once forward, once to be recorded; the way to the first step to be reversed is part of the former.
    again = once - 2 * steps
    assert least(steps, states) - (steps - 1) <= again <= least(steps, states)


def test_number_is_part_of_what_is_kept_on_disk():
    few, more = (nd.checkpoint(oscillator, snapshots=k) for k in (3, 4))
    assert fingerprint(few) != fingerprint(more) != fingerprint(nd.checkpoint(oscillator))


@pytest.mark.parametrize("snapshots", [0, -1, 2.0, "3"])
def test_wrong_number(snapshots):
    with pytest.raises(ArgumentError, match="positive int for snapshots"):
        nd.checkpoint(oscillator, snapshots=snapshots)


def left_early(x, n):
    for _ in range(n):
        x = x * x
        if x > 2.0:
            break
    return x


def printing(x, n):
    for _ in range(n):
        print(n)
        x = x * x
    return x


def drawing(x, n):
    for _ in range(n):
        x = x * x * np.random.random()
    return x


def until(x, n):
    while x < n:
        x = x * x + 1.0
    return x


@pytest.mark.parametrize("f", [left_early, printing, drawing, until, changing_its_argument])
def test_loops_that_cannot_be_run_again(f):
    function = njit(f)
    function(0.5, 3)
    with pytest.raises(UnsupportedError, match=r"cannot run again(.|\n)*Way out: let it run over"):
        nd.grad(nd.checkpoint(function, snapshots=3), mode="reverse")(0.5, 3)


def test_parallel_loops_are_named():
    @njit(parallel=True)
    def f(x, n):
        y = np.full(100, x)
        for _ in range(n):
            for i in prange(y.size):
                y[i] += 0.1 * y[i] ** 2
        return y.sum()

    told = r"around a parallel loop(.|\n)*Way out: .*nd\.checkpoint\(step\)"
    with pytest.raises(UnsupportedError, match=told):
        nd.grad(nd.checkpoint(f, snapshots=3), mode="reverse")(0.5, 3)
