"""What a pullback makes and drops lies on the machine stack where it is small, and is right in any case."""

import gc

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd
from numbad.operators.brief import STACK_BYTES

FITS = STACK_BYTES // 16  # numbers with a tangent each
RATE = 0.1


@njit
def energy(x, pair, w):
    a, b = pair
    total = 0.0
    for i in range(x.size):
        total += w * x[i] ** 3 * a[i] + x[i] * x[i - 1] * b
    return total


slope = nd.grad(energy, 0, mode="reverse")


def descended(a, x, w, steps):
    for _ in range(steps):
        x = x - RATE * slope(x, (a, 0.3), w)
    total = 0.0
    for i in range(x.size):
        total += x[i] ** 2
    return total


gradient = nd.grad(descended, (0, 1, 2), mode="reverse")


def by_complex_step(a, x, w, steps):
    """The gradient of the same with the inner gradient by hand."""

    def run(a, x, w):
        for _ in range(steps):
            x = x - RATE * (3.0 * w * x**2 * a + 0.3 * (np.roll(x, 1) + np.roll(x, -1)))
        return np.sum(x**2)

    def along(k, i):
        moved = [np.array(v, dtype=complex) for v in (a, x, w)]
        moved[k].flat[i] += 1e-30j
        return run(*moved).imag / 1e-30

    by = [np.array([along(k, i) for i in range(v.size)]) for k, v in enumerate((a, x))]
    return *by, along(2, 0)


def drawn(n):
    return np.random.default_rng(n).uniform(-1.0, 1.0, (2, n))


def check(a, x):
    found = gradient(a, x, 0.7, 3)
    for one, other in zip(found, by_complex_step(a, x, 0.7, 3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", [1, 3, FITS, FITS + 1, 3 * FITS])
def test_gradient_of_a_descent(n):
    check(*drawn(n))


@pytest.mark.deep
def test_arrays_of_any_order():
    a, x = drawn(8)
    check(a[::-1], x[::2].repeat(2)[::2].repeat(2))
    check(np.repeat(a, 2)[::2], np.repeat(x, 2)[::2])


def counted(call):
    """Numba's allocations during a call, and how many of them are left after it."""
    _nrt_python.memsys_enable_stats()
    gc.collect()
    before = rtsys.get_allocation_stats()
    call()
    gc.collect()
    after = rtsys.get_allocation_stats()
    made, freed = after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free
    return made, made - freed


@pytest.mark.dear
@pytest.mark.parametrize(("n", "arrays"), [(3, 0), (FITS + 1, 4)])
def test_allocations_of_a_step(n, arrays):
    """The gradient and the new state; large arrays of the pullback as well, which are freed."""
    a, x = drawn(n)
    gradient(a, x, 0.01, 1)
    few, left = counted(lambda: gradient(a, x, 0.01, 10))
    many, left_of_many = counted(lambda: gradient(a, x, 0.01, 20))
    assert many - few == 10 * (2 + arrays)
    assert left == left_of_many == 0


def test_what_comes_out_is_not_on_the_stack():
    """The value of a gradient that is differentiated once more is the caller's."""
    both = nd.vjp(nd.value_and_grad(energy, 0, mode="reverse"), 0)
    a, x = drawn(3)
    (value, slopes), (by_x,) = both((x, (a, 0.3), 0.7), (0.0, np.ones(3)))
    kept = slopes.copy()
    both((np.zeros(3), (a, 0.3), 0.7), (1.0, np.zeros(3)))
    np.testing.assert_array_equal(slopes, kept)
    np.testing.assert_allclose(slopes, slope(x, (a, 0.3), 0.7), rtol=1e-14)
    np.testing.assert_allclose(by_x, 6 * 0.7 * x * a + 0.6, rtol=1e-13)
    assert value == energy(x, (a, 0.3), 0.7)
