"""Elements, slices and fills: overwritten values are restored, and overwritten adjoints are zeroed."""

import math
import operator

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.source import define
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77])
B = np.array([-1.27, 0.23, 1.94, 0.41])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])
T = np.sin(np.arange(24.0) + 0.5).reshape(2, 3, 4)

# Elements


@programs.on((A, 0.7))
def squared_in_place(a, x):
    for k in range(3):
        for i in range(len(a)):
            a[i] = a[i] * a[i] * 0.5
        a[k] = a[k] + x
    return a[0] * a[1] + a[2] * a[3]


@programs.on((A, 0.7, 5), (A, 0.7, 0))
def elements_swapped(a, x, n):
    for k in range(n):
        i, j = k % 4, (2 * k + 1) % 4
        a[i], a[j] = a[j], a[i] * x
    return a[0] * a[0] * a[1] + a[2] * a[3]


@programs.on((A, 0.7))
def overwritten_after_a_nonlinear_read(a, x):
    y = a[0] * a[1]
    a[0] = math.sin(y)
    z = a[0] * a[0] * y
    a[0] = 3.0
    a[1] = z
    return a[0] * a[1] * x + a[1] * a[2]


@programs.on((A, 0.7))
def overwritten_by_constants(a, x):
    total = a[1] * a[2]
    for i in range(3):
        total += a[i] * x
        a[i] = 2.0
        a[i + 1] = a[i] * total
        a[i + 1] = 1
    return total * a[0] + a[3]


@programs.on((A, 0.7))
def written_twice_read_between(a, x):
    total = x
    for i in range(4):
        a[1] = a[i] * x
        total += a[1] * a[1]
        a[1] = total
        x = x * a[1]
    return total * x


@programs.on((A, B))
def recurrence_between_arrays(a, b):
    for i in range(1, 4):
        a[i] = a[i - 1] * b[i] + a[i]
        b[i - 1] = a[i] * a[i]
    return a[3] * b[2] * b[3]


@programs.on((A, 0.7, 3), (A, 0.7, -2))
def negative_indices(a, x, n):
    total = x
    for i in range(1, 4):
        total = total * a[-i] + a[i - 4]
        a[-i] = total * a[n - 1 - i + 2] if i < n else total
        a[-1] += a[-2] * x
    return total * a[-4] + a[n] * a[n]


@programs.on((M, 0.7), (np.asfortranarray(M), 0.7), (T[:, :, 1], 0.7))
def tuple_indices(m, x):
    total = x
    for i in range(2):
        for j in range(3):
            at = (i, j)
            total = total * 0.5 + m[at] * m[i][j]
            m[at] = m[1 - i, -j] * total
            m[i][j] += x
    return total * m[1, 2] * m[-1, -1]


@programs.on((T, 0.7), (T.transpose(2, 0, 1), 0.7), (T[::-1, :, ::2], 0.7))
def rank_three(t, x):
    total = x
    for i in range(2):
        for k in range(t.shape[2]):
            t[i, 1, k] = t[i, 0, k] * t[1 - i, 1, k] + total
            total = total * 0.5 + t[i, 1, k] * t[i, -1, k]
            t[i][0][k] = total
    return total * t[0, 0, 0] * t[1, 1, 1]


@programs.on((np.array(0.7), 1.3))
def rank_zero(c, x):
    for k in range(3):
        c[()] = c[()] * c[()] * x
        x = x + c.item()
    return c[()] * x


@programs.on((A, 0.7))
def augmented_elements(a, x):
    for i in range(1, 4):
        a[i] += a[i - 1] * x
        a[i - 1] *= a[i]
        a[i] -= x * x
        a[0] /= 1.5 + a[i] * a[i]
        a[i] **= 2
    return a[0] * a[1] + a[2] * a[3]


@programs.on((A, 0.7), (B, 0.7))
def element_in_a_branch(a, x):
    for i in range(4):
        if a[i] > 0.5:
            a[i] = a[i] * x
            x = x + a[i]
        elif i > 0:
            a[i - 1] = a[i - 1] * a[i]
    return a[0] * a[1] * x + a[2] * a[3]


@programs.on((A, 0.7))
def read_while_shifting(a, x):
    for k in range(3):
        first = a[0]
        for i in range(3):
            a[i] = a[i + 1]
        a[3] = first * x
        x = x * a[1] + 1.0
    return a[0] * a[1] * x


@programs.on((A, 4), (A, 2))
def index_depends_on_values(a, n):
    k = 0
    total = a[0]
    for i in range(n):
        k = (k + (2 if a[k] > total else 1)) % 4
        a[k] = a[k] * total
        total = total * 0.5 + a[(k + 1) % 4]
    return total * a[k]


INDICES = np.array([2, 0, 2, 1])


