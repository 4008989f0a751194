"""Functions said to have no derivative do not change when an argument moves a little."""

import cmath
import operator

import numpy as np
import pytest

from numbad.rules import CONSTANT
from numbad.rules.tracing import arity

BINARY = {
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.floordiv, operator.ifloordiv, np.isclose),
}
POINTS = [(2.3, 0.7), (-2.3, 0.7), (7.6, -1.3), (0.4, 0.9)]


def takes(fn):
    if fn in BINARY:
        return 2
    return arity(fn)[0] if isinstance(fn, np.ufunc) else 1


def name(fn):
    return f"{fn.__module__ or ''}.{fn.__name__}" if hasattr(fn, "__module__") else fn.__name__


@pytest.mark.parametrize("fn", sorted(CONSTANT, key=name), ids=name)
def test_the_value_does_not_change(fn):
    for point in POINTS:
        values = [2 + abs(v) if is_unsigned(fn) else v for v in point[: takes(fn)]]
        values = [complex(v, 1.5) for v in values] if fn.__module__ == "cmath" else values
        for k in range(len(values)):
            moved = [v + 1e-9 if j == k else v for j, v in enumerate(values)]
            assert fn(*moved) == fn(*values)


def is_unsigned(fn):
    return isinstance(fn, type) and issubclass(fn, np.unsignedinteger)


def test_complex_predicates_are_included():
    assert {cmath.isnan, cmath.isinf, cmath.isfinite} <= CONSTANT
