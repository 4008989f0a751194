"""Random functions, whose branches lanes take differently."""

import pytest

import numbad as nd
from tests.lanes.by_lanes import compare, program

REFUSED = 0, 3, 6, 10, 19
"""The number of the greatest element differs from lane to lane; `-a` of what nothing reads has no code."""


@pytest.mark.deep(but=["1"])
@pytest.mark.parametrize("seed", [k for k in range(24) if k not in REFUSED])
def test_random_functions(seed):
    compare(program(seed))


@pytest.mark.deep
@pytest.mark.parametrize("seed", REFUSED[:3])
def test_what_lanes_cannot_do_is_refused(seed):
    with pytest.raises(nd.UnsupportedError, match="cannot run in 4 lanes"):
        compare(program(seed))
