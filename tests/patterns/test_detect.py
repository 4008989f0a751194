"""Detected patterns of small programs, against patterns written by hand."""

import math

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd

X = np.array([1.0, 2.0, 3.0, 4.0])


def rows(text):
    """`"0 1, 2, -"`: the columns of each row."""
    return [[] if r.strip() == "-" else sorted(map(int, r.split())) for r in text.split(",")]


def found(matrix):
    assert matrix.dtype == bool
    assert matrix.has_sorted_indices
    return [
        matrix.indices[a:b].tolist()
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]


PROGRAMS = {}


def program(expected, *args, **options):
    """A program, and the pattern that it has for arguments (`X` where none are given)."""

    def add(f):
        PROGRAMS[f.__name__] = f, expected, args or (X,), options
        return f

    return add


@program("0 3, 0 1, 1 2, 2 3")
def loop(x):
    y = np.empty_like(x)
    for i in range(x.size):
        y[i] = x[i] * x[i - 1]
    return y


@program("0 3, 0 1, 0 2, 0 3")
def both_sides(x):
    y = np.zeros(x.size)
    for i in range(x.size):
        if x[i] > 2.5:
            y[i] = x[0] + x[i]
        else:
            y[i] = x[i] * x[0] if i > 0 else x[3] * x[0]
    return y


@program("1 2")
def side_without_assignment(x):
    s = x[1]
    if x[0] > 100.0:
        s = x[2]
    return s


@program("1 2, 0 1, 2, 3")
def array_changed_on_one_side(x):
    y = x.copy()
    if x[0] < 0.0:
        y[0] = x[1]
        y[0] = x[2]
        y[1] += x[0]
    else:
        y[0] = x[1]
    return y


@program("0, 0 1, 2")
def put_back(x):
    y = x.copy()
    if x[3] > 0.0:
        y[1] = y[0]
    if x[3] > 1.0:
        raise ValueError("no derivative is asked for here")
    return y[:3]


@program("0, 1, 2, 3")
def newton(x):
    y = np.zeros(x.size)
    for i in range(x.size):
        w = x[i]
        while abs(w * w - x[i]) > 1e-12:
            w = 0.5 * (w + x[i] / w)
        y[i] = w
    return y


@program("0 1 2 3, 0")
def left_early(x):
    s = 0.0
    for v in x:
        if v > 2.5:
            break
        s += v
    return s, x[0]


@program("0 1 2 3")
def goes_on(x):
    s = 0.0
    for i in range(x.size):
        if x[i] < 1.5:
            continue
        s += x[i]
    return s


@program("0 1, 1")
def while_over_an_array(x):
    y = x[:2].copy()
    while y[0] < 10.0:
        y[0] += y[1]
    return y


@program("0 1 2, 0 1 2, 0 1 2")
def moves_in_circles(x):
    a, b, c = x[0], x[1], x[2]
    while a < 100.0:
        a, b, c = b * 2.0, c * 2.0, a * 2.0
    return a, b, c


@program("0 3, 1 2, 1 2, 0 3")
def views(x):
    y = np.zeros(4)
    half, back = y[:2], y[::-1]
    half[0] = x[0]
    half[1] = x[1]
    half += x[:1:-1]
    back[0] = half[0]
    back[1] = half[1]
    return y


@program("0 2, 1 3, -, -")
def rows_of_a_matrix(x):
    m = np.zeros((2, 2))
    m[0] = x[:2]
    m[0, 0] += x[2]
    m.T[1][0] += x[3]
    return m


@njit
def pair(a, b):
    if a > b:
        return a, b * b
    return b, a


@njit
def fill(y, i, v):
    y[i] = v


@program("0 1, 0 1, 3, -")
def callees(x):
    y = np.zeros(4)
    y[0], y[1] = pair(x[0], x[1])
    fill(y, 2, x[3])
    return y


@njit
def power(x, n):
    return x if n == 0 else x * power(x, n - 1)


@program("2")
def recursion(x):
    return power(x[2], 3)


@program("2, 0, 3", X, np.array([2, 0, 3]))
def gather(x, where):
    return x[where]


