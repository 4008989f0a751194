"""Trajectories that fail: the others are right, and what failed is told."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_ensemble_call import END, OUTPUTS, explosion


def test_a_trajectory_that_fails_leaves_the_others_right():
    y0s = np.array([0.5, 1.6, -1.0, 3.0, 0.1])  # 1 / y0 is when it explodes
    with pytest.warns(nd.NumbadWarning, match=r"2 of 5.*first is number 1: .* at t = 0\.62"):
        found = device.ensemble(explosion, y0s, OUTPUTS)
    assert (found.status != 0).tolist() == [False, True, False, True, False]
    exact = 1.0 / (1.0 / y0s[:, None] - OUTPUTS)
    fails = exact < 0.0
    fails[2] = False
    assert np.isnan(found.ys[..., 0]).tolist() == fails.tolist()
    np.testing.assert_allclose(found.ys[..., 0][~fails], exact[~fails], rtol=1e-4)


def test_all_that_fail_raise():
    with pytest.raises(
        nd.IntegrationError, match="3 of 3 trajectories failed; the first is number 0"
    ):
        device.ensemble(explosion, np.array([2.0, 3.0, 4.0]), OUTPUTS)
    with pytest.raises(nd.IntegrationError, match=r"2 of 2.*initial state"):
        device.ensemble(explosion, np.array([math.nan, math.inf]), OUTPUTS)


def picky(t, y, limit):
    if y[0] > limit:
        raise ValueError("too large")
    return (y[0],)


def test_what_fun_raises_ends_one_trajectory():
    limits = np.array([9.0, 1.2, 9.0])
    with pytest.warns(nd.NumbadWarning, match="1 of 3.*number 1: fun raised an exception"):
        found = device.ensemble(nd.ode.solver(picky), (1.0,), END, limits)
    assert np.isnan(found.ys[1]).all()
    np.testing.assert_allclose(found.ys[[0, 2], 1, 0], math.e, rtol=1e-6)
