"""Both ways of a method that switches."""

import numpy as np
import pytest

import numbad as nd


def van_der_pol(t, y, mu):
    return y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]


@pytest.mark.deep
def test_both_ways_of_a_method_that_switches():
    """Stiff on the slow branch, and not where it jumps: marks on either side know which method goes on.

    Few marks and many take the same steps by the same code. Without marks other code takes them, whose
    Jacobians contract to other fused multiply-adds: the jump makes 6e-12 of that rounding.
    """

    def gradient(checkpoints):
        solve = nd.ode.solver(van_der_pol, method="AutoTsit5", rtol=1e-9, checkpoints=checkpoints)

        def loss(x):
            return solve((x[0], x[1]), (0.0, 15.0, 45.0), x[2])[:, 0].sum()

        return nd.grad(loss, mode="reverse")(np.array([2.0, 0.0, 30.0]))

    few, many = gradient(1), gradient(5)
    np.testing.assert_array_equal(few, many)
    np.testing.assert_allclose(few, gradient(None), rtol=1e-9)
