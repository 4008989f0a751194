"""C functions by their addresses: SciPy's through ctypes and Cython's capsules, and the user's own."""

import ctypes
import ctypes.util
import math

import numpy as np
import pytest
from numba import cfunc, float64, njit, types
from numba.extending import get_cython_function_address
from scipy import special

import numbad as nd

UNARY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
BINARY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


def of_scipy(name, kind=UNARY):
    return kind(get_cython_function_address("scipy.special.cython_special", name))


gammaln, beta = of_scipy("gammaln"), of_scipy("beta", BINARY)
erf, struve_integral = of_scipy("__pyx_fuse_1erf"), of_scipy("it2struve0")


@njit
def by_address(x):
    total = gammaln(x) * x
    for k in range(2):
        total += erf(x - k) ** 2
    return total + beta(x, 2.0)


def slope_of_it():
    x, pi = 2.5, math.pi
    density = [2.0 / math.sqrt(pi) * math.exp(-((x - k) ** 2)) for k in range(2)]
    slope = special.gammaln(x) + x * special.digamma(x)
    slope += sum(2.0 * special.erf(x - k) * density[k] for k in range(2))
    slope += special.beta(x, 2.0) * (special.digamma(x) - special.digamma(x + 2.0))
    return slope


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_of_scipy_by_address_bring_their_rules(mode):
    value, slope = nd.value_and_grad(by_address, mode=mode)(2.5)
    assert value == by_address(2.5)
    np.testing.assert_allclose(slope, slope_of_it(), rtol=1e-13)


def test_second_derivatives_of_functions_by_address():
    f = njit(lambda x: gammaln(x))
    exact = special.polygamma(1, 2.5)
    np.testing.assert_allclose(nd.derivative(nd.grad(f, mode="reverse"))(2.5), exact, rtol=1e-13)
    np.testing.assert_allclose(nd.derivative(nd.derivative(f))(2.5), exact, rtol=1e-13)


called_back = UNARY(special.cython_special.gammaln)  # no address: C calls Python's function
halved = UNARY(lambda x: 0.5 * x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_of_scipy_called_back(mode):
    """As straxen's `numba_gammaln`."""
    value, slope = nd.value_and_grad(lambda x: called_back(x) * x, mode=mode)(2.5)
    assert value == special.gammaln(2.5) * 2.5
    assert slope == pytest.approx(special.gammaln(2.5) + 2.5 * special.digamma(2.5), rel=1e-14)
    with pytest.raises(nd.UnsupportedError, match="a C function without a rule"):
        nd.grad(lambda x: halved(x), mode=mode)(2.5)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_has_no_rule_is_named(mode):
    f = njit(lambda x: struve_integral(x) * x)
    with pytest.raises(
        nd.UnsupportedError, match="scipy.special.cython_special.it2struve0, a C func"
    ):
        nd.grad(f, mode=mode)(1.0)
    assert nd.grad(njit(lambda x: struve_integral(2.0) * x), mode=mode)(1.0) == struve_integral(2.0)


library = ctypes.CDLL(ctypes.util.find_library("m"))
cubic_root = library.cbrt
cubic_root.restype, cubic_root.argtypes = ctypes.c_double, [ctypes.c_double]
arc = BINARY(ctypes.cast(library.atan2, ctypes.c_void_p).value)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_rules_for_functions_of_c_libraries(mode):
    f = njit(lambda x, y: cubic_root(x) * arc(y, x))
    nd.scalar_rule(cubic_root, lambda ans, x: 1.0 / (3.0 * ans * ans))
    nd.rule(
        arc,
        jvp=lambda p, t: (arc(*p), (p[1] * t[0] - p[0] * t[1]) / (p[0] ** 2 + p[1] ** 2)),
        vjp=(
            lambda y, x: (arc(y, x), (y, x)),
            lambda r, c: (c * r[1] / (r[0] ** 2 + r[1] ** 2), -c * r[0] / (r[0] ** 2 + r[1] ** 2)),
        ),
    )
    by_x, by_y = nd.grad(f, (0, 1), mode=mode)(8.0, 8.0)
    np.testing.assert_allclose(by_x, math.pi / 4.0 / 12.0 - 2.0 / 16.0, rtol=1e-14)
    np.testing.assert_allclose(by_y, 2.0 / 16.0, rtol=1e-14)


class LogNdtr(types.WrapperAddressProtocol):
    """A function of SciPy's as `numba_stats` calls it."""

    def __wrapper_address__(self):
        return get_cython_function_address("scipy.special.cython_special", "__pyx_fuse_1log_ndtr")

    def signature(self):
        return float64(float64)


log_ndtr = LogNdtr()
square = cfunc(float64(float64))(lambda x: x * x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_first_class_functions_and_callbacks(mode):
    f = njit(lambda x: log_ndtr(x) * square(x))
    x = 0.4
    density = math.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi)
    exact = density / special.ndtr(x) * x * x + 2.0 * x * special.log_ndtr(x)
    np.testing.assert_allclose(nd.grad(f, mode=mode)(x), exact, rtol=1e-13)
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(lambda x, g: g(x) * x, mode=mode)(x, log_ndtr)
    assert "defect" not in str(caught.value)


def test_an_address_alone_is_no_function():
    with pytest.raises(nd.NumbadError, match=r"ctypes.CFUNCTYPE.*\(address\)"):
        nd.rule(140_000_000, jvp=lambda primals, tangents: (0.0, 0.0))
