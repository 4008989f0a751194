"""Sorting along the last axis, and sums beside the diagonal, in both modes."""

import numpy as np
import pytest

import numbad as nd

WEIGHTS = np.arange(1.0, 25.0).reshape(2, 3, 4)


def in_place(x):
    y = x.copy()
    y[:, 1:].sort(kind="mergesort")
    return (WEIGHTS * y).sum()


def sorted_rows(x):
    return (WEIGHTS * np.sort(x)).sum()


def transposed(x):
    return (WEIGHTS.T * np.sort(x.T)).sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", [in_place, sorted_rows, transposed])
def test_rows_in_order(f, mode):
    """Each element has the weight of the place that it goes to."""
    x = np.random.default_rng(3).permutation(24.0 + np.arange(24)).reshape(2, 3, 4)
    marked = x.copy()
    gradient = nd.grad(f, mode=mode)(marked)
    np.testing.assert_array_equal(marked, x)
    moved = x + 0.25 * (np.arange(24.0) % 3).reshape(x.shape)  # in the same order
    assert (gradient * (moved - x)).sum() == pytest.approx(f(moved) - f(x), rel=1e-12)
    assert sorted(gradient.ravel()) == list(range(1, 25))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 3])
def test_traces_beside_the_diagonal(offset, mode):
    a = np.arange(6.0).reshape(2, 3)
    found = nd.grad(lambda a, k: np.trace(a, k) * 2.0, mode=mode)(a, offset)
    np.testing.assert_array_equal(found, 2.0 * np.eye(2, 3, offset))
