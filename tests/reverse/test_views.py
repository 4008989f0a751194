"""Views share memory: what is written through one is read through the other, shadows alike."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77, -1.19, 0.89])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])
T = np.sin(np.arange(12.0) + 0.5).reshape(2, 3, 2)


@programs.on((A, 0.7), (A[::-1], 0.7), (np.repeat(A, 2)[::2], 0.7))
def written_through_a_slice(a, x):
    view = a[1:5]
    total = a[1] * a[2]
    for i in range(3):
        view[i] = view[i] * a[i] + x
        total = total * 0.5 + a[i + 1] * a[i + 1]
        a[i + 2] = total * view[i]
        total += view[i + 1] * x
    return total * view[3]


@programs.on((A, 0.7))
def base_overwritten_under_a_view(a, x):
    view = a[::2]
    y = view[1] * view[1]
    a[2] = y * x
    z = view[1] * view[1]
    view[1] = 3.0
    return y * z * a[2] + a[1] * view[2]


@programs.on((A, 0.7))
def two_overlapping_views(a, x):
    head, tail = a[:4], a[2:]
    for i in range(4):
        tail[i] = tail[i] + head[i] * head[i] * x
        head[3 - i] = tail[i] * 0.5
    return head[2] * tail[0] + tail[3] * a[1]


@programs.on((A, 0.7))
def reversed_view(a, x):
    back = a[::-1]
    for i in range(6):
        back[i] = back[i] * a[i] + x
    back[1:3] = a[:2]
    return a[0] * a[1] * a[4] + back[3] * a[3]


@programs.on((M, 0.7), (np.asfortranarray(M), 0.7), (M[::-1], 0.7))
def transposed(m, x):
    t = m.T
    for i in range(3):
        for j in range(2):
            t[i, j] = t[i, j] * m[1 - j, i] + x
    u = np.transpose(m).transpose()
    u[0, 1] = t[1, 1] * t[1, 1]
    t[2] = u[0, 1]
    return m[0, 1] * m[0, 2] * m[1, 2] + t[0, 0] * u[1, 0]


@programs.on((T, 0.7))
def axes_permuted(t, x):
    u = t.transpose(2, 0, 1)
    v = np.transpose(t, (1, 2, 0))
    for i in range(2):
        u[i, 1, 2] = v[2, i, 0] * t[0, 1, i] + x
        v[0, i, i] = u[i, i, 0] * u[i, i, 0]
    return t[1, 2, 0] * t[1, 2, 1] + t[0, 0, 0] * t[1, 0, 1]


@programs.on((A, 0.7))
def reshaped(a, x):
    m = a.reshape(2, 3)
    n = m.reshape((3, 2))
    for i in range(2):
        m[i, 1] = m[i, 1] * n[i, 1] + a[i]
        n[i, 0] = m[1, i] * x
        a[5 - i] = n[2, 1] * m[0, 1]
    w = n.reshape(-1)
    w[1] = w[4] * w[4]
    return m[0, 1] * m[1, 1] + a[5] * n[0, 0] * x


@programs.on((M, 0.7))
def ravelled(m, x):
    flat = m.ravel()
    for i in range(5):
        flat[i] = flat[i] * flat[i + 1] + x
    m[1, 2] = flat[0] * flat[4]
    again = np.ravel(m)
    again[0] = flat[5] * flat[5]
    copied = m.flatten()
    copied[1] = again[0] * copied[2]
    m[0, 2] = x
    return m[0, 0] * flat[1] + copied[1] * copied[2] * m[1, 1]


@programs.on((A, 0.7))
def new_axes(a, x):
    column = a[:, None]
    row = a[np.newaxis, :3]
    for i in range(3):
        column[i, 0] = row[0, i] * row[0, i] + x
        row[0, 2 - i] = column[3, 0] * a[i]
    expanded = np.expand_dims(a, 0)
    expanded[0, 4] = a[0] * x
    return a[0] * a[1] + a[2] * column[4, 0]


@programs.on((T, 0.7), (T.transpose(1, 2, 0), 0.7))
def rows_of_rows(t, x):
    for i in range(2):
        plane = t[i]
        for j in range(2):
            row = plane[j]
            row[0] = row[1] * t[0, j, 1] + x
            plane[1, 0] = row[0] * row[0]
        x = x * plane[1, 0]
    return t[0, 0, 0] * t[1, 0, 0] + t[1, 1, 0] * x


@programs.on((M, 0.7), (np.asfortranarray(M), 0.7))
def column_views_round_a_loop(m, x):
    previous = m[:, 0]
    for j in range(1, 3):
        current = m[:, j]
        current[0] = current[0] * previous[1] + x
        previous[1] = current[0] * current[1]
        previous = current
    previous[1] = previous[1] * x
    return m[0, 0] * m[1, 1] + m[1, 0] * m[1, 2] * m[0, 2]


@programs.on((A, 0.7), (-A, 0.7))
def one_view_or_the_other(a, x):
    for k in range(3):
        if a[k] > 0:
            view = a[k:]
        else:
            view = a[::-1]
        view[0] = view[0] * view[1] + x
        view[2] = view[0] * a[k]
    return view[0] * view[1] + a[1] * a[4] * a[0]


@programs.on((A, A[::-1].copy(), 0.7), (-A, A, 0.7))
def one_array_or_the_other(a, b, x):
    for k in range(3):
        c = a if a[k] > 0.5 else b
        c[0] = c[0] * c[k + 1] + x
        a[1] = b[0] * a[0]
    c[2] = x
    return c[0] * c[1] + a[0] * b[0] + a[2] * b[2]


@programs.on((A, 0.7))
def view_of_a_copy(a, x):
    b = a.copy()
    view = b[1:4]
    for i in range(3):
        view[i] = a[i] * b[i] + x
        a[i] = view[i] * view[0]
    b[2] = a[2]
    return view[1] * view[2] + a[0] * a[1] * b[1]


@programs.on((A, 0.7))
def view_outlives_its_name(a, x):
    view = a[1:3]
    kept = a
    a = np.zeros(3)
    a[0] = view[1] * x
    kept[2] = a[0] * view[0]
    view = a[:2]
    view[1] = kept[2] * kept[2]
    return a[1] * a[0] + kept[1] * x


@programs.on((M, 0.7))
def diagonal_by_strides(m, x):
    flat = m.reshape(-1)
    diagonal = flat[::4]
    diagonal[1] = diagonal[0] * m[1, 1] * x
    m[0, 0] = diagonal[1] * math.sin(x)
    return diagonal[0] * diagonal[1] + m[1, 0]


@programs.on((A, 0.7))
def split_views(a, x):
    left, right = np.split(a, 2)
    for i in range(3):
        left[i] = right[i] * left[i] + x
        a[5 - i] = left[i] * left[0]
    return right[0] * right[1] * right[2] + left[1] * left[2]


@programs.on((M, 0.7))
def copied_only_if_need_be(m, x):
    c = np.ascontiguousarray(m)
    c[0, 0] = m[0, 1] * x
    f = np.asfortranarray(m)
    f[1, 1] = c[0, 0] * m[1, 0]
    return m[0, 0] * m[1, 1] + c[1, 1] * f[0, 0] + m[0, 2]


@programs.on((M, 0.7), (np.asfortranarray(M), 0.7), (M[::-1, ::-1], 0.7))
def rows_read_again(m, x):
    """What a row holds is read again in the reverse sweep, through another view."""
    total = 0.0
    for i in range(m.shape[0]):
        row = m[i]
        part = row[1:]
        for j in range(part.shape[0]):
            total += part[j] * row[j] * x
            total += total * part[-1] * row[j - 1]
    return total


@programs.on((M, 0.7))
def walked_column(m, x):
    """A column in Fortran's order is of that order itself, and of C's."""
    f = np.asfortranarray(m * x)
    total = 0.0
    for v in f[:, 1].flat:
        total += v * v
    for v in f.flat:
        total += v * v * x
    return total


@programs.on((M, 0.7))
def rows_overwritten_later(m, x):
    total = 0.0
    for i in range(2):
        row = m[i]
        for j in range(3):
            total += row[j] * row[j] * total + x
    for i in range(2):
        m[i, 1] = total * x
    return total * m[0, 1] + m[1, 2]


@programs.on((M, 0.7))
def rows_overwritten_meanwhile(m, x):
    total = x
    for i in range(2):
        row = m[i]
        for j in range(3):
            total += row[j] * row[j] * total
            m[1 - i, j] = total * x
    return total * m[0, 1] + m[1, 2]


@programs.on((T, 0.7))
def rows_written_ahead(t, x):
    """Of a table: what is written is ahead of what is read."""
    table = np.ones((5, 3))
    for i in range(1, 5):
        row, last = table[i], table[i - 1]
        for j in range(3):
            row[j] = last[j] * last[j - 1] * x + t[0, j, 0]
    return table[4, 1] * table[3, 2]


@programs.on((T, 0.7))
def rows_of_a_state(t, x):
    """An array that each step updates, and is kept for, by rows."""
    total = 0.0
    for _ in range(3):
        for i in range(2):
            plane = t[i]
            for j in range(3):
                row = plane[j]
                row[0] = row[0] * row[1] + x * row[0]
                total += row[0] * plane[2 - j, 1]
    return total * t[0, 0, 0]


@programs.on((M, 0.7))
def rows_of_stages(m, x):
    """Work space that a step fills twice, so that there are two of it where the step is run again."""
    k, z = np.empty((2, 3)), np.empty((2, 3))
    for _ in range(3):
        for i in range(2):
            for j in range(3):
                k[i, j] = m[i, j] * m[i, j] * x
        for i in range(2):
            row = k[i]
            for j in range(3):
                z[i, j] = row[j] * row[j] * m[i, j]
        for i in range(2):
            for j in range(3):
                k[i, j] = z[i, j] * m[i, j]
        for i in range(2):
            row = k[i]
            for j in range(3):
                m[i, j] += 1e-5 * row[j] * row[j]
    return m[0, 0] * m[1, 1]


@programs.on((A, 0.7))
def windows_that_move(a, x):
    """Views that begin elsewhere in every iteration, the next one where this one writes."""
    total = x
    for k in range(3):
        window = a[2 - k :]
        total += window[1] * window[0] * total
        window[2] = total * x
    return total * a[2] + a[3]


@pytest.mark.deep(
    but=[
        "rows_read_again",
        "rows_overwritten_meanwhile",
        "windows_that_move",
        "base_overwritten_under_a_view",
        "one_view_or_the_other",
        "reshaped",
        "reversed_view",
        "two_overlapping_views",
        "view_of_a_copy",
        "walked_column",
        "written_through_a_slice",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


@pytest.mark.shows("counted", "invariants")
def test_rows_are_not_recorded_where_they_are_read_again():
    def recorded(program):
        lines = map(str.strip, nd.inspect_adjoint(program, M, 0.7).splitlines())
        return [line.split("  ")[0] for line in lines if line.startswith("record ")]

    assert recorded(rows_read_again) == ["record total"]
    assert recorded(rows_overwritten_later) != ["record total"]


@pytest.mark.parametrize(
    "copy", [np.ascontiguousarray, np.asfortranarray], ids=lambda f: f.__name__
)
def test_copies_of_what_may_only_be_read(copy):
    def f(x):
        rows = copy(np.broadcast_to(x, (3, 4)))
        return np.sum(rows * rows) + rows[1, 2]

    x = np.array([0.3, 0.5, 0.7, 1.1])
    expected = 6.0 * x + [0.0, 0.0, 1.0, 0.0]
    np.testing.assert_allclose(nd.grad(f, mode="reverse")(x), expected, rtol=1e-14)


@njit
def squares_in_rows(x):
    return np.broadcast_to(x * x, (3, 4))


def read_only_views_read(x, w):
    rows = squares_in_rows(x)
    columns = np.broadcast_to(x.reshape(4, 1), (4, 3))
    total = np.max(rows) + np.sort(rows[0])[1] + np.linalg.norm(columns) + np.dot(rows[1], w[1])
    return total + (rows.T @ w).sum() * columns[2, 1] + (columns[1:] * w[:, :3]).sum()


@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
def test_what_reads_views_that_may_only_be_read():
    x, w = np.array([0.3, 0.5, 0.7, 1.1]), np.sin(np.arange(12.0)).reshape(3, 4)

    def of_complex(z):
        columns = np.outer(z, np.ones(3))
        total = z[3] ** 2 + z[1] ** 2 + np.sqrt((columns**2).sum()) + (z * z) @ w[1]
        rows = np.outer(np.ones(3), z * z)
        return total + (rows.T @ w).sum() * z[2] + (columns[1:] * w[:, :3]).sum()

    expected = [of_complex(x + 1e-30j * e).imag / 1e-30 for e in np.eye(4)]
    np.testing.assert_allclose(nd.grad(read_only_views_read)(x, w), expected, rtol=1e-13)
    _, (cotangent,) = nd.vjp(squares_in_rows)((x,), w)
    np.testing.assert_allclose(cotangent, 2 * x * w.sum(axis=0), rtol=1e-14)


@njit
def outer_products(A, x, k):
    B = A.copy()
    for _ in range(k):
        B -= np.outer(x, B[0]) * 0.1
    return np.sum(B * B)


@njit
def columns_times_rows(A, x, k):
    total = 0.0
    for t in range(k):
        d = x.reshape(-1, 1) * A[t].reshape(1, -1)
        for i in range(d.shape[0]):
            for j in range(d.shape[1]):
                total += d[i, j] ** 2 * x[j]
    return total


@njit
def flattened(A, x, k):
    B = A.copy()
    for _ in range(k):
        f = B.ravel()
        g = f[1:]
        for i in range(g.size):
            g[i] = 0.5 * g[i] + f[i] * x[i % x.size]
    return np.sum(B * B)


@njit
def rows_reshaped(A, x, k):
    """Views of a row, each of another shape, of loops of no and of one iteration."""
    total = 0.0
    for i in range(k):
        square = A[i].reshape(2, 2)
        for j in range(i % 3):
            total += square[j, 1 - j] * square[j, j] * x[j]
            for part in square.ravel():
                total += part * x[i] * x[i]
    return total


@njit
def swapped(A, x, k):
    """Views of arrays that change places."""
    B, C = A.copy(), A * 2.0
    for _ in range(k):
        b, c = B.reshape(-1), C.reshape(-1)
        for i in range(b.size):
            c[i] = c[i] * b[i] * 0.3 + x[i % x.size]
        B, C = C, B
    return np.sum(B * B) + np.sum(C)


VIEWS = [outer_products, columns_times_rows, flattened, rows_reshaped, swapped]


@pytest.mark.parametrize("f", VIEWS, ids=lambda f: f.py_func.__name__)
def test_views_by_calls_in_a_loop_around_another(f):
    """The adjoint of such a view is made where the view is, not for each element of it."""
    rng = np.random.default_rng(5)
    A, x = rng.uniform(0.2, 1.0, (4, 4)), rng.uniform(0.2, 1.0, 4)
    found = nd.grad(f, (0, 1), mode="reverse")(A, x, 4)
    expected = nd.grad(f, (0, 1), mode="forward")(A, x, 4)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    listing = nd.inspect_adjoint(f, A, x, 4)
    sweep = listing[listing.index("reverse sweep") :]
    depth = 12
    if "reversed(" not in sweep:  # each iteration is reversed where it ends
        sweep, depth = listing, 16
    lines = [line for line in sweep.splitlines() if not line.lstrip().startswith("#")]
    within_two_loops = [line for line in lines if line.startswith(" " * depth)]
    assert any("_bar" in line for line in within_two_loops)
    assert not any(".ravel(" in line or ".reshape(" in line for line in within_two_loops)
