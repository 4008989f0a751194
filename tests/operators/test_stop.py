"""`stop_gradient` in both modes."""

import numpy as np
import pytest
from numba import njit, typed
from numba.core.errors import TypingError

import numbad as nd
from tests.reverse.ops.test_pulled import grad


def test_stop_gradient():
    assert nd.derivative(lambda x: x * nd.stop_gradient(x))(3.0) == 3.0
    gradient = nd.grad(lambda a: (a * nd.stop_gradient(a)).sum())(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [1.0, 2.0])
    second = nd.derivative(nd.derivative(lambda x: x**3 + nd.stop_gradient(x) ** 5))
    assert second(2.0) == 12.0
    assert nd.stop_gradient(3.0) == 3.0


A = np.array([0.5, 1.5, 2.5, -0.75])


def test_stop_gradient_of_scalars_arrays_and_tuples():
    def f(x, a):
        held = nd.stop_gradient(x * x)
        b = nd.stop_gradient(a)
        p = nd.stop_gradient((x, a))
        return held * x + b[0] * a[0] * x + p[0] * p[1][1] * a[1]

    by_x, by_a = grad(f, (0, 1))(2.0, A)
    assert by_x == 4.0 + A[0] * A[0]
    np.testing.assert_allclose(by_a, [A[0] * 2.0, 2.0 * A[1], 0.0, 0.0], rtol=1e-15)


def test_stop_gradient_in_a_loop():
    def f(x, n):
        s = x
        for _ in range(n):
            s = s * nd.stop_gradient(s)
        return s

    assert grad(f)(2.0, 3) == 2.0**7  # the slope of s**7 * x, s held


def write_seven(b):
    b[0] = 7.0


def number_written(x):
    b = nd.stop_gradient(x)
    b[0] = 7.0
    return x[0] * x[1] + b[0] * b[1] * x[1]


def differentiated_written(x):
    b = nd.stop_gradient(x)
    b += 2.0 * x
    b[0] = x[1]
    return x[0] * x[1] + b[0] * b[1]


def view_written(x):
    b = nd.stop_gradient(x[::-1])[:1]
    b[:] = 7.0
    return x[0] * x[1]


def source_written(x):
    y = 2.0 * x
    b = nd.stop_gradient(y)
    y[0] = 7.0 * x[0]
    return b[0] * x[1] + y[0]


def callee_writes(x):
    write_seven_compiled(nd.stop_gradient(x))
    return x[0] * x[1]


def member_written(x):
    p = nd.stop_gradient((x, x[0]))
    p[0][0] = 7.0
    return x[0] * x[1] * p[1]


def list_written(x):
    p = [x, 2.0 * x]
    q = nd.stop_gradient(p)
    q[0][0] = 7.0
    p.append(x)
    return x[0] * x[1] * q[1][1] * len(q) * len(p)


write_seven_compiled = njit(write_seven)
WRITING = {
    number_written: lambda a, b: (a * b + 7.0 * b * b, [b, a + 7.0 * b]),
    differentiated_written: lambda a, b: (a * b + 3.0 * b * b, [b, a + 5.0 * b]),
    view_written: lambda a, b: (a * b, [b, a]),
    source_written: lambda a, b: (2.0 * a * b + 7.0 * a, [7.0, 2.0 * a]),
    callee_writes: lambda a, b: (a * b, [b, a]),
    member_written: lambda a, b: (a * b * a, [b * a, a * a]),
    list_written: lambda a, b: (a * b * 2.0 * b * 6.0, [b * 12.0 * b, a * 12.0 * b]),
}


@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_is_written_to_a_stopped_array_stays_there(f, mode):
    value, gradient = WRITING[f](3.0, 2.0)
    x = np.array([3.0, 2.0])
    assert njit(f)(x) == value
    found = nd.value_and_grad(f, mode=mode)(x)
    assert found[0] == value
    np.testing.assert_array_equal(found[1], gradient)
    np.testing.assert_array_equal(x, [3.0, 2.0])


def test_a_copy_keeps_its_layout():
    for a in (np.ones((2, 3)), np.ones((2, 3)).T, np.ones((4, 6))[::2, ::2], np.array(2.0)):
        for stopped in (nd.stop_gradient(a), njit(lambda a: nd.stop_gradient(a))(a)):
            assert not np.shares_memory(stopped, a)
            assert stopped.flags.f_contiguous == a.flags.f_contiguous
            np.testing.assert_array_equal(stopped, a)


def test_structures_are_refused():
    with pytest.raises(TypingError, match="nd.stop_gradient of the numbers and arrays in it"):
        njit(lambda p: nd.stop_gradient(p))(typed.List([1.0]))


def of_records(x):
    a = np.zeros(2, RECORD)
    a[0].u = 2.0 * x
    return nd.stop_gradient(a)[0].u * x


def of_a_field(x):
    a = np.zeros(2, RECORD)
    a[0].u = 2.0 * x
    return nd.stop_gradient(a[0].u) * x


RECORD = np.dtype([("u", "f8"), ("v", "f8")])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_structured_arrays_are_refused_and_their_fields_taken(mode):
    with pytest.raises(TypingError, match="nd.stop_gradient of the numbers and arrays in it"):
        nd.grad(of_records, mode=mode)(3.0)
    assert nd.value_and_grad(of_a_field, mode=mode)(3.0) == (18.0, 6.0)
