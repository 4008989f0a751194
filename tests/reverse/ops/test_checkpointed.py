"""Checkpoints and memory that is shared: what would be lost between the copies is told."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

X = np.array([2.0, 3.0, 5.0])


@njit
def written(a, b):
    a[0] = b[0] * b[1]
    return a[0] * b[1]


@njit
def in_loop(a, b, n):
    for i in range(n):
        a[i % 3] = math.sin(a[i % 3] * b[0] + b[(i + 1) % 3])


@njit
def read(a, b):
    return a[0] * b[1] + a[1] * b[0]


@njit
def itself(a):
    return a


@njit
def tail(a):
    return a[1:]


@njit
def written_and_returned(a):
    a[1] = a[0] * a[1]
    return a


again, in_steps = nd.checkpoint(written), nd.checkpoint(in_loop, snapshots=2)
read_again, itself_again, tail_again = map(nd.checkpoint, (read, itself, tail))
returned_again = nd.checkpoint(written_and_returned)


def of_overlapping_parts(x):
    return again(x[1:], x[:-1])


def of_one_array_twice(x):
    in_steps(x, x, 7)
    return x[0]


def of_tuple_items(x):
    pair = x[1:], x[:-1]
    return again(pair[0], pair[1])


@pytest.mark.parametrize("f", [of_overlapping_parts, of_one_array_twice, of_tuple_items])
def test_arguments_that_share_memory_are_told_where_one_is_changed(f):
    with pytest.raises(nd.ArgumentError, match="'a' and 'b', which share memory here"):
        nd.grad(f, mode="reverse")(X.copy())


def test_rows_of_one_matrix_share_none():
    def f(x):
        return again(x[0], x[1])

    x = np.array([[2.0, 3.0], [5.0, 7.0]])
    expected = [[0.0, 0.0], [49.0, 2.0 * 5.0 * 7.0]]
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(x), expected)


def test_what_is_only_read_may_share_memory():
    def f(x):
        return read_again(x[1:], x[:-1])

    expected = nd.grad(f, mode="forward")(X)
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(X), expected)


def to_the_result(x):
    b = itself_again(x)
    b[0] = b[0] * b[0]
    return x[0] * x[1]


def to_the_argument(x):
    b = tail_again(x)
    x[1] = x[1] * x[1]
    return b[0]


@pytest.mark.parametrize("f", [to_the_result, to_the_argument])
def test_a_returned_argument_that_is_written_to_is_refused(f):
    with pytest.raises(
        nd.UnsupportedError, match=r"(?s)returns \(a part of\) an argument.*y.copy\(\)"
    ):
        nd.grad(f, mode="reverse")(X.copy())
    assert nd.grad(f)(X.copy()).shape == (3,)  # "auto" takes forward mode


def test_a_returned_argument_that_nobody_writes_to():
    def f(x):
        b = tail_again(x)
        return b[0] * x[0] * itself_again(x)[2]

    expected = [15.0, 10.0, 6.0]
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(X), expected)


def test_a_returned_argument_that_the_function_alone_writes_to():
    """x1 becomes x0 x1: the product is (x0 x1)^2."""

    def f(x):
        b = returned_again(x)
        return b[1] * x[1]

    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(X.copy()), [36.0, 24.0, 0.0])
