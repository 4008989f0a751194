"""Sizes of arguments that do and do not fill a pass."""

import numpy as np
import pytest
from numba import types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
import numbad.cuda as device

from .on_cpu import DeviceFunction
from .test_forward_mode import many, total_of_squares

pytestmark = pytest.mark.usefixtures("no_gpu")


@pytest.mark.parametrize("size", [0, 1, 4, 5])
def test_sizes_that_do_and_do_not_fill_a_pass(size):
    """On the CPU, where the same source runs; passes have four partials."""
    rows = device.jacobian(total_of_squares)
    x, J = np.arange(1.0, size + 1), np.full(size, 7.0)
    rows(x, J)
    np.testing.assert_array_equal(J, 2 * x)


def test_more_scalars_than_a_pass_takes():
    rows = device.jacobian(many, (0, 1, 2))
    F = types.float64

    def code(s):
        (da, db, dc), (ea, eb, ec) = rows((s, 2 * s, 3 * s, 4 * s, 5 * s), s, (s, s, s, 2 * s))
        return (*da, db, *dc, *ea, eb, *ec)

    found = DeviceFunction(code, (F,))(1.0)[1]
    expected = [120, 60, 40, 30, 24, 2, 2, 2, 2, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]
    np.testing.assert_array_equal(found, expected)
