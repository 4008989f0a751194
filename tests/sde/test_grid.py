"""Output times that no grid of steps has."""

import math

import numpy as np
import pytest

import numbad as nd
from tests.sde.test_refusals import KEY, SOLVE


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ([], "ts is empty"),
        ([0.0, 1.0, 1.0], "ts must increase strictly, which it does not at t = 1.0"),
        ([1.0, 0.0], "ts must increase strictly"),
        ([0.0, math.inf], "ts must be finite"),
        ([0.0, 1e10], "dt is too small for ts"),
    ],
)
def test_times(times, told):
    with pytest.raises(nd.DataError, match=told):
        SOLVE(1.0, np.array(times), (), KEY)
