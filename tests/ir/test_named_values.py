"""Dictionaries of values of several types by name, in reverse mode."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


def parameters(x):
    given = {"rate": x, "weights": np.ones(2) * x, "steps": 3}
    same = given
    same["weights"][1] = x * x
    total = 0.0
    for _ in range(given["steps"]):
        total += same["rate"] * given["weights"].sum()
    return total


def named_twice(x):
    given = {"a": x, "b": (x, 2.0), "a": x * x}  # noqa: F601
    return given["a"] * given["b"][0] * given["b"][1]


@pytest.mark.parametrize("f", [parameters, named_twice], ids=lambda f: f.__name__)
def test_values_by_name(f):
    slope = nd.grad(f, mode="reverse")
    # 3 x (x + x^2); 2 x^3
    wanted = {parameters: 6 * 0.7 + 9 * 0.49, named_twice: 6 * 0.49}
    assert slope(0.7) == pytest.approx(wanted[f], rel=1e-14)
    (found,) = nd.hvp(f)((0.7,), (1.0,))
    assert found == pytest.approx({parameters: 6 + 18 * 0.7, named_twice: 12 * 0.7}[f], rel=1e-14)


@njit
def _used(given):
    return given["a"] * given["b"][0]


def test_what_else_is_done_is_refused():
    def counted(x):
        given = {"a": x, "b": np.ones(2) * x}
        return len(given) * given["a"]

    def given_to_a_callee(x):
        return _used({"a": x, "b": np.ones(2) * x})

    for f in (counted, given_to_a_callee):
        with pytest.raises(nd.UnsupportedError, match="dictionary in|p\\['a'\\]|given\\['a'\\]"):
            nd.grad(f, mode="reverse")(0.7)
