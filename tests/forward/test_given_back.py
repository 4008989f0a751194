"""Arrays of constant structures that come back from a call beside duals, and are written to."""

import numpy as np
import pytest
from numba import float64, njit
from numba.experimental import jitclass

import numbad as nd

W = np.array([1.5, 2.5, 3.5])


@jitclass([("w", float64[:])])
class Model:
    def __init__(self, w):
        self.w = w


@njit
def picked(x, w, flag):
    v = x * w if flag else w
    n = v.size
    return v[:n]


@njit
def of_a_model(x, model, flag):
    return picked(x, model.w, flag)


def written_to_the_result(x, model, flag):
    r = picked(x, model.w, flag)
    r[0] = 5.0
    return model.w[0] * x + r[1]


def written_to_the_field(x, model, flag):
    r = of_a_model(x, model, flag)
    model.w[0] = 5.0
    return r[0] * x + r[1]


def written_to_a_member(x, pair, flag):
    r = picked(x, pair[0], flag)
    pair[0][0] = 5.0
    return r[0] * x + r[1]


def read(x, model, flag):
    r = of_a_model(x, model, flag)
    return model.w[0] * x + r[1]


def of_a_copy(x, model, flag):
    r = picked(x, model.w.copy(), flag)
    r[0] = 5.0
    return model.w[0] * x + r[1]


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (written_to_the_result, lambda: Model(W.copy())),
        (written_to_the_field, lambda: Model(W.copy())),
    ],
)
def test_what_would_be_hidden_from_the_structure_is_refused(f, make):
    with pytest.raises(nd.UnsupportedError, match=r"(?s)r = .*Way out: give the call a copy"):
        nd.grad(f, mode="forward")(1.3, make(), False)


def test_arrays_in_a_tuple_that_is_given_are_duals_where_they_are_written_to():
    for mode in ("forward", "reverse"):
        pair = W.copy(), W.copy()
        assert nd.grad(written_to_a_member, mode=mode)(1.3, pair, False) == 5.0
        assert pair[0][0] == 5.0


@njit
def two_numbers(x, model, flag):
    first = model.w[0] if flag else x * x
    return first, model.w[1] * x


def counted(x, model, flag):
    """Numbers that come back share nothing."""
    first, second = two_numbers(x, model, False)
    model.w[2] += 1.0
    return second - first + (2 * x + flag) * x


@pytest.mark.parametrize("f", [read, of_a_copy, counted])
def test_what_is_read_alone_or_copied_is_taken(f):
    for flag in (False, True):
        slope = nd.grad(f, mode="forward")(1.3, Model(W.copy()), flag)
        expected = W[1] + 2 * 1.3 + flag if f is counted else W[0] + W[1] * flag
        assert slope == pytest.approx(expected)
