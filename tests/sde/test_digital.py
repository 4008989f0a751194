"""Reducers that decide by comparisons alone are warned of."""

import pytest
from numba import njit

import numbad as nd
from tests.sde.test_ensembles import KEY, SOLVE


@pytest.mark.dear
def test_payoffs_that_jump_are_warned_of():
    @njit
    def digital(ys):
        return 1.0 if ys[-1, 0] > 1.0 else 0.0

    def mean(vol):
        return nd.sde.ensemble(SOLVE, 1.0, (0.0, 1.0), (0.1, vol), KEY, 10, reduce=digital).mean

    with pytest.warns(nd.ControlDependenceWarning, match="digital returns is zero path by path"):
        assert nd.grad(mean, mode="reverse")(0.2) == 0.0
