"""`nd.checkpoint`: a function computed again in the reverse sweep instead of recorded."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])


@njit
def several_steps(x, y, n):
    for i in range(n):
        x, y = x + 0.1 * y, y - 0.1 * math.sin(x) * (i + 1)
    return x, y


@njit
def in_place_steps(a, x):
    for i in range(len(a)):
        a[i] = a[i] * x + a[i - 1]


@njit
def of_array(a, x):
    s = 0.0
    for v in a:
        s = s * x + v * v
    return s


@njit
def new_array(a, x):
    b = a * x
    b[0] += x * x
    return b


recomputed = nd.checkpoint(several_steps)
recomputed_in_place = nd.checkpoint(in_place_steps)
recomputed_of_array = nd.checkpoint(of_array)
recomputed_array = nd.checkpoint(new_array)


@programs.on(0.5, 1.5, 4)
def steps(x, y, n):
    for _ in range(n):
        x, y = recomputed(x, y, 5)
    return x * y


@programs.on(A, 0.5, 3)
def function_that_writes(a, x, n):
    for _ in range(n):
        recomputed_in_place(a, x)
    return a[0] * a[3]


@programs.on(A, 0.5, 3)
def argument_overwritten_afterwards(a, x, n):
    s = 0.0
    for i in range(n):
        s += recomputed_of_array(a, x) * x
        a[i] = s * a[i + 1]
    return s * a[0]


@programs.on(A, 0.5)
def function_that_returns_an_array(a, x):
    b = recomputed_array(recomputed_array(a, x), x)
    b[1] *= x
    return b[0] * b[1] * a[2]


@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    names = {
        "recomputed": several_steps,
        "recomputed_in_place": in_place_steps,
        "recomputed_of_array": of_array,
        "recomputed_array": new_array,
    }
    without = type(f)(f.__code__, {**f.__globals__, **names}, f.__name__)
    check(f, *args, plain=without)


@njit
def draw():
    return np.random.random()


@njit
def draw_after(f, x):
    f(x)
    return np.random.random()


def test_the_same_random_numbers_are_drawn_again():
    @njit
    def noisy(x):
        return x * np.random.random() + x * x * np.random.random()

    kept = nd.checkpoint(noisy)

    @njit
    def with_checkpoint(x):
        np.random.seed(7)
        return kept(kept(x)) * np.random.random()

    @njit
    def without(x):
        np.random.seed(7)
        return noisy(noisy(x)) * np.random.random()

    found = nd.value_and_grad(with_checkpoint, 0, mode="reverse")(0.75)
    assert found == pytest.approx(nd.value_and_grad(without, 0, mode="reverse")(0.75), rel=1e-14)
    np.random.seed(3)
    after = nd.grad(with_checkpoint, 0, mode="reverse")(0.75), draw()
    assert after == (nd.grad(without, 0, mode="reverse")(0.75), draw_after(without, 0.75))


def test_a_generator_is_refused():
    kept = nd.checkpoint(njit(lambda x, rng: x * rng.normal()))
    with pytest.raises(nd.UnsupportedError, match="takes a Generator"):
        nd.grad(lambda x, rng: kept(x, rng) * x, mode="reverse")(2.0, np.random.default_rng(1))


def test_text_is_printed_again(capfd):
    @njit
    def loud(x):
        print("here")
        return x * x

    kept = nd.checkpoint(loud)
    assert nd.grad(lambda x: kept(x) * x, mode="reverse")(2.0) == 12.0
    assert capfd.readouterr().out == "here\nhere\n"


def test_a_checkpointed_function_is_differentiated_itself():
    kept = nd.checkpoint(of_array)
    a = np.array([2.0, 3.0])
    np.testing.assert_array_equal(nd.grad(kept, 0, mode="reverse")(a, 5.0), [20.0, 6.0])
    np.testing.assert_array_equal(nd.jacobian(kept, 0, mode="forward")(a, 5.0), [20.0, 6.0])
    assert kept(a, 5.0) == of_array(a, 5.0)
