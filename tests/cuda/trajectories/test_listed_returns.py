"""Right-hand sides that return lists and arrays written out: on the GPU they are read as tuples."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_ensemble_call import END

from .test_seeds import RATES


@pytest.mark.parametrize("as_array", [False, True])
def test_lists_and_arrays_written_out(as_array, twin):
    """They are read as tuples, as on the CPU."""

    def as_list(t, y, k):
        slope = -k * y[0]
        return [slope, y[0] - y[1]]

    def as_row(t, y, k):
        return np.array([-k * y[0], y[0] - y[1]])

    solve = nd.ode.solver(as_row if as_array else as_list, rtol=1e-9, atol=1e-12)
    found = device.ensemble(solve, np.array([[2.0, 0.0]]), END, RATES + 1.5, derivatives="args")
    k = RATES + 1.5
    first = 2.0 * np.exp(-k)
    second = (2.0 * math.exp(-1.0) - first) / (k - 1.0)
    np.testing.assert_allclose(found.ys[:, 1], np.stack([first, second], axis=1), rtol=1e-8)
    np.testing.assert_allclose(found.derivatives[:, 1, 0, 0], -first, rtol=1e-7)
    by_k = (first - second) / (k - 1.0)
    np.testing.assert_allclose(found.derivatives[:, 1, 1, 0], by_k, rtol=1e-6)
