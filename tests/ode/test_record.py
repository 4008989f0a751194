"""Steps as they are recorded for dense output, beside those of SciPy."""

import numpy as np
import pytest
import scipy.integrate

import numbad as nd
from tests.ode.test_ivp import ARGUMENTS, SPAN, START, predators


def test_dense_output():
    ours = nd.ode.solve_ivp(
        predators, SPAN, START, args=ARGUMENTS, dense_output=True, rtol=1e-9, atol=1e-9
    )
    theirs = scipy.integrate.solve_ivp(
        predators, SPAN, START, args=ARGUMENTS, dense_output=True, rtol=1e-9, atol=1e-9
    )
    times = np.linspace(*SPAN, 1001)
    np.testing.assert_allclose(ours.sol(times), theirs.sol(times), rtol=0, atol=2e-6)
    np.testing.assert_allclose(ours.sol(ours.t), ours.y, rtol=0, atol=1e-12)
    assert ours.sol(3.0).shape == (2,)
    assert (ours.sol.t_min, ours.sol.t_max) == SPAN
    assert len(ours.sol.ts) == len(ours.t)
    with pytest.raises(ValueError, match="one-dimensional"):
        ours.sol(times[None])
