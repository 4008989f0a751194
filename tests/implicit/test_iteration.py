"""Iterations that do not come to a fixed point."""

import pytest

import numbad as nd


def test_fixed_point_that_repels():
    with pytest.raises(nd.ConvergenceError):
        nd.fixed_point(lambda x: 2.0 * x + 1.0, 1.0)
