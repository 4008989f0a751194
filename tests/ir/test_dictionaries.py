"""Dictionaries that hold differentiated floats, in reverse mode."""

import numpy as np
import pytest
from numba import njit, typed, types

import numbad as nd

STEP = 1e-5
PAIR = types.UniTuple(types.float64, 2)
ROW = types.float64[::1]


def recurrence(x):
    memo = {}
    memo[0] = 1.0
    memo[1] = x
    for i in range(2, 6):
        memo[i] = memo[i - 1] * x + memo[i - 2]
    return memo[5]


def of_a_literal(x):
    given = {"rate": x, "size": 2, "slope": x * x}
    given["rate"] *= given["slope"]
    return given["rate"] * given["size"] + given["slope"]


def gone_through(x):
    found = dict()
    found[0] = 0.0
    for i in range(5):
        found[i % 3] = found.get(i % 3, 1.0) + x * i
    total = 0.0
    for k in found:
        total += found[k] * k
    for v in found.values():
        total += v * x
    for i, (k, v) in enumerate(found.items()):
        total += v * (k + i)
    for k, v in zip(found.keys(), found.values()):  # noqa: B905  (Numba has no strict=)
        total += k * v * v
    return total * len(found)


def asked_for(x):
    found = {(1, 2): x}
    if (1, 2) in found:
        found[(1, 2)] += 1.0
    if (2, 2) not in found:
        found[(2, 2)] = 2
    first = found.get((1, 2))
    if first is not None:
        found[(3, 3)] = first * x
    return found[(1, 2)] * found[(2, 2)] * found[(3, 3)] if found else 0.0


@njit
def _fill(found, x):
    found["b"] = found["a"] * x
    del found["a"]


@njit
def _total(found):
    total = 0.0
    for value in found.values():
        total += value
    return total


def changed_by_callees(x):
    found = {"a": x * x, "c": 1.0}
    _fill(found, x)
    other = found.copy()
    other["c"] = x
    found.update(other)
    rest = found.pop("z", x) * found.setdefault("y", 2 * x)
    return found["b"] * found.pop("c") + _total(found) * _total(other) + rest


def popped_and_cleared(x):
    found = dict([(0, x), (1, x * x)])  # noqa: C406
    k, last = found.popitem()
    first = found[0] * k
    found.clear()
    found[5] = x * first
    return found[5] * last * len(found)


def of_arrays(x):
    found = typed.Dict.empty(types.unicode_type, ROW)
    found["w"] = np.ones(3) * x
    found["v"] = found["w"]
    found["w"][1] = x * x
    found["w"] = found["w"] * np.arange(3.0)
    return found["w"].sum() * found["v"][1]


def of_tuples(x):
    found = typed.Dict.empty(key_type=types.int64, value_type=PAIR)
    found[0] = (x, 2.0)
    found[1] = (found[0][1], x * x)
    return found[0][0] * found[1][1] * found[1][0]


def of_complex_numbers(x):
    found = {}
    found[0] = x + 1j
    found[1] = x * 2j
    return (found[0] * found[1] * x).imag


def one_for_another(x):
    found = {0: x, 1: 2 * x} if x > 0 else {0: 2 * x, 1: x}
    same = found
    same[1] = x * x
    for _ in range(3):
        found = {0: found[0] * x, 1: found[1] + found[0]}
    return found[0] * found[1] * same[1]


def of_a_comprehension(x):
    found = {k: x * k for k in range(4)}
    return found[3] * found[2] + sum([v * v for v in found.values()])


@njit
def _fibonacci(n, memo, x):
    if n in memo:
        return memo[n]
    memo[n] = _fibonacci(n - 1, memo, x) * x + _fibonacci(n - 2, memo, x)
    return memo[n]


def remembered_by_recursion(x):
    memo = {0: 1.0, 1: x}
    return _fibonacci(6, memo, x)


