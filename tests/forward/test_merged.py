"""Arrays of constants that meet arrays of dual numbers."""

from collections import namedtuple

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


def swapped(p, n):
    """A global array at first, then one that the function writes to."""
    y, kept = WEIGHTS, np.zeros(3)
    for _ in range(n):
        y = p * y
        kept[:] = y
        y = kept
    return y.sum()


def of_a_list(a, c):
    total = 0.0
    for y in [c, np.array([1.0, a])]:
        total += y[0] * y[1] * a
    return total


def of_made_arrays(a):
    """The list is of constants; they are written to afterwards, and by way of the list."""
    u, v = np.ones(2), np.array([a, 1.0])
    parts = [u, v]
    u[0] = 3.0
    parts[0][1] = 5.0
    total = u[1] * a
    for k in range(2):
        total += parts[k][0] * a
    return total


def of_lists(a, c):
    rows = [[c, c * a], [c, np.ones(2)]]
    total = 0.0
    for i in range(2):
        for j in range(2):
            total += (rows[i][j] * rows[j][i]).sum()
    return total


def of_pairs(a, c):
    total = 0.0
    for u, v in [(c, np.array([a, 1.0])), (c, c)]:
        total += (u * v).sum()
    return total


@njit
def walked(parts, a):
    total = 0.0
    for y in parts:
        total += y[0] * y[1] * a
    return total


def walked_elsewhere(a, c):
    return walked((c, np.array([1.0, a])), a)


def counted(a, c):
    made = np.array([1.0, a])
    total = 0.0
    for k, y in enumerate((c, made)):
        total += k * y[1] * a
    for y, z in zip((c, made), (made, c)):  # noqa: B905  (Numba's has no `strict`)
        total += y[0] * z[1]
    return total + (made, c)[int(total) % 2][1]


def picked_beside(a, c):
    """Two lists in a reverse sweep, one of what the other makes constants of."""
    constant, differentiated = [c, c * 2.0], [np.ones(2) * a, c * a]
    total = 0.0
    for k in range(2):
        total += (constant[k] * differentiated[k]).sum() * a
    return total


def written_to(a, c):
    """A copy of `c` in the list would not see what is written to it."""
    parts = [c, np.array([a, a])]
    c[0] = 5.0
    return parts[0][0] * parts[1][0] * a


Pair = namedtuple("Pair", ["first", "second"])


def of_named_pairs(a, c):
    total = 0.0
    for pair in [Pair(c, 2.0), Pair(c * a, second=3.0)]:
        total += pair.first[0] * pair.second * a
    for pair in (Pair(1.0, 2.0), Pair(a, 3.0)):
        total += pair.first * pair.second
    return total


def of_choices(a, c):
    """Tuples that hold arrays where branches meet."""
    total = 0.0
    for k in range(3):
        chosen = (c, 2.0) if k == 1 else (c * a, 3.0)
        total += chosen[0][1] * chosen[1]
    return total


def of_joined_lists(a, c):
    parts = [c] * 2 + [c * a]
    parts[0] = np.array([a, 0.0])
    total = 0.0
    for part in parts:
        total += part[0] * a
    return total


def of_filled_list(a):
    """Numbers that are stored first are constants."""
    parts, more = [2.0] * 3, []
    for k in range(3):
        more.append(1.0)
    parts[1] = a
    more[2] = a
    return sum(parts) * a + sum(more) * a


def of_lists_in_a_tuple(a):
    total = 0.0
    for part in ([1.0, 2.0], [a, 3.0]):
        total += part[0] * part[1] * a
    return total


@njit
def _returned(a):
    if a < 1:
        return WEIGHTS
    return WEIGHTS * a


@njit
def _returned_in_tuples(a):
    if a < 1:
        return WEIGHTS * 1.0, Pair(WEIGHTS * 1.0, 2.0)
    return WEIGHTS * a, Pair(WEIGHTS * a, a)


@njit
def _stages(a, c):
    return c, c * a


@njit
def _made_stages(a):
    return np.ones(2), np.ones(2) * a


@njit
def _one_array_twice(a):
    made = np.ones(2)
    return made, made * a, made


def of_given_tuples(a, c):
    """Tuples that functions give, walked."""
    total = 0.0
    for y in _stages(a, c):
        total += y[1] * a
    pair, made = _stages(a, c), _made_stages(a)
    for k in range(2):
        made[k][0] = 3.0
        total += pair[k][0] * made[k][1]
    for y in _one_array_twice(a):
        total += y[0]
    return total


def of_given_tuples_written_to(a, c):
    pair, total = _stages(a, c), 0.0
    pair[0][1] = 5.0
    for y in pair:
        total += y[1] * a
    return total + c[1] * a


def of_results(a):
    """What several returns give, at one time a global array."""
    ones, (twos, n) = _returned_in_tuples(a)
    return _returned(a) @ ones + twos.sum() * n


def in_other_orders(a, m):
    """Lists that hold arrays of any layout, one that stands for another."""
    rows, columns, made = m.T, [m.T], [m * a]
    columns.append(np.outer(m[0], m[1]) * a)
    made.append(-rows)
    made[0] = rows**2
    return (columns[0] * columns[1]).sum() + (made[0] * made[1]).sum() * a


def in_one_order(a, m):
    """Of a list of arrays in Fortran's order."""
    parts = [m.T] * 2
    parts[1] = m.T * a
    clipped = [m.T, np.clip(m.T, a, 3.0)]
    clipped[0] = parts[1]
    return (parts[0] * clipped[0]).sum() * a + clipped[1].sum()


