"""Allocations that must hold duals: in the function, in callees, through views, loops and tuples."""

from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.forward.promote import effects
from tests.forward.compare import Programs, check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])
TABLE = np.array([1.0, 2.0, 4.0])
Work = namedtuple("Work", "current scratch")


@programs.on(0.5, 1.5, second=True)
def allocations(x, y):
    a, b, c = np.zeros(3), np.empty(2), np.ones((2, 2))
    e, g = np.full(3, 2.0), np.zeros_like(a)
    a[0], b[0], b[1] = x * y, x, 1.0
    c[1, 0] += y
    e[1] *= x
    g[2] = a[0] + e[1]
    h, k = np.linspace(0.0, 1.0, 3), np.arange(3.0)
    h[1], k[1] = y, h[1] * x
    n = a.copy()
    n[1] = n[0] * x
    u = np.full_like(a, 0.5)
    u[0] = y
    return a, b, c, e, g, h, k, n, u, np.eye(2) * x


@programs.on(0.5, 1.5)
def only_where_needed(x, y):
    counts, table = np.zeros(3, np.int64), np.zeros(3)
    total = 0.0
    for i in range(3):
        counts[i] = i
        table[i] = 2.0 * i
        total += table[i] * x + counts[i] * y
    return total, counts, table


@programs.on(0.5, 1.5)
def through_views(x, y):
    a = np.zeros(6)
    row = a[1:3]
    row[0] = x
    table = a.reshape(2, 3)
    table[1, 1] = y
    column = table.T[2]
    column[1] = x * y
    last = table[-1]
    last *= 2.0
    b = np.zeros((3, 2))
    for r in b:
        r[0] = x
    c = np.zeros(3)
    c[:] = y
    e = np.zeros((2, 2))
    e[0, :] = x
    e[:, 1] += y
    flat = np.zeros((2, 2))
    flat.flat[3] = x
    return a, b, c, e, flat


@programs.on(0.5, 1.5, 5, second=True)
def carried_and_swapped(x, y, n):
    old, new = np.zeros(3), np.ones(3)
    for i in range(n):
        for k in range(3):
            new[k] = old[k - 1] * x + y * k
        old, new = new, old
    spare = np.zeros(3) if n > 100 else old
    return spare, new.sum()


@programs.on(0.5, 1.5)
def chosen_by_branch(x, y):
    a, b = np.zeros(2), np.zeros(2)
    target = a
    if x > y:
        target = b
    target[0] = x
    c = a
    c[1] = y
    while b[0] < 1.0:
        b = b + 0.75
    return a, b


@njit
def make(n):
    return np.zeros(n)


@njit
def make_filled(n, x):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x * i
    return out


@njit
def put(a, i, x):
    a[i] = x


@njit
def put_deeper(a, x):
    put(a, 0, x)
    put(a[1:], 0, 2.0 * x)


@njit
def same(a):
    return a


