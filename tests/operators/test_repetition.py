"""A sweep of several passes calls the function several times; nobody may be able to tell."""

import random

import numpy as np
import pytest
from numba import njit
from numba.typed import List

import numbad as nd

INPUTS = 40  # more than travel in one pass


@njit
def draw():
    return np.random.normal() + random.random()


@njit
def weighted(x):
    total = 0.0
    for i in range(x.size):
        total += x[i] * draw() * np.random.rand()
    return total


@njit
def seed(k):
    np.random.seed(k)
    random.seed(k)


def test_every_pass_draws_the_same_random_numbers():
    x = np.ones(INPUTS)
    seed(7)
    value, afterwards = weighted(x), draw()
    seed(7)
    found, gradient = nd.value_and_grad(weighted)(x)
    assert found == value
    assert gradient.sum() == pytest.approx(value, rel=1e-14)  # the function is linear
    assert draw() == afterwards


def test_an_array_that_every_call_changes_is_put_back_in_between():
    @njit
    def counting(x, calls):
        calls[0] += 1.0
        return calls[0] * x.sum()

    calls = np.zeros(1)
    gradient = nd.grad(counting)(np.ones(INPUTS), calls)
    np.testing.assert_array_equal(gradient, np.ones(INPUTS))
    assert calls[0] == 1.0


def test_an_argument_that_the_function_changes_is_changed_once():
    @njit
    def accumulate(x):
        for i in range(1, x.size):
            x[i] = 0.5 * x[i - 1] + x[i]
        return x[-1]

    start = np.linspace(1.0, 2.0, INPUTS)
    plain, differentiated = start.copy(), start.copy()
    accumulate(plain)
    gradient = nd.grad(accumulate)(differentiated)
    np.testing.assert_array_equal(differentiated, plain)
    np.testing.assert_allclose(gradient, 0.5 ** np.arange(INPUTS - 1, -1, -1))


@pytest.mark.parametrize("chunk", [1, 2, 8])
def test_jvp_of_a_function_that_changes_its_argument(chunk):
    @njit
    def product(x):
        x[0] = x[0] * x[1]
        return x[0] * x[1] * x[2]

    derivative = nd.jacobian(nd.jvp(product), chunk=chunk)
    x = np.array([1.0, 2.0, 3.0])
    (value,), (tangent,) = derivative((x,), (np.ones(3),))
    np.testing.assert_allclose(value, [12.0, 12.0, 4.0])
    np.testing.assert_allclose(tangent, [16.0, 22.0, 8.0])


def test_a_list_that_grows_at_every_call_is_refused():
    @njit
    def growing(x, kept):
        kept.append(1.0)
        return x.sum() * len(kept)

    with pytest.raises(nd.UnsupportedError, match="may change its argument 'kept'"):
        nd.grad(growing, mode="forward")(np.ones(INPUTS), List([1.0]))
