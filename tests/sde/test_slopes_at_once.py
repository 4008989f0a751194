"""Slopes of a block's sum that are found with its value."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.test_ensembles import KEY, SOLVE, _end


@njit
def _one(y0, vol, key, weight):
    found = nd.sde.ensemble(SOLVE, y0, (0.0, 0.3, 1.0), (0.1, vol, 3), key, 100, reduce=_end)
    return found.mean + weight * found.error


@pytest.mark.deep
@pytest.mark.parametrize("weight", [2.0, 0.0])
def test_slopes_found_with_the_values(weight):
    """One number a path: without a cotangent of the error, a block is not evaluated again."""
    at = 1.1, 0.4, KEY, weight
    forward, reverse = (nd.grad(_one, (0, 1), mode=mode)(*at) for mode in ("forward", "reverse"))
    np.testing.assert_allclose(reverse, forward, rtol=1e-11)
    second = nd.hessian(_one, 1)(*at)
    h = 1e-5
    up, down = (nd.grad(_one, 1)(1.1, 0.4 + s, KEY, weight) for s in (h, -h))
    assert second == pytest.approx((up - down) / (2.0 * h), rel=1e-5)
