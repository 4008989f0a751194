"""States and output times that are none."""

import numpy as np
import pytest

import numbad as nd
from numbad.errors import ModelError
from tests.ode.problems import decay


class TestTypes:
    @pytest.mark.parametrize("y0", [np.array(["one"]), "one"])
    def test_state(self, y0):
        with pytest.raises(ModelError, match="y0 must be a float"):
            nd.ode.solver(decay)(y0, (0.0, 1.0), 1.0)

    @pytest.mark.deep(but=["tuple", "array"])
    @pytest.mark.parametrize(
        ("y0", "options"),
        [
            pytest.param((), {}, id="tuple"),
            pytest.param(np.empty(0), {}, id="array"),
            pytest.param(np.empty(0), dict(method="BDF"), id="BDF"),
            pytest.param(np.empty((0, 2)), {}, id="matrix"),
            pytest.param(np.empty(0), dict(tstops=0.5), id="events"),
        ],
    )
    def test_empty_state(self, y0, options):
        """`fun` is not called: it might read what is not there."""
        with pytest.raises(ModelError, match="y0 is empty"):
            nd.ode.solver(decay, **options)(y0, (0.0, 1.0), 1.0)

    def test_lists(self):
        """From Python: as arrays."""
        solve = nd.ode.solver(decay)
        by_arrays = solve(np.array([1.0, 2.0]), np.array([0.0, 0.5, 2.0]), 1.0)
        np.testing.assert_array_equal(solve([1, 2], [0.0, 0.5, 2.0], 1.0), by_arrays)
        np.testing.assert_array_equal(solve(ts=[0, 0.5, 2], y0=[1.0, 2.0], args=1.0), by_arrays)
        with pytest.raises(ModelError, match="ts must be an array of numbers, not .'a', 'b'."):
            solve(1.0, ["a", "b"], 1.0)
        with pytest.raises(ModelError, match="y0 must be an array of numbers"):
            solve([[1.0], [2.0, 3.0]], [0.0, 1.0], 1.0)
        noisy = nd.sde.solver(decay, lambda t, y, rate: 0.1 + 0.0 * y, dt=0.25)
        key = nd.random.key(3)
        by_arrays = noisy(np.ones(2), np.array([0.0, 1.0]), 1.0, key)
        np.testing.assert_array_equal(noisy([1.0, 1.0], [0.0, 1.0], 1.0, key), by_arrays)

    @pytest.mark.parametrize("ts", [1.0, np.ones((2, 2)), ("a", "b")])
    def test_times(self, ts):
        with pytest.raises(ModelError, match="ts must be a one-dimensional array or a tuple"):
            nd.ode.solver(decay)(1.0, ts, 1.0)
