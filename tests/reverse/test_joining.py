"""Arrays put together, and rows and columns picked or written by their numbers."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()
A = np.array([0.53, 1.47, -2.61])
B = np.array([0.77, -1.19, 0.4, 0.9])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])
NUMBERS = np.array([2, -3, 1])
MASK = np.array([True, False, True])


@programs.on((A, B, 0.7), (A[::-1], np.repeat(B, 2)[::2], 0.2))
def vectors_end_to_end(a, b, x):
    joined = np.concatenate((a, b, a))
    a[0] = joined[3] * x
    longer = np.append(np.append(joined, a[0] * x), b)
    longer = np.append(a[1] * x, longer)
    return longer[1] * longer[2] * longer[5] + longer[11] * longer[9] + longer[0] * longer[14]


@programs.on((M, 0.7), (np.asfortranarray(M), 0.7))
def matrices_along_an_axis(m, x):
    rows = np.concatenate((m, m[:1]))
    columns = np.concatenate((m * x, m[:, 1:]), axis=1)
    last = np.concatenate((m, m), -1)
    m[1, 1] = rows[2, 0] * columns[1, 4]
    return rows[1, 1] * columns[0, 2] * last[1, 5] + m[1, 1] * rows[2, 2]


@programs.on((M, A, 0.7))
def rows_from_lists_and_tuples(m, a, x):
    for k in range(2):
        if m[k, 0] < 1.0:
            m[k] = [a[0] * x, m[k, 1] * m[k, 2], 0.3]
        else:
            m[k, 1:] = (x * a[1], m[0, 2] * x)
    a[:] = [0, 2, 1]
    a[1:] = (m[1, 1] * a[1], x)
    return m[0, 0] * m[0, 1] * m[1, 1] + m[1, 2] * a[1] + a[2] * m[1, 0]


@programs.on((A, 0.7))
def vectors_as_rows_columns_and_layers(a, x):
    b = a * x
    beside, below = np.hstack((a, b)), np.vstack((a, b))
    columns, layers = np.column_stack((a, b)), np.dstack((a, b))
    stacked, across = np.stack((a, b)), np.stack((a, b), axis=1)
    total = beside[4] * below[1, 0] + columns[2, 1] * layers[0, 1, 1]
    return total * stacked[1, 2] + across[0, 1] * a[2] + columns[0, 0] * layers[0, 2, 0]


@programs.on((M, 0.7))
def matrices_below_and_behind(m, x):
    below, beside = np.vstack((m, m * x)), np.hstack((m, m * x))
    layers, columns = np.dstack((m, m * x)), np.column_stack((m, m))
    return below[3, 1] * beside[0, 4] * layers[1, 2, 1] + layers[0, 0, 0] * columns[1, 3]


@programs.on((A, 0.7))
def axes_added(a, x):
    row, cube = np.atleast_2d(a), np.atleast_3d(a)
    same = np.atleast_1d(a)
    row[0, 1] = a[0] * x
    same[2] = cube[0, 1, 0] * row[0, 0]
    return a[2] * row[0, 1] * cube[0, 2, 0]


@programs.on((M, A, 0.7), (np.asfortranarray(M), A, 0.7))
def written_by_numbers(m, a, x):
    m[:, NUMBERS] = a * x
    m[1:, MASK] = m[:1, MASK] * a[1]
    m[:, np.array([1])] = a[0] * m[0, 0]
    total = 0.0
    for i in range(2):
        for j in range(3):
            total += (1.0 + i + 2.0 * j) * m[i, j] * m[i, j]
    return total


@programs.on((M, A, 0.7))
def overwritten_and_kept(m, a, x):
    before = m[0, 1] * m[1, 0]
    m[:, MASK] = x
    return before * m[0, 0] + m[0, 1] * m[1, 1] * m[1, 2]


@pytest.mark.deep(but=["vectors_end_to_end", "overwritten_and_kept"])
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


def short(a):
    b = np.zeros(3)
    b[:] = [a[0]]
    return b.sum()


def test_a_list_of_another_length():
    """Numba broadcasts arrays of one element, and no lists of one item."""
    for function in (njit(short), nd.grad(short, mode="reverse")):
        with pytest.raises(ValueError, match="cannot assign slice"):
            function(A)
