"""Indices that the code shows to lie within their arrays are not checked."""

import numpy as np
import pytest

import numbad as nd
from numbad.reverse.guards import Guards
from tests.reverse.test_guards import along_flat, by_tuple, corner, picked, squares, table, x


def guards_of(f, *args, monkeypatch):
    """How many checks there are before loops, and at statements."""
    found, make = [], Guards.__init__

    def noting(self, sweep):
        make(self, sweep)
        found.append((sum(map(len, self.before.values())), sum(map(len, self.at.values()))))

    monkeypatch.setattr(Guards, "__init__", noting)
    nd.inspect_adjoint(f, *args)
    return found[-1]


def neighbours(x):
    total = 0.0
    for i in range(1, x.size - 1):
        total += x[i - 1] * x[i] * x[i + 1]
    for i in range(len(x) - 1, -1, -1):
        for j in range(i):
            total += x[j]
    return total


def made(x, n):
    y, z = np.zeros(n), np.empty((2, n))
    for i in range(n):
        y[i] = x[0] * i
    for i in range(n):
        z[1, i] = y[i]
    same = np.empty_like(y)
    for i in range(same.size):
        same[i] = z[-1, i] ** 2
    return same.sum()


def halves(x, n):
    u, v = x[:n], x[:n]
    total = u[n - 1]
    for i in range(1, n - 1):
        total += u[i] * v[i + 1]
    return total


@pytest.mark.parametrize(
    ("f", "args", "checks"),
    [
        (neighbours, (x,), (0, 0)),
        (made, (x, 3), (1, 0)),  # x[0], if n > 0
        (halves, (x, 3), (0, 1)),  # what the first has shown
        (squares, (x, 3), (1, 0)),
        (corner, (table, 3, 4), (2, 1)),
        (picked, (x, np.array([1])), (0, 1)),
        (along_flat, (table, 3), (1, 0)),
        (by_tuple, (table, (1, 1)), (0, 1)),
    ],
)
def test_what_the_code_shows_is_not_checked(f, args, checks, monkeypatch):
    assert guards_of(f, *args, monkeypatch=monkeypatch) == checks
