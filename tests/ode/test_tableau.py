"""Order conditions of the methods, from rooted trees (Hairer, Norsett & Wanner, I, II.2)."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from numbad.errors import ArgumentError
from numbad.ode.methods import EXPLICIT, find_method
from numbad.ode.tableau import alternating, interpolant_row, product


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


def elementary_weights(a, tree, single=None):
    """Phi_j of a tree for every stage j; a node with one branch uses the matrix `single`, if given.

    The latter for Rosenbrock methods: Hairer & Wanner, II, IV.7, theorem 7.3.
    """
    matrix = single if single is not None and len(tree) == 1 else a
    weights = np.ones(len(a))
    for branch in tree:
        weights = weights * (matrix @ elementary_weights(a, branch, single))
    return weights


def rows_of(tableau):
    """The coefficients of every slope that the interpolant weighs, and their nodes."""
    closing = () if tableau.first_same_as_last else (tableau.b,)
    return (*tableau.a, *closing, *tableau.extra_a), (
        *tableau.c,
        *map(sum, closing),
        *tableau.extra_c,
    )


def stage_matrix(tableau, size):
    a = np.zeros((size, size))
    for i, row in enumerate(rows_of(tableau)[0][:size]):
        a[i, : len(row)] = row
    return a


def residuals(tableau, weights, order, theta=1.0):
    """What is left of the order conditions for the trees of exactly this order."""
    a = stage_matrix(tableau, len(weights))
    return np.array(
        [
            weights @ elementary_weights(a, tree) - theta**order / density(tree)
            for tree in trees(order)
        ]
    )


def interpolation_weights(tableau, theta):
    powers = theta ** np.arange(1, len(tableau.interpolant[0]) + 1)
    return np.asarray(tableau.interpolant) @ powers


@pytest.fixture(params=EXPLICIT, ids=lambda method: method.name)
def tableau(request):
    return request.param


def test_number_of_rooted_trees():
    assert [len(trees(order)) for order in range(1, 7)] == [1, 1, 2, 4, 9, 20]


def rounding(weights):
    """What rounding of the coefficients can leave of an order condition."""
    return 2e-14 * (1.0 + np.abs(weights).max())


def test_nodes_are_row_sums(tableau):
    size = tableau.slopes
    sums = stage_matrix(tableau, size).sum(axis=1)
    np.testing.assert_allclose(sums, rows_of(tableau)[1], atol=2e-14)


def test_order_of_the_solution(tableau):
    weights = np.array(tableau.b)
    for order in range(1, tableau.order + 1):
        assert np.abs(residuals(tableau, weights, order)).max() < rounding(weights)
    assert np.abs(residuals(tableau, weights, tableau.order + 1)).max() > 1e-7


def test_order_of_the_error_estimate(tableau):
    if not tableau.adaptive:
        assert tableau.embedded_order == 0
        return
    check_embedded_order(tableau, tableau.error, tableau.embedded_order)
    if tableau.coarse_error:
        check_embedded_order(tableau, tableau.coarse_error, tableau.coarse_order)


def check_embedded_order(tableau, error, embedded_order):
    weights = np.array(tableau.b) - error
    for order in range(1, embedded_order + 1):
        assert np.abs(residuals(tableau, weights, order)).max() < rounding(weights)
    assert np.abs(residuals(tableau, weights, embedded_order + 1)).max() > 1e-7


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.83])
def test_order_of_the_interpolant(tableau, theta):
    weights = interpolation_weights(tableau, theta)
    bound = rounding(np.asarray(tableau.interpolant))
    for order in range(1, tableau.dense_order + 1):
        if (tableau.name, order) == ("Vern7", 7):
            bound = 3e-7  # as published
        assert np.abs(residuals(tableau, weights, order, theta)).max() < bound
    assert np.abs(residuals(tableau, weights, tableau.dense_order + 1, theta)).max() > 1e-9


def test_interpolant_joins_smoothly(tableau):
    """b_i(1) = b_i, and the slopes at both ends are those of the solution there."""
    interpolant = np.asarray(tableau.interpolant)
    bound = rounding(interpolant)
    b = np.zeros(tableau.slopes)
    b[: tableau.stages] = tableau.b
    np.testing.assert_allclose(interpolation_weights(tableau, 1.0), b, atol=bound)
    degree = np.arange(1, interpolant.shape[1] + 1)
    last = tableau.slopes - len(tableau.extra_a) - 1
    np.testing.assert_allclose(interpolant[:, 0], np.eye(tableau.slopes)[0], atol=bound)
    np.testing.assert_allclose(interpolant @ degree, np.eye(tableau.slopes)[last], atol=9 * bound)


def test_tsit5_reuses_its_last_stage():
    tableau = find_method("Tsit5")
    assert tableau.first_same_as_last
    assert tableau.evaluations(tried=5, accepted=4, extended=3) == 30
    assert tableau.error_exponent == 0.2


def test_names_of_scipy_and_of_the_literature():
    assert find_method("RK45") is find_method("DormandPrince5") is find_method("DP5")
    assert find_method("DOP853").error_exponent == 1 / 8
    assert find_method("RK23") is find_method("BS3")


def test_unknown_method_lists_those_available_and_what_may_be_meant():
    with pytest.raises(
        ArgumentError, match=r"'tsit' .* mean 'Tsit5'\?\); available: .*BS3, .*RK45"
    ):
        find_method("tsit")
    with pytest.raises(ArgumentError, match="exist; available"):
        find_method([])


def test_a_tableau_that_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match="do not match"):
        replace(find_method("Tsit5"), c=(0.0, 1.0))


def test_stability_on_the_negative_axis():
    """Hairer & Wanner, II, IV.2: 2, 2.785 and 3.3 for Euler, RK4 and DP5; 6.1 as DOP853 has it."""
    bounds = [find_method(name).stability_bound for name in ("Euler", "RK4", "DP5", "DOP853")]
    np.testing.assert_allclose(bounds, [2.0, 2.785, 3.3, 6.1], rtol=0.05)


def test_alternating_weights():
    """x + 3 x (1 - x) + 5 x**2 (1 - x)"""
    assert alternating(1.0, 3.0, 5.0) == (4.0, 2.0, -5.0)


def test_products_of_polynomials():
    assert product((1.0, 1.0), (-1.0, 1.0)) == (-1.0, 0.0, 1.0)
    assert interpolant_row(3, 2.0, (0.0, 1.0), (3.0, 1.0)) == (6.0, 2.0, 0.0)
    with pytest.raises(ValueError, match="vanish"):
        interpolant_row(3, 2.0, (1.0, 1.0))
