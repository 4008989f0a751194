"""What is refused where it is assigned to a field."""

import numpy as np
import pytest
from numba import float64
from numba.experimental import jitclass

import numbad as nd

SHARED = np.dtype({"names": ["u", "v"], "formats": ["f8", "i8"], "offsets": [0, 0]})


def test_fields_that_share_memory_are_refused():
    def f(x):
        r = np.zeros(1, SHARED)
        r[0].u = x
        return r[0].u * x + r[0].v

    with pytest.raises(nd.UnsupportedError, match="the field 'u' of a record of constants"):
        nd.grad(f, mode="forward")(1.5)


POINT = np.dtype([("u", "f8"), ("v", "f8")])


def test_records_that_no_duals_stand_for_are_refused():
    def f(x, points):
        points[0].u = x * x
        return points[0].u * x

    points = np.zeros(2, POINT)
    points.flags.writeable = False
    with pytest.raises(nd.UnsupportedError, match=r"'u' of a record of constants(.|\n)*read-only"):
        nd.grad(f, 0, mode="forward")(1.5, points)
    assert points["u"].tolist() == [0.0, 0.0]


def test_duals_stand_for_records_in_a_tuple():
    def f(x, given):
        given[0][0].u = x * x
        return given[0][0].u * x

    points = np.zeros(2, POINT)
    assert nd.grad(f, 0, mode="forward")(1.5, (points,)) == 3 * 1.5**2
    assert points["u"].tolist() == [2.25, 0.0]


@jitclass({"field": float64[::1]})
class Grid:
    def __init__(self, field):
        self.field = field


def test_an_array_of_constants_beside_differentiated_ones_is_refused():
    def f(grid, table):
        total = grid.field[1]
        grid.field = table
        return total * grid.field[0]

    table = np.array([3.0, 4.0])
    assert f(Grid(np.ones(2)), table) == 3.0
    line = r"becomes the field 'field'(.|\n)*grid\.field = table"
    with pytest.raises(nd.UnsupportedError, match=line):
        nd.grad(f, 0, mode="forward")(Grid(np.ones(2)), table)
