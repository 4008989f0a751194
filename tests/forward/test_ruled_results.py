"""Rules of functions that return an argument's own array, in both modes."""

import re

import numpy as np
import pytest
from numba import njit

import numbad as nd

pytestmark = pytest.mark.usefixtures("rules_of_the_test")


def half_of(returned):
    """A function that returns its argument, or a copy, with half the slope."""
    half = njit(returned)
    nd.rule(
        half,
        jvp=lambda primals, tangents: (primals[0].copy(), 0.5 * tangents[0]),
        vjp=(lambda x: (x.copy(), ()), lambda _, cotangent: (0.5 * cotangent,)),
    )
    return half


def result_written(half):
    def f(x):
        z = 1.0 * x
        y = half(z)
        y[0] = 7.0
        return z[0] * z[1]

    return f


def argument_written(half):
    def f(x):
        z = 1.0 * x
        y = half(z)
        for k in range(2):
            z[k] = x[1 - k]
        return y[0] * y[1]

    return f


def work_array(half):
    """What is written to the array before each call does not matter."""

    def f(x):
        y, total = np.zeros(2), 0.0
        for k in range(3):
            y[0] = k * x[0]
            y[1] = x[1] * x[0]
            z = half(y)
            total += z[0] * z[1]
        return total

    return f


@pytest.mark.parametrize("mode", ["forward", "reverse"])
class TestReturnedArguments:
    @pytest.mark.parametrize("program", [result_written, argument_written])
    def test_where_that_shows_they_are_refused(self, program, mode):
        f = program(half_of(lambda x: x))
        told = r"returns \(a part of\) an argument, where one .* return x.copy\(\)"
        with pytest.raises(nd.UnsupportedError, match=re.compile(told, re.DOTALL)):
            nd.grad(f, mode=mode)(np.array([3.0, 2.0]))

    def test_where_it_does_not_they_are_as_copies(self, mode):
        x = np.array([3.0, 2.0])
        shared, copied = (
            nd.value_and_grad(work_array(half_of(returned)), mode=mode)(x)
            for returned in (lambda x: x, lambda x: x.copy())
        )
        assert shared[0] == copied[0] == 54.0
        np.testing.assert_array_equal(shared[1], copied[1])
        np.testing.assert_allclose(shared[1], [18.0, 13.5], rtol=1e-15)
