"""Writes to items and slices of `z.imag`, in reverse mode, against differences."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

POINT = np.array([0.3, 0.7, 1.2])
B = np.array([[1 + 0.3j, 0.4 - 0.2j, 0.7 + 0.1j], [0.2 + 0.5j, 0.3 - 0.7j, 0.9 + 0.4j]])
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


@program
def an_array_of_its_own(z, x):
    """As in amset's `_get_overlap`."""
    w = np.zeros(z.shape, z.dtype)
    w.real[:] = 2 * z.real
    w.imag[:] = x[2] * z.imag
    return w


@program
def a_number_and_a_row(z, x):
    z.imag[:] = x[2]
    z.imag[0] = x * z.real[1]
    z.imag[1, :2] = 2
    return z


@program
def numbers(z, x):
    z.imag[0, 1] = x[2] * z.imag[1, 2]
    z.imag[1, 0] += x[1] * z.imag[1, 2]
    return z * z.imag[0, 0]


@program
def backwards(z, x):
    z.imag[:, ::-1] = z.imag
    z.imag[:, 1:] = z.imag[:, :-1]
    return z * x[0]


@program
def by_a_name_of_its_own(z, x):
    part = z.imag
    for j in range(3):
        part[0, j] = part[0, j] * x[j] + part[1, (j + 1) % 3]
    return z


@program
def in_a_loop_without_a_count(z, x):
    while z.imag[0, 0] < 5:
        z.imag[:, 0] = z.imag[:, 0] * (1.5 + x[2]) + x[0]
    return z


@program
def flat(z, x):
    w = z.ravel()
    for i in range(w.size):
        w.imag[i] *= x[i % 3]
    w.imag[-1] = 3.0
    return w.reshape(2, 3)


def weighted(f):
    compiled = njit(f)

    @njit
    def run(x):
        z = compiled(B * complex(x[0], x[1]), x)
        total = 0.0
        for i in range(2):
            for j in range(3):
                total += (i + 0.3 * j) * z[i, j].real ** 2 + (1 + i + j) * z[i, j].imag
        return total

    return run


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_to_items_of_the_imaginary_part(f):
    run = weighted(f)
    steps = 1e-5 * np.eye(3)
    slopes = [(run(POINT + step) - run(POINT - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(nd.grad(run, mode="reverse")(POINT), slopes, rtol=1e-8)


@pytest.mark.deep
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_order(f):
    run = weighted(f)
    gradient, steps = nd.grad(run, mode="reverse"), 1e-5 * np.eye(3)
    slopes = [(gradient(POINT + step) - gradient(POINT - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(nd.hessian(run)(POINT), slopes, rtol=1e-7, atol=1e-8)
