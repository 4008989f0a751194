"""Parallel loops whose sweeps run in parallel: against complex steps of the source, run by Python."""

import math
from collections import namedtuple

import numba
import numpy as np
import pytest
from numba import njit, prange

import numbad as nd
from numbad.reverse.switches import without

Pair = namedtuple("Pair", "u v")
A = np.array([0.5, 1.5, 0.25, -0.75, 1.0, 2.0, -1.25, 0.375])
LONG = np.sin(np.arange(48.0))  # pieces that are longer than what they reach
M = np.array([[0.5, 1.5, 0.25], [-0.75, 1.0, 2.0], [-1.25, 0.375, 0.625], [1.75, -0.5, 0.125]])


def one_sum(a, x):
    total = 0.0
    for i in prange(len(a)):
        total += np.sin(a[i] * x) * a[0]
    return total * total


def subtracted(a, x):
    total = x
    for i in prange(1, len(a)):
        total -= a[i] * a[i - 1] * x
    return total


def branches(a, x):
    total = 0.0
    for i in prange(len(a)):
        if i % 3 == 0:
            total += a[i] * x
        elif i % 3 == 1:
            total += x * x * a[i - 1]
    return total * x


def several_sums(a, x):
    first, count, last = 0.0, 0, 1.0
    for i in prange(len(a)):
        first += a[i] * x
        if i > 2:
            count += 1
            last -= a[i] * a[i]
    return first * last * count


def fills(a, x):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[i] = np.sin(a[i] * x) * a[len(a) - 1 - i]
    return out[0] * out[1] + out[3] * out[7]


def in_place(a, x):
    for _ in range(3):
        for i in prange(len(a)):
            a[i] = a[i] * x + a[i] * a[i]
    return a[0] * a[1] + a[-1]


def heat(a, x):
    new = np.zeros_like(a)
    for _ in range(4):
        for i in prange(1, len(a) - 1):
            new[i] = a[i] + x * (a[i - 1] - 2.0 * a[i] + a[i + 1]) * a[i]
        new[0], new[-1] = a[0], a[-1]
        a, new = new, a
    return a[2] * a[3] + a[5]


def circle(a, x):
    """The first iteration reads the last element, which another one changes in the next step."""
    new = np.zeros_like(a)
    for _ in range(2):
        for i in prange(len(a) - 2):
            new[i] = a[i] + x * a[i - 2] * a[i + 2] - a[i + 1]
        a, new = new, a
    return a[0] * a[1] + a[3] * new[2]


def scattered(a, x):
    """Every element is written by one iteration, whose number is not its index."""
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[(i * 3) % len(a)] = a[i] * a[i] * x
    return out[1] * out[2] * out[5]


def work_array(a, x):
    total = 0.0
    for i in prange(len(a)):
        work = np.zeros_like(a[:3])
        for j in range(3):
            work[j] = a[i] * x + a[j]
        total += work[0] * work[1] * work[2]
    return total


def rows(m, x):
    out = np.zeros_like(m)
    for i in prange(m.shape[0]):
        row = m[i]
        for j in range(m.shape[1]):
            out[i, j] = row[j] * x
            if j > 0:
                out[i, j] += out[i, j - 1] * m[i, j]
    return out[0, 2] * out[1, 1] + out[3, 2]


def square(a, x):
    total = 0.0
    for j in prange(len(a)):
        total += a[j] * x
    return total * total


parallel_square = njit(parallel=True)(square)


def by_callee(a, x):
    return parallel_square(a, x) * a[1]


CASES = {
    "one_sum": (one_sum, A, 1),
    "subtracted": (subtracted, A, 1),
    "branches": (branches, A, 1),
    "several_sums": (several_sums, A, 1),
    "fills": (fills, A, 1),
    "in_place": (in_place, A, 1),
    "heat": (heat, A, 1),
    "long heat": (heat, LONG, 1),
    "circle": (circle, LONG, 1),
    "scattered": (scattered, A, 1),
    "work_array": (work_array, A, 1),
    "rows": (rows, M, 1),
    "rows in Fortran's order": (rows, M.T.copy().T, 1),
    "rows with gaps": (rows, np.repeat(M, 2, axis=1)[:, ::2], 1),
    "by_callee": (by_callee, A, 1),
}
X = 1.25


