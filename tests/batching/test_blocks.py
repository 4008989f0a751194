"""Blocks of lanes: batches of any length, any strides, and what all elements share."""

import numpy as np
import pytest

import numbad as nd
from tests.batching.test_in_lanes import X, added


@pytest.mark.deep(but=["0-4", "1-auto", "9-4"])
@pytest.mark.parametrize("lanes", ["auto", 4, None])
@pytest.mark.parametrize("count", [0, 1, 4, 9])
def test_batches_of_any_length(lanes, count):
    x = np.linspace(1.0, 2.0, count)
    batch = nd.batch(lambda x, a: (a * x * x, x > 1.5), (0, None), lanes=lanes)
    values, large = batch(x, 3.0)
    np.testing.assert_array_equal(values, 3.0 * x * x)
    np.testing.assert_array_equal(large, x > 1.5)
    assert large.dtype == np.bool_
    total = nd.grad(lambda x, a: added(batch(x, a)[0]), (0, 1), mode="reverse")
    by_x, by_a = total(x, 3.0)
    np.testing.assert_allclose(by_x, 6.0 * x)
    np.testing.assert_allclose(by_a, np.sum(x * x))


@pytest.mark.parametrize("lanes", [4, None])
def test_lanes_beyond_the_end_count_for_nothing(lanes):
    """They repeat the last element, whose slope by `a` is finite or infinite as it says."""
    batch = nd.batch(lambda x, a: np.sqrt(x - a), (0, None), lanes=lanes)
    x = np.array([1.0, 4.0, 9.0, 16.0, 0.0])
    _, (by_x, by_a) = nd.vjp(batch)((x, 0.0), np.ones(5))
    np.testing.assert_array_equal(by_x, [0.5, 0.25, 0.5 / 3.0, 0.125, np.inf])
    assert by_a == -np.inf  # with zero times infinity from the repeated ones it were NaN
    shared = nd.batch(lambda x, a: np.sqrt(x - a[0]), (0, None), lanes=lanes)
    _, (_, by_a) = nd.vjp(shared)((x, np.zeros(1)), np.ones(5))
    assert by_a[0] == -np.inf


@pytest.mark.parametrize("lanes", [4, None])
def test_strides(lanes):
    z = np.arange(40.0).reshape(10, 4)[::2, ::-1]
    batch = nd.batch(lambda row: row[0] - 2.0 * row[3], lanes=lanes)
    np.testing.assert_array_equal(batch(z), z[:, 0] - 2.0 * z[:, 3])
    batch = nd.batch(lambda row: row[0] - 2.0 * row[3], 1, lanes=lanes)
    np.testing.assert_array_equal(batch(z.T), z[:, 0] - 2.0 * z[:, 3])
    _, (found,) = nd.vjp(batch)((z.T,), np.arange(5.0))
    np.testing.assert_array_equal(found[0], np.arange(5.0))
    np.testing.assert_array_equal(found[3], -2.0 * np.arange(5.0))
    assert not found[1:3].any()


def test_shared_arrays_and_tuples():
    def f(x, w, c):
        r = c[0] * x
        for k in range(w.size):
            r = r * x + w[k]
        if r < 0.0:
            r = r * c[1][0]
        return r

    w, c = np.array([0.5, -1.25]), (2.0, (0.25, 3))
    together = nd.batch(f, (0, None, None), lanes=4)
    one = nd.batch(f, (0, None, None), lanes=None)
    np.testing.assert_array_equal(together(X, w, c), one(X, w, c))
    for lanes in (4, None):
        batch = nd.batch(f, (0, None, None), lanes=lanes)
        _, (_, by_w, by_c) = nd.vjp(batch)((X, w, c), np.ones(5))
        by_w0, by_c0, by_c1 = np.zeros(2), 0.0, 0.0
        for x in X:
            r = (c[0] * x * x + w[0]) * x + w[1]
            scale = c[1][0] if r < 0.0 else 1.0
            by_w0 += scale * np.array([x, 1.0])
            by_c0 += scale * x * x * x
            by_c1 += r if r < 0.0 else 0.0
        np.testing.assert_allclose(by_w, by_w0)
        np.testing.assert_allclose([by_c[0], by_c[1][0]], [by_c0, by_c1])
        assert by_c[1][1] == 0
