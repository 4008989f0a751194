"""Calls that ask for literals, blocks in object mode, arrays picked by a branch."""

import numba
import numpy as np
import pytest
from numba import njit, objmode

import numbad as nd

MODES = pytest.mark.parametrize("mode", ["forward", "reverse"])


@njit
def power(x, n):
    return x ** numba.literally(n)


@njit
def cube_and_square(x):
    return power(x, 3) + power(x, 2)


@njit
def count_in_python(n):
    with objmode(t="float64"):
        t = float(n)
    return t


@njit
def times_counts(x):
    with objmode():
        len("nothing that is differentiated")
    return count_in_python(3) * x * x


@MODES
def test_calls_that_touch_nothing_differentiated_are_left_alone(mode):
    assert nd.value_and_grad(cube_and_square, mode=mode)(2.0) == (12.0, 16.0)
    assert nd.value_and_grad(times_counts, mode=mode)(2.0) == (12.0, 12.0)


@njit
def in_python(x):
    with objmode(y="float64"):
        y = x * 2.0
    return y


@MODES
def test_a_block_that_takes_what_is_differentiated_is_refused(mode):
    with pytest.raises(nd.UnsupportedError, match="a block in object mode") as caught:
        nd.grad(in_python, mode=mode)(1.5)
    assert "defect" not in str(caught.value)


@njit
def picked(t, a, b, first):
    z = a if first else b
    return np.sum(z * t * t * a)


def test_reverse_mode_of_a_derivative_that_picks_its_array():
    slope = nd.derivative(picked)
    f = njit(lambda t, a, b, first: slope(t, a, b, first))
    a, b = np.array([1.0, 3.0]), np.array([2.0, 5.0])
    gradient = nd.grad(f, (0, 1, 2), mode="reverse")
    for first, by_a, by_b in ((True, 8.0 * a, 0.0 * b), (False, 4.0 * b, 4.0 * a)):
        by_t, found_a, found_b = gradient(2.0, a, b, first)
        assert by_t == 2.0 * np.sum((a if first else b) * a)
        np.testing.assert_allclose(found_a, by_a, rtol=1e-14)
        np.testing.assert_allclose(found_b, by_b, rtol=1e-14)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_literal_that_is_not_in_the_code_is_refused(mode):
    with pytest.raises(
        nd.UnsupportedError, match="must know as a literal: (?s:.*)write the value in"
    ):
        nd.grad(power, mode=mode)(1.3, 3)
