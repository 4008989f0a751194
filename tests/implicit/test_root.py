"""`nd.root` and `nd.fixed_point`: values and derivatives against closed forms and mpmath."""

import math
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import mpmath as mp
import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd

MODES = ("forward", "reverse")
both_modes = pytest.mark.parametrize("mode", MODES)


def close(value, expected, rtol=1e-11):
    np.testing.assert_allclose(value, np.array(expected, dtype=float), rtol=rtol, atol=1e-13)


@njit
def square(x, a):
    return x * x - a


@njit
def root_of(a):
    return nd.root(square, 1.0, (a,))


@njit
def kepler(x, mean, eccentricity):
    return x - eccentricity * math.sin(x) - mean


@njit
def anomaly(mean, eccentricity):
    return nd.root(kepler, mean, (mean, eccentricity))


def mp_anomaly(mean, eccentricity):
    return mp.findroot(lambda x: x - eccentricity * mp.sin(x) - mean, mean)


def test_value_from_python_and_from_compiled_code():
    close(nd.root(lambda x, a: x * x - a, 1, (2.0,)), math.sqrt(2.0), 1e-15)
    close(root_of(2.0), math.sqrt(2.0), 1e-15)


@pytest.mark.deep
@both_modes
def test_square_root_to_third_order(mode):
    first = nd.grad(root_of, mode=mode)
    close(first(2.0), 0.5 * 2.0**-0.5)
    second = nd.grad(first, mode=mode)
    close(second(2.0), -0.25 * 2.0**-1.5)
    close(nd.derivative(second)(2.0), 0.375 * 2.0**-2.5)


@pytest.mark.deep(but=["forward-reverse"])
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_kepler_to_second_order(inner, outer):
    point = (0.7, 0.6)
    with mp.workdps(30):
        first = [mp.diff(mp_anomaly, point, n) for n in ((1, 0), (0, 1))]
        second = [mp.diff(mp_anomaly, point, n) for n in ((1, 1), (0, 2))]
    gradient = nd.grad(anomaly, (0, 1), mode=inner)
    close(gradient(*point), first)
    by_eccentricity = njit(lambda mean, e: gradient(mean, e)[1])
    close(nd.grad(by_eccentricity, (0, 1), mode=outer)(*point), second)


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_lambert_w(mode):
    @njit
    def equation(w, z):
        return w * math.exp(w) - z

    @njit
    def lambert(z):
        return nd.root(equation, 1.0, z)  # args need not be a tuple

    with mp.workdps(30):
        expected = [mp.diff(mp.lambertw, 2.0, n) for n in range(3)]
    first = nd.grad(lambert, mode=mode)
    close([lambert(2.0), first(2.0), nd.derivative(first)(2.0)], expected)


Option = namedtuple("Option", "spot strike rate time")


@njit
def call_price_error(vol, option, price):
    deviation = vol * math.sqrt(option.time)
    forward = option.spot * math.exp(option.rate * option.time)
    d = math.log(forward / option.strike) / deviation + 0.5 * deviation
    up = 0.5 * math.erfc(-d / math.sqrt(2.0))
    down = 0.5 * math.erfc((deviation - d) / math.sqrt(2.0))
    return math.exp(-option.rate * option.time) * (forward * up - option.strike * down) - price


@njit
def implied(option, price):
    return nd.root(call_price_error, 0.5, (option, price), bracket=(1e-3, 5.0))


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_implied_volatility_by_a_namedtuple(mode):
    """1 / vega and -delta / vega, of Black and Scholes."""
    option, vol = Option(100.0, 110.0, 0.03, 0.5), 0.25
    price = call_price_error.py_func(vol, option, 0.0)
    by_option, by_price = nd.grad(implied, (0, 1), mode=mode)(option, price)
    deviation = vol * math.sqrt(option.time)
    d = (math.log(100.0 / 110.0) + (0.03 + 0.5 * vol**2) * 0.5) / deviation
    vega = 100.0 * math.sqrt(0.5) * math.exp(-0.5 * d * d) / math.sqrt(2.0 * math.pi)
    delta = 0.5 * math.erfc(-d / math.sqrt(2.0))
    close(implied(option, price), vol)
    close(by_price, 1.0 / vega)
    close(by_option.spot, -delta / vega)
    assert type(by_option) is Option


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_fixed_point_of_a_mean_field(mode):
    """A magnet: x = tanh((h + x) / t)."""

    @njit
    def field(x, h, t):
        return math.tanh((h + x) / t)

    @njit
    def magnet(h, t):
        return nd.fixed_point(field, 0.5, (h, t))

    h, t = 0.3, 1.5
    with mp.workdps(30):

        def solved(h, t):
            return mp.findroot(lambda x: mp.tanh((h + x) / t) - x, 0.6)

        expected = [mp.diff(solved, (h, t), n) for n in ((1, 0), (0, 1), (2, 0), (1, 1))]
    gradient = nd.grad(magnet, (0, 1), mode=mode)
    by_h = njit(lambda h, t: gradient(h, t)[0])
    close([*gradient(h, t), *nd.grad(by_h, (0, 1), mode=mode)(h, t)], expected, 1e-9)


