"""Every way of iterating: the values it yields are primal values that the reverse sweep needs again."""

import math

import numpy as np
import pytest
from numba import literal_unroll
from numba.core.errors import TypingError

import numbad as nd
from tests.reverse import oracle
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77])
B = np.array([-1.27, 0.23, 1.94, 0.41])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])
NONE = np.zeros(0)


@programs.on((A, 0.7), (NONE, 0.7))
def over_array(a, x):
    total = x
    for v in a:
        total = total * v + v * v
    return total * x


@programs.on((A, 0.7))
def over_array_written_meanwhile(a, x):
    total = x
    for v in a:
        total = total * v + x
        a[3] = a[3] * v + total
        a[0] = v * x
    return total * a[3] + a[0]


@programs.on((A, 0.7))
def array_element_after_the_loop(a, x):
    v = x
    for k in range(3):
        for v in a:
            if v * x > 0.9:
                break
            x = x + v * v * 0.125
        x = x * v
    return v * v * x


@programs.on((M, 0.7), (M.T, 0.7), (np.asfortranarray(M), 0.7), (M[:, ::-1], 0.7))
def over_rows(m, x):
    total = x
    for row in m:
        for v in row:
            total = total * 0.5 + v * v * x
        row[0] = total * row[1]
    return total * m[0, 0]


@programs.on((M, 0.7), (M[:, ::2], 0.7))
def over_columns_by_transpose(m, x):
    total = x
    for column in m.T:
        total = total * column[0] + column[1]
        column[1] = column[0] * total
    return total * m[1, 0] * m[1, 1]


@programs.on((M, 0.7), (M.T, 0.3))
def over_flat(m, x):
    total = x
    for v in m.flat:
        total = total * 0.5 + v * v
    k = 0
    for v in m.flat:
        m.flat[k] = v * total
        k += 1
    return total * m[0, 0] * m.flat[3]


@programs.on((0.7, 1.3, -0.4))
def over_tuple(x, y, z):
    total = 1.0
    for v in (x, y, x * y, z):
        total = total * v + v * v
        x = total
    for v in (x, total):
        z = z * v
    return total * z


@programs.on(((0.7, 1.3, -0.4), 0.5))
def over_tuple_argument(items, x):
    total = x
    for k in range(2):
        for v in items:
            total = total * v + v * v * x
    return total * items[1] + items[-1]


@programs.on((A, 0.7))
def over_tuple_of_arrays(a, x):
    b = a * 1.0
    total = x
    for c in (a, b, a):
        for i in range(3):
            total = total * 0.5 + c[i] * c[i + 1]
            c[i] = c[i] * x + total
    return total * a[0] * b[1]


@programs.on((A, 0.7), (NONE, 0.7))
def over_enumerate(a, x):
    total = x
    for i, v in enumerate(a):
        total = total * v + i * x
        a[i - 1] = v * total
    for i, v in enumerate(a, 2):
        total += i * v * v
    return total


@programs.on((A, B), (A, B[:2]), (NONE, A))
def over_zip(a, b):
    total = 1.0
    for u, v in zip(a, b):  # noqa: B905  (Numba knows no strict)
        total = total * u + v * v
        a[0] = u * v + total
    return total * b[0]


@programs.on((A, B, 0.7))
def over_zip_of_three_and_a_range(a, b, x):
    total = x
    for i, u, v in zip(range(1, 4), a, b):  # noqa: B905
        total = total * u + v * i
    for i, (u, v) in enumerate(zip(b, a[::-1])):  # noqa: B905
        total = total * 0.5 + u * v * v * i
    return total


@programs.on((A, 0.7, 4), (A, 0.7, 1), (A, 0.7, 0))
def over_range_backwards(a, x, n):
    total = x
    for i in range(n - 1, -1, -1):
        total = total * a[i] + i
        a[i] = a[i] * total
    for i in range(n - 1, 0, -2):
        total = total + a[i] * a[i - 1]
    return total * x


@programs.on((A, 0.7))
def over_reversed_array(a, x):
    total = x
    for v in a[::-1]:
        total = total * v + x
    return total * total


@programs.on((M, 0.7), (M.T, 0.7))
def over_ndenumerate(m, x):
    total = x
    for index, v in np.ndenumerate(m):
        total = total * 0.5 + v * v * (index[0] + 2 * index[1])
        m[index] = v * total
    for (i, j), v in np.ndenumerate(m):
        total += v * v * (i - j) * x
    return total


@programs.on((M, 0.7))
def over_ndindex(m, x):
    total = x
    for i, j in np.ndindex(m.shape):
        total = total * 0.5 + m[i, j] * m[1, j]
        m[i, j] = m[i, j] * total
    for index in np.ndindex(2, 2):
        total = total + m[index] * m[index] * index[1]
    for index in np.ndindex((1,)):
        total = total * m[0, index[0]]
    return total * x


@programs.on((0.7, 1.3))
def over_literal_unroll(x, y):
    total = x
    for v in literal_unroll((x, 2, y, 0.5)):
        total = total * x + v
        y = y * v
    return total * y


@programs.on((A, M, 0.7))
def over_mixed_members(a, m, x):
    total = x
    for b in literal_unroll((a, m, a[1:])):
        for v in b.flat:
            total = total * 0.5 + v * v * x
        b.flat[0] = total * b.flat[1]
    return total * m[0, 0] * a[0]


@programs.on((A, 0.7))
def over_functions(a, x):
    total = x
    for k in range(2):
        for f in literal_unroll((math.sin, math.exp, math.tanh)):
            total = f(total) * a[k]
            a[k] = a[k] + f(x)
    return total * a[0] * a[1]


INDICES = np.array([2, 0, 2, 1, 3, 0])


@programs.on((A, INDICES), (A, INDICES[::-1].copy()))
def over_integer_array(a, indices):
    total = 1.0
    for k in indices:
        total = total * 0.5 + a[k] * a[k]
        a[k] = a[k] * total
    return total * a[2]


@programs.on((A, INDICES))
def over_integer_array_changed_meanwhile(a, indices):
    total = 1.0
    for i in range(6):
        k = indices[i]
        total = total * a[k] + a[indices[5 - i]]
        indices[i] = (k + 1) % 4
        a[k] = total * a[k] * 0.5
    return total


@programs.on((A, 0.7))
def over_list_comprehension(a, x):
    squares = [v * v * x for v in a]
    total = x
    for v in squares:
        total = total * v + x
    return total * squares[1]


@programs.on((A, 0.7))
def sum_of_comprehension(a, x):
    b = np.array([v * v * x for v in a if v > 0.0])
    c = np.array([u * v for u in b for v in b])
    return c[1] * b[2] + c[8] * x


@programs.on((A, 0.7, "abca"), (A, 0.7, ""))
def over_string(a, x, text):
    total = x
    for letter in text:
        if letter == "a":
            total = total * a[1] + x
        else:
            total = total * total
    return total * len(text) + x * total


def over_reversed(a):
    total = 1.0
    for i in reversed(range(len(a))):
        total = total * a[i]
    return total


def test_reversed_is_refused_as_by_numba():
    with pytest.raises(TypingError, match="reversed"):
        nd.grad(over_reversed, mode=oracle.MODE)(A)


@pytest.mark.deep(
    but=[
        "array_element_after_the_loop",
        "over_array_written_meanwhile",
        "over_enumerate",
        "over_flat",
        "over_range_backwards",
        "over_rows",
        "over_tuple",
        "over_zip",
        "over_list_comprehension",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
