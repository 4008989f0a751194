"""Rules that a user gives: recorded, announced, refused where they are wrong."""

import math
import operator
from functools import partial

import numpy as np
import pytest

import numbad as nd
from numbad.errors import NumbadError, RuleError
from numbad.rules import (
    CONSTANT,
    GIVEN,
    JVP,
    SCALAR,
    VJP,
    find,
    rule,
    scalar_rule,
)


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


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (
            math.floor,
            "math.floor: it returns no float, and would not see the rule. Way out: an @njit",
        ),
        (round, "it returns no float"),
        (operator.lt, "it returns no float"),
        (max, "it takes more than scalars. Way out: nd.rule"),
        (operator.mul, "numbad has code of its own for it, and would not see the rule"),
        (np.clip, "it takes more than scalars. Way out: nd.rule"),
    ],
)
def test_a_rule_that_would_not_be_seen(fn, message):
    with pytest.raises(RuleError, match=message):
        scalar_rule(fn, lambda ans, x, y: (1.0, 0.0))


@pytest.fixture
def rounding():
    """`np.ceil` and `np.rint`, which have no rule again afterwards."""
    yield np.ceil, np.rint
    for fn in (np.ceil, np.rint):
        for table in (SCALAR, JVP, VJP, GIVEN):
            table.pop(fn, None)
        CONSTANT.add(fn)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_through_rounding(rounding, mode):
    """Straight-through estimates, of numbers and arrays, also after a derivative without them."""
    ceil, rint = rounding
    numbers, arrays = (lambda x: ceil(x) * x), (lambda x: (rint(x) * x).sum())
    x, values = 2.3, np.array([2.3, 0.8])
    assert nd.grad(numbers, mode=mode)(x) == 3.0
    np.testing.assert_array_equal(nd.grad(arrays, mode=mode)(values), [2.0, 1.0])
    scalar_rule(ceil, lambda ans, x: (1.0,))
    rule(
        rint,
        jvp=lambda primals, tangents: (np.rint(primals[0]), tangents[0]),
        vjp=(lambda x: (np.rint(x), 0.0), lambda kept, cotangent: (cotangent,)),
    )
    assert nd.grad(numbers, mode=mode)(x) == 3.0 + 2.3
    np.testing.assert_allclose(nd.grad(arrays, mode=mode)(values), [4.3, 1.8])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_code_in_place_of_what_numbad_has_for_a_function(mode):
    """`nd.rule` takes what is no function of scalars alone: the larger of two, with slopes by half."""
    rule(
        max,
        jvp=lambda primals, tangents: (
            max(primals[0], primals[1]),
            0.5 * (tangents[0] + tangents[1]),
        ),
        vjp=(
            lambda x, y: (max(x, y), 0.0),
            lambda kept, cotangent: (0.5 * cotangent, 0.5 * cotangent),
        ),
    )
    try:
        assert nd.grad(lambda x, y: max(x, y) * 4.0, (0, 1), mode=mode)(2.0, 1.0) == (2.0, 2.0)
    finally:
        for table in (JVP, VJP, GIVEN):
            table.pop(max, None)
