"""Which indices are known not to be negative, and derivatives where they are not."""

import numpy as np
import pytest
from numba import njit

from numbad.ir.capture import capture
from numbad.ir.loops import Control
from numbad.ir.normalize import normalize
from numbad.reverse import switches
from numbad.reverse.activity import Activity
from numbad.reverse.plan import Plan
from tests.reverse.oracle import Programs, check_gradient

X = np.array([0.5, -1.25, 0.75, 1.5, -0.3, 0.9])
PART = X[1:5]

programs = Programs()
known = {}  # name -> what is known of the index of each read of x, in order


def reads(*answers):
    def mark(f):
        known[f.__name__] = list(answers)
        return programs.on((X, 1), (X, 2))(f)

    return mark


@reads(True)
def counted_on(x, step):
    y = 0.5
    at = 0
    for _ in range(2):
        for _ in range(3):
            y = y * x[at] + 1.0
            at += 1
    return y


@reads(False)
def counted_from_below(x, step):
    y = 0.5
    at = -6
    for _ in range(2):
        for _ in range(3):
            y = y * x[at] + 1.0
            at += 1
    return y


@reads(False)
def counted_down(x, step):
    y = 0.5
    at = 2
    for _ in range(2):
        for _ in range(3):
            y = y * x[at] + 1.0
            at -= 1
    return y


@reads(False)
def set_back(x, step):
    y = 0.5
    at = 0
    for k in range(6):
        y = y * x[at] + 1.0
        at += 1
        if k == 2:
            at = -2
    return y


@reads(False)
def stepped_by_the_caller(x, step):
    y = 0.5
    at = 0
    for k in range(5):
        y = y * x[at] + 1.0
        at = (at + 1) * (1 - step)
        at = max(at, -3)
    return y


@reads(True, True, True, True)
def of_sizes(x, step):
    y = 0.5
    n = x.shape[0]
    half = n // 2
    for k in range(half):
        y = y * x[half + k] + x[(k + n) % 4]
        y = y * x[k * 2] + x[x.size % (k + 1)]
    return y


@reads(True, False, True, False)
def neighbours(x, step):
    y = 0.5
    for k in range(1, x.size):
        y = y * x[k - 1] + x[k - 2]
    for k in range(2, x.size - 1, 2):
        y = y * x[k - 2] + x[k - 3]
    return y


@reads(True, False, False)
def downward(x, step):
    y = 0.5
    for k in range(x.size - 1, -1, -1):
        y = y * x[k] + 1.0
    for k in range(2, -3, -1):
        y = y * x[k] + 1.0
    for k in range(2, -1, -step):
        y = y * x[k] + 1.0
    return y


M = np.array([[0.4, -0.8, 1.1], [0.9, 0.3, -0.6]])


@programs.on((M, 0.3))
def tuples(m, c):
    s = c
    for where in np.ndindex(2, 3):
        s = s * 0.5 + m[where] * s
    for i in range(2):
        where = (i, -1 - i)
        s = s * 0.5 + m[where] * s
    return s


def plan_of(f):
    fn = capture(njit(f), _signature(f))
    normalize(fn)
    activity = Activity(fn, [("x", ())], [])
    return fn, Plan(fn, activity, Control(fn))


def _signature(f):
    function = njit(f)
    function(X, 1)
    return function.signatures[0]


@pytest.mark.parametrize("name", known)
def test_which_are_known(name):
    (program,) = [p for p in programs if p.f.__name__ == name]
    fn, plan = plan_of(program.f)
    array = fn.parameters[0]
    found = [
        plan.is_natural(s.value.index)
        for _, s in sorted(fn.statements(), key=lambda each: each[0])
        if getattr(getattr(s, "value", None), "op", "") == "getitem" and s.value.value.name == array
    ]
    assert found == known[name]


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_gradient_without(program):
    with switches.without("unsigned"):
        check_gradient(program)
