"""A solution is that of the steps that were taken."""

import numpy as np
import pytest

import numbad as nd

from .test_adaptive_loop import GBM, KEY, _gbm_end, _growth, _shaken


@pytest.mark.deep
def test_a_solution_is_that_of_its_steps():
    """These steps, each given to a solver whose grid it is."""
    steps = nd.sde.taken_steps(GBM, 1.3, (0.0, 0.4, 1.0), (0.3, 0.8), (KEY, 2))

    def by_hand(vol):
        y = 1.3
        for h, w, a in zip(steps.h, steps.w[:, 0], steps.areas[:, 0], strict=True):
            one = nd.sde.solver(_growth, _shaken, method="SRIW1", dt=float(h))
            y = one(y, (0.0, h), (0.3, vol), (np.array([w]), np.array([a])))[-1, 0]
        return y

    assert len(steps.h) < 200
    assert _gbm_end(1.3, 0.3, 0.8, (KEY, 2)) == pytest.approx(by_hand(0.8), rel=1e-12)
