"""Order conditions of the methods, from rooted trees (Hairer, Norsett & Wanner, I, II.2)."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from numbad.errors import ArgumentError
from numbad.ode.methods import METHODS, find_method
from numbad.ode.tableau import interpolant_row, product


@cache
def trees(order):
    """All rooted trees with so many nodes; a tree is the sorted tuple of its branches."""
    return forests(order - 1)


@cache
def forests(nodes):
    if nodes == 0:
        return ((),)
    found = set()
    for size in range(1, nodes + 1):
        for tree in trees(size):
            for rest in forests(nodes - size):
                found.add(tuple(sorted((tree, *rest))))
    return tuple(sorted(found))


def order_of(tree):
    return 1 + sum(order_of(branch) for branch in tree)


def density(tree):
    return order_of(tree) * math.prod(density(branch) for branch in tree)


def elementary_weights(a, tree):
    """Phi_j of a tree for every stage j."""
    weights = np.ones(len(a))
    for branch in tree:
        weights = weights * (a @ elementary_weights(a, branch))
    return weights


def stage_matrix(tableau):
    a = np.zeros((tableau.stages, tableau.stages))
    for i, row in enumerate(tableau.a):
        a[i, : len(row)] = row
    return a


def residuals(tableau, weights, order, theta=1.0):
    """What is left of the order conditions for the trees of exactly this order."""
    a = stage_matrix(tableau)
    return np.array(
        [
            weights @ elementary_weights(a, tree) - theta**order / density(tree)
            for tree in trees(order)
        ]
    )


def interpolation_weights(tableau, theta):
    powers = theta ** np.arange(1, len(tableau.interpolant[0]) + 1)
    return np.asarray(tableau.interpolant) @ powers


@pytest.fixture(params=sorted(METHODS))
def tableau(request):
    return METHODS[request.param]


def test_number_of_rooted_trees():
    assert [len(trees(order)) for order in range(1, 7)] == [1, 1, 2, 4, 9, 20]


def test_nodes_are_row_sums(tableau):
    np.testing.assert_allclose(stage_matrix(tableau).sum(axis=1), tableau.c, atol=1e-14)


def test_order_of_the_solution(tableau):
    for order in range(1, tableau.order + 1):
        assert np.abs(residuals(tableau, np.array(tableau.b), order)).max() < 1e-13
    assert np.abs(residuals(tableau, np.array(tableau.b), tableau.order + 1)).max() > 1e-5


def test_order_of_the_embedded_solution(tableau):
    weights = np.array(tableau.b) - tableau.error
    for order in range(1, tableau.embedded_order + 1):
        assert np.abs(residuals(tableau, weights, order)).max() < 1e-13
    assert np.abs(residuals(tableau, weights, tableau.embedded_order + 1)).max() > 1e-5


@pytest.mark.parametrize("theta", [0.1, 0.37, 0.5, 0.9, 1.0])
def test_interpolant_has_order_four(theta):
    tableau = find_method("Tsit5")
    weights = interpolation_weights(tableau, theta)
    for order in range(1, 5):
        assert np.abs(residuals(tableau, weights, order, theta)).max() < 1e-13


def test_interpolant_joins_smoothly(tableau):
    """b_i(1) = b_i, and the slopes at both ends are those of the first and the last stage."""
    np.testing.assert_allclose(interpolation_weights(tableau, 1.0), tableau.b, atol=2e-14)
    interpolant = np.asarray(tableau.interpolant)
    degree = np.arange(1, interpolant.shape[1] + 1)
    first, last = np.eye(tableau.stages)[[0, -1]]
    np.testing.assert_allclose(interpolant[:, 0], first, atol=1e-14)
    np.testing.assert_allclose(interpolant @ degree, last, atol=1e-13)


def test_tsit5_reuses_its_last_stage():
    tableau = find_method("Tsit5")
    assert tableau.first_same_as_last
    assert tableau.evaluations_per_step == 6
    assert tableau.error_exponent == 0.2


def test_unknown_method_lists_those_available():
    with pytest.raises(ArgumentError, match="method 'RK45' does not exist; available: Tsit5"):
        find_method("RK45")
    with pytest.raises(ArgumentError, match="available"):
        find_method([])


def test_a_tableau_that_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match="do not match"):
        replace(find_method("Tsit5"), c=(0.0, 1.0))


def test_products_of_polynomials():
    assert product((1.0, 1.0), (-1.0, 1.0)) == (-1.0, 0.0, 1.0)
    assert interpolant_row(3, 2.0, (0.0, 1.0), (3.0, 1.0)) == (6.0, 2.0, 0.0)
    with pytest.raises(ValueError, match="vanish"):
        interpolant_row(3, 2.0, (1.0, 1.0))