@njit
def first_half(a):
    return a[: len(a) // 2]


@njit
def either(a, b, first):
    return a if first else b


@programs.on(0.5, 1.5, second=True)
def in_callees(x, y):
    a = make(4)
    a[0] = x
    b = make_filled(3, y)
    c = make(3)
    put(c, 1, x)
    e = make(3)
    put_deeper(e, y)
    g = np.zeros(4)
    same(g)[2] = x
    h = np.zeros(4)
    first_half(h)[1] = y
    k, m = np.zeros(2), np.zeros(2)
    either(k, m, x < y)[0] = x * y
    table = make(3)
    return a, b, c, e, g, h, k, m, table.sum() + x


@programs.on(A, 0.5)
def constants_stay(a, x):
    local = np.array([1.0, 2.0])
    local[0] = 3.0
    total = TABLE[1] * x + local[0] * a[1]
    for v in TABLE:
        total += v * x
    return total, TABLE * a[0], TABLE[1:] + x, local


@programs.on(0.5, 1.5)
def in_tuples(x, y):
    pair = (np.zeros(2), np.zeros(3))
    pair[0][0] = x
    pair[1][2] = y
    work = Work(np.zeros(2), np.ones(2))
    work.current[1] = x * y
    a, b = pair
    a[1] = y
    nested = (pair, work)
    nested[0][1][0] = x
    return pair, work.current, work.scratch, b


@programs.on(0.5, 1.5)
def in_lists(x, y):
    zeros = [0.0] * 3
    zeros[1] = x
    rows = [np.zeros(2) for _ in range(3)]
    rows[1][0] = y
    other = []
    for i in range(3):
        other.append(np.zeros(2))
        other[i][1] = x * i
    numbers = [0.0, 1.0]
    numbers.append(y)
    numbers[0] += x
    return zeros[1] + zeros[2], rows[1], other[2], numbers[0] * numbers[2], rows[0]


@njit
def accumulate(total, values, x=1.0):
    for v in values:
        total[0] += v * x


@programs.on(A, 0.5)
def by_keyword(a, x):
    total = np.zeros(1)
    accumulate(total, values=a, x=x)
    accumulate(total, a)
    plain = np.zeros(1)
    accumulate(plain, TABLE)
    return total, plain


@njit
def solve(matrix, rhs):
    n = len(rhs)
    m, b = matrix.copy(), rhs.copy()
    for k in range(n):
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k]
            for j in range(k, n):
                m[i, j] -= factor * m[k, j]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(m[i, i + 1 :], x[i + 1 :])) / m[i, i]
    return x


@programs.on(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]]), TABLE, second=True)
def gaussian_elimination(m, b):
    return solve(m, b)


@programs.on(0.5, TABLE)
def constant_matrix(x, b):
    return solve(np.eye(3) * 2.0 + 0.1, b * x)


@njit
def runge_kutta(rhs, y, h, steps, p):
    k1, k2 = np.empty_like(y), np.empty_like(y)
    y = y.copy()
    for _ in range(steps):
        rhs(y, k1, p)
        rhs(y + 0.5 * h * k1, k2, p)
        for i in range(len(y)):
            y[i] += h * k2[i]
    return y


@njit
def decay(y, dy, p):
    dy[0] = -p[0] * y[0] * y[1]
    dy[1] = p[0] * y[0] * y[1] - p[1] * y[1]


@programs.on(np.array([1.0, 0.5]), (0.7, 0.3), second=True)
def in_place_right_hand_side(y0, p):
    return runge_kutta(decay, y0, 0.1, 4, p)


@programs.on((0.7, 0.3))
def constant_start(p):
    return runge_kutta(decay, np.array([1.0, 0.5]), 0.1, 4, p)


@programs.on(0.7)
def constant_step_through_constants(x):
    y = runge_kutta(decay, np.array([1.0, 0.5]), 0.1, 4, (0.5, 0.25))
    return y * x, y


@njit
def fill_recursively(a, x, n):
    if n > 0:
        a[n - 1] = x
        fill_recursively(a, x * x, n - 1)


@programs.on(0.5)
def recursive_writer(x):
    a = np.zeros(4)
    fill_recursively(a, x, 3)
    return a


@programs.on(0.5, A, np.zeros(4))
def arguments_as_scratch(x, a, out):
    for i in range(4):
        out[i] = a[i] * x
    b = out
    b[0] += x
    return out.sum()


@programs.on(0.5, np.zeros(3))
def constants_into_arguments(x, out):
    out[0] = 1.0
    out[1] += 2.0
    return out[1] * x


@programs.on(A, A + 1.0)
def swapped_arguments(a, b):
    for i in range(3):
        a[0] = b[1] * i
        a, b = b, a
    return a[0] + b[1]


@programs.on(np.arange(6.0), 0.5)
def arguments_through_views(a, x):
    half = a[3:]
    half[0] = a[1] * x
    table = a.reshape(2, 3)
    table[0] = half * 2.0
    return table[1, 0] + a[0]