def by_complex_step(f, a, x, h=1e-30):
    """The gradient of the Python source at complex arguments."""
    slopes = np.empty(a.shape)
    for index in np.ndindex(a.shape):
        moved = a.astype(complex)
        moved[index] += h * 1j
        slopes[index] = f(moved, x).imag / h
    return slopes, f(a.astype(complex), x + h * 1j).imag / h


def source(f):
    """What Python runs."""
    return (lambda a, x: square(a, x) * a[1]) if f is by_callee else f


def compiled(f):
    return njit(parallel=f is not by_callee)(f)


@pytest.fixture(params=["one thread", "all threads"], scope="module")
def threads(request):
    before = numba.get_num_threads()
    numba.set_num_threads(1 if request.param == "one thread" else numba.config.NUMBA_NUM_THREADS)
    yield
    numba.set_num_threads(before)


@pytest.fixture(scope="module")
def gradients():
    made = {}

    def gradient(f):
        if f not in made:
            made[f] = nd.value_and_grad(compiled(f), (0, 1), mode="reverse")
        return made[f]

    return gradient


@pytest.mark.deep(
    but=[
        "all threads-rows",
        "all threads-heat",
        "all threads-one_sum",
        "all threads-branches",
        "all threads-scattered",
        "all threads-circle",
        "one thread-one_sum",
    ]
)
@pytest.mark.parametrize("case", CASES)
def test_gradient(case, threads, gradients):
    f, a, _ = CASES[case]
    given, after = np.repeat(a, 2, axis=-1)[..., ::2], a.copy()
    if a.flags.c_contiguous or a.flags.f_contiguous:
        given = a.copy(order="K")
    given[...] = a
    value, (by_a, by_x) = gradients(f)(given, X)
    assert value == pytest.approx(source(f)(after, X), rel=1e-13)
    np.testing.assert_allclose(given, after, rtol=1e-14)  # left as the function leaves it
    exact_a, exact_x = by_complex_step(source(f), a, X)
    np.testing.assert_allclose(by_a, exact_a, rtol=1e-12, atol=1e-12)
    assert by_x == pytest.approx(exact_x, rel=1e-12)


@pytest.mark.deep(but=["one_sum"])
@pytest.mark.shows("parallel")
@pytest.mark.parametrize("case", CASES)
def test_loops_are_parallel(case):
    f, a, count = CASES[case]
    listing = nd.inspect_adjoint(compiled(f), a, X)
    assert listing.count("in parallel") == count
    with without("parallel"):
        assert "in parallel" not in nd.inspect_adjoint(compiled(f), a, X)


@pytest.mark.deep
@pytest.mark.parametrize("case", ["one_sum", "fills", "heat", "several_sums", "rows"])
def test_second_order(case):
    """The derivative of the gradient along a direction, against differences of complex steps."""
    f, a, _ = CASES[case]
    move = np.linspace(-1.0, 1.0, a.size).reshape(a.shape)
    gradient = nd.grad(compiled(f), (0, 1), mode="reverse")
    _, (by_a, by_x) = nd.jvp(gradient, (0, 1))((a.copy(), X), (move, 0.5))
    h = 1e-5
    ahead, behind = (by_complex_step(f, a + s * move, X + s * 0.5) for s in (h, -h))
    np.testing.assert_allclose(by_a, (ahead[0] - behind[0]) / (2 * h), rtol=1e-7, atol=1e-7)
    assert by_x == pytest.approx((ahead[1] - behind[1]) / (2 * h), rel=1e-7)


@pytest.mark.deep(but=["fills"])
@pytest.mark.parametrize("case", CASES)
def test_second_order_by_a_number(case):
    """By it alone, arrays that the loop writes to are of floats until the second order has them of duals."""
    f, a, _ = CASES[case]
    gradient = nd.grad(compiled(f), 1, mode="reverse")
    _, found = nd.jvp(gradient, 1)((a.copy(), X), (1.0,))
    h = 1e-5
    ahead, behind = (by_complex_step(source(f), a, X + s * h)[1] for s in (1, -1))
    assert found == pytest.approx((ahead - behind) / (2 * h), rel=1e-7, abs=1e-7)


