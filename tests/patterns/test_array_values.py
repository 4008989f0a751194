"""Functions element by element into an array that they read elsewhere: one by one, as Numba runs them."""

import numpy as np
import pytest

import numbad as nd

X = np.array([0.5, 2.0, -1.0, 3.0])


def products(x):
    out = x * 1.0
    out[1:] *= out[:-1]
    return out


def sums(x):
    out = x * 1.0
    np.add(out[1:], out[:-1], out[1:])
    return out


def sines(x):
    out = x * 1.0
    np.sin(out[:-1], out[1:])
    return out


def backwards(x):
    out = x * 1.0
    out[:-1] *= out[1:]
    return out


def turned(x):
    out = x.reshape(2, 2) * 1.0
    out *= out.T
    return out.ravel()


def with_itself(x):
    out = x * 1.0
    out *= out
    return out


@pytest.mark.parametrize("f", [products, sums, sines, backwards, turned, with_itself])
def test_what_is_read_while_it_is_written(f):
    dense = nd.jacobian(f)(X)
    pattern = nd.sparsity(f)(X).toarray()
    np.testing.assert_array_equal(pattern, dense != 0.0)
    found = nd.jacobian(f, sparsity="detect")
    found(np.zeros(4))  # a pattern that is too small shows nothing here
    np.testing.assert_array_equal(found(X).toarray(), dense)