@programs.on(0.5, 1.5)
def rebound(x, y):
    a = np.zeros(2)
    a[0] = x
    b = a
    a = np.ones(2)
    a = a * y
    b[1] = a[0]
    return a, b


@programs.on(0.5, 1.5)
def dtypes_named(x, y):
    a = np.zeros(2, np.float64)
    b = np.empty((2, 2), dtype=np.float64)
    c = np.zeros(shape=2, dtype=np.float64)
    a[0], b[0, 0], c[1] = x, y, x * y
    b[0, 1] = b[1, 0] = b[1, 1] = a[0]
    return a, b, c


@pytest.mark.deep
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


@pytest.mark.deep(but=["swapped_arguments-2", "carried_and_swapped-1"])
@pytest.mark.parametrize("chunk", [1, 2])
@pytest.mark.parametrize(
    "f", [arguments_as_scratch, swapped_arguments, arguments_through_views, carried_and_swapped]
)
def test_program_in_several_passes(f, chunk):
    args = next(args for g, args, _ in programs if g is f)
    check(f, *args, chunk=chunk)


@njit
def store(a, x):
    a[0] = x * x
    return 0.0


@njit
def leave(a, x):
    return 0.0


def test_a_global_that_comes_to_mean_another_function():
    """What is remembered of a callee must not outlive the functions that it calls."""
    names = {"write": leave}
    exec("def through(a, x):\n    return write(a, x)", names)
    through = njit(names["through"])

    def first(x):
        a = np.zeros(2)
        through(a, x)
        return a[0]

    assert nd.derivative(njit(first))(3.0) == 0.0
    names["write"] = store
    through.recompile()
    assert nd.derivative(njit(first))(3.0) == 6.0


@njit
def ones_unless(w, n):
    if w is None:
        return np.ones(n)
    return w


@njit
def with_parts(x, constant):
    if constant:
        return x * x, np.ones(2)
    parts = np.empty(2)
    parts[:] = x
    return x, parts


def test_arrays_that_one_of_several_returns_gives():
    @njit
    def f(x, w, constant):
        total, parts = with_parts(x, constant)
        return total + x * parts.sum() * ones_unless(w, 2)[1]

    gradient = nd.grad(f, (0, 1), mode="forward")
    by_x, by_w = gradient(3.0, np.array([5.0, 7.0]), True)
    assert by_x == 2 * 3.0 + 2 * 7.0
    np.testing.assert_array_equal(by_w, [0.0, 6.0])
    by_x, by_w = gradient(3.0, np.array([5.0, 7.0]), False)
    assert by_x == 1.0 + 4 * 3.0 * 7.0
    np.testing.assert_array_equal(by_w, [0.0, 18.0])


# -- arrays of constants that meet arrays of duals ---------------------------------------------------

WEIGHTS = np.array([1.0, 2.0, 3.0])


X = np.array([0.5, 0.7, 1.1])


@njit
def picked(x, w, flag):
    y = x * x if flag else w
    return y


@njit
def of_a_tuple(x, ws, flag):
    y = x * x if flag else ws[0]
    return y


def writes_to_what_it_picks(x, ws, flag):
    w = ws[0]
    a = x * x if flag else w
    a[0] = 5.0
    return w[0] * x[2]


def writes_to_what_a_callee_picked(x, ws, flag):
    a = of_a_tuple(x, ws, flag)
    ws[0][0] = 5.0
    return a[0] * x[2]


def keeps_what_it_picks(x, ws, flag):
    rows = [x]
    rows.append(x * x if flag else ws[0])
    ws[0][0] = 5.0
    return rows[1][0] * x[2]


def of_an_array(x, w, flag):
    a = picked(x, w, flag)
    w[0] = 5.0
    return a[0] * x[2]


def _tangent(f, given):
    primals, tangent = (X, given, False), np.array([0.0, 0.0, 1.0])
    return nd.jvp(f, argnums=(0,))(primals, (tangent,))[1]


