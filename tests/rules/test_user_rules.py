"""Rules that a user gives: recorded, announced, refused where they are wrong."""

import math
from functools import partial

import pytest

from numbad.errors import NumbadError, RuleError
from numbad.rules import (
    JVP,
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
