"""Shared memory and writers that tempt a compiler into a silent zero: right, or refused with the place."""

import math

import numpy as np
import pytest
from numba import vectorize

from tests.reverse.refusal import Slopes

X = 1.5
slope = Slopes(X)


# -- what shares memory ----------------------------------------------------------------------


@slope(2 * X + 1)
def contiguous_is_itself(x):
    a = np.ones(3)
    b = np.ascontiguousarray(a)
    b[0] = x
    return a[0] * x + a[0]


@slope(X + X + 2)
def contiguous_of_a_stride_is_a_copy(x):
    a = np.full(4, x)
    b = np.ascontiguousarray(a[::2])
    b[0] = 2.0
    return a[0] * x + b[0] * x


@slope(2 * X)
def asarray_is_itself(x):
    a = np.ones(3)
    b = np.asarray(a)
    b[1] = x
    return a[1] * x


@slope(2 * X + 1)
def astype_is_a_copy(x):
    a = np.full(3, x)
    b = a.astype(np.float64)
    b[0] = 1.0
    return a[0] * x + b[0] * x


@slope(2 * X)
def ravel_of_contiguous_is_a_view(x):
    a = np.ones((2, 2))
    b = a.ravel()
    b[3] = x
    return a[1, 1] * x


@slope(1 + 2 * X)
def ravel_of_transposed_is_a_copy(x):
    a = np.ones((2, 2))
    b = a.T.ravel()
    b[3] = x
    return a[1, 1] * x + b[3] * x


@slope(1 + 2 * X)
def flatten_is_a_copy(x):
    a = np.ones((2, 2))
    b = a.flatten()
    b[3] = x
    return a[1, 1] * x + b[3] * x


@slope(2 * X)
def flat_iterator(x):
    a = np.ones((2, 2))
    a.flat[3] = x
    return a[1, 1] * x


@slope(6 * X)
def as_strided_windows(x):
    a = np.full(4, x)
    w = np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))
    s = 0.0
    for i in range(3):
        s += w[i, 0] * w[i, 1]
    return s


@slope(6 * X)
def sliding_windows(x):
    a = np.full(4, x)
    w = np.lib.stride_tricks.sliding_window_view(a, 2)
    s = 0.0
    for i in range(3):
        s += w[i, 0] * w[i, 1]
    return s


@slope(9 * X**2)
def broadcast(x):
    b = np.broadcast_to(np.full(3, x), (1, 3))
    s = 0.0
    for i in range(3):
        s += b[0, i] * x * x
    return s


@slope(2 * X)
def real_part_is_a_view(x):
    z = np.zeros(2, np.complex128)
    z.real[0] = x
    return z[0].real * x


@slope(2 * X)
def imaginary_part_is_a_view(x):
    z = np.zeros(2, np.complex128)
    z.imag[1] = x
    return z[1].imag * x


@slope(2 * X)
def split_gives_views(x):
    a = np.ones(4)
    np.split(a, 2)[1][0] = x
    return a[2] * x


@slope(2 * X)
def flip_gives_a_view(x):
    a = np.ones(4)
    np.flip(a)[0] = x
    return a[3] * x


@slope(2 * X)
def expanded_dimensions_are_a_view(x):
    a = np.ones(4)
    np.expand_dims(a, 0)[0, 1] = x
    return a[1] * x


@slope(3 * X**2)
def rows_of_an_iteration_are_views(x):
    m = np.ones((2, 2))
    for row in m:
        row[0] = x
    return m[0, 0] * m[1, 0] * x


@slope(5 * X**4)
def an_iteration_reads_what_it_wrote(x):
    a = np.ones(4)
    a[0] = x
    i = 1
    for v in a:
        if i < 4:
            a[i] = v * x
        i += 1
    return a[3] * x


@slope(2 * X + 4 * X**3)
def overlapping_slices(x):
    a = np.array([x, x * x, 1.0])
    a[1:] = a[:-1]
    return a[1] * x + a[2] * x * x


@slope(2 * X + 6.0 + 4 * X)  # Numba reads what it has just written
def reversed_onto_itself(x):
    a = np.array([x, x * x, 2.0])
    a += a[::-1]
    return a[0] * a[2] + a[1]


# -- writers ---------------------------------------------------------------------------------


@slope(2 * X)
def fill_method(x):
    a = np.ones(3)
    a.fill(x)
    return a[2] * x


@slope(2 * X)
def ufunc_with_out(x):
    a, b = np.full(3, x), np.zeros(3)
    np.multiply(a, x, b)
    return b[1]


@slope(2 * X * math.exp(X * X))
def ufunc_in_place(x):
    a = np.full(3, x * x)
    np.exp(a, a)
    return a[1]


@slope(2 * X)
def fill_diagonal(x):
    m = np.ones((2, 2))
    np.fill_diagonal(m, x)
    return m[1, 1] * x


@slope(2 * X)
def dot_with_out(x):
    m, v, out = np.eye(2) * x, np.full(2, x), np.zeros(2)
    np.dot(m, v, out)
    return out[1]


@slope(2 * X)
def itemset_by_index_array(x):
    a = np.ones(4)
    a[np.array([1, 3])] = x
    return a[3] * x


@slope(2 * X)
def boolean_mask(x):
    a = np.arange(4.0)
    a[a > 1.0] = x
    return a[2] * x


@slope(6 * X)
def nditer(x):
    s = 0.0
    for v in np.nditer(np.full(3, x)):
        s += v.item() * x
    return s


@slope(-3 * X**2)
def sort_in_place(x):
    a = np.array([4.0, x, -x * x * x])
    a.sort()
    return a[0] + a[2]


@slope(2 * X)
def sorted_copy(x):
    return np.sort(np.array([4.0, x * x, -1.0]))[1]


@slope(-2.0)
def argsort(x):
    a = np.array([4.0, x, -2.0 * x])
    return a[np.argsort(a)[0]]


@slope(2.5)
def interpolation(x):
    xp, fp = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.5])
    return np.interp(x, xp, fp)


@slope(2 * X)
def stored_as_integer(x):
    counts = np.zeros(2, np.int64)
    counts[0] = x
    return counts[0] * x + x * x - x


@slope(1.0)
def truncated(x):
    return int(x) * x + math.floor(x * 0.1) * x


@vectorize
def product_of(x, y):
    return x * y


@slope(12 * X)
def ufunc_of_the_user_with_out(x):
    a, out = np.full(2, x), np.zeros(2)
    product_of(a, x, out)
    product_of(out, 3.0, a)
    return a[0] + out[1] + out[0] * 2.0


@pytest.mark.deep(
    but=[
        "an_iteration_reads_what_it_wrote",
        "overlapping_slices",
        "asarray_is_itself",
        "broadcast",
        "flatten_is_a_copy",
        "ravel_of_contiguous_is_a_view",
        "real_part_is_a_view",
        "reversed_onto_itself",
        "sort_in_place",
        "ufunc_in_place",
        "stored_as_integer",
    ]
)
@pytest.mark.parametrize(("f", "expected"), slope)
def test_right_or_refused(f, expected):
    slope.check(f, expected)
