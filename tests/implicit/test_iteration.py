"""Iterations in units of any size, and those that do not come to a fixed point."""

import math

import numpy as np
import pytest

import numbad as nd


def test_fixed_point_that_repels():
    with pytest.raises(nd.ConvergenceError):
        nd.fixed_point(lambda x: 2.0 * x + 1.0, 1.0)


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e-30])
def test_fixed_points_of_any_size(unit):
    def f(x, k):
        return k * math.cos(0.9 * x / k)

    def both(x, k):
        return k * np.cos(0.9 * x / k)

    x = nd.fixed_point(lambda x, k: math.cos(0.9 * x), 1.0, (1.0,))
    assert nd.fixed_point(f, unit, (unit,)) == pytest.approx(x * unit, rel=1e-11, abs=0.0)
    found = nd.fixed_point(both, np.array([unit, 0.1 * unit]), (unit,))
    np.testing.assert_allclose(found, x * unit, rtol=1e-11)
