"""Functions with parallel loops: right, by a serial reverse sweep, or refused."""

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd

A = np.array([0.5, 1.5, 2.5, -0.75])


def sums(a, x):
    total = 0.0
    for i in prange(len(a)):
        total += a[i] * x * x
    return total


def multiplies(a, x):
    total = 1.0
    for i in prange(len(a)):
        total *= a[i] * x
    return total


def fills(a, x):
    out = np.empty_like(a)
    for i in prange(len(a)):
        out[i] = a[i] * x
    return out[0] * out[1] + out[3]


def array_reduction(a, x):
    total = np.zeros(2)
    for i in prange(len(a)):
        total += np.array([a[i] * x, a[i] * a[i]])
    return total[0] * total[1]


def largest(a, x):
    best = -1e300
    for i in prange(len(a)):
        best = max(best, a[i] * x)
    return best * x


def private_arrays(a, x):
    total = 0.0
    for i in prange(len(a)):
        work = np.zeros(2)
        work[0] = a[i] * x
        work[1] = work[0] * a[i]
        total += work[1]
    return total


def nested(a, x):
    total = 0.0
    for i in prange(len(a)):
        s = 0.0
        for j in range(i + 1):
            s = s * x + a[j]
        total += s * a[i]
    return total


def branches(a, x):
    total = 0.0
    for i in prange(len(a)):
        if a[i] > 1.0:
            total += a[i] * x
        else:
            total += x * x
    return total


def array_expression(a, x):
    b = a * x + a * a
    return (b[0] + b[1] * b[2] + b[3]) * x


PROGRAMS = [
    sums,
    multiplies,
    fills,
    array_reduction,
    largest,
    private_arrays,
    nested,
    branches,
    array_expression,
]


def by_complex_step(f, a, x, h=1e-30):
    """The gradient of the Python source at complex arguments."""
    slopes = []
    for k in range(len(a)):
        moved = a.astype(complex)
        moved[k] += h * 1j
        slopes.append(f(moved, x).imag / h)
    return np.array(slopes), f(a.astype(complex), x + h * 1j).imag / h


def gradient_by_hand(f, a, x):
    if f is largest:  # max does not order complex numbers
        return np.where(a == a.max(), x * x, 0.0), 2 * a.max() * x
    if f in (branches, nested, private_arrays, fills, array_reduction):
        return by_differences(f, a, x)
    return by_complex_step(f, a, x)


def by_differences(f, a, x):
    """By Richardson's central differences of the compiled serial function; polynomials of low degree."""
    serial = njit(f)

    def slope(move, h=0.0625):
        def central(h):
            return (serial(*move(h)) - serial(*move(-h))) / (2 * h)

        d1, d2, d3 = central(h), central(h / 2), central(h / 4)
        e1, e2 = (4 * d2 - d1) / 3, (4 * d3 - d2) / 3
        return (16 * e2 - e1) / 15  # exact up to the sixth degree

    def along(k):
        return lambda h: (a + h * (np.arange(len(a)) == k), x)

    return np.array([slope(along(k)) for k in range(len(a))]), slope(lambda h: (a, x + h))


@pytest.mark.deep(
    but=[
        "False-fills",
        "False-sums",
        "True-fills",
        "True-sums",
        "True-private_arrays",
        "True-largest",
        "True-array_reduction",
    ]
)
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("parallel", [False, True])
def test_parallel_loops_are_right_or_refused(f, parallel):
    """Without `parallel=True` a prange is a range, and nothing may be refused."""
    function = njit(parallel=parallel)(f)
    try:
        by_a, by_x = nd.grad(function, (0, 1), mode="reverse")(A, 1.25)
    except nd.UnsupportedError:
        assert parallel
        return
    exact_a, exact_x = gradient_by_hand(f, A, 1.25)
    np.testing.assert_allclose(by_a, exact_a, rtol=1e-10, atol=1e-10)
    assert by_x == pytest.approx(exact_x, rel=1e-10)


def test_a_parallel_callee_is_right_or_refused():
    inner = njit(parallel=True)(sums)
    try:
        by_a = nd.grad(njit(lambda a, x: inner(a, x) * a[0]), mode="reverse")(A, 1.25)
    except nd.UnsupportedError:
        return
    exact = 1.25**2 * A[0] * np.ones(4)
    exact[0] += 1.25**2 * A.sum()
    np.testing.assert_allclose(by_a, exact, rtol=1e-13)


def test_gradients_called_in_parallel():
    """Every thread has its own tape."""
    gradient = nd.grad(nested, 1, mode="reverse")

    @njit(parallel=True)
    def everywhere(a, xs):
        out = np.empty(len(xs))
        for i in prange(len(xs)):
            out[i] = gradient(a, xs[i])
        return out

    xs = np.linspace(-1.0, 1.0, 1000)
    one_by_one = np.array([gradient(A, x) for x in xs])
    np.testing.assert_array_equal(everywhere(A, xs), one_by_one)


def of_rows_that_share_memory(x):
    b, out = np.broadcast_to(x, (20_000, 20)), np.empty(20_000)
    for i in prange(20_000):
        row, total = b[i], 0.0
        for j in range(20):
            total += row[j] * row[j]
        out[i] = total
    return out.sum()


@njit(parallel=True)
def of_given_rows(b):
    out = np.empty(b.shape[0])
    for i in prange(b.shape[0]):
        out[i] = (b[i] * b[i]).sum()
    return out.sum()


@pytest.mark.parametrize(
    "f",
    [
        njit(parallel=True)(of_rows_that_share_memory),
        lambda x: of_given_rows(np.broadcast_to(x, (20_000, 20))),
    ],
    ids=["made", "given"],
)
def test_rows_that_share_memory_are_added_up_apart(f):
    """Threads that added to the one row that all rows of `np.broadcast_to` are lost half of the sums."""
    x = np.linspace(-1.0, 1.0, 20)
    gradient = nd.grad(f, mode="reverse")
    for _ in range(3):
        np.testing.assert_allclose(gradient(x), 40_000 * x, rtol=1e-11)
