"""Calls of operators that raise keep no memory, and none of their arguments.

Counted are what Numba's run-time has allocated and not freed, and the references to the arrays passed.
"""

import gc
import sys
from collections import namedtuple

import numpy as np
import pytest
from numba import float64, int64, njit
from numba.core.runtime import _nrt_python, rtsys
from numba.experimental import jitclass
from numba.typed import List

import numbad as nd
from tests.forward.compare import Made, made

CALLS = 500
X, Y, W, SHORT = np.array([0.4, 0.7, 1.1, 1.6]), np.linspace(1.0, 2.0, 4), np.ones(4), np.ones(3)
RECORDS = np.array([(1.0, 2)], dtype=[("u", "f8"), ("n", "i8")])
ARRAYS = X, Y, W, SHORT, RECORDS
Pair = namedtuple("Pair", "a b")


@njit
def stopping(x, p):
    total = 0.0
    for i in range(x.size):
        total += np.sin(x[i] * p)
        if i == 2 and p > 0.0:
            raise ValueError("stopped")
    return total


@njit
def checked(y, i, p):
    if i == 2 and p > 0.0:
        raise ValueError("stopped")
    return np.sin(y)


@njit
def array_result(x, p):
    """Holds arrays of its own when its callee raises."""
    y, out = x * p, np.empty(x.size)
    for i in range(x.size):
        out[i] = checked(y[i], i, p)
    return out


@njit
def of_tuple(pair, p):
    total = 0.0
    for i in range(pair[0].size):
        total += checked(pair[0][i] * pair[1][i], i, p)
    return total


@njit
def into(x, out, p):
    for i in range(x.size):
        out[i] = checked(x[i] * p, i, p)


@njit
def of_record(x, records, p):
    total = 0.0
    for i in range(x.size):
        total += checked(x[i] * records[0].u, i, p)
    return total


@njit
def of_holder(x, holder, p):
    total = 0.0
    for i in range(x.size):
        total += checked(x[i] * holder.a[i], i, p)
    return total


@njit
def of_list(arrays, p):
    total = 0.0
    for a in arrays:
        total += array_result(a, p)[0]
    return total


@jitclass([("a", float64[:]), ("n", int64)])
class Holder:
    def __init__(self, a):
        self.a, self.n = a, 1


def both(operator, *args, **options):
    """Cases of an operator in both modes."""
    return [(operator, *args, {"mode": mode, **options}) for mode in ("reverse", "forward")]


HOLDER, LIST = Made(lambda: Holder(Y)), Made(lambda: List([X, Y]))
HVP = ((X, 1.3), (W, 0.5))
CASES = [
    *both(nd.grad, stopping, (X, 1.3), argnums=(0, 1)),
    *both(nd.value_and_grad, of_tuple, ((X, Y), 1.3)),
    *both(nd.grad, of_tuple, (Pair(X, Y), 1.3)),
    *both(nd.jacobian, array_result, (X, 1.3), argnums=(0, 1)),
    *both(nd.jacobian, into, (X, W, 1.3), out=1),
    *both(nd.grad, of_record, (X, RECORDS, 1.3)),
    *both(nd.grad, of_holder, (X, HOLDER, 1.3)),
    *both(nd.grad, of_list, (LIST, 1.3), argnums=1),
    (nd.vjp, stopping, ((X, 1.3), 1.0), {}),
    (nd.vjp, array_result, ((X, 1.3), W), {}),
    (nd.vjp, array_result, ((X, -1.3), SHORT), {}),  # refused after the call: another shape
    (nd.vjp, of_tuple, (((X, Y), 1.3), 1.0), {}),
    (nd.vjp, into, ((X, Y, 1.3), W), {"argnums": 0, "out": 1}),
    (nd.jvp, array_result, HVP, {}),
    (nd.jvp, array_result, ((X, -1.3), (SHORT, 0.5)), {}),  # refused before the call
    (nd.hvp, stopping, HVP, {}),
    (nd.hvp, of_tuple, (((X, Y), 1.3), ((W, W), 0.5)), {}),
    (nd.grad_and_hvp, stopping, HVP, {}),
    (nd.hessian, stopping, (X, 1.3), {}),
    (nd.derivative, array_result, (X, 1.3), {"argnum": 1}),
]


def name_of(case):
    operator, f, args, options = case
    return "-".join([operator.__name__, f.__name__, *map(str, options.values())])


def held():
    """What Numba's run-time holds, and the references to every array."""
    gc.collect()
    stats = rtsys.get_allocation_stats()
    allocated = stats.alloc - stats.free + stats.mi_alloc - stats.mi_free
    return allocated, [sys.getrefcount(array) for array in ARRAYS]


def attempt(call, args):
    """A call that must raise."""
    try:
        call(*args)
    except (ValueError, nd.ArgumentError):
        return
    pytest.fail("no error")


@pytest.mark.dear
@pytest.mark.deep(
    but=["grad-stopping-reverse-*", "jacobian-array_result-reverse-*", "jvp-array_result0"]
)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_calls_that_raise_keep_nothing(case):
    operator, f, args, options = case
    call, args = operator(f, **options), made(args)
    _nrt_python.memsys_enable_stats()
    for _ in range(10):
        attempt(call, args)
    before = held()
    for _ in range(CALLS):
        attempt(call, args)
    assert held() == before


def test_calls_in_between_are_right():
    """Memory freed once too often would be written to by others."""
    gradient = nd.grad(stopping, (0, 1), mode="reverse")
    kept = []
    for k in range(200):
        attempt(gradient, (X, 1.3))
        p = -1.3 - 0.01 * k
        kept.append((p, *gradient(X, p)))
    for p, by_x, by_p in kept:
        np.testing.assert_allclose(by_x, p * np.cos(X * p), rtol=1e-14)
        np.testing.assert_allclose(by_p, (X * np.cos(X * p)).sum(), rtol=1e-14, atol=1e-15)


def test_errors_caught_in_nopython_code_keep_nothing():
    gradient = nd.grad(stopping, (0, 1), mode="reverse")

    @njit
    def guarded(x, p):
        try:
            by_x, by_p = gradient(x, p)
            return by_x[0] + by_p
        except Exception:
            return -1.0

    _nrt_python.memsys_enable_stats()
    expected = -1.3 * np.cos(-1.3 * X[0]) + (X * np.cos(-1.3 * X)).sum()
    assert guarded(X, -1.3) == pytest.approx(expected, rel=1e-14)
    assert guarded(X, 1.3) == -1.0
    before = held()
    for k in range(CALLS):
        guarded(X, 1.3 if k % 10 else -1.3)
    assert held() == before
