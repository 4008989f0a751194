"""What Numba compiled for given signatures converts its arguments and its result; so do its derivatives."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

MODES = "forward", "reverse"
declared = []


def declare(*signatures):
    """As `njit` with signatures, but compiled when the tests run, not where a worker collects them."""

    def register(f):
        declared.append((njit(f), signatures))
        return declared[-1][0]

    return register


@pytest.fixture(scope="module", autouse=True)
def compiled():
    for function, signatures in declared:
        for signature in signatures:
            function.compile(signature)
        function.disable_compile()


@declare("float64(int64)")
def square(n):
    return n * n * 1.0


@declare("int64(float64)")
def whole(x):
    return x * 1.5


@declare("float32(float32)")
def third(x):
    return x / 3


@declare("Tuple((int64, float64))(float64)")
def parts(x):
    return 2.5 * x, x * x


@declare("float64(int32)")
def factorial(n):
    return 1.0 if n <= 1 else n * factorial(n - 1)


@declare("float64(float64, int64)", "float64(float64, float64)")
def power(x, n):
    return x**n


@declare("void(float64[:], int64)")
def scale(a, n):
    a[0] = n * a[1]


@declare("float64(float64, optional(float64), boolean)")
def over(x, y, divided):
    if divided:
        return x * (1 / y)
    return x * x


@declare(
    "float64(float64, optional(float64[:,::1]), optional(float64[::1,:]), optional(float64[:]))"
)
def from_any(x, rows, columns, parts):
    if rows is not None:
        x *= rows[0, 1]
    if columns is not None:
        x *= columns[1, 0]
    if parts is not None:
        x *= parts[0]
    return x


@declare("optional(float64)(float64, optional(int64))")
def many_or_none(x, n):
    if n is None:
        return None
    return n * x


@declare("float64(float64, optional(float64))")
def many_or_zero(x, n):
    return 0.0 if n is None else n * x


def maybe_none(x):
    return over(x, None, False) + over(x, x * x, True) + over(x, np.float32(1.5), True)


@njit
def count_or_none(n):
    return None if n < 0 else n


def of_what_may_be_none(x):
    return many_or_zero(x, count_or_none(2)) * x + many_or_zero(x, count_or_none(-1))


def arrays_or_none(x):
    rows, parts = np.array([[1.0, x]]), np.array([x, 1.0])
    numbers = from_any(x, rows, None, None) + 2 * from_any(x, None, rows.T, None)
    return numbers + 3 * from_any(x, None, None, parts[::2]) + 4 * from_any(x, None, None, None)


def results_that_may_be_none(x):
    twice, none = many_or_none(x, 2.5), many_or_none(x, None)
    return (0.0 if twice is None else twice * x) + (x if none is None else none * x)


def numbers(x, y):
    return square(x) * y + whole(x) * x + factorial(y) * x + power(x, 3) + power(y, 2.0)


def of_tuples(x):
    whole, square = parts(x)
    return whole * x + square


def arrays(a):
    b = a.copy()
    scale(b, a[0])
    return b[0] * third(a[1])


@pytest.mark.parametrize("mode", MODES)
def test_arguments_and_results_are_converted(mode):
    """At (2.5, 3.7): 4 y + 3 x + 6 x + x**3 + y**2."""
    value, gradient = nd.value_and_grad(numbers, argnums=(0, 1), mode=mode)(2.5, 3.7)
    assert value == njit(numbers)(2.5, 3.7)
    assert gradient == pytest.approx((9.0 + 3 * 2.5**2, 4.0 + 2 * 3.7), rel=1e-14)
    assert nd.value_and_grad(square, mode=mode)(2.5) == (4.0, 0.0)


@pytest.mark.parametrize("mode", MODES)
def test_arrays_and_narrow_numbers(mode):
    a = np.array([2.5, 0.1])
    value, gradient = nd.value_and_grad(arrays, mode=mode)(a)
    assert value == njit(arrays)(a)  # rounded to 32 bits on the way
    np.testing.assert_allclose(gradient, [0.0, 2 * 2 * 0.1 / 3], rtol=1e-6)


@pytest.mark.deep
def test_second_order():
    hessian = nd.hessian(lambda a: power(a[0], 3) * square(a[1]))(np.array([2.0, 2.5]))
    assert hessian.tolist() == [[48.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("mode", MODES)
def test_members_of_tuples_are_converted(mode):
    """At 1.5: 3 x + x**2; the first member is int(3.75)."""
    value, slope = nd.value_and_grad(of_tuples, mode=mode)(1.5)
    assert value == njit(of_tuples)(1.5) == 3 * 1.5 + 1.5**2
    assert slope == pytest.approx(3.0 + 2 * 1.5, rel=1e-14)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("function", "slope", "second"),
    [
        (maybe_none, 2 * 1.3 - 1.3**-2 + 1 / 1.5, 2 + 2 * 1.3**-3),  # x**2 + 1/x + x/1.5
        (arrays_or_none, 12 * 1.3 + 4, 12.0),  # 6 x**2 + 4 x
        (of_what_may_be_none, 4 * 1.3, 4.0),  # 2 x**2
        (results_that_may_be_none, 4 * 1.3 + 1, 4.0),  # 2 x**2 + x
    ],
)
@pytest.mark.dear
def test_none_where_the_signature_says_optional(mode, function, slope, second):
    """As in pandapipes' `derivatives_branch_thermal_numba`, whose branch for None does not run."""
    value, found = nd.value_and_grad(function, mode=mode)(1.3)
    assert value == njit(function)(1.3)
    assert found == pytest.approx(slope, rel=1e-14)
    twice = nd.grad(nd.grad(function, mode=mode), mode=mode)(1.3)
    assert twice == pytest.approx(second, rel=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_an_operator_on_what_was_declared(mode):
    assert nd.grad(over, mode=mode)(1.3, None, False) == 2.6
    assert nd.grad(over, mode=mode)(1.3, 4, True) == 0.25
