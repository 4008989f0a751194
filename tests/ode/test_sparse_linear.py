"""Linear systems of sparse Jacobians whose band is wide."""

import numpy as np
import pytest
import scipy.linalg

import numbad as nd
from numbad.ode.sparsity_pattern import checked_sparsity


@pytest.mark.deep
def test_a_wide_band_is_factored_as_a_whole():
    """A ring, each with its neighbours and the one opposite: y' = A y, against its exponential."""
    A = np.zeros((10, 10))
    for i in range(10):
        A[i, [i, (i + 1) % 10, (i - 1) % 10, (i + 5) % 10]] = -50.0, 20.0, 10.0, 15.0

    def ring(t, y, dy, rate):
        for i in range(10):
            others = 20.0 * y[(i + 1) % 10] + 10.0 * y[i - 1] + 15.0 * y[(i + 5) % 10]
            dy[i] = rate * (others - 50.0 * y[i])

    assert type(checked_sparsity(A)).__name__ == "Coloured"
    solve = nd.ode.solver(
        ring, method="Rodas5P", inplace=True, jac_sparsity=A, rtol=1e-9, atol=1e-12
    )
    start = np.arange(10.0)

    def end(rate):
        return solve(start, (0.0, 0.3), rate)[-1]

    exact = scipy.linalg.expm(0.3 * A) @ start
    np.testing.assert_allclose(end(1.0), exact, rtol=1e-8)
    np.testing.assert_allclose(nd.derivative(end)(1.0), 0.3 * A @ exact, rtol=1e-6)
