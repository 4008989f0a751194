"""Linear systems as equations, to second order."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.implicit.test_root import both_modes, close


@njit
def affine(x, a, b):
    return a @ x - b


@njit
def first_times_last(a, b):
    x = nd.root(affine, np.zeros(b.size), (a, b))
    return x[0] * x[-1]


A = np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.0], [2.0, 0.25, 5.0]])  # no symmetry
B = np.array([1.0, 2.0, -1.0])


def by_complex_step(f, x):
    out = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        z = x.astype(complex)
        z[index] += 1e-30j
        out[index] = f(z).imag / 1e-30
    return out


def solved_product(a, b):
    x = np.linalg.solve(a, b)
    return x[0] * x[-1]


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@both_modes
def test_linear_system(mode):
    by_a, by_b = nd.grad(first_times_last, (0, 1), mode=mode)(A, B)
    close(first_times_last(A, B), solved_product(A, B))
    close(by_a, by_complex_step(lambda a: solved_product(a, B), A))
    close(by_b, by_complex_step(lambda b: solved_product(A, b), B))


@pytest.mark.deep
def test_second_order_of_a_linear_system():
    """Along a direction of the matrix, in which the solution is not linear."""
    v = np.array([[0.3, -1.0, 0.0], [0.5, 0.0, 2.0], [1.0, 0.0, -0.5]])
    (product,) = nd.hvp(lambda a: first_times_last(a, B))((A,), (v,))
    inverse = np.linalg.inv(A)
    x = inverse @ B
    dx = -inverse @ v @ x
    dinverse = -inverse @ v @ inverse
    # gradient by a_ij: -(inv[0, i] x[2] + inv[2, i] x[0]) x_j
    row = inverse[0] * x[2] + inverse[2] * x[0]
    drow = dinverse[0] * x[2] + inverse[0] * dx[2] + dinverse[2] * x[0] + inverse[2] * dx[0]
    close(product, -(np.outer(drow, x) + np.outer(row, dx)))
