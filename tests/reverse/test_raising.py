"""Exceptions: raised as in the primal, leaving nothing behind. PYTEST_DONT_REWRITE the asserts.

(pytest's own form of an `assert` calls what Numba cannot compile.)
"""

import numba
import numpy as np
import pytest

import numbad as nd
from tests.reverse import oracle
from tests.reverse.oracle import Programs, check_gradient, check_second_order

programs = Programs()


def raising(x, y):
    total = x
    for i in range(4):
        total = total * y + x
        if total > 5.0:
            raise ValueError("too large")
        assert total > -5.0, "too small"
    return total * total


def nested_raise(x, y):
    for i in range(3):
        while x < 3.0:
            x = x * y + 1.0
            if y > 1.25:
                if y > 2.5:
                    raise OverflowError("steep")
                break
    if x > 9.0:
        raise ArithmeticError("far")
    return x * x


RAISED = [
    (raising, (0.5, 1.25), ((1.5, 2.0), ValueError), ((-3.0, 2.0), AssertionError)),
    (nested_raise, (0.5, 1.1), ((0.5, 3.0), OverflowError), ((11.0, 1.0), ArithmeticError)),
]
programs.on((0.5, 1.25), (-0.5, 0.25))(raising)
programs.on((0.5, 1.1), (0.5, 1.5))(nested_raise)


@pytest.mark.parametrize(("f", "calm", "first", "second"), RAISED)
def test_raises_as_the_primal_and_leaves_nothing_behind(f, calm, first, second):
    gradient = nd.grad(f, (0, 1), mode=oracle.MODE)
    before = gradient(*calm)
    for args, error in (first, second):
        with pytest.raises(error) as expected:
            numba.njit(f)(*args)
        with pytest.raises(error) as found:
            gradient(*args)
        assert found.value.args == expected.value.args
        assert gradient(*calm) == before


def caught(x, y):
    total = x
    try:
        for i in range(4):
            total = total * y
            if total > 2.0:
                raise ValueError
        total = total * x
    except Exception:
        total = total * total
    return total


def refusal_or(call):
    """What the call returns, or the message of the error that refuses it."""
    try:
        return call(), None
    except nd.UnsupportedError as error:
        return None, str(error)


def test_try_is_refused_or_right():
    gradient = nd.grad(caught, (0, 1), mode=oracle.MODE)
    found, message = refusal_or(lambda: (gradient(0.5, 1.1), gradient(1.5, 1.2)))
    # By hand: (x * y**4 * x), and where the third product exceeds 2: (x * y**2)**2
    exact = [(1.1**4, 4 * 0.25 * 1.1**3), (2 * 1.5 * 1.2**4, 4 * 2.25 * 1.2**3)]
    assert "try" in message if message else np.allclose(found, exact, rtol=1e-12)


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@programs.parametrize()
def test_second_order(program):
    check_second_order(program)


def read(a, i):
    try:
        x = a[i] * a[i]
    except Exception:
        x = 0.0
    return x


def test_what_may_raise_in_try_is_refused():
    """An index out of bounds raises if it is checked."""
    checked = nd.grad(numba.njit(boundscheck=True)(read), 0, "reverse")
    _, message = refusal_or(lambda: checked(np.ones(2), 0))
    assert "in a 'try' block: it may raise" in message
    np.testing.assert_array_equal(nd.grad(read, 0, "reverse")(np.array([1.0, 4.0]), 1), (0.0, 8.0))
