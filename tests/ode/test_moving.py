"""Derivatives by the output times."""

import numpy as np
import pytest

import numbad as nd
from tests.ode.problems import (
    decay,
)


class TestTimes:
    """By the times, ends included, where the exact derivative is the right-hand side."""

    rate = 1.3

    @pytest.fixture(scope="class")
    @staticmethod
    def jacobian():
        solve = nd.ode.solver(decay, rtol=1e-11, atol=1e-13)
        return nd.jacobian(lambda ts, rate: solve(2.0, ts, rate)[:, 0])

    @pytest.mark.deep(but=["times0"])
    @pytest.mark.parametrize("times", [[0.5, 1.0, 1.7, 2.5], [2.5, 1.0, 0.5], [1.5]])
    def test_jacobian(self, jacobian, times):
        ts = np.array(times)
        slope = -self.rate * 2.0 * np.exp(-self.rate * (ts - ts[0]))
        exact = np.diag(slope)
        exact[:, 0] -= slope
        np.testing.assert_allclose(jacobian(ts, self.rate), exact, rtol=1e-8, atol=1e-10)
