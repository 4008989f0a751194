"""What a loop has read and does not write again is read in the array once more, not recorded."""

import numpy as np
import pytest

from numbad.reverse import switches
from numbad.reverse.loops.stencils import Stencil
from tests.reverse.oracle import Programs, check_gradient, check_second_order
from tests.reverse.stages import sweep_of

X = np.array([0.5, -1.25, 0.75, 1.5, -0.3])
M = np.array([[0.4, -0.8, 1.1], [0.9, 0.3, -0.6], [-1.2, 0.7, 0.2], [0.1, 0.6, -0.4]])

programs = Programs()
spared = {}  # name -> whether the loops need record nothing


def recording(nothing, *runs):
    def mark(f):
        spared[f.__name__] = nothing
        return programs.on(*runs)(f)

    return mark


@recording(True, (X, 0.7), (X[:1], 0.7))
def a_tree_of_rows(x, p):
    n = x.size - 1
    v = np.empty((n + 1, n + 1))
    v[n] = x
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[i, j] = p * v[i + 1, j + 1] * v[i + 1, j]
    return v[0, 0] * p


@recording(True, (X, 0.7, 4), (X, 0.7, 0))
def a_recurrence(x, p, n):
    a = np.ones(n + 2)
    a[0] = x[0]
    for i in range(2, n + 2):
        a[i] = a[i - 1] * a[i - 2] + x[i - 2] * p
    return a[n] * a[n + 1]


@recording(True, (M, 0.7), (M.T, 0.7))
def steps_in_rows_of_an_argument(m, p):
    for i in range(1, m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] = m[i - 1, j] * m[i - 1, j] * p + m[i, j]
    return m[-1, 0] * m[-1, 1] * m[0, 0]


@recording(True, (X, 0.7))
def odd_from_even(x, p):
    """The step is two, the distance one: no store meets a load."""
    for i in range(0, x.size - 1, 2):
        x[i + 1] = x[i] * x[i] * p
    return x[1] * x[3] * x[0]


@recording(False, (X, 0.7))
def against_the_direction(x, p):
    for i in range(x.size - 1):
        x[i] = x[i + 1] * x[i + 1] * p  # what is read is written one iteration later
    return x[0] * x[1] * x[3]


@recording(False, (X, 0.7))
def in_its_own_place(x, p):
    for i in range(x.size):
        x[i] = x[i] * x[i] * p
    return x[0] * x[3]


@recording(False, (X, 0.7))
def round_the_end(x, p):
    """The first iteration reads the last element, which the last one writes."""
    for i in range(x.size):
        x[i] = x[i - 1] * x[i - 1] * p + x[i]
    return x[0] * x[4]


@recording(False, (X, 0.7, 2))
def more_than_once(x, p, n):
    for _ in range(n):
        for i in range(1, x.size):
            x[i] = x[i - 1] * x[i - 1] * p
    return x[4] * x[2]


@recording(False, (X, 0.7))
def written_by_another_loop(x, p):
    for i in range(1, x.size):
        x[i] = x[i - 1] * x[i - 1] * p
    y = x[4] * x[2]
    for i in range(x.size):
        x[i] = y
    return x[1] * y


@recording(False, (X, 0.7))
def by_two_indices(x, p):
    k = x.size - 1
    for i in range(1, x.size):
        x[i] = x[k] * x[i - 1] * p
        k -= 1
    return x[4] * x[2]


@recording(False, (M, 0.7))
def another_view_of_it(m, p):
    turned = m.T
    for i in range(1, 3):
        for j in range(3):
            turned[i, j] = m[i - 1, j] * m[i - 1, j] * p
    return m[1, 2] * m[2, 1] * m[0, 1] * m[1, 1]


@programs.on((M, 0.7, np.ones(3)))
def rows_as_a_whole(m, p, x):
    for i in range(1, m.shape[0]):
        m[i] = p * m[i - 1] * m[i] + x * m[i - 1, ::-1]
    return m[3].sum() * m[2, 1]


@programs.on((M, 0.7, 3))
def steps_of_stages_in_one_array(m, p, n):
    """Each step has a row to write to: the whole array is not kept for each of them."""
    k = np.empty(m.shape[1])
    for i in range(n):
        for j in range(k.size):
            k[j] = m[i, j] * m[i, j - 1] * p
        for j in range(k.size):
            m[i + 1, j] = m[i, j] + k[j] * k[j - 1] + np.sin(k[j] * m[i, j])
    return m[n, 0] * m[n, 1]


@programs.on((M, 0.7, 3))
def columns(m, p, n):
    for j in range(1, m.shape[1]):
        for i in range(n):
            m[i, j] = m[i, j - 1] * m[i + 1, j - 1] * p
    return m[0, 2] * m[1, 2]


@pytest.mark.deep(
    but=[
        "a_recurrence",
        "odd_from_even",
        "round_the_end",
        "against_the_direction",
        "in_its_own_place",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


def frames(program):
    return sum(map(len, sweep_of(program.f, program).plan.frames.values()))


@pytest.mark.dear
@pytest.mark.shows("counted")
@pytest.mark.parametrize("name", spared)
def test_what_is_recorded(name):
    (program,) = (p for p in programs if p.f.__name__ == name)
    assert (frames(program) == 0) == spared[name]


@pytest.mark.shows("stencils")
def test_rows_are_added_to_as_a_whole():
    (program,) = (p for p in programs if p.f is a_tree_of_rows)
    assert sweep_of(program.f, program).found(Stencil)
    with switches.without("stencils"):
        assert not sweep_of(program.f, program).found(Stencil)


@pytest.mark.shows("replay")
def test_no_state_is_kept_of_which_a_step_writes_a_part():
    (program,) = (p for p in programs if p.f is steps_of_stages_in_one_array)
    assert not sweep_of(program.f, program).control.regions