PROGRAMS = (
    *(recurrence, of_a_literal, gone_through, asked_for, changed_by_callees, popped_and_cleared),
    *(of_arrays, of_tuples, of_complex_numbers, one_for_another, of_a_comprehension),
    remembered_by_recursion,
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_reverse_goes_through_dictionaries(f):
    plain = njit(f)
    value, slope = nd.value_and_grad(f, mode="reverse")(0.7)
    assert value == plain(0.7)
    assert slope == pytest.approx((plain(0.7 + STEP) - plain(0.7 - STEP)) / (2 * STEP), rel=1e-7)
    assert slope == pytest.approx(nd.grad(f, mode="forward")(0.7), rel=1e-12)


@pytest.mark.deep(but=["recurrence", "of_arrays"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_order(f):
    slope = nd.grad(f, mode="reverse")
    (found,) = nd.hvp(f)((0.7,), (1.0,))
    assert found == pytest.approx((slope(0.7 + STEP) - slope(0.7 - STEP)) / (2 * STEP), rel=1e-7)


def test_a_gradient_within_differentiated_code():
    def outer(x):
        return x * nd.grad(recurrence, mode="reverse")(x)

    plain = njit(outer)
    wanted = (plain(0.7 + STEP) - plain(0.7 - STEP)) / (2 * STEP)
    for mode in ("forward", "reverse"):
        assert nd.grad(outer, mode=mode)(0.7) == pytest.approx(wanted, rel=1e-7)


@njit
def _size(found):
    return len(found) * 1.0


@njit
def _size_and_first(found):
    return _size(found) * found[0] if 0 in found else 0.0


@njit
def _grow(found, x):
    found[len(found) + 10] = x


def some_constant(x, y):
    one = {0: x, 1: 3.0, 5: 1.0}
    other = {0: y, 3: y * y, 2: 2.0, 7: 1.0}
    _grow(other, y)
    return _size_and_first(one) * _size_and_first(other) * x


@pytest.mark.dear
def test_callees_are_given_dictionaries_that_nothing_differentiated_is_in():
    # 3 x 5 y x
    assert nd.grad(some_constant, 0, mode="reverse")(0.7, 0.3) == pytest.approx(30 * 0.7 * 0.3)
    assert nd.grad(some_constant, 1, mode="reverse")(0.7, 0.3) == pytest.approx(15 * 0.49)

    def outer(x):
        return nd.grad(some_constant, 0, mode="reverse")(x, 2.0 * x) * x

    for mode in ("forward", "reverse"):  # 60 x^3
        assert nd.grad(outer, mode=mode)(0.7) == pytest.approx(180 * 0.49)


def test_jacobian_of_dictionaries_made_in_a_loop():
    def f(x):
        out = np.zeros(4)
        for i in range(4):
            found = {0: x[0], 1: 1.0}
            for j in range(i):
                found[j + 2] = found[j] * x[1] + found[j + 1]
            out[i] = found[i]
        return out

    found = nd.jacobian(f, mode="reverse")(np.array([0.7, 0.3]))
    # found[2] = x0 x1 + 1, found[3] = x1 + found[2]
    np.testing.assert_allclose(found, [[1, 0], [0, 0], [0.3, 0.7], [0.3, 1.7]], rtol=1e-14)


def test_a_key_that_is_missing_raises():
    def f(x):
        found = {0: x}
        return found[0] * found[2]

    with pytest.raises(KeyError):
        nd.grad(f, mode="reverse")(0.7)


@njit
def _least_key(found):
    return sorted(found)[0]


@njit
def _looked_up(found, x):
    return found[1] * x


nd.rule(_looked_up, vjp=(lambda found, x: (found[1] * x, found[1]), lambda a, w: (None, 5 * a * w)))


def test_constants_go_to_callees_that_do_what_is_not_known():
    def f(x):
        found = {2: 1.0, 1: 2.0}
        return x * x * _least_key(found)

    def by_a_rule(x):
        found = {2: 1.0, 1: 2.0}
        return _looked_up(found, x) * x

    assert nd.grad(f, mode="reverse")(0.7) == 1.4
    # 2 x, and x times the 5 * 2 that the rule says
    assert nd.grad(by_a_rule, mode="reverse")(0.7) == pytest.approx(12.0 * 0.7)


def test_what_is_not_known_is_refused():
    def sorted_keys(x):
        found = {0: x}
        return found[0] * _least_key(found)

    def in_a_list(x):
        found = [{0: x}]
        return found[0][0]

    def compared(x):
        one, other = {0: x}, {0: x}
        return one[0] if one == other else 0.0

    for f in (sorted_keys, in_a_list, compared):
        with pytest.raises(nd.UnsupportedError, match="dictionary in .*(?s:.*)forward mode"):
            nd.grad(f, mode="reverse")(0.7)
