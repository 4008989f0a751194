import cmath
import math
import operator
from functools import partial

import numpy as np
import pytest
from numba import njit

from numbad.errors import NumbadError, RuleError
from numbad.rules import (
    CONSTANT,
    JVP,
    NON_HOLOMORPHIC,
    SCALAR,
    STRUCTURAL,
    VJP,
    Apply,
    Arg,
    find,
    on_register,
    rule,
    scalar_rule,
)

x, y = Arg(0), Arg(1)


@pytest.fixture
def function():
    """A function of two numbers, its rules forgotten afterwards."""

    @njit
    def product(x, y):
        return x * y

    yield product
    for table in (SCALAR, JVP, VJP):
        table.pop(product, None)


@pytest.fixture
def heard():
    """The functions that a hook hears of."""
    functions = []
    on_register.append(functions.append)
    yield functions
    on_register.remove(functions.append)


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


def test_jvp_and_vjp_are_recorded_and_announced(function, heard):
    def jvp(primals, tangents):
        return primals, tangents

    def forward(x, y):
        return x * y, (x, y)

    def backward(residuals, cotangent):
        return residuals

    rule(function, jvp=jvp)
    assert JVP[function] is jvp
    rule(function, vjp=(forward, backward))
    assert VJP[function] == (forward, backward)
    assert heard == [function, function]


def test_the_latest_rule_counts(function):
    scalar_rule(function, lambda ans, x, y: (y, x))
    rule(function, jvp=lambda primals, tangents: (0.0, 0.0))
    assert find(function) is None
    scalar_rule(function, lambda ans, x, y: (y, x))
    assert function not in JVP


@pytest.mark.parametrize(
    ("partials", "message"),
    [
        (3.0, "must be a Python function"),
        (math.cos, "must be a Python function"),
        (lambda ans, x: x, r"takes 2 argument\(s\), so its partials must take 'ans' and as many"),
        (lambda ans, x, y, z: (x, y, z), r"takes 2 argument\(s\)"),
        (lambda ans: (), r"takes 2 argument\(s\)"),
        (lambda ans, x, y: x, "need as many partials, not 1"),
        (lambda ans, x, y: (x, "y"), "partial by argument 1"),
        (lambda ans, x, y: (x if x > y else y, x), "np.where"),
    ],
)
def test_a_wrong_scalar_rule_is_refused_at_once(function, partials, message):
    with pytest.raises(RuleError, match=f"product.*{message}|{message}"):
        scalar_rule(function, partials)
    assert find(function) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give jvp=, vjp= or both"),
        ({"jvp": 3}, "jvp must be a Python function"),
        ({"jvp": lambda primals: primals}, r"jvp is called with \(primals, tangents\)"),
        ({"vjp": lambda x: x}, r"vjp is a pair \(forward, backward\)"),
        ({"vjp": (len,)}, r"vjp is a pair \(forward, backward\)"),
        ({"vjp": (partial(max, 3), len)}, "forward must be a Python function"),
        (
            {"vjp": (lambda x, y: (x, y), lambda kept: 0)},
            r"backward is called with \(residuals, cotangent\)",
        ),
    ],
)
def test_a_wrong_rule_is_refused_at_once(function, given, message):
    with pytest.raises(RuleError, match=message):
        rule(function, **given)
    assert function not in JVP
    assert function not in VJP


@pytest.mark.parametrize("register", [lambda f: scalar_rule(f, lambda ans, x: x), rule])
@pytest.mark.parametrize("fn", [None, 3.0, "sin"])
def test_only_a_callable_has_a_rule(register, fn):
    with pytest.raises(NumbadError, match="must be callable"):
        register(fn)


def test_the_tables_do_not_contradict_each_other():
    assert not SCALAR.keys() & CONSTANT
    assert not SCALAR.keys() & STRUCTURAL.keys()
    assert not CONSTANT & STRUCTURAL.keys()
    assert NON_HOLOMORPHIC.keys() <= SCALAR.keys()
    assert all(callable(fn) for fn in (*SCALAR, *CONSTANT, *STRUCTURAL))
