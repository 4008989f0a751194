"""Arrays of constants that meet arrays of dual numbers."""

import numpy as np
import pytest

import numbad as nd
from tests.forward.test_promote import WEIGHTS, X


def weighted(x, given=None):
    weights = np.ones_like(x) if given is None else given
    return (weights * x * x).sum()


def of_a_table(x, flag):
    weights = x * x if flag else WEIGHTS
    return (weights * x).sum()


def in_a_box(x, box=None):
    if box is None:
        box = np.zeros(3, dtype=x.dtype)
    return ((x - box) ** 2).sum()


def stepped(p, start, n):
    y = start
    for _ in range(n):
        y = y + p * y
    return y.sum()


def of_a_row(x, rows, k):
    row = x
    while k > 0:
        row = rows[k]
        k -= 1
    return (row * x).sum()


def largest_row(x, rows):
    """A merge of merges, in a loop."""
    best = rows[0]
    for row in rows:
        y = row * x
        if y.sum() > best.sum():
            best = y
    return best.sum()


ROWS = np.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (weighted, (X,), 2 * X),
        (weighted, (X, WEIGHTS), 2 * WEIGHTS * X),
        (of_a_table, (X, True), 3 * X**2),
        (of_a_table, (X, False), WEIGHTS),
        (in_a_box, (X, WEIGHTS), 2 * (X - WEIGHTS)),
        (stepped, (0.3, WEIGHTS, 4), 4 * 1.3**3 * 6.0),
        (stepped, (0.3, WEIGHTS[::2], 4), 4 * 1.3**3 * 4.0),
        (largest_row, (2.0, ROWS), ROWS[2].sum()),
        (of_a_row, (X, ROWS, 0), 2 * X),
        (of_a_row, (X, ROWS, 2), ROWS[1]),
    ],
)
def test_constants_that_meet_duals(f, args, expected):
    found = nd.grad(f, mode="forward")(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
