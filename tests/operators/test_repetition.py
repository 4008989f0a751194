"""A sweep of several passes calls the function several times; nobody may be able to tell."""

import numpy as np
import pytest
from numba import njit
from numba.extending import overload, register_jitable
from numba.typed import List

import numbad as nd

INPUTS = 40  # more than travel in one pass


def test_an_array_that_every_call_changes_is_put_back_in_between():
    @njit
    def counting(x, calls):
        calls[0] += 1.0
        return calls[0] * x.sum()

    calls = np.zeros(1)
    gradient = nd.grad(counting)(np.ones(INPUTS), calls)
    np.testing.assert_array_equal(gradient, np.ones(INPUTS))
    assert calls[0] == 1.0


def test_an_argument_that_the_function_changes_is_changed_once():
    @njit
    def accumulate(x):
        for i in range(1, x.size):
            x[i] = 0.5 * x[i - 1] + x[i]
        return x[-1]

    start = np.linspace(1.0, 2.0, INPUTS)
    plain, differentiated = start.copy(), start.copy()
    accumulate(plain)
    gradient = nd.grad(accumulate)(differentiated)
    np.testing.assert_array_equal(differentiated, plain)
    np.testing.assert_allclose(gradient, 0.5 ** np.arange(INPUTS - 1, -1, -1))


@pytest.mark.deep(but=["2"])
@pytest.mark.parametrize("chunk", [1, 2, 8])
def test_jvp_of_a_function_that_changes_its_argument(chunk):
    @njit
    def product(x):
        x[0] = x[0] * x[1]
        return x[0] * x[1] * x[2]

    derivative = nd.jacobian(nd.jvp(product), chunk=chunk)
    x = np.array([1.0, 2.0, 3.0])
    (value,), (tangent,) = derivative((x,), (np.ones(3),))
    np.testing.assert_allclose(value, [12.0, 12.0, 4.0])
    np.testing.assert_allclose(tangent, [16.0, 22.0, 8.0])


def test_a_list_that_grows_at_every_call_is_refused():
    @njit
    def growing(x, kept):
        kept.append(1.0)
        return x.sum() * len(kept)

    with pytest.raises(nd.UnsupportedError, match="may change its argument 'kept'"):
        nd.grad(growing, mode="forward")(np.ones(INPUTS), List([1.0]))


def increment(a):
    raise NotImplementedError


@overload(increment)
def _increment(a):
    def by_one(a):
        a[0] += 1

    return by_one


@register_jitable
def increment_jitable(a):
    a[0] += 1


def drawn(scale):
    raise NotImplementedError


@overload(drawn)
def _drawn(scale):
    return lambda scale: scale * np.random.normal()


def after_an_overload(x, c):
    increment(c)
    return (x * x).sum() * c[0]


def after_a_jitable(x, c):
    increment_jitable(c)
    return (x * x).sum() * c[0]


def after_an_overload_of_a_view(x, c):
    increment(c[:])
    return (x * x).sum() * c[0]


@njit
def calls_an_overload(a):
    increment(a)


def after_an_overload_in_a_callee(x, c):
    calls_an_overload(c)
    return (x * x).sum() * c[0]


CHANGING = [
    after_an_overload,
    after_a_jitable,
    after_an_overload_of_a_view,
    after_an_overload_in_a_callee,
]


@pytest.mark.deep(but=["float-after_a_jitable", "int-after_an_overload_in_a_callee"])
@pytest.mark.parametrize("f", CHANGING)
@pytest.mark.parametrize("counter", [np.array([1.0]), np.array([1])], ids=["float", "int"])
def test_what_functions_change_that_others_overload_is_put_back(f, counter):
    x, c = np.arange(1.0, 1 + INPUTS), counter.copy()
    np.testing.assert_array_equal(nd.grad(f, mode="forward")(x, c), 4 * x)
    np.testing.assert_array_equal(c, [2])
    with pytest.raises(nd.UnsupportedError, match="may change its argument 'c'"):
        nd.grad(f, mode="forward")(x, List([1.0]))


cube = nd.checkpoint(njit(lambda x: x * x * x))


def rows_after_an_overload(x, c):
    increment(c)
    return np.array([cube(x[0]) * c[0], cube(x[1]) * c[0], cube(x[2]) * c[0]])


def test_what_overloads_change_is_put_back_for_every_row_of_a_jacobian():
    """The rows of what is checkpointed are made one by one."""
    c = np.array([1.0])
    found = nd.jacobian(rows_after_an_overload, mode="reverse")(np.ones(3), c)
    np.testing.assert_array_equal(found, 6.0 * np.eye(3))
    np.testing.assert_array_equal(c, [2.0])


TABLE = np.linspace(0.0, 1.0, 5)


def looked_up(table, x):
    raise NotImplementedError


@overload(looked_up)
def _looked_up(table, x):
    return lambda table, x: table[2] * x


def test_tables_given_to_functions_that_others_overload_stay_constant():
    found = nd.grad(lambda x: looked_up(TABLE, x[0]) + x.sum(), mode="forward")(np.ones(INPUTS))
    np.testing.assert_array_equal(found, [1.5] + [1.0] * (INPUTS - 1))


@register_jitable
def squares(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i]
    return s


@register_jitable
def put(a, i, value):
    a[i] = value


def reads(x):
    return squares(x) * looked_up(x, 2.0)


@pytest.mark.deep
def test_functions_that_others_overload_and_that_read_are_taken_everywhere():
    """What they may do is put back where functions are called again, and is no reason to refuse."""
    x, ones = np.linspace(0.5, 1.5, 5), np.ones(5)
    exact = 4 * x * x[2]
    exact[2] += 2 * (x @ x)
    for mode in "forward", "reverse":
        np.testing.assert_allclose(nd.grad(reads, mode=mode)(x), exact, rtol=1e-14)
    hessian = 4 * x[2] * np.eye(5)
    hessian[2] += 4 * x
    hessian[:, 2] += 4 * x
    inner = nd.grad(reads, mode="reverse")
    outer = nd.grad(lambda x: (inner(x) * x).sum(), mode="reverse")
    np.testing.assert_allclose(outer(x), hessian @ x + exact, rtol=1e-14)
    np.testing.assert_allclose(
        nd.batch(njit(reads), (0,))(np.stack((x, ones))), [reads_of(x), 10.0]
    )
    squared = njit(lambda z, a: squares(np.array([z])) - looked_up(a, 2.0))
    root = njit(lambda a: nd.root(squared, 1.0, a))
    assert root(x) == pytest.approx(np.sqrt(2 * x[2]), rel=1e-12)


def reads_of(x):
    return (x @ x) * x[2] * 2.0


def test_lists_that_a_jitable_function_reads_do_not_change():
    found = nd.grad(lambda x, c: x.sum() * squares(c), mode="forward")(np.ones(INPUTS), List([2.0]))
    np.testing.assert_array_equal(found, 4.0)


def filled_by_a_jitable(x):
    work = np.zeros(x.size)
    for i in range(x.size):
        put(work, i, x[i] * x[i])
    return squares(work)


def test_work_arrays_that_a_jitable_function_fills():
    x = np.linspace(0.5, 1.5, INPUTS)
    found = nd.grad(filled_by_a_jitable, mode="forward")(x)
    np.testing.assert_allclose(found, 4 * x**3, rtol=1e-14)
