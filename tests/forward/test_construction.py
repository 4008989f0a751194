"""Shapes of what stands for arrays."""

import numpy as np
import pytest
from numba.typed import List

import numbad as nd


def test_the_shape_of_an_array_without_axes():
    def f(a):
        z = np.zeros(np.shape(a[..., 0]) + np.shape(a))
        z[..., 1] = a[..., 0] * a[..., 2]
        return z.sum() + len(np.shape(a[..., 1])) * a[1]

    gradient = nd.grad(f, mode="forward")(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(gradient, [3.0, 0.0, 1.0])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_arrays_as_arrays_of_a_dtype(mode):
    def f(a):
        b = a * a
        same, wide = np.asarray(b, dtype=np.float64), np.asarray(b, np.complex128)
        same[0] *= a[1]  # b's, too
        whole = np.asarray(a, dtype=np.int64)
        return (b * b).sum() + (wide.real * whole).sum() + np.asarray(b, np.float32)[1]

    gradient = nd.grad(f, mode=mode)(np.array([1.5, 2.5]))
    by_hand = [4 * 1.5**3 * 2.5**2 + 2 * 1.5, 2 * 1.5**4 * 2.5 + 4 * 2.5**3 + 3 * 2 * 2.5]
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-7)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_typed_lists_as_arrays(mode):
    def f(a):
        members = List()
        for x in a:
            members.append(x * x)
        return (np.asarray(members) * np.asarray(members, dtype=np.complex128)).sum().real

    gradient = nd.grad(f, mode=mode)(np.array([1.5, 2.5]))
    np.testing.assert_allclose(gradient, [4 * 1.5**3, 4 * 2.5**3], rtol=1e-14)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_whether_arrays_are_of_complex_numbers(mode):
    def f(a):
        z = a * (1 + 2j)
        told = (2 if np.iscomplexobj(a) else 3) * (5 if np.isrealobj(a) else 7)
        told *= (11 if np.iscomplexobj(z) else 13) * (17 if np.isrealobj(z) else 19)
        return (z * z).imag.sum() / told

    gradient = nd.grad(f, mode=mode)(np.array([1.5, 2.5]))
    np.testing.assert_allclose(gradient * (3 * 5 * 11 * 19), [12.0, 20.0], rtol=1e-14)
