"""Axes, arguments and functions that `nd.batch` is given in error."""

import numba
import numpy as np
import pytest

import numbad as nd
from tests.batching.test_in_lanes import X, _ratio


def _changes(x, z):
    z[0] = x
    return x


def _appends(x, items):
    items.append(x)
    return x


class TestWrongUse:
    def test_axes(self):
        for axes in ((0,), (0, 0, 0), (0, 1.0), (0, True), (0, "x"), (None, None), None):
            with pytest.raises(nd.ArgumentError, match="in_axes"):
                nd.batch(_ratio, axes)

    def test_lanes(self):
        for lanes in (0, 1, 100, True, "many", 2.0):
            with pytest.raises(nd.ArgumentError, match="lanes"):
                nd.batch(_ratio, lanes=lanes)

    def test_arguments(self):
        with pytest.raises(nd.ArgumentError, match="'y' is a float64, and has no axis 0"):
            nd.batch(_ratio)(X, 1.0)
        with pytest.raises(nd.ArgumentError, match="'y' is a 1-D array, and has no axis -2"):
            nd.batch(_ratio, (0, -2))(X, X)
        with pytest.raises(nd.ArgumentError, match="'y' is a 1-D array, and has no axis 1"):
            nd.batch(_ratio, (0, 1))(X, X)
        with pytest.raises(nd.ArgumentError, match="'x' and 'y' have different lengths"):
            nd.batch(_ratio)(X, X[:3])

    def test_functions(self):
        with pytest.raises(nd.UnsupportedError, match=r"takes '\*args'"):
            nd.batch(lambda *x: x[0])
        with pytest.raises(nd.UnsupportedError, match="may change its argument 'z'"):
            nd.batch(_changes)(X, np.zeros((5, 2)))
        with pytest.raises(nd.UnsupportedError, match="'items' holds a "):
            nd.batch(_appends, (0, None))(X, numba.typed.List([1.0]))
        with pytest.raises(
            nd.UnsupportedError, match="numbers, arrays of numbers .* returns .*list"
        ):
            nd.batch(lambda x: [x])(X)

    @pytest.mark.parametrize("lanes", ["auto", None, 16])
    def test_what_does_not_compile_for_an_element(self, lanes):
        """An array that all evaluations share, batched by mistake: the function gets floats."""

        def sum_of(a, t):
            total = 0.0
            for i in range(t.size):
                total += a * t[i]
            return total

        told = (
            "sum_of does not compile for an element of the batch, where 'a' is .* 't' is a float64"
        )
        with pytest.raises(nd.ArgumentError, match=told):
            nd.batch(sum_of, lanes=lanes)(np.ones(3), np.ones(3))
        found = nd.batch(sum_of, (0, None), lanes=lanes)(np.array([1.0, 2.0]), np.ones(3))
        assert found.tolist() == [3.0, 6.0]


def test_axes_from_the_end():
    rows = np.arange(6.0).reshape(2, 3)
    last, second = (nd.batch(lambda r: r[0] * r[1], in_axes=axis) for axis in (-1, 1))
    np.testing.assert_array_equal(last(rows), second(rows))
    for mode in "forward", "reverse":
        found = nd.grad(lambda m: (last(m) ** 2).sum(), mode=mode)(rows)
        expected = nd.grad(lambda m: (second(m) ** 2).sum(), mode=mode)(rows)
        np.testing.assert_array_equal(found, expected)


def _scaled(x, k=2.0):
    return k * x * x


def test_arguments_that_are_left_to_their_defaults_have_no_axis():
    scaled = nd.batch(_scaled)
    np.testing.assert_array_equal(scaled(X), 2.0 * X * X)
    np.testing.assert_array_equal(scaled(X, X), X * X * X)
    np.testing.assert_array_equal(nd.batch(nd.grad(_scaled))(X), 4.0 * X)
    for mode in "forward", "reverse":
        np.testing.assert_array_equal(nd.grad(lambda x: scaled(x).sum(), mode=mode)(X), 4.0 * X)
        by_k = nd.grad(lambda k: scaled(X, k).sum(), mode=mode)(3.0)
        np.testing.assert_allclose(by_k, (X * X).sum(), rtol=1e-15)
