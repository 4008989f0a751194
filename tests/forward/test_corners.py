"""What could be silently wrong: shared memory, levels, parallel loops."""

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd
from tests.forward.compare import Programs, check

programs = Programs()


@njit
def keep(rows):
    a = np.zeros(2)
    rows[0] = a
    return a


@njit
def keep_appended(rows):
    a = np.zeros(2)
    rows.append(a)
    return a


@programs.on(1.5)
def writes_through_a_list(x):
    rows = [np.zeros(2)]
    a = keep(rows)
    a[0] = x
    return rows[0][0]


@programs.on(1.5)
def writes_through_what_was_appended(x):
    rows = [np.zeros(2)]
    a = keep_appended(rows)
    a[0] = x
    rows[0][1] = x * x
    return rows[1][0], rows[0][1], a


@programs.on(1.5)
def flipped_view(x):
    a = np.zeros(3)
    np.flip(a)[0] = x
    b = np.zeros(4)
    np.split(b, 2)[1][0] = x
    return a, b


@programs.on(1.5)
def dictionaries(x):
    d = {}
    d[0] = np.zeros(2)
    d[0][1] = x
    e = {"a": x, "b": 2.0 * x}
    return d[0], e["a"] * e["b"]


@programs.on(1.5, np.ones(3))
def constants_by_keyword(x, a):
    bump(a, value=3.0)
    return a[0] * x, a


@njit
def bump(a, value=1.0):
    a[0] += value


@njit
def count(x, n):
    for i in range(n):
        yield i * x


@programs.on(1.5)
def generators_and_try(x):
    s = 0.0
    for v in count(x, 4):
        s += v * v
    try:
        y = s * x
    except Exception:
        y = 0.0
    return y


@njit
def ping(a, x, n):
    if n > 0:
        pong(a, x, n - 1)


@njit
def pong(a, x, n):
    a[n] = x * (n + 1)
    ping(a, x, n)


@programs.on(1.5)
def written_by_mutual_recursion(x):
    a = np.zeros(3)
    ping(a, x, 3)
    return a


@pytest.mark.dear
@pytest.mark.deep(but=["dictionaries", "writes_through_a_list", "flipped_view"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- levels ----------------------------------------------------------------------------------


def area(y, x):
    sides = np.zeros(2)
    sides[0] = x * y
    sides[1] = x
    return sides[0] * sides[1]


def test_an_allocation_holds_the_duals_of_every_level():
    slope = nd.derivative(area)
    by_both = nd.grad(area, (0, 1))

    @njit
    def outer(x):
        by_y, by_x = by_both(2.0, x)  # x**2 and 4 x
        return x * slope(1.0, x) + by_y * by_x

    assert nd.derivative(outer)(3.0) == 3 * 9.0 + 12 * 9.0


def test_work_arrays_of_a_lower_level_are_promoted_to_the_higher():
    @njit
    def fill(x):
        return np.full(2, x)

    @njit
    def inner(y, x):
        work = fill(x)
        work[1] = x * y
        return work[0] * work[1]

    slope = nd.derivative(inner)
    assert nd.derivative(njit(lambda x: slope(5.0, x)))(3.0) == 6.0


# -- loops that run in parallel --------------------------------------------------------------


def reduce_in_parallel(a, x):
    total = 0.0
    for i in prange(len(a)):
        total += a[i] * x * x
    return total


def fill_in_parallel(a, x):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[i] = a[i] * x
    return out


def test_parallel_functions():
    a = np.arange(4.0)
    gradient, slope = nd.grad(njit(parallel=True)(reduce_in_parallel), (0, 1))(a, 3.0)
    np.testing.assert_array_equal(gradient, np.full(4, 9.0))
    assert slope == 36.0
    filled = nd.derivative(njit(parallel=True)(fill_in_parallel), 1)(a, 3.0)
    np.testing.assert_array_equal(filled, a)


# -- complex numbers -------------------------------------------------------------------------


def through_complex(x, y):
    z = complex(x, y)
    w = z * z.conjugate() + np.exp(1j * x) / z
    return w.real + abs(z) + w.imag * z.imag + np.angle(z) + z.real


def test_real_functions_that_pass_through_complex_numbers():
    check(through_complex, 1.5, 0.5, second=True)
