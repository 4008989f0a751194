"""What calls hand on by a star: what is read of it, and what is changed."""

import numba
import numpy as np
import pytest
from numba import njit

import numbad as nd


def test_rest_that_is_read_is_not_changed():
    """Passes over many inputs would refuse a function that may change its arguments."""

    @numba.njit
    def weighted(x, *rest):
        return (x * rest[0]).sum() * rest[1]

    def f(x, w):
        return weighted(x, w, 2.0)

    x, w = np.arange(20.0), np.arange(20.0) + 1
    nd.grad(f, argnums=0, mode="forward")(x, w)
    from numbad.forward.promote import effects

    assert effects(numba.njit(f), [0]).changed == frozenset()


def test_rest_that_is_written_to_is_changed():
    @numba.njit
    def scale(x, *rest):
        rest[1][0] = x[0]

    def f(x, y, z):
        scale(x, y, z)
        return z[0] * z[0]

    from numbad.forward.promote import effects

    assert 2 in effects(numba.njit(f), [0]).changed
    found = nd.grad(f, mode="forward")(np.array([3.0]), np.ones(1), np.ones(1))
    assert found == pytest.approx(6.0)


@njit
def weighed(y, a, b):
    return a * y + b


@njit
def counts_calls(y, a, b):
    b[0] += 1.0
    return a * y + b


def test_star_arguments_are_handed_on_one_by_one():
    """Each goes to its own parameter: nothing but what the callee writes to is taken for changed."""
    y, rest = np.array([1.0, 2.0, 3.0]), (np.array([4.0, 5.0, 6.0]), np.array([0.0, 1.0, 2.0]))
    by_y = nd.jacobian(lambda y, rest: weighed(y, *rest), mode="forward", chunk=2)
    np.testing.assert_array_equal(by_y(y, rest), np.diag(rest[0]))

    def of_tuple(y, rest):
        all_of_them = (y, *rest)
        return counts_calls(all_of_them[0], all_of_them[1], all_of_them[2])

    for f in (lambda y, rest: counts_calls(y, *rest), of_tuple):
        rest[1][0] = 0.0
        found = nd.jacobian(f, mode="forward", chunk=2)(y, rest)
        np.testing.assert_array_equal(found, np.diag(rest[0]))
        assert rest[1][0] == 1.0  # put back before each pass
