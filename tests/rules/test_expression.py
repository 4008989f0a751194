import math
import operator

import numpy as np
import pytest

from numbad.errors import RuleError
from numbad.rules import Answer, Apply, Arg, Const, evaluate, walk, where
from numbad.rules.expression import as_expr, call

x, y, ans = Arg(0), Arg(1), Answer()


def value(expr, *args):
    return evaluate(expr, args, None, lambda v: v, lambda fn, operands: fn(*operands))


@pytest.mark.parametrize(
    ("built", "simplified"),
    [
        (x + 0, x),
        (0 + x, x),
        (x - 0, x),
        (0 - x, -x),
        (x * 1, x),
        (1.0 * x, x),
        (x * 0, Const(0)),
        (0 * x, Const(0)),
        (-1 * x, -x),
        (x / 1, x),
        (0 / x, Const(0)),
        (x**1, x),
        (x**0, Const(1)),
        (operator.neg(-x), x),
        (+x, x),
        (Const(2) * 3 + 1, Const(7)),
        (Const(3) - 1, Const(2)),
        (where(Const(2) == 2, x, y), x),
        (where(Const(2) > 2, x, y), y),
        (where(x > y, ans, ans), ans),
        ((x > y) & (Const(1) == 1), x > y),
        ((x > y) & (Const(1) == 2), Const(False)),
        ((x > y) | (Const(1) == 1), Const(True)),
        ((Const(1) == 2) | (x > y), x > y),
    ],
    ids=repr,
)
def test_simplified_as_built(built, simplified):
    assert built is simplified


def test_equal_structures_are_one_node_and_a_key():
    assert x * y + math.pi is x * y + math.pi
    assert {x * y: "seen"}[Arg(0) * Arg(1)] == "seen"
    assert x * y is not y * x


def test_literals_keep_their_type_and_the_sign_of_zero():
    assert Const(1) is not Const(1.0)
    assert Const(0.0) is not Const(-0.0)
    assert Const(True) is not Const(1)
    assert type((Const(3) - 1).value) is int
    assert Const(math.nan) is Const(math.nan)


def test_division_of_literals_by_zero_is_left_to_the_engine():
    assert Const(1) / 0 is Apply(operator.truediv, (Const(1), Const(0)))


def test_subtracting_minus_one_is_left_alone():
    assert (x - -1) is Apply(operator.sub, (x, Const(-1)))


def test_numpy_scalars_become_literals():
    assert np.float64(2.0) * x is Const(2.0) * x
    assert x + np.int64(3) is x + 3


@pytest.mark.parametrize("bad", ["1", None, [1.0], np.ones(2)])
def test_only_numbers_become_literals(bad):
    with pytest.raises(RuleError, match="a number or an expression"):
        as_expr(bad)


@pytest.mark.parametrize(
    "branch", [lambda: 1 if x > y else 2, lambda: not x, lambda: x and y, lambda: max(x, y)]
)
def test_a_python_branch_is_refused_with_the_way_out(branch):
    with pytest.raises(RuleError, match=r"nd\.where\(condition, a, b\) or np\.where"):
        branch()


@pytest.mark.parametrize("convert", [float, int, complex, math.cos])
def test_a_symbol_has_no_number(convert):
    with pytest.raises(RuleError, match="symbols"):
        convert(x)


def test_nodes_cannot_be_changed():
    with pytest.raises(AttributeError):
        x.index = 3


def test_operators_evaluate_as_python_does():
    a, b = 7.5, -2.0
    assert value(x + y, a, b) == a + b
    assert value(3 - x, a) == 3 - a
    assert value(3 / x, a) == 3 / a
    assert value(2**y, a, b) == 2**b
    assert value(x % y, a, b) == a % b
    assert value(7 % x, a) == 7 % a
    assert value(x // y, a, b) == a // b
    assert value(7 // x, a) == 7 // a
    assert value(abs(y), a, b) == 2.0
    assert value(~(x > y), a, b) is False
    assert value(where(x <= y, x, where(y != -2, 1, 10)), a, b) == 10
    assert [value(c, a, b) for c in (x < y, x >= y, x == y)] == [False, True, False]


def test_where_selects_among_numbers():
    assert where(True, 1.0, 2.0) == 1.0
    assert where(False, 1.0, 2.0) == 2.0


def test_a_shared_node_is_evaluated_once():
    calls = []

    def apply(fn, operands):
        calls.append(fn)
        return fn(*operands)

    sine = call(math.sin, x)
    results = evaluate((sine * sine, sine + 1), (0.5,), None, float, apply)
    assert results == (math.sin(0.5) ** 2, math.sin(0.5) + 1)
    assert calls.count(math.sin) == 1


def test_walk_lists_operands_first_and_each_node_once():
    sine = call(math.sin, x)
    nodes = walk(sine * sine + ans, sine)
    assert len(set(nodes)) == len(nodes)
    order = {node: place for place, node in enumerate(nodes)}
    for node in nodes:
        for operand in getattr(node, "args", ()):
            assert order[operand] < order[node]
    assert len(nodes) == 5
