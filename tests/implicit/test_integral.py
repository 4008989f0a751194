"""`nd.quad` against closed forms and mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from numba import njit

import numbad as nd

from .test_root import both_modes, close


@njit
def density(x, mean, deviation):
    z = (x - mean) / deviation
    return math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))


@njit
def below(x, mean, deviation):
    return nd.quad(density, -math.inf, x, (mean, deviation), 1e-12, 1e-12)


@njit
def above(x, mean, deviation):
    return nd.quad(density, x, math.inf, (mean, deviation), 1e-12, 1e-12)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("tail", "sign", "mode"),
    [(below, 1.0, "forward"), (below, 1.0, "reverse"), (above, -1.0, "forward")],
)
def test_normal_distribution(tail, sign, mode):
    x, mean, deviation = 1.0, 0.3, 2.0
    z = (x - mean) / deviation
    p = math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
    gradient = nd.grad(tail, (0, 1, 2), mode=mode)
    close(tail(x, mean, deviation), 0.5 * math.erfc(-sign * z / math.sqrt(2.0)), 1e-10)
    close(gradient(x, mean, deviation), [sign * p, -sign * p, -sign * p * z], 1e-9)
    by_x = njit(lambda x, m, s: gradient(x, m, s)[0])
    second = nd.grad(by_x, (0, 1, 2), mode=mode)(x, mean, deviation)
    slope = sign * p / deviation
    close(second, [-slope * z, slope * z, slope * (z * z - 1.0)], 1e-9)


def test_whole_line_and_reversed_limits():
    close(nd.quad(density, -math.inf, math.inf, (0.3, 2.0)), 1.0, 1e-8)
    close(nd.quad(density, math.inf, -math.inf, (0.3, 2.0)), -1.0, 1e-8)
    close(nd.quad(density, 2.0, -1.0, (0.0, 1.0)), -nd.quad(density, -1.0, 2.0, (0.0, 1.0)))
    assert nd.quad(density, 1.0, 1.0, (0.0, 1.0)) == 0.0


@njit
def elliptic(x, m):
    s = math.sin(x)
    return 1.0 / math.sqrt(1.0 - m * s * s)


@pytest.mark.deep
def test_elliptic_integral():
    @njit
    def incomplete(phi, m):
        return nd.quad(elliptic, 0.0, phi, (m,), epsabs=1e-12, epsrel=1e-12)

    with mp.workdps(30):
        orders = [(1, 0), (0, 1), (1, 1), (0, 2)]
        by_phi, by_m, mixed, twice = (mp.diff(mp.ellipf, (1.2, 0.7), n) for n in orders)
    gradient = nd.grad(incomplete, (0, 1), mode="forward")
    close(gradient(1.2, 0.7), [by_phi, by_m], 1e-10)
    second = njit(lambda phi, m: gradient(phi, m)[1])
    close(nd.grad(second, (0, 1), mode="forward")(1.2, 0.7), [mixed, twice], 1e-9)


@njit
def power(x, p):
    return x**p


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_gamma_function(mode):
    @njit
    def integrand(x, a):
        return x ** (a - 1.0) * math.exp(-x)

    @njit
    def gamma(a):
        return nd.quad(integrand, 0.0, math.inf, a, 1e-11, 1e-11)

    with mp.workdps(30):
        expected = [mp.diff(mp.gamma, 3.7, n) for n in (0, 1)]
    close([gamma(3.7), nd.grad(gamma, mode=mode)(3.7)], expected, 1e-9)


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@both_modes
def test_array_of_parameters_in_a_tuple(mode):
    @njit
    def polynomial(x, model):
        scale, coefficients = model
        total = 0.0
        for k in range(coefficients.size):
            total += coefficients[k] * x**k
        return scale * total

    @njit
    def area(scale, coefficients, a, b):
        return nd.quad(polynomial, a, b, ((scale, coefficients),))

    scale, c, a, b = 0.5, np.array([1.0, 2.0, 3.0]), 0.5, 2.0
    powers = np.arange(3)
    moments = (b ** (powers + 1) - a ** (powers + 1)) / (powers + 1)
    found = nd.grad(area, (0, 1, 2, 3), mode=mode)(scale, c, a, b)
    close(found[0], c @ moments)
    close(found[1], scale * moments)
    close(found[2:], [-scale * (c @ a**powers), scale * (c @ b**powers)])


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_limit_where_the_integrand_is_infinite(mode):
    f = njit(lambda a: nd.quad(power, a, 1.0, (-0.5,)))
    with pytest.raises(nd.SingularError, match="not finite at a limit"):
        nd.grad(f, mode=mode)(0.0)


@pytest.mark.deep(but=["forward"])
@both_modes
def test_a_fixed_limit_may_be_singular(mode):
    """The integral of `x**-0.5` from zero to `b` is `2 sqrt(b)`."""
    f = njit(lambda b: nd.quad(power, 0, b, (-0.5,)))
    close(nd.grad(f, mode=mode)(4.0), 0.5)
    close(nd.grad(nd.grad(f, mode=mode))(4.0), -0.5 * 4.0**-1.5)
