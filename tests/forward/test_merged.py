"""Arrays of constants that meet arrays of dual numbers."""

import numpy as np
import pytest
from numba import njit

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


@njit
def slopes(y, p, out):
    for i in range(len(y)):
        out[i] = 3 * y[i] ** 2 + p
    return out


def by_newton(p, start, n):
    """`y**3 + p*y = 1`; what comes round the loop has no type before both merges have one."""
    y = start
    work = np.empty(3)
    for _ in range(n):
        work = slopes(y, p, work)
        y = y - (y**3 + p * y - 1) / work
    return y.sum()


def newton_slope(p):
    y = np.roots([1.0, 0.0, p, -1.0])
    y = y[abs(y.imag) < 1e-12].real[0]
    return -3 * y / (3 * y**2 + p)


def sums(x):
    """Numbers that are constants at first: inference takes the array for one of constants."""
    s, t = 0.0, 1
    for value in x:
        s += value * value
        if s > 1.0:
            t = 2 * s
    made = np.array([s, 3.0 * s])
    return made.sum() + np.array([[float(t), s], [s, 1.0]]).sum()


def complex_sums(x):
    s = 0j
    for value in x:
        s += value * (1 + 2j)
        parts = np.array((s, 2 * s))
    return (parts.sum() * s).imag


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
        (by_newton, (0.7, WEIGHTS, 12), newton_slope(0.7)),
        (sums, (X,), 16 * X),
        (complex_sums, (X,), np.full(3, 24 * X.sum())),
        (largest_row, (2.0, ROWS), ROWS[2].sum()),
        (of_a_row, (X, ROWS, 0), 2 * X),
        (of_a_row, (X, ROWS, 2), ROWS[1]),
    ],
)
def test_constants_that_meet_duals(f, args, expected):
    found = nd.grad(f, mode="forward")(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
