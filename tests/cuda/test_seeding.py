"""Sizes of arguments that do and do not fill a pass."""

import numpy as np
import pytest
from numba import types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
import numbad as nd
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


def product(x, k):
    return x[0] * x[1] * k


def pair(x):
    return x[0] * x[1], x[1]


def right_hand_side(t, y, dy, k):
    dy[0], dy[1] = y[1], -k * y[0]


Y = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda room: device.jacobian(product)(Y, 3.0, room[:1]),
            r"'x' must have the shape x\.shape",
        ),
        (
            lambda room: device.jacobian(pair)(Y, room.reshape(2, 3)),
            r"'x' must have the shape \(2, \*x\.shape\)",
        ),
        (
            lambda room: device.jacobian(right_hand_side, (1,), out=2)(
                0.0, Y, room[4:], 4.0, room[:4].reshape(1, 4)
            ),
            r"'y' must have the shape dy\.shape \+ y\.shape",
        ),
        (
            lambda room: device.jvp(product)((Y, 3.0), (room[:1], 1.0)),
            "the tangent of 'x' must have the shape of the argument",
        ),
        (
            lambda room: device.hvp(product)((Y, 3.0), (Y, 1.0), (room[:1],)),
            "the product for 'x' must have the shape of the argument",
        ),
    ],
    ids=["jacobian", "several", "out", "jvp", "hvp"],
)
def test_arrays_of_another_shape_are_refused_on_the_cpu(call, message):
    """A kernel checks no shapes; on the CPU, numbers went beyond the end."""
    room = np.full(6, -1.0)
    with pytest.raises(nd.ArgumentError, match=message):
        call(room)
    assert room.tolist() == [-1.0] * 6
