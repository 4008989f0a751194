"""Functions that work in place on what is searched for: they are given copies, as SciPy gives them."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

START, A = np.array([2.0, 2.0]), np.array([3.0, 1.0])


@njit
def halved(x, a):
    """x / 2 + a in place, with the fixed point 2 a."""
    x *= 0.5
    x += a
    return x


@njit
def squared_away(x, a):
    out = x * x - a
    x[:] = 5.0
    return out


@njit
def energy(x, a):
    x -= a
    return (x * x).sum()


@njit
def of_a_float(x, a=2.0):
    x *= x
    return x - a


@pytest.mark.parametrize(
    ("find", "function", "expected"),
    [
        (nd.fixed_point, halved, 2.0 * A),
        (nd.root, squared_away, np.sqrt(A)),
        (nd.minimize, energy, A),
    ],
)
def test_what_is_searched_for_is_a_copy(find, function, expected):
    start = START.copy()
    np.testing.assert_allclose(find(function, start, (A,)), expected, rtol=1e-10)
    np.testing.assert_array_equal(start, START)


def test_a_float_and_a_default():
    assert nd.root(of_a_float, 1.0) == pytest.approx(2.0**0.5, rel=1e-14)


@pytest.mark.deep(but=["fixed_point-halved-expected0-forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("find", "function", "expected"),
    [(nd.fixed_point, halved, [2.0, 2.0]), (nd.root, squared_away, 0.5 / np.sqrt(A))],
)
def test_derivatives(find, function, expected, mode):
    found = nd.jacobian(lambda a: find(function, np.ones(2), (a,)), mode=mode)(A)
    np.testing.assert_allclose(found, np.diag(expected), rtol=1e-12)


@njit
def spoils(x, a):
    a *= 2.0
    return x - a.sum()


def test_arguments_are_as_they_were_where_a_function_that_writes_to_them_is_refused():
    given = A.copy()
    with pytest.raises(nd.ArgumentError, match="spoils changes its argument 'a'"):
        nd.root(spoils, 1.0, (given,))
    np.testing.assert_array_equal(given, A)