@programs.on((A, INDICES))
def indices_changed_after_use(a, indices):
    total = 1.0
    for i in range(4):
        k = indices[i]
        total = total * a[k]
        a[indices[i]] = total + a[indices[3 - i]] * a[indices[3 - i]]
        indices[i] = 3 - k
    indices[:] = 0
    return total * a[indices[1]] + a[2] * a[1]


@programs.on((A, 0.7))
def indices_computed_into_an_array(a, x):
    order = np.empty(4, np.int64)
    for i in range(4):
        order[i] = (i * 3 + 1) % 4
    total = x
    for i in order:
        total = total * a[i] + x
        order[0] = 2
    return total * a[order[0]]


# Slices


@programs.on((A, B, 0.7))
def slices_assigned(a, b, x):
    for k in range(3):
        a[1:3] = b[:2]
        b[1:3] = a[2:]
        b[::2] = a[::-2]
        a[k] = a[k] * b[k] * x
    return a[0] * a[1] * b[1] + a[2] * b[3] * b[2]


@programs.on((A, B, 0.7))
def slices_filled(a, b, x):
    total = x
    for k in range(3):
        total = total * a[1] + a[2] * b[k]
        a[1:] = total
        b[k:] = x
        b[k] = total * b[k]
        a[:2] = 1.5
    return total * a[3] * a[0] + b[0] * b[3]


@programs.on((A, 0.7))
def slice_shifted_over_itself(a, x):
    for k in range(3):
        first = a[0]
        a[:-1] = a[1:].copy()
        a[-1] = first * a[0] * x
    return a[0] * a[1] + a[2] * a[3] * a[3]


@programs.on((M, A, 0.7), (np.asfortranarray(M), A, 0.7))
def rows_and_columns_assigned(m, a, x):
    for k in range(2):
        m[0] = a[:3]
        m[:, 1] = a[2:]
        m[1, :] = m[0, ::-1].copy()
        m[k, 1:] = x * m[1, 0]
        a[k] = m[0, 1] * m[1, 1]
    return m[0, 0] * m[0, 1] * m[1, 2] + a[0] * a[1]


@programs.on((M, 0.7))
def row_broadcast(m, x):
    row = np.array([x, x * x, 1.0])
    m[:] = row
    row[0] = m[1, 1] * m[0, 0]
    m[:, 1:] = row[:2]
    m[:1] = x
    return m[0, 0] * m[1, 1] * m[1, 2] + m[1, 0] * row[0]


@programs.on((M, 0.7))
def filled_whole(m, x):
    total = m[0, 0] * m[1, 2]
    m.fill(x * total)
    total += m[0, 1] * m[1, 1]
    m[:] = total
    m[0, 0] = m[1, 1] * m[0, 0]
    total = m[0, 0] * m[0, 1]
    m[...] = 2.0
    return total * m[1, 2]


@programs.on((A, B, 0.7))
def slices_augmented(a, b, x):
    for k in range(2):
        a[1:] += b[:3]
        a[:2] *= a[2:]
        b[::2] -= x
        b *= x
        a /= 1.5 + x * x
        a[k:] += a[k]
    return a[0] * a[1] * b[1] + a[2] * a[3] * b[2]


@programs.on((M, 0.7))
def slices_augmented_in_two_dimensions(m, x):
    for k in range(2):
        m[k] *= x
        m[:, k] += m[1, 2]
        m[1] += m[0]
        m[0, 1:] *= m[1, :2]
    return m[0, 0] * m[1, 1] + m[0, 2] * m[1, 2] * m[0, 1]


@programs.on((A, 0.7, 1, 3), (A, 0.7, 0, 4), (A, 0.7, 2, 2))
def slice_bounds_of_arguments(a, x, start, stop):
    part = a[start:stop]
    total = x
    for i in range(len(part)):
        total = total * part[i] + part[i] * part[i]
        part[i] = total
    a[start:stop] = x
    return total * a[0] + a[1] * a[3]


@programs.on((A, 0.7))
def slice_object_and_ellipsis(a, x):
    window = slice(1, 3)
    for k in range(2):
        a[window] = a[window] * x
        m = a.reshape(2, 2)
        m[...] = m[..., ::-1].copy()
        m[..., k] *= m[k, 1]
    return a[window][1] * a[1] * x + m[..., 0][1]


# Fancy and boolean indices


@programs.on((A, 0.7))
def fancy_read(a, x):
    indices = np.array([2, 0, 2])
    total = x
    for k in range(3):
        b = a[indices]
        indices[k] = 3
        total = total * b[0] + b[1] * b[2]
        a[k] = b[k] * total
        b[k] = total
        total += b[0] * b[2]
    return total * a[0]


@programs.on((A, B))
def fancy_write(a, b):
    indices = np.array([3, 1])
    for k in range(2):
        a[indices] = b[:2]
        b[0] = a[3] * a[1]
        indices[1] = 2
        a[indices] = b[1] * b[0]
    return a[0] * a[1] + a[2] * a[3] * b[0]