@pytest.mark.deep(but=["one_sum"])
@pytest.mark.parametrize("case", ["one_sum", "fills", "heat"])
def test_equal_threads_give_equal_bits(case, gradients):
    f, a, _ = CASES[case]
    results = [gradients(f)(a.copy(), X) for _ in range(5)]
    for value, (by_a, by_x) in results[1:]:
        assert value == results[0][0]
        assert by_x == results[0][1][1]
        np.testing.assert_array_equal(by_a, results[0][1][0])


@pytest.mark.deep
def test_many_calls_give_one_result(gradients):
    """Two threads that write to one row do so seldom."""
    value, (by_m, by_x) = gradients(rows)(M.copy(), X)
    for _ in range(3000):
        again, (by_m_again, by_x_again) = gradients(rows)(M.copy(), X)
        assert (again, by_x_again) == (value, by_x)
        np.testing.assert_array_equal(by_m_again, by_m)


def plain_sum(a, x):
    total = 0.0
    for i in prange(len(a)):
        total += a[i] * x
    return total


@pytest.mark.shows("parallel")
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="Numba has one thread here")
def test_each_thread_has_a_piece():
    """One after the other, the large numbers leave 1; in two halves, none of the ones is left."""
    a = np.array([1e16, 1.0, -1e16, 1.0])
    pull = nd.value_and_grad(njit(parallel=True)(plain_sum), (0, 1), mode="reverse")
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone, _ = pull(a, 1.0)
        numba.set_num_threads(2)
        halves, _ = pull(a, 1.0)
    finally:
        numba.set_num_threads(before)
    assert (alone, halves) == (1.0, 1e16 + (1.0 - 1e16))
    assert halves != alone


def from_below_zero(a, x):
    total = 0.0
    for i in prange(-2, 2):
        total += a[i] * x
    return total


def test_numbers_that_count_from_the_end_are_of_one_piece():
    """Two iterations may read one element, so the sum is made in their order, whatever the threads."""
    a = np.array([-1e16, 1.0, 1e16, 1.0])
    pull = nd.value_and_grad(njit(parallel=True)(from_below_zero), (0, 1), mode="reverse")
    value, (by_a, _) = pull(a, 1.0)
    assert value == 1.0
    np.testing.assert_array_equal(by_a, np.ones(4))


def of_structures(p, t, n):
    total = 0.0
    for i in prange(n):
        total += p.u[i] * p.v * t[0] + t[1][i, 0] * t[1][i, 1]
    return total * p.v


@pytest.mark.deep
def test_tuples_and_namedtuples():
    p, t = Pair(A, 0.5), (1.5, M.copy())
    (by_u, by_v), (by_first, by_m) = nd.grad(
        njit(parallel=True)(of_structures), (0, 1), mode="reverse"
    )(p, t, 4)
    total = 0.75 * A[:4].sum() + (M[:, 0] * M[:, 1]).sum()
    np.testing.assert_allclose(by_u, np.where(np.arange(8) < 4, 0.5 * 1.5 * 0.5, 0.0), rtol=1e-14)
    assert by_v == pytest.approx(total + 0.5 * 1.5 * A[:4].sum(), rel=1e-14)
    assert by_first == pytest.approx(0.25 * A[:4].sum(), rel=1e-14)
    np.testing.assert_allclose(
        by_m, 0.5 * np.column_stack([M[:, 1], M[:, 0], 0 * M[:, 0]]), rtol=1e-14
    )


def of_complex(z, x):
    total = 0j
    for i in prange(len(z)):
        total += z[i] * z[i] * x
    return total.real


@pytest.mark.dear
def test_complex_numbers():
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j, 2.0j])
    by_z, by_x = nd.grad(njit(parallel=True)(of_complex), (0, 1), mode="reverse")(z, 1.5)
    np.testing.assert_allclose(by_z, 2.0 * z * 1.5, rtol=1e-14)
    assert by_x == pytest.approx((z * z).sum().real, rel=1e-14)


