"""Small new arrays of known size: on the machine stack where they stay, and right wherever they go."""

import math

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd
from tests.reverse import complex_step

X = np.array([0.7, 1.3, 0.4])


@njit
def rotated(y, rate):
    out = np.empty(3)
    out[0] = rate * y[1] - y[2]
    out[1] = y[0] * y[2]
    out[2] = -rate * y[0] * y[1]
    return out


def scratch_of_a_callee(x, rate):
    """Three arrays an iteration, each used up within it."""
    a, b, c = x[0], x[1], x[2]
    for _ in range(4):
        y = np.empty(3)
        y[0], y[1], y[2] = a, b, c
        first = rotated(y, rate)
        for i in range(3):
            y[i] += 0.1 * first[i]
        second = rotated(y, rate)
        a += 0.2 * second[0]
        b += 0.2 * second[1] * first[0]
        c += 0.2 * second[2]
    return a * b + c


def carried_on(x, rate):
    """The array of the last iteration is read beside that of this one."""
    y = np.empty(3)
    y[0], y[1], y[2] = x[0], x[1], x[2]
    for _ in range(4):
        new = np.empty(3)
        for i in range(3):
            new[i] = y[i] + rate * y[(i + 1) % 3] * y[i]
        y = new
    return y[0] * y[1] - y[2]


def two_generations(x, rate):
    """The arrays of the last two iterations are alive at once."""
    before, y = np.zeros(3), np.zeros(3)
    y[0] = rate
    for _ in range(5):
        new = np.empty(3)
        for i in range(3):
            new[i] = y[i] * x[i] + before[(i + 2) % 3] + rate
        before, y = y, new
    return before[0] * y[2] + before[1]


def zeros_in_every_iteration(x, rate):
    total = 0.0
    for k in range(3):
        sums = np.zeros(2)
        for i in range(3):
            sums[i % 2] += x[i] * x[k] * rate
        total += sums[0] * sums[1]
    return total


def in_an_outer_iteration(x, rate):
    total = 0.0
    for k in range(3):
        kept = np.empty(2)
        kept[0], kept[1] = x[k], rate
        for i in range(3):
            kept[0] = kept[0] * x[i] + kept[1]
        total += kept[0] * kept[1]
    return total


def one_of_two(x, rate):
    a = np.empty(3)
    for i in range(3):
        a[i] = x[i] * rate
    b = a if rate > 1.0 else x
    a[0] = a[0] * a[1]
    return b[0] * a[1] + b[2]


def through_views(x, rate):
    a = np.zeros((2, 3))
    top, left = a[0], a.T[0]
    for i in range(3):
        top[i] = x[i] * rate
    left[1] = top[1] * x[2]
    return a[1, 0] * a[0, 2] + a.shape[0]


def kept_in_a_list(x, rate):
    kept = [x]
    for k in range(3):
        a = np.empty(3)
        for i in range(3):
            a[i] = kept[k][i] * rate + k
        kept.append(a)
    return kept[1][0]


def left_early(x, rate):
    total = 0.0
    for k in range(6):
        a = np.empty(1)
        a[0] = x[k % 3] * rate * (total + 1.0)
        if a[0] > 4.0:
            total += a[0] * a[0]
            break
        total += a[0]
    return total


