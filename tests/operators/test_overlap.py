"""Arguments that share memory, where the function changes one of them."""

import numpy as np
import pytest
from numba import float64, njit, types
from numba.experimental import jitclass
from numba.extending import overload
from numba.typed import List

import numbad as nd
from tests.reverse.ops.test_list_fields import Bag

OPERATORS = {
    "grad": lambda f: nd.grad(f),
    "jvp": lambda f: lambda a, b: nd.jvp(f)((a, b), (np.ones(2), np.zeros(2)))[1],
}
every_operator = pytest.mark.parametrize("operator", OPERATORS)


def changes_first(a, b):
    a[0] = 2.0 * a[1] + b[1]
    return a[0] * b[0]


def reads(a, b):
    return (a * b).sum()


@every_operator
def test_changing_one_of_two_that_share_memory_is_an_error(operator):
    x = np.array([1.0, 3.0, 2.0])
    with pytest.raises(nd.ArgumentError, match="'a' and 'b', which share memory"):
        OPERATORS[operator](changes_first)(x[:2], x[1:])
    np.testing.assert_array_equal(x, [1.0, 3.0, 2.0])


@every_operator
def test_columns_and_rows_of_one_matrix_share_none(operator):
    m = np.array([[1.0, 4.0], [3.0, 5.0]])
    expected = {"grad": [0.0, 8.0], "jvp": 8.0}[operator]
    for a, b in ((m[:, 0], m[:, 1]), (m.T.copy()[0], m.T.copy()[1]), (m[:, 0], m[::-1, 1][::-1])):
        np.testing.assert_array_equal(OPERATORS[operator](changes_first)(a.copy(), b), expected)
        np.testing.assert_array_equal(OPERATORS[operator](changes_first)(a, b), expected)
        m = np.array([[1.0, 4.0], [3.0, 5.0]])


@every_operator
def test_reading_what_shares_memory_is_fine(operator):
    x = np.array([1.0, 3.0])
    expected = {"grad": [1.0, 3.0], "jvp": 4.0}[operator]
    np.testing.assert_array_equal(OPERATORS[operator](reads)(x, x), expected)


@njit
def adds_to_an_element(a, b):
    q = a[0]
    for j in range(2):
        q += a[j] * b[j]
    return q


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_adding_to_what_was_an_element_changes_no_argument(mode):
    x = np.array([1.0, 3.0])
    by_a, by_b = nd.grad(adds_to_an_element, (0, 1), mode=mode)(x, x)
    np.testing.assert_array_equal(by_a, [2.0, 3.0])
    np.testing.assert_array_equal(by_b, [1.0, 3.0])
    both = nd.grad(lambda pair: adds_to_an_element(pair[0], pair[1]), mode=mode)((x, x))
    np.testing.assert_array_equal(both, [by_a, by_b])
    assert nd.jvp(adds_to_an_element)((x, x), (np.ones(2), x)) == (11.0, 15.0)
    np.testing.assert_array_equal(nd.hessian(adds_to_an_element)(x, x), np.zeros((2, 2)))


@jitclass([("values", types.ListType(float64)), ("weights", float64[:]), ("others", float64[:])])
class Kept:
    def __init__(self, values, weights, others):
        self.values, self.weights, self.others = values, weights, others


@njit
def bag(weights):
    return Bag(weights, 1.0)


def writes_to_an_array(x, a, other):
    a[0] = x * x
    return x * first_of(other)


def writes_to_a_list(x, a, other):
    a.append(x * x)
    return x * other.values[-1]


def writes_to_a_field(x, kept, other):
    kept.values[0] = x * x
    return x * other.values[0]


def writes_to_one_of_two_fields(x, kept, other):
    kept.weights[0] = x * x
    return x * kept.others[0] + 0.0 * other[0]


@njit
def of_a_row(rows):
    return rows[1][0]


@njit
def of_a_field(kept):
    return kept.weights[0]


@njit
def of_a_bag(bag):
    return bag.items[0]


def first_of(other):
    raise NotImplementedError


@overload(first_of)
def _first_of(other):
    if isinstance(other, types.ListType):
        return lambda other: of_a_row(other)
    if isinstance(other, types.StructRef):
        return lambda other: of_a_bag(other)
    return lambda other: of_a_field(other)


NUMBERS, VALUES = np.array([1.0, 3.0]), List([1.0, 2.0])


