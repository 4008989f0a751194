"""Rules of what `numba.vectorize` made are rules of its function of numbers, in both modes and on arrays."""

import numpy as np
import pytest
from numba import njit, vectorize

import numbad as nd

X = np.array([1.0, 2.0, 3.0])


def make(signatures=()):
    def squared(x):
        return x * x

    return vectorize(list(signatures))(squared) if signatures else vectorize(squared)


by_partials, by_code, given = make(), make(), make(["float64(float64)"])
nd.scalar_rule(by_partials, lambda ans, x: 9.0 * x)
nd.scalar_rule(given, lambda ans, x: 9.0 * x)
nd.rule(
    by_code,
    jvp=lambda x, t: (x[0] * x[0], 9.0 * x[0] * t[0]),
    vjp=(lambda x: (x * x, x), lambda x, c: (9.0 * x * c,)),
)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", [by_partials, by_code, given])
def test_the_rule_is_met(function, mode):
    of_array = nd.grad(lambda x: function(x).sum(), mode=mode)
    np.testing.assert_array_equal(of_array(X), 9.0 * X)
    of_number = nd.grad(njit(lambda x: function(x) + 0.0), mode=mode)
    assert of_number(2.0) == 18.0
    assert nd.grad(function, mode=mode)(2.0) == 18.0
    into = nd.grad(lambda x: function(x, np.empty(3)).sum(), mode=mode)
    np.testing.assert_array_equal(into(X), 9.0 * X)


def test_a_rule_that_is_given_later():
    function = make()

    def total():
        return lambda x: function(x).sum()

    np.testing.assert_array_equal(nd.grad(total(), mode="forward")(X), 2.0 * X)
    np.testing.assert_array_equal(nd.grad(total(), mode="reverse")(X), 2.0 * X)
    nd.scalar_rule(function, lambda ans, x: 9.0 * x)
    np.testing.assert_array_equal(nd.grad(total(), mode="forward")(X), 9.0 * X)
    np.testing.assert_array_equal(nd.grad(total(), mode="reverse")(X), 9.0 * X)


def test_batches_and_hessians():
    np.testing.assert_array_equal(nd.batch(nd.grad(by_partials))(X), 9.0 * X)
    np.testing.assert_array_equal(nd.hessian(lambda x: by_partials(x).sum())(X), 9.0 * np.eye(3))
    pattern = nd.jacobian(lambda x: by_partials(x), sparsity="detect")(X)
    np.testing.assert_array_equal(pattern.toarray(), np.diag(9.0 * X))