@programs.on((A, 0.7))
def mask_read(a, x):
    total = x
    for k in range(3):
        b = a[a > 0.3]
        for v in b:
            total = total * v + x
        a[k] = a[k] * b[0] + 0.5
    return total * a[0]


@programs.on((A, B))
def mask_write(a, b):
    total = a[0] * a[2]
    for k in range(2):
        a[a < 0.6] = b[1] * b[k]
        total = total * a[2] + a[0]
        a[2] = total
        b[b > 0.3] = 0.25
        b[k] = b[k] * total
    return total * a[0] * b[2] + a[3] * b[1]


@programs.on((M, 0.7))
def fancy_rows(m, x):
    rows = np.array([1, 0, 1])
    n = m[rows]
    n[2, 1] = n[0, 1] * n[1, 1]
    m[1] = n[2] * x
    columns = m[:, np.array([2, 0])]
    return n[2, 1] * n[2, 2] + columns[1, 0] * columns[0, 1] * m[1, 1]


@programs.on((M, 0.7))
def fancy_numbers_beside_others(m, x):
    n = m.copy().reshape((1, 2, 3))
    n[..., np.array([2, 0])] = m[..., 1:2] * x
    n[0, np.array([1]), 1:] = n[0, 0, 2] * n[0, 1, 1]
    row, column = n[:, 1, np.array([2, 0])], n[..., np.array([0, 1]), 1]
    return row[0, 0] * row[0, 1] * column[0, 0] + n[0, 0, 2] * column[0, 1]


@programs.on((M, 0.7))
def fancy_numbers_apart_from_an_int(m, x):
    n = np.concatenate((m, m * x)).reshape((2, 2, 3))
    n[0, :, np.array([2, 0])] = n[1, 0:1, 1:2] * m[1, :2]
    part = n[1, :, np.array([2, 0, 1])]
    return part[2, 0] * part[1, 1] + n[0, 0, 2] * n[0, 1, 2] * part[0, 1]


@programs.on((A, 0.7))
def take_and_where(a, x):
    b = np.take(a, np.array([1, 1, 3]))
    c = np.where(a > 0.6, a * x, x)
    a[1] = b[1] * c[0]
    return a[1] * b[0] * b[2] + c[1] * c[2] * c[3]


@pytest.mark.deep(
    but=[
        "augmented_elements",
        "element_in_a_branch",
        "elements_swapped",
        "fancy_read",
        "mask_write",
        "overwritten_after_a_nonlinear_read",
        "overwritten_by_constants",
        "read_while_shifting",
        "row_broadcast",
        "slice_shifted_over_itself",
        "squared_in_place",
        "written_twice_read_between",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


# Numbers without a derivative


def program(*lines):
    return njit(define("\n    ".join(["def f(x, a, n):", *lines]) + "\n", {"np": np}))


@pytest.mark.parametrize(
    "statement",
    ["np.floor(a, out)", "np.round(out, 1, out)", "np.isfinite(a, out)", "out //= 0.3"],
)
def test_rounded_numbers_replace_what_an_array_held(statement):
    f = program("out = np.array([x, 2.0 * x, -x, x])", statement, "return (out * out).sum() * x")
    given = 1.3, A.copy(), np.arange(4)
    assert nd.grad(f, mode="reverse")(*given) == f(*given) / 1.3


@pytest.mark.parametrize(
    "made", ["np.floor(a * x)", "np.round(a, 1)", "n.astype(np.float64)", "np.hanning(4)"]
)
def test_an_array_without_a_derivative_holds_what_is_stored_later(made):
    f = program(f"b = {made}", "b[0] = x * x", "return b[0] * b[1]")
    given = 1.3, A.copy(), np.arange(4)
    assert f(*given) != 0.0
    assert nd.grad(f, mode="reverse")(*given) == pytest.approx(2.0 * f(*given) / 1.3, rel=1e-15)


@pytest.mark.parametrize("name", "iadd isub imul itruediv ifloordiv imod ipow".split())
def test_operators_in_place_called_as_functions(name):
    """They write to the array, and other names of it see that, whether their result is used or not."""
    function = getattr(operator, name)

    def f(x, y):
        z = 1.5 * x
        other = z[1:]
        function(z, y)
        number = function(x[0], y[1])
        function(other, y[:2])
        return (z * z).sum() + number * function(other[0], 1.25)

    x, y = np.array([1.2, 2.1, 3.3]), np.array([0.7, 1.3, 0.4])
    forward, reverse = (nd.grad(f, (0, 1), mode=mode)(x, y) for mode in ("forward", "reverse"))
    for found, expected in zip(reverse, forward, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    step = 1e-6 * np.array([1.0, -2.0, 0.5])
    moved = njit(f)(x + step, y - step) - njit(f)(x - step, y + step)
    along = 2 * (reverse[0] - reverse[1]) @ step
    assert along == pytest.approx(moved, rel=1e-5, abs=1e-9)
