"""Programs on arrays: indexing, views, arithmetic, reductions, in-place changes."""

import math

import numpy as np
import pytest
from numba import njit, vectorize

from tests.forward.compare import Programs, check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])
B = np.array([1.25, 0.25, -2.0, 3.0])
M = np.array([[0.5, 1.5, -2.5], [1.25, -0.75, 2.0]])
T = np.arange(24.0).reshape(2, 3, 4) / 7.0
GLOBAL = np.array([[1.0, 2.0, 3.0], [0.5, 0.25, -1.0]])


@programs.on(A, B, second=True)
def indexing(a, b):
    n = len(a)
    total = a[0] * b[-1] + a[n - 1] * b[-n]
    for i in range(a.shape[0]):
        total += a[i] * b[n - 1 - i] * i
    for v in a:
        total += v * v
    for i, v in enumerate(b):
        total += v * i
    for u, v in zip(a, b):  # noqa: B905  (Numba knows no strict)
        total += u * v
    return total, a[1], a.size * b[2]


@programs.on(1.3, 0.4, second=True)
def evenly_spaced(x, y):
    a, b, c = np.linspace(x, y, 5), np.linspace(x * y, 2, 4), np.linspace(0, y, 50)
    total = b[1] * b[2] + c[7] * a[-1]
    for v in a:
        total += v * v
    return total, np.linspace(x, y, 1), np.linspace(y, x, 2)


@programs.on(A, M)
def slices_and_views(a, m):
    total = a[1:3].sum() * a[::2][1] + a[::-1][0] * a[-2:][0]
    total += m[0, 1] * m[1][2] + m[-1, -1] + m[0][1:].sum() + m[:, 1].sum()
    total += m.T[2, 1] * m.T[0].sum() + m.ravel()[4] * m.reshape(3, 2)[1, 1]
    total += m.flatten()[3] * a.reshape(2, 2)[1, 0] + m[..., 2].sum() + m[1, ::-1][0]
    total += np.ravel(m)[1] + np.transpose(m)[1, 0] + a.reshape((2, 2)).T.copy()[0, 1]
    return total


@programs.on(A, M)
def views_returned(a, m):
    return m.T, a[::-1], m[:, 1:], a.reshape(2, 2), a, m[0]


@programs.on(M)
def iteration(m):
    total = 0.0
    for row in m:
        for v in row:
            total += v * v
    for v in m.flat:
        total *= 1.0 + 0.1 * v
    for i, j in np.ndindex(m.shape):
        total += m[i, j] * (i - j)
    for index, v in np.ndenumerate(m):
        total += v * index[1]
    return total


@programs.on(A, B, 0.7, second=True)
def elementwise(a, b, x):
    c = a * b + x * a - b / 2 + 1
    e = np.exp(-a) * np.sin(b) + a**2 + np.abs(b) ** 1.5 - 2 ** (a * 0.5)
    return c, e, -a, +b, x - a, a * 2, 1 / b, np.maximum(a, b), np.minimum(a, x)


@programs.on(M, M[0] + 1.0, T, 0.5)
def mixed_ranks(m, row, t, x):
    c = m * row + row - m / row
    e = t * x + t[0, 0] - t[:, :1] * 2.0
    column = m[:, :1]
    return c, e.sum(), (m + column)[1, 2], (column * row).sum(), (t * t[0]).sum(), np.hypot(m, row)


@programs.on(A, B, np.array([1, 2, 3, 4]))
def with_constants(a, b, n):
    c = a * n + n - b / n
    g = GLOBAL * a[0] + GLOBAL[0, 1] * b[1]
    return c, g, (a > b) * a, np.where(a > 0, a, b), np.where(a > b, a, 0.0), a[n[0]]


@programs.on(A, M, 0.7)
def in_place_operators(a, m, x):
    c = a.copy()
    c += x
    c *= a
    c -= 2
    c /= 3.0
    c **= 2
    e = m.copy()
    e *= x
    e[0] += m[1]
    e[:, 1] -= m[:, 0] * x
    e[1, 2] *= e[0, 0]
    e[0, 1:] /= 2
    return c, e


@programs.on(A, B, second=True)
def reductions_twice(a, b):
    return a.sum() * a.mean() + np.dot(a, b) * a.var() + b.prod() * a.max(), a.cumsum()


@programs.on(A, B, M)
def reductions(a, b, m):
    total = a.sum() * np.sum(b) + a.mean() * np.mean(b) + np.prod(a) + b.prod()
    total += a.min() * b.max() + np.min(b) + np.max(a) + np.dot(a, b) + a @ b + a.dot(b)
    total += np.var(a) + b.var() + np.std(a) * b.std() + m.sum() * m.mean()
    return total, a.cumsum(), np.cumsum(b)


@programs.on(M, T)
def reductions_by_axis(m, t):
    return (
        (m.sum(axis=0), m.sum(axis=1), np.sum(m, axis=1), np.sum(m, 0)),
        (m.T.sum(axis=0), m[:, ::2].sum(axis=1) * 2.0),
        (t.sum(axis=0), t.sum(axis=1), t.sum(axis=2), t.sum(axis=0)),
    )


