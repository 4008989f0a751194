"""Dictionaries and typed lists in which constants stand beside dual numbers."""

import warnings

import numpy as np
import pytest
from numba import njit, typed, types
from numba.core.errors import TypingError

import numbad as nd

STEP = 1e-5


@njit
def stored_first(x):
    known = dict()
    known[(0, 0)] = 0.0
    for k in range(3):
        known[(k, k + 1)] = x * k + known.get((k - 1, k), 1.0)
    return known[(2, 3)] * x


@njit
def stored_later(x):
    known = {}
    known[1] = x * x
    known[0] = 1.0
    known[3] = 1
    return known[1] * x + known[0] + known.setdefault(4, 2.0) * known.pop(1, 0.5)


@njit
def of_a_literal(x):
    known = {0: 0.5}
    known[1] = x * 2
    known[2] = 1.5
    return known[1] * x * known[0] + known[2]


@njit
def beside_constants(x):
    known = {"a": 0.5, "b": x}
    known["c"] = 2.0
    other = {0: 3.0, 1: x * x, 2: 2}
    return known["a"] * known["b"] * known["c"] * x + other[0] * other[1] * other[2]


@njit
def of_a_comprehension(x):
    known = {k: 0.5 + k for k in range(3)}
    known[1] = x * x
    return known[1] * x * known[0]


@njit
def of_given_types(x):
    known = typed.Dict.empty(key_type=types.unicode_type, value_type=types.float64)
    known["a"] = 1.5
    known["b"] = x * x
    return known["a"] * known["b"] * x


@njit
def of_tuples(x):
    known = {0: (0.0, 1)}
    known[1] = (x * x, 2)
    known[2] = (2.0, 3)
    total = 0.0
    for value, k in known.values():
        total += value * k * x
    return total


@njit
def of_complex_numbers(x):
    known = {}
    known[0] = 1j
    known[1] = x * 1j
    known[2] = x
    known[3] = 2.0
    return (known[1] * known[2] * known[3] + known[0] * x).imag


@njit
def of_integers_too(x):
    known = {}
    known[0] = 2.0
    known[1] = 3
    known[2] = x
    known.setdefault(3, 2)
    return known[0] * known[1] * known[2] * known[3] * x


