"""Types of variables that `njit(locals=...)` declares."""

from collections import namedtuple

import numpy as np
import pytest
from numba import njit, types
from numba.typed import List

import numbad as nd


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_types_of_locals_are_kept(mode):
    import numba

    @njit(
        locals={"y": numba.float32, "k": numba.int32, "part": numba.float64[:], "x": numba.float64}
    )
    def f(x, a):
        y = x * 1.1
        k = x * 2.0
        part = a
        for i in range(part.size):
            y += part[i] * k
        return y * x

    a, x = np.array([0.25, 0.5]), 1.7
    value, (by_x, by_a) = nd.value_and_grad(f, (0, 1), mode=mode)(x, a)
    assert value == f(x, a)
    assert value != f.py_func(x, a)  # single precision, and k is 3
    assert by_x == pytest.approx(2 * 1.1 * x + 3 * 0.75, rel=1e-6)
    np.testing.assert_allclose(by_a, 3 * x, rtol=1e-6)


Pair = namedtuple("Pair", "u v")
ARRAYS = types.UniTuple(types.float64[::1], 2)
MIXED = types.Tuple([types.float64, types.Tuple([types.float32, types.int64]), types.unicode_type])


@njit
def square_and_sine(a):
    return a * a, np.sin(a)


@njit(locals={"made": ARRAYS})
def tuple_of_arrays(a):
    made = square_and_sine(a)
    return made[0].sum() * made[1][0]


@njit(locals={"made": MIXED, "pair": types.NamedUniTuple(types.float64, 2, Pair)})
def tuples_of_numbers(a):
    made = (3, (a[0] * 1.1, 2), "name")
    pair = Pair(a[1], 5.0)
    return made[0] * made[1][0] * made[1][1] * pair.u * pair.v


@njit(locals={"made": types.ListType(types.float64)})
def typed_list(a):
    made = List.empty_list(types.float64)
    made.append(a[0])
    made.append(made[0] * a[1])
    return made[0] * made[1]


@njit(locals={"made": types.Optional(types.float64)})
def number_or_none(a):
    made = a[0]
    return made * a[1]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_tuples_and_lists_are_kept(mode):
    a = np.array([0.3, 0.7])
    by_a = nd.grad(tuple_of_arrays, mode=mode)(a)
    square, sine = (a * a).sum(), np.sin(a[0])
    np.testing.assert_allclose(by_a, 2 * a * sine + [square * np.cos(a[0]), 0.0], rtol=1e-14)
    by_a = nd.grad(tuples_of_numbers, mode=mode)(a)
    np.testing.assert_allclose(by_a, 33 * a[::-1], rtol=1e-6)
    single = 30 * np.float64(np.float32(1.1 * a[0])) * a[1]
    assert tuples_of_numbers(a) == pytest.approx(single, rel=1e-14)
    assert nd.value_and_grad(tuples_of_numbers, mode=mode)(a)[0] == tuples_of_numbers(a)
    by_a = nd.grad(typed_list, mode=mode)(a)
    np.testing.assert_allclose(by_a, [2 * a[0] * a[1], a[0] ** 2], rtol=1e-14)
    with pytest.raises(nd.UnsupportedError, match="declares 'made' as OptionalType"):
        nd.grad(number_or_none, mode=mode)(a)
