"""Loops over time that update arrays: the state of each step is kept, and the step is run again.

Loops that must not be treated so stand here too; all hold with the optimisation off as well.
"""

import math
import re

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.reverse import switches
from numbad.reverse.loops import replayable
from numbad.reverse.loops.replay import Replay
from tests.reverse.oracle import Programs, check_gradient, check_pullback, check_second_order
from tests.reverse.stages import sweep_of

Y = np.array([0.5, -0.25, 0.75, 0.4, -0.3])
P = np.array([0.7, 0.3])

programs = Programs()
replayed = {}  # name -> whether a loop of it is run again


def again(*runs, **options):
    def mark(f):
        replayed[f.__name__] = True
        return programs.on(*runs, **options)(f)

    return mark


def once(*runs, **options):
    def mark(f):
        replayed[f.__name__] = False
        return programs.on(*runs, **options)(f)

    return mark


@njit
def rate(n, p, y, k):
    u = y[:n]
    v = y[n:]
    for i in range(n):
        k[i] = p[0] * u[i] * u[i] * v[i] - u[i]
        k[n + i] = p[1] * u[i] * v[i] + math.sin(u[i] * v[i])


@again((Y, P, 0.1, 3), (Y[:4], P, 0.1, 2), (Y, P, 0.1, 0), (Y[:1], P, 0.1, 2))
def runge_kutta(y0, p, h, steps):
    m = y0.shape[0]
    y = y0.copy()
    k1 = np.zeros(m)
    k2 = np.zeros(m)
    k3 = np.zeros(m)
    t = np.zeros(m)
    for _ in range(steps):
        rate(m // 2, p, y, k1)
        for i in range(m):
            t[i] = y[i] + 0.5 * h * k1[i]
        rate(m // 2, p, t, k2)
        for i in range(m):
            t[i] = y[i] - h * k1[i] + 2.0 * h * k2[i]
        rate(m // 2, p, t, k3)
        for i in range(m):
            y[i] = y[i] + h / 6.0 * (k1[i] + 4.0 * k2[i] + k3[i])
    total = 0.0
    for i in range(m):
        total += y[i] * y[i]
    return total


@again((Y, 0.3, 3), (Y, 0.3, 0))
def read_before_steps_overwrite_it(x, c, steps):
    n = x.size
    product = c
    for i in range(n):
        product = product * 0.5 + x[i] * x[i] * x[i]
    k = np.zeros(n)
    t = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            k[i] = x[i] * x[i] * c
        for i in range(n):
            t[i] = k[i] * k[i] + x[i]
        for i in range(n):
            x[i] = x[i] + t[i] * k[i]
    return product * (x[0] + x[n - 1] * x[1])


@again((Y, 0.3, 4), (Y, 0.3, 1))
def diffusion_in_place(y, c, steps):
    n = y.shape[0]
    new = np.empty(n)
    loss = 0.0
    for step in range(steps):
        for i in range(n):
            left = y[i - 1] if i > 0 else y[n - 1]
            right = y[i + 1] if i < n - 1 else y[0]
            new[i] = y[i] * (1.0 - c) + c * left * right * (step + 1)
        for i in range(n):
            y[i] = new[i] * y[i] + math.sin(new[i])
        loss += y[step % n] * y[0]
    return loss


@again((Y, 0.3, 3))
def relaxed(x, c, steps):
    y = x.copy()
    for _ in range(steps):
        for i in range(1, y.size - 1):
            y[i] = (1.0 - c) * y[i] + c * y[i - 1] * y[i + 1]
    return np.sum(y * y)


@again((Y, 0.3, 3))
def multiplied(x, c, steps):
    n = x.size
    y, new = x.copy(), np.empty(n)
    for _ in range(steps):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += c * y[j] * math.sin(y[i])
            new[i] = math.tanh(total)
        for i in range(n):
            y[i] = new[i]
    return np.sum(y * y)


@again((Y, 0.3, 4))
def read_after_it_is_written(x, c, steps):
    y = x.copy()
    s = c
    for _ in range(steps):
        for i in range(y.shape[0]):
            y[i] = math.sin(y[i] * y[i]) + 0.1 * s
            s = 0.5 * s + 0.1 * y[i] * y[i - 1]
        for i in range(y.shape[0]):
            s = s * math.cos(y[i]) + c
    return s * y[1]


@again((Y, 0.3, 3))
def written_twice(x, c, steps):
    n = x.shape[0]
    y = x.copy()
    t = np.empty(n)
    for k in range(1, steps + 1):
        for i in range(n):
            t[i] = math.sin(y[i] * k)
        for i in range(n):
            y[i] = y[i] * t[i] + t[n - 1 - i] * c
        for i in range(n):
            t[i] = t[i] * y[i]
        for i in range(n):
            y[i] += t[i] * y[i] * t[0]
    return y[0] * y[n - 1]


@again((Y, 0.3, 3), (Y, -0.9, 3))
def branches_in_the_step(x, c, steps):
    n = x.shape[0]
    y = x.copy()
    v = c
    for _ in range(steps):
        for i in range(n):
            if y[i] > v * 0.5:
                y[i] = y[i] * y[i] * v
            elif i == 2:
                continue
            else:
                y[i] = math.exp(y[i]) * y[i]
        if v > 0.0:
            v = v * y[1]
        for i in range(1, n):
            y[i] = y[i] * y[i - 1] + v
    return y[n - 1] + v * y[0]


@again((Y, 0.3, 3))
def views_from_before(x, c, steps):
    y = x.copy()
    back = y[::-1]
    for _ in range(steps):
        for i in range(y.shape[0]):
            back[i] = back[i] * y[i] + c * back[i]
        for i in range(y.shape[0] - 1):
            y[i] = math.sin(y[i] * y[i + 1])
    return y[0] + back[1] * y[2]


@again((np.array([[0.5, -0.2, 0.3], [0.1, 0.8, -0.7]]), 0.3, 3))
def matrix(x, c, steps):
    n, m = x.shape
    y = x.T.copy()
    w = np.empty((m, n))
    for _ in range(steps):
        for i in range(m):
            for j in range(n):
                w[i, j] = math.sin(y[i, j]) * c
        for i in range(m):
            for j in range(n):
                y[i, j] = y[i, j] * w[i, n - 1 - j] + y[(i + 1) % m, j]
    return y[0, 1] * y[2, 0] + y[1, 1]


@again((Y, 0.3, 3))
def state_that_is_returned(x, c, steps):
    y = x.copy()
    for _ in range(steps):
        for i in range(y.shape[0]):
            y[i] = y[i] * y[i] * c + y[i - 1]
            y[i - 1] = y[i] * y[i - 1]
    return y


# -- one step beyond ------------------------------------------------------------------------


@programs.on((Y, 0.3, 3))
def negative_indices(x, c, steps):
    n = x.shape[0]
    y = x.copy()
    for _ in range(steps):
        t = c
        for i in range(-2, n):
            y[i] = y[i] * y[i] * t + math.sin(y[i])
            t = t * math.cos(t)
    return y[n - 1] * y[0] + y[n - 2]


@programs.on((Y, 0.3, 3))
def views_of_scratch(x, c, steps):
    n = x.shape[0]
    y = x.copy()
    t = np.empty(n)
    before = t[::-1]
    for _ in range(steps):
        early = t[1:]
        for i in range(n):
            t[i] = math.sin(y[i])
        for i in range(n - 1):
            y[i] = y[i] * before[i] * early[i]
        for i in range(n):
            t[i] = y[i] * c
        for i in range(n - 1):
            y[i] = y[i] + before[i] * early[i] * y[i] * math.exp(t[i])
    return y[0] * y[1]


@programs.on((Y, 0.3, 5))
def scratch_written_in_some_steps(x, c, steps):
    n = x.shape[0]
    y = x.copy()
    k = np.zeros(n)
    for s in range(steps):
        for _ in range(s % 2):
            for i in range(1, n):
                k[i] = math.sin(y[i]) * y[i]
        for i in range(n):
            y[i] = y[i] * k[i] * c + y[i] * math.cos(y[i]) + k[i] * k[i]
    return y[1] * y[2]


# -- not to be run again ---------------------------------------------------------------------


@once((Y, 0.3, 3))
def swapped(x, c, steps):
    y = x.copy()
    new = np.empty(x.shape[0])
    for _ in range(steps):
        for i in range(x.shape[0]):
            new[i] = y[i] * y[i - 1] * c + math.sin(y[i])
        y, new = new, y
    return y[0] * y[1]


@once((Y, 0.3, 3))
def constants_that_change_later(x, c, steps):
    y = x.copy()
    w = x.copy()
    for _ in range(steps):
        for i in range(x.shape[0]):
            y[i] = y[i] * w[i] * y[i - 1] + c
            y[i] = math.sin(y[i]) * y[i]
    for i in range(x.shape[0]):
        w[i] = w[i] * c
    return y[0] * w[1]


@once((Y, 0.3, 3))
def integers_that_change(x, c, steps):
    y = x.copy()
    seen = np.zeros(x.shape[0], np.int64)
    for _ in range(steps):
        for i in range(x.shape[0]):
            seen[i] += 1
            y[i] = y[i] * y[i - 1] * seen[i] + c
            y[i] = math.sin(y[i]) * y[i]
    return y[0] * y[1]


@once((Y, 0.3, 9))
def left_in_between(x, c, steps):
    y = x.copy()
    for _ in range(steps):
        for i in range(x.shape[0]):
            y[i] = y[i] * y[i - 1] + c
            y[i] = math.sin(y[i]) * y[i]
        if y[0] > 0.05:
            break
    return y[0] * y[1]


@again((Y, 0.3, 3))
def compared_as_a_whole(x, c, steps):
    """A mask is of what the step has put into a new array."""
    y = x.copy()
    for _ in range(steps):
        room = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            room[i] = y[i] * y[i] + c
        large = room > 0.4
        for i in range(x.shape[0]):
            y[i] = y[i] * y[i] + c if large[i] else math.sin(y[i]) * y[i]
    return y[0] * y[1]


@once((Y, 0.3, 3))
def compared_and_written_afterwards(x, c, steps):
    y, level = x.copy(), np.sin(x)
    for _ in range(steps):
        large = level > 0.3
        for i in range(x.shape[0]):
            y[i] = y[i] * y[i - 1] + c if large[i] else y[i] * c
            y[i] = math.sin(y[i]) * y[i]
    level[:] = level[::-1].copy()
    return y[0] * y[1] * level[1]


by_name = {program.f.__name__: program for program in programs}


def check(program):
    if program.f is state_that_is_returned:
        check_pullback(program)
    else:
        check_gradient(program)


@pytest.mark.deep(
    but=[
        "branches_in_the_step",
        "compared_and_written_afterwards",
        "compared_as_a_whole",
        "left_in_between",
        "matrix",
        "read_after_it_is_written",
        "runge_kutta",
        "scratch_written_in_some_steps",
        "swapped",
        "views_from_before",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check(program)


@pytest.mark.deep
@programs.parametrize()
def test_gradient_without(program):
    with switches.without("replay"):
        check(program)


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name in replayed if name != "state_that_is_returned"])
def test_second_order(name):
    check_second_order(by_name[name])


def stages(f):
    return sweep_of(f, by_name[f.__name__])


def run_again(f):
    return [part for part in stages(f).parts() if isinstance(part, Replay)]


@pytest.mark.deep(but=["left_in_between", "runge_kutta", "swapped", "written_twice"])
@pytest.mark.shows("replay")
@pytest.mark.parametrize("name", replayed)
def test_loops_are_told_apart(name):
    assert bool(run_again(by_name[name].f)) == replayed[name]


@pytest.mark.shows("replay")
def test_what_saves_little_memory_is_recorded(monkeypatch):
    """Unless a loop within a walk over the state records, so many times for each of its elements."""
    monkeypatch.setattr(replayable, "MANY", 5)
    assert not run_again(relaxed)
    assert run_again(multiplied)
    assert run_again(runge_kutta)


@pytest.mark.shows("replay")
def test_state_is_what_steps_start_from():
    (part,) = run_again(runge_kutta)
    assert len(part.state) == 1
    assert len(part.unread) == 1
    assert len(part.versions["t"]) == 2


@pytest.mark.shows("replay", "needed")
def test_what_is_compared_as_a_whole_is_made_again():
    """Else the mask would be of what the memory held before, which may be the same by chance."""
    text = nd.inspect_adjoint(compared_as_a_whole, Y, 0.3, 3)
    assert re.search(r"room\[\w+\] = ", text.partition("reverse sweep")[2])


@pytest.mark.shows
def test_stages_are_not_recorded():
    frames = stages(runge_kutta).plan.frames
    assert not any(frames.values())
    with switches.without("replay"):
        assert sum(map(len, stages(runge_kutta).plan.frames.values())) > 4


def test_argument_is_left_as_the_function_leaves_it():
    function = njit(diffusion_in_place)
    plain, seen = Y.copy(), Y.copy()
    value = function(plain, 0.3, 4)
    found, _ = nd.value_and_grad(function, 1, mode="reverse")(seen, 0.3, 4)
    assert found == value
    np.testing.assert_array_equal(seen, plain)
