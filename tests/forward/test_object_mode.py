"""Blocks in object mode see Python objects, which dual numbers are not."""

import pytest
from numba import njit, objmode

import numbad as nd


@njit
def in_object_mode(x):
    with objmode(y="float64"):
        y = x * 2.0
    return y


def test_a_block_in_object_mode_is_refused_with_its_line():
    assert in_object_mode(1.5) == 3.0
    with pytest.raises(nd.UnsupportedError, match=r"line \d+:\n    with objmode"):
        nd.derivative(in_object_mode)(1.5)
