"""Jacobians in reverse mode whose rows are pulled back several at a time, against complex step and `vjp`."""

import math
import operator
from collections import namedtuple

import numpy as np
import pytest
from numba import float64, njit, prange
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys
from numba.experimental import jitclass

import numbad as nd
from numbad.operators.brief import STACK_BYTES
from numbad.operators.rows_together import MOST, UNKNOWN
from numbad.reverse.cotangents import Cotangents
from numbad.reverse.switches import without
from tests.operators.rows import assert_exact, of_any_size, of_known_size, together
from tests.reverse import complex_step

COUNTS = (1, 2, 3, 5, 17)
Pair = namedtuple("Pair", "first second")


pytestmark = pytest.mark.usefixtures("compiled_anew")


# -- how many rows -----------------------------------------------------------------------------


@pytest.mark.shows("rows")
@pytest.mark.parametrize("n", COUNTS)
def test_rows_that_the_code_tells(n):
    f = of_known_size(n)
    jacobian = nd.jacobian(f, (0, 1), mode="reverse")
    args = np.array([0.3, 0.7]), 1.5
    assert_exact(jacobian(*args), f, args, (0, 1))
    assert together(jacobian)


@pytest.mark.shows("rows")
def test_rows_of_any_number():
    jacobian = nd.value_and_jacobian(of_any_size, (0, 1), mode="reverse")
    for n in (0, *COUNTS, UNKNOWN, UNKNOWN + 1, 2 * UNKNOWN):
        args = np.array([0.3, 0.7]), 1.5, n
        value, found = jacobian(*args)
        np.testing.assert_allclose(value, complex_step.value(of_any_size, args), rtol=1e-14)
        if n:
            assert_exact(found, of_any_size, args, (0, 1))
        assert found[0].shape == (n, 2)
        assert found[1].shape == (n,)
    assert together(jacobian)


@pytest.mark.deep(but=["1", "5"])
@pytest.mark.parametrize("n", COUNTS)
def test_every_row_is_the_cotangent_alone_bit_by_bit(n):
    f = of_known_size(n)
    args = np.array([0.3, 0.7]), 1.5
    rows = nd.jacobian(f, (0, 1), mode="reverse")(*args)
    pull = nd.vjp(f)
    for k in range(n):
        _, (by_x, by_s) = pull(args, np.eye(n)[k])
        np.testing.assert_array_equal(rows[0][k], by_x)
        assert rows[1][k] == by_s


def calls_of(f, args, capfd):
    """How often a function that prints a line is evaluated for its Jacobian."""
    jacobian = nd.jacobian(f, mode="reverse")
    jacobian(*args)
    assert together(jacobian)
    return capfd.readouterr().out.count("called")


