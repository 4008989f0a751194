"""Indices beyond an array: an error, not a stray write; and no check where the code is known to be right."""

import math

import numpy as np
import pytest

import numbad as nd

x, table = np.arange(1.0, 6.0), np.arange(12.0).reshape(3, 4)


def square(x, i):
    return x[i] * x[i]


def squares(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * x[i]
    return total


def corner(a, n, m):
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += math.sin(a[i, j]) * a[i, (2 * j) // 2]
    return total


def of_row(a, i):
    row = a[i]
    return row[0] * row[-1]


def picked(x, places):
    total = 0.0
    for k in range(places.size):
        total += x[places[k]] ** 2
    return total


def fancy(x, places):
    return (x[places] ** 2).sum()


def descending(x, n, by):
    total, k = 0.0, n
    for i in range(n, -1, -by):
        total += x[i] * x[k]
        k -= by
    return total


def stored(x, n):
    y = np.zeros(x.size + 8)
    part = y[: x.size]
    for i in range(n):
        part[i] = math.sin(x[i // 2])
    return part[0] * part[1]


def one_more(x):
    total = 0.0
    for i in range(x.size + 1):
        total += x[i] * x[i]
    return total


kind = np.dtype([("a", float), ("b", float)])


def of_record(x, i):
    records = np.zeros(3, kind)
    records[0].a = x[0]
    return records[i].a * x[1]


def by_tuple(a, where):
    return a[where] ** 2


def by_part_of_tuple(a, where):
    return (a[(slice(0, 2), *where)] ** 2).sum()


def of_indices(a, n):
    total = 0.0
    for where in np.ndindex(n, a.shape[1]):
        total += a[where] ** 2
    return total


def beside_another(a, other):
    b = np.zeros(a.shape)
    for where, value in np.ndenumerate(other):
        b[where] = a[0, 0] * value
    return b.sum()


def of_flat(a, i):
    return a.flat[i] ** 2


def along_flat(a, n):
    total = 0.0
    for i in range(n):
        total += a.flat[i] ** 2
    return total


def into_flat(a, i):
    b = np.zeros(a.shape)
    b.flat[i] = a[0, 0] ** 2
    return b.sum()


def through_flat(a, unused):
    total = 0.0
    for value in a.flat:
        total += value * value
    return total


STRAYS = [
    (by_tuple, (table, (1, 4)), "index 4 is out of bounds for axis 1 with size 4"),
    (by_tuple, (table, (-4, 1)), "index -4 is out of bounds for axis 0 with size 3"),
    (by_part_of_tuple, (table, (9,)), "index 9 "),
    (of_indices, (table, 5), "index 3 is out of bounds for axis 0 with size 3"),
    (beside_another, (table, np.ones((3, 5))), "index 4 is out of bounds for axis 1 with size 4"),
    (of_flat, (table, 12), "index 12 is out of bounds for an array with size 12"),
    (of_flat, (table.T, -13), "index -13 "),
    (along_flat, (table, 14), "index 13 "),
    (into_flat, (table, 12), "index 12 "),
    (square, (x, 5), "index 5 is out of bounds for axis 0 with size 5"),
    (square, (x, -6), "index -6 "),
    (squares, (x, 7), "index 6 "),
    (corner, (table, 4, 2), "index 3 is out of bounds for axis 0 with size 3"),
    (corner, (table, 3, 6), "index 5 is out of bounds for axis 1 with size 4"),
    (of_row, (table, 3), "axis 0 with size 3"),
    (picked, (x, np.array([0, 9])), "index 9 "),
    (fancy, (x, np.array([0, 9])), "index 9 "),
    (descending, (x, 6, 1), "index 6 "),
    (stored, (x, 6), "index 5 "),
    (one_more, (x,), "index 5 "),
    (of_record, (x, 3), "index 3 "),
]
FINE = [
    (by_tuple, (table, (-1, 1)), [[0.0] * 4, [0.0] * 4, [0.0, 18.0, 0.0, 0.0]]),
    (of_flat, (table, 5), [[0.0] * 4, [0.0, 10.0, 0.0, 0.0], [0.0] * 4]),
    (of_indices, (table, 0), np.zeros((3, 4))),
    (along_flat, (table, 12), 2.0 * table),
    (through_flat, (table, 0), 2.0 * table),
    (square, (x, -5), [2.0, 0, 0, 0, 0]),
    (squares, (x, 3), [2.0, 4.0, 6.0, 0, 0]),
    (squares, (x, 0), np.zeros(5)),
    (corner, (table, 9, 0), np.zeros((3, 4))),
    (of_row, (table, -1), [[0.0] * 4, [0.0] * 4, [11.0, 0, 0, 8.0]]),
    (picked, (x, np.array([1, -1])), [0, 4.0, 0, 0, 10.0]),
    (descending, (x, 4, 2), [2.0, 0, 6.0, 0, 10.0]),
]
GRADIENTS = {f: nd.grad(f, mode="reverse") for f, *_ in STRAYS + FINE}


@pytest.mark.parametrize(("f", "args", "told"), STRAYS)
def test_a_stray_index_raises(f, args, told):
    with pytest.raises(nd.BoundsError, match=told) as caught:
        GRADIENTS[f](*args)
    assert f"in {f.__name__}, File" in str(caught.value)
    assert isinstance(caught.value, IndexError)


@pytest.mark.parametrize(("f", "args", "gradient"), FINE)
def test_an_index_within_does_not(f, args, gradient):
    np.testing.assert_allclose(GRADIENTS[f](*args), gradient, rtol=1e-14)


def test_the_access_that_a_condition_keeps_within_bounds_is_not_made():
    def kept(x, n):
        total = 0.0
        for i in range(n):
            if i < x.size:
                total += x[i] ** 2
        return total

    np.testing.assert_allclose(nd.grad(kept, mode="reverse")(x, 9), 2 * x)


@pytest.mark.deep
def test_the_second_derivative_is_guarded():
    hvp = nd.hvp(squares, argnums=0)
    with pytest.raises(nd.BoundsError):
        hvp((x, 6), (np.ones(5),))
