"""What `numba.vectorize` made, on dual numbers."""

import numba
import numpy as np
import pytest

import numbad as nd
from tests.forward.test_given_code import X


def test_loops_of_single_precision_stay_single():
    @numba.vectorize(["float32(float32)", "float64(float64)"])
    def third(x):
        return x / 3

    def f(x):
        return third(np.array([x, x]))[1]

    value, found = nd.value_and_grad(f, mode="forward")(np.float32(X))
    assert value == np.float32(X) / np.float32(3)
    assert found == pytest.approx(1 / 3, rel=1e-6)
