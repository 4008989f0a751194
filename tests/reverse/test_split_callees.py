"""Callees that stay functions, as pairs of a forward and a reverse part, where that is possible."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.reverse import memory, split_callees
from numbad.reverse.switches import without
from tests.reverse.affected import Recorder
from tests.reverse.oracle import Programs, check_gradient, check_second_order

paired, in_place = Programs(), Programs()
A = np.array([0.53, 1.47, -2.61, 0.77])
B = np.array([-1.27, 0.23, 1.94, 0.41])
BY_DEFAULT = split_callees.STATEMENTS
FIXED = np.array([0.4, -1.1, 0.8, 1.3])


@pytest.fixture(autouse=True)
def decisions(monkeypatch):
    """Every callee is large enough; the list says of which of this module it was decided that they stay."""
    found = []
    decide = split_callees.Pairs.stays

    def stays(self, activity, op, arguments, calls):
        answer = decide(self, activity, op, arguments, calls)
        if not Recorder.trying and op.dispatcher.py_func.__module__ == __name__:
            found.append((op.dispatcher.py_func.__name__, answer))
        return answer

    monkeypatch.setattr(split_callees, "STATEMENTS", 0)
    monkeypatch.setattr(split_callees.Pairs, "stays", stays)
    return found


@njit
def slope(y, dy, x):
    for i in range(len(y)):
        dy[i] = math.sin(y[i - 1]) * y[i] * x


@njit
def add_scaled(y, dy, h):
    for i in range(len(y)):
        y[i] += h * dy[i]


@paired.on((A, 0.7, 3), (A, 0.7, 0))
def stages(a, x, n):
    k, y = np.zeros(4), a.copy()
    for _ in range(n):
        slope(y, k, x)
        add_scaled(y, k, 0.5 * x)
        slope(y, k, x + y[0])
        add_scaled(y, k, y[1])
    return y[0] * y[1] + k[2] * x


@paired.on((A, B, 0.7), wrt=(0,))
@paired.on((A, B, 0.7), wrt=(1, 2))
def overwritten_between(a, b, x):
    slope(a, b, x)
    a[1] = b[2] * a[1]
    b[0] = x
    slope(b, a, b[3])
    return a[0] * a[3] + b[1] * b[2]


@njit
def polar(x, y):
    if x < 0.5:
        return x * y, x
    r = math.sqrt(x * x + y * y)
    for _ in range(3):
        r = math.sin(r) + y
        if r > 1.5:
            break
    return r, math.atan2(y, r)


@paired.on((0.3, 0.9), (0.8, 0.4), (1.5, 1.1))
def tuples_and_early_exits(x, y):
    r, s = polar(x, y)
    for _ in range(2):
        r, s = polar(r * s, x)
    return r * s + y


@paired.on((A, 0.6))
def iterations_that_meet_in_a_sum(a, x):
    total = 0.0
    for i in range(len(a)):
        r, s = polar(a[i], x)
        u, v = polar(x, a[i])
        total += r * s * u - v
    return total


@njit
def twice(y, k, x):
    slope(y, k, x)
    slope(k, y, x * x)
    return y[0] * k[1]


@paired.on((A, B, 0.7))
def pairs_within_pairs(a, b, x):
    s = twice(a, b, x)
    return s * twice(b, a, s) + a[2]


@in_place.on((A, 0.7), wrt=(0, 1))
def same_array_twice(a, x):
    slope(a, a, x)
    slope(a, a, a[0])
    return a[0] * a[1] + a[2] * a[3]


@in_place.on((A, 0.7), wrt=(0, 1))
def view_of_the_same_array(a, x):
    add_scaled(a, a[::-1], x)
    add_scaled(a[1:], a[:-1], x)
    return a[0] * a[1] + a[2] * a[3]


@in_place.on((A, B, 0.7), wrt=(0, 1, 2))
def perhaps_the_same_array(a, b, x):
    c = a if x > 1.0 else b
    slope(b, c, x)
    slope(c, b, x)
    return a[0] * b[1] + c[2] * c[3]


@njit
def weighted(y, w):
    s = 0.0
    for i in range(len(y)):
        s += y[i] * y[i] * w[i]
    return s


@in_place.on((A, 0.7))
def constant_array(a, x):
    return weighted(a, FIXED) * x + weighted(a, FIXED)


@njit
def squared(a):
    return a * a


@paired.on((A, 0.7))
def returned_array(a, x):
    r = squared(a)
    r[1] = x * r[0]  # which the reverse part must not read for a * a
    return r[1] * x + squared(r)[2] * r[3]


@njit
def squared_twice(a):
    return squared(squared(a) - 0.1 * a) * squared(a)


@paired.on((A, 0.7))
def returned_arrays_of_returned_arrays(a, x):
    r = squared_twice(a)
    r[2] = r[1] * x
    return squared_twice(r * x)[2] + r[0] * a[2]


@njit
def scaled_and_summed(a, x):
    b = np.sin(a * x)
    total = 0.0
    for k in range(len(b)):
        b[k] = b[k] * b[k] + a[k]
        total += b[k] * x
    return b, total, a * b


@paired.on((A, 0.3, 2), (A, 0.3, 0))
def tuples_of_arrays_in_loops(a, x, n):
    b = np.zeros(4)
    for k in range(n):
        b, total, c = scaled_and_summed(a - 0.1 * b, x)
        b[k] = c[k + 1] * total
        a = scaled_and_summed(c[::-1], 0.1)[2]
    return b[0] * x + b[1] * a[2]


@njit
def turned(z, x):
    return z * np.exp(1j * x * z)


@paired.on((A, 0.7))
def complex_arrays(a, x):
    z = turned(a + 0.3j * x, x)
    z[2] = z[1] * z[0]
    w = turned(z * z, 0.1)
    return (w[2] * w[0]).real + abs(z[3]) * w[1].imag


@njit
def through_matrices(m, v):
    u = m @ v
    return m @ (u * u), u


@paired.on((np.outer(A, B) + np.eye(4), B))
def products_within(m, v):
    u, w = through_matrices(m, v)
    s, t = through_matrices(m, w * u)
    return s[0] * t[1] + u[2]


@njit
def covariance(a, b):
    return (a * b).mean() - a.mean() * b.mean()


@paired.on((A, B))
def the_same_array_twice_that_is_read(a, b):
    c = a[1:]
    return covariance(a, b) / (covariance(a, a) * covariance(b, b)) + covariance(c, a[:3])


@njit
def at_least(a, x):
    return a if a[0] > x else a * x


@in_place.on((A, 0.7), (A, 0.2))
def perhaps_its_argument(a, x):
    r = at_least(a, x)
    r[1] = r[0] * r[2]
    return r[1] * a[1] + at_least(r, x)[3]


@njit
def one_array_twice(a):
    b = a * a
    return b, b


@in_place.on((A,))
def shared_results(a):
    b, c = one_array_twice(a)
    b[1] = a[0]
    return c[1] * one_array_twice(c)[1][2]


ruled = njit(lambda x: x * x * x)
nd.rule(ruled, vjp=(lambda x: (ruled(x), x), lambda x, c: (3.0 * x * x * c,)))


@njit
def with_a_rule(x, y):
    for _ in range(2):
        x = ruled(x) * y
    return x


@paired.on((0.9, 0.7))
def rule_within(x, y):
    return with_a_rule(x, y) * with_a_rule(y, x)


@pytest.mark.deep(but=["overwritten_between0", "stages", "rule_within*"])
@pytest.mark.shows("pairs")
@paired.parametrize()
def test_gradient_by_pairs(program, decisions):
    check_gradient(program)
    assert decisions
    assert all(answer for _, answer in decisions), decisions


@pytest.mark.deep
@paired.parametrize()
def test_second_order_by_pairs(program):
    check_second_order(program)


@in_place.parametrize()
def test_gradient_in_place(program, decisions):
    check_gradient(program)
    assert decisions
    assert not any(answer for _, answer in decisions), decisions


@pytest.mark.shows
def test_switch(decisions):
    def two_calls(x, y):
        return polar(x, y)[0] * polar(y, x)[0]

    with without("pairs"):
        switched_off = nd.grad(two_calls, (0, 1), mode="reverse")(0.8, 1.1)
    assert decisions
    assert not any(answer for _, answer in decisions)
    assert nd.grad(two_calls, (0, 1), mode="reverse")(0.8, 1.1) == pytest.approx(switched_off)
    assert decisions[-1] == ("polar", True)


def test_small_callees_are_in_place(decisions, monkeypatch):
    def two_calls(x, y):
        return polar(x, y)[1] * polar(y, x)[0]

    monkeypatch.setattr(split_callees, "STATEMENTS", BY_DEFAULT)
    nd.grad(two_calls, (0, 1), mode="reverse")(0.8, 1.1)
    assert decisions == [("polar", False)] * 2


@njit
def by_places(x, places):
    return x**3 * (places[0] + 1) + x * places[1]


slope_by_places = nd.grad(by_places)
checkpointed_by_places = nd.checkpoint(by_places)


@njit
def with_an_operator(x, places):
    return slope_by_places(x, places) * x


@njit
def with_a_checkpoint(x, places):
    return checkpointed_by_places(x, places) * x


def operator_within(a, places):
    s = with_an_operator(a[0], places)
    places[0], places[1] = 3, 0
    return s * with_an_operator(a[1], places)


def checkpoint_within(a, places):
    s = with_a_checkpoint(a[0], places)
    places[0], places[1] = 3, 0
    return s * with_a_checkpoint(a[1], places)


@njit
def places_of(x, n):
    places = np.zeros(2, np.int64)
    places[0] = n
    return checkpointed_by_places(x, places) * x, places


def returned_integers(a, places):
    s, first = places_of(a[0], 2)
    first[0], first[1] = 3, 1
    t, second = places_of(a[1] * s, 1)
    second[0] = 1
    return s * t * first[0]


@njit
def in_order(a):
    places = np.argsort(a)
    return a[places] * a, places


def returned_order(a, places):
    b, first = in_order(a)
    first[0] = first[2]
    c, second = in_order(b)
    second[1] = first[0]
    return (b[0] * c[1] + b[2] * c[0] + c[3]) * a[second[1]]


@njit
def warmed(start, conductivity, n):
    u, v = start.copy(), start.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + conductivity[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * math.sin(u[i])
        u, v = v, u
    return u


def steps_run_again(a, places):
    w = 0.3 * a
    u = warmed(a, w, 5)
    w[1:] = 0.5 * u[1:]
    a[2], u[3] = u[1], a[0]
    v = warmed(u, w, 4)
    u[:] = v * 0.3
    return (u * v).sum()


@pytest.mark.parametrize(
    "f",
    [operator_within, checkpoint_within, returned_integers, returned_order, steps_run_again],
)
def test_the_caller_may_write_to_arguments_and_results_meanwhile(f, decisions):
    found = nd.grad(f, mode="reverse")(A.copy(), np.array([0, 1, 2]))
    expected = nd.grad(f, mode="forward")(A.copy(), np.array([0, 1, 2]))
    assert found == pytest.approx(expected, rel=1e-12)
    assert [answer for _, answer in decisions] == [True, True]


@njit
def logarithms(y, k):
    for i in range(len(y)):
        if y[i] <= 0.0:
            raise ValueError("not positive")
        k[i] = math.log(y[i])


@pytest.mark.shows("pairs")
def test_errors_pass_through(decisions):
    def f(a):
        k = np.zeros(len(a))
        logarithms(a, k)
        b = k + 1.0
        logarithms(b, k)
        return k[0] * k[-1]

    gradient = nd.grad(f, mode="reverse")
    a = np.linspace(1.5, 3.0, 5000)
    first, last = math.log(1.5) + 1.0, math.log(3.0) + 1.0
    expected = math.log(last) / (first * 1.5), math.log(first) / (last * 3.0)
    memory.release_pool()
    found = gradient(a)
    assert (found[0], found[-1]) == pytest.approx(expected, rel=1e-14)
    assert not found[1:-1].any()
    held = memory.pool_bytes()
    for _ in range(20):
        with pytest.raises(ValueError, match="not positive"):
            gradient(np.linspace(3.0, 0.1, 5000))
    assert memory.pool_bytes() == held
    assert ("logarithms", True) in decisions
