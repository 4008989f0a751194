"""Arrays of constants that one of several returns gives, and arrays of dual numbers that another gives.

The callers write to them under either name. The oracle: differences of the function itself.
"""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.forward.promote import PromoteAllocations

W = np.array([1.5, 2.5, 3.5])


@njit
def scaled(x, w, flag):
    if flag:
        return x * w
    return w


@njit
def handed_on(x, w, flag):
    return scaled(x, w, flag)


@njit
def tail(x, w, flag):
    if flag:
        return x * w[1:]
    return w[1:]


@njit
def one_of_three(x, u, w, k):
    if k == 0:
        return u
    if k == 1:
        return w
    return u * x


@njit
def counted(x, u, w, k):
    if k == 0:
        return u, 1
    if k == 1:
        return w, 2
    return u * x, 3


def read(x, w, k):
    part, factor = counted(x, W, w, k)
    return part.sum() * factor * x


def written_to_and_given(x, w, k):
    w[0] = 3.0
    if k == 0:
        return w
    return w * x


def constant_written_to_the_result(x, w, k):
    r = handed_on(x, w, k)
    r[0] = 7.0
    return w[0] * x + r[1] * x


def constant_written_to_the_argument(x, w, k):
    r = scaled(x, w, k)
    w[0] = 7.0
    return r[0] * x + w[1]


def dual_written_to_the_result(x, w, k):
    r = scaled(x, w, k)
    r[0] = x * x
    return w[0] * x + r[1] * x


def dual_written_to_the_argument(x, w, k):
    r = handed_on(x, w, k)
    w[0] = x
    return r[0] * x + w[1]


def view_written_to(x, w, k):
    r = tail(x, w, k)
    w[1] = x
    r[1] = 9.0
    return r[0] * x + w[2]


def arrays_made_here(x, w, k):
    u = np.ones(3)
    r = one_of_three(x, u, w, k)
    u[0], w[0] = x, 2.0 * x
    s = one_of_three(x, u, w, k)
    s[1] = 5.0
    return r[0] * x + u[1] * w[1]


def tuples(x, w, k):
    u = np.ones(3)
    r, n = counted(x, u, w, k)
    u[0], w[0] = x, x * x
    r[1] = 4.0
    return r[0] * x * n + u[1] * w[1]


def in_lists(x, w, k):
    parts = [scaled(x, w, k), w]
    parts[0][1] = x
    return parts[1][1] * x + parts[0][0]


def in_a_loop(x, w, k):
    y = w
    for i in range(3):
        y = scaled(x, y, k)
        y[i] += 1.0
    return w[0] * x + y[1] * y[2]


def the_argument_itself(x, w, k):
    r = scaled(x, w, k)
    r[0] = 5.0
    return w


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize(
    "f",
    [
        read,
        written_to_and_given,
        constant_written_to_the_result,
        constant_written_to_the_argument,
        dual_written_to_the_result,
        dual_written_to_the_argument,
        view_written_to,
        arrays_made_here,
        tuples,
        in_lists,
        in_a_loop,
        the_argument_itself,
    ],
)
def test_callers_see_what_is_written_to_either(f, k):
    compiled, step = njit(f), 1e-6
    after = W.copy()
    compiled(1.3, after, k)
    ahead, behind = (compiled(1.3 + h, W.copy(), k) for h in (step, -step))
    w = W.copy()
    found = nd.jacobian(f, mode="forward")(1.3, w, k)
    np.testing.assert_allclose(found, (ahead - behind) / (2 * step), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(w, after)


def test_what_a_tuple_of_constants_holds_is_to_be_copied():
    """A copy of it in duals would hide what the caller writes to the tuple's array."""

    @njit
    def inner(a, pair):
        if a < 1:
            return pair[0]
        return pair[1] * a

    def f(a, pair):
        r = inner(a, pair)
        pair[0][0] = 3.0
        return r.sum()

    with pytest.raises(nd.UnsupportedError, match=r"def inner[^$]*return y0.copy\(\) in place of"):
        nd.grad(f, mode="forward")(1.3, (W.copy(), W.copy()))
    found = nd.grad(f, mode="reverse")(1.3, (W.copy(), W.copy()))
    assert found == pytest.approx(W.sum())


@njit
def element(x, table, k):
    if k == 0:
        return table[0]
    return table[1] * x


@njit
def pair(x, table, k):
    if k == 0:
        return table[0], table[1]
    return table[1] * x, x


@njit
def of_numbers(x, table, k):
    first, second = pair(x, table, k)
    return element(x, table, k) + first * second


def with_a_table(x, k):
    table = np.array([1.0, 2.0, 3.0])
    return of_numbers(x, table, k) + pair(x, table, k)[1]


def test_tables_whose_numbers_several_returns_give_stay_constants(monkeypatch):
    """Numbers share no memory with the table that they are from."""
    wrapped = []
    wrap = PromoteAllocations._wrap
    monkeypatch.setattr(
        PromoteAllocations,
        "_wrap",
        staticmethod(
            lambda func_ir, names, *args: wrapped.append(names) or wrap(func_ir, names, *args)
        ),
    )
    assert nd.grad(with_a_table, mode="forward")(2.0, 1) == pytest.approx(2 + 4 * 2.0 + 1)
    assert not any(wrapped)
