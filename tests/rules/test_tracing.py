import math
from math import cos

import numpy as np
import pytest
from numba import njit

import numbad.rules as rules_module
from numbad.errors import RuleError
from numbad.rules import Answer, Apply, Arg, Const, where
from numbad.rules.tracing import arity, trace

FACTOR = 3.0


@njit
def jitted(x):
    return x + 1.0


def helper(x):
    return FACTOR * cos(x)


def countdown(x, n):
    return x if n == 0 else np.exp(countdown(x, n - 1))


def traced(partials, nargs=1):
    exprs = trace("f", partials, Answer(), [Arg(k) for k in range(nargs)])
    return exprs[0] if nargs == 1 else exprs


def calls(fn, *args):
    return Apply(fn, args)


x = Arg(0)


def test_functions_of_modules_build_nodes():
    assert traced(lambda ans, x: math.cos(x)) is calls(math.cos, x)
    assert traced(lambda ans, x: np.exp(x)) is calls(np.exp, x)
    assert traced(lambda ans, x: np.sinc(x)) is calls(np.sinc, x)


def test_functions_imported_by_name_build_nodes():
    assert traced(lambda ans, x: cos(x)) is calls(math.cos, x)
    assert traced(lambda ans, x: jitted(x)) is calls(jitted, x)


def test_functions_in_the_closure_build_nodes():
    sine, library = np.sin, np
    assert traced(lambda ans, x: sine(x)) is calls(np.sin, x)
    assert traced(lambda ans, x: library.sin(x)) is calls(np.sin, x)


def test_python_functions_are_followed():
    assert traced(lambda ans, x: helper(x)) is 3.0 * calls(math.cos, x)


def test_recursive_python_functions_are_followed():
    twice = calls(np.exp, calls(np.exp, x))
    assert traced(lambda ans, x: countdown(x, 2)) is twice


def test_nested_functions_build_nodes():
    def partials(ans, x):
        powers = [math.exp(x) for _ in range(1)]
        return (lambda z: z + math.log(x))(powers[0])

    assert traced(partials) is calls(math.exp, x) + calls(math.log, x)


def test_functions_of_numbers_give_numbers():
    assert traced(lambda ans, x: math.sqrt(4.0) * x) is 2.0 * x


def test_where_is_ours_and_numpys():
    chosen = where(x > 0, x, 0)
    assert traced(lambda ans, x: np.where(x > 0, x, 0)) is chosen
    assert traced(lambda ans, x: where(x > 0, x, 0)) is chosen
    assert traced(lambda ans, x: rules_module.where(x > 0, x, 0)) is chosen


def test_max_and_min_build_nodes():
    assert traced(lambda ans, x: max(x, 0)) is calls(max, x, Const(0))


def test_defaults_and_keywords_survive():
    def partials(ans, x, scale=2.0, *, shift=1.0):
        return scale * x + shift

    assert traced(partials) is 2.0 * x + 1.0


def test_the_original_is_left_alone():
    traced(lambda ans, x: helper(x))
    assert helper(0.0) == 3.0


@pytest.mark.parametrize(
    ("partials", "message"),
    [
        (lambda ans, x: x if x > 0 else 0, "f: .*np.where"),
        (lambda ans, x: (x, x), r"1 argument\(s\) need as many partials, not 2"),
        (lambda ans, x: "x", "partial by argument 0: a number"),
        (lambda ans, x: None, "partial by argument 0: a number"),
        (lambda ans, x: x.real, "fail on symbols: AttributeError"),
        (lambda ans, x: np.add(x, x, out=None), "add takes positional arguments only"),
        (lambda ans, x: float(x), "symbols, which have no float value"),
    ],
)
def test_what_is_wrong_is_said(partials, message):
    with pytest.raises(RuleError, match=message):
        traced(partials)


def test_arity():
    assert arity(lambda ans, x: x) == (2, 2)
    assert arity(lambda ans, x, y=1: x) == (2, 3)
    assert arity(lambda ans, *args: ans) == (1, math.inf)
    assert arity(jitted) == (1, 1)
    assert arity(np.hypot) == (2, 2)