@pytest.mark.deep
def test_a_root_whose_equation_integrates():
    """The median of a gamma density, found from its integral."""

    @njit
    def density(x, shape):
        return x ** (shape - 1.0) * math.exp(-x) / math.gamma(shape)

    @njit
    def excess(x, shape):
        return nd.quad(density, 0.0, x, (shape,), epsabs=1e-12, epsrel=1e-12) - 0.5

    @njit
    def median(shape):
        return nd.root(excess, shape, (shape,))

    with mp.workdps(30):

        def exact(shape):
            return mp.findroot(lambda x: mp.gammainc(shape, 0, x, True) - mp.mpf(1) / 2, shape)

        expected = [exact(2.5), mp.diff(exact, 2.5)]
    close([median(2.5), nd.grad(median, mode="reverse")(2.5)], expected, 1e-9)


@pytest.mark.deep(but=["forward"])
@both_modes
def test_constants_beside_what_is_differentiated(mode):
    """x = a**2 / (3 * 2), to second order."""

    @njit
    def equation(x, pair, c, k):
        a, b = pair
        return b * c[0] * k * x - a * a

    @njit
    def solution(a):
        return nd.root(equation, 1.0, ((a, 3.0), np.ones(2), 2))

    close(nd.grad(solution, mode=mode)(4.0), 4.0 / 3.0)
    close(nd.grad(nd.grad(solution, mode=mode))(4.0), 1.0 / 3.0)


def test_start_and_bracket_are_no_variables():
    @njit
    def f(x0, a):
        return nd.root(square, x0, (a,), bracket=(0.0, x0 + 5.0))

    for mode in MODES:
        close(nd.grad(f, (0, 1), mode=mode)(1.0, 2.0), (0.0, 0.5 * 2.0**-0.5))


def test_a_root_that_depends_on_nothing():
    @njit
    def f(a):
        return a * nd.root(square, 1.0, (4.0,))

    for mode in MODES:
        close(nd.grad(f, mode=mode)(3.0), 2.0)


@both_modes
def test_no_heap_allocation_for_floats(mode):
    gradient = nd.grad(anomaly, (0, 1), mode=mode)
    gradient(0.2, 0.5)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats().alloc
        gradient(0.3, 0.5)
        assert rtsys.get_allocation_stats().alloc == before
    finally:
        _nrt_python.memsys_disable_stats()


def test_threads():
    @njit(nogil=True)
    def equation(x, a):
        return math.exp(x) - a

    f = njit(lambda a: nd.root(equation, 0.0, (a,)), nogil=True)
    gradient = nd.grad(f, mode="reverse")
    points = np.linspace(0.5, 9.0, 200)
    with ThreadPoolExecutor(4) as pool:
        close(list(pool.map(gradient, points)), 1.0 / points)


@both_modes
def test_arguments_left_to_their_defaults(mode):
    @njit
    def equation(x, a, factor=2.0):
        return x * x - a * factor

    close(nd.grad(lambda a: nd.root(equation, 1.0, (a,)), mode=mode)(8.0), 0.25)


@njit
def _scaled(z, scale, known):
    return z - known[0] * scale


@both_modes
def test_inner_and_outer_derivatives_by_different_arguments(mode):
    """Of scale y**2: by the scale inside, by y, which comes in an array, outside."""

    @njit
    def solved(scale, y):
        known = np.empty(1)
        known[0] = y * y
        return nd.root(_scaled, 0.0, (scale, known))

    slope = nd.derivative(solved)
    close(nd.grad(lambda y: slope(0.3, y), mode=mode)(0.7), 1.4)
