"""Adjoints of products that a later branch hides: a factor may then be infinite or NaN."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


def hidden_products(a, m):
    """`with_nan` is that where `a[0]` is zero, and nothing of its products is used there."""
    with_nan = np.empty_like(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            with_nan[i, j] = np.nan if a[0] == 0.0 else m[i, j] / a[0]
    hidden = np.dot(with_nan[0], a) + (with_nan @ a)[1] + (a @ with_nan)[0] + (with_nan @ m)[1, 0]
    shown = np.dot(a, m[1])
    return shown if a[0] == 0.0 else shown + hidden


def test_hidden_products():
    gradient = nd.grad(hidden_products, (0, 1), mode="reverse")
    a, m = np.array([0.0, 2.0]), np.array([[0.5, 3.0], [0.7, 1.1]])
    by_a, by_m = gradient(a, m)
    np.testing.assert_array_equal(by_a, m[1])
    np.testing.assert_array_equal(by_m, [[0.0, 0.0], a])
    a[0] = 0.4
    for found, wanted in zip(gradient(a, m), _by_complex_step(a, m), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def _by_complex_step(a, m):
    def shifted(x, at):
        moved = x.astype(complex)
        moved[at] += 1e-30j
        return moved

    def value(a, m):
        n = m / a[0]
        return a @ m[1] + n[0] @ a + (n @ a)[1] + (a @ n)[0] + (n @ m)[1, 0]

    by_a = [value(shifted(a, k), m).imag / 1e-30 for k in range(2)]
    by_m = [[value(a, shifted(m, (i, j))).imag / 1e-30 for j in range(2)] for i in range(2)]
    return np.array(by_a), np.array(by_m)


@pytest.mark.deep
def test_second_order_of_hidden_products():
    """Of one variable, so that adjoints are dual numbers."""

    products = njit(error_model="numpy")(hidden_products)

    def f(x):
        return products(np.array([x[0], 2.0]), np.array([[x[1], 3.0], [0.7, x[0] * x[1]]]))

    hessian = nd.hessian(f)(np.array([0.0, 0.5]))
    np.testing.assert_array_equal(hessian, [[0.0, 2.0], [2.0, 0.0]])