ROWS = np.arange(9.0).reshape(3, 3)
C = np.array([1.0, 2.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]])


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
        (swapped, (1.3, 3), 3 * 1.3**2 * WEIGHTS.sum()),
        (of_a_list, (1.3, C), 2 + 2 * 1.3),
        (of_made_arrays, (1.3,), 5 + 3 + 2 * 1.3),
        (of_lists, (1.3, C), 2 * (C @ C)),
        (of_pairs, (1.3, C), 1.0),
        (walked_elsewhere, (1.3, C), 2 + 2 * 1.3),
        (counted, (1.3, C), 2 * 1.3 + 2),
        (picked_beside, (1.3, C), (2 * C.sum() + 4 * (C @ C)) * 1.3),
        (of_named_pairs, (1.3, C), 2.0 + 6 * 1.3 + 3),
        (of_choices, (1.3, C), 12.0),
        (of_joined_lists, (1.3, C), 1.0 + 4 * 1.3),
        (of_filled_list, (1.3,), 4 + 2 + 4 * 1.3),
        (of_lists_in_a_tuple, (1.3,), 2.0 + 6 * 1.3),
        (written_to, (1.3, C.copy()), 5 * 2 * 1.3),
        (of_results, (0.3,), 0.0),
        (of_results, (1.3,), 2 * 1.3 * (WEIGHTS @ WEIGHTS + WEIGHTS.sum())),
        (of_given_tuples, (1.3, C), C[1] * (1 + 2 * 1.3) + 2 * C[0] * 1.3 + 1),
        (in_other_orders, (1.3, M), (M.T * np.outer(M[0], M[1])).sum() - (M**3).sum()),
        (in_one_order, (1.3, M), 2 * 1.3 * (M**2).sum() + 1),
    ],
)
def test_constants_that_meet_duals(f, args, expected):
    found = nd.grad(f, mode="forward")(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (swapped, (1.3, 3), 6 * 1.3 * WEIGHTS.sum()),
        (picked_beside, (1.3, C), 2 * C.sum() + 4 * (C @ C)),
        (walked_elsewhere, (1.3, C), 2.0),
        (of_joined_lists, (1.3, C), 4.0),
        (of_filled_list, (1.3,), 4.0),
        (of_lists_in_a_tuple, (1.3,), 6.0),
        (of_results, (1.3,), 2 * (WEIGHTS @ WEIGHTS + WEIGHTS.sum())),
        (in_one_order, (1.3, M), 2 * (M**2).sum()),
    ],
)
def test_constants_that_meet_duals_in_reverse_sweeps(f, args, expected):
    """Forward mode differentiates what reverse mode wrote."""
    found = nd.jacobian(nd.grad(f, mode="reverse"), mode="forward")(*args)
    assert found == pytest.approx(expected, rel=1e-14)


def test_an_argument_that_one_of_two_returns_gives_is_to_be_copied():
    """The caller may write to it, under either name."""

    @njit
    def inner(a, c):
        if a < 1:
            return c, 1.0
        return c * a, a

    def f(a, c):
        part, factor = inner(a, c)
        return part.sum() * factor

    with pytest.raises(nd.UnsupportedError, match=r"def inner[^$]*return y0.copy\(\) in place of"):
        nd.grad(f, mode="forward")(1.3, C)
    assert nd.grad(f, mode="reverse")(1.3, C) == pytest.approx(2 * 1.3 * C.sum())


def test_a_given_tuple_that_is_written_to_and_walked_is_refused():
    """A copy of its constants in duals would hide from them what is written."""
    with pytest.raises(
        nd.UnsupportedError, match="do not write to the arrays of a tuple that is walked"
    ):
        nd.grad(of_given_tuples_written_to, mode="forward")(1.3, C.copy())
    found = nd.grad(of_given_tuples_written_to, mode="reverse")(1.3, C.copy())
    assert found == pytest.approx(5 + 2 * C[1] * 1.3 + 5)


def test_arrays_of_a_given_tuple_that_are_written_to_in_a_list():
    """They are duals, as the other items are."""

    def f(a, pair):
        parts = [pair[0]]
        parts.append(pair[1] * a)
        parts[0][0] = 3.0
        return pair[0][0] * a * parts[1].sum()

    for mode in ("forward", "reverse"):
        pair = C.copy(), C.copy()
        assert nd.grad(f, mode=mode)(1.3, pair) == pytest.approx(3 * 2 * 1.3 * C.sum())
        np.testing.assert_array_equal(pair, ([3.0, *C[1:]], C))


@njit
def made_of_a_sum(c, way):
    total = 0.0
    for x in c:
        total += x
    made = np.array([total, 1.0])
    if way == 1:
        made = np.array([2 * total, 1.0])
    elif way == 2:
        made = np.full(2, total)
    elif way == 3:
        made = np.ones(2) * total
    return made.sum()


@njit
def given_by_one_of_two_returns(c, way):
    total = 0.0
    for x in c:
        total += x
    if way > 0:
        return np.array([2 * total, 1.0])
    return np.array([total, 1.0])


def test_arrays_made_of_a_sum_in_several_places():
    """What the sum begins with is a constant, and so are the arrays that inference meets first."""
    x = np.array([0.3, 0.4])
    for way, slope in enumerate((1.0, 2.0, 2.0, 2.0)):
        assert nd.grad(made_of_a_sum, mode="forward")(x, way).tolist() == [slope, slope]

    def sums(c, way):
        return given_by_one_of_two_returns(c, way).sum()

    for way, slope in ((0, 1.0), (1, 2.0)):
        assert nd.grad(sums, mode="forward")(x, way).tolist() == [slope, slope]