def test_what_is_written_to_is_no_copy():
    """Arrays among the arguments hold duals where they are written to."""
    assert _tangent(of_an_array, WEIGHTS.copy()) == 5.0


@pytest.mark.parametrize(
    "f", [writes_to_what_it_picks, writes_to_what_a_callee_picked, keeps_what_it_picks]
)
def test_what_is_written_to_is_no_copy_in_a_tuple(f):
    given = WEIGHTS.copy(), WEIGHTS.copy()
    assert _tangent(f, given) == 5.0
    np.testing.assert_array_equal(given, ([5.0, *WEIGHTS[1:]], WEIGHTS))
    found = nd.grad(f, mode="forward")(X, (WEIGHTS.copy(), WEIGHTS.copy()), False)
    np.testing.assert_array_equal(found, [0.0, 0.0, 5.0])


def test_states_that_begin_as_constants():
    def states(p, start, n):
        y = start
        for _ in range(n):
            y = y + p * y
        return y

    np.testing.assert_allclose(nd.derivative(states)(0.3, WEIGHTS, 4), 4 * 1.3**3 * WEIGHTS)
    value, tangent = nd.jvp(states, argnums=(0,))((0.3, WEIGHTS, 0), (1.0,))
    value[0] = 7.0
    assert WEIGHTS[0] == 1.0
    assert tangent.tolist() == [0.0, 0.0, 0.0]


@njit
def _one_fresh():
    return np.zeros(2), 3.0


@njit
def _two_of_one_memory():
    a = np.zeros(3)
    return a, a[1:]


@njit
def _two_apart(m):
    halves = 0.5 * m
    return halves[:, 0], 2, halves[:, 1:].copy(), np.arange(3)


def test_fresh_arrays_in_a_tuple_take_duals_but_two_that_share_memory_are_refused():
    def one(x):
        a, c = _one_fresh()
        a[0] = x
        return a[0] * c * x

    def two(x):
        a, b = _two_of_one_memory()
        a[1] = x
        return b[0] * x

    def apart(x):
        """As pynamicalsys's `lyapunov_qr`, whose vectors are constants at first."""
        a, n, b, k = _two_apart(np.eye(2))
        for _ in range(2):
            a[0] = x * b[1, 0]
            b[1] = a[0] * n
            a, n, b, k = _two_apart(np.column_stack((a, b)))
        return a[0] * k[2] + b[1, 0]  # x**2

    assert nd.grad(one, mode="forward")(0.7) == pytest.approx(6 * 0.7)
    assert nd.grad(apart, mode="forward")(0.7) == pytest.approx(1.4, rel=1e-14)
    with pytest.raises(nd.UnsupportedError, match="share memory.*\n.*copy one of them"):
        nd.grad(two, mode="forward")(0.7)


def beside_a_write(x, p):
    made = np.empty(3)
    made[0] = x
    return np.concatenate((made, p)).sum()


def of_a_copied_list(x, p):
    parts = [p, np.zeros(3)].copy()
    parts[0][0] = 1.0
    return x


def of_a_list_of_a_tuple(x, p):
    parts = list((p, np.zeros(3)))  # noqa: C410
    parts[0][0] = 1.0
    return x


def of_a_list_with_two_names(x, p):
    parts = [[np.zeros(3)]]
    inner = parts[0]
    inner.append(p)
    parts[0][1][0] = 1.0
    return x


def of_another_in_a_list(x, p):
    parts = [np.zeros(3)]
    parts[0][0] = x
    return parts[0][0] + (p[0] * x)


@pytest.mark.parametrize(
    "f",
    [
        beside_a_write,
        of_a_copied_list,
        of_a_list_of_a_tuple,
        of_a_list_with_two_names,
        of_another_in_a_list,
    ],
)
def test_what_a_function_changes(f):
    p = np.array([0.5, 2.0, 3.0])
    given = p.copy()
    f = njit(f)
    f(2.0, given)
    assert (1 in effects(f, (0,)).changed) == (given != p).any()  # of numbers nothing is known
