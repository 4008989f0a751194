"""Special functions against mpmath, near their poles, roots and changes of method."""

import math
import random

import mpmath
import pytest
from mpmath import mp

from numbad.rules.special import digamma, polygamma, sinc_derivative
from tests.rules.scalar_cases import exact_sinc_derivative

draw = random.Random(5)
POSITIVE = [
    *(10 ** draw.uniform(-300, 15) for _ in range(60)),
    *(draw.uniform(0.01, 20.0) for _ in range(60)),
    *(1.0, 2.0, 10.0, 1.3116, 1.3117, 1.6116, 1.6117, 1.46163, 1.4616321449683622),
]
NEGATIVE = [-draw.uniform(0.0, 40.0) for _ in range(60)]


def error(value, exact):
    return abs(value - exact) / abs(exact)


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("x", POSITIVE)
def test_digamma_at_positive_arguments(x):
    assert error(digamma(x), mp.digamma(mpmath.mpf(x))) < 1e-14


@pytest.mark.parametrize("x", NEGATIVE)
def test_digamma_at_negative_arguments(x):
    exact = mp.digamma(mpmath.mpf(x))
    assert abs(digamma(x) - exact) < 1e-14 * max(abs(exact), 1)


@pytest.mark.parametrize("x", [-1e-300, -1 + 1e-12, -3 - 1e-9])
def test_digamma_beside_its_poles(x):
    assert error(digamma(x), mp.digamma(mpmath.mpf(x))) < 1e-14


@pytest.mark.parametrize("n", range(1, 7))
def test_polygamma_at_positive_arguments(n):
    for x in POSITIVE:
        exact = mp.zeta(n + 1, mpmath.mpf(x)) * mp.factorial(n) * (-1) ** (n + 1)
        if 1e-300 < abs(exact) < 1e300:
            assert error(polygamma(n, x), exact) < 1e-14, x


@pytest.mark.parametrize("n", range(1, 7))
def test_polygamma_at_negative_arguments(n):
    for x in NEGATIVE:
        exact = mp.polygamma(n, mpmath.mpf(x))
        scale = abs(exact) if n % 2 else abs(exact) + mp.factorial(n)
        assert abs(polygamma(n, x) - exact) < 1e-14 * scale, x


def test_polygamma_of_order_zero_is_digamma():
    assert polygamma(0, 2.5) == digamma(2.5)


@pytest.mark.parametrize("x", [0.0, -1.0, -7.0])
def test_at_the_poles(x):
    assert math.isnan(digamma(x))
    assert polygamma(1, x) == math.inf
    assert math.isnan(polygamma(2, x))


def test_at_infinity_and_nan():
    assert digamma(math.inf) == math.inf
    assert polygamma(1, math.inf) == 0.0
    for x in (-math.inf, math.nan):
        assert math.isnan(digamma(x))
        assert math.isnan(polygamma(1, x))
        assert math.isnan(polygamma(2, x))


@pytest.mark.parametrize("n", range(7))
def test_sinc_derivative(n):
    switch = 2.0 + 0.5 * n
    points = [draw.uniform(-20, 20) for _ in range(10)] + [0.0, 1e-9, switch, -switch - 1e-9]
    for x in points:
        exact = exact_sinc_derivative(n, mpmath.mpf(x))
        assert abs(sinc_derivative(n, x) - exact) < 2e-15, x


@pytest.mark.parametrize("z", [0.3 + 0.2j, -5.3 + 0.2j, 1e-9j])
def test_sinc_derivative_at_complex_arguments(z):
    for n in range(4):
        exact = exact_sinc_derivative(n, mp.mpmathify(z))
        assert abs(sinc_derivative(n, z) - exact) < 2e-15
