"""Functions of scalars on lanes: the bits of the loop, also by the vectors of `nd.vector_math()`."""

import math

import numpy as np
import pytest
import scipy.special as sp
from numba import njit

import numbad as nd

SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e308,
    -1e308,
    5e-324,
    1e-310,
    1.0,
    -1.0,
    709.9,
    -745.2,
    1e9,
]
X = np.array([*SPECIAL, *np.linspace(-3.0, 3.0, 23)])

FUNCTIONS = {
    "exp": njit(lambda x: math.exp(x)),
    "exp of NumPy": njit(lambda x: np.exp(x)),
    "expm1": njit(lambda x: math.expm1(x)),
    "log": njit(lambda x: np.log(x)),
    "log1p": njit(lambda x: np.log1p(x)),
    "sin": njit(lambda x: math.sin(x)),
    "cos": njit(lambda x: math.cos(x)),
    "tanh": njit(lambda x: math.tanh(x)),
    "erf": njit(lambda x: math.erf(x)),
    "pow": njit(lambda x: abs(x) ** 1.7),
    "expit": njit(lambda x: sp.expit(x)),
    "log_expit": njit(lambda x: sp.log_expit(x)),
}


def _filled(function):
    """A loop over elements; the operator's name for its values."""

    def fill(x):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = function(x[i])
        return out

    return fill


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_bits_of_the_loop(function):
    batch = nd.batch(function, lanes=8)
    np.testing.assert_array_equal(batch(X), njit(_filled(function))(X))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_bits_of_the_loop_by_vectors(function):
    with nd.vector_math():
        batch, loop = nd.batch(function, lanes=8), nd.vjp(_filled(function))
    expected, _ = loop((X,), np.zeros(X.size))
    np.testing.assert_array_equal(batch(X), expected)
    np.testing.assert_array_equal(np.signbit(batch(X)), np.signbit(expected))


def _calls(operator):
    return [
        line
        for text in operator.inspect_llvm().values()
        for line in text.splitlines()
        if "call" in line
    ]


def test_one_call_for_all_lanes(monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")  # code from the disk cannot be inspected
    with nd.vector_math():
        batch = nd.batch(lambda x: math.exp(x) * math.sin(x), lanes=8)
    batch(X)
    assert any("<8 x double> @numbad.elementary.lanes.exp.8" in line for line in _calls(batch))
    plain = nd.batch(lambda x: math.exp(x) * math.sin(x), lanes=8)
    plain(X)
    assert not any("numbad.elementary.lanes" in line for line in _calls(plain))


def test_what_holds_no_doubles_stays_as_it_is():
    x = np.linspace(0.5, 2.0, 11, dtype=np.float32)
    with nd.vector_math():
        batch = nd.batch(lambda x: math.exp(x) + x**2, lanes=4)
    np.testing.assert_array_equal(batch(x), nd.batch(lambda x: math.exp(x) + x**2, lanes=None)(x))


def test_values_beside_derivatives_that_need_the_same_function():
    """The derivative of `erf` needs an exponential, which may be ours; that of the value may not."""

    def f(x):
        return math.exp(x) * math.erf(x) + math.exp(-x)

    x = np.linspace(-3.0, 3.0, 4001)  # in the last bit, a few differ
    value, (slope,) = nd.vjp(nd.batch(f, lanes=8))((x,), np.ones(x.size))
    np.testing.assert_array_equal(value, njit(_filled(njit(f)))(x))
    expected = np.exp(x) * (sp.erf(x) + 2.0 / math.sqrt(math.pi) * np.exp(-x * x)) - np.exp(-x)
    np.testing.assert_allclose(slope, expected, rtol=1e-13, atol=1e-14)


SMOOTH = {
    "exp": (lambda x: math.exp(-x * x), lambda x: -2.0 * x * np.exp(-x * x)),
    "erf": (lambda x: math.erf(x), lambda x: 2.0 / math.sqrt(math.pi) * np.exp(-x * x)),
    "sin": (lambda x: math.sin(x), np.cos),
    "cos": (lambda x: math.cos(x), lambda x: -np.sin(x)),
    "log1p": (lambda x: math.log1p(x * x), lambda x: 2.0 * x / (1.0 + x * x)),
    "pow": (lambda x: (1.5 + x * x) ** 1.7, lambda x: 3.4 * x * (1.5 + x * x) ** 0.7),
    "expit": (lambda x: sp.expit(x), lambda x: sp.expit(x) * sp.expit(-x)),
}


@pytest.mark.parametrize("by_vectors", [False, True])
@pytest.mark.parametrize(("function", "slope"), SMOOTH.values(), ids=SMOOTH)
def test_slopes(function, slope, by_vectors):
    x = X[len(SPECIAL) :]
    if by_vectors:
        with nd.vector_math():
            pull = nd.vjp(nd.batch(function, lanes=8))
    else:
        pull = nd.vjp(nd.batch(function, lanes=8))
    _, (found,) = pull((x,), np.ones(x.size))
    np.testing.assert_allclose(found, slope(x), rtol=1e-14, atol=1e-300)
