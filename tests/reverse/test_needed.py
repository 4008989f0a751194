"""Iterations that are run again: what of them the reverse has no need of is left out, and nothing else."""

import copy
import math

import numpy as np
import pytest
from numba import njit
from numba.core import ir

from numbad.reverse import pipeline, switches
from tests.reverse.oracle import Programs, check_gradient, check_second_order

Y = np.array([0.5, -0.25, 0.75, 0.4, -0.3])

programs = Programs()
passed = {}  # name -> how many inner loops are not run again


def passes(count, *runs):
    def mark(f):
        passed[f.__name__] = count
        return programs.on(*runs)(f)

    return mark


@passes(2, (Y, 0.3, 3), (Y, 0.3, 0))
def last_stage_is_linear(y0, c, steps):
    n = y0.size
    y = y0.copy()
    k = np.zeros(n)
    new = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            k[i] = y[i] * y[i] * c
        for i in range(n):
            new[i] = k[i] * y[i]
        for i in range(n):
            y[i] = y[i] + 0.25 * new[i]
    return y[0] * y[1] + y[2] * y[3]


@passes(1, (Y, 0.3, 3))
def last_stage_is_read(y0, c, steps):
    n = y0.size
    y = y0.copy()
    k = np.zeros(n)
    new = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            k[i] = y[i] * y[i] * c
        for i in range(n):
            new[i] = math.sin(k[i]) * y[i]
        for i in range(n):
            y[i] = y[i] + c * new[i] * k[i]
    return y[0] * y[1] + y[2] * y[3]


@passes(0, (Y, 0.3, 3), (-Y, 0.7, 2))
def condition_in_the_last_stage(y0, c, steps):
    n = y0.size
    y = y0.copy()
    k = np.zeros(n)
    new = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            k[i] = y[i] * y[i] * c
        for i in range(n):
            new[i] = math.sin(k[i]) * y[i]
        for i in range(n):
            if new[i] > 0.05:
                y[i] = y[i] + c * new[i]
            else:
                y[i] = y[i] * c - k[i]
    return y[0] * y[1] + y[2] * y[3]


@passes(1, (Y, 0.3, 3))
def number_of_a_stage_is_read(y0, c, steps):
    n = y0.size
    y = y0.copy()
    k = np.zeros(n)
    new = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            k[i] = y[i] * y[i] * c
        largest = 0.0
        for i in range(n):
            new[i] = math.sin(k[i]) * y[i]
            if new[i] > largest:
                largest = new[i]
        for i in range(n):
            y[i] = y[i] + largest * new[i]
    return y[0] * y[1] + y[2] * y[3]


@passes(1, (Y, 0.3, 3))
def views_of_stages(y0, c, steps):
    n = y0.size
    y = y0.copy()
    k = np.zeros(2 * n)
    for _ in range(steps):
        head = k[:n]
        tail = k[n:]
        for i in range(n):
            head[i] = y[i] * y[i] * c
        for i in range(n):
            tail[i] = math.sin(head[i]) * y[i]
        for i in range(n):
            y[i] = y[i] + c * k[n + i]
    return y[0] * y[1] + y[2] * y[3]


by_name = {program.f.__name__: program for program in programs}


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_gradient_without(program):
    with switches.without("needed"):
        check_gradient(program)


def test_second_order():
    check_second_order(by_name["last_stage_is_linear"])


def not_run_again(name):
    """How many inner loops of the steps are left out when these are run again."""
    function, program = njit(by_name[name].f), by_name[name]
    function(*copy.deepcopy(program.runs[0]))
    made = pipeline.Pipeline(function, function.signatures[0], program.wrt)
    made.run(ir.Scope(None, ir.unknown_loc))
    (part,) = [part for part in made.sweep.parts() if getattr(part, "needed", None)]
    return len(part.needed.passed)


@pytest.mark.shows("needed", "replay", "counted")
@pytest.mark.parametrize("name", passed)
def test_loops_that_are_left_out(name):
    assert not_run_again(name) == passed[name]