def kept(values=None, weights=None, others=None):
    values = List([1.0, 2.0]) if values is None else values
    weights = np.ones(2) if weights is None else weights
    return Kept(values, weights, np.ones(2) if others is None else others)


@pytest.mark.parametrize(
    ("f", "shared", "apart"),
    [
        (writes_to_an_array, (NUMBERS, kept(weights=NUMBERS)), (NUMBERS, kept())),
        (writes_to_an_array, (NUMBERS, bag(NUMBERS)), (NUMBERS, bag(np.ones(2)))),
        (
            writes_to_an_array,
            (NUMBERS, List([np.ones(2), NUMBERS[:1]])),
            (NUMBERS, List([np.ones(2), np.ones(1)])),
        ),
        (writes_to_a_list, (VALUES, kept(VALUES)), (List([1.0]), kept(List([1.0])))),
        (writes_to_a_field, (kept(VALUES), kept(VALUES)), (kept(), kept())),
        (
            writes_to_one_of_two_fields,
            (kept(weights=NUMBERS, others=NUMBERS), np.ones(1)),
            (kept(), np.ones(1)),
        ),
    ],
    ids=["field", "structref", "row", "list", "list-in-fields", "two-fields"],
)
def test_memory_shared_through_lists_and_fields_is_an_error(f, shared, apart):
    gradient = nd.grad(f, mode="reverse")
    with pytest.raises(nd.ArgumentError, match="which share memory|of which share memory"):
        gradient(2.0, *shared)
    assert gradient(2.0, *apart) == 1.0


def appends_a_constant(x, kept):
    kept.values.append(1.0)
    return x * kept.weights[0] * kept.others[1]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_fields_that_share_memory_are_fine_where_only_constants_are_written(mode):
    both = np.array([3.0, 5.0])
    assert nd.grad(appends_a_constant, mode=mode)(2.0, kept(weights=both, others=both[:])) == 15.0


POINT = np.dtype([("u", "f8"), ("v", "f8")])
PAIR = np.dtype([("first", POINT), ("second", POINT)])


def through_another_record(x, r, q):
    r.u = x * x
    return q.u * x


def through_an_array(x, r, q):
    r.u = x * x
    return q[0].u * x


def through_a_record_around(x, r, q):
    r.u = x * x
    return q.first.u * x


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: nd.grad(f, 0, mode="forward"),
        lambda f: nd.grad(f, 0, mode="reverse"),
        lambda f: nd.derivative(f),
    ],
    ids=["forward", "reverse", "derivative"],
)
def test_records_that_share_memory_are_told(derivative):
    points, pairs = np.full(2, 3.0, POINT), np.full(2, 3.0, PAIR)
    for f, r, q in (
        (through_another_record, points[0], points[0]),
        (through_an_array, points[0], points),
        (through_a_record_around, pairs[1]["first"], pairs[1]),
    ):
        with pytest.raises(nd.ArgumentError, match="'r' and 'q', which share memory"):
            derivative(f)(2.0, r, q)
    assert points["u"].tolist() == [3.0, 3.0]
    for f, r, q in (
        (through_another_record, points[0], points[1]),
        (through_an_array, points[1], points[:1].copy()),
        (through_a_record_around, pairs[1]["second"], pairs[0]),
    ):
        assert derivative(f)(2.0, r, q) == 3.0


class TestSolutions:
    @staticmethod
    def solution():
        def rates(t, y, k, work):
            work[0] = k[0] * y[0]
            return np.array([-work[0]])

        return nd.ode.solver(rates)

    @pytest.mark.parametrize("mode", ["forward", "reverse"])
    def test_with_work_space(self, mode):
        times, args = np.linspace(0.0, 1.0, 3), (np.array([0.3]), np.zeros(1))
        by_k, _ = nd.jacobian(self.solution(), 2, mode=mode)(np.ones(1), times, args)
        np.testing.assert_allclose(by_k[:, 0, 0], -times * np.exp(-0.3 * times), rtol=1e-4)

    def test_work_space_that_holds_a_parameter(self):
        k = np.array([0.3])
        told = "solve changes its argument 'args', two parts of which share memory here"
        with pytest.raises(nd.ArgumentError, match=told):
            nd.jacobian(self.solution(), 2)(np.ones(1), np.linspace(0.0, 1.0, 3), (k, k))