@program("-, 0 2, -, 1", X, np.array([1, 3, 1]))
def scatter(x, where):
    y = np.zeros(4)
    for k in range(where.size):
        y[where[k]] += x[(2, 1, 0)[k]]
    return y


@program("0 1 2 3, -")
def index_from_a_value(x):
    return x[int(x[0])], float(int(x[1]))


@program("0 2, 1 2, 2, 2 3")
def store_at_a_value(x):
    y = x.copy()
    y[int(x[0])] = x[2]
    return y


@program("0 1 2, 0 1, 2, 3")
def extrema(x):
    y = np.minimum(x, np.inf)
    y[0] = max(x[0], x[1], x[2])
    y[1] = np.maximum(x[0], x[1])
    return y


@program("0, 1, 2, 3")
def where(x):
    return np.where(x > 2.0, np.sin(x), 0.0)


@program("0 3, 1 2, 1 2, 0 3")
def where_of_arrays(x):
    return np.where(x > 2.0, x, x[::-1])


@program("0, 1, 0 2 3, 0 3, 0 1 2 3, 0 1 2 3")
def clipped(x):
    limits = np.clip(x[2:], 0.0, x[3]) + np.clip(x[0] * np.ones(2), -np.ones(2), None)
    return x[:2].clip(-1.0, 1.0), limits, np.sort(x)[1:3]


@program("-, -, -, 0")
def without_derivative(x):
    return math.floor(x[0]), x[1] > x[2], np.rint(x[3]), x[0] * 2


@program("0 1 2 3, 0 1, 1 2, 0 1 2 3, 0 1 2 3, 0 1 2 3")
def whole_arrays(x):
    return x.sum(), x[:2] @ x[:2], np.diff(x)[1], np.cumsum(x)[3], x.max(), np.linalg.norm(x)


@program("0 1, 0 1, 1 2, 2 3, 2 3")
def slices(x):
    y = np.zeros(5)
    y[:-1] += x
    y[1:4] += x[1:] * x[:-1]
    y[0] += y[1] * 0.0
    y[4] = y[3]
    y[0] = x[0] + x[1]
    return y


@program("0, 1, -, 2 3")
def arrays_of_lists(x):
    y = np.array([x[0], x[1], 1.0, x[2] * x[3]])
    return y * np.array([1.0, 2.0, 3.0, 4.0])


@program("0 1 2 3")
def index_beyond_the_end(x):
    s = 0.0
    for i in range(x.size):
        if x[i] > 0.0:
            if i + 1 < x.size:
                s += x[i + 1] * x[i]
    return s


@njit
def checked(x, i):
    if i > 3:
        raise IndexError("beyond the end")
    return x[i]


@program("1, 0 1 2 3")
def callee_that_may_raise(x):
    s = 0.0
    i = 0
    while x[i] < 3.0:
        s += checked(x, i)
        i += 1
    return checked(x, 1), s


@program("0, 1, 2, 3")
def loop_with_branches(x):
    y = np.zeros(x.size)
    for i in range(x.size):
        w = x[i]
        while w > 1e-3:
            if w > 1.0:
                w = w * 0.5
            else:
                w = w * 0.25 - x[i] * 0.01
        y[i] = w
    return y


@program("0 1 2, 0 1 2, 0 1 2")
def array_that_moves_in_circles(x):
    y = x[:3].copy()
    while y[0] < 100.0:
        first = y[0]
        y[0] = y[1] * 2.0
        y[1] = y[2] * 2.0
        y[2] = first * 2.0
    return y


@program("0, 1, 2, 3")
def loop_left_in_the_middle(x):
    y = np.zeros(x.size)
    for i in range(x.size):
        w = x[i]
        while True:
            if w < 1e-3:
                break
            if w > 1.0:
                w = w * 0.5
            w = w * 0.25 - x[i] * 0.01
        y[i] = w
    return y


@program("1 2")
def one_element_on_both_sides_in_a_loop(x):
    y = np.zeros(1)
    s = 1.0
    while s > x[0]:
        if x[3] > s:
            y[0] = x[1]
        else:
            y[0] = x[2]
        s *= 0.5
    return y


