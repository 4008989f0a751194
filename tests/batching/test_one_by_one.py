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


def miss(p, x, y):
    r = p[0] * x[0] + p[1] * x[1] + np.sin(p[2]) - y
    return r * r


@pytest.mark.parametrize("inner", ["forward", "reverse"])
def test_the_gradients_by_an_array_that_all_elements_share(inner):
    """Of each point, by the weights: [2 r x_0, 2 r x_1, 2 r cos p_2]."""
    rng = np.random.default_rng(0)
    p, x, y = rng.normal(size=3), rng.normal(size=(6, 2)), rng.normal(size=6)
    rows = nd.batch(nd.grad(miss, mode=inner), in_axes=(None, 0, 0))

    def expected(p):
        r = x @ p[:2] + np.sin(p[2]) - y
        return 2.0 * r[:, None] * np.column_stack([x, np.full(6, np.cos(p[2]))])

    np.testing.assert_allclose(rows(p, x, y), expected(p), rtol=1e-13)
    steps = (expected(p + 1e-30j * e) for e in np.eye(3))
    jacobian = np.stack([step.imag / 1e-30 for step in steps], axis=-1)
    weights = rng.normal(size=(6, 3))
    by_p = np.einsum("ij,ijk->k", weights, jacobian)
    for mode in "forward", "reverse":
        found = nd.grad(lambda p: (rows(p, x, y) * weights).sum(), mode=mode)(p)
        np.testing.assert_allclose(found, by_p, rtol=1e-12)


def outer_and_order(x):
    return np.outer(x, x), np.argsort(x), x.sum()


def test_arrays_among_results():
    x = np.array([[3.0, 1.0, 2.0], [0.5, 2.5, -1.0]])
    batch = nd.batch(outer_and_order)
    outer, order, total = batch(x)
    np.testing.assert_array_equal(outer, np.einsum("ij,ik->ijk", x, x))
    np.testing.assert_array_equal(order, np.argsort(x))
    np.testing.assert_array_equal(total, x.sum(axis=1))
    assert batch(x[:0])[0].shape[0] == 0
    weights = np.sin(np.arange(18.0)).reshape(2, 3, 3)

    def weighted(x):
        outer, _, total = batch(x)
        return (outer * weights).sum() + (total**2).sum()

    symmetric = weights + weights.transpose(0, 2, 1)
    expected = np.einsum("ijk,ik->ij", symmetric, x) + 2.0 * x.sum(axis=1, keepdims=True)
    for mode in "forward", "reverse":
        np.testing.assert_allclose(nd.grad(weighted, mode=mode)(x), expected, rtol=1e-13)
    along = np.cos(x)
    product = np.einsum("ijk,ik->ij", symmetric, along) + 2.0 * along.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nd.hvp(weighted)((x,), (along,))[0], product, rtol=1e-13)


def test_arrays_of_several_shapes_are_told():
    with pytest.raises(nd.ArgumentError, match="arrays of one shape for one element"):
        nd.batch(lambda n, x: np.full(n, x))(np.array([1, 2]), np.ones(2))