@njit
def on_some_ways(x):
    first = {0: 1.5} if x > 1.0 else {0: x}
    first[1] = 2.0
    known = dict()
    for k in range(4):
        if k % 2:
            known[k] = x * k
        else:
            known[k] = 1.5
        known[k] *= first[k // 2]
    return known[1] * known[2] * known[3]


@njit
def _fill(known, x):
    known[5] = x * x
    known[6] = 2.0


@njit
def _made():
    known = {}
    known[1] = 3.0
    return known


@njit
def in_a_callee(x):
    literal = {1: 2.0}
    empty = dict()
    empty[0] = 0.0
    made = _made()
    for known in (literal, empty, made):
        _fill(known, x)
    return literal[5] * literal[1] + empty[6] * x + made[1] * made[5]


@njit
def copied(x):
    constants = {0: 1.5}
    known = constants.copy()
    known[1] = x
    known.update(constants)
    constants[0] = 2.0
    return known[0] * known[1] * x + constants[0]


@njit
def of_arrays(x):
    known = {0: np.zeros(2)}
    known[1] = np.ones(2) * x
    known[0][1] = x
    return known[1].sum() * known[0][1]


ROW = types.float64[::1]
STEPS = types.Tuple((types.int64, types.float64))
ROWS = types.ListType(types.float64)


@njit
def arrays_of_a_given_type(x):
    known = typed.Dict.empty(types.unicode_type, ROW)
    known["a"] = np.array([2.0 * x, x, 1.0])
    known["b"] = np.ones(3)
    known["a"].sort()
    return known["a"].take(1) * known["b"].take(0) * x


@njit
def lists_of_a_given_type(x):
    rows = typed.List.empty_list(ROW)
    rows.append(np.ones(2))
    rows.append(np.array([x, x * x]))
    found = typed.List.empty_list(types.complex128, 4)
    found.append(1j)
    found.append(x * 1j)
    return rows[1].sum() * rows[0][1] + (found[0] * found[1] * x).real


@njit
def stack_of_tuples(x):
    stack = typed.List.empty_list(STEPS)
    stack.append((3, 1.0))
    total = 0.0
    while len(stack) > 0:
        n, value = stack.pop()
        total += value * x
        if n > 0:
            stack.append((n - 1, value * x))
    return total


@njit
def lists_of_lists(x):
    rows = typed.List.empty_list(ROWS)
    for i in range(2):
        row = typed.List.empty_list(types.float64)
        row.append(2.0)
        row.append(x * (i + 1))
        rows.append(row)
    rows[0].append(x * x)
    return rows[1][1] * rows[0][0] * rows[0][2]


@njit
def listed_first(x):
    found = typed.List()
    found.append(1.0)
    found.insert(0, 2.0)
    found.append(x)
    found[1] = 3.0
    found.extend([x * x, 0.5])
    return found[0] * found[1] * found[2] * found[3] * found[4]


@njit
def listed_values(x):
    found = typed.List([1.0, 2.0])
    found[0] = x
    pairs = typed.List()
    pairs.append((1.0, 2.0))
    pairs.append((x, x * x))
    return found[0] * found[1] * pairs[0][1] * pairs[1][1]


@njit
def _listed():
    found = typed.List.empty_list(types.float64)
    found.append(1.5)
    return found


@njit
def listed_in_a_callee(x):
    found = _listed()
    found.append(x * x)
    return found[0] * found[1] * x


@njit
def integers_alone(x):
    known = {0: 0}
    known[1] = int(x * 3)
    return known[1] * x


@pytest.mark.parametrize(
    "f",
    [
        *(stored_first, stored_later, of_a_literal, beside_constants, of_a_comprehension),
        *(of_given_types, of_tuples, of_complex_numbers, of_integers_too, on_some_ways),
        *(in_a_callee, copied, of_arrays, integers_alone, arrays_of_a_given_type),
        *(lists_of_a_given_type, stack_of_tuples, lists_of_lists, listed_first, listed_values),
        listed_in_a_callee,
    ],
    ids=lambda f: f.__name__,
)
def test_constants_stand_beside_duals(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, slope = nd.value_and_grad(f, mode="forward")(1.3)
    assert value == f(1.3)
    assert slope == pytest.approx((f(1.3 + STEP) - f(1.3 - STEP)) / (2 * STEP), rel=1e-8)


def test_constants_stand_beside_duals_of_a_higher_level():
    def slope(x):
        return nd.grad(lambda y: stored_first(y) * x, mode="forward")(x * x)

    # stored_first(y) = (2 y + 1) y, once more with what came before it
    found = nd.grad(slope, mode="forward")(1.3)
    plain = njit(slope)
    differences = (plain(1.3 + STEP) - plain(1.3 - STEP)) / (2 * STEP)
    assert found == pytest.approx(differences, rel=1e-8)


def test_a_dual_of_the_outer_level_may_be_the_first():
    def slope(x):
        def inner(y):
            known = {0: x}
            known[1] = y * y * x
            return known[1] * known[0]

        return nd.grad(inner, mode="forward")(x)

    # 2 x y x at y = x
    assert nd.grad(slope, mode="forward")(1.3) == pytest.approx(6 * 1.3**2)


@njit
def of_single_precision(x):
    known = {}
    known[0] = np.float32(0.1)
    known[1] = x * x
    known[2] = 0.1
    return known[1] * x + known[2] + known[0]


@pytest.mark.filterwarnings("ignore:unsafe cast")
def test_values_keep_the_precision_of_the_first():
    value, slope = nd.value_and_grad(of_single_precision, mode="forward")(1.3)
    assert value == of_single_precision(1.3)
    assert slope == pytest.approx(3 * 1.3**2, rel=1e-6)


def test_what_numba_refuses_in_a_dictionary_of_integers_is_refused():
    def f(x):
        known = {0: 0}
        known[1] = x
        return known[1] * x

    for compiled in (njit(f), nd.grad(f, mode="forward")):
        with pytest.raises(TypingError, match="cannot safely cast float64 to int64"):
            compiled(1.3)