@program("0 2, 0 1 3")
def element_of_a_matrix(x):
    m = x.reshape(2, 2).copy()
    k = int(x[0]) % 2
    a = m[k, 0]
    m[k, 1] += x[0]
    return a, m[0, 1] + m[1, 1]


@program("0, 1")
def stopped(x):
    return x[0] * nd.stop_gradient(x[2]), x[1]


@program("0, 1, 2, 3")
def same_shape_on_either_side(x):
    if x[0] > 0.0:
        y = x * 2.0
    else:
        y = np.empty(4)
        for i in range(4):
            y[i] = -x[i]
    y[0] += 1.0
    return y


@program("0 1, 2", X, 1.5, "sum")
def strings_and_floats(x, t, kind):
    a = x[1] if kind == "sum" else x[3]
    if t > 1.0:
        a += x[0]
    return a, x[2]


@program("0, 0 1, 0 1 2, 0 1 2 3")
def running_sum(x):
    y = np.empty(x.size)
    s = 0.0
    for i in prange(x.size):
        s += x[i]
        y[i] = s
    return y


@program("0 1 2 3", (X[:2], 1.0, X[2:]))
def tuples(p):
    a, b, c = p
    return a[0] * c[1] + a[1] * c[0] * b


@program("0 1 2 3 4", (X[:2], 1.0, X[2:]))
def all_of_a_tuple(p):
    return p[0].sum() + p[1] + p[2].sum()


PROGRAMS["tuples"] = tuples, "0 1 2 3 4", *PROGRAMS["tuples"][2:]


@program("0 3, 1", X + 1j)
def complex_numbers(z):
    return abs(z[0]) + z[3].real, z[1] * 1j


@program("0, 1, 2, 3", X.astype(np.float32))
def single_precision(x):
    return x * np.float32(2)


@program("0, 1, 2 5, 3, 4, 5", X, np.array([5.0, 6.0]), argnums=(0, 1))
def two_arguments(x, y):
    return x[0], x[1], x[2] * y[1], x[3], y[0], y[1]


@program("1 2, 0", 2.0, np.zeros(2), X, argnums=2, out=1)
def into_an_argument(t, y, x):
    y[0] = x[1] * x[2] * t
    y[1] = x[0]


@program("", X[:0])
def nothing(x):
    return x * 2.0


@pytest.mark.parametrize("name", PROGRAMS)
def test_pattern(name):
    f, expected, args, options = PROGRAMS[name]
    copies = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    assert found(nd.sparsity(f, **options)(*copies)) == (rows(expected) if expected else [])
    for given, kept in zip(args, copies, strict=True):
        assert np.array_equal(given, kept) if isinstance(given, np.ndarray) else True


REFUSED = {}


def refused(f):
    REFUSED[f.__name__] = f
    return f


@refused
def size_from_a_value(x):
    return np.zeros(int(x[0])).sum() + x[0]


@refused
def mask_from_values(x):
    return x[x > 2.0].sum()


@refused
def a_list(x):
    values = [x[0]]
    values.append(x[1])
    return values[0]


@refused
def slice_from_a_value(x):
    return x[: int(x[0])].sum()


@refused
def shape_from_a_branch(x):
    y = x[:2] if x[0] > 1.0 else x[:3]
    return y.sum()


@refused
def a_try_block(x):
    y = 0.0
    try:
        y = power(x[0], 2)
    except Exception:
        y = x[1]
    return y


@refused
def recursion_on_values(x):
    return endless(x[0])


@njit
def endless(x):
    if x < 1.0:
        return x
    return endless(x * 0.5) + x


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(nd.UnsupportedError, match="sparsity=matrix"):
        nd.sparsity(REFUSED[name])(X)


def test_shared_memory_is_refused():
    def f(x, y):
        y[0] = x[1]
        return x * 2.0

    with pytest.raises(nd.UnsupportedError, match="share memory"):
        nd.sparsity(f)(X, X.view())


def test_operators_are_refused():
    with pytest.raises(nd.UnsupportedError, match=r"nd\.jacobian"):
        nd.sparsity(nd.jacobian(lambda x: x**2))(X)
