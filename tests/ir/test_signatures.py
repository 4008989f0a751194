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
