"""Functions whose elements are evaluated one after the other, as lanes do not go through them."""

import numba
import numpy as np
import pytest

import numbad as nd
from tests.batching.test_in_lanes import REFUSED, X, added, drawn, kepler, positive
from tests.reverse import complex_step

ONE_BY_ONE = ("integers of a loop within a branch", "an integer that differs")


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_what_lanes_do_not_go_through_goes_one_by_one(name):
    f, axes, args = REFUSED[name]
    batch = nd.batch(f, axes)
    np.testing.assert_array_equal(batch(*args), [f(x) for x in X])
    _, (found,) = nd.vjp(batch)(args, np.ones(5))
    expected = [complex_step.jacobian(numba.njit(f), (x,), (0,))[0][0] for x in X.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_loops_of_different_length():
    e = np.linspace(0.0, 0.8, 6)
    batch = nd.batch(kepler, (0, None))
    np.testing.assert_array_equal(batch(e, 1.0), [kepler(x, 1.0) for x in e])
    _, (by_e, by_m) = nd.vjp(batch)((e, 1.0), np.ones(6))
    anomaly = batch(e, 1.0)
    slope = 1.0 / (1.0 - e * np.cos(anomaly))  # of the implicit function
    np.testing.assert_allclose(by_e, np.sin(anomaly) * slope, rtol=1e-9)
    np.testing.assert_allclose(by_m, slope.sum(), rtol=1e-9)


def test_an_exception_of_one_element():
    with pytest.raises(ValueError, match="negative"):
        nd.batch(positive)(X)
    np.testing.assert_array_equal(nd.batch(positive)(abs(X)), X * X)


def test_draws_are_made_again():
    """The reverse sweep sees the numbers that the forward sweep drew."""

    @numba.njit
    def seeded(k):
        np.random.seed(k)

    batch = nd.batch(drawn)
    total = nd.value_and_grad(lambda x: added(batch(x)), mode="reverse")
    seeded(7)
    normals = batch(np.ones(5))
    seeded(7)
    value, gradient = total(X)
    np.testing.assert_allclose(gradient, normals)
    np.testing.assert_allclose(value, np.sum(normals * X))
