"""Sums of small terms that are reversed as they are added: nests of loops, and what only looks like one."""

import copy

import numpy as np
import pytest
from numba import njit
from numba.core import ir

from numbad.reverse import pipeline, switches
from numbad.reverse.loops.fused import Fused
from tests.reverse.oracle import Programs, check_gradient, check_second_order

X = np.array([0.5, -1.25, 0.75, 1.5, -0.3])
Y = np.array([1.5, 0.25, -0.5, 0.875, 2.0])
M = np.array([[0.4, -0.8, 1.1], [0.9, 0.3, -0.6], [-1.2, 0.7, 0.2], [0.1, 0.6, -0.4]])
N = np.array([[1.4, 0.8, -0.1, 0.5], [0.2, -0.3, 0.6, 1.5], [0.2, 0.9, -1.2, 0.3]])

programs = Programs()
depths = {}  # name -> how many loops are reversed as one


def nested(depth, *runs):
    def mark(f):
        depths[f.__name__] = depth
        return programs.on(*runs)(f)

    return mark


@nested(2, (M, N), (M[:0], N[:, :0]), (M[:1], N[:, :1]))
def trace(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, i]
    return total


@nested(1, (X, Y), (X[:0], Y[:0]), (X[:1], Y[:1]))
def dot(x, y):
    total = 0.5
    for k in range(x.size):
        total += x[k] * y[k]
    return -2.0 * total


@nested(3, (M, X, 0.7))
def three_loops(m, x, c):
    total = c
    for i in range(m.shape[0]):
        for j in range(i, x.size):
            for k in range(m.shape[1] - 1, -1, -1):
                total -= m[i, k] * x[(i + j + k) % 5]
    return total * c


@nested(2, (M, X), (-M, X))
def branches(m, x):
    total = 0.0
    for i in range(m.shape[0]):
        if x[i] > 0.0:
            for k in range(m.shape[1]):
                if m[i, k] > 0.3:
                    total += m[i, k] * x[k + 1]
                elif m[i, k] > -0.5:
                    total -= m[i, k]
    return total


@nested(2, (M,))
def rows(m):
    total = 0.0
    for row in m:
        for value in row:
            total += value * value
    return total


@nested(0, (M, X))
def loop_left_between_terms(m, x):
    total = 0.0
    for i in range(m.shape[0]):
        for k in range(m.shape[1]):
            if k > i:
                break
            total += m[i, k] * x[-1 - k]
    return total


@nested(0, (M, X))
def terms_outside_of_the_innermost(m, x):
    total = 0.0
    for i in range(m.shape[0]):
        for k in range(m.shape[1]):
            total += m[i, k] * m[i, k]
        total += x[i] * x[i + 1]
    return total


@nested(0, (M,))
def sums_of_sums(m):
    total = 0.0
    for i in range(m.shape[0]):
        part = 0.0
        for k in range(m.shape[1]):
            part += m[i, k] * m[i, k]
        total += part * m[i, 0]
    return total


@nested(0, (M,))
def two_inner_loops(m):
    total = 0.0
    for i in range(m.shape[0]):
        for k in range(m.shape[1]):
            total += m[i, k] * m[i, k]
        for k in range(m.shape[1]):
            total += m[i, k] * m[0, k]
    return total


@nested(0, (M, X))
def factor_of_a_row(m, x):
    total = 0.0
    for i in range(m.shape[0]):
        for k in range(m.shape[1]):
            total += x[i] * m[i, k]
    return total


@nested(0, (X,))
def adjoint_that_is_known_later(x):
    total = 0.0
    for k in range(x.size):
        total += x[k] * x[k]
    return total * total


@nested(0, (X,))
def read_again_when_overwritten(x):
    total = 0.0
    for k in range(x.size):
        total += x[k] * x[k]
    for k in range(x.size):
        x[k] = x[k] * 2.0
    return total


@nested(0, (X, Y))
def large_terms(x, y):
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k] + x[k] * x[k] * y[k] + y[k] * y[k]
    return total


by_name = {program.f.__name__: program for program in programs}


@pytest.mark.deep(
    but=[
        "branches",
        "read_again_when_overwritten",
        "large_terms",
        "rows",
        "loop_left_between_terms",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


@pytest.mark.deep
@programs.parametrize()
def test_gradient_without(program):
    with switches.without("fused"):
        check_gradient(program)


def fused(name):
    """The numbers of loops that are reversed as one."""
    function, program = njit(by_name[name].f), by_name[name]
    function(*copy.deepcopy(program.runs[0]))
    made = pipeline.Pipeline(function, function.signatures[0], program.wrt)
    made.run(ir.Scope(None, ir.unknown_loc))
    return [len(part.loops) for part in made.sweep.parts() if isinstance(part, Fused)]


@pytest.mark.shows("fused", "seeded", "independent")
@pytest.mark.parametrize("name", depths)
def test_loops_are_told_apart(name):
    assert fused(name) == ([depths[name]] if depths[name] else [])


@pytest.mark.parametrize("switch", ["fused", "seeded", "independent"])
def test_switches(switch):
    with switches.without(switch):
        assert fused("trace") == []
