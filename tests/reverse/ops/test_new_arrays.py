"""Arrays that the function makes: fresh shadows each time, handles carried round loops."""

import math

import numpy as np
import pytest

import numbad as nd
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77])
B = np.array([-1.27, 0.23, 1.94, 0.41])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])


@programs.on((A, 0.7))
def zeros_and_empty(a, x):
    b, c = np.zeros(4), np.empty(4)
    c[0] = x
    for i in range(1, 4):
        b[i] += a[i] * c[i - 1]
        c[i] = b[i] * b[i - 1] + c[i - 1] * c[i - 1]
    return c[3] * b[1] + b[0] * x


@programs.on((M, 0.7))
def likes(m, x):
    z, e, o, f = np.zeros_like(m), np.empty_like(m), np.ones_like(m), np.full_like(m, x)
    for i in range(2):
        for j in range(3):
            e[i, j] = m[i, j] * f[i, j]
            o[i, j] *= e[i, j] + o[0, 0]
            z[i, j] += o[i, j] * e[i, 0]
        f[1, i] = z[i, i] * x
    return z[1, 2] * o[0, 1] + f[1, 0] * f[1, 1] + f[0, 0] * z[0, 0]


@programs.on((A, 0.7))
def array_of_lists_that_grew(a, x):
    """As in pynamicalsys's `lyapunov_exponents`."""
    history = []
    for i in range(3):
        history.append([a[i] * x, a[i + 1], x * x])
    history[1][2] = a[0]
    made = np.asarray(history, np.float64) * np.asarray(history)[:, ::-1]
    return (made[:, 1] * made[2]).sum() + made[1, 2]


@programs.on((A, 0.7))
def array_of_lists_within_lists(a, x):
    cubes = [[[a[j] * i + k * x for j in range(2)] for i in range(4)] for k in range(2)]
    pairs = [(a[0], 2.0), (x, a[1])]
    pairs.append((a[2], x))
    made, two = np.asarray(cubes), np.asarray(pairs)
    return (made[1] * made[0])[3, 1] * two[2, 0] + two[1, 0] * made[1, 1, 1]


@programs.on((0.7, 1.3))
def ones_and_full(x, y):
    o, f = np.ones(3), np.full(3, x * y)
    g = np.full((2, 2), x)
    for i in range(3):
        f[i] = f[i - 1] * o[i]
        o[i] = f[i] * g[1, 0]
        g[1, 0] = o[i] * f[0]
    return o[0] * f[1] * f[2] + g[0, 0] * g[1, 0] + o[2]


@programs.on((0.7, 1.3, 5))
def arange_linspace_eye(x, y, n):
    t = np.linspace(0.0, 1.0, n)
    k = np.arange(n)
    s = np.arange(0.0, 1.0, 0.25)
    m = np.eye(2)
    total = x
    for i in range(4):
        total = total * t[i] + math.sin(x * k[i]) * s[i]
        t[i + 1] = t[i + 1] * total
        s[i - 1] = t[i] * y
        m[i % 2, 0] = m[i % 2, 0] * total + m[1, 1] * y
    return total * s[2] + m[0, 0] * m[1, 0] + t[4]


@programs.on((0.7, 1.3))
def linspace_between_active_ends(x, y):
    t = np.linspace(x, x * y, 4)
    for i in range(1, 4):
        t[i] = t[i] * t[i] + t[i - 1]
    return t[3] * x


@programs.on((A, 0.7))
def literal_of_active_numbers(a, x):
    total = x
    for i in range(3):
        b = np.array([a[i] * total, x, 1.0])
        b[1] = b[0] * b[0] + b[2]
        m = np.array([[b[1], x], [total, a[3]]])
        m[1] = m[0, 0] * m[0, 1]
        total = b[1] * m[1, 0] * 0.125 + m[1, 1]
    return total * total


@programs.on((A, 0.7, 4), (A, 0.7, 0))
def scratch_in_a_loop(a, x, n):
    total = x
    for k in range(n):
        work = np.empty(3)
        work[0] = total * a[k]
        work[1] = work[0] * work[0]
        work[2] = math.sin(work[1]) * x
        total = work[2] + work[0] * 0.5
    return total * x


@programs.on((A, 0.7, 3))
def scratch_of_growing_size(a, x, n):
    total = x
    for k in range(n):
        work = np.zeros(k + 1)
        for i in range(k + 1):
            work[i] = a[i] * total + work[i - 1]
        total = total * 0.5 + work[k] * work[0]
        work[0] = 7.0
    return total + work[n - 1] * work[0]


@programs.on((A, 0.7, 3))
def last_scratch_used_after_the_loop(a, x, n):
    work = np.ones(2)
    for k in range(n):
        y = work[0] * x
        work = np.zeros(2)
        work[0] = y * a[k] + work[1]
        work[1] = work[0] * work[0]
    work[0] = work[1] * x
    return work[0] * work[1]


@programs.on((A, 0.7, 3), (A, 0.7, 0))
def scratch_before_an_inner_loop(a, x, n):
    total = x
    for k in range(n):
        partial = np.zeros(4)
        for i in range(4):
            partial[i] = a[i] * a[k] + total
            if partial[i] > 2.0:
                break
            for j in range(i):
                partial[j] = partial[j] * partial[i] * 0.5
        a[k] = partial[0] * partial[1] * 0.25
        total = total * partial[2] + partial[3]
    return total * a[0] * a[1]


