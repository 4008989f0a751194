"""Random functions, whose branches lanes take differently."""

import pytest

import numbad as nd
from tests.lanes.by_lanes import compare, program

IN_LANES = 0, 2, 4, 7, 9, 10, 11, 14, 15, 16, 17, 18, 24, 25, 29, 30, 32, 34, 35, 37, 38
REFUSED = 1, 3, 5
"""An array that a loop binds anew is read after it; ways out of a loop far apart; a sum in a branch."""


@pytest.mark.deep(but=["2"])
@pytest.mark.parametrize("seed", IN_LANES)
def test_random_functions(seed):
    compare(program(seed))


@pytest.mark.deep
@pytest.mark.parametrize("seed", REFUSED)
def test_what_lanes_cannot_do_is_refused(seed):
    with pytest.raises(nd.UnsupportedError, match="cannot run in 4 lanes"):
        compare(program(seed))
