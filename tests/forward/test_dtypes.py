"""What code says of a `dtype`: a class that is called as well, a name, the `dtype` of a filled array."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

A = np.array([0.7, 1.4, 1.3])


@njit
def class_called_and_dtype(a):
    kind = np.int32
    places = np.zeros(2, dtype=kind)
    places[0] = kind(a[1] * 1.2)
    return a[places[0]] * a[places[1]]


@njit
def dtype_by_name(a):
    b = np.array([a[0], a[1]], dtype="float64")
    c = a.astype("complex128")
    return b[0] * b[1] + (c[0] * c[2]).real


@njit
def filled_with_a_dtype(a):
    b, c = np.full(2, a[0], dtype=np.float64), np.full((1, 2), a[1], "c16")
    return b[1] * b[0] + (c[0, 1] * 1j * c[0, 0]).imag


@njit
def dtype_of_an_array(a):
    b, c = np.eye(2, 3, dtype=a.dtype), np.identity(3, dtype=a.dtype) * a[1]
    b[0] += np.array([a[0], 2.0, a[1]], dtype=a.dtype)
    d = np.full(3, a[2], dtype=a.dtype).astype(a.dtype)
    unit = np.finfo(a.dtype).eps * 2.0**52
    return b[0, 0] * b[0, 2] + c[1, 1] * d[2] * b[1, 1] * unit


@njit
def classes_of_dtypes(a):
    b = (a * 1j).dtype.type(a[0] * a[1]) * a.dtype.type(2)
    return b.real * a[0] + np.ones(2).dtype.type(a[2] * a[1]) * np.arange(2).dtype.type(3.7)


@njit
def kinds_of_dtypes(a):
    s = 0.0
    for k in range(a.size):
        if a.dtype.kind == "f" and np.arange(2).dtype.kind != "f":
            s += a[k] ** 2
    return s


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("program", "slopes"),
    [
        (class_called_and_dtype, [A[1], A[0], 0.0]),
        (dtype_by_name, [A[1] + A[2], A[0], A[0]]),
        (filled_with_a_dtype, [2 * A[0], 2 * A[1], 0.0]),
        (dtype_of_an_array, [A[1], A[0] + 1 + A[2], A[1]]),
        (kinds_of_dtypes, 2 * A),
        (classes_of_dtypes, [4 * A[0] * A[1], 2 * A[0] ** 2 + 3 * A[2], 3 * A[1]]),
    ],
)
def test_slopes(program, slopes, mode):
    np.testing.assert_allclose(nd.grad(program, mode=mode)(A), slopes, rtol=1e-14)
