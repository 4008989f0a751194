"""Instances that a function changes: once, as it does itself."""

import pytest
from numba import njit

import numbad as nd
from tests.operators.test_by_instance import MODES, parts, spring


@njit
def steps(s, x):
    return s.asked(x) + s.asked(x)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", MODES)
def test_what_the_function_changes_is_changed_once(mode):
    expected, used = spring(), spring()
    value = steps(expected, 1.5)
    got, gradient = nd.value_and_grad(steps, mode=mode)(used, 1.5)
    assert got == value
    assert parts(used) == parts(expected)
    # 2 k e + w0' w1 x + 4 k e + w0'' w1 x, with e = (x - rest)^2 / 2
    assert parts(gradient) == [3.0, -12.0, 0, 9.0, 7.5]


def test_an_instance_that_is_changed_is_given_once():
    gradient = nd.grad(njit(lambda s, t: s.asked(1.5) * t.k), mode="reverse")
    s = spring()
    with pytest.raises(nd.ArgumentError, match="the same instance is given twice"):
        gradient(s, s)
    assert parts(s) == parts(spring())
    assert gradient(s, spring()).k == 2.0  # 2 k t.k / 2, t.k being 2
