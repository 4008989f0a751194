"""Every pass of a sweep draws the same numbers."""

import random

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.operators.test_repetition import INPUTS, drawn


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


def test_what_functions_draw_that_others_overload_is_drawn_again():
    found = nd.grad(lambda x: x.sum() * drawn(1.0), mode="forward")(np.ones(INPUTS))
    assert found[0] != 0.0
    np.testing.assert_array_equal(found, found[0])
