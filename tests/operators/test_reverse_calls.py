"""Results of reverse mode are dispatchers: from nopython code, `prange`, `@cfunc`, and many threads."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import cfunc, njit, prange, types

import numbad as nd


@njit(nogil=True)
def decay(x, y):
    total, v = 0.0, x
    n = 10 + int(20.0 * abs(y))
    for _ in range(n):
        v = v * math.exp(-0.01 * v * y)
        total += v * v
    return total


by_both = nd.grad(decay, (0, 1), "reverse")
forward = nd.grad(decay, (0, 1), "forward")


@njit(nogil=True)
def path(a):
    state = a.copy()
    for step in range(50):
        for i in range(1, a.size):
            state[i] = state[i] + 0.01 * math.sin(state[i - 1] * (step + 1))
    return state


path_pull = nd.vjp(path)


def test_from_njit():
    @njit
    def twice(x, y):
        return 2.0 * by_both(x, y)[0]

    assert twice(0.3, 1.5) == 2.0 * by_both(0.3, 1.5)[0]
    assert by_both(0.3, 1.5) == pytest.approx(forward(0.3, 1.5), rel=1e-13)


def test_operators_and_modes_inside_nopython_code():
    @njit
    def at(x, a):
        first = nd.grad(decay, (0, 1), "reverse")(x, 1.5)[1]
        value, (cotangent,) = nd.vjp(path)((a,), a)
        return first, nd.grad(decay, mode="reverse")(x, 1.5), value, cotangent

    a = np.linspace(0.1, 1.0, 5)
    first, second, value, cotangent = at(0.3, a)
    assert (second, first) == by_both(0.3, 1.5)
    expected, (expected_cotangent,) = path_pull((a,), a)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(cotangent, expected_cotangent)


def test_from_prange():
    @njit(parallel=True)
    def everywhere(x, out):
        for i in prange(x.size):
            out[i] = by_both(x[i], 1.5)[0]

    x = np.linspace(0.1, 1.0, 200)
    out = np.full(x.size, np.nan)
    everywhere(x, out)
    np.testing.assert_array_equal(out, [by_both(xi, 1.5)[0] for xi in x])


def test_from_cfunc():
    @cfunc(types.float64(types.float64, types.float64))
    def callback(x, y):
        return by_both(x, y)[1]

    assert callback.ctypes(0.3, 1.5) == by_both(0.3, 1.5)[1]


def test_sixteen_threads_give_what_one_gives():
    starts = [np.linspace(0.1, 1.0, 5 + k % 7) + 0.01 * k for k in range(64)]

    def work(a):
        found = [path_pull((a,), a)[1][0] for _ in range(20)]
        assert all(np.array_equal(f, found[0]) for f in found)
        return found[0], by_both(a[0], a[1])

    expected = [work(a) for a in starts]
    with ThreadPoolExecutor(16) as pool:
        for (array, scalars), (one, alone) in zip(pool.map(work, starts), expected, strict=True):
            np.testing.assert_array_equal(array, one)
            assert scalars == alone
    assert path_pull.targetoptions["nogil"]


def test_first_calls_from_many_threads_at_once():
    f = nd.grad(njit(nogil=True)(decay.py_func), (0, 1), "reverse")
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: f(0.3, 1.5), range(32)))
    assert set(found) == {by_both(0.3, 1.5)}


def test_exceptions_come_through_and_leave_nothing_behind():
    @njit
    def positive(a):
        total = 0.0
        for x in a:
            if x < 0.0:
                raise ValueError("x must not be negative")
            total += math.sqrt(x)
        return total

    gradient = nd.grad(positive)
    for _ in range(3):
        with pytest.raises(ValueError, match="must not be negative"):
            gradient(np.array([4.0, -1.0]))
        np.testing.assert_array_equal(gradient(np.array([4.0, 1.0])), [0.25, 0.5])


def test_options_of_the_function_are_carried_over():
    @njit(error_model="numpy")
    def inverse(a):
        return 1.0 / a[0]

    assert nd.value_and_grad(inverse)(np.zeros(1)) == (math.inf, -math.inf)

    @njit
    def checked(a):
        return 1.0 / a[0]

    with pytest.raises(ZeroDivisionError):
        nd.value_and_grad(checked)(np.zeros(1))


def test_keywords_and_defaults():
    def power(x, n=3, scale=2.0):
        return x**n * scale

    slope = nd.grad(power, mode="reverse")
    assert slope(2.0) == 24.0
    assert slope(2.0, scale=1.0) == 12.0
    assert nd.grad(power, (0, 2), "reverse")(2.0) == (24.0, 8.0)
    assert nd.grad(power, (0, 2), "reverse")(2.0, n=2) == (8.0, 4.0)
