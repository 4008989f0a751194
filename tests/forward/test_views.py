"""Arrays of duals without memory of their own, on the CPU."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import numbad as nd
from numbad.errors import UnsupportedError
from numbad.forward.access import partial
from numbad.forward.dualize import dualized
from numbad.forward.views import seeded, shadowed, written


@njit
def rows_and_sums(x, y):
    """s = sum_ij x_ij^2 x_i,-1 by rows; y_i = s x_i0 on the way."""
    s = 0.0
    for i in range(x.shape[0]):
        row = x[i]
        for j in range(len(row)):
            s += row[j] ** 2 * x[i, -1]
        y[i] = s * row[0]
    return s


ROWS_AND_SUMS = dualized(rows_and_sums)


@njit
def four_partials(x, first, y, J):
    r = ROWS_AND_SUMS(seeded(x, first, 4, 0), shadowed(y, J, first, 4, 0))
    return partial(r, 0), partial(r, 1), partial(r, 2), partial(r, 3)


def complex_step(x, k):
    moved = x.astype(complex)
    moved.flat[k] += 1e-30j
    y = np.zeros(x.shape[0], complex)
    s = rows_and_sums.py_func(moved, y)
    return s.imag * 1e30, y.imag * 1e30


@pytest.mark.parametrize("order", ["C", "F"])
def test_partials_by_elements_from_a_number_on(order):
    x = np.asarray(np.arange(1.0, 7.0).reshape(2, 3), order=order)
    y, J = np.full(2, 7.0), np.full((2, 6), 7.0)
    found = [four_partials(x, 0, y, J), four_partials(x, 4, y, J)]
    by_s, by_y = zip(*(complex_step(x, k) for k in range(6)), strict=True)
    np.testing.assert_allclose(np.hstack(found), [*by_s, 0.0, 0.0], rtol=1e-14)
    np.testing.assert_allclose(J, np.transpose(by_y), rtol=1e-14)
    expected = np.zeros(2)
    rows_and_sums.py_func(x, expected)
    np.testing.assert_array_equal(y, expected)


@njit
def in_place(x):
    for i in range(1, x.size):
        x[i] = x[i - 1] * x[i]
    x[0] = 3.0
    return x[x.size - 1]


IN_PLACE = dualized(in_place)


@njit
def along(x, v):
    return partial(IN_PLACE(shadowed(x, v, 0, 1, 0)), 0)


def test_what_is_written_goes_to_values_and_partials():
    x, v = np.array([2.0, 3.0, 5.0]), np.array([1.0, 0.0, 2.0])
    assert along(x, v) == 1.0 * 15.0 + 2.0 * 6.0
    np.testing.assert_array_equal(x, [3.0, 6.0, 30.0])
    np.testing.assert_array_equal(v, [0.0, 3.0, 27.0])  # a constant has no partial


SQUARES = dualized(njit(lambda x: x * x))
STOPPED = dualized(njit(lambda x: nd.stop_gradient(x)[0]))
READ = dualized(njit(lambda x: x[0] + 1.0))
SLICED = dualized(njit(lambda x: x[1:][0]))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: SQUARES(seeded(x, 0, 2, 0)),
        lambda x: STOPPED(seeded(x, 0, 2, 0)),
        lambda x: SLICED(seeded(x, 0, 2, 0)),
        lambda x: IN_PLACE(seeded(x, 0, 2, 0)),
        lambda x: READ(written(x, x, 0, 1, 0)),
    ],
    ids=["whole array", "stop_gradient", "slice", "written seeds", "read result"],
)
def test_what_a_view_does_not_know_is_refused(use):
    with pytest.raises((TypingError, UnsupportedError), match="cannot differentiate"):
        njit(use)(np.ones(3))
