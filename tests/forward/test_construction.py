"""Shapes of what stands for arrays."""

import numpy as np

import numbad as nd


def test_the_shape_of_an_array_without_axes():
    def f(a):
        z = np.zeros(np.shape(a[..., 0]) + np.shape(a))
        z[..., 1] = a[..., 0] * a[..., 2]
        return z.sum() + len(np.shape(a[..., 1])) * a[1]

    gradient = nd.grad(f, mode="forward")(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(gradient, [3.0, 0.0, 1.0])
