"""Lists among the fields of instances, whose members have adjoints, whatever name they are changed by."""

import numpy as np
import pytest
from numba import float64, int64, njit, types
from numba.experimental import jitclass, structref
from numba.typed import List

import numbad as nd

FLOATS = types.ListType(float64)


@jitclass([("values", FLOATS)])
class History:
    """What was pushed, in order."""

    def __init__(self):
        self.values = List.empty_list(float64)

    def push(self, x):
        self.values.append(x)

    @property
    def last(self):
        return self.values[-1]


@jitclass([("values", FLOATS), ("weights", float64[:]), ("count", int64)])
class Given:
    """A list and an array that others may have as well."""

    def __init__(self, values, weights):
        self.values = values
        self.weights = weights
        self.count = len(values)


HISTORY = History.class_type.instance_type
PAIR = types.Tuple((float64, int64))


@jitclass([("rows", types.ListType(float64[::1])), ("pairs", types.ListType(PAIR))])
class Mixed:
    """Lists of arrays and of tuples."""

    def __init__(self):
        self.rows = List.empty_list(float64[::1])
        self.pairs = List.empty_list(PAIR)


@jitclass([("parts", types.ListType(HISTORY))])
class Nested:
    """A list of instances that have lists."""

    def __init__(self):
        self.parts = List.empty_list(HISTORY)


@structref.register
class BagType(types.StructRef):
    """The type of `Bag`."""


class Bag(structref.StructRefProxy):
    """A list and a float."""

    def __new__(cls, items, k):
        return structref.StructRefProxy.__new__(cls, items, k)


structref.define_proxy(Bag, BagType, ["items", "k"])


def pushed(x):
    history = History()
    for _ in range(3):
        history.push(x)
    return history.values[0] * history.values[1] * history.last


def through_another_name(x):
    history = History()
    history.push(1.0)
    values = history.values
    values.append(x * x)
    values[0] = history.last * x
    return history.values[0]


def one_list_of_two(x):
    values = List.empty_list(float64)
    first, second = Given(values, np.ones(1)), Given(values, np.ones(1))
    first.values.append(x)
    second.values[0] *= x
    return first.values[0] * x


def swapped(x):
    first, second = History(), History()
    first.push(x)
    second.push(1.0)
    for _ in range(3):
        first.values, second.values = second.values, first.values
        first.values[0] = second.values[0] * (x if second.values[0] < x * x else 1.0)
    return first.values[0] * x


def a_new_list_each_time(x):
    history = History()
    history.push(1.0)
    for _ in range(3):
        last = history.last
        history.values = List.empty_list(float64)
        history.push(last * x)
    return history.last


def popped(x):
    history = History()
    for k in range(3):
        history.push(x + k)
    history.values.pop()
    second = history.values.pop(0)
    return second * x * (history.last - 1.0)


@njit
def made(x):
    history = History()
    history.push(x)
    return history


@njit
def multiplied(history, x):
    history.push(x * history.last)
    return history.values


@njit
def power(history, x, n):
    if n == 0:
        return history.last
    history.push(x * history.last)
    return power(history, x, n - 1)


def changed_by_callees(x):
    history = made(x)
    values = multiplied(history, x)
    values[0] = x
    return history.last * values[0]


def recursive(x):
    return power(made(x), x, 2)


def rows_and_pairs(x):
    mixed = Mixed()
    for k in range(2):
        mixed.rows.append(np.array([1.0, x]))
        mixed.pairs.append((x, k))
    mixed.rows[0][1] *= mixed.rows[1][1]
    value, k = mixed.pairs[1]
    return mixed.rows[0][1] * value * k


def instances_in_a_list(x):
    nested = Nested()
    for _ in range(2):
        nested.parts.append(made(x))
    product = 1.0
    for part in nested.parts:
        product *= part.last
        part.values[0] = product
    return nested.parts[1].last * x


def of_a_structref(x):
    bag = Bag([x], x * x)
    bag.items.append(bag.k)
    bag.k = bag.items[0]
    return bag.items[-1] * bag.k


def a_list_of_constants(x):
    values = List.empty_list(float64)
    values.append(1.0)
    given = Given(values, np.ones(1))
    return given.values[0] * x**3 * given.count


PROGRAMS = [
    pushed,
    through_another_name,
    one_list_of_two,
    swapped,
    a_new_list_each_time,
    popped,
    changed_by_callees,
    recursive,
    rows_and_pairs,
    instances_in_a_list,
    of_a_structref,
    a_list_of_constants,
]


@pytest.mark.deep(
    but=[
        "pushed-*",
        "one_list_of_two-reverse",
        "swapped-reverse",
        "instances_in_a_list-*",
        "of_a_structref-reverse",
    ]
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_members_of_lists_in_fields(f, mode):
    """Each is x**3."""
    assert njit(f)(2.0) == 8.0
    gradient = nd.grad(f, mode=mode)
    assert gradient(2.0) == 12.0
    assert nd.derivative(gradient)(2.0) == 12.0


def test_all_rows_of_a_jacobian_at_once():
    def f(x):
        return np.array([pushed_in_order(x[0], x[1]), pushed_in_order(x[1], x[0])])

    jacobian = nd.jacobian(f, mode="reverse")(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(jacobian, [[12.0, 4.0], [9.0, 12.0]])


@njit
def pushed_in_order(x, y):
    history = History()
    history.push(x)
    history.push(history.last * x * y)
    return history.last


# -- arguments that are written to -----------------------------------------------------------------


def written(x, given):
    given.values.append(x * x)
    given.values[0] *= x
    return given.values[0] * given.values[-1] * given.weights[0]


def written_beside_rows(x, mixed):
    mixed.pairs.append((x, 1))
    return mixed.pairs[-1][0] * mixed.rows[0][0]


def test_an_argument_that_is_appended_to():
    given = Given(List([3.0, 5.0]), np.array([2.0]))
    assert nd.grad(written, mode="reverse")(2.0, given) == 18.0 * 2.0**2
    assert list(given.values) == [6.0, 5.0, 4.0]
    with pytest.raises(nd.UnsupportedError, match=r"self|append"):
        nd.grad(written, mode="forward")(2.0, given)


def test_arrays_in_lists_of_an_argument_that_is_written_to_are_refused():
    with pytest.raises(nd.UnsupportedError, match="into an argument of type.*Mixed"):
        nd.grad(written_beside_rows, mode="reverse")(2.0, Mixed())


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_list_of_constants_beside_an_array_of_differentiated_values(mode):
    def f(x, values):
        given = Given(values, np.ones(1) * x)
        return given.values[1] * given.weights[0] * x

    assert nd.grad(f, mode=mode)(2.0, List([3.0, 5.0])) == 20.0