@programs.on(M, A)
def products(m, a):
    row, column = a[:3], a[1:3]
    return (
        (m @ row, np.dot(column, m), m @ m.T, np.dot(m.T, m), column @ m @ row),
        (m @ GLOBAL.T, GLOBAL @ row, m.dot(row), np.outer(a, row), np.trace(m @ m.T)),
    )


@programs.on(0.7, 1.3)
def array_literals(x, y):
    a = np.array([x, y, 1.0])
    b = np.array([x * y, 2])
    c = np.array((x, 1.0, y * x))
    m = np.array([[x, 1.0], [y, x * y]])
    n = np.array(((x, 0.5), (1.0, y)))
    p = np.array([[0.0, 1.0], [x, y], [2.0, x * x]])
    q = np.array([[[0.5, 1.0], [2.0, x]], [[1.5, 0.0], [3.0, 1.0]]])
    return a, b, c, m, n, p, q


@programs.on(0.7, 1.3)
def lists_of_lists(x, y):
    rows = [[0.0, 1.0], [x * y, 2.0]]
    rows.append([3.0, 4.0])
    rows[0][1] *= x
    return rows[0][1] * y + rows[1][0] * rows[2][1], len(rows[2])


@programs.on(A)
def arrays_of_lists(a):
    items = []
    for i in range(len(a)):
        items.append(a[i] * i)
    squares = [v * v for v in a]
    return np.array(items), np.array(squares), np.array([v + 1 for v in a])[1]


@programs.on(A, M, 0.7)
def assignments(a, m, x):
    c = np.zeros(6)
    c[:4] = a
    c[4:] = x
    e = np.empty((2, 3))
    e[:] = m
    e[0] = c[:3]
    e[:, 2] = x
    g = np.empty_like(m)
    g[...] = m * x
    g[1, :2] = 1.5
    h = np.ones((3, 2))
    h[1:] = m[:, :2]
    k = np.zeros(4)
    k.fill(x)
    k[1:3] = a[::-1][:2]
    return c, e, g, h, k


@programs.on(A, 0.7)
def arrays_changed_by_the_function(a, x):
    a[0] = a[1] * x
    a[1:] *= 2.0
    a += x
    return a.sum() * x


@programs.on(A, np.zeros(4), 0.7)
def written_arguments(a, out, x):
    for i in range(4):
        out[i] = a[i] * x + out[i - 1]
    out[0] += 1.0


@programs.on(A, B)
def overlapping_views(a, b):
    c = a.copy()
    head, tail = c[:3], c[1:]
    for i in range(3):
        tail[i] += head[i] * b[i]
    view = c.reshape(2, 2)
    view[1, 0] = b[0]
    back = view.T
    back[0, 1] *= b[1]
    rest = c[::2]
    rest[1] += c[1]
    return c


@vectorize
def smooth(x, y):
    return x * x / (4.0 + y)


@njit
def scale_rows(m, x):
    for i in range(m.shape[0]):
        m[i] *= x
    return m


@programs.on(A, B, M)
def vectorized_and_in_callees(a, b, m):
    c = smooth(a, b) + smooth(a, 1.0)
    e = m.copy()
    scale_rows(e, a[0])
    return c, e, scale_rows(m * 1.0, b[0]).sum()


@programs.on(A, B)
def array_functions(a, b):
    return (
        (np.concatenate((a, b)), np.sqrt(np.abs(a)), np.tanh(a) * np.arctan2(a, b), np.square(a)),
        (
            np.sign(a) * b,
            np.floor(a) * b,
            np.power(np.abs(a), 3),
            np.absolute(b),
            np.copysign(a, b),
        ),
        (a.copy() * 2, np.copy(a), np.asarray(b), np.flip(a), np.trace(b.reshape(2, 2))),
    )


@programs.on(A.astype(np.float32), rtol=1e-6)
def single_precision(a):
    out = np.zeros(4, np.float32)
    for i in range(4):
        out[i] = a[i] * a[i] + np.float32(1.0)
    return out, a.sum(), (a * a)[1:]


@programs.on((A, 2.0), (M, 3))
def arrays_in_tuples(first, second):
    a, x = first
    m, n = second
    pair = (a * x, m * n)
    return pair, pair[0][1] * pair[1][0, 1], math.sin(a[0])


@programs.on(np.zeros((0,)), 1.5)
def empty_arrays(a, x):
    total = a.sum() + x
    for v in a:
        total += v
    return total, a * x


@programs.on(np.asfortranarray(M), M.T, A[::2])
def other_layouts(f, t, s):
    return f.sum(), (f * t.T).sum(), t @ f, s * s, f[:, 1], s.sum() * t[1, 0], f.T.copy()


@programs.on(np.array([1.0, 2.0, 2.25, 1.5]), 0.5)
def searches(a, x):
    k = np.argmax(a)
    j = a.argmin()
    return (
        a[k] * x,
        a[j],
        np.argsort(a)[3] * x,
        np.sort(a) * x,
        np.any(a > x) * x,
        np.all(a > x) * a[1],
    )


@pytest.mark.deep
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


@pytest.mark.deep(but=["overlapping_views-3", "arrays_changed_by_the_function-1"])
@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize(
    "f", [arrays_changed_by_the_function, overlapping_views, views_returned, arrays_in_tuples]
)
def test_program_in_several_passes(f, chunk):
    args = next(args for g, args, _ in programs if g is f)
    check(f, *args, chunk=chunk)
