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


@programs.on(0.5, 1.5, 4, second=True)
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


@pytest.mark.deep(but=["steps", "function_that_writes"])
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
    with pytest.raises(nd.UnsupportedError, match="with a Generator"):
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


# -- what is changed, and holds no floats ------------------------------------------------------


@njit
def counted(x, n):
    n[0] += 1
    return x * x * n[0]


counted_again = nd.checkpoint(counted)


@njit
def twice(x, n):
    return counted_again(x, n) + counted_again(x, n) * x


@njit
def changed_afterwards(x, n):
    first = counted_again(x, n)
    n[0] = 10
    for k in range(2):
        n[k] += 5
    return first * x


@njit
def of_pair(x, pair):
    pair[1][0] += 1
    return x * pair[0] * pair[1][0]


of_pair_again = nd.checkpoint(of_pair)


@njit
def with_pair(x, n):
    return of_pair_again(x, (x, n)) * of_pair_again(x, (x, n))


@pytest.mark.deep(but=["twice-*"])
@pytest.mark.parametrize(
    ("f", "exact", "after"),
    [
        (twice, 2.0 * 1.5 + 2.0 * 3.0 * 1.5**2, [2, 0]),
        (changed_afterwards, 3.0 * 1.5**2, [15, 5]),
        (with_pair, 2.0 * 4.0 * 1.5**3, [2, 0]),
    ],
)
def test_counters_are_found_as_they_were(f, exact, after):
    n = np.zeros(2, np.int64)
    assert nd.grad(f, mode="reverse")(1.5, n) == pytest.approx(exact, rel=1e-15)
    np.testing.assert_array_equal(n, after)


def test_a_list_that_changes_is_refused():
    @njit
    def longer(x, numbers):
        numbers.append(1)
        return x * len(numbers)

    again = nd.checkpoint(longer)

    @njit
    def f(x):
        numbers = [1]
        return again(x, numbers) * again(x, numbers)

    with pytest.raises(nd.UnsupportedError, match="longer: the reverse sweep calls it again.*list"):
        nd.grad(f, mode="reverse")(1.5)
