"""Arrays on the stack, whose memory an intrinsic of the user's takes there."""

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


@intrinsic
def first_of(typingctx, array):
    def write(context, builder, signature, args):
        return context.make_array(array)(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), write


TABLE = np.array([5.0, 7.0])


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


@njit
def in_the_function_itself(a):
    work = carray(stack_empty(2, np.float64), (2,))
    for k in range(3):
        work[0] = a[k]
        work[1] = work[0] * a[0]
        a[k] = work[1]
    return a[0] * a[1] * a[2]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients(mode):
    corners, face = np.array([[0.0, 0.1], [1.2, 0.0], [1.1, 1.3]]), np.array([0, 1, 2])
    turned = np.roll(corners, -1, axis=0) - np.roll(corners, 1, axis=0)
    expected = 0.5 * np.column_stack((turned[:, 1], -turned[:, 0]))
    np.testing.assert_allclose(nd.grad(area, 0, mode=mode)(corners, face), expected, rtol=1e-14)


def test_in_the_function_itself_reverse_mode_alone_takes_it():
    a = np.array([0.5, 0.7, 1.1])
    with pytest.raises(nd.UnsupportedError, match=r"work\[0\] = a\[k\]"):
        nd.grad(in_the_function_itself, mode="forward")(a.copy())
    found = nd.grad(in_the_function_itself, mode="reverse")(a.copy())  # a0^6 a1 a2
    np.testing.assert_allclose(found, 0.5**6 * 0.77 * np.array([6, 1, 1]) / a, rtol=1e-13)


def test_memory_of_others_is_refused():
    @njit
    def aliased(a):
        view = carray(first_of(a), (2,))
        return view[0] * view[1]

    @njit
    def shared(x):
        memory = stack_empty(2, np.float64)
        first, second = carray(memory, (2,)), carray(memory, (2,))
        first[0] = x
        return second[0] * x

    @njit
    def constant(x):
        return carray(first_of(TABLE), (2,))[1] * x

    assert (constant(2.0), nd.grad(constant, mode="reverse")(2.0)) == (14.0, 7.0)
    assert (aliased(np.array([2.0, 3.0])), shared(2.0)) == (6.0, 4.0)
    for f, x in (aliased, np.array([2.0, 3.0])), (shared, 2.0):
        with pytest.raises(nd.UnsupportedError, match="carray"):
            nd.grad(f, mode="reverse")(x)