ON_STACK = [scratch_of_a_callee, zeros_in_every_iteration, in_an_outer_iteration, left_early]
PROGRAMS = [*ON_STACK, carried_on, two_generations, one_of_two, through_views]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("rate", [0.8, 1.9])
def test_gradients(f, rate):
    value, gradient = nd.value_and_grad(f, (0, 1), mode="reverse")(X, rate)
    assert value == pytest.approx(complex_step.value(f, (X, rate))[0], rel=1e-14)
    by_x, by_rate = complex_step.jacobian(f, (X, rate), (0, 1))
    np.testing.assert_allclose(gradient[0], by_x[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient[1], by_rate[0], rtol=1e-12)


@pytest.mark.deep
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    """Dual numbers go through the same statements."""
    backward = nd.hessian(f, 0, mode="reverse")(X, 1.9)
    forward = nd.hessian(f, 0, mode="forward")(X, 1.9)
    np.testing.assert_allclose(backward, forward, rtol=1e-11, atol=1e-12)


def returned(x, rate):
    a = np.empty(2)
    a[0], a[1] = x[0] * rate, x[1] * x[2]
    return a


def returned_view(x, rate):
    a = np.zeros((2, 2))
    a[1, 0], a[1, 1] = x[0] * rate, x[1] * x[2]
    return a[1]


def returned_in_a_tuple(x, rate):
    a, b = np.empty(2), np.empty(2)
    a[0], a[1] = x[0] * rate, x[1] * x[2]
    b[0], b[1] = a[1], a[0]
    return a, b[0] * b[1]


def returned_now_or_then(x, rate):
    a, b = np.empty(2), np.empty(2)
    a[0], a[1] = x[0] * rate, x[1] * x[2]
    b[0], b[1] = a[1], a[0]
    if rate > 1.0:
        return a
    return b


def returned_after_a_loop(x, rate):
    a = np.zeros(2)
    for k in range(3):
        b = np.empty(2)
        b[0], b[1] = a[1] + x[k] * rate, a[0] * x[k] + 1.0
        a = b
    return a


def overwritten():
    """Calls that leave other values where a callee's stack was."""
    deep = nd.grad(in_an_outer_iteration, mode="reverse")
    deep(np.full(3, 1e300), 3.0)


@pytest.mark.deep(but=["returned", "returned_view"])
@pytest.mark.parametrize(
    "f",
    [returned, returned_view, returned_in_a_tuple, returned_now_or_then, returned_after_a_loop],
)
def test_arrays_that_leave(f):
    operator = nd.value_and_jacobian(f, (0, 1), mode="reverse")
    for rate in (0.8, 1.9):
        value, jacobian = operator(X, rate)
        (pulled, _) = nd.vjp(f)((X, rate), tuple_of_ones(value))
        overwritten()
        expected = complex_step.value(f, (X, rate))
        for result in (value, pulled):
            np.testing.assert_allclose(complex_step.parts(result).real, expected, rtol=1e-14)
        by_x, by_rate = complex_step.jacobian(f, (X, rate), (0, 1))
        rows = jacobian if isinstance(value, tuple) else (jacobian,)
        found = np.concatenate([np.reshape(row[0], (-1, 3)) for row in rows])
        np.testing.assert_allclose(found, by_x, rtol=1e-12, atol=1e-14)
        found = np.concatenate([np.ravel(row[1]) for row in rows])
        np.testing.assert_allclose(found, by_rate, rtol=1e-12, atol=1e-14)


def tuple_of_ones(value):
    if isinstance(value, tuple):
        return tuple(map(tuple_of_ones, value))
    return np.ones_like(value) if isinstance(value, np.ndarray) else 1.0


def test_arrays_in_a_list():
    value, gradient = nd.value_and_grad(kept_in_a_list, 0, mode="auto")(X, 2.0)
    assert value == 1.4
    np.testing.assert_array_equal(gradient, [2.0, 0.0, 0.0])


@njit
def nested(x, n):
    """A local array in every call of a recursion."""
    a = np.empty(2)
    a[0], a[1] = x * n, x
    if n == 0:
        return a[1]
    return nested(a[1] * 0.5 + a[0], n - 1) * a[1]


def test_recursion():
    """f_n(x) = x f_{n-1}((n + 1/2) x) and f_0(x) = x: a power of x."""
    constant = 1.0
    for n in range(1, 4):
        scale = n + 0.5
        constant = constant * scale**n
    assert nd.grad(nested, mode="reverse")(1.25, 3) == pytest.approx(4 * constant * 1.25**3)


@pytest.mark.shows("stack")
@pytest.mark.parametrize("f", ON_STACK)
def test_arrays_that_stay_take_no_heap_memory(f):
    gradient = nd.value_and_grad(f, (0, 1), mode="reverse")

    @njit
    def loop(x, n):
        total = 0.0
        for _ in range(n):
            value, _ = gradient(x, 0.8)
            total += value
        return total

    def allocations(n):
        before = rtsys.get_allocation_stats().mi_alloc
        loop(X, n)
        return rtsys.get_allocation_stats().mi_alloc - before

    loop(X, 1)
    _nrt_python.memsys_enable_stats()
    assert allocations(10) - allocations(0) == 10  # what comes out: the gradient by x


def test_what_is_too_large_for_the_stack():
    def f(x):
        a = np.zeros(200_000)
        b = np.empty(150)
        for k in range(150):
            b[k] = x * k
        a[0], a[199_999] = x, b[149]
        return a[0] * a[199_999] * math.sin(a[7]) + a[0] * b[3]

    assert nd.grad(f, mode="reverse")(2.0) == 2 * 3 * 2.0
