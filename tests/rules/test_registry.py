import cmath
import math
import operator

import numpy as np
import pytest
from numba import njit

from numbad.errors import RuleError
from numbad.rules import (
    CONSTANT,
    NON_HOLOMORPHIC,
    SCALAR,
    STRUCTURAL,
    Apply,
    Arg,
    find,
    scalar_rule,
)

x, y = Arg(0), Arg(1)


def test_scalar_rule_is_found_and_announced(function, heard):
    scalar_rule(function, lambda ans, x, y: (y, x))
    assert [partial is arg for partial, arg in zip(find(function).trace(2), (y, x), strict=True)]
    assert heard == [function]


def test_trace_is_made_once(function):
    scalar_rule(function, lambda ans, x, y: (y, x))
    assert find(function).trace(2) is find(function).trace(2)


def test_a_bare_expression_will_do_for_one_argument():
    @njit
    def double(x):
        return x + x

    scalar_rule(double, lambda ans, x: 2)
    assert SCALAR.pop(double).trace(1)[0].value == 2


def test_literals_are_bound_by_position_and_type():
    power = find(operator.pow)
    assert power.trace(2, {1: 2})[0] is 2 * x
    assert power.trace(2, {1: 2.0})[0] is not power.trace(2, {1: 2})[0]


def test_complex_partials_call_functions_of_complex_numbers():
    assert find(cmath.sin).trace(1, kind="complex")[0] is Apply(np.cos, (x,))
    assert find(math.sin).trace(1)[0] is Apply(math.cos, (x,))


@pytest.mark.parametrize("fn", [*NON_HOLOMORPHIC])
def test_what_is_not_holomorphic_says_so(fn):
    with pytest.raises(RuleError, match="not holomorphic"):
        find(fn).trace(1, kind="complex")


def test_the_logarithm_to_a_base_takes_one_or_two_arguments():
    assert len(find(cmath.log).trace(1, kind="complex")) == 1
    assert len(find(cmath.log).trace(2, kind="complex")) == 2
    with pytest.raises(RuleError, match="do not take 3"):
        find(cmath.log).trace(3)


def test_the_tables_do_not_contradict_each_other():
    assert not SCALAR.keys() & CONSTANT
    assert not SCALAR.keys() & STRUCTURAL.keys()
    assert not CONSTANT & STRUCTURAL.keys()
    assert NON_HOLOMORPHIC.keys() <= SCALAR.keys()
    assert all(callable(fn) for fn in (*SCALAR, *CONSTANT, *STRUCTURAL))
