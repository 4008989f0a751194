"""Blocks in object mode see Python objects, which dual numbers are not."""

import numpy as np
import pytest
from numba import njit, objmode

import numbad as nd


@njit
def in_object_mode(x):
    with objmode(y="float64"):
        y = x * 2.0
    return y


def test_a_block_in_object_mode_is_refused_with_its_line():
    assert in_object_mode(1.5) == 3.0
    with pytest.raises(nd.UnsupportedError, match=r"line \d+:\n    with objmode"):
        nd.derivative(in_object_mode)(1.5)


SEEN = []


@njit
def tells(x, verbose):
    square = x * x
    if verbose:
        with objmode(length="int64", message="unicode_type"):
            SEEN.append((x, square))
            length, message = 3, "0.25"
        square *= length + len(message)
    return square


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_block_gets_values_where_no_float_comes_back(mode):
    SEEN.clear()
    assert nd.grad(tells, mode=mode)(0.5, False) == 1.0
    assert SEEN == []
    assert nd.grad(tells, mode=mode)(0.5, True) == 7.0
    assert set(SEEN) == {(0.5, 0.25)}
    assert {type(value) for value in SEEN[0]} == {float}
    assert nd.hessian(tells, mode=mode)(0.5, True) == 14.0


@njit
def writes(x):
    with objmode():
        x[0] = 2.0
    return x[0]


@njit
def leaves_a_number(x):
    buffer = np.zeros(1)
    with objmode():
        buffer[0] = 2.0 * x
    return buffer[0] * x


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "x"), [(writes, np.ones(2)), (leaves_a_number, 0.3)])
def test_a_block_that_takes_an_array_is_refused(f, x, mode):
    with pytest.raises(nd.UnsupportedError, match="a block in object mode"):
        nd.grad(f, mode=mode)(x)
