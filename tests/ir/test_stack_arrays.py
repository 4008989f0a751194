"""Arrays on the stack of functions that Numba inlines, whose memory an intrinsic of the user's takes."""

import numpy as np
import pytest
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

import numbad as nd


@intrinsic
def stack_empty(typingctx, size, dtype):
    def write(context, builder, signature, args):
        item = context.get_data_type(dtype.dtype)
        return cgutils.alloca_once(builder, item, size=args[0])

    return types.CPointer(dtype.dtype)(types.int64, dtype), write


@njit(inline="always")
def polygon():
    return carray(stack_empty(6, np.float64), (3, 2), dtype=np.float64)


@njit
def area(vertices, face):
    corners = polygon()
    for i in range(3):
        for k in range(2):
            corners[i, k] = vertices[face[i], k]
    total = 0.0
    for i in range(3):
        j = (i + 1) % 3
        total += corners[i, 0] * corners[j, 1] - corners[j, 0] * corners[i, 1]
    return 0.5 * total


@njit(inline="always")
def filled(vertices, face):
    corners = polygon()
    for i in range(3):
        for k in range(2):
            corners[i, k] = vertices[face[i], k]
    return corners


@njit
def scaled_area(x, vertices, face):
    """The array holds constants, so that no derivative needs to look into it."""
    corners = filled(vertices, face)
    return x * x * corners[1, 0] * corners[2, 1]


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_arrays_on_the_stack_of_inlined_functions_are_refused(mode):
    corners, face = np.array([[0.0, 0.1], [1.2, 0.0], [1.1, 1.3]]), np.array([0, 1, 2])
    assert area(corners, face) == pytest.approx(0.775)
    assert scaled_area(0.5, corners, face) == pytest.approx(0.25 * 1.2 * 1.3)
    line = r"on the stack of polygon(.|\n)*return carray(.|\n)*np\.empty"
    for f, args in (area, (corners, face)), (scaled_area, (0.5, corners, face)):
        with pytest.raises(nd.UnsupportedError, match=line):
            nd.grad(f, 0, mode=mode)(*args)
