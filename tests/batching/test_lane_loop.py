"""Loops over points in lanes, within `nd.vector_math()`: values and gradients, and which loops stay."""

import math
import threading
from copy import deepcopy

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd
from numbad.batching.lane_loop import LaneLoops, lane_loop
from numbad.elementary.option import asked_as
from numbad.reverse.switches import without

from . import integer_loops, staying_loops, writing_loops  # noqa: F401  (they list their programs)
from .lane_programs import FIRST, REST, P, X, Y
from .point_loops import elements, neighbours


def _in_lanes(build, taken):
    """What is built as within `nd.vector_math()`; `taken` gets the loops that go in lanes."""

    def counted(*given, **named):
        found = lane_loop(*given, **named)
        taken.extend([found] if found is not None else [])
        return found

    with asked_as(LaneLoops(counted)):
        return build()


def _leaves(tree):
    if isinstance(tree, tuple | list):
        return [leaf for member in tree for leaf in _leaves(member)]
    return [np.asarray(tree, dtype=float)]


def _check(f, args, argnums, loops):
    taken = []
    operator = _in_lanes(lambda: nd.value_and_grad(f, argnums, mode="reverse"), taken)
    value, gradient = operator(*deepcopy(args))
    assert len(taken) == loops
    expected, wanted = nd.value_and_grad(f, argnums, mode="forward")(*deepcopy(args))
    assert value == pytest.approx(expected, rel=1e-13)
    for found, right in zip(_leaves(gradient), _leaves(wanted), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-11, atol=1e-13)


def _named(programs):
    return [pytest.param(*each, id=each[0].__name__) for each in programs]


@pytest.mark.parametrize(("f", "args", "argnums", "loops"), _named(FIRST))
def test_gradients(f, args, argnums, loops):
    _check(f, args, argnums, loops)


@pytest.mark.dear
@pytest.mark.parametrize(("f", "args", "argnums", "loops"), _named(REST))
def test_more_gradients(f, args, argnums, loops):
    _check(f, args, argnums, loops)


def test_the_value_has_the_bits_of_the_loop():
    """Of what an iteration adds to once, by the same elementary functions."""
    with nd.vector_math():
        in_lanes = nd.value_and_grad(elements, mode="reverse")
        value, _ = in_lanes(P, X, Y)
    with without("lane_loops"), nd.vector_math():
        expected, _ = nd.value_and_grad(elements, mode="reverse")(P, X, Y)
    assert value == expected


def test_an_index_beyond_the_end_is_told():
    def beyond(p, y):
        total = 0.0
        for i in range(len(y) + 3):
            total += math.exp(p[0] * y[i])
        return total

    with nd.vector_math():
        gradient = nd.grad(beyond, mode="reverse")
    with pytest.raises(IndexError, match="out of bounds for axis 0 of 'y'"):
        gradient(P, Y)


def test_a_group_that_is_not_there_is_told():
    def grouped(p, k):
        total = 0.0
        for i in range(len(k)):
            total += math.exp(p[k[i]])
        return total

    with nd.vector_math():
        gradient = nd.grad(grouped, mode="reverse")
    with pytest.raises(IndexError, match="out of bounds"):
        gradient(P, np.array([0, 1, 3]))


def test_a_division_by_zero_is_told_as_in_the_loop():
    def divided(p, y):
        total = 0.0
        for i in range(len(y)):
            total += math.exp(p[0] / (i - 5.0))
        return total

    with nd.vector_math():
        gradient = nd.grad(divided, mode="reverse")
    with pytest.raises(ZeroDivisionError):
        gradient(P, Y)


def test_such_loops_are_reversed_by_a_few_numbers_as_well():
    def misfit(a, b, y):
        total = 0.0
        for i in range(len(y)):
            total += (y[i] - math.exp(a * y[i] + b)) ** 2
        return total

    def plain(a, b):
        return math.exp(a) * b

    taken = []
    gradient = _in_lanes(lambda: nd.grad(misfit, (0, 1)), taken)
    wanted = nd.grad(misfit, (0, 1), mode="forward")(0.2, 0.1, Y)
    np.testing.assert_allclose(gradient(0.2, 0.1, Y), wanted, rtol=1e-12)
    assert len(taken) == 1
    with nd.vector_math():
        assert nd.grad(plain, (0, 1))(0.0, 2.0) == (2.0, 1.0)


def test_pieces_of_a_parallel_loop():
    @njit(parallel=True)
    def summed(p, y):
        total = 0.0
        for i in prange(len(y)):
            total += math.log(1 + math.exp(p[0] + p[1] * y[i]))
        return total

    taken = []
    gradient = _in_lanes(lambda: nd.grad(summed, (0, 1), mode="reverse"), taken)
    by_p, by_y = _in_lanes(lambda: gradient(P, Y), taken)
    slope = 1 / (1 + np.exp(-P[0] - P[1] * Y))
    np.testing.assert_allclose(by_p, [slope.sum(), slope @ Y, 0.0], rtol=1e-12)
    np.testing.assert_allclose(by_y, P[1] * slope, rtol=1e-12)
    assert len(taken) == 1


def test_threads():
    found = [None] * 4
    with nd.vector_math():
        gradient = nd.grad(neighbours, mode="reverse")

    def work(k):
        found[k] = gradient((k + 1) * P, Y)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = nd.grad(neighbours, mode="forward")
    for k in range(4):
        np.testing.assert_allclose(found[k], wanted((k + 1) * P, Y), rtol=1e-11)


def test_the_listing_tells():
    with nd.vector_math():
        listing = nd.inspect_adjoint(elements, P, X, Y)
    assert "in lanes  with the forward sweep" in listing
    assert "in lanes" not in nd.inspect_adjoint(elements, P, X, Y)


def test_second_derivatives_are_taken_in_the_loop():
    with nd.vector_math():
        found = nd.hessian(neighbours)(P, Y)
    np.testing.assert_allclose(found, nd.hessian(neighbours)(P, Y), rtol=1e-10, atol=1e-12)
