"""Lists and arrays written out in a return are compiled as tuples, others as they are."""

import numba
import numpy as np
import pytest
from numba.core import types

import numbad as nd
from numbad.ode.returns import returning_tuples


def a_list(t, y):
    return [y[1], -2.0 * y[0]]


def an_array(t, y):
    return np.array([y[1], -2.0 * y[0]])


def a_name(t, y):
    out = [y[1], -2.0 * y[0]]
    return out


def two_returns(t, y):
    if t > 1.0:
        return np.asarray([y[1], 0.0])
    return [y[1], 0.0]


def changed(t, y):
    out = [y[1], 0.0]
    out[1] = -2.0 * y[0]
    return out


def read_twice(t, y):
    out = [y[1], -2.0 * y[0]]
    return np.array([out[0], len(out) * out[1]])


def a_tuple(t, y):
    return y[1], -2.0 * y[0]


def with_dtype(t, y):
    return np.array([y[1], 0.0], np.float32)


def sometimes(t, y):
    if t > 1.0:
        return y
    return np.array([y[1], -2.0 * y[0]])


Y = np.array([3.0, 5.0])


@pytest.mark.parametrize("function", [a_list, an_array, a_name, two_returns, read_twice])
def test_written_out(function):
    fun = numba.njit(function)
    tuples, duals = returning_tuples(fun)
    assert returning_tuples(fun) == (tuples, duals)
    found = tuples(0.5, Y)
    assert type(found) is tuple
    assert found == tuple(function(0.5, Y))
    assert isinstance(tuples.nopython_signatures[0].return_type, types.UniTuple)


@pytest.mark.parametrize("function", [changed, a_tuple, with_dtype, sometimes])
def test_anything_else_stays(function):
    assert returning_tuples(numba.njit(function)) == (None, None)


def test_items_that_are_no_scalars_stay_an_array():
    def rows(t, y):
        return np.array([y[:1], y[1:]]).ravel()

    def nested(t, y):
        return [y[:1], y[1:]]

    assert returning_tuples(numba.njit(rows)) == (None, None)
    with pytest.raises(nd.ModelError, match="one-dimensional"):
        nd.ode.solver(nested)(Y, (0.0, 1.0))