@pytest.mark.dear
def test_single_precision():
    gradient = nd.grad(njit(parallel=True)(fills), 0, mode="reverse")
    found = gradient(A.astype(np.float32), np.float32(X))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_complex_step(fills, A, X)[0], rtol=1e-5, atol=1e-5)


def written(a, out):
    for i in prange(len(a)):
        out[i] = a[i] * a[i] * a[0]


@pytest.mark.dear
def test_results_in_an_argument():
    seed = np.linspace(1.0, 2.0, 8)
    _, (by_a, _) = nd.vjp(njit(parallel=True)(written), out=1)((A, np.zeros(8)), seed)
    exact = 2.0 * A * A[0] * seed
    exact[0] += (A * A * seed).sum()
    np.testing.assert_allclose(by_a, exact, rtol=1e-14)


@pytest.mark.deep
def test_jacobian():
    def f(a, x):
        out = np.empty(2)
        for i in prange(2):
            out[i] = a[i] * x * a[2]
        return out

    found = nd.jacobian(njit(parallel=True)(f), mode="reverse")(A[:3].copy(), X)
    np.testing.assert_allclose(
        found, [[X * A[2], 0.0, X * A[0]], [0.0, X * A[2], X * A[1]]], rtol=1e-15
    )


def test_no_iterations():
    value, (by_a, by_x) = nd.value_and_grad(njit(parallel=True)(one_sum), (0, 1), mode="reverse")(
        np.empty(0), X
    )
    assert (value, by_a.shape, by_x) == (0.0, (0,), 0.0)


@pytest.mark.shows("parallel")
def test_an_error_in_a_thread_is_not_lost():
    f = njit(parallel=True, boundscheck=True)(lambda a, n: _beyond(a, n))
    with pytest.raises(RuntimeError, match="an iteration of a parallel loop raised"):
        nd.grad(f, mode="reverse")(A, 9)
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(A, 8), np.ones(8))


@njit(parallel=True, boundscheck=True)
def _beyond(a, n):
    total = 0.0
    for i in prange(n):
        total += a[i]
    return total


def shifted(a, x):
    """The two handles may share memory, for all that the code tells."""
    first, second = a[:4], a[4:]
    for i in prange(4):
        first[i] = second[i] * x
    return first[0] * first[3]


def counts_and_fills(a, n):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        n[i] += 1
        out[i] = a[i] * n[i]
    return out[0] * out[1] * out[7]


def test_counters_in_arrays():
    """A second evaluation would count twice."""
    n = np.arange(8)
    value, by_a = nd.value_and_grad(njit(parallel=True)(counts_and_fills), mode="reverse")(A, n)
    np.testing.assert_array_equal(n, np.arange(1, 9))
    assert value == pytest.approx(A[0] * A[1] * A[7] * 16, rel=1e-14)
    exact = [A[1] * A[7], A[0] * A[7], 0, 0, 0, 0, 0, A[0] * A[1]]
    np.testing.assert_allclose(by_a, np.multiply(exact, 16), rtol=1e-14)


def test_handles_of_one_array():
    a = A.copy()
    by_a, by_x = nd.grad(njit(parallel=True)(shifted), (0, 1), mode="reverse")(a, X)
    exact_a, exact_x = by_complex_step(shifted, A, X)
    np.testing.assert_allclose(by_a, exact_a, rtol=1e-14)
    assert by_x == pytest.approx(exact_x, rel=1e-14)


def test_threads_add_to_one_element_each_in_turn():
    """Thousands of iterations read one element, whose adjoint every thread adds to."""
    n = 20_000
    a = np.full(n, 0.5)

    def f(a, x):
        total = 0.0
        for i in prange(len(a)):
            total += math.sqrt(a[i] * a[0])
        return total * x

    by_a = nd.grad(njit(parallel=True)(f), mode="reverse")(a, 2.0)
    assert by_a[0] == pytest.approx(0.5 * 2.0 * (n - 1) + 2.0, rel=1e-12)
    np.testing.assert_allclose(by_a[1:], 1.0, rtol=1e-14)
