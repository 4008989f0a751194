"""Functions in lanes: which of them go through together, what comes back, and what is refused."""

import math
from typing import NamedTuple

import numba
import numpy as np
import pytest

import numbad as nd
from asv_bench.benchmarks import problems
from asv_bench.benchmarks.problems import gaussian_mixture, heston, heston_in_blocks
from tests.reverse import complex_step

X = np.array([0.5, -1.0, 2.0, 0.25, 1.5])


@numba.njit
def added(values):
    total = 0.0
    for value in values:
        total += value
    return total


def kepler(e, m):
    anomaly = m
    for _ in range(50):
        step = (anomaly - e * math.sin(anomaly) - m) / (1.0 - e * math.cos(anomaly))
        anomaly = anomaly - step
        if abs(step) < 1e-12:
            break
    return anomaly


def positive(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x


def drawn(x):
    return x * np.random.normal()


def drawn_from(x, rng):
    return x * rng.normal()


def printed(x):
    print("once for each")
    return x


def in_bytes(x, z):
    return x * z.itemsize


def factorial(x, n):
    if n == 0:
        return 1.0
    return x * factorial_(x, n - 1)


factorial_ = numba.njit(factorial)


def counted(x):
    n = 0
    if x > 0.0:
        n = 1
    return x * n


def halvings(x):
    n = 0
    while x > 1.0:
        x, n = 0.5 * x, n + 1
    return x * n


def loop_within(x):
    n = 0
    if x > 0.0:
        for _ in range(3):
            n = n + 2
    return n * x


def remainder(x):
    if x > 1.0:
        return x % 0.3
    return x


REFUSED = {
    "the count of a loop that lanes leave at different times": (halvings, (0,), (X,)),
    "a branch that raises": (positive, (0,), (X,)),
    "random numbers": (drawn, (0,), (X,)),
    "a generator": (drawn_from, (0, None), (X, np.random.default_rng(0))),
    "print": (printed, (0,), (X,)),
    "the bytes of an array": (in_bytes, (0, 0), (X, np.ones((5, 2)))),
    "recursion": (factorial_, (0, None), (X, 2)),
    "an integer that differs": (counted, (0,), (X,)),
    "integers of a loop within a branch": (loop_within, (0,), (X,)),
    "a remainder within a branch": (remainder, (0,), (X,)),
    "integers that differ": (lambda x, k: x * k, (0, 0), (X, np.arange(5))),
    "complex numbers": (lambda x, z: x * abs(z), (0, 0), (X, X + 1j)),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_lanes_are_refused(case):
    f, axes, args = case
    with pytest.raises(nd.UnsupportedError, match="cannot run in 4 lanes"):
        nd.batch(f, axes, lanes=4)(*args)


@pytest.mark.parametrize("by_vectors", [True, False])
def test_loops_that_lanes_leave_at_different_times(by_vectors):
    """Kepler's equation: its derivatives by the implicit function theorem."""
    e, m = np.linspace(0.0, 0.8, 11), np.linspace(0.3, 5.5, 11)
    if by_vectors:
        with nd.vector_math():
            batch, gradient = nd.batch(kepler), nd.batch(nd.grad(kepler, argnums=(0, 1)))
    else:
        batch = nd.batch(kepler, lanes=4)
        gradient = nd.batch(nd.grad(kepler, argnums=(0, 1)), lanes=4)
    anomaly = batch(e, m)
    np.testing.assert_allclose(anomaly - e * np.sin(anomaly), m, rtol=1e-13)
    slope = 1.0 / (1.0 - e * np.cos(anomaly))
    np.testing.assert_allclose(gradient(e, m), (np.sin(anomaly) * slope, slope), rtol=1e-10)


def _ratio(x, y):
    return x / y


def _guarded(x, y):
    if y != 0.0:
        return x / y
    return 0.0


@pytest.mark.parametrize("lanes", [4, None])
def test_division_by_zero(lanes):
    y = np.array([1.0, 2.0, 0.0, 4.0, 5.0])
    with pytest.raises(ZeroDivisionError):
        nd.batch(_ratio, lanes=lanes)(X, y)
    quiet = nd.batch(numba.njit(error_model="numpy")(_ratio), lanes=lanes)
    assert quiet(X, y)[2] == np.inf
    safe = nd.batch(_guarded, lanes=lanes)
    assert safe(X, y)[2] == 0.0
    _, (by_x, by_y) = nd.vjp(safe)((X, y), np.ones(5))
    np.testing.assert_allclose(by_x, [1.0, 0.5, 0.0, 0.25, 0.2])
    np.testing.assert_allclose(by_y, [-0.5, 0.25, 0.0, -0.25 / 16, -1.5 / 25], rtol=1e-15)


@pytest.mark.parametrize("lanes", [4, None])
def test_single_precision(lanes):
    def f(x, y):
        r = x * y
        if r > 0.5:
            r = math.sqrt(r) + x / y
        return r

    x, y = X.astype(np.float32), np.float32(1.25) - X.astype(np.float32)
    batch = nd.batch(f, lanes=lanes)
    compiled = numba.njit(f)
    expected = [compiled(*pair) for pair in zip(x, y, strict=True)]
    found = batch(x, y)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    _, cotangents = nd.vjp(batch)((x, y), np.ones(5, found.dtype))
    for k, mine in enumerate(cotangents):
        assert mine.dtype == np.float32
        for i in range(5):
            one = complex_step.jacobian(compiled, (float(x[i]), float(y[i])), (k,))[0][0]
            np.testing.assert_allclose(mine[i], one, rtol=1e-5)


def _smooth(x, a):
    r = math.exp(-a * x)
    if x > 0.4:
        r = r + a * a * x
    return r


@pytest.mark.dear
def test_forward_mode_and_second_order():
    batch = nd.batch(_smooth, (0, None))

    def total(x, a):
        return added(batch(x, a))

    a = 0.75
    first = np.sum(-X * np.exp(-a * X) + np.where(X > 0.4, 2.0 * a * X, 0.0))
    second = np.sum(X * X * np.exp(-a * X) + np.where(X > 0.4, 2.0 * X, 0.0))
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(nd.grad(total, 1, mode=mode)(X, a), first)
    np.testing.assert_allclose(nd.derivative(nd.grad(total, 1, mode="reverse"), 1)(X, a), second)
    np.testing.assert_allclose(nd.grad(nd.grad(total, 1, mode="forward"), 1)(X, a), second)
    jacobian = nd.jacobian(batch, 1, mode="reverse")(X, a)
    np.testing.assert_allclose(jacobian.sum(), first)


def test_a_derivative_of_each_element():
    slopes = nd.batch(nd.grad(_smooth), (0, None))
    a = 0.75
    expected = -a * np.exp(-a * X) + np.where(X > 0.4, a * a, 0.0)
    np.testing.assert_allclose(slopes(X, a), expected)


class Pair(NamedTuple):
    a: float
    b: float


def _of_pair(x, p):
    return Pair(x * p.a, float(x) + p.b)


@pytest.mark.parametrize("lanes", [4, None])
def test_namedtuples(lanes):
    batch = nd.batch(_of_pair, (0, None), lanes=lanes)
    found = batch(X, Pair(2.0, 3.0))
    assert isinstance(found, Pair)
    np.testing.assert_array_equal(found, (2.0 * X, X + 3.0))
    seed = Pair(np.ones(5), np.arange(5.0))
    _, (by_x, by_p) = nd.vjp(batch)((X, Pair(2.0, 3.0)), seed)
    np.testing.assert_array_equal(by_x, 2.0 + np.arange(5.0))
    np.testing.assert_allclose(by_p, (X.sum(), 10.0))


@pytest.mark.parametrize("lanes", ["auto", 4, None])
def test_what_is_the_same_for_all(lanes):
    """Results that depend on no lane, ints and booleans among the arguments, defaults."""
    constant = nd.batch(lambda x: (2.0, 3), lanes=lanes)(X)
    np.testing.assert_array_equal(constant, (np.full(5, 2.0), np.full(5, 3)))
    assert constant[1].dtype == np.int64
    scaled = nd.batch(lambda x, n, yes: x * n if yes else x, (0, None, None), lanes=lanes)
    np.testing.assert_array_equal(scaled(X, 3, True), 3.0 * X)
    np.testing.assert_array_equal(scaled(X, 3, False), X)
    assert nd.batch(lambda x, a=2.0: a * x, (0, None), lanes=lanes)(X)[1] == -2.0


@pytest.mark.deep
def test_the_benchmark():
    """P4 of asv_bench: its adjoint by hand agrees with complex step."""
    par, strike, horizon, z1, z2 = heston.shorten(problems.load()["P4"])
    price, by_par = heston.adjoint(par, strike, horizon, z1, z2)
    turned = np.ascontiguousarray(z1.T), np.ascontiguousarray(z2.T)
    for axis, normals in ((0, (z1, z2)), (1, turned)):
        gradient = nd.value_and_grad(heston.batched(axis, lanes=8), mode="reverse")
        value, found = gradient(par, strike, horizon, *normals)
        assert value == pytest.approx(price, rel=1e-13)
        np.testing.assert_allclose(found, by_par, rtol=1e-11)
    value, found = heston_in_blocks.adjoint(par, strike, horizon, *turned)
    assert value == pytest.approx(price, rel=1e-13)
    np.testing.assert_allclose(found, by_par, rtol=1e-11)


@pytest.mark.deep
def test_a_mixture_of_densities():
    """P2 of asv_bench, whose function of a point fills arrays, beside its adjoint by hand."""
    given = gaussian_mixture.shorten(problems.load()["P2"])
    value, expected = gaussian_mixture.adjoint(*given)
    gradient = nd.value_and_grad(gaussian_mixture.batched(lanes=4), (0, 1, 2), mode="reverse")
    mine, found = gradient(*given)
    assert mine == pytest.approx(value, rel=1e-13)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_call_from_compiled_code():
    batch = nd.batch(_smooth, (0, None), lanes=4)

    @numba.njit
    def mean(x, a):
        return batch(x, a).mean()

    np.testing.assert_allclose(mean(X, 0.75), np.mean([_smooth(x, 0.75) for x in X]))


def test_lanes_share_arrays_of_integers_and_find_extrema():
    def f(x, order, used, w):
        terms = np.empty(order.size)
        for k in range(order.size):
            terms[k] = w[order[k]] * x if used[k] else -x * k
        return terms.max() * x + terms.min()

    x, order, used = np.linspace(-1.0, 1.0, 7), np.array([2, 0, 1]), np.array([True, False, True])
    w = np.array([0.5, -1.0, 2.0])
    axes = 0, None, None, None
    together, apart = (nd.batch(f, axes, lanes=lanes) for lanes in (4, None))
    np.testing.assert_array_equal(together(x, order, used, w), apart(x, order, used, w))
    pulled = [
        nd.vjp(batch, (0, 3))((x, order, used, w), np.ones(7))[1] for batch in (together, apart)
    ]
    for own, wanted in zip(*pulled, strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-13, atol=1e-15)