@programs.on((A, B, 4), (A, B, 3), (A, B, 0))
def handles_swapped(a, b, n):
    y, new = a, b
    for k in range(n):
        for i in range(4):
            new[i] = y[i] * y[i - 1] + 0.5 * new[i]
        y, new = new, y
    return y[0] * y[1] + y[2] * new[3] + a[0]


@programs.on((A, 0.7, 4), (A, 0.7, 1))
def handles_of_local_arrays_swapped(a, x, n):
    y = a.copy()
    new = np.empty_like(y)
    for k in range(n):
        for i in range(4):
            new[i] = y[i] + 0.25 * x * y[i - 1] * y[i]
        y, new = new, y
    return y[0] * y[1] * y[2] * y[3]


@programs.on((A, B, 0.7))
def three_handles_rotated(a, b, x):
    c = np.full(4, x)
    for k in range(4):
        c[k] = a[k] * b[k] + c[k - 1]
        a, b, c = b, c, a
        a[0] = a[0] * x
    return a[0] * b[1] * c[2] + c[3]


@programs.on((A, 0.7, 3), (A, 0.7, 0))
def handle_replaced_by_a_new_array(a, x, n):
    y = a
    for k in range(n):
        y = y + y[::-1] * x
        y[k] = y[k] * y[0]
    y[0] = y[1] * x
    return y[0] * y[3] + a[0] * y[2]


@programs.on((A, 0.7), (B, 0.7))
def handle_replaced_in_a_branch(a, x):
    y = a
    for k in range(4):
        if y[k] > 0.5:
            y = y * x
        else:
            y[k] = y[k] * y[k - 1]
        a[0] = a[0] * 0.5 + y[k]
    return y[0] * y[1] * a[2] + a[0]


@programs.on((A, 0.7))
def earlier_handle_kept(a, x):
    before = a
    now = a.copy()
    for k in range(3):
        older = before
        before = now
        now = np.empty(4)
        for i in range(4):
            now[i] = before[i] * older[i - 1] + x
        older[k] = now[k] * x
    return now[0] * before[1] * older[2] + a[0] * a[1]


@programs.on((A, 0.7, 3))
def rk4_with_new_arrays(y, h, n):
    for k in range(n):
        k1 = np.sin(y)
        k2 = np.sin(y + 0.5 * h * k1)
        y = y + h * (k1 + k2) * 0.5
    total = 0.0
    for v in y:
        total += v * v
    return total


@programs.on((A, 0.7))
def copy_before_overwriting(a, x):
    total = x
    for k in range(3):
        b = a.copy()
        for i in range(4):
            a[i] = b[i] * b[i - 1] + x
        c = np.copy(b)
        c[0] = a[0]
        total = total * 0.5 + b[k] * c[0]
    return total * a[3]


@programs.on((A, 0.7))
def integer_and_boolean_scratch(a, x):
    seen = np.zeros(4, np.bool_)
    count = np.zeros(4, np.int64)
    total = x
    for k in range(6):
        i = (k * 3 + count[k % 4]) % 4
        if seen[i]:
            total = total * a[i]
        else:
            total += a[i] * a[i]
        seen[i] = not seen[i]
        count[i] += 1
    return total * count[0] + total * total


@programs.on((A, 0.7))
def arrays_in_a_tuple(a, x):
    b = a * x
    state = (a, b, x)
    for k in range(2):
        p, q, y = state
        p[k] = q[k] * q[k + 1] + y
        q[k + 1] = p[0] * p[k]
        state = (q, p, y * p[k])
    return state[0][1] * state[1][0] * state[2] + a[2] * b[2]


@programs.on(((A, B), 0.7), ((B, A), 0.7))
def arrays_in_a_tuple_argument(pair, x):
    a, b = pair
    for k in range(4):
        a[k] = b[k] * pair[0][k - 1] + x
        pair[1][k] = a[k] * a[0]
    return pair[0][1] * b[2] + a[3] * pair[1][3]


@programs.on((A, 0.7))
def rectangular_table(a, x):
    n = len(a)
    table = np.zeros((n + 1, 3))
    table[0] = x
    for k in range(n):
        table[k + 1, 0] = table[k, 0] * a[k] + table[k, 2]
        table[k + 1, 1] = table[k + 1, 0] * table[k, 1]
        table[k + 1, 2] = math.sin(table[k + 1, 1])
    return table[n, 0] * table[n, 1] + table[n, 2] * table[1, 1]


@programs.on((A, 0.7))
def nothing_in_it(a, x):
    empty = np.zeros(0)
    m = np.empty((0, 3))
    total = x
    for v in empty:
        total = total * v
    for row in m:
        total += row[0]
    return total * a[:0].size + total * a[1]


def ragged(a):
    rows = [[a[0], a[1]]]
    rows.append([a[2]])
    return np.asarray(rows).sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_lists_of_different_lengths_make_no_array(mode):
    with pytest.raises(ValueError, match="incompatible sequence shape|different lengths"):
        nd.grad(ragged, mode=mode)(A)


@pytest.mark.deep(
    but=[
        "copy_before_overwriting",
        "handle_replaced_in_a_branch",
        "handles_swapped",
        "last_scratch_used_after_the_loop",
        "literal_of_active_numbers",
        "rk4_with_new_arrays",
        "arrays_in_a_tuple",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
