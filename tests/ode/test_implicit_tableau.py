"""Implicit Runge-Kutta methods as data."""

import math

import numpy as np
import pytest

from numbad.ode.implicit_tableau import collocation
from numbad.ode.methods import IMPLICIT
from numbad.ode.methods.radau_iia5 import RADAU_IIA5
from tests.ode.test_tableau import density, elementary_weights, trees


def test_collocation_at_gauss_nodes():
    """The method of order 4, Hairer & Wanner, II, IV.5, table 5.2."""
    root = math.sqrt(3.0) / 6.0
    a, interpolant = collocation((0.5 - root, 0.5 + root))
    np.testing.assert_allclose(a, [[0.25, 0.25 - root], [0.25 + root, 0.25]], atol=1e-15)
    np.testing.assert_allclose(np.sum(interpolant, axis=1), [0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(collocation(RADAU_IIA5.c)[0], RADAU_IIA5.a, atol=1e-15)


@pytest.mark.parametrize("method", IMPLICIT, ids=lambda method: method.name)
def test_order_of_implicit_stages(method):
    """Of the solution, of the estimate (which may weigh the slope at the start), and of the output."""
    stages = method.stages
    a, interpolant = np.zeros((stages + 1,) * 2), np.asarray(method.interpolant[:stages])
    a[1:, 1:] = method.a
    weights = np.array([0.0, *method.b])
    embedded = weights - [method.start_error, *method.error]
    np.testing.assert_allclose(a.sum(axis=1)[1:], method.c, atol=1e-15)
    cases = [(weights, 1.0, method.order), (embedded, 1.0, method.embedded_order)]
    for theta in (0.3, 0.8):
        output = interpolant @ theta ** np.arange(1, interpolant.shape[1] + 1)
        cases.append((np.array([0.0, *output]), theta, method.dense_order))
    for given, theta, order in cases:
        for nodes in range(1, order + 2):
            left = [
                given @ elementary_weights(a, tree) - theta**nodes / density(tree)
                for tree in trees(nodes)
            ]
            assert (np.abs(left).max() < 1e-13) == (nodes <= order), (method.name, nodes)


@pytest.mark.parametrize("method", IMPLICIT, ids=lambda method: method.name)
def test_systems_of_implicit_stages(method):
    """Eigenvalues and eigenvectors give the inverse of the matrix of a block back."""
    first, per = method.explicit_stages, method.per_block
    block = np.array(method.a)[first : first + per, first : first + per]
    (value, left, right), pair = method.systems
    inverse = value * np.outer(right, left)
    if pair is not None:
        value, left, right = pair
        inverse = inverse + 2.0 * (value * np.outer(right, left)).real
    np.testing.assert_allclose(inverse, np.linalg.inv(block), atol=1e-13)