@pytest.mark.shows("rows")
def test_one_forward_sweep_serves_all_rows_of_a_pass(capfd):
    def known(x):
        print("called")
        return np.array([x[0], x[1] * x[0], x[1], x[0] / x[1], x[1]])

    def of_size(x, n):
        print("called")
        out = np.zeros(n)
        for k in range(n):
            out[k] = x[0] * k
        return out

    x = np.array([2.0, 3.0])
    assert calls_of(known, (x,), capfd) == 1
    for n in (0, 1, UNKNOWN):
        assert calls_of(of_size, (x, n), capfd) == 1
    assert calls_of(of_size, (x, UNKNOWN + 1), capfd) == 2
    assert calls_of(of_size, (x, 17), capfd) == -(-17 // UNKNOWN)


@pytest.mark.shows("rows")
def test_more_rows_than_one_pass_takes(capfd):
    def f(x):
        print("called")
        out = np.zeros((17, 1))
        for k in range(17):
            out[k, 0] = x[k % 2] ** 2 * k
        return out

    assert MOST == 16
    assert calls_of(f, (np.array([2.0, 3.0]),), capfd) == 2
    found = nd.jacobian(f, mode="reverse")(np.array([2.0, 3.0]))
    expected = np.zeros((MOST + 1, 1, 2))
    for k in range(MOST + 1):
        expected[k, 0, k % 2] = 2 * k * (2.0, 3.0)[k % 2]
    np.testing.assert_array_equal(found, expected)


# -- loops that are reversed iteration by iteration ----------------------------------------------


def sums(x, d):
    s = t = 0.0
    for i in range(d.size):
        s += math.sin(x[0] * d[i]) * x[1]
    for i in range(d.size):
        t += math.exp(-x[1] * d[i]) * s * x[2]
    return s * t, t, s


def sum_over_scratch(x, d):
    s = 0.0
    for i in range(d.size):
        w = np.empty(2)
        w[0] = math.sin(x[0] * d[i])
        w[1] = w[0] * x[1]
        s += w[1] * w[0] + x[2]
    return np.array([s, s * x[1], x[0]])


def sum_by_scalars(a, d):
    s = 0.0
    for i in range(d.size):
        s += math.sin(a * d[i])
    return s * a, s


@pytest.mark.deep(but=["off0-*"])
@pytest.mark.shows("rows")
@pytest.mark.parametrize("f", [sums, sum_over_scratch, sum_by_scalars])
@pytest.mark.parametrize("off", [(), ("independent",), ("rows",), ("stack",)])
def test_loops_that_meet_in_a_sum(f, off):
    args = (0.3 if f is sum_by_scalars else np.array([0.3, 0.7, 1.1])), np.linspace(0.0, 1.0, 11)
    with without(*off):
        jacobian = nd.jacobian(f, mode="reverse")
        found = jacobian(*args)
        assert together(jacobian) == ("rows" not in off)
    rows = np.stack(found) if isinstance(found, tuple) else found
    assert_exact((rows,), f, args, (0,))


# -- structures ----------------------------------------------------------------------------------


def test_results_in_tuples():
    def f(x, y):
        return Pair(x * y[1], (y[0] / x, 3, np.array([[x, 1.0], [y[1], x * x]]))), "text"

    (value, text), found = nd.value_and_jacobian(f, (0, 1), mode="reverse")(
        2.0, np.array([5.0, 7.0])
    )
    by, nothing = found
    assert (value.first, value.second[:2], text, nothing) == (14.0, (2.5, 3), "text", None)
    np.testing.assert_array_equal(value.second[2], [[2.0, 1.0], [7.0, 4.0]])
    assert by.first[0] == 7.0
    np.testing.assert_array_equal(by.first[1], [0.0, 2.0])
    assert by.second[0][0] == -1.25
    np.testing.assert_array_equal(by.second[0][1], [0.5, 0.0])
    assert by.second[1][0] == 0.0
    np.testing.assert_array_equal(by.second[2][0], [[1.0, 0.0], [0.0, 4.0]])
    np.testing.assert_array_equal(by.second[2][1], [[[0, 0], [0, 0]], [[0, 1], [0, 0]]])


@pytest.mark.shows("rows")
def test_integers_alone():
    jacobian = nd.jacobian(lambda x: (1, np.array([2, 3])), mode="reverse")
    first, second = jacobian(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(first, np.zeros(2))
    np.testing.assert_array_equal(second, np.zeros((2, 2)))
    assert together(jacobian)


def starred(x, *rest):
    return x * rest[0], x * rest[1] * x


def defaulted(x, n=3, s=2.0):
    return x * n, x * s * s


@pytest.mark.shows("rows")
def test_starred_and_default_arguments_and_functions():
    assert nd.jacobian(starred, mode="reverse")(2.0, 3.0, 4.0) == (3.0, 16.0)
    jacobian = nd.jacobian(defaulted, (0, 2), mode="reverse")
    assert jacobian(2.0) == ((3.0, 0.0), (4.0, 8.0))
    assert jacobian(2.0, 5, 1.0) == ((5.0, 0.0), (1.0, 4.0))
    of_function = nd.jacobian(lambda g, x: (g(x) * x, g(x)), 1, mode="reverse")
    assert of_function(njit(lambda x: x * x), 3.0) == (27.0, 6.0)
    assert together(of_function)


def test_arrays_between_numbers_in_the_result():
    """Which row a number has is known at run time only."""

    def f(x, n):
        a = np.empty(n)
        for k in range(n):
            a[k] = x[0] * (k + 1)
        return x[1] * x[0], a, x[1] * x[1], a[: n - 1] * x[1]

    x = np.array([2.0, 3.0])
    for n in (1, 2, 3, 6):
        first, a, second, b = nd.jacobian(f, mode="reverse")(x, n)
        k = np.arange(1.0, n + 1)
        np.testing.assert_array_equal(first, [3.0, 2.0])
        np.testing.assert_array_equal(a, np.stack([k, 0 * k], 1))
        np.testing.assert_array_equal(second, [0.0, 6.0])
        np.testing.assert_array_equal(b, np.stack([3 * k, 2 * k], 1)[:-1])


def test_tuples_as_arguments():
    def f(p, q):
        return p.first * q[0], p.second[1] / q[1], q[0]

    p, q = Pair(2.0, np.array([3.0, 5.0])), (7.0, 11.0)
    found = nd.jacobian(f, (0, 1), mode="reverse")(p, q)
    assert [row[0].first for row in found] == [7.0, 0.0, 0.0]
    np.testing.assert_allclose(found[1][0].second, [0.0, 1 / 11])
    assert found[0][1] == (2.0, 0.0)
    assert found[1][1] == pytest.approx((0.0, -5 / 121))
    assert found[2][1] == (1.0, 0.0)


def test_single_precision():
    def f(x, s):
        return np.array([x[0] * s, np.exp(x[1]) * s, s * s]), x[0] * s

    x = np.array([0.5, 0.25], np.float32)
    (by_x, by_s), (b_x, b_s) = nd.jacobian(f, (0, 1), mode="reverse")(x, np.float32(3.0))
    assert by_x.dtype == by_s.dtype == b_x.dtype == np.float32
    np.testing.assert_allclose(by_x, [[3, 0], [0, 3 * math.exp(0.25)], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(by_s, [0.5, math.exp(0.25), 6.0], rtol=1e-6)
    np.testing.assert_array_equal(b_x, [3.0, 0.0])
    assert float(b_s) == 0.5


def test_single_precision_beside_double():
    def f(x, y):
        return np.array([x[0] * y[0], y[0] * y[0]])

    found = nd.jacobian(f, (0, 1), mode="reverse")(np.array([0.1], np.float32), np.array([3.0]))
    np.testing.assert_allclose(found[0], [[3.0], [0.0]])
    np.testing.assert_allclose(found[1], [[np.float32(0.1)], [6.0]], rtol=1e-15)


@pytest.mark.parametrize("order", [lambda a: a, np.asfortranarray, lambda a: a[:, ::-1][:, ::-1]])
def test_orders_in_memory(order):
    def f(a):
        return np.array([a[0, 1] * a[1, 2], a[1, 0] ** 2])

    a = order(np.arange(1.0, 7.0).reshape(2, 3))
    expected = np.zeros((2, 2, 3))
    expected[0, 0, 1], expected[0, 1, 2], expected[1, 1, 0] = 6.0, 2.0, 8.0
    np.testing.assert_array_equal(nd.jacobian(f, mode="reverse")(a), expected)


def test_strided_arrays_in_several_passes():
    def f(a, n):
        out = np.zeros(n)
        for k in range(n):
            out[k] = a[k] * a[0]
        return out

    n = 2 * UNKNOWN + 1
    a = np.arange(1.0, 2 * n + 1)[::2]
    expected = np.diag(np.full(n, a[0]))
    expected[:, 0] += a[:n]
    np.testing.assert_array_equal(nd.jacobian(f, mode="reverse")(a, n), expected)


def test_arrays_larger_than_the_scratch_memory():
    def f(a):
        return np.array([a[0] * a[-1], a[1]])

    for n in (STACK_BYTES // 16 - 1, STACK_BYTES // 16, STACK_BYTES // 16 + 1, 5000):
        a = np.arange(1.0, n + 1)
        expected = np.zeros((2, n))
        expected[0, 0], expected[0, -1], expected[1, 1] = n, 1.0, 1.0
        np.testing.assert_array_equal(nd.jacobian(f, mode="reverse")(a), expected)


def test_empty_arrays_and_arrays_without_axes():
    def f(a, b):
        return np.array([b[()] * 2.0, b[()] ** 2])

    by_a, by_b = nd.jacobian(f, (0, 1), mode="reverse")(np.zeros((0, 3)), np.array(5.0))
    assert by_a.shape == (2, 0, 3)
    np.testing.assert_array_equal(by_b, [2.0, 10.0])


# -- what the function does besides --------------------------------------------------------------


@pytest.mark.deep(but=["1", "5"])
@pytest.mark.parametrize("n", COUNTS)
def test_out(n):
    def into(x, y):
        for k in range(y.size):
            y[k] = x[0] ** k * x[1] + y[k]

    x, y = np.array([1.5, 2.0]), np.ones(n)
    value, found = nd.value_and_jacobian(into, out=1, mode="reverse")(x, y)
    k = np.arange(n)
    np.testing.assert_allclose(value, 2.0 * 1.5**k + 1.0)
    np.testing.assert_array_equal(y, value)
    np.testing.assert_allclose(found, np.stack([2.0 * k * 1.5 ** (k - 1.0), 1.5**k], 1))


def test_an_argument_that_is_changed_is_changed_once():
    def f(x, counts, n):
        counts[0] += 1.0
        for k in range(1, x.size):
            x[k] += x[k - 1]
        return x[:n] * counts[0]

    for n in COUNTS:
        x, counts = np.ones(20), np.zeros(1)
        found = nd.jacobian(f, mode="reverse")(x, counts, n)
        np.testing.assert_array_equal(x, np.arange(1.0, 21.0))
        assert counts[0] == 1.0
        np.testing.assert_array_equal(found, np.tri(n, 20))


def test_every_pass_draws_the_same_random_numbers():
    @njit
    def seed(k):
        np.random.seed(k)

    @njit
    def f(x, n):
        out = np.empty(n)
        for k in range(n):
            out[k] = np.random.rand() * x
        return out

    @njit
    def after():
        return np.random.rand()

    for n in COUNTS:
        seed(7)
        value, last = f(1.0, n), after()
        seed(7)
        np.testing.assert_array_equal(nd.jacobian(f, mode="reverse")(2.0, n), value)
        assert after() == last


def test_errors_come_out_and_leave_nothing_behind():
    def f(x, n):
        out = np.empty(n)
        for k in range(n):
            if x[k] < 0.0:
                raise ValueError("negative")
            out[k] = math.sqrt(x[k])
        return out * (1.0 / x[0])

    jacobian = nd.jacobian(f, mode="reverse")
    good, bad = np.arange(1.0, 4000.0), np.arange(3.0, -4000.0, -1.0)
    jacobian(good, 5)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        jacobian(good, 5)
        with pytest.raises(ValueError, match="negative"):
            jacobian(bad, 9)
        with pytest.raises(ZeroDivisionError):
            jacobian(np.zeros(3), 0)
    after = rtsys.get_allocation_stats()
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
    assert after.alloc - before.alloc == after.free - before.free


def test_a_result_that_is_an_argument():
    def f(x, y):
        return (x, y) if x[0] > 0.0 else (y, x)

    for sign in (1.0, -1.0):
        x, y = np.array([sign, 2.0]), np.array([3.0, 4.0])
        value, found = nd.value_and_jacobian(f, (0, 1), mode="reverse")(x, y)
        own = (0, 1) if sign > 0 else (1, 0)
        np.testing.assert_array_equal(value[own[0]], x)
        np.testing.assert_array_equal(found[own[0]][0], np.eye(2))
        np.testing.assert_array_equal(found[own[0]][1], np.zeros((2, 2)))
        np.testing.assert_array_equal(found[own[1]][1], np.eye(2))


@pytest.mark.deep
def test_calls_from_compiled_code():
    f = of_known_size(3)
    jacobian = nd.jacobian(f, (0, 1), mode="reverse")

    @njit(parallel=True)
    def many(points, s):
        out = np.empty((s.size, 3, 2))
        for k in prange(s.size):
            out[k] = jacobian(points[k], s[k])[0]
        return out

    points, s = np.random.default_rng(0).random((50, 2)), np.linspace(1.0, 2.0, 50)
    found = many(points, s)
    for k in range(50):
        assert_exact((found[k],), f, (points[k], float(s[k])), (0,))


# -- heap memory ---------------------------------------------------------------------------------


@pytest.mark.shows("rows", "stack")
def test_small_jacobians_take_no_memory_but_their_results():
    def f(x, s):
        return np.array([x[0] * s, x[1] / s])

    def of_tuples(x, s):
        return x[0] * s, x[1] / s

    jacobian = nd.jacobian(f, (0, 1), mode="reverse")
    of_tuple = nd.jacobian(of_tuples, (0, 1), mode="reverse")

    @njit
    def arrays(x, n):
        total = 0.0
        for k in range(n):
            by_x, by_s = jacobian(x, 1.0 + k)
            total += by_x[0, 0] * by_s[1]
        return total

    @njit
    def tuples(x, n):
        total = 0.0
        for k in range(n):
            first, second = of_tuple((x[0], x[1]), 1.0 + k)
            total += first[0][0] * second[1]
        return total

    x = np.array([2.0, 3.0])
    assert arrays(x, 5) == pytest.approx(tuples(x, 5), rel=1e-15)
    _nrt_python.memsys_enable_stats()

    def allocations(loop, n):
        before = rtsys.get_allocation_stats()
        loop(x, n)
        after = rtsys.get_allocation_stats()
        return after.mi_alloc - before.mi_alloc

    for loop, results in ((arrays, 1), (tuples, 0)):  # the two arrays are made in one go
        assert allocations(loop, 100) - allocations(loop, 0) == 100 * results


# -- jacobians of jacobians ------------------------------------------------------------------------


@pytest.mark.deep
def test_jacobians_of_jacobians():
    inner = nd.jacobian(of_known_size(3), (0, 1), mode="reverse")

    def row_products(x, s):
        by_x, by_s = inner(x, s)
        return by_x[:, 0] * by_s

    args = np.array([0.3, 0.7]), 1.5
    backward = nd.jacobian(row_products, (0, 1), mode="reverse")(*args)
    forward = nd.jacobian(row_products, (0, 1), mode="forward")(*args)
    for one, other in zip(backward, forward, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    # by hand: the number k of the result is -j cos(j a) sin(j a) b^2 / (c + k)^3, j = k + 1
    (a, b), c = args
    for k in range(3):
        j, t = k + 1, c + k
        product = -j * math.cos(j * a) * math.sin(j * a) * b * b / t**3
        slope = -j * j * math.cos(2 * j * a) * b * b / t**3
        np.testing.assert_allclose(backward[0][k], [slope, 2 * product / b], rtol=1e-12)
        np.testing.assert_allclose(backward[1][k], -3 * product / t, rtol=1e-12)


# -- the arithmetic --------------------------------------------------------------------------------


def test_cotangents_have_the_operations_of_a_vector_space_and_no_others():
    context = cpu_target.typing_context
    vector, other = Cotangents(types.float64, 2), Cotangents(types.float64, 3)

    def resolved(function, *args):
        try:
            return context.resolve_function_type(function, args, {})
        except Exception:
            return None

    assert resolved(operator.add, vector, vector).return_type == vector
    assert resolved(operator.mul, vector, types.float64).return_type == vector
    assert resolved(operator.neg, vector).return_type == vector
    for function in (operator.mul, operator.lt, operator.eq, operator.truediv, operator.pow):
        assert resolved(function, vector, vector) is None
    for function in (operator.add, operator.sub, operator.lt, operator.pow):
        assert resolved(function, vector, types.float64) is None
    assert resolved(operator.add, vector, other) is None
    for function in (math.sin, abs, bool, float, math.isnan):
        assert resolved(function, vector) is None
    assert context.can_convert(types.float64, vector) is None
    assert context.can_convert(vector, types.float64) is None


# -- references ------------------------------------------------------------------------------------


@jitclass([("kept", float64[:])])
class Holder:
    def __init__(self):
        self.kept = np.zeros(1)


def holding(x, holder):
    holder.kept = x
    return np.array([x[0] * x[1], x[1]])


def test_an_array_that_an_object_keeps():
    """What holds the array after the call has a reference of its own; it is called once at most."""
    holder, x = Holder(), np.array([2.0, 3.0])
    with pytest.raises(nd.UnsupportedError, match="may change its argument 'holder'"):
        nd.jacobian(holding, mode="reverse")(x, holder)
    _, (found,) = nd.vjp(holding, 0)((x, holder), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(found, [3.0, 2.0])
    assert holder.kept is x  # no array without an owner that shows the memory of `x`
